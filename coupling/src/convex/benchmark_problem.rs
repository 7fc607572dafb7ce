//! Sequences of contact problems to measure the solver with, as a run makes them: an elastic block
//! of particles, turned against the grid, pressed by a body force onto a plane that moves and drags
//! it, over consecutive substeps (quadratic B-splines, MLS-MPM after Hu et al. 2018, linear
//! elasticity at small strain, all f64 and plain).

use nalgebra::{Matrix3, Vector3};
use pliant_rigid::contact_model::normal_impulse;

use super::mobility::Mobility;
use super::problem::{ContactConstraint, ContactProblem};
use super::settings::{Direction, InitialGuess, SolverSettings};
use super::solver::ConvexSolver;

/// Grid spacing \[m\].
const SPACING: f64 = 0.01;
/// Substep \[s\]: a quarter of what a wave needs through a cell.
const SUBSTEP: f64 = 2e-4;
/// Young's modulus \[Pa\], Poisson's ratio and density \[kg/m^3\] of the block.
const YOUNGS_MODULUS: f64 = 1e5;
const POISSONS_RATIO: f64 = 0.3;
const DENSITY: f64 = 1000.0;
/// Layers of particles; only the first can touch.
const LAYERS: usize = 6;
/// Body force against the plane \[m/s^2\].
const PRESSING: f64 = 200.0;
/// Speed of the plane's drag along its face, and amplitude of its motion along its normal \[m/s\].
const DRAG: f64 = 0.3;
const SHAKE: f64 = 0.1;
const SHAKE_FREQUENCY: f64 = 50.0;
const FRICTION: f64 = 1.0;
const STICTION_TOLERANCE: f64 = 1e-3;
const DISSIPATION: f64 = 1.0;

/// The problem of one substep.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkSubstep {
    /// The problem.
    pub problem: ContactProblem,
    /// The particle of each contact, by which the contacts of consecutive substeps belong together.
    pub particles: Vec<u32>,
}

impl BenchmarkSubstep {
    /// Carries impulses \[N s\] of an earlier substep's contacts over to this one's, zero for new
    /// contacts.
    pub fn carry_impulses(&self, earlier: &Self, impulses: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let most = self.particles.iter().chain(&earlier.particles).max().map_or(0, |&id| id as usize + 1);
        let mut of_particle = vec![[0.0; 3]; most];
        for (&id, impulse) in earlier.particles.iter().zip(impulses) {
            of_particle[id as usize] = *impulse;
        }
        self.particles.iter().map(|&id| of_particle[id as usize]).collect()
    }
}

/// A seeded sequence of `substeps` problems of `contacts` contacts each, with the stiffness `k` at
/// which the `stiffness_number` is `substep^2 k/m_p` (m_p a particle's mass). Between the problems
/// the block moves with solutions at a relative tolerance of 1e-8, so that a sequence does not
/// depend on what it is used to measure.
pub fn benchmark_sequence(
    stiffness_number: f64,
    contacts: usize,
    substeps: usize,
    seed: u64,
) -> Vec<BenchmarkSubstep> {
    let mut block = PressedBlock::new(stiffness_number, contacts, seed);
    let mut solver = ConvexSolver::new();
    let settings = SolverSettings {
        direction: Direction::NewtonCg,
        relative_tolerance: 1e-8,
        ..SolverSettings::default()
    };
    let mut steps: Vec<BenchmarkSubstep> = Vec::with_capacity(substeps);
    let mut impulses: Vec<[f64; 3]> = Vec::new();
    for k in 0..substeps {
        let step = block.problem(k as f64 * SUBSTEP);
        let guess = steps.last().map_or(Vec::new(), |earlier| step.carry_impulses(earlier, &impulses));
        solver.solve(&step.problem, &settings, InitialGuess::Impulses(&guess));
        impulses = solver.impulses().to_vec();
        block.advance(solver.velocities());
        steps.push(step);
    }
    steps
}

#[derive(Clone, Copy, Debug)]
struct BlockParticle {
    position: Vector3<f64>,
    velocity: Vector3<f64>,
    affine: Matrix3<f64>,
    deformation: Matrix3<f64>,
    surface: bool,
}

/// The block over a grid of `size` nodes whose node (0, 0, 0) lies at the origin.
#[derive(Clone, Debug)]
struct PressedBlock {
    particles: Vec<BlockParticle>,
    size: [usize; 3],
    /// Columns: two directions along the plane, and its normal.
    frame: Matrix3<f64>,
    /// A point of the plane.
    plane: Vector3<f64>,
    stiffness: f64,
}

/// First node and weights of a particle's stencil.
struct Stencil {
    first: [usize; 3],
    weights: [[f64; 3]; 3],
}

impl Stencil {
    fn new(position: &Vector3<f64>) -> Self {
        let mut first = [0; 3];
        let mut weights = [[0.0; 3]; 3];
        for a in 0..3 {
            let x = position[a] / SPACING;
            let base = (x - 0.5).floor();
            let f = x - base;
            first[a] = base as usize;
            weights[a] = [0.5 * (1.5 - f).powi(2), 0.75 - (f - 1.0).powi(2), 0.5 * (f - 0.5).powi(2)];
        }
        Self { first, weights }
    }

    /// Calls with node coordinates, weight and position of each node.
    fn visit(&self, mut each: impl FnMut([usize; 3], f64, Vector3<f64>)) {
        for i in 0..3 {
            for j in 0..3 {
                for k in 0..3 {
                    let node = [self.first[0] + i, self.first[1] + j, self.first[2] + k];
                    let weight = self.weights[0][i] * self.weights[1][j] * self.weights[2][k];
                    each(node, weight, Vector3::from_fn(|a, _| node[a] as f64 * SPACING));
                }
            }
        }
    }
}

/// Uniform in [-1, 1) (splitmix64, Steele et al. 2014).
fn uniform(state: &mut u64) -> f64 {
    (pliant_numeric::random::split_mix(state) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

impl PressedBlock {
    fn new(stiffness_number: f64, contacts: usize, seed: u64) -> Self {
        let mut state = seed;
        let normal = Vector3::new(0.25, 0.35, 0.9).normalize();
        let along = normal.cross(&Vector3::new(0.3, 1.0, 0.1)).normalize();
        let frame = Matrix3::from_columns(&[along, normal.cross(&along), normal]);
        let gap = 0.5 * SPACING;
        let side = contacts.isqrt() + usize::from(contacts.isqrt().pow(2) < contacts);
        let mut particles = Vec::with_capacity(contacts * LAYERS);
        for layer in 0..LAYERS {
            for index in 0..contacts {
                let lattice = Vector3::new((index % side) as f64, (index / side) as f64, layer as f64) * gap;
                // The surface is nearly even: its particles touch within a few substeps of one
                // another.
                let jitter = if layer == 0 { 0.001 * gap } else { 0.1 * gap };
                let noise =
                    Vector3::from_fn(|a, _| uniform(&mut state) * if a == 2 { jitter } else { 0.1 * gap });
                particles.push(BlockParticle {
                    position: frame * (lattice + noise),
                    velocity: Vector3::zeros(),
                    affine: Matrix3::zeros(),
                    deformation: Matrix3::identity(),
                    surface: layer == 0,
                });
            }
        }
        // Room of three cells on all sides.
        let mut low = Vector3::repeat(f64::INFINITY);
        let mut high = Vector3::repeat(f64::NEG_INFINITY);
        for p in &particles {
            low = low.inf(&p.position);
            high = high.sup(&p.position);
        }
        let shift = Vector3::repeat(3.0 * SPACING) - low;
        for p in &mut particles {
            p.position += shift;
        }
        let size = std::array::from_fn(|a| ((high[a] - low[a]) / SPACING).ceil() as usize + 7);
        let mass = DENSITY * gap.powi(3);
        let stiffness = stiffness_number * mass / (SUBSTEP * SUBSTEP);
        Self { particles, size, frame, plane: shift, stiffness }
    }

    fn particle_volume() -> f64 {
        (0.5 * SPACING).powi(3)
    }

    fn index(&self, node: [usize; 3]) -> usize {
        (node[0] * self.size[1] + node[1]) * self.size[2] + node[2]
    }

    /// Particles to the grid, free motion, and the contacts with the plane at a time \[s\].
    fn problem(&mut self, time: f64) -> BenchmarkSubstep {
        let nodes = self.size.iter().product();
        let mut mass = vec![0.0; nodes];
        let mut momentum = vec![Vector3::zeros(); nodes];
        let particle_mass = DENSITY * Self::particle_volume();
        let shear = YOUNGS_MODULUS / (2.0 * (1.0 + POISSONS_RATIO));
        let lame = YOUNGS_MODULUS * POISSONS_RATIO / ((1.0 + POISSONS_RATIO) * (1.0 - 2.0 * POISSONS_RATIO));
        for p in &self.particles {
            let strain = 0.5 * (p.deformation + p.deformation.transpose()) - Matrix3::identity();
            let stress = Matrix3::identity() * (lame * strain.trace()) + strain * (2.0 * shear);
            let push = stress * (-SUBSTEP * Self::particle_volume() * 4.0 / (SPACING * SPACING));
            Stencil::new(&p.position).visit(|node, weight, x| {
                let arm = x - p.position;
                let i = self.index(node);
                mass[i] += weight * particle_mass;
                momentum[i] += ((p.velocity + p.affine * arm) * particle_mass + push * arm) * weight;
            });
        }
        let normal: Vector3<f64> = self.frame.column(2).into();
        let acceleration = normal * -PRESSING;
        let free = momentum.iter().zip(&mass).map(|(p, &m)| {
            let v = if m > 0.0 { p / m + acceleration * SUBSTEP } else { Vector3::zeros() };
            [v.x, v.y, v.z, 0.0]
        });
        let (contacts, particles) = self.contacts(time);
        let problem = ContactProblem {
            mobility: Mobility::default(),
            node_free_velocity: free.collect(),
            node_mass: mass,
            contacts,
            substep: SUBSTEP,
        };
        BenchmarkSubstep { problem, particles }
    }

    /// The contacts sorted by cell, and their particles.
    fn contacts(&mut self, time: f64) -> (Vec<ContactConstraint>, Vec<u32>) {
        let normal: Vector3<f64> = self.frame.column(2).into();
        let along: Vector3<f64> = self.frame.column(0).into();
        let swing = SHAKE * (std::f64::consts::TAU * SHAKE_FREQUENCY * time).sin();
        let plane_velocity = normal * swing + along * DRAG;
        let mut order: Vec<(usize, u32)> = (0u32..)
            .zip(&self.particles)
            .filter(|(_, p)| p.surface)
            .map(|(id, p)| (self.index(Stencil::new(&p.position).first), id))
            .collect();
        order.sort_unstable();
        let contact = |&(first, id): &(usize, u32)| {
            let p = &self.particles[id as usize];
            let weights = Stencil::new(&p.position).weights;
            let gap = normal.dot(&(p.position - self.plane));
            let v_n = normal.dot(&(p.velocity - plane_velocity));
            ContactConstraint {
                rows: std::array::from_fn(|r| (first + (r / 3 * self.size[1] + r % 3) * self.size[2]) as u32),
                weights_xy: std::array::from_fn(|r| weights[0][r / 3] * weights[1][r % 3]),
                weights_z: weights[2],
                normal: normal.into(),
                body_velocity: plane_velocity.into(),
                gap,
                stiffness: self.stiffness,
                dissipation: DISSIPATION,
                friction: FRICTION,
                stiction_tolerance: STICTION_TOLERANCE,
                lagged_normal_impulse: normal_impulse(v_n, gap, self.stiffness, DISSIPATION, SUBSTEP),
                adhesion: 0.0,
            }
        };
        let contacts = order.iter().map(contact).collect();
        self.plane += plane_velocity * SUBSTEP;
        (contacts, order.into_iter().map(|(_, id)| id).collect())
    }

    /// The grid's velocities \[m/s\] to the particles, over one substep.
    fn advance(&mut self, velocities: &[[f64; 4]]) {
        let [_, ny, nz] = self.size;
        for p in &mut self.particles {
            let mut velocity = Vector3::zeros();
            let mut affine = Matrix3::zeros();
            Stencil::new(&p.position).visit(|node, weight, x| {
                let v = velocities[(node[0] * ny + node[1]) * nz + node[2]];
                let v = Vector3::new(v[0], v[1], v[2]) * weight;
                velocity += v;
                affine += v * (x - p.position).transpose();
            });
            p.velocity = velocity;
            p.affine = affine * (4.0 / (SPACING * SPACING));
            p.deformation = (Matrix3::identity() + p.affine * SUBSTEP) * p.deformation;
            p.position += velocity * SUBSTEP;
        }
    }
}
