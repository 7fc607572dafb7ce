//! Regular lattices that divide a bounding box evenly.

use nalgebra::{Point3, Vector3};

use super::solid::{
    Density, JitterSource, MAX_ANISOTROPY, MAX_CELLS, ParticleLayout, ROUNDING, SampleError, SamplingSolid,
    check_thin, positive, radius_of,
};

/// A regular lattice of cells, centred on the solid's bounds.
pub(super) struct Lattice {
    /// Corner of the first cell \[m\].
    pub corner: Point3<f64>,
    /// Cells along each axis.
    pub counts: [usize; 3],
    /// Sides of a cell \[m\].
    pub spacing: Vector3<f64>,
}

impl Lattice {
    /// Centre of a cell \[m\].
    pub fn centre(&self, i: usize, j: usize, k: usize) -> Point3<f64> {
        let index = Vector3::new(i as f64 + 0.5, j as f64 + 0.5, k as f64 + 0.5);
        self.corner + index.component_mul(&self.spacing)
    }

    /// Calls `f` with the centre of every cell, x fastest.
    pub fn for_each_centre(&self, mut f: impl FnMut(Point3<f64>)) {
        for k in 0..self.counts[2] {
            for j in 0..self.counts[1] {
                for i in 0..self.counts[0] {
                    f(self.centre(i, j, k));
                }
            }
        }
    }

    /// All cells of a box about the origin, the outer layers at the depth at which their particles
    /// touch.
    pub fn boxed(
        &self,
        half_extents: &Vector3<f64>,
        jitter_source: &mut JitterSource,
    ) -> Result<ParticleLayout, SampleError> {
        let radius = radius_of(self.spacing.product());
        check_thin(2.0 * half_extents.min(), radius)?;
        let room = half_extents.map(|half| (half - radius).max(0.0));
        // Cubes fit without stretching, and a single layer stays in the middle.
        let stretch = Vector3::from_fn(|axis, _| {
            let outer = half_extents[axis] - 0.5 * self.spacing[axis];
            let fits = (room[axis] - outer).abs() <= ROUNDING * half_extents[axis];
            if self.counts[axis] == 1 || fits { 1.0 } else { room[axis] / outer }
        });
        let mut points = Vec::with_capacity(self.counts.iter().product());
        self.for_each_centre(|centre| {
            let fitted = Point3::from(centre.coords.component_mul(&stretch));
            let moved = jitter_source.moved(fitted, &self.spacing);
            // Points that are not displaced keep their bits.
            let kept = |axis: usize| moved[axis].clamp(-room[axis], room[axis]);
            points.push(if jitter_source.is_zero() { fitted } else { Point3::from([0, 1, 2].map(kept)) });
        });
        Ok(ParticleLayout { points, spacing: self.spacing.component_mul(&stretch), left_out: 0 })
    }
}

/// The lattice of a solid whose bounding box has these corners \[m\].
pub(super) fn lattice(
    solid: &SamplingSolid,
    low: Point3<f64>,
    high: Point3<f64>,
    density: Density,
) -> Result<Lattice, SampleError> {
    let extents = high - low;
    let is_box = matches!(solid, SamplingSolid::Box { .. });
    let counts = match density {
        Density::Counts(counts) => {
            counts.iter().try_for_each(|&n| positive("counts", n as f64, "particles along an axis"))?;
            counts
        }
        Density::Total(total) if is_box => counts_of_total(total, &extents)?,
        Density::Total(total) => return Err(SampleError::TotalNeedsBox(total)),
        Density::Spacing(spacing) => {
            positive("spacing", spacing, "m")?;
            return spaced_lattice(low, extents, spacing);
        }
        Density::PerCell { particles, cell_size } => {
            positive("particles_per_cell", particles, "particles")?;
            positive("cell_size", cell_size, "m")?;
            return spaced_lattice(low, extents, cell_size / particles.cbrt());
        }
    };
    check_cells(Vector3::from(counts.map(|n| n as f64)))?;
    let spacing = extents.component_div(&Vector3::from(counts.map(|n| n as f64)));
    Ok(Lattice { corner: low, counts, spacing })
}

/// The bounding box divided evenly at about `spacing`.
fn spaced_lattice(low: Point3<f64>, extents: Vector3<f64>, spacing: f64) -> Result<Lattice, SampleError> {
    let counts = (extents / spacing).map(|n| n.round().max(1.0));
    check_cells(counts)?;
    let counts = [counts.x as usize, counts.y as usize, counts.z as usize];
    let spacing = extents.component_div(&Vector3::from(counts.map(|n| n as f64)));
    Ok(Lattice { corner: low, counts, spacing })
}

fn check_cells(counts: Vector3<f64>) -> Result<(), SampleError> {
    let cells = counts.product();
    if cells <= MAX_CELLS { Ok(()) } else { Err(SampleError::TooMany { cells }) }
}

/// The factors nx ny nz = `total` whose spacings differ least (smallest ratio of largest to
/// smallest).
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
