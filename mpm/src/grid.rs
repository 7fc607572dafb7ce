//! The grid pass: sum of the stencil boxes, free motion, boundary conditions.

use nalgebra::Vector3;

use crate::blocks::{BLOCK_NODES, NODES, NONE, NodeBlock};
use crate::boundary::GridPlane;
use crate::scratchpad::StencilBox;
use crate::sort::NEIGHBOURS;
use crate::tiles::{BLOCK_CELLS, BlockKey};
use pliant_numeric::simd::{F32x16, Kernel, LANES, Simd};

/// Sum over the nodes of one block, world frame, angular parts about the world origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulse {
    /// Linear impulse \[N s\].
    pub linear: Vector3<f64>,
    /// Angular impulse about the world origin \[N m s\].
    pub angular: Vector3<f64>,
}

impl core::ops::AddAssign for Impulse {
    fn add_assign(&mut self, o: Self) {
        self.linear += o.linear;
        self.angular += o.angular;
    }
}

/// Momentum and energy that the free motion gave one node block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FreeMotionSums {
    /// Mass \[kg\].
    pub mass: f64,
    /// Impulse of gravity.
    pub gravity: Impulse,
    /// Impulse of the boundary conditions.
    pub boundary: Impulse,
    /// Work done by gravity and by the boundary conditions \[J\].
    pub work: f64,
    /// The part of the boundary conditions \[J\].
    pub boundary_work: f64,
}

impl core::ops::AddAssign for FreeMotionSums {
    fn add_assign(&mut self, o: Self) {
        self.mass += o.mass;
        self.gravity += o.gravity;
        self.boundary += o.boundary;
        self.work += o.work;
        self.boundary_work += o.boundary_work;
    }
}

/// The grid pass of one node block: sums the stencil boxes that overlap it, then computes the free
/// motion of its nodes.
pub(crate) struct GridPass<'a> {
    pub block: &'a mut NodeBlock,
    pub key: BlockKey,
    /// Particle blocks around it.
    pub neighbours: &'a [u32; NEIGHBOURS],
    pub stencil_boxes: &'a [StencilBox],
    /// The pool that holds the rows of the stencil boxes.
    pub pool: &'a [F32x16],
    /// substep g \[m/s\].
    pub gravity_step: Vector3<f64>,
    pub planes: &'a [GridPlane],
    /// Grid spacing h \[m\].
    pub grid_spacing: f64,
    /// Origin of the grid \[m\].
    pub origin: Vector3<f64>,
}

/// Rows of four nodes in a block.
const ROWS: usize = NODES / BLOCK_NODES;

impl Kernel for GridPass<'_> {
    type Output = FreeMotionSums;

    #[inline(always)]
    fn run<S: Simd>(self) -> FreeMotionSums {
        let mut momenta = [F32x16::ZERO; ROWS];
        if !self.gather::<S>(&mut momenta) {
            if !self.block.empty {
                *self.block = NodeBlock::ZERO;
            }
            return FreeMotionSums::default();
        }
        let mut sums = self.sum(&momenta);
        self.block.empty = false;
        let (rows, _) = self.block.nodes.as_flattened_mut().as_chunks_mut();
        move_freely::<S>(&momenta, self.gravity_step, rows);
        let near = self.near_planes();
        if near != 0 {
            let grid = (self.origin, self.grid_spacing);
            impose_boundaries(self.block, self.key, self.planes, near, grid, &mut sums);
        }
        sums
    }
}

impl GridPass<'_> {
    /// Sums the stencil boxes in the order of the neighbours: the same bits for any number of
    /// threads. False if none overlaps the block.
    #[inline(always)]
    fn gather<S: Simd>(&self, momenta: &mut [F32x16; ROWS]) -> bool {
        let mut any = false;
        for (n, &p) in self.neighbours.iter().enumerate() {
            if p == NONE {
                continue;
            }
            let stencil_box = &self.stencil_boxes[p as usize];
            let values = &self.pool[stencil_box.first_row as usize..];
            // Seen from the particles' block, this block is the opposite neighbour.
            stencil_box.for_each_shared_row(
                NEIGHBOURS - 1 - n,
                #[inline(always)]
                |w, _, b| {
                    let sum = S::add(S::load(&momenta[b].0), S::load(&values[w].0));
                    S::store(&mut momenta[b].0, sum);
                    any = true;
                },
            );
        }
        any
    }

    /// Mass, impulse and work of gravity, in f64, for the momentum balance of the particles.
    #[inline(always)]
    fn sum(&self, momenta: &[F32x16; ROWS]) -> FreeMotionSums {
        // Entries (z, component), summed over y and over x.
        let mut by_x = [[0.0_f64; LANES]; BLOCK_NODES];
        let mut by_y = [[0.0_f64; LANES]; BLOCK_NODES];
        for x in 0..BLOCK_NODES {
            for y in 0..BLOCK_NODES {
                for l in 0..LANES {
                    let value = f64::from(momenta[x * BLOCK_NODES + y].0[l]);
                    by_x[x][l] += value;
                    by_y[y][l] += value;
                }
            }
        }
        let mut momentum = [0.0; 4];
        let mut first_moment = Vector3::zeros();
        for z in 0..BLOCK_NODES {
            for c in 0..4 {
                let l = z * 4 + c;
                momentum[c] += (by_x[0][l] + by_x[1][l]) + (by_x[2][l] + by_x[3][l]);
            }
            let l = z * 4 + 3;
            first_moment.x += by_x[1][l] + 2.0 * by_x[2][l] + 3.0 * by_x[3][l];
            first_moment.y += by_y[1][l] + 2.0 * by_y[2][l] + 3.0 * by_y[3][l];
            let in_plane = (by_x[0][l] + by_x[1][l]) + (by_x[2][l] + by_x[3][l]);
            first_moment.z += z as f64 * in_plane;
        }
        let [px, py, pz, mass] = momentum;
        let corner = Vector3::from(node_position(self.key, 0));
        let center = (mass * corner + first_moment) * self.grid_spacing + mass * self.origin;
        let step = self.gravity_step;
        FreeMotionSums {
            mass,
            gravity: Impulse { linear: step * mass, angular: center.cross(&step) },
            boundary: Impulse::default(),
            // Gravity's impulse times the mean velocity.
            work: step.dot(&Vector3::new(px, py, pz)) + 0.5 * mass * step.norm_squared(),
            boundary_work: 0.0,
        }
    }

    /// Bit n: plane n may act on nodes of this block. Bit 63 also stands for all planes after it.
    fn near_planes(&self) -> u64 {
        let corner = cells_from_origin(self.key, 0, &self.origin, self.grid_spacing);
        let near = |p: &GridPlane| GridPlane::acts_at(p.distance(corner) - p.depth((BLOCK_NODES - 1) as f64));
        let planes = self.planes.iter().enumerate();
        planes.fold(0, |bits, (n, plane)| bits | u64::from(near(plane)) << n.min(63))
    }
}

/// Momentum to velocity, and gravity; nodes of zero mass are all zero.
#[inline(always)]
fn move_freely<S: Simd>(momenta: &[F32x16; ROWS], gravity_step: Vector3<f64>, rows: &mut [[f32; LANES]]) {
    let [gx, gy, gz] = [gravity_step.x as f32, gravity_step.y as f32, gravity_step.z as f32];
    let step = S::load(&[gx, gy, gz, 0., gx, gy, gz, 0., gx, gy, gz, 0., gx, gy, gz, 0.]);
    let (zero, one) = (S::splat(0.0), S::splat(1.0));
    let (first, second) = (S::mask_from_bits(0x1111), S::mask_from_bits(0x2222));
    let (third, fourth) = (S::mask_from_bits(0x4444), S::mask_from_bits(0x8888));
    for (plane, rows) in
        momenta.as_chunks::<BLOCK_NODES>().0.iter().zip(rows.as_chunks_mut::<BLOCK_NODES>().0)
    {
        let mut mass = [zero; BLOCK_NODES];
        for y in 0..BLOCK_NODES {
            mass[y] = S::broadcast_entry::<3>(S::load(&plane[y].0));
        }
        // One division for sixteen nodes: entry y of each quarter is from row y.
        let low = S::select(first, mass[0], mass[1]);
        let high = S::select(third, mass[2], mass[3]);
        let inverse = S::div(one, S::select(S::mask_or(first, second), low, high));
        let inverse = [
            S::broadcast_entry::<0>(inverse),
            S::broadcast_entry::<1>(inverse),
            S::broadcast_entry::<2>(inverse),
            S::broadcast_entry::<3>(inverse),
        ];
        for y in 0..BLOCK_NODES {
            let velocity = S::mul_add(S::load(&plane[y].0), inverse[y], step);
            let node = S::select(fourth, mass[y], velocity);
            S::store(&mut rows[y], S::select(S::lt(zero, mass[y]), node, zero));
        }
    }
}

/// Position of a node from the grid's origin \[cells\].
pub(crate) fn node_position(key: BlockKey, node: usize) -> [f64; 3] {
    let local = [node / 16, node / 4 % 4, node % 4];
    [0, 1, 2].map(|d| f64::from(BLOCK_CELLS) * f64::from(key[d]) + local[d] as f64)
}

/// World position of a node of a grid with this origin \[m\] and spacing \[m\], in cells from the
/// world's origin.
fn cells_from_origin(key: BlockKey, node: usize, origin: &Vector3<f64>, grid_spacing: f64) -> [f64; 3] {
    let position = node_position(key, node);
    [0, 1, 2].map(|d| position[d] + origin[d] / grid_spacing)
}

/// Boundary conditions of a block's nodes, and their impulse and work. `near` is
/// [`GridPass::near_planes`].
#[inline(never)]
fn impose_boundaries(
    block: &mut NodeBlock,
    key: BlockKey,
    planes: &[GridPlane],
    near: u64,
    (origin, grid_spacing): (Vector3<f64>, f64),
    sums: &mut FreeMotionSums,
) {
    for (node, value) in block.nodes.iter_mut().enumerate().filter(|(_, value)| value[3] > 0.0) {
        let position = cells_from_origin(key, node, &origin, grid_spacing);
        let before = [value[0], value[1], value[2]];
        let mut v = before;
        for (n, plane) in planes.iter().enumerate() {
            if near >> n.min(63) & 1 == 1 && GridPlane::acts_at(plane.distance(position)) {
                plane.impose(&mut v);
            }
        }
        if v == before {
            continue;
        }
        let mass = f64::from(value[3]);
        let change = Vector3::from_fn(|d, _| mass * (f64::from(v[d]) - f64::from(before[d])));
        let mean = Vector3::from_fn(|d, _| 0.5 * (f64::from(v[d]) + f64::from(before[d])));
        sums.boundary.linear += change;
        sums.boundary.angular += (Vector3::from(position) * grid_spacing).cross(&change);
        sums.work += change.dot(&mean);
        // At the final velocities: before, the grid already has the impulse of elasticity, which
        // the plane opposes.
        sums.boundary_work += change.dot(&Vector3::from(v.map(f64::from)));
        value[..3].copy_from_slice(&v);
    }
}
