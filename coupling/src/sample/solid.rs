//! Solids to fill, densities, and samples.

use nalgebra::{Point3, Vector3};
use pliant_io::mesh::MeshData;
use pliant_numeric::random::SplitMix64;
use pliant_rigid::{GeometryError, Shape, TriangleMesh};

/// A solid to fill, in its own frame; boxes, spheres and cylinders are centred on its origin.
#[expect(clippy::large_enum_variant, reason = "one description a solid, read once: its size does not matter")]
#[derive(Debug, Clone)]
pub enum SamplingSolid {
    /// A box.
    Box {
        /// Half of each side \[m\].
        half_extents: Vector3<f64>,
    },
    /// A sphere.
    Sphere {
        /// Radius \[m\].
        radius: f64,
    },
    /// A cylinder about its z axis.
    Cylinder {
        /// Radius \[m\].
        radius: f64,
        /// Half of its length along z \[m\].
        half_length: f64,
    },
    /// The inside of a closed surface.
    Mesh(MeshData),
    /// Any other solid with a volume: a capsule, an ellipsoid, a convex hull, a mesh, terrain.
    Other(Shape),
}

impl From<Shape> for SamplingSolid {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Box { half_extents } => Self::Box { half_extents },
            Shape::Sphere { radius } => Self::Sphere { radius },
            Shape::Cylinder { radius, half_length } => Self::Cylinder { radius, half_length },
            other => Self::Other(other),
        }
    }
}

impl From<MeshData> for SamplingSolid {
    fn from(mesh: MeshData) -> Self {
        Self::Mesh(mesh)
    }
}

impl SamplingSolid {
    /// The same solid with distances to its surface.
    ///
    /// # Errors
    /// A mesh without valid distances: degenerate triangles, an edge of four.
    pub fn shape(&self) -> Result<Shape, GeometryError> {
        Ok(match self {
            Self::Box { half_extents } => Shape::Box { half_extents: *half_extents },
            Self::Sphere { radius } => Shape::Sphere { radius: *radius },
            Self::Cylinder { radius, half_length } => {
                Shape::Cylinder { radius: *radius, half_length: *half_length }
            }
            Self::Mesh(mesh) => {
                // A triangle with a repeated corner has no area.
                let solid = |t: &&[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
                let triangles = mesh.triangles.iter().filter(solid).copied().collect();
                Shape::Mesh(TriangleMesh::new(mesh.vertices.clone(), triangles)?)
            }
            Self::Other(shape) => shape.clone(),
        })
    }
}

/// How densely a solid is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Density {
    /// Distance between neighbours \[m\]: the nearest that divides the solid evenly.
    Spacing(f64),
    /// As many particles as fall on average in one cubic cell of the grid.
    PerCell {
        /// Particles per grid cell \[1\], usually 8.
        particles: f64,
        /// Side of a grid cell \[m\].
        cell_size: f64,
    },
    /// Particles along each axis of the solid's bounding box: exact for boxes and meshes; rings and
    /// shells use the nearest number.
    Counts([usize; 3]),
    /// Exactly this total in a box: the factorisation nx ny nz with the most equal spacings.
    Total(usize),
}

/// A random displacement of each particle within its lattice cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter {
    /// Width of the uniform distribution over the lattice spacing, along each axis: in [0, 1].
    pub fraction: f64,
    /// Seed: the same seed gives the same particles.
    pub seed: u64,
}

/// A filled solid.
#[derive(Debug, Clone, PartialEq)]
pub struct ParticleSample {
    /// Particle positions in the world frame \[m\].
    pub positions: Vec<Point3<f64>>,
    /// Volume of each particle [m^3]: the exact volume of the solid over their number.
    pub particle_volume: f64,
    /// Largest distance between neighbours along the axes of the solid's frame \[m\].
    pub spacing: Vector3<f64>,
    /// Lattice points of a mesh without a particle: in parts thinner than one.
    pub left_out: usize,
}

impl ParticleSample {
    /// Distance from a particle to the surface that it represents \[m\]: half the edge of a cube of
    /// its volume.
    pub fn radius(&self) -> f64 {
        radius_of(self.particle_volume)
    }
}

/// Half the edge \[m\] of a cube of this volume \[m^3\].
pub(super) fn radius_of(volume: f64) -> f64 {
    0.5 * volume.cbrt()
}

/// Why a solid cannot be filled.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// A size is zero, negative, NaN or infinite.
    #[error("{field} must be positive and finite, got {value} {unit}")]
    NotPositive {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: f64,
        /// Unit of the value.
        unit: &'static str,
    },
    /// The pose has a NaN or an infinity.
    #[error("the pose must be finite, got translation {translation:?} m")]
    PoseNotFinite {
        /// Translation \[m\].
        translation: [f64; 3],
    },
    /// The jitter is not in [0, 1].
    #[error("jitter must be in [0, 1] (a fraction of the spacing), got {0}")]
    Jitter(f64),
    /// No lattice point lies in the solid.
    #[error(
        "no particle lies in the solid: spacing {spacing:?} m, extents {extents:?} m; use a smaller spacing"
    )]
    NoParticles {
        /// Lattice spacing \[m\].
        spacing: [f64; 3],
        /// Sides of the bounding box \[m\].
        extents: [f64; 3],
    },
    /// The solid is thinner than one of its particles.
    #[error(
        "the solid is {extent:.4e} m thin, less than the edge of one of its particles, {edge:.4e} m; use a \
         smaller spacing"
    )]
    TooThin {
        /// Smallest side of the bounding box \[m\].
        extent: f64,
        /// Edge of a cube of a particle's volume \[m\].
        edge: f64,
    },
    /// Too much of a mesh is thinner than one of its particles.
    #[error(
        "{left_out} of {of} lattice points of the mesh lie in parts thinner than a particle, \
         {edge:.4e} m; use a smaller spacing"
    )]
    ThinParts {
        /// Points of the lattice in such parts.
        left_out: usize,
        /// Points of the lattice in the mesh.
        of: usize,
        /// Edge of a cube of a particle's volume \[m\].
        edge: f64,
    },
    /// More lattice cells than a machine can hold.
    #[error("the lattice would have {cells:.3e} cells (at most {}); use a larger spacing", MAX_CELLS)]
    TooMany {
        /// Number of cells asked for.
        cells: f64,
    },
    /// `Total` was given for a solid that is not a box.
    #[error("an exact total of {0} particles is only possible for a box")]
    TotalNeedsBox(usize),
    /// No product nx ny nz of the total has spacings of similar size.
    #[error(
        "{total} particles do not divide into a lattice with similar spacings (the best is {counts:?}, spacings \
             {spacing:?} m); choose another number"
    )]
    TotalDoesNotDivide {
        /// The total asked for.
        total: usize,
        /// The best factorisation.
        counts: [usize; 3],
        /// Its spacings \[m\].
        spacing: [f64; 3],
    },
    /// The surface of the mesh does not bound a solid: a hole, a degenerate triangle, an edge of
    /// four, triangles that face inwards.
    #[error(transparent)]
    Surface(#[from] GeometryError),
}

/// Most particles of a solid, and of a scene.
pub const MOST_PARTICLES: u32 = 100_000_000;

/// Lattice cells that a solid may have.
pub(super) const MAX_CELLS: f64 = MOST_PARTICLES as f64;

/// Relative tolerance of equal lengths for rounding.
pub(super) const ROUNDING: f64 = 1e-9;

/// Largest ratio between two spacings that `Density::Total` accepts: more would leave cells of the
/// grid empty.
pub(super) const MAX_ANISOTROPY: f64 = 2.0;

/// Particles of a solid in its own frame.
pub(super) struct ParticleLayout {
    /// Positions \[m\].
    pub points: Vec<Point3<f64>>,
    /// Largest distance between neighbours along each axis \[m\].
    pub spacing: Vector3<f64>,
    /// Points of the lattice that got no particle.
    pub left_out: usize,
}

/// Draws the random displacements of particles, if there are any.
pub(super) struct JitterSource(pub Option<(f64, SplitMix64)>);

impl JitterSource {
    /// `point`, displaced within its cell of sides `cell` \[m\].
    pub(super) fn moved(&mut self, point: Point3<f64>, cell: &Vector3<f64>) -> Point3<f64> {
        let Some((fraction, random)) = &mut self.0 else { return point };
        let offset = Vector3::from_fn(|_, _| *fraction * random.uniform_in(-0.5, 0.5));
        point + offset.component_mul(cell)
    }

    /// Whether it displaces nothing.
    pub(super) fn is_zero(&self) -> bool {
        self.0.is_none()
    }
}

/// Refuses a solid of the smallest side `extent` \[m\] that particles of this `radius` \[m\] do not
/// fit into.
pub(super) fn check_thin(extent: f64, radius: f64) -> Result<(), SampleError> {
    // An exact fit, one layer of cubes, may be off by rounding.
    if 2.0 * radius <= extent * (1.0 + ROUNDING) {
        return Ok(());
    }
    Err(SampleError::TooThin { extent, edge: 2.0 * radius })
}

/// `value` must be positive and finite.
pub(super) fn positive(field: &'static str, value: f64, unit: &'static str) -> Result<(), SampleError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(SampleError::NotPositive { field, value, unit })
}
