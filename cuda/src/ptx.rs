//! The compiled kernels, and whether they were made from these sources.

use crate::layout::Fnv;

/// The kernels as PTX, which the driver compiles for its device.
pub const PTX: &str = include_str!("../ptx/pliant.ptx");

/// Hash of the sources that the PTX was made from, as `ptx.py` wrote it.
const HASH: &str = include_str!("../ptx/sources.hash");

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        /// Names and texts of the kernels' sources, ordered by name.
        pub const SOURCES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../kernels/", $name)))),*];
    };
}

sources! {
    "block.cuh", "boundary_constraints.cu", "cloth.cu", "cloth.cuh", "cloth_common.cuh",
    "cloth_pins.cu", "constitutive.cuh", "contact_detection.cu", "contact_placement.cuh",
    "convex.cuh", "convex_bodies.cuh", "convex_body_block.cuh", "convex_contact_model.cuh",
    "convex_number.cu", "convex_rows.cuh", "convex_search.cuh", "convex_share.cuh",
    "convex_solve.cu", "convex_steps.cuh", "convex_system.cuh", "convex_vectors.cuh",
    "distance.cuh", "dither.cuh", "exchange.cu", "g2p.cu", "grid.cu", "grid.cuh", "grid_scan.cuh", "misuse.cu",
    "mpm.cuh", "p2g.cu", "p2g.cuh", "p2g_atomic.cu", "parameters.cuh", "pliant.cu", "position.cuh", "prelude.cuh",
    "probe.cu", "reduce.cu", "scan.cu", "sort.cu", "sort_particles.cu", "staging.cu", "stop.cuh",
    "svd.cuh", "totals.cu", "worlds.cu", "worlds.cuh", "worlds_boxes.cuh", "worlds_capsule_box.cuh",
    "worlds_contact.cuh", "worlds_finish.cuh", "worlds_number.cuh", "worlds_pairs.cuh",
    "worlds_smooth.cuh", "worlds_spatial.cuh",
}

/// What the PTX says of itself after a directive such as `.version` or `.target`.
fn directive(name: &str) -> &'static str {
    PTX.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").trim()
}

/// Version of the PTX instruction set, which a driver must support.
pub fn version() -> &'static str {
    directive(".version ")
}

/// The architecture the PTX is for, the least that loads it.
pub fn target() -> &'static str {
    directive(".target ")
}

/// Hash of the PTX, which cubins made of it carry.
pub fn hash() -> String {
    format!("{:016x}", Fnv::default().text(PTX).0)
}

/// Hash of the sources in this build.
pub fn sources_hash() -> String {
    let hash = SOURCES.iter().fold(Fnv::default(), |hash, (name, text)| hash.text(name).text(text));
    format!("{:016x}", hash.0)
}

/// Whether the PTX was made from the sources in this build.
pub fn is_current() -> bool {
    HASH.trim() == sources_hash()
}
