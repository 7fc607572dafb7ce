//! The convex problem solved region by region: what shares no unknown has a scale, a residual and iterations of its own, so that a
//! lone grain is heard beside a heavy block, and regions are solved in parallel.

use rayon::join;

use crate::convex::{
    ContactProblem, ConvexSolver, InitialGuess, Solution, SolutionPart, SolverInfo, SolverSettings,
};
use crate::nodes::Region;

/// Regions that have no more contacts than this together are one task, solved one after another: a few microseconds' work.
const FEW: usize = 48;

/// Solvers for the regions of a problem, and the solution of all of it. Buffers grow and are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionSolver {
    /// One for each region; those of one task share the first's.
    workspaces: Vec<ConvexSolver>,
    infos: Vec<SolverInfo>,
    pub solution: Solution,
}

/// What all regions are solved by. Guesses are of all nodes and contacts.
#[derive(Clone, Copy, Debug)]
struct Task<'a> {
    problem: &'a ContactProblem,
    settings: &'a SolverSettings,
    velocities: &'a [[f64; 4]],
    impulses: &'a [[f64; 3]],
}

/// Consecutive regions, and what belongs to them.
#[derive(Debug)]
struct Part<'a> {
    regions: &'a [Region],
    workspaces: &'a mut [ConvexSolver],
    infos: &'a mut [SolverInfo],
    solution: SolutionPart<'a>,
}

impl RegionSolver {
    /// Solves the regions of a problem from a guess of its solution: `velocities` \[m/s\] of the nodes, `impulses` \[N s\] of the contacts.
    /// Returns what each of them did.
    pub(crate) fn solve(
        &mut self,
        problem: &ContactProblem,
        regions: &[Region],
        settings: &SolverSettings,
        velocities: &[[f64; 4]],
        impulses: &[[f64; 3]],
    ) -> &[SolverInfo] {
        self.solution.reset(problem);
        if self.workspaces.len() < regions.len() {
            self.workspaces.resize_with(regions.len(), ConvexSolver::new);
        }
        self.infos.clear();
        self.infos.resize(regions.len(), SolverInfo::without_contacts(settings));
        let part = Part {
            regions,
            workspaces: &mut self.workspaces,
            infos: &mut self.infos,
            solution: self.solution.whole(),
        };
        part.solve(Task { problem, settings, velocities, impulses });
        &self.infos
    }
}

impl<'a> Part<'a> {
    fn solve(self, task: Task) {
        let contacts = self.regions.iter().map(|r| r.contacts.len()).sum::<usize>();
        if self.regions.len() < 2 || contacts <= FEW {
            self.solve_in_turn(task);
        } else {
            let (first, second) = self.halve(contacts);
            join(|| first.solve(task), || second.solve(task));
        }
    }

    /// Two parts of about as many contacts each.
    fn halve(self, contacts: usize) -> (Self, Self) {
        let start = self.regions[0].contacts.start;
        // A region belongs to the half that its middle lies in.
        let in_first = |r: &Region| r.contacts.start + r.contacts.end <= 2 * start + contacts;
        let first = self.regions.partition_point(in_first).clamp(1, self.regions.len() - 1);
        self.split(first)
    }

    fn split(self, first: usize) -> (Self, Self) {
        let (regions, other_regions) = self.regions.split_at(first);
        let (workspaces, other_workspaces) = self.workspaces.split_at_mut(first);
        let (infos, other_infos) = self.infos.split_at_mut(first);
        let nodes = regions.iter().map(|r| r.nodes.len()).sum();
        let contacts = regions.iter().map(|r| r.contacts.len()).sum();
        let (solution, other_solution) = self.solution.split(nodes, contacts);
        let other = Part {
            regions: other_regions,
            workspaces: other_workspaces,
            infos: other_infos,
            solution: other_solution,
        };
        (Part { regions, workspaces, infos, solution }, other)
    }

    fn solve_in_turn(self, task: Task) {
        let Part { regions, workspaces, infos, mut solution } = self;
        let Some(workspace) = workspaces.first_mut() else { return };
        for (region, info) in regions.iter().zip(infos) {
            let (own, rest) = solution.split(region.nodes.len(), region.contacts.len());
            let (nodes, contacts) = (region.nodes.clone(), region.contacts.clone());
            let guess = InitialGuess::Solution {
                velocities: &task.velocities[nodes.clone()],
                impulses: &task.impulses[contacts.clone()],
            };
            let problem = task.problem.part(nodes, contacts, region.answers);
            *info = workspace.solve_part(&problem, task.settings, guess, own);
            solution = rest;
        }
    }
}
