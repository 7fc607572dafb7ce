//! Frames of particles as binary little-endian PLY, and triangle meshes read from any PLY.
//!
//! The files open in Blender, ParaView, MeshLab and Houdini; format: Turk, "The PLY polygon file
//! format", 1994.

mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{IndexedTriangles, parse_frame, parse_triangles, read_frame};
pub use write::{encode_frame, write_frame};

/// One particle of a frame, as written. World frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrameParticle {
    /// Position \[m\]: `x y z`.
    pub position: [f32; 3],
    /// Velocity [m/s]: `vx vy vz`.
    pub velocity: [f32; 3],
    /// Radius at which the particle is drawn \[m\], 0 for particles of cloth: `radius`.
    pub radius: f32,
    /// sRGB colour: `red green blue`.
    pub color: [u8; 3],
    /// Index of the material in the scene: `material`.
    pub material: u16,
    /// Determinant of the deformation gradient \[1\]: `J`.
    pub j: f32,
    /// Accumulated plastic strain \[1\]: `plastic_strain`.
    pub plastic_strain: f32,
    /// Frobenius norm of the Kirchhoff stress \[Pa\]: `stress_norm`.
    pub stress_norm: f32,
    /// Mass \[kg\]: `mass`.
    pub mass: f32,
    /// Volume at rest \[m^3\]: `volume`. Times `J` it is the present one.
    pub volume: f32,
    /// Gradient of the velocity around the particle, rows of dv_i/dx_j \[1/s\]: `affine_xx affine_xy
    /// affine_xz affine_yx` ... `affine_zz`.
    pub affine: [f32; 9],
}

/// Names of the properties of [`FrameParticle::affine`].
const AFFINE: [&str; 9] = [
    "affine_xx",
    "affine_xy",
    "affine_xz",
    "affine_yx",
    "affine_yy",
    "affine_yz",
    "affine_zx",
    "affine_zy",
    "affine_zz",
];

/// The comment that gives the time, before the number and its unit.
const TIME: &str = "time ";

/// Which optional properties a frame has; position, velocity, radius, colour and material are
/// always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameFields {
    /// Write `J`.
    pub j: bool,
    /// Write `plastic_strain`.
    pub plastic_strain: bool,
    /// Write `stress_norm`.
    pub stress_norm: bool,
    /// Write `mass`.
    pub mass: bool,
    /// Write `volume`.
    pub volume: bool,
    /// Write `affine_xx` to `affine_zz`.
    pub affine: bool,
}

impl FrameFields {
    /// Every optional property.
    pub const ALL: Self =
        Self { j: true, plastic_strain: true, stress_norm: true, mass: true, volume: true, affine: true };
}

/// Triangles of cloth, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameTriangles<'a> {
    /// Three particle indices each, counterclockwise seen from the front: `vertex_indices`.
    pub corners: &'a [[u32; 3]],
    /// sRGB colour of the back of each; empty: not in the file. In the header as comments, one for
    /// triangles in a row of the same colour; if these are many, as `back_red back_green back_blue`.
    pub back_colors: &'a [[u8; 3]],
}

/// A frame as read back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// The particles, in file order; properties that the file lacks are zero.
    pub particles: Vec<FrameParticle>,
    /// Triangles of cloth, three particle indices each; empty if there are none.
    pub triangles: Vec<[u32; 3]>,
    /// sRGB colour of the back of each triangle; empty if not in the file.
    pub back_colors: Vec<[u8; 3]>,
    /// Which optional properties the file has.
    pub fields: FrameFields,
    /// Time \[s\]; none if not in the file.
    pub time: Option<f64>,
}

/// The comment that gives the back colour of triangles in a row: `back_color 255 0 0 triangles 12`.
const BACKS: &str = "back_color ";

/// Most such comments \[-\]; a sheet needs one. With more, colours are properties of the faces.
const MOST_RUNS: usize = 256;

/// Names of a triangle's back colour.
const BACK: [&str; 3] = ["back_red", "back_green", "back_blue"];

/// The two names that programs write for a face's vertex list.
fn is_index_list(name: &str) -> bool {
    name == "vertex_indices" || name == "vertex_index"
}
