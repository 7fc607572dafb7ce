//! Culling of a tile's particles that cannot be within a distance of a geometry, sixteen at a time.

use multiversion::multiversion;
use nalgebra::{Matrix3, Point3};
use pliant_rigid::Shape;

/// Particles in a tile.
pub(crate) const LANES: usize = 16;

/// Bound on the rounding of a position \[cells\].
const SLACK: f64 = 1e-6;

/// A box in the geometry's frame that contains all points within some distance of the geometry. It
/// may be unbounded.
#[derive(Clone, Debug)]
pub(crate) struct BoundingRegion {
    /// From cells to metres in the geometry's frame.
    axes: [[f64; 3]; 3],
    /// The block's corner there \[m\].
    corner: [f64; 3],
    low: [f64; 3],
    high: [f64; 3],
}

impl BoundingRegion {
    /// The region within `reach` \[m\] of a shape. `to_shape` rotates vectors of the world into the
    /// shape's frame and gives the block's corner there \[m\]. `None` for shapes without such a
    /// box.
    pub(crate) fn around(
        shape: &Shape,
        reach: f64,
        (rotation, corner): (&Matrix3<f64>, Point3<f64>),
        grid_spacing: f64,
    ) -> Option<Self> {
        let reach = reach + SLACK * grid_spacing;
        let (low, high) = match shape {
            Shape::HalfSpace => ([f64::NEG_INFINITY; 3], [f64::INFINITY, f64::INFINITY, reach]),
            Shape::Box { half_extents } => {
                let high = half_extents.map(|edge| edge + reach);
                ((-high).into(), high.into())
            }
            _ => return None,
        };
        let axes = core::array::from_fn(|d| core::array::from_fn(|e| grid_spacing * rotation[(d, e)]));
        Some(Self { axes, corner: corner.coords.into(), low, high })
    }

    /// The lanes of the positions (cells from the block's corner) that are in it, as bits.
    pub(crate) fn lanes(&self, positions: [&[f32; LANES]; 3]) -> u16 {
        lanes_inside(self, positions)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn lanes_inside(room: &BoundingRegion, positions: [&[f32; LANES]; 3]) -> u16 {
    let [x, y, z] = positions;
    let mut outside = [0u64; LANES];
    for d in 0..3 {
        let [ax, ay, az] = room.axes[d];
        for l in 0..LANES {
            let along_xy = ax * f64::from(x[l]) + ay * f64::from(y[l]);
            let at = along_xy + az * f64::from(z[l]) + room.corner[d];
            outside[l] |= u64::from(at < room.low[d]) | u64::from(at > room.high[d]);
        }
    }
    let mut lanes = 0;
    for (l, outside) in outside.iter().enumerate() {
        lanes |= u16::from(*outside == 0) << l;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use nalgebra::{Rotation3, Vector3};

    use super::*;

    /// Uniform in [-1, 1) (splitmix64, Steele et al. 2014).
    fn uniform(state: &mut u64) -> f64 {
        (pliant_numeric::random::split_mix(state) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A particle is in the region exactly if the shape's lower bound of its distance is within
    /// reach; particles within the slack of the region's faces may be either.
    #[test]
    fn holds_the_particles_that_the_lower_bound_keeps() {
        const SEED: u64 = 7;
        let mut state = SEED;
        let (h, mut inside, mut outside) = (0.01, 0, 0);
        for case in 0..400 {
            let mut vector = |size: f64| Vector3::from_fn(|_, _| size * uniform(&mut state));
            let (turn, place) = (Rotation3::new(vector(3.0)), vector(0.04));
            let half_extents = vector(0.03).abs();
            let shape = if case % 2 == 0 { Shape::HalfSpace } else { Shape::Box { half_extents } };
            let reach = 0.01 * (1.0 + uniform(&mut state));
            let rows: [[f32; LANES]; 3] =
                core::array::from_fn(|_| core::array::from_fn(|_| 4.0 * uniform(&mut state) as f32));
            let to_shape = (turn.matrix(), Point3::from(place));
            let Some(room) = BoundingRegion::around(&shape, reach, to_shape, h) else { panic!("no room") };
            let lanes = room.lanes(rows.each_ref());
            for l in 0..LANES {
                let cells = Vector3::from_fn(|d, _| f64::from(rows[d][l]));
                let bound = shape.lower_bound(&(turn * (cells * h) + place).into());
                if (bound - reach).abs() > 2.0 * SLACK * h {
                    assert_eq!(lanes >> l & 1 == 1, bound <= reach, "seed {SEED}, case {case}, lane {l}");
                }
                if bound <= reach { inside += 1 } else { outside += 1 }
            }
        }
        assert!(inside > 500 && outside > 500, "{inside} inside, {outside} outside");
    }
}
