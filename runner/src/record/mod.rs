//! What a run writes down: its manifest and its tables, with those who write and read them.

pub(crate) mod cloth;
pub(crate) mod energy;
pub(crate) mod forces;
pub(crate) mod manifest;
mod paths;
pub(crate) mod tables;
pub(crate) mod tactile;

pub use cloth::{ClothSummary, ClothWatch};
pub use energy::ENERGY_GAIN_WARNING;
pub use forces::{FORCES, ForceRow, force_bodies, read_forces};
pub use manifest::{
    Conservation, CouplingSummary, GoalResult, MANIFEST, Manifest, MeanMax, MsPerStep, Number, RigidSummary,
    SolverSummary, Status,
};
pub(crate) use manifest::{read_json, write_json};
pub use paths::{FRAMES, frame_path};
pub use tables::{BODIES, BodyRow, DIAGNOSTICS, read_bodies};
pub use tactile::{PadFrame, SENSORS, TACTILE, pad_path, read_pad};
