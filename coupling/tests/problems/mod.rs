//! Contact problems to test with.

use pliant_coupling::convex::{ContactConstraint, ContactProblem, Direction, SolverSettings};

pub const DIRECTIONS: [Direction; 5] = [
    Direction::Block,
    Direction::LumpedBlock,
    Direction::Lbfgs { memory: 8 },
    Direction::NewtonCg,
    Direction::NewtonFactorised,
];

pub fn tight(direction: Direction) -> SolverSettings {
    SolverSettings {
        direction,
        relative_tolerance: 1e-13,
        absolute_tolerance: 0.0,
        max_iterations: 200_000,
        max_inner_iterations: 2000,
    }
}

/// Uniform in [-1, 1), repeatable.
pub struct Random(pub u64);
impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64) / (1u64 << 52) as f64 - 1.0
    }
    pub fn vector(&mut self) -> [f64; 3] {
        [self.next(), self.next(), self.next()]
    }
    pub fn unit(&mut self) -> [f64; 3] {
        loop {
            let v = self.vector();
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 0.1 && length < 1.0 {
                return v.map(|x| x / length);
            }
        }
    }
}

/// A random problem: `contacts` contacts in a few cells of a grid of 5 x 5 x 5 nodes, particles of
/// mass 1e-3 kg.
pub fn random_problem(seed: u64, contacts: usize, stiffness_number: f64) -> ContactProblem {
    let mut random = Random(seed);
    let particle_mass = 1e-3;
    let substep = 1e-3;
    let mut problem = ContactProblem { substep, ..ContactProblem::default() };
    problem.node_mass = vec![0.0; 125];
    problem.node_free_velocity = (0..125)
        .map(|_| {
            let v = random.vector();
            [v[0], v[1], v[2], 0.0]
        })
        .collect();
    for c in 0..contacts {
        let base: [usize; 3] = std::array::from_fn(|_| ((random.next() + 1.0) * 1.5) as usize);
        let weights: [[f64; 3]; 3] = std::array::from_fn(|_| {
            let f = 1.0 + 0.5 * random.next();
            [0.5 * (1.5f64 - f).powi(2), 0.75 - (f - 1.0).powi(2), 0.5 * (f - 0.5).powi(2)]
        });
        let stiffness = stiffness_number * particle_mass / (substep * substep);
        let contact = ContactConstraint {
            rows: std::array::from_fn(|r| (((base[0] + r / 3) * 5 + base[1] + r % 3) * 5 + base[2]) as u32),
            weights_xy: std::array::from_fn(|r| weights[0][r / 3] * weights[1][r % 3]),
            weights_z: weights[2],
            normal: random.unit(),
            body_velocity: random.vector(),
            gap: 1e-3 * random.next(),
            stiffness,
            dissipation: 0.5 * (1.0 + random.next()),
            friction: 0.5 * (1.0 + random.next()),
            stiction_tolerance: 1e-2,
            lagged_normal_impulse: particle_mass * (1.0 + random.next()),
            // Every third one is bonded, with its limit at a typical velocity.
            adhesion: if c % 3 == 0 { 0.3 * stiffness * substep } else { 0.0 },
        };
        for r in 0..9 {
            for k in 0..3 {
                problem.node_mass[contact.rows[r] as usize + k] +=
                    particle_mass * contact.weights_xy[r] * contact.weights_z[k];
            }
        }
        problem.contacts.push(contact);
    }
    problem.contacts.sort_by_key(|c| c.rows[0]);
    problem
}
