//! The grid pass: sum the windows, free motion, boundary conditions.

use nalgebra::Vector3;

use crate::arena::Window;
use crate::blocks::{NODES, NONE, NodeBlock};
use crate::boundary::GridPlane;
use crate::simd::{Kernel, LANES, Row, Simd};
use crate::sort::NEIGHBOURS;
use crate::tiles::{BLOCK_CELLS, BlockKey};

/// Sum over the nodes of one block, world frame, angular parts about the world origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Impulse {
    /// Linear impulse [N s].
    pub linear: Vector3<f64>,
    /// Angular impulse about the world origin [N m s].
    pub angular: Vector3<f64>,
}

impl core::ops::AddAssign for Impulse {
    fn add_assign(&mut self, o: Self) {
        self.linear += o.linear;
        self.angular += o.angular;
    }
}

/// What happened to the momentum of one node block in the free motion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FreeMotionSums {
    /// Mass [kg].
    pub mass: f64,
    /// Impulse of gravity.
    pub gravity: Impulse,
    /// Impulse of the boundary conditions.
    pub boundary: Impulse,
    /// Work done by gravity and by the boundary conditions [J].
    pub work: f64,
}

/// Sums the windows around one node block (in the order of the neighbours: the same bits for any number of threads).
pub(crate) struct GatherWindows<'a> {
    pub block: &'a mut NodeBlock,
    pub neighbours: &'a [u32; NEIGHBOURS],
    pub windows: &'a [Window],
    /// The pool that holds their rows.
    pub pool: &'a [Row],
}

impl Kernel for GatherWindows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        *self.block = NodeBlock::ZERO;
        let (rows, _) = self.block.nodes.as_flattened_mut().as_chunks_mut::<LANES>();
        for (n, &p) in self.neighbours.iter().enumerate() {
            if p == NONE {
                continue;
            }
            let window = &self.windows[p as usize];
            let values = &self.pool[window.first_row as usize..][..window.rows()];
            // This block is the opposite neighbour of the particles' block.
            window.for_each_shared_row(NEIGHBOURS - 1 - n, |w, _, b| {
                let sum = S::add(S::load(&rows[b]), S::load(&values[w].0));
                S::store(&mut rows[b], sum);
                self.block.empty = false;
            });
        }
    }
}

/// World position of a node [cells].
pub(crate) fn node_position(key: BlockKey, node: usize) -> [f64; 3] {
    let local = [node / 16, node / 4 % 4, node % 4];
    [0, 1, 2].map(|d| f64::from(BLOCK_CELLS) * f64::from(key[d]) + local[d] as f64)
}

/// Momentum to velocity, gravity, boundary conditions.
pub(crate) fn free_motion(
    block: &mut NodeBlock,
    key: BlockKey,
    gravity_step: Vector3<f64>,
    planes: &[GridPlane],
    grid_spacing: f64,
) -> FreeMotionSums {
    let mut sums = FreeMotionSums::default();
    if block.empty {
        return sums;
    }
    let step = [gravity_step.x as f32, gravity_step.y as f32, gravity_step.z as f32];
    let corner = node_position(key, 0);
    let reach = 3.0 * 3.0_f64.sqrt();
    let near = planes.iter().any(|p| GridPlane::acts_at(p.distance(corner) - reach));
    let mut first_moment = [0.0_f64; 3];
    let mut momentum = 0.0_f64;
    for node in 0..NODES {
        let [px, py, pz, mass] = block.nodes[node];
        if mass <= 0.0 {
            block.nodes[node] = [0.0; 4];
            continue;
        }
        let inverse = 1.0 / mass;
        let free = [px * inverse + step[0], py * inverse + step[1], pz * inverse + step[2]];
        let (local, mass64) = ([node / 16, node / 4 % 4, node % 4], f64::from(mass));
        sums.mass += mass64;
        for d in 0..3 {
            first_moment[d] += mass64 * local[d] as f64;
            let before = f64::from(free[d]) - gravity_step[d];
            momentum += gravity_step[d] * mass64 * (before + 0.5 * gravity_step[d]);
        }
        block.nodes[node] = [free[0], free[1], free[2], mass];
        if near {
            impose_boundaries(&mut block.nodes[node], key, node, planes, grid_spacing, &mut sums);
        }
    }
    sums.work += momentum;
    let center = Vector3::from_fn(|d, _| (sums.mass * corner[d] + first_moment[d]) * grid_spacing);
    sums.gravity = Impulse { linear: gravity_step * sums.mass, angular: center.cross(&gravity_step) };
    sums
}

/// Boundary conditions of one node, and what they did to its momentum and energy.
fn impose_boundaries(
    value: &mut [f32; 4],
    key: BlockKey,
    node: usize,
    planes: &[GridPlane],
    grid_spacing: f64,
    sums: &mut FreeMotionSums,
) {
    let position = node_position(key, node);
    let before = [value[0], value[1], value[2]];
    let mut v = before;
    for plane in planes {
        if GridPlane::acts_at(plane.distance(position)) {
            plane.impose(&mut v);
        }
    }
    if v == before {
        return;
    }
    let mass = f64::from(value[3]);
    let change = Vector3::from_fn(|d, _| mass * (f64::from(v[d]) - f64::from(before[d])));
    let mean = Vector3::from_fn(|d, _| 0.5 * (f64::from(v[d]) + f64::from(before[d])));
    sums.boundary.linear += change;
    sums.boundary.angular += (Vector3::from(position) * grid_spacing).cross(&change);
    sums.work += change.dot(&mean);
    value[..3].copy_from_slice(&v);
}
