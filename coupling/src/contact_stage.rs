//! Contact of a substep: detection, the convex problem, its solution, and the impulses on grid,
//! bodies and pads.

use pliant_mpm::{Mpm, MpmError};
use pliant_rigid::Bodies;

use crate::backend::ContactCacheState;
use crate::body_impulses::BodyImpulses;
use crate::boundary_constraints::BoundaryConstraints;
use crate::convex::{ContactProblem, StopReason};
use crate::detection::ContactDetector;
use crate::exchange::{Exchange, ExchangeTotals};
use crate::islands::IslandSolver;
use crate::motion::BodyMotion;
use crate::nodes::Numbering;
use crate::pair::ContactPair;
use crate::report::ContactStatistics;
use crate::sensor::{Sensors, TactilePad};
use crate::settings::{ContactSettings, Settings};
use crate::warm_start::WarmStart;

/// What contact keeps from one substep to the next, and its buffers.
#[derive(Clone)]
pub(crate) struct ContactStage {
    pub contact_detector: ContactDetector,
    pub problem: ContactProblem,
    pub warm_start: WarmStart,
    pub sensors: Sensors,
    numbering: Numbering,
    boundary_constraints: BoundaryConstraints,
    solver: IslandSolver,
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
            contact_detector: ContactDetector::new(bodies, mpm, &settings.contact),
            problem: ContactProblem::default(),
            warm_start: WarmStart::default(),
            sensors: Sensors::new(pads),
            numbering: Numbering::default(),
            boundary_constraints: BoundaryConstraints::new(&settings.boundaries),
            solver: IslandSolver::default(),
            guess: Vec::new(),
            exchange: Exchange::default(),
        }
    }

    /// Continues with a contact cache; says why where it does not fit.
    pub(crate) fn restore(&mut self, memory: ContactCacheState) -> Result<(), &'static str> {
        let geometries = self.contact_detector.geometries();
        if !self.contact_detector.contact_cache.restore(memory.contacts, geometries) {
            return Err("its contacts name particles or geometries that do not exist");
        }
        if !self.warm_start.restore(memory.velocities) {
            return Err("its velocities do not match the blocks of the grid");
        }
        Ok(())
    }

    /// The contact cache, to save or to hand over.
    pub(crate) fn memory(&self) -> ContactCacheState {
        ContactCacheState {
            contacts: self.contact_detector.contact_cache.list().to_vec(),
            velocities: self.warm_start.left().to_vec(),
        }
    }

    /// A substep without contact.
    pub(crate) fn skip(&mut self) {
        self.contact_detector.contact_cache.store(&[], &[]);
        self.warm_start.forget();
    }

    /// The convex solve, and its velocities on the grid.
    pub(crate) fn solve(
        &mut self,
        mpm: &mut Mpm,
        motion: &BodyMotion,
        impulses: &BodyImpulses,
        (settings, substep): (&Settings, f64),
        contacts: &mut ContactStatistics,
    ) -> Result<ExchangeTotals, NotFinite> {
        // A weakly coupled body does not yield within the solve, and nothing else would.
        let pairs = &mut self.contact_detector.pairs;
        for pair in pairs.iter_mut().filter(|pair| !motion.is_strongly_coupled(pair)) {
            pair.held = None;
        }
        let pairs = &*pairs;
        let (numbering, problem) = (&mut self.numbering, &mut self.problem);
        numbering.update(pairs, mpm, |pair| motion.is_strongly_coupled(pair));
        write_problem(
            numbering,
            &mut self.boundary_constraints,
            pairs,
            mpm,
            &settings.contact,
            substep,
            problem,
        );
        motion.attach(pairs, numbering, &impulses.points, &mut problem.mobility);
        self.guess.clear();
        self.guess.resize(problem.contacts.len(), [0.0; 3]);
        for group in numbering.groups() {
            for (guess, pair) in self.guess[group.contact..].iter_mut().zip(&pairs[group.pairs]) {
                *guess = pair.last_impulse;
            }
        }
        self.boundary_constraints.guess(problem, &mut self.guess);
        let velocities = self.warm_start.guess(numbering, &problem.node_free_velocity);
        let solver = &settings.solver;
        let islands = self.solver.solve(problem, &numbering.islands, solver, velocities, &self.guess);
        contacts.add(pairs, islands);
        if islands.iter().any(|info| info.stop == StopReason::NotFinite) {
            let reason = self.problem.validate().err().map_or_else(String::new, |e| e.to_string());
            return Err(NotFinite { reason });
        }
        let solution = &self.solver.solution;
        Ok(self.exchange.write_velocities_to_grid(
            solution,
            &self.problem,
            &self.numbering,
            &self.boundary_constraints,
            mpm,
        ))
    }

    /// The particles' motion; in parallel the solution's impulses on bodies and pads, and the
    /// contact cache of the next substep.
    pub(crate) fn finish(
        &mut self,
        mpm: &mut Mpm,
        motion: &BodyMotion,
        impulses: &mut BodyImpulses,
        (dt, substep): (f64, f64),
        mut exchanged: ExchangeTotals,
    ) -> (Result<(), MpmError>, ExchangeTotals) {
        let (solution, problem, numbering) = (&self.solver.solution, &self.problem, &self.numbering);
        let (contact_detector, warm_start, sensors) =
            (&mut self.contact_detector, &mut self.warm_start, &mut self.sensors);
        let (exchange, boundary_constraints) = (&mut self.exchange, &self.boundary_constraints);
        let BodyImpulses { current, points, dynamic_bodies, .. } = impulses;
        rayon::join(
            || mpm.grid_to_particles(substep),
            || {
                let pairs = &contact_detector.pairs;
                exchange.add_impulses_to_bodies(
                    solution,
                    problem,
                    pairs,
                    numbering,
                    boundary_constraints,
                    points,
                    dynamic_bodies,
                    &motion.substep_states,
                    current,
                    &mut exchanged,
                );
                sensors.add(pairs, &exchange.impulses, &motion.substep_states, dt);
                contact_detector.contact_cache.store(pairs, &exchange.impulses);
                warm_start.store(numbering, &solution.velocities);
                exchanged
            },
        )
    }
}

/// Writes the convex problem of these pairs, with the boundary conditions of the grid.
fn write_problem(
    numbering: &mut Numbering,
    boundary_constraints: &mut BoundaryConstraints,
    pairs: &[ContactPair],
    mpm: &Mpm,
    settings: &ContactSettings,
    substep: f64,
    problem: &mut ContactProblem,
) {
    problem.substep = substep;
    numbering.write_nodes(mpm, problem);
    boundary_constraints.begin(numbering.places.len());
    for island in 0..numbering.islands.len() {
        let begin = problem.contacts.len();
        numbering.write_contacts(island, pairs, settings, problem);
        boundary_constraints.add(numbering, &numbering.islands[island], mpm.grid_spacing(), problem);
        numbering.islands[island].contacts = begin..problem.contacts.len();
    }
}
