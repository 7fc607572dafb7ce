//! A page that shows runs: particles or their surfaces, cloth, bodies and forces in three dimensions, a timeline, plots
//! of the diagnostics, several runs side by side.
//!
//! - [`serve`] answers a browser on the loopback address, also while a run still goes on;
//! - [`write_page`] writes one HTML file that needs neither a server nor a network.
//!
//! Both only read the run directories. Units are SI, z is up, frames are right-handed.

mod bytes;
mod diagnostics;
mod error;
mod frame;
mod library;
mod page;
mod routes;
mod scene;
mod server;
mod surface;
mod surfaces;
mod write_page;

pub use error::ViewerError;
pub use frame::{FRAME_HEADER, FRAME_MAGIC, FRAME_VERSION};
pub use server::serve;
pub use surface::{MOST_PARTICLES, SURFACE_HEADER, SURFACE_MAGIC, SURFACE_VERSION};
pub use write_page::{PageOptions, PageSummary, write_page};
