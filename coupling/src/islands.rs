//! The convex problem solved island by island. Each island has its own scale, residual and
//! iterations, so that the residual of a single light particle is not hidden by that of a heavy
//! block. Islands are solved in parallel.

use rayon::join;

use crate::convex::{
    ContactProblem, ConvexSolver, InitialGuess, Solution, SolutionPart, SolverInfo, SolverSettings,
};
use crate::nodes::ContactIsland;

/// Islands with fewer contacts than this together are not worth a parallel job: they take some ten
/// microseconds, about as long as waking a thread.
const MIN_TASK_CONTACTS: usize = 96;

/// Solvers for the islands of a problem, and the solution of all of it. Buffers grow and are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct IslandSolver {
    /// One for each island; the small islands of a job share one.
    workspaces: Vec<ConvexSolver>,
    infos: Vec<SolverInfo>,
    pub solution: Solution,
}

/// What all islands share. Guesses are those of all nodes and contacts.
#[derive(Clone, Copy, Debug)]
struct IslandTask<'a> {
    problem: &'a ContactProblem,
    settings: &'a SolverSettings,
    velocities: &'a [[f64; 4]],
    impulses: &'a [[f64; 3]],
}

/// Consecutive islands with their data.
#[derive(Debug)]
struct IslandRange<'a> {
    islands: &'a [ContactIsland],
    workspaces: &'a mut [ConvexSolver],
    infos: &'a mut [SolverInfo],
    solution: SolutionPart<'a>,
}

impl IslandSolver {
    /// Solves the islands of a problem from a guess of its solution: `velocities` \[m/s\] of the
    /// nodes, `impulses` \[N s\] of the contacts. Returns the solver's report of each.
    pub(crate) fn solve(
        &mut self,
        problem: &ContactProblem,
        islands: &[ContactIsland],
        settings: &SolverSettings,
        velocities: &[[f64; 4]],
        impulses: &[[f64; 3]],
    ) -> &[SolverInfo] {
        self.solution.reset(problem);
        if self.workspaces.len() < islands.len() {
            self.workspaces.resize_with(islands.len(), ConvexSolver::new);
        }
        self.infos.clear();
        self.infos.resize(islands.len(), SolverInfo::without_contacts(settings));
        let part = IslandRange {
            islands,
            workspaces: &mut self.workspaces,
            infos: &mut self.infos,
            solution: self.solution.whole(),
        };
        part.solve(IslandTask { problem, settings, velocities, impulses });
        &self.infos
    }
}

impl<'a> IslandRange<'a> {
    fn solve(self, task: IslandTask) {
        let Some(first) = self.half() else {
            self.solve_serially(task);
            return;
        };
        let (first, second) = self.split(first);
        join(|| first.solve(task), || second.solve(task));
    }

    /// Number of islands that together have about half of the contacts; none where the halves are
    /// too small for a parallel job.
    fn half(&self) -> Option<usize> {
        let (start, end) = (self.islands.first()?.contacts.start, self.islands.last()?.contacts.end);
        // An island belongs to the half that its middle lies in.
        let in_first = |r: &ContactIsland| r.contacts.start + r.contacts.end <= start + end;
        let first = self.islands.partition_point(in_first).max(1);
        let middle = self.islands.get(first)?.contacts.start;
        ((middle - start).min(end - middle) >= MIN_TASK_CONTACTS).then_some(first)
    }

    fn split(self, first: usize) -> (Self, Self) {
        let (islands, other_regions) = self.islands.split_at(first);
        let (workspaces, other_workspaces) = self.workspaces.split_at_mut(first);
        let (infos, other_infos) = self.infos.split_at_mut(first);
        let nodes = islands.iter().map(|r| r.nodes.len()).sum();
        let contacts = islands.iter().map(|r| r.contacts.len()).sum();
        let (solution, other_solution) = self.solution.split(nodes, contacts);
        let other = IslandRange {
            islands: other_regions,
            workspaces: other_workspaces,
            infos: other_infos,
            solution: other_solution,
        };
        (IslandRange { islands, workspaces, infos, solution }, other)
    }

    fn solve_serially(self, task: IslandTask) {
        let IslandRange { islands, workspaces, infos, mut solution } = self;
        let mut small = None;
        for (n, (island, info)) in islands.iter().zip(infos).enumerate() {
            // A large island keeps its own workspace, with its factorisation.
            let own = if island.contacts.len() < MIN_TASK_CONTACTS { *small.get_or_insert(n) } else { n };
            let workspace = &mut workspaces[own];
            let (part, rest) = solution.split(island.nodes.len(), island.contacts.len());
            let (nodes, contacts) = (island.nodes.clone(), island.contacts.clone());
            let guess = InitialGuess::Solution {
                velocities: &task.velocities[nodes.clone()],
                impulses: &task.impulses[contacts.clone()],
            };
            let problem = task.problem.part(nodes, contacts, island.strongly_coupled);
            *info = workspace.solve_part(&problem, task.settings, guess, part);
            solution = rest;
        }
    }
}
