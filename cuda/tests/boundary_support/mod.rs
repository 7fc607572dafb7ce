//! Particles, bodies and constraints in a grid on a device, and the constraints that the CPU's rule
//! gives.

use nalgebra::{Isometry3, Point3, Unit, Vector3};
use pliant_coupling::convex::ContactProblem;
use pliant_cuda::contact::{DetectedContact, DeviceBoundaryConstraints};
use pliant_cuda::convex::{DeviceConvexSettings, DeviceConvexSolver, DeviceGuess};
use pliant_cuda::kernels::{CONTACT_NONE, CONVEX_FIXED, CONVEX_ON_NODE, ConvexContacts};
use pliant_cuda::{Commands, Device};
use pliant_mpm::{Boundary, BoundaryKind};
use pliant_rigid::{Shape, SpatialVelocity};

use super::convex_support::{BlockGrid, base_in, settings};
use super::support::Random;
use super::support::contact::{DELTA, H, OnDevice, Particle, Scene, Seen};
use super::support::shapes::{bodies, geometry, vector};

/// Nodes of the grid along each axis, and the coordinates of the first.
pub const SIDE: usize = 20;
const LOW: i32 = -9;
/// Memory for contacts, those with boundaries among them.
pub const CONTACTS: usize = 2000;
/// Stiffness number of a constraint.
const BOUNDARY_STIFFNESS_NUMBER: f64 = 1e4;

/// Particles in and around three bodies of some cells.
pub fn scene(seed: u64) -> Scene {
    let mut random = Random(seed);
    let shapes = [
        Shape::Sphere { radius: 0.03 },
        Shape::Box { half_extents: Vector3::new(0.04, 0.015, 0.02) },
        Shape::Capsule { radius: 0.015, half_length: 0.03 },
    ];
    let geometries = shapes.map(|shape| vec![geometry(shape, Isometry3::identity(), false)]);
    let substep_states = (0..3).map(|_| {
        let pose = Isometry3::new(vector(&mut random) * 0.03, vector(&mut random) * 3.0);
        let velocity = SpatialVelocity { angular: vector(&mut random) * 5.0, linear: vector(&mut random) };
        Seen { origin: pose.translation.vector.into(), pose, velocity }
    });
    let substep_states = substep_states.collect();
    let mut particles: Vec<Particle> =
        (0..160).map(|id| Particle::at(id, vector(&mut random) * 0.06, vector(&mut random) * 3.0)).collect();
    particles.sort_by_key(|p| p.key);
    Scene { particles, bodies: bodies(geometries.into()), substep_states }
}

pub fn boundary(point: [f64; 3], normal: [f64; 3], kind: BoundaryKind) -> Boundary {
    Boundary { point: Point3::from(point), normal: Unit::new_normalize(Vector3::from(normal)), kind }
}

/// A floor and a wall that meet in an edge, both through nodes; a slope; a sticky boundary, and one
/// after it in the list.
pub fn boundaries() -> Vec<Boundary> {
    vec![
        boundary([0.0, 0.0, -0.02], [0.0, 0.0, 1.0], BoundaryKind::Slip),
        boundary([-0.03, 0.0, 0.0], [1.0, 0.0, 0.0], BoundaryKind::Frictional { friction: 0.4 }),
        boundary([0.02, 0.03, 0.0], [-0.3, -0.7, 0.4], BoundaryKind::Frictional { friction: 0.9 }),
        boundary([0.0, -0.041, 0.0], [0.0, 1.0, 0.0], BoundaryKind::Sticky),
        boundary([0.04, 0.0, 0.0], [-1.0, 0.1, 0.0], BoundaryKind::Slip),
    ]
}

/// Nodes all around with random velocities; some without mass. The problem has no contacts yet.
fn free_motion(seed: u64) -> ContactProblem {
    let mut random = Random(seed);
    let count = SIDE.pow(3);
    let single = |x: f64| f64::from(x as f32);
    let node_free_velocity = (0..count).map(|_| {
        let v = vector(&mut random);
        [v.x, v.y, v.z, 0.0].map(single)
    });
    let mut problem = ContactProblem {
        substep: DELTA,
        node_free_velocity: node_free_velocity.collect(),
        ..ContactProblem::default()
    };
    problem.node_mass = (0..count)
        .map(|_| {
            let mass = single(1e-3 * (1.2 + random.signed()));
            if random.word().is_multiple_of(17) { 0.0 } else { mass }
        })
        .collect();
    problem
}

pub fn place(number: u32) -> [i32; 3] {
    base_in([SIDE; 3])(number).map(|x| x + LOW)
}

pub fn number_of(node: [i32; 3]) -> usize {
    let [x, y, z] = node.map(|x| (x - LOW) as usize);
    (x * SIDE + y) * SIDE + z
}

pub fn position(node: [i32; 3]) -> Point3<f64> {
    Point3::from(Vector3::from(node).map(f64::from) * H)
}

pub fn node_of(base: [i32; 3], s: usize) -> [i32; 3] {
    [base[0] + (s / 9) as i32, base[1] + (s / 3 % 3) as i32, base[2] + (s % 3) as i32]
}

/// Weight of a node along an axis: a quadratic B-spline, or all on one node.
pub fn weight(offset: f32, k: usize) -> f64 {
    let offset = f64::from(offset);
    if offset >= f64::from(CONVEX_ON_NODE) {
        return f64::from(u8::from(offset - f64::from(CONVEX_ON_NODE) == k as f64));
    }
    let d = offset - k as f64;
    if k == 1 { 0.75 - d * d } else { 0.5 * (1.5 - d.abs()).powi(2) }
}

/// A contact of a node, as the CPU adds it: number of the condition, lattice coordinates, contact.
pub struct Constraint {
    pub plane: usize,
    pub node: [i32; 3],
    pub contact: DetectedContact,
}

/// The rule of `BoundaryConstraints::add` in its own order, and the sticky nodes.
pub fn constraints_of(
    contacts: &[DetectedContact],
    boundaries: &[Boundary],
    free: &ContactProblem,
) -> (Vec<Constraint>, Vec<[i32; 3]>) {
    let (mut constraints, mut sticky, mut substep_states) =
        (Vec::new(), Vec::new(), vec![false; free.node_mass.len()]);
    for contact in contacts {
        for s in 0..27 {
            let node = node_of(contact.base, s);
            let mass = free.node_mass[number_of(node)];
            if std::mem::replace(&mut substep_states[number_of(node)], true) || mass == 0.0 {
                continue;
            }
            let acting: Vec<usize> =
                (0..boundaries.len()).filter(|b| boundaries[*b].acts_on(&position(node), H)).collect();
            if acting.iter().any(|b| boundaries[*b].kind == BoundaryKind::Sticky) {
                sticky.push(node);
                continue;
            }
            let substep = f64::from(DELTA as f32);
            constraints.extend(acting.iter().map(|&plane| Constraint {
                plane,
                node,
                contact: DetectedContact {
                    particle: CONTACT_NONE,
                    geometry: CONTACT_NONE,
                    body: 3,
                    feature: CONTACT_NONE,
                    base: contact.base,
                    offset: [s / 9, s / 3 % 3, s % 3].map(|k| (CONVEX_ON_NODE as usize + k) as f32),
                    normal: boundaries[plane].normal.map(|n| n as f32).into(),
                    body_velocity: [0.0; 3],
                    lever: position(node).coords.map(|x| x as f32).into(),
                    gap: 0.0,
                    distance: 0.0,
                    exit_distance: 0.0,
                    stiffness: (BOUNDARY_STIFFNESS_NUMBER * mass / (substep * substep)) as f32,
                    dissipation: 0.0,
                    friction: 0.0,
                    lagged_normal_impulse: 0.0,
                    tension: 0.0,
                    last_impulse: [0.0; 3],
                },
            }));
        }
    }
    (constraints, sticky)
}

/// Everything on a device.
pub struct Setup {
    pub on: OnDevice,
    pub grid: BlockGrid,
    pub free: ContactProblem,
    pub boundaries: Vec<Boundary>,
    pub constraints: DeviceBoundaryConstraints,
    pub solver: DeviceConvexSolver,
}

impl Setup {
    pub fn new(device: &Device, boundaries: Vec<Boundary>, contacts: usize) -> Self {
        Self::with_tolerance(device, boundaries, contacts, 1e-3)
    }

    pub fn with_tolerance(
        device: &Device,
        boundaries: Vec<Boundary>,
        contacts: usize,
        tolerance: f64,
    ) -> Self {
        let scene = scene(5);
        let mut on = OnDevice::new(device.clone(), &scene, contacts, SIDE.pow(3), 3);
        on.begin_step(&scene.poses(3)).unwrap();
        on.begin_exchange(&[]);
        let free = free_motion(6);
        let grid = BlockGrid::new(device, &free, place);
        let constraints =
            DeviceBoundaryConstraints::new(device, &boundaries, &on.detector, grid.nodes.len()).unwrap();
        // Not a block for every tile: those without nodes would only be waited for.
        let mut solver = DeviceConvexSolver::new(device, contacts, SIDE.pow(3)).unwrap().with_blocks(3);
        let solver_settings = DeviceConvexSettings {
            solver: settings(tolerance),
            substep: DELTA,
            // Of contacts without their own, of which there are none.
            dissipation: f64::NAN,
            stiction_tolerance: 1e-3,
        };
        solver.set(&solver_settings, DeviceGuess::Solution).unwrap();
        Self { on, grid, free, boundaries, constraints, solver }
    }

    pub fn submit(&self, give: impl FnOnce(&mut Commands)) {
        let mut commands = Commands::new();
        give(&mut commands);
        self.on.device.submit(&commands).unwrap();
    }

    pub fn contacts(&self) -> Vec<DetectedContact> {
        self.on.detector.download().unwrap()
    }

    pub fn add(&self) {
        self.submit(|commands| self.constraints.issue_add(commands, &self.on.detector, &self.grid.spans()));
    }

    /// Numbers nodes and guesses.
    pub fn guess(&self) {
        self.submit(|commands| {
            let contacts = ConvexContacts::from(&self.on.detector.contacts());
            let (incidence, nodes) = (self.solver.incidence(), self.grid.nodes.span());
            self.solver.issue_number(commands, &contacts, &self.grid.spans());
            self.constraints.issue_guess(commands, &self.on.detector, incidence, nodes);
        });
    }

    pub fn solve(&self) {
        self.submit(|commands| {
            let arrays = self.on.detector.contacts();
            let (nodes, fixed) = (self.grid.nodes.span(), self.constraints.fixed_nodes());
            self.solver.issue_solve(commands, &(&arrays).into(), nodes, fixed, arrays.last_impulse);
        });
    }

    pub fn exchange(&self) {
        self.submit(|commands| {
            let (incidence, solution, on) = (self.solver.incidence(), self.solver.solution(), &self.on);
            let nodes = self.grid.nodes.span();
            on.exchange.issue(commands, &on.geometries, &on.detector, incidence, solution, nodes);
            let impulses = solution.impulses;
            self.constraints.issue_impose(commands, &on.detector, incidence, impulses, nodes, &on.exchange);
        });
    }

    /// Velocity and mass of each node of the problem on the grid.
    pub fn nodes(&self) -> Vec<[f32; 4]> {
        let nodes = self.grid.nodes.download().unwrap();
        self.grid.slots.iter().map(|slot| nodes[*slot as usize]).collect()
    }

    /// The nodes that constraints hold.
    pub fn fixed_nodes(&self) -> Vec<[i32; 3]> {
        let mut marks = vec![0; self.grid.nodes.len()];
        let copy = self.on.device.upload(&marks).unwrap();
        self.submit(|commands| {
            commands.copy(self.constraints.fixed_nodes(), copy.span());
        });
        copy.download_at(0, &mut marks).unwrap();
        let numbers = 0..self.grid.slots.len();
        let held = numbers.filter(|n| marks[self.grid.slots[*n] as usize] == CONVEX_FIXED);
        held.map(|n| place(n as u32)).collect()
    }

    /// Gives the particles' contacts other impulses to guess with.
    pub fn set_guess(&self, impulses: &[[f32; 3]]) {
        let given = self.on.device.upload(impulses).unwrap();
        self.submit(|commands| {
            commands.copy(given.span(), self.on.detector.contacts().last_impulse);
        });
    }
}
