//! Pins: impulses that make the grid move with the held vertices, and the exact positions of these
//! vertices.
//!
//! The grid's part is a constraint for each pin, sum_i w_ip v_i = v_pin, satisfied by impulses
//! distributed with the weights (see [`crate::reference`] for the reason), all at once by conjugate
//! gradients in f64. There are few of them, so all of it is serial.
//!
//! More pins than nodes leave combinations of impulses that move no node, and what the pins ask for in
//! them, which is the rounding of f32, has no solution. So pins yield a little
//! ([`YIELD`]), and the search ends at the rounding.

use nalgebra::Vector3;

use super::arrays::{CsrAdjacency, FaceState, LaneSlot, Vertices, corner};
use super::quad::F32x4;
use super::rope_positions::RopePositions;
use crate::blocks::{NODES, NodeBlock, Topology};
use crate::bspline::quadratic_weights;
use crate::cloth::Pin;
use crate::grid::Impulse;
use crate::tiles::{BLOCK_CELLS, ParticleStore, kinematics};
use pliant_numeric::simd::LANES;

/// How much pins yield on the grid: part of the diagonal of their matrix that is added to it \[-\]. Of
/// the rounding of a velocity this leaves at most 1 / (2 sqrt(YIELD)) = 500 times as much in the nodes,
/// and of what pins ask for this part, over the eigenvalue, undone.
const YIELD: f64 = 1e-6;

/// Residual of the pins' velocities at which their impulses are found, over that without impulses.
const TOLERANCE: f64 = 1e-8;

/// The same over the rounding of the pins' positions and of the nodes' velocities.
const ROUNDINGS: f64 = 2.0;

/// Most iterations: pins of a mesh whose edges are a quarter of a cell need about 40.
const ITERATIONS: usize = 100;

/// Impulse and work of the pins of cloth in a substep.
#[derive(Clone, Copy, Debug, Default)]
pub struct PinImpulse {
    /// Their impulse on the sheets and on other particles at the same grid nodes, angular part
    /// about the world's origin.
    pub impulse: Impulse,
    /// Their work \[J\].
    pub work: f64,
}

/// A node of a pin's stencil.
#[derive(Clone, Copy, Debug, Default)]
struct StencilNode {
    block: u32,
    node: u32,
    weight: f64,
    /// Its number among the nodes that pins reach.
    number: u32,
}

/// A node that pins reach.
#[derive(Clone, Copy, Debug)]
struct ReachedNode {
    block: u32,
    node: u32,
    mass: f64,
    /// Change of its velocity by the impulses of a direction \[m/s\].
    change: Vector3<f64>,
}

/// A vertex that is held, in a substep.
#[derive(Clone, Copy, Debug)]
struct HeldVertex {
    /// Number of the vertex.
    vertex: u32,
    /// Its next position \[m\].
    target: Vector3<f64>,
    velocity: Vector3<f64>,
    /// Mean of this velocity and that before, on which the pin works: forces act at the positions, in
    /// the middle of the two \[m/s\].
    mean_velocity: Vector3<f64>,
    /// Nodes with mass that it reaches.
    nodes: [StencilNode; 27],
    count: usize,
    /// Velocity that the grid does not have there yet \[m/s\].
    residual: Vector3<f64>,
    /// Direction of the search, and the impulse \[N s\].
    direction: Vector3<f64>,
    impulse: Vector3<f64>,
    /// The residual by the direction \[m/s\].
    image: Vector3<f64>,
    /// Inverse of the diagonal's entry, 1 / sum_i w_ip^2 / m_i \[kg\].
    scale: f64,
    /// Rounding of the velocity by that of the position, a sum of two f32 from the block's corner and of f64
    /// from the world's origin \[m/s\].
    rounding: f64,
}

/// The pins of all sheets.
#[derive(Clone, Debug, Default)]
pub(super) struct Pins {
    /// With the numbers of their vertices.
    pins: Vec<(u32, Pin)>,
    /// Whether a vertex has a pin, released or not, up to the last that has one.
    has_pin: Vec<bool>,
    /// Those that hold in this substep.
    held: Vec<HeldVertex>,
    /// The velocities that they hold at, by vertex, up to the last that has a pin \[m/s\].
    velocities: Vec<Option<Vector3<f64>>>,
    /// The nodes that they reach, in rising order.
    reached: Vec<ReachedNode>,
    pub applied: PinImpulse,
    /// How often they were changed.
    pub changes: u64,
}

impl PinImpulse {
    /// An impulse at a point \[N s, m\] of a pin that moves with `velocity` \[m/s\]: the mean of those
    /// before and after.
    pub fn add(&mut self, at: &Vector3<f64>, impulse: &Vector3<f64>, velocity: &Vector3<f64>) {
        self.impulse.linear += impulse;
        self.impulse.angular += at.cross(impulse);
        self.work += impulse.dot(velocity);
    }
}

impl Pins {
    /// Adds the pins of a sheet or a rope, whose vertices count from `first_vertex`.
    pub(super) fn add(&mut self, pins: &[Pin], first_vertex: u32) {
        self.pins.extend(pins.iter().map(|pin| (first_vertex + pin.vertex() as u32, pin.clone())));
        self.reserve();
    }

    /// All pins, each with the number of its vertex.
    pub(super) fn all(&self) -> &[(u32, Pin)] {
        &self.pins
    }

    /// Whether a vertex has a pin, released or not.
    pub(super) fn has_pin(&self, vertex: usize) -> bool {
        self.has_pin.get(vertex).is_some_and(|has| *has)
    }

    /// Velocity that a vertex is held at in this substep; none for one that is not held \[m/s\].
    pub(super) fn held_velocity(&self, vertex: usize) -> Option<Vector3<f64>> {
        self.velocities.get(vertex).copied().flatten()
    }

    /// Gives a vertex another pin, or a first one.
    pub(super) fn set(&mut self, vertex: u32, pin: Pin) {
        match self.pins.iter_mut().find(|(number, _)| *number == vertex) {
            Some((_, old)) => *old = pin,
            None => self.pins.push((vertex, pin)),
        }
        self.changed();
    }

    /// Replaces all pins.
    pub(super) fn replace(&mut self, pins: Vec<(u32, Pin)>) {
        self.pins = pins;
        self.changed();
    }

    fn changed(&mut self) {
        self.changes += 1;
        self.held.clear();
        self.reserve();
    }

    /// Lists the vertices with pins; memory for all pins, so that no substep allocates.
    fn reserve(&mut self) {
        self.has_pin.clear();
        for (vertex, _) in &self.pins {
            let count = self.has_pin.len().max(*vertex as usize + 1);
            self.has_pin.resize(count, false);
            self.has_pin[*vertex as usize] = true;
        }
        self.velocities.clear();
        self.velocities.resize(self.has_pin.len(), None);
        self.reached.clear();
        self.held.reserve(self.pins.len());
        self.reached.reserve(27 * self.pins.len());
    }

    /// Finds the pins that hold from `time` \[s\] on, and their nodes.
    pub(super) fn begin(
        &mut self,
        of: impl Fn(u32) -> LaneSlot,
        store: &ParticleStore,
        grid: Grid<'_>,
        time: f64,
        substep: f64,
    ) {
        self.applied = PinImpulse::default();
        self.held.clear();
        self.velocities.fill(None);
        for (vertex, pin) in self.pins.iter().filter(|(_, pin)| pin.holds(time)) {
            let (corner, cells, from) = place(of(*vertex), store, grid.origin, grid.spacing);
            let target = pin.position(time + substep);
            let velocity = (target - from) / substep;
            let in_block = Vector3::from(cells).norm() * f64::from(f32::EPSILON).powi(2) * grid.spacing;
            let in_world = (from.norm() + grid.origin.norm()) * f64::EPSILON;
            let mut held = HeldVertex {
                vertex: *vertex,
                target,
                velocity,
                mean_velocity: 0.5 * (velocity_before(of(*vertex), store) + velocity),
                nodes: [StencilNode::default(); 27],
                count: 0,
                residual: Vector3::zeros(),
                direction: Vector3::zeros(),
                impulse: Vector3::zeros(),
                image: Vector3::zeros(),
                scale: 0.0,
                rounding: (in_block + in_world) / substep,
            };
            held.reach(corner, cells, &grid);
            self.velocities[*vertex as usize] = Some(velocity);
            self.held.push(held);
        }
        self.number_nodes(grid.nodes);
    }

    /// Numbers the nodes that pins reach.
    fn number_nodes(&mut self, nodes: &[NodeBlock]) {
        self.reached.clear();
        for reach in self.held.iter().flat_map(|held| &held.nodes[..held.count]) {
            let (block, node) = (reach.block, reach.node);
            let mass = reach.read(nodes).1;
            self.reached.push(ReachedNode { block, node, mass, change: Vector3::zeros() });
        }
        self.reached.sort_unstable_by_key(|n| (n.block, n.node));
        self.reached.dedup_by_key(|n| (n.block, n.node));
        for held in &mut self.held {
            for reach in &mut held.nodes[..held.count] {
                let at = self.reached.partition_point(|n| (n.block, n.node) < (reach.block, reach.node));
                reach.number = at as u32;
            }
        }
    }

    /// Applies the pins' impulses to the grid.
    pub(super) fn apply_pins_to_grid(
        &mut self,
        nodes: &mut [NodeBlock],
        topology: &Topology,
        (origin, spacing): (Vector3<f64>, f64),
    ) {
        self.find_impulses(nodes);
        for held in &mut self.held {
            held.direction = held.impulse;
            self.applied.work += held.impulse.dot(&held.mean_velocity);
        }
        self.spread();
        for reached in &self.reached {
            let node = &mut nodes[reached.block as usize].nodes[reached.node as usize];
            let before = [node[0], node[1], node[2]];
            for d in 0..3 {
                node[d] = (f64::from(before[d]) + reached.change[d]) as f32;
            }
            let gained = Vector3::from_fn(|d, _| f64::from(node[d]) - f64::from(before[d]));
            let at = crate::grid::node_position(topology.keys[reached.block as usize], reached.node as usize);
            let at = Vector3::from(at) * spacing + origin;
            self.applied.impulse.linear += reached.mass * gained;
            self.applied.impulse.angular += at.cross(&(reached.mass * gained));
        }
    }

    /// Conjugate gradients, scaled by the diagonal (Hestenes and Stiefel 1952).
    fn find_impulses(&mut self, nodes: &[NodeBlock]) {
        let (mut size, mut rounding) = (0.0, 0.0);
        for held in &mut self.held {
            let (mut missing, mut mobility) = (held.velocity, 0.0);
            let mut rounded = held.rounding;
            for reach in &held.nodes[..held.count] {
                let (velocity, mass) = reach.read(nodes);
                missing -= reach.weight * velocity;
                mobility += reach.weight * reach.weight / mass;
                rounded += reach.weight * velocity.norm() * f64::from(f32::EPSILON);
            }
            held.scale = if mobility > 0.0 { 1.0 / mobility } else { 0.0 };
            rounding += held.scale * rounded * rounded;
            held.residual = missing;
            held.direction = missing * held.scale;
            size += held.residual.dot(&held.direction);
        }
        let enough = (size * TOLERANCE * TOLERANCE).max(ROUNDINGS * ROUNDINGS * rounding);
        for _ in 0..ITERATIONS {
            if size <= enough {
                break;
            }
            self.spread();
            let mut curvature = 0.0;
            for held in &mut self.held {
                // 0 without nodes, whose impulse is zero.
                held.image =
                    if held.scale > 0.0 { held.direction * (YIELD / held.scale) } else { Vector3::zeros() };
                for reach in &held.nodes[..held.count] {
                    held.image += reach.weight * self.reached[reach.number as usize].change;
                }
                curvature += held.direction.dot(&held.image);
            }
            if curvature <= 0.0 {
                break;
            }
            let (step, mut next) = (size / curvature, 0.0);
            for held in &mut self.held {
                held.impulse += step * held.direction;
                held.residual -= step * held.image;
                next += held.scale * held.residual.norm_squared();
            }
            for held in &mut self.held {
                held.direction = held.scale * held.residual + held.direction * (next / size);
            }
            size = next;
        }
    }

    /// Changes of the nodes' velocities by impulses along the directions.
    fn spread(&mut self) {
        for node in &mut self.reached {
            node.change = Vector3::zeros();
        }
        for held in &self.held {
            for reach in &held.nodes[..held.count] {
                let node = &mut self.reached[reach.number as usize];
                node.change += held.direction * (reach.weight / node.mass);
            }
        }
    }

    /// Sets held vertices to their pins' positions, with the velocities that lead there.
    pub(super) fn apply_pins_to_vertices(
        &mut self,
        vertices: &mut Vertices,
        inverse_masses: &[f32],
        (origin, spacing): (Vector3<f64>, f64),
    ) {
        for held in &self.held {
            let number = held.vertex as usize;
            let before = vertices.velocities[number].vector();
            let [u, v, w] = held.velocity.map(|x| x as f32).into();
            vertices.velocities[number] = F32x4([u, v, w, 0.0]);
            for d in 0..3 {
                vertices.put_along(number, d, (held.target[d] - origin[d]) / spacing);
            }
            let after = vertices.velocities[number].vector();
            let mass = 1.0 / f64::from(inverse_masses[number]);
            self.applied.add(&held.target, &(mass * (after - before)), &held.mean_velocity);
        }
    }

    /// Sets held vertices of ropes to their pins' positions.
    pub(super) fn hold_positions(
        &self,
        positions: &mut RopePositions,
        (origin, spacing): (Vector3<f64>, f64),
    ) {
        for held in &self.held {
            positions.hold(held.vertex as usize, (held.target - origin) / spacing);
        }
    }

    /// Adds the impulses of the vertex-face constraints on held vertices to those of the pins.
    pub(super) fn add_vertex_face_impulses(&mut self, states: &[FaceState], adjacency: &CsrAdjacency) {
        for held in &self.held {
            let mut sum = Vector3::zeros();
            for &entry in adjacency.of(held.vertex as usize) {
                let face = entry as usize / 4;
                sum += states[face / LANES].impulses[face % LANES].vector();
            }
            self.applied.add(&held.target, &(-sum / 3.0), &held.mean_velocity);
        }
    }
}

/// The corner of a vertex's block, its position from there \[cells\], and its position \[m\].
pub(super) fn place(
    LaneSlot { lane, block }: LaneSlot,
    store: &ParticleStore,
    origin: Vector3<f64>,
    spacing: f64,
) -> ([i32; 3], [f64; 3], Vector3<f64>) {
    let tile = &store.kinematics[lane as usize / LANES];
    let of = |row: usize| f64::from(tile[row].0[lane as usize % LANES]);
    let cells = [0, 1, 2].map(|d| of(kinematics::POSITION + d) + of(kinematics::POSITION_LOW + d));
    let corner = corner(store, block);
    let position = Vector3::from_fn(|d, _| (f64::from(corner[d]) + cells[d]) * spacing) + origin;
    (corner, cells, position)
}

/// Velocity of a vertex at the start of the substep \[m/s\].
fn velocity_before(LaneSlot { lane, .. }: LaneSlot, store: &ParticleStore) -> Vector3<f64> {
    let tile = &store.kinematics[lane as usize / LANES];
    Vector3::from_fn(|d, _| f64::from(tile[kinematics::VELOCITY + d].0[lane as usize % LANES]))
}

/// Where the nodes are.
#[derive(Clone, Copy)]
pub(super) struct Grid<'a> {
    pub topology: &'a Topology,
    pub nodes: &'a [NodeBlock],
    pub origin: Vector3<f64>,
    pub spacing: f64,
}

impl StencilNode {
    /// Velocity \[m/s\] and mass \[kg\].
    fn read(&self, nodes: &[NodeBlock]) -> (Vector3<f64>, f64) {
        let [x, y, z, mass] = nodes[self.block as usize].nodes[self.node as usize];
        (Vector3::new(x, y, z).map(f64::from), f64::from(mass))
    }
}

impl HeldVertex {
    /// Lists the nodes with mass around a position `cells` from a block's corner.
    fn reach(&mut self, corner: [i32; 3], cells: [f64; 3], grid: &Grid<'_>) {
        let base = cells.map(|x| (x - 0.5).floor());
        let weights = [0, 1, 2].map(|d| quadratic_weights(cells[d] - base[d]));
        for n in 0..27 {
            let o = [n / 9, n / 3 % 3, n % 3];
            let at: [i32; 3] =
                core::array::from_fn(|d| corner[d].wrapping_add(base[d] as i32).wrapping_add(o[d] as i32));
            let key = at.map(|i| i.div_euclid(BLOCK_CELLS));
            let Ok(block) = grid.topology.keys.binary_search(&key) else { continue };
            let local = at.map(|i| i.rem_euclid(BLOCK_CELLS) as usize);
            let node = (local[0] * 4 + local[1]) * 4 + local[2];
            debug_assert!(node < NODES);
            if grid.nodes[block].nodes[node][3] > 0.0 {
                let weight = weights[0][o[0]] * weights[1][o[1]] * weights[2][o[2]];
                self.nodes[self.count] =
                    StencilNode { block: block as u32, node: node as u32, weight, number: 0 };
                self.count += 1;
            }
        }
    }
}
