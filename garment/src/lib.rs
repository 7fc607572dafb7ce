//! Garments: patterns that are cut, filled with triangles and sewn to one sheet for the particles'
//! cloth.
//!
//! - [`outline`]: a panel's outline with named pieces, divided into equal parts;
//! - [`triangulate`]: nearly equilateral triangles within it;
//! - [`sew`](mod@sew): panels in space, joined along their pieces;
//! - [`tshirt`]: a T-shirt by its measures; - [`trousers`]: trousers by theirs;
//! - [`file`](mod@file): a garment from a mesh file; - [`covered`]: area of the floor that a cloth
//!   covers; - [`crossings`]: intersections of cloth with itself.

pub mod covered;
pub mod file;
pub mod outline;
pub mod sew;
pub mod triangulate;
pub mod trousers;
pub mod tshirt;

pub use pliant_mpm::cloth::crossings;

pub use covered::{CoveredError, covered_area};
pub use file::{ClothFileError, load_cloth};
pub use outline::{BoundaryPiece, Outline, OutlineError, PanelBoundary};
pub use sew::{Panel, Seam, SeamDirection, SewError, Sewn, sew};
pub use triangulate::{PanelMesh, Quality, TriangulateError};
pub use trousers::{Trousers, TrousersError};
pub use tshirt::{TShirt, TShirtError};
