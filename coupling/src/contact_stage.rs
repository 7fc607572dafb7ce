//! Contact of a substep: detection, the convex problem and its solution, and what it does to grid, bodies and pads.

use pliant_mpm::{Mpm, MpmError};
use pliant_rigid::Bodies;

use crate::backend::ContactMemory;
use crate::body_impulses::BodyImpulses;
use crate::convex::{ContactProblem, StopReason};
use crate::exchange::{Exchange, Exchanged};
use crate::motion::BodyMotion;
use crate::nodes::Numbering;
use crate::pair::Pair;
use crate::regions::RegionSolver;
use crate::register::Registry;
use crate::report::ContactFigures;
use crate::sensor::{Sensors, TactilePad};
use crate::settings::{ContactSettings, Settings};
use crate::walls::Walls;
use crate::warm_start::WarmStart;

/// What contact keeps from one substep to the next, and its buffers.
pub(crate) struct ContactStage {
    pub registry: Registry,
    pub problem: ContactProblem,
    pub warm_start: WarmStart,
    pub sensors: Sensors,
    numbering: Numbering,
    walls: Walls,
    solver: RegionSolver,
    guess: Vec<[f64; 3]>,
    exchange: Exchange,
}

/// Why a contact problem has no solution: a number in it is not finite.
pub(crate) struct NotFinite {
    /// The first of them, in words; empty where only the solution is not finite.
    pub reason: String,
}

impl ContactStage {
    pub(crate) fn new(bodies: &Bodies, mpm: &Mpm, settings: &Settings, pads: Vec<TactilePad>) -> Self {
        Self {
            registry: Registry::new(bodies, mpm, &settings.contact),
            problem: ContactProblem::default(),
            warm_start: WarmStart::default(),
            sensors: Sensors::new(pads),
            numbering: Numbering::default(),
            walls: Walls::new(&settings.boundaries),
            solver: RegionSolver::default(),
            guess: Vec::new(),
            exchange: Exchange::default(),
        }
    }

    /// What is kept from substep to substep, to save or to hand over.
    pub(crate) fn memory(&self) -> ContactMemory {
        ContactMemory {
            contacts: self.registry.memories.list().to_vec(),
            velocities: self.warm_start.left().to_vec(),
        }
    }

    /// Nothing touches in this substep.
    pub(crate) fn skip(&mut self) {
        self.registry.memories.remember(&[], &[]);
        self.warm_start.forget();
    }

    /// The convex solve, and its velocities on the grid.
    pub(crate) fn solve(
        &mut self,
        mpm: &mut Mpm,
        motion: &BodyMotion,
        impulses: &BodyImpulses,
        (settings, delta): (&Settings, f64),
        contacts: &mut ContactFigures,
    ) -> Result<Exchanged, NotFinite> {
        let pairs = &self.registry.pairs;
        let (numbering, problem) = (&mut self.numbering, &mut self.problem);
        numbering.update(pairs, mpm, |pair| motion.answers(pair));
        write_problem(numbering, &mut self.walls, pairs, mpm, &settings.contact, delta, problem);
        motion.attach(pairs, numbering, &impulses.points, &mut problem.mobility);
        self.guess.clear();
        self.guess.resize(problem.contacts.len(), [0.0; 3]);
        for group in numbering.groups() {
            for (guess, pair) in self.guess[group.contact..].iter_mut().zip(&pairs[group.pairs]) {
                *guess = pair.last_impulse;
            }
        }
        self.walls.guess(problem, &mut self.guess);
        let velocities = self.warm_start.guess(numbering, &problem.node_free_velocity);
        let solver = &settings.solver;
        let regions = self.solver.solve(problem, &numbering.regions, solver, velocities, &self.guess);
        contacts.add(pairs, regions);
        if regions.iter().any(|info| info.stop == StopReason::NotFinite) {
            let reason = self.problem.validate().err().map_or_else(String::new, |e| e.to_string());
            return Err(NotFinite { reason });
        }
        let solution = &self.solver.solution;
        Ok(self.exchange.hand_to_grid(solution, &self.problem, &self.numbering, &self.walls, mpm))
    }

    /// The particles' motion; beside it the solution's impulses on bodies and pads, and what the next substep starts from.
    pub(crate) fn finish(
        &mut self,
        mpm: &mut Mpm,
        motion: &BodyMotion,
        impulses: &mut BodyImpulses,
        (dt, delta): (f64, f64),
        mut exchanged: Exchanged,
    ) -> (Result<(), MpmError>, Exchanged) {
        let (solution, problem, numbering) = (&self.solver.solution, &self.problem, &self.numbering);
        let (registry, warm_start, sensors) = (&mut self.registry, &mut self.warm_start, &mut self.sensors);
        let (exchange, walls) = (&mut self.exchange, &self.walls);
        let BodyImpulses { current, points, moves, .. } = impulses;
        rayon::join(
            || mpm.grid_to_particles(delta),
            || {
                let pairs = &registry.pairs;
                exchange.hand_to_bodies(
                    solution,
                    problem,
                    pairs,
                    numbering,
                    walls,
                    points,
                    moves,
                    current,
                    &mut exchanged,
                );
                sensors.add(pairs, &exchange.impulses, &motion.seen, dt);
                registry.memories.remember(pairs, &exchange.impulses);
                warm_start.remember(numbering, &solution.velocities);
                exchanged
            },
        )
    }
}

/// Writes the convex problem of these pairs, with the boundary conditions of the grid.
fn write_problem(
    numbering: &mut Numbering,
    walls: &mut Walls,
    pairs: &[Pair],
    mpm: &Mpm,
    settings: &ContactSettings,
    delta: f64,
    problem: &mut ContactProblem,
) {
    problem.substep = delta;
    numbering.write_nodes(mpm, problem);
    walls.begin(numbering.places.len());
    for region in 0..numbering.regions.len() {
        let begin = problem.contacts.len();
        numbering.write_contacts(region, pairs, settings, problem);
        walls.add(numbering, &numbering.regions[region], mpm.grid_spacing(), problem);
        numbering.regions[region].contacts = begin..problem.contacts.len();
    }
}
