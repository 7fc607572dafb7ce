//! What a run writes down: its manifest and its tables, with those who write and read them.

mod bodies;
pub(crate) mod cloth;
mod csv_table;
mod diagnostics;
pub(crate) mod energy;
mod forces;
mod frame_list;
mod inputs;
mod joints;
pub(crate) mod manifest;
mod paths;
mod robot_sensors;
mod run_tables;
mod table;
mod tactile;
mod wrench;

pub use bodies::{BODIES, BodyRow, read_bodies, read_bodies_so_far};
pub use cloth::{ClothSummary, ClothWatch};
pub use diagnostics::DIAGNOSTICS;
pub use energy::{ENERGY_GAIN_WARNING, figures as energy_figures, warning as energy_warning};
pub use forces::{FORCES, ForceRow, force_bodies, read_forces};
pub use frame_list::{FRAME_LIST, FrameRow, read_frame_list, read_frame_list_so_far, verify_frames};
pub use inputs::{InputFile, changed_input, input_files};
pub(crate) use joints::any as has_joints;
pub use joints::{JOINTS, JointRow, read_joints};
pub use manifest::{
    Conservation, CouplingSummary, GoalResult, MANIFEST, Manifest, MeanMax, MsPerStep, Number, Pictures,
    RigidSummary, SolverSummary, Status,
};
pub(crate) use manifest::{read_json, write_json};
pub use paths::{FRAMES, check_names, frame_path, hull_folder};
pub use robot_sensors::ROBOT_SENSORS;
pub(crate) use robot_sensors::any as has_robot_sensors;
pub use run_tables::{RunTables, TablesState};
pub use tactile::{PadFrame, SENSORS, TACTILE, pad_path, read_pad};
pub use wrench::Wrench;
