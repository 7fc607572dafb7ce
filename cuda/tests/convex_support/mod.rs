//! Contact problems whose numbers are those of f32, so that the device and the CPU solve the very
//! same one.
#![allow(dead_code, reason = "each test program uses its own part")]

use pliant_coupling::convex::{
    ContactConstraint, ContactProblem, ConvexSolver, InitialGuess, SolverInfo, SolverSettings,
};
use pliant_cuda::convex::{DeviceContactProblem, DeviceConvexSettings, DeviceConvexSolver, DeviceSolution};
use pliant_cuda::kernels::GridNodes;
use pliant_cuda::{Buffer, Commands, Device};

use super::support::Random;

/// Nodes along a side of the grid of [`random_problem`], and how a node's number follows from its
/// place.
pub const SIDE: usize = 6;

pub fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

/// Weights of a quadratic B-spline.
fn spline(f: f64) -> [f64; 3] {
    [0.5 * (1.5 - f).powi(2), 0.75 - (f - 1.0).powi(2), 0.5 * (f - 0.5).powi(2)]
}

/// The weights of a place within a stencil: `(weights_xy, weights_z)`.
fn weights(offset: [f64; 3]) -> ([f64; 9], [f64; 3]) {
    let w = offset.map(spline);
    (std::array::from_fn(|r| w[0][r / 3] * w[1][r % 3]), w[2])
}

/// Base node of a row in a grid of `size` nodes, numbered along z first.
pub fn base_in(size: [usize; 3]) -> impl Fn(u32) -> [i32; 3] {
    move |row| {
        let row = row as usize;
        [row / (size[1] * size[2]), row / size[2] % size[1], row % size[2]].map(|x| x as i32)
    }
}

/// Random contacts in a few cells, of particles of 1e-3 kg with the stiffness number `delta^2 k /
/// m`: every third one bonded, some apart, with friction.
pub fn random_problem(seed: u64, contacts: usize, stiffness_number: f64) -> ContactProblem {
    random_problem_in(SIDE, seed, contacts, stiffness_number)
}

/// The same in a grid of `side` nodes along each axis.
pub fn random_problem_in(side: usize, seed: u64, contacts: usize, stiffness_number: f64) -> ContactProblem {
    let mut random = Random(seed);
    let (mass, substep) = (1e-3, 1e-3);
    let mut problem = ContactProblem { substep, ..ContactProblem::default() };
    problem.node_mass = vec![0.0; side.pow(3)];
    problem.node_free_velocity = (0..side.pow(3))
        .map(|_| [random.signed(), random.signed(), random.signed(), 0.0].map(single))
        .collect();
    for c in 0..contacts {
        let cells = (side - 2) as f64;
        let base: [usize; 3] = std::array::from_fn(|_| (0.5 * (random.signed() + 1.0) * cells) as usize);
        let (weights_xy, weights_z) = weights(std::array::from_fn(|_| single(1.0 + 0.5 * random.signed())));
        let stiffness = single(stiffness_number * mass / (substep * substep));
        let contact = ContactConstraint {
            rows: std::array::from_fn(|r| {
                (((base[0] + r / 3) * side + base[1] + r % 3) * side + base[2]) as u32
            }),
            weights_xy,
            weights_z,
            normal: unit(&mut random),
            body_velocity: std::array::from_fn(|_| single(random.signed())),
            gap: single(1e-3 * random.signed()),
            stiffness,
            dissipation: single(0.5 * (1.0 + random.signed())),
            friction: single(0.5 * (1.0 + random.signed())),
            stiction_tolerance: single(1e-2),
            lagged_normal_impulse: single(mass * (1.0 + random.signed())),
            adhesion: if c % 3 == 0 { single(0.3 * stiffness * substep) } else { 0.0 },
        };
        for r in 0..9 {
            for k in 0..3 {
                problem.node_mass[contact.rows[r] as usize + k] +=
                    mass * contact.weights_xy[r] * contact.weights_z[k];
            }
        }
        problem.contacts.push(contact);
    }
    problem.node_mass.iter_mut().for_each(|m| *m = single(*m));
    problem.contacts.sort_by_key(|c| c.rows[0]);
    problem
}

fn unit(random: &mut Random) -> [f64; 3] {
    loop {
        let v = [random.signed(), random.signed(), random.signed()];
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.1 && length < 1.0 {
            return v.map(|x| single(x / length));
        }
    }
}

/// A problem with every number rounded to f32, and the weights those of the rounded places.
pub fn rounded(problem: &ContactProblem) -> ContactProblem {
    let mut problem = problem.clone();
    problem.node_mass.iter_mut().for_each(|m| *m = single(*m));
    problem.node_free_velocity.iter_mut().flatten().for_each(|v| *v = single(*v));
    for c in &mut problem.contacts {
        let xy = c.weights_xy;
        let x: [f64; 3] = std::array::from_fn(|i| xy[3 * i] + xy[3 * i + 1] + xy[3 * i + 2]);
        let y: [f64; 3] = std::array::from_fn(|j| xy[j] + xy[3 + j] + xy[6 + j]);
        let place = [x, y, c.weights_z].map(|w| single(1.0 + w[2] - w[0]));
        (c.weights_xy, c.weights_z) = weights(place);
        c.normal = c.normal.map(single);
        c.body_velocity = c.body_velocity.map(single);
        for value in [
            &mut c.gap,
            &mut c.stiffness,
            &mut c.dissipation,
            &mut c.friction,
            &mut c.stiction_tolerance,
            &mut c.lagged_normal_impulse,
            &mut c.adhesion,
        ] {
            *value = single(*value);
        }
    }
    problem
}

/// Settings with a relative tolerance, and an absolute one that never counts.
pub fn settings(relative_tolerance: f64) -> SolverSettings {
    SolverSettings { relative_tolerance, ..SolverSettings::default() }
}

/// A solver with room for a problem.
pub fn solver_for(device: &Device, problem: &ContactProblem) -> DeviceConvexSolver {
    DeviceConvexSolver::new(device, problem.contacts.len(), problem.node_mass.len()).unwrap()
}

/// Solves on a device with the problem's own numbering.
pub fn solve_with(
    solver: &mut DeviceConvexSolver,
    device: &Device,
    problem: &ContactProblem,
    settings: &SolverSettings,
    guess: InitialGuess,
) -> DeviceSolution {
    let on_device = DeviceContactProblem::upload(device, problem, guess, |_| [0; 3]).unwrap();
    let solver_settings = DeviceConvexSettings {
        solver: settings.clone(),
        substep: problem.substep,
        ..DeviceConvexSettings::default()
    };
    solver.set(&solver_settings, guess.into()).unwrap();
    solver.number(&on_device).unwrap();
    let mut commands = Commands::new();
    on_device.issue_solve(solver, &mut commands);
    device.submit(&commands).unwrap();
    solver.download(&on_device).unwrap()
}

/// The same with a solver of its own.
pub fn solve(
    device: &Device,
    problem: &ContactProblem,
    settings: &SolverSettings,
    guess: InitialGuess,
) -> DeviceSolution {
    solve_with(&mut solver_for(device, problem), device, problem, settings, guess)
}

/// The CPU's solver after a solve.
pub fn cpu(
    problem: &ContactProblem,
    settings: &SolverSettings,
    guess: InitialGuess,
) -> (ConvexSolver, SolverInfo) {
    let mut solver = ConvexSolver::new();
    let info = solver.solve(problem, settings, guess);
    (solver, info)
}

/// `|M^1/2 (a - b)|` \[sqrt(J)\].
pub fn distance(problem: &ContactProblem, a: &[[f64; 4]], b: &[[f64; 4]]) -> f64 {
    let nodes = problem.node_mass.iter().zip(a.iter().zip(b));
    nodes.map(|(m, (a, b))| m * (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>()).sum::<f64>().sqrt()
}

/// Node blocks on a device that hold a problem's nodes, in the form that the particles' grid has.
pub struct BlockGrid {
    pub nodes: Buffer<[f32; 4]>,
    keys: Buffer<[i32; 3]>,
    table_keys: Buffer<u64>,
    table_slots: Buffer<u32>,
    /// The slot of each node of the problem.
    pub slots: Vec<u32>,
}

impl BlockGrid {
    /// The nodes lie at `place(node)`. Those of no mass around the problem's are zero.
    pub fn new(device: &Device, problem: &ContactProblem, place: impl Fn(u32) -> [i32; 3]) -> Self {
        let mut keys: Vec<[i32; 3]> = Vec::new();
        let mut slots = Vec::new();
        for node in 0..problem.node_mass.len() as u32 {
            let x = place(node);
            let key = x.map(|x| x.div_euclid(4));
            let slot = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            });
            let [i, j, k] = x.map(|x| x.rem_euclid(4) as u32);
            slots.push(64 * slot as u32 + (4 * i + j) * 4 + k);
        }
        let places = (2 * keys.len()).next_power_of_two();
        let (mut table_keys, mut table_slots) = (vec![0_u64; places], vec![0_u32; places]);
        for (slot, key) in keys.iter().enumerate() {
            let [x, y, z] = key.map(|k| u64::from(k as u32 & 0x1f_ffff));
            let packed = 1 << 63 | x << 42 | y << 21 | z;
            let mut at = (packed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (places - 1);
            while table_keys[at] != 0 {
                at = (at + 1) & (places - 1);
            }
            (table_keys[at], table_slots[at]) = (packed, slot as u32);
        }
        let mut nodes = vec![[0.0_f32; 4]; 64 * keys.len()];
        for (slot, (m, v)) in slots.iter().zip(problem.node_mass.iter().zip(&problem.node_free_velocity)) {
            nodes[*slot as usize] = [v[0], v[1], v[2], *m].map(|x| x as f32);
        }
        Self {
            nodes: device.upload(&nodes).unwrap(),
            keys: device.upload(&keys).unwrap(),
            table_keys: device.upload(&table_keys).unwrap(),
            table_slots: device.upload(&table_slots).unwrap(),
            slots,
        }
    }

    pub fn spans(&self) -> GridNodes {
        GridNodes {
            nodes: self.nodes.span(),
            keys: self.keys.span(),
            table_keys: self.table_keys.span(),
            table_slots: self.table_slots.span(),
        }
    }
}
