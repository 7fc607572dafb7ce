//! Numbering of the touched nodes on the device against the one on the host, and solves that follow
//! from it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod convex_support;
mod support;

use convex_support::{
    BlockGrid, base_in, cpu, random_problem, random_problem_in, rounded, settings, single, solve, solver_for,
};
use pliant_coupling::convex::benchmark_problem::benchmark_sequence;
use pliant_coupling::convex::{ContactProblem, InitialGuess, StopReason};
use pliant_cuda::convex::{
    ConvexError, DeviceContactProblem, DeviceConvexSettings, DeviceConvexSolver, DeviceGuess,
};
use pliant_cuda::kernels::CONVEX_CAPACITY_EXCEEDED;
use pliant_cuda::{Commands, Device};
use support::devices;

/// Places around the origin: blocks of negative keys, too.
fn place_in(side: usize) -> impl Fn(u32) -> [i32; 3] {
    let place = base_in([side; 3]);
    move |node| place(node).map(|x| x - 3)
}

fn number(
    solver: &mut DeviceConvexSolver,
    device: &Device,
    problem: &ContactProblem,
    side: usize,
) -> (DeviceContactProblem, BlockGrid) {
    let on_device =
        DeviceContactProblem::upload(device, problem, InitialGuess::Free, place_in(side)).unwrap();
    let grid = BlockGrid::new(device, problem, place_in(side));
    let mut commands = Commands::new();
    solver.issue_number(&mut commands, &on_device.contacts(), &grid.spans());
    device.submit(&commands).unwrap();
    (on_device, grid)
}

// Nodes are numbered by the first place that names them on both, and lists are sorted: the same
// numbers, whatever the schedule and the number of blocks. Contacts in no order at all make more
// groups, and are numbered as well.
#[test]
fn the_numbering_is_the_hosts() {
    let sorted = random_problem_in(9, 41, 300, 1.0);
    let mut mixed = sorted.clone();
    mixed.contacts.sort_by_key(|c| (c.gap * 1e9) as i64);
    let mut single = sorted.clone();
    single.contacts.truncate(1);
    for device in devices() {
        for problem in [&sorted, &mixed, &single] {
            let mut right = None;
            for blocks in [1, 2, 5] {
                let mut solver = solver_for(&device, &sorted).with_blocks(blocks);
                let (on_device, grid) = number(&mut solver, &device, problem, 9);
                let found = solver.download_incidence().unwrap();
                solver.number(&on_device).unwrap();
                let mut expected = solver.download_incidence().unwrap();
                expected.slots.iter_mut().for_each(|slot| *slot = grid.slots[*slot as usize]);
                assert!(found == expected, "{} {blocks} {found:?} {expected:?}", device.name());
                assert!(right.get_or_insert(found.clone()) == &found, "{} {blocks}", device.name());
            }
        }
    }
}

// Numbered alike, the solve is the same to the bit; the grid gets its velocities rounded, and only
// at the touched nodes.
#[test]
fn a_solve_of_blocks_is_the_solve_of_the_given_numbers() {
    for device in devices() {
        let problem = random_problem(42, 60, 20.0);
        let right = solve(&device, &problem, &settings(1e-8), InitialGuess::Free);
        let mut solver = solver_for(&device, &problem);
        let solver_settings = DeviceConvexSettings {
            solver: settings(1e-8),
            substep: problem.substep,
            ..DeviceConvexSettings::default()
        };
        solver.set(&solver_settings, DeviceGuess::Free).unwrap();
        let on_device =
            DeviceContactProblem::upload(&device, &problem, InitialGuess::Free, place_in(6)).unwrap();
        let grid = BlockGrid::new(&device, &problem, place_in(6));
        let before = grid.nodes.download().unwrap();
        let mut commands = Commands::new();
        on_device.issue(&solver, &mut commands, &grid.spans());
        device.submit(&commands).unwrap();
        let report = solver.report().unwrap();
        assert_eq!(report.stop, right.report.stop);
        assert_eq!(report.inner_iterations, right.report.inner_iterations);
        let after = grid.nodes.download().unwrap();
        let mut moved = 0;
        for (node, slot) in grid.slots.iter().enumerate() {
            let (now, v) = (after[*slot as usize], right.velocities[node]);
            assert_eq!(now, [v[0] as f32, v[1] as f32, v[2] as f32, before[*slot as usize][3]]);
            moved += usize::from(now != before[*slot as usize]);
        }
        assert!(moved > 50 && moved <= report.nodes as usize, "{moved}");
    }
}

#[test]
fn what_there_is_no_room_for_is_reported() {
    for device in devices() {
        let problem = random_problem(43, 40, 1.0);
        let info = |contacts: usize, nodes: usize, problem: &ContactProblem, lost: bool| {
            let mut solver = DeviceConvexSolver::new(&device, contacts, nodes).unwrap();
            let shift = if lost { 1000 } else { 0 };
            let place = place_in(6);
            let upload = DeviceContactProblem::upload(&device, problem, InitialGuess::Free, |row| {
                place(row).map(|x| x + shift)
            });
            let on_device = upload.unwrap();
            let grid = BlockGrid::new(&device, problem, place_in(6));
            let settings = DeviceConvexSettings { substep: 1e-3, ..DeviceConvexSettings::default() };
            solver.set(&settings, DeviceGuess::Free).unwrap();
            let mut commands = Commands::new();
            on_device.issue(&solver, &mut commands, &grid.spans());
            device.submit(&commands).unwrap();
            let report = solver.report().unwrap();
            let room = ConvexError::CapacityExceeded { contact_capacity: contacts, node_capacity: nodes };
            let info = solver.info(&report);
            if report.stop == CONVEX_CAPACITY_EXCEEDED {
                assert_eq!(solver.download_incidence(), Err(room.clone()));
                assert_eq!(info, Err(room));
            }
            info.ok().map(|info| info.stop)
        };
        assert_eq!(info(39, 216, &problem, false), None);
        assert_eq!(info(40, 100, &problem, false), None);
        assert_eq!(info(40, 1, &problem, false), None);
        // A node that the grid does not have.
        assert_eq!(info(40, 216, &problem, true), None);
        assert_eq!(info(40, 216, &problem, false), Some(StopReason::Converged));
        let empty = ContactProblem { contacts: Vec::new(), ..problem.clone() };
        assert_eq!(info(40, 216, &empty, false), Some(StopReason::NoContacts));
    }
}

/// Nodes of a problem's grid along each axis, as the rows of its stencils tell.
fn size_of_grid(problem: &ContactProblem) -> [usize; 3] {
    let rows = problem.contacts[0].rows.map(|row| row as usize);
    let (z, yz) = (rows[1] - rows[0], rows[3] - rows[0]);
    [problem.node_mass.len() / yz, yz / z, z]
}

// A run's own problems, each started from what the last solve left at the nodes that it had and
// from its impulses: the CPU, given the same, starts at the same iterate (f64), and takes about as
// many iterations. A system of f32 that ends a product earlier or later, at the edge of its own
// tolerance, can cost or save a step or two.
#[test]
fn the_solver_remembers_what_it_left_at_the_nodes() {
    let sequence = benchmark_sequence(10.0, 50, 5, 44);
    for device in devices() {
        let size = size_of_grid(&sequence[0].problem);
        let problems: Vec<ContactProblem> = sequence.iter().map(|step| rounded(&step.problem)).collect();
        let mut solver = solver_for(&device, &problems[0]);
        let mut impulses: Vec<[f64; 3]> = Vec::new();
        let mut left: Vec<Option<[f64; 4]>> = vec![None; problems[0].node_mass.len()];
        let (mut iterations, mut remembered) = (Vec::new(), 0);
        for (k, (step, problem)) in sequence.iter().zip(&problems).enumerate() {
            if k > 0 {
                impulses = step.carry_impulses(&sequence[k - 1], &impulses);
            }
            let impulses_given: Vec<_> = impulses.iter().map(|g| g.map(single)).collect();
            let free = &problem.node_free_velocity;
            let velocities: Vec<_> =
                left.iter().zip(free).map(|(left, free)| left.unwrap_or(*free)).collect();
            remembered += left.iter().flatten().count();
            let guess = InitialGuess::Solution { velocities: &velocities, impulses: &impulses_given };
            let (right, info) = cpu(problem, &settings(1e-4), guess);
            let on_device = DeviceContactProblem::upload(&device, problem, guess, base_in(size)).unwrap();
            let grid = BlockGrid::new(&device, problem, base_in(size));
            let solver_settings = DeviceConvexSettings {
                solver: settings(1e-4),
                substep: problem.substep,
                ..DeviceConvexSettings::default()
            };
            solver.set(&solver_settings, DeviceGuess::Solution).unwrap();
            let mut commands = Commands::new();
            on_device.issue(&solver, &mut commands, &grid.spans());
            device.submit(&commands).unwrap();
            let solution = solver.download_nodes().unwrap();
            let case = format!("{k}: {info:?} {:?}", solution.info);
            let (first, right) = (solution.trace[0], right.trace()[0]);
            assert!((first[0] - right.objective).abs() <= 1e-9 * right.objective, "{case}");
            assert!((first[1] - right.residual).abs() <= 1e-9 * right.residual, "{case}");
            assert!(solution.info.iterations.abs_diff(info.iterations) <= 2, "{case}");
            iterations.push([info.iterations, solution.info.iterations]);
            left.fill(None);
            for (slot, v) in solution.slots.iter().zip(&solution.velocities) {
                let node = grid.slots.iter().position(|s| s == slot).unwrap();
                left[node] = Some([v[0], v[1], v[2], 0.0]);
            }
            impulses = solution.impulses;
        }
        assert!(remembered > 100, "{remembered}");
        let sum = |n: usize| iterations.iter().map(|i| i[n]).sum::<usize>();
        assert!(sum(0).abs_diff(sum(1)) <= sum(0) / 5, "{iterations:?}");

        // Forgotten, the last problem starts as if it were the first.
        let last = &problems[4];
        let on_device =
            DeviceContactProblem::upload(&device, last, InitialGuess::Free, base_in(size)).unwrap();
        let again = |forget: bool| {
            let grid = BlockGrid::new(&device, last, base_in(size));
            let mut commands = Commands::new();
            if forget {
                solver.issue_forget(&mut commands);
            }
            on_device.issue(&solver, &mut commands, &grid.spans());
            device.submit(&commands).unwrap();
            solver.report().unwrap()
        };
        // Again and again its own solution: no more than the settling step.
        again(false);
        let same = again(false);
        assert_eq!((same.iterations, same.inner_iterations), (1, 0), "{same:?}");
        let (_, free) = cpu(
            last,
            &settings(1e-4),
            InitialGuess::Solution { velocities: &last.node_free_velocity, impulses: &[] },
        );
        let forgotten = again(true);
        assert!((forgotten.iterations as usize).abs_diff(free.iterations) <= 1, "{forgotten:?} {free:?}");
        assert!(forgotten.iterations > 1, "{forgotten:?}");
    }
}
