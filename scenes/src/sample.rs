//! Solids filled with particles.
//!
//! Particles sit at the centres of the cells of a regular lattice in the solid's own frame; those inside the solid
//! are kept and share its exact volume equally, so that mass and momentum do not depend on the resolution.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::mesh_io::{MeshData, MeshError, check_closed};
use crate::random::SplitMix64;

/// What can be filled, in its own frame, centred on its origin (a mesh: wherever its vertices are).
#[derive(Debug, Clone, PartialEq)]
pub enum Solid {
    /// A box.
    Box {
        /// Half of each side [m].
        half_extents: Vector3<f64>,
    },
    /// A ball.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A cylinder about its z axis.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half of its length along z [m].
        half_length: f64,
    },
    /// The inside of a closed surface.
    Mesh(MeshData),
}

/// How densely a solid is filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Density {
    /// Distance between neighbours [m]. A box takes the nearest that divides each side evenly.
    Spacing(f64),
    /// As many particles as fall on average in one cubic cell of the grid.
    PerCell {
        /// Particles per grid cell [1], usually 8.
        particles: f64,
        /// Side of a grid cell [m].
        cell_size: f64,
    },
    /// Lattice cells along each axis of the solid's bounding box; a box keeps all of them.
    Counts([usize; 3]),
    /// Exactly so many in a box: the factorisation nx ny nz that comes nearest to equal spacings.
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
pub struct Sample {
    /// Particle positions in the world frame [m].
    pub positions: Vec<Point3<f64>>,
    /// Volume of each particle [m^3]: the exact volume of the solid over their number.
    pub particle_volume: f64,
    /// Lattice spacing along the axes of the solid's frame [m].
    pub spacing: Vector3<f64>,
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
        /// Translation [m].
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
        /// Lattice spacing [m].
        spacing: [f64; 3],
        /// Sides of the bounding box [m].
        extents: [f64; 3],
    },
    /// More lattice cells than a machine can hold.
    #[error("the lattice would have {cells:.3e} cells (at most {}); use a larger spacing", MAX_CELLS)]
    TooMany {
        /// Number of cells asked for.
        cells: f64,
    },
    /// `Total` was asked of something that is not a box.
    #[error("an exact total of {0} particles can only be asked of a box")]
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
        /// Its spacings [m].
        spacing: [f64; 3],
    },
    /// The surface does not bound a solid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The triangles of the surface face inwards.
    #[error("the mesh is inside out: it encloses {volume} m^3; flip its triangles")]
    InsideOut {
        /// Enclosed volume [m^3], negative.
        volume: f64,
    },
}

/// Lattice cells that a solid may have: 2^31, past what memory holds.
const MAX_CELLS: f64 = 2_147_483_648.0;

/// Largest ratio between two spacings that `Density::Total` accepts: more would leave cells of the grid empty.
const MAX_ANISOTROPY: f64 = 2.0;

/// Fills `solid`, placed by `pose` (solid's frame to world), at the given density.
///
/// # Errors
/// [`SampleError`]: a size, spacing or pose that is not positive or finite, a mesh that does not bound a solid, or no
/// particle inside.
pub fn sample(
    solid: &Solid,
    pose: &Isometry3<f64>,
    density: Density,
    jitter: Option<Jitter>,
) -> Result<Sample, SampleError> {
    check_solid(solid)?;
    check_pose(pose)?;
    if let Some(jitter) = jitter
        && !(0.0..=1.0).contains(&jitter.fraction)
    {
        return Err(SampleError::Jitter(jitter.fraction));
    }
    let volume = volume(solid)?;
    let (low, high) = bounds(solid);
    let lattice = lattice(solid, low, high, density)?;
    let inside = Inside::new(solid);
    let mut random = jitter.map(|j| (j.fraction, SplitMix64::new(j.seed)));
    let mut positions = Vec::new();
    for k in 0..lattice.counts[2] {
        for j in 0..lattice.counts[1] {
            for i in 0..lattice.counts[0] {
                let centre = lattice.centre(i, j, k);
                if !inside.contains(&centre) {
                    continue;
                }
                let mut point = centre;
                if let Some((fraction, generator)) = &mut random {
                    let offset = Vector3::from_fn(|_, _| *fraction * generator.uniform_in(-0.5, 0.5));
                    let moved = centre + offset.component_mul(&lattice.spacing);
                    // A cell on the boundary keeps its particle at the centre rather than lose it.
                    if inside.contains(&moved) {
                        point = moved;
                    }
                }
                positions.push(pose * point);
            }
        }
    }
    if positions.is_empty() {
        let extents = (high - low).into();
        return Err(SampleError::NoParticles { spacing: lattice.spacing.into(), extents });
    }
    let particle_volume = volume / positions.len() as f64;
    Ok(Sample { positions, particle_volume, spacing: lattice.spacing })
}

/// `value` must be positive and finite.
fn positive(field: &'static str, value: f64, unit: &'static str) -> Result<(), SampleError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(SampleError::NotPositive { field, value, unit })
}

fn check_solid(solid: &Solid) -> Result<(), SampleError> {
    match solid {
        Solid::Box { half_extents } => {
            half_extents.iter().try_for_each(|&side| positive("half_extents", side, "m"))
        }
        Solid::Sphere { radius } => positive("radius", *radius, "m"),
        Solid::Cylinder { radius, half_length } => {
            positive("radius", *radius, "m")?;
            positive("half_length", *half_length, "m")
        }
        // A vertex that is not finite makes the volume so, and that is checked.
        Solid::Mesh(_) => Ok(()),
    }
}

fn check_pose(pose: &Isometry3<f64>) -> Result<(), SampleError> {
    let finite = pose.translation.vector.iter().chain(pose.rotation.coords.iter()).all(|x| x.is_finite());
    if finite {
        Ok(())
    } else {
        Err(SampleError::PoseNotFinite { translation: pose.translation.vector.into() })
    }
}

/// Exact volume [m^3].
///
/// # Errors
/// For a mesh that does not bound a solid, is inside out or has a vertex that is not finite.
pub fn volume(solid: &Solid) -> Result<f64, SampleError> {
    use std::f64::consts::PI;
    Ok(match solid {
        Solid::Box { half_extents: h } => 8.0 * h.x * h.y * h.z,
        Solid::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
        Solid::Cylinder { radius, half_length } => 2.0 * PI * radius * radius * half_length,
        Solid::Mesh(mesh) => {
            let volume = check_closed(&mesh.vertices, &mesh.triangles)?;
            if volume.is_inside_out() {
                return Err(SampleError::InsideOut { volume: volume.0 });
            }
            positive("the volume of the mesh", volume.0, "m^3")?;
            volume.0
        }
    })
}

/// Axis-aligned bounds in the solid's own frame [m].
fn bounds(solid: &Solid) -> (Point3<f64>, Point3<f64>) {
    let half = match solid {
        Solid::Box { half_extents } => *half_extents,
        Solid::Sphere { radius } => Vector3::repeat(*radius),
        Solid::Cylinder { radius, half_length } => Vector3::new(*radius, *radius, *half_length),
        Solid::Mesh(mesh) => {
            let start = (Point3::from([f64::INFINITY; 3]), Point3::from([f64::NEG_INFINITY; 3]));
            return mesh.vertices.iter().fold(start, |(low, high), v| (low.inf(v), high.sup(v)));
        }
    };
    (Point3::from(-half), Point3::from(half))
}

/// A regular lattice of cells, centred on the solid's bounds.
struct Lattice {
    /// Corner of the first cell [m].
    corner: Point3<f64>,
    /// Cells along each axis.
    counts: [usize; 3],
    /// Sides of a cell [m].
    spacing: Vector3<f64>,
}

impl Lattice {
    fn centre(&self, i: usize, j: usize, k: usize) -> Point3<f64> {
        let index = Vector3::new(i as f64 + 0.5, j as f64 + 0.5, k as f64 + 0.5);
        self.corner + index.component_mul(&self.spacing)
    }
}

fn lattice(
    solid: &Solid,
    low: Point3<f64>,
    high: Point3<f64>,
    density: Density,
) -> Result<Lattice, SampleError> {
    let extents = high - low;
    let is_box = matches!(solid, Solid::Box { .. });
    let counts = match density {
        Density::Counts(counts) => {
            counts.iter().try_for_each(|&n| positive("counts", n as f64, "particles along an axis"))?;
            counts
        }
        Density::Total(total) if is_box => counts_of_total(total, &extents)?,
        Density::Total(total) => return Err(SampleError::TotalNeedsBox(total)),
        Density::Spacing(spacing) => {
            positive("spacing", spacing, "m")?;
            return spaced_lattice(low, extents, spacing, is_box);
        }
        Density::PerCell { particles, cell_size } => {
            positive("particles_per_cell", particles, "particles")?;
            positive("cell_size", cell_size, "m")?;
            return spaced_lattice(low, extents, cell_size / particles.cbrt(), is_box);
        }
    };
    check_cells(Vector3::from(counts.map(|n| n as f64)))?;
    let spacing = extents.component_div(&Vector3::from(counts.map(|n| n as f64)));
    Ok(Lattice { corner: low, counts, spacing })
}

/// A box is divided evenly at about `spacing`; anything else gets a cubic lattice that covers its bounds.
fn spaced_lattice(
    low: Point3<f64>,
    extents: Vector3<f64>,
    spacing: f64,
    is_box: bool,
) -> Result<Lattice, SampleError> {
    let cells = extents / spacing;
    // Rounding must not add a layer: 0.1 / 0.01 may come out as 10.000000000000002.
    let counts = cells.map(|n| if is_box { n.round() } else { (n - 1e-9).ceil() }.max(1.0));
    check_cells(counts)?;
    let spacings = if is_box { extents.component_div(&counts) } else { Vector3::repeat(spacing) };
    let corner = low + (extents - counts.component_mul(&spacings)) / 2.0;
    Ok(Lattice {
        corner,
        counts: [counts.x as usize, counts.y as usize, counts.z as usize],
        spacing: spacings,
    })
}

fn check_cells(counts: Vector3<f64>) -> Result<(), SampleError> {
    let cells = counts.product();
    if cells <= MAX_CELLS { Ok(()) } else { Err(SampleError::TooMany { cells }) }
}

/// The factors nx ny nz = `total` whose spacings differ least (smallest ratio of largest to smallest).
fn counts_of_total(total: usize, extents: &Vector3<f64>) -> Result<[usize; 3], SampleError> {
    positive("total", total as f64, "particles")?;
    let divisors = |n: usize| {
        (1..)
            .take_while(move |d| d * d <= n)
            .filter(move |d| n.is_multiple_of(*d))
            .flat_map(move |d| [d, n / d])
    };
    let mut best = ([total, 1, 1], f64::INFINITY);
    for x in divisors(total) {
        for y in divisors(total / x) {
            let counts = [x, y, total / x / y];
            let spacing = extents.component_div(&Vector3::from(counts.map(|n| n as f64)));
            let ratio = spacing.max() / spacing.min();
            if ratio < best.1 {
                best = (counts, ratio);
            }
        }
    }
    if best.1 > MAX_ANISOTROPY {
        let spacing = extents.component_div(&Vector3::from(best.0.map(|n| n as f64)));
        return Err(SampleError::TotalDoesNotDivide { total, counts: best.0, spacing: spacing.into() });
    }
    Ok(best.0)
}

/// Tells whether a point of the solid's own frame lies inside.
enum Inside<'a> {
    Box(Vector3<f64>),
    Sphere(f64),
    Cylinder(f64, f64),
    Mesh(Columns<'a>),
}

impl<'a> Inside<'a> {
    fn new(solid: &'a Solid) -> Self {
        match solid {
            Solid::Box { half_extents } => Self::Box(*half_extents),
            Solid::Sphere { radius } => Self::Sphere(*radius),
            Solid::Cylinder { radius, half_length } => Self::Cylinder(*radius, *half_length),
            Solid::Mesh(mesh) => Self::Mesh(Columns::new(mesh)),
        }
    }

    fn contains(&self, p: &Point3<f64>) -> bool {
        match self {
            Self::Box(half) => (0..3).all(|axis| p[axis].abs() <= half[axis]),
            Self::Sphere(radius) => p.coords.norm_squared() <= radius * radius,
            Self::Cylinder(radius, half_length) => {
                p.x * p.x + p.y * p.y <= radius * radius && p.z.abs() <= *half_length
            }
            Self::Mesh(columns) => columns.winding_number(p) > 0,
        }
    }
}

/// A mesh binned by x and y, for winding numbers along rays to +z.
///
/// The half-open rule (an edge counts when exactly one end lies at or below the point's y) makes neighbours agree on
/// the edge they share, bit for bit, so a ray through an edge or a vertex still crosses the surface once (Haines,
/// "Point in polygon strategies", Graphics Gems IV, 1994, in each triangle's projection).
struct Columns<'a> {
    mesh: &'a MeshData,
    low: Point3<f64>,
    /// Side of a bin [m].
    bin: [f64; 2],
    count: [usize; 2],
    /// Triangles whose projection may touch the bin.
    bins: Vec<Vec<u32>>,
}

impl<'a> Columns<'a> {
    fn new(mesh: &'a MeshData) -> Self {
        let start = (Point3::from([f64::INFINITY; 3]), Point3::from([f64::NEG_INFINITY; 3]));
        let (low, high) = mesh.vertices.iter().fold(start, |(low, high), v| (low.inf(v), high.sup(v)));
        // About one triangle a bin, at most a million bins.
        let side = (mesh.triangles.len() as f64).sqrt().ceil().clamp(1.0, 1000.0) as usize;
        let count = [side, side];
        let bin = [0, 1].map(|axis| ((high[axis] - low[axis]) / side as f64).max(f64::MIN_POSITIVE));
        let mut columns = Self { mesh, low, bin, count, bins: vec![Vec::new(); side * side] };
        for number in 0..mesh.triangles.len() {
            columns.insert(number);
        }
        columns
    }

    /// Bin along `axis` of coordinate `x`; outside coordinates go to the first or last bin.
    fn bin_of(&self, axis: usize, x: f64) -> usize {
        // The cast saturates, so far outside is the first or last bin too.
        (((x - self.low[axis]) / self.bin[axis]) as usize).min(self.count[axis] - 1)
    }

    fn insert(&mut self, number: usize) {
        let corners = self.mesh.triangles[number].map(|v| self.mesh.vertices[v as usize]);
        let range = [0, 1].map(|axis| {
            let low = corners.iter().map(|c| c[axis]).fold(f64::INFINITY, f64::min);
            let high = corners.iter().map(|c| c[axis]).fold(f64::NEG_INFINITY, f64::max);
            self.bin_of(axis, low)..=self.bin_of(axis, high)
        });
        for y in range[1].clone() {
            for x in range[0].clone() {
                self.bins[y * self.count[0] + x].push(number as u32);
            }
        }
    }

    /// Winding number of the surface about `p`: 1 inside, 0 outside.
    fn winding_number(&self, p: &Point3<f64>) -> i32 {
        let bin = self.bin_of(1, p.y) * self.count[0] + self.bin_of(0, p.x);
        self.bins[bin].iter().map(|&number| self.crossing(number, p)).sum()
    }

    /// +1 where the ray from `p` to +z leaves through the triangle, -1 where it enters, 0 where it misses.
    fn crossing(&self, number: u32, p: &Point3<f64>) -> i32 {
        let corners = self.mesh.triangles[number as usize].map(|v| self.mesh.vertices[v as usize]);
        let turns = (0..3).map(|side| half_open_crossing(&corners[side], &corners[(side + 1) % 3], p)).sum();
        if turns != 0 && height_at(&corners, p) > p.z { turns } else { 0 }
    }
}

/// Crossing of the ray from (p.x, p.y) to +x with the edge a b, both projected on z = 0: +1 upwards, -1 downwards.
fn half_open_crossing(a: &Point3<f64>, b: &Point3<f64>, p: &Point3<f64>) -> i32 {
    let (bottom, top, direction) = match (a.y <= p.y, b.y <= p.y) {
        (true, false) => (a, b, 1),
        (false, true) => (b, a, -1),
        _ => return 0,
    };
    // The same expression whichever triangle asks, because the ends are ordered by height.
    let side = (top.x - bottom.x) * (p.y - bottom.y) - (p.x - bottom.x) * (top.y - bottom.y);
    if side > 0.0 { direction } else { 0 }
}

/// z of the triangle's plane above (p.x, p.y), kept within the triangle's own range of z: a steep one amplifies rounding.
fn height_at(corners: &[Point3<f64>; 3], p: &Point3<f64>) -> f64 {
    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
    let offset = p - corners[0];
    let height = corners[0].z - (normal.x * offset.x + normal.y * offset.y) / normal.z;
    let low = corners.iter().map(|c| c.z).fold(f64::INFINITY, f64::min);
    let high = corners.iter().map(|c| c.z).fold(f64::NEG_INFINITY, f64::max);
    if height.is_nan() { high } else { height.clamp(low, high) }
}
