//! Cloth: faces, vertices, hinges and pins of sheets, between one transfer to the particles and the
//! next to the grid.

use pliant_mpm::cloth::stability::MOST_MESH_SUBSTEPS;

use super::{GridNodes, MpmSettings, ParticleRows};
use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// Threads of a block that advances cloth.
    pub const CLOTH_THREADS: u32 = 128;
    /// Threads of the block that lets pins act on the grid: a warp for each sweep over them.
    pub const CLOTH_PIN_THREADS: u32 = 256;
    /// Of a vertex without a pin.
    pub const CLOTH_NO_PIN: u32 = u32::MAX;
    /// Sums over the pins: impulse [N s], its moment about the world's origin [N m s], work [J].
    pub const CLOTH_PIN_SUMS: u32 = 7;
    /// f64 entries of a pin: velocity [m/s]; mobility of what it reaches of the grid [1/kg]; first
    /// node of its stencil; mean of its velocity and that before [m/s]; [`CLOTH_PIN_SUMS`] of its vertex.
    pub const CLOTH_PIN_ROW: u32 = 17;
    /// Most steps that a mesh takes in a substep.
    pub const CLOTH_MESH_STEPS: u32 = 16;
}

const _: () =
    assert!(CLOTH_MESH_STEPS as usize == MOST_MESH_SUBSTEPS, "what Stability::mesh_steps gives at most");

shared_structs! {
    /// The material of a sheet.
    pub struct ClothSheetMaterial {
        /// Shear modulus [Pa].
        pub mu: f32,
        /// First Lame parameter of plane stress [Pa].
        pub lambda: f32,
        /// Normal stiffness [Pa].
        pub normal_stiffness: f32,
        /// Shear stiffness [Pa].
        pub shear_stiffness: f32,
        /// Coefficient of that shear's friction [-].
        pub friction: f32,
        /// Part of the symmetric velocity gradient that a substep keeps [-].
        pub damping: f32,
    }

    /// The steps of a sheet's mesh within a substep of the present length.
    pub struct ClothMeshSteps {
        /// How many, at least one.
        pub steps: u32,
        /// The most of any sheet.
        pub most: u32,
        /// Their length over the grid spacing [cells per m/s].
        pub step: f32,
        /// Their length times the part of a particle's inverse mass that a vertex of the mesh has
        /// [s].
        pub impulse_step: f32,
        /// Their length times gravity [m/s].
        pub gravity_velocity_step: [f32; 3],
        /// Zero.
        pub unused: u32,
        /// Weight of the stresses at each step [-].
        pub weights: [f32; CLOTH_MESH_STEPS as usize],
    }

    /// A face at rest.
    pub struct ClothFace {
        /// Numbers of its vertices.
        pub corners: [u32; 3],
        /// Its sheet.
        pub sheet: u32,
        /// Inverse of the edges: 11, 12, 22 [1/cell].
        pub inverse_edges: [f32; 3],
        /// Area times thickness [m^3].
        pub volume: f32,
        /// Mass of the centroid [kg].
        pub mass: f32,
        /// Zero.
        pub unused: [u32; 3],
    }

    /// An edge between two faces.
    pub struct ClothHinge {
        /// Numbers of the edge's ends and of the two faces' tips.
        pub vertices: [u32; 4],
        /// The hinges at the other edges of its two faces, two each; its own number where an edge is
        /// one of the boundary.
        pub neighbours: [u32; 4],
        /// Couplings to them.
        pub couplings: [f64; 4],
        /// Angle at rest [rad].
        pub rest_angle: f64,
        /// Length of the edge at rest [m].
        pub length: f64,
        /// Areas of the two faces at rest [m^2].
        pub areas: [f64; 2],
        /// Bending stiffness B [N m].
        pub stiffness: f64,
    }

    /// A pin in a substep.
    pub struct PinTarget {
        /// Where its vertex is at the substep's end, world frame [m].
        pub position: [f64; 3],
        /// One while it holds, zero after its release.
        pub holds: u32,
        /// Zero.
        pub unused: u32,
    }

    /// The meshes of all sheets. Elements are the vertices and then the faces, each in the order of
    /// the sheets; corners of faces are numbered three times the face and the corner, those of
    /// hinges go on from there with four times the hinge and the place.
    pub struct ClothTables {
        /// Index of each element's particle; as of the last sort.
        pub places: Span<u32>,
        /// Of each vertex, 1 / mass [1/kg].
        pub inverse_masses: Span<f32>,
        /// Of each vertex, its sheet.
        pub sheets_of_vertices: Span<u32>,
        /// Where the list of each vertex begins, and the end of the last.
        pub around_first: Span<u32>,
        /// Lists of the corners that each vertex is: of faces, then of hinges.
        pub around: Span<u32>,
        /// Faces.
        pub faces: Span<ClothFace>,
        /// Hinges.
        pub hinges: Span<ClothHinge>,
        /// Materials of the sheets.
        pub sheets: Span<ClothSheetMaterial>,
    }

    /// What contact needs of the meshes: the vertices of faces, from the ids of their centroids.
    /// Empty without cloth.
    pub struct ClothFaces {
        /// Number among the elements of each particle of cloth, in the order of their ids, which are
        /// the last of all.
        pub elements: Span<u32>,
        /// See [`ClothTables`].
        pub places: Span<u32>,
        /// Faces.
        pub faces: Span<ClothFace>,
    }

    /// Pins. Empty without any.
    pub struct ClothPins {
        /// Number of each one's vertex.
        pub vertices: Span<u32>,
        /// Of each vertex, its pin; [`CLOTH_NO_PIN`] without.
        pub of_vertices: Span<u32>,
        /// All pins in the step's first substep, then all in the second, and so on.
        pub targets: Span<PinTarget>,
        /// [`CLOTH_PIN_ROW`] entries a pin.
        pub rows: Span<f64>,
        /// Impulse and work of the pins on the grid in this substep; [`CLOTH_PIN_SUMS`] entries.
        pub of_grid: Span<f64>,
        /// The same over the step; [`CLOTH_PIN_SUMS`] entries.
        pub total: Span<f64>,
    }
}

kernel_parameters! {
    /// Imposes the pins on the grid: sum_i w_ip v_i = v_pin, by Gauss-Seidel; by a single block.
    pub struct ClothHoldGridParameters = "cloth_hold_grid" {
        /// Particles.
        pub particles: ParticleRows,
        /// The grid.
        pub grid: GridNodes,
        /// One element.
        pub settings: Span<MpmSettings>,
        /// Meshes.
        pub tables: ClothTables,
        /// Pins.
        pub pins: ClothPins,
        /// Node of the grid at each place of each pin's stencil: [`STENCIL_NODES`] a pin.
        pub reach: Span<u32>,
        /// Its weight; zero where it has no mass.
        pub weights: Span<f64>,
        /// Node blocks around each particle block.
        pub nodes_of_particles: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`](super::MPM_STATUS_LIMIT).
        pub status: Span<u32>,
        /// The substep in the step.
        pub substep_index: u32,
        /// Zero.
        pub unused: u32,
    }

    /// The part of a substep that only sheets need, after the transfer to the particles: pins,
    /// vertex-face constraint, steps of the mesh, stress, forces. Cooperative.
    pub struct ClothAdvanceParameters = "cloth_advance" {
        /// Particles.
        pub particles: ParticleRows,
        /// One element.
        pub settings: Span<MpmSettings>,
        /// Meshes.
        pub tables: ClothTables,
        /// Pins.
        pub pins: ClothPins,
        /// Of each vertex, the corner of its block [cells].
        pub corners: Span<[i32; 3]>,
        /// Of each vertex, its position from there [cells], and zero.
        pub locals: Span<[f32; 4]>,
        /// Of each vertex, its velocity [m/s], and 1 / mass [1/kg]; 0 where a pin holds it.
        pub velocities: Span<[f32; 4]>,
        /// Steps of each sheet's mesh.
        pub mesh: Span<ClothMeshSteps>,
        /// Of each vertex, its displacement in the mesh's steps [cells], and zero.
        pub displacements: Span<[f32; 4]>,
        /// Of each vertex, its velocity in the mesh's steps [m/s], and zero.
        pub mesh_velocities: Span<[f32; 4]>,
        /// Of each face, the mean of its Biot stresses so far: 11, 12, 22 [Pa], and zero.
        pub biot: Span<[f32; 4]>,
        /// Of each face, its centroid's velocity [m/s], and zero.
        pub face_velocities: Span<[f32; 4]>,
        /// Of each face, the impulse on its vertices in a sweep of the vertex-face constraint [N
        /// s], and zero.
        pub impulses: Span<[f32; 4]>,
        /// Forces on the corners of faces and hinges [N], and zero.
        pub forces: Span<[f32; 4]>,
        /// Memory of the barrier; [`GRID_BARRIER_WORDS`](super::GRID_BARRIER_WORDS) words.
        pub barrier: Span<u32>,
        /// See [`MPM_STATUS_LIMIT`](super::MPM_STATUS_LIMIT).
        pub status: Span<u32>,
        /// The substep in the step.
        pub substep_index: u32,
        /// Number of materials that are not cloth.
        pub cloth_from: u32,
    }

    /// Sums the energies of faces and hinges by tiles of [`MPM_TOTAL_TILE`](super::MPM_TOTAL_TILE),
    /// as further tiles of the particles' totals.
    pub struct ClothEnergyParameters = "cloth_energy" {
        /// Particles.
        pub particles: ParticleRows,
        /// Meshes.
        pub tables: ClothTables,
        /// Velocities of the vertices [m/s], and their inverse masses [1/kg], zero where a pin holds
        /// them.
        pub velocities: Span<[f32; 4]>,
        /// [`MPM_TOTALS`](super::MPM_TOTALS) entries a tile.
        pub tile_sums: Span<f64>,
        /// Grid spacing h [m].
        pub grid_spacing: f64,
    }
}
