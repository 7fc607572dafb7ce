//! Grid boundary constraints within the contact problem, against a plain re-statement of the CPU's
//! rule (`coupling/src/boundary_constraints.rs`): which constraints are added and with what
//! numbers, which nodes are held, what is guessed and imposed, and that nothing of the momentum is
//! lost.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod boundary_support;
mod convex_support;
mod support;

use std::collections::BTreeMap;

use boundary_support::{
    CONTACTS, Constraint, Setup, boundaries, boundary, constraints_of, node_of, number_of, place, position,
    scene, weight,
};
use convex_support::{cpu, distance, settings};
use nalgebra::{Point3, Vector3};
use pliant_coupling::convex::{ContactConstraint, ContactProblem, InitialGuess};
use pliant_cuda::Commands;
use pliant_cuda::contact::{BodyExchange, ContactError, DetectedContact};
use pliant_cuda::kernels::{
    CONTACT_NONE, CONTACT_TOO_MANY, ContactClock, MPM_STATUS_CAPACITY, MPM_STATUS_FLAGS, MPM_STATUS_LIMIT,
    MPM_STATUS_NEEDED, MPM_STATUS_WORDS,
};
use pliant_mpm::{Boundary, BoundaryKind};
use pliant_rigid::SpatialImpulse;
use support::contact::options;
use support::shapes::vector;
use support::{Random, devices, rounds_as_written};

fn sorted(mut nodes: Vec<[i32; 3]>) -> Vec<[i32; 3]> {
    nodes.sort_unstable();
    nodes
}

// The rule of `coupling/src/boundary_constraints.rs`: each touched node with mass once, constraints
// in the order of the list, none at a sticky node. All numbers are rounded once from the same f64,
// so they are the same; so is the order, for any schedule and number of blocks.
#[test]
fn constraints_are_those_of_the_cpu() {
    for device in devices() {
        for blocks in [1, 3, u32::MAX] {
            let mut setup = Setup::new(&device, boundaries(), CONTACTS);
            setup.constraints = setup.constraints.with_blocks(blocks);
            for substep in 0..2 {
                setup.on.register();
                let particles = setup.contacts();
                assert!(particles.iter().all(|c| c.dissipation == options().dissipation as f32));
                setup.add();
                let all = setup.contacts();
                let (constraints, sticky) = constraints_of(&particles, &setup.boundaries, &setup.free);
                assert_eq!(all[..particles.len()], particles, "substep {substep}");
                let found = &all[particles.len()..];
                assert_eq!(found.len(), constraints.len(), "substep {substep}");
                for (w, (found, right)) in found.iter().zip(&constraints).enumerate() {
                    assert_eq!(
                        found, &right.contact,
                        "constraint {w} of {blocks} blocks in substep {substep}"
                    );
                }
                assert_eq!(setup.fixed_nodes(), sorted(sticky.clone()), "substep {substep}");
                setup.on.detector.check().unwrap();
                // Each condition is somewhere, and two of them meet.
                for plane in [0, 1, 2, 4] {
                    assert!(
                        constraints.iter().filter(|w| w.plane == plane).count() > 10,
                        "constraint {plane}"
                    );
                }
                assert!(
                    constraints.windows(2).filter(|w| w[0].node == w[1].node).count() > 10
                        && sticky.len() > 10
                );
            }
        }
    }
}

// As many contacts as there are, not as there is room for, so that the caller can make room; the
// substep is stopped. Those that fit are right.
#[test]
fn constraints_beyond_the_capacity_are_counted() {
    for device in devices() {
        let setup = Setup::new(&device, boundaries(), CONTACTS);
        setup.on.register();
        let particles = setup.contacts();
        let (constraints, _) = constraints_of(&particles, &setup.boundaries, &setup.free);
        let (all, capacity) = (particles.len() + constraints.len(), particles.len() + 7);
        let mut setup = Setup::new(&device, boundaries(), capacity);
        let mut status = vec![0_u32; MPM_STATUS_WORDS as usize];
        status[MPM_STATUS_LIMIT as usize] = 7;
        let status = device.upload(&status).unwrap();
        setup.solver.follow(status.span(), setup.on.detector.clock());
        setup.on.register_within(status.span());
        setup.add();
        let found = setup.contacts();
        assert_eq!(found.len(), capacity);
        assert!(
            found[particles.len()..]
                .iter()
                .zip(&constraints)
                .all(|(found, constraint)| found == &constraint.contact)
        );
        let error = ContactError::Capacity { contacts: all as u32, capacity: capacity as u32 };
        assert_eq!(setup.on.detector.check(), Err(error));
        // The first substep does not take place, and can be done again.
        let nodes = setup.nodes();
        setup.guess();
        setup.solve();
        setup.exchange();
        let status = status.download().unwrap();
        let told = [MPM_STATUS_LIMIT, MPM_STATUS_FLAGS, MPM_STATUS_NEEDED, MPM_STATUS_CAPACITY];
        let told = told.map(|word| status[word as usize]);
        assert_eq!(told, [0, CONTACT_TOO_MANY, all as u32, capacity as u32]);
        assert_eq!(setup.nodes(), nodes);
        assert!(setup.on.detector.save().unwrap().is_empty());
    }
}

/// The impulses that `BoundaryConstraints::guess` adds, and how large the numbers are that they
/// come from.
fn guesses(
    particles: &[DetectedContact],
    constraints: &[Constraint],
    free: &ContactProblem,
) -> Vec<(Vector3<f64>, f64)> {
    let mut pushed: BTreeMap<[i32; 3], (Vector3<f64>, f64)> = BTreeMap::new();
    for c in particles {
        for s in 0..27 {
            let w = weight(c.offset[0], s / 9) * weight(c.offset[1], s / 3 % 3) * weight(c.offset[2], s % 3);
            let impulse = Vector3::from(c.last_impulse.map(f64::from)) * w;
            let entry = pushed.entry(node_of(c.base, s)).or_default();
            entry.0 += impulse;
            entry.1 += impulse.norm();
        }
    }
    let one = |constraint: &Constraint| {
        let number = number_of(constraint.node);
        let [x, y, z, _] = free.node_free_velocity[number];
        let momentum = Vector3::new(x, y, z) * free.node_mass[number];
        let Some((pushed, size)) = pushed.get_mut(&constraint.node) else { panic!("not touched") };
        let normal = boundaries()[constraint.plane].normal.into_inner();
        let held = normal * (-normal.dot(&(*pushed + momentum))).max(0.0);
        *pushed += held;
        (held, *size + momentum.norm())
    };
    constraints.iter().map(one).collect()
}

// `BoundaryConstraints::guess` in f64; the guess is then rounded to f32.
#[test]
fn the_guess_keeps_momentum_out_of_the_boundaries() {
    let mut first = None;
    for device in devices() {
        let setup = Setup::new(&device, boundaries(), CONTACTS);
        setup.on.register();
        let mut random = Random(8);
        let given: Vec<[f32; 3]> =
            setup.contacts().iter().map(|_| (vector(&mut random) * 2e-3).map(|x| x as f32).into()).collect();
        setup.set_guess(&given);
        let particles = setup.contacts();
        let (constraints, _) = constraints_of(&particles, &setup.boundaries, &setup.free);
        setup.add();
        setup.guess();
        let all = setup.contacts();
        assert!(all.iter().zip(&given).all(|(contact, given)| contact.last_impulse == *given));
        let right = guesses(&particles, &constraints, &setup.free);
        let mut pressed = 0;
        for (found, (right, size)) in all[particles.len()..].iter().zip(&right) {
            let off = (Vector3::from(found.last_impulse.map(f64::from)) - right).norm();
            assert!(off <= 2.0_f64.powi(-23) * size, "{found:?}, not {right}");
            pressed += usize::from(right.norm() > 0.0);
        }
        assert!(pressed > 50, "{pressed}");
        let bits: Vec<_> = all.iter().flat_map(|c| c.last_impulse.map(f32::to_bits)).collect();
        assert!(!device.is_emulated() || first.get_or_insert(bits.clone()) == &bits, "the schedule matters");
    }
}

/// `Constraint::impose` of the CPU.
fn imposed(plane: &Boundary, mass: f64, velocity: Vector3<f32>, solved: f64) -> Vector3<f32> {
    let normal = plane.normal.into_inner().cast::<f32>();
    let friction = match plane.kind {
        BoundaryKind::Frictional { friction } => friction,
        _ => 0.0,
    };
    let into = normal.dot(&velocity).min(0.0);
    let free = velocity - normal * into;
    let tangential = free - normal * normal.dot(&free);
    let speed = tangential.norm();
    let slowed = (friction * (solved / mass - f64::from(into))) as f32;
    if speed > 0.0 && slowed > 0.0 { free - tangential * (slowed / speed).min(1.0) } else { free }
}

/// What came out of a substep.
#[derive(PartialEq)]
struct Outcome {
    nodes: Vec<[u32; 4]>,
    totals: Vec<BodyExchange>,
}

/// A substep on a device, checked against `Exchange::apply` and `BoundaryConstraints::impose` on
/// the numbers of its own solve.
fn substep(setup: &Setup) -> Outcome {
    let is_exact = rounds_as_written(&setup.on.device);
    setup.on.register();
    let particles = setup.contacts();
    let (constraints, sticky) = constraints_of(&particles, &setup.boundaries, &setup.free);
    let old = setup.nodes();
    setup.add();
    setup.guess();
    setup.solve();
    let solution = setup.solver.download_nodes().unwrap();
    assert!(solution.info.stop.is_converged(), "{:?}", solution.info);
    let solved: Vec<Vector3<f64>> = solution.impulses.iter().map(|p| Vector3::from(*p)).collect();
    assert_eq!(solved.len(), particles.len() + constraints.len());
    let after_solve = setup.nodes();
    for node in &sticky {
        assert_eq!(after_solve[number_of(*node)], old[number_of(*node)], "{node:?} is held");
    }
    setup.exchange();
    let new = setup.nodes();

    // What the constraints get about the world's origin, and the magnitudes in which roundings are
    // counted.
    let (mut on_boundaries, mut size) = (SpatialImpulse::zero(), 0.0);
    let mut give = |node: [i32; 3], impulse: Vector3<f64>| {
        on_boundaries.add_at(&Point3::origin(), &position(node), &impulse);
        size += impulse.norm() * (1.0 + position(node).coords.norm());
    };
    let mut velocities: Vec<Vector3<f32>> =
        after_solve.iter().map(|v| Vector3::new(v[0], v[1], v[2])).collect();
    let mut slowed = 0;
    for (constraint, solved) in constraints.iter().zip(&solved[particles.len()..]) {
        let (number, plane) = (number_of(constraint.node), &setup.boundaries[constraint.plane]);
        let (mass, before) = (setup.free.node_mass[number], velocities[number]);
        let after = imposed(plane, mass, before, plane.normal.dot(solved));
        velocities[number] = after;
        give(constraint.node, -solved - (after.cast::<f64>() - before.cast::<f64>()) * mass);
        slowed += usize::from(after != before);
    }
    assert!(slowed > 30, "{slowed} constraints had something to impose");
    for (number, (found, right)) in new.iter().zip(&velocities).enumerate() {
        let off = (Vector3::new(found[0], found[1], found[2]) - right).norm();
        // A GPU fuses and rounds in its own way.
        let bound = if is_exact { 0.0 } else { 1e-6 * right.norm().max(1.0) };
        assert!(off <= bound, "node {:?}: {found:?}, not {right}", place(number as u32));
        assert_eq!(found[3], old[number][3]);
    }
    for (c, solved) in particles.iter().zip(&solved) {
        for s in (0..27).filter(|s| sticky.contains(&node_of(c.base, *s))) {
            let w = weight(c.offset[0], s / 9) * weight(c.offset[1], s / 3 % 3) * weight(c.offset[2], s % 3);
            give(node_of(c.base, s), solved * w);
        }
    }
    // Roundings of f64 in sums of some ten levels; on a GPU the imposed part is that of its own
    // velocities.
    let totals = setup.on.exchange.download().unwrap();
    let found = totals[3].impulse;
    let bound = if is_exact { 64.0 * f64::EPSILON * size } else { 1e-6 * size };
    assert!((found.linear - on_boundaries.linear).norm() <= bound, "{found:?}, not {on_boundaries:?}");
    assert!((found.angular - on_boundaries.angular).norm() <= bound, "{found:?}, not {on_boundaries:?}");
    assert!(on_boundaries.linear.norm() > 1e-4 && totals[3].work == 0.0);

    // Nothing of the momentum is lost: grid, bodies and constraints together keep it. Velocities
    // are rounded to f32, which alone is 1e7 times the bound.
    let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
    for (number, (old, new)) in old.iter().zip(&new).enumerate() {
        let mass = f64::from(old[3]);
        let change = Vector3::from_fn(|d, _| mass * (f64::from(new[d]) - f64::from(old[d])));
        linear += change;
        angular += position(place(number as u32)).coords.cross(&change);
        size += change.norm();
    }
    size += solved.iter().map(|impulse| impulse.norm()).sum::<f64>();
    let scene = scene(5);
    for (b, total) in totals.iter().enumerate() {
        let origin = scene
            .substep_states
            .get(b)
            .map_or(Vector3::zeros(), |substep_states| substep_states.origin.coords);
        linear += total.impulse.linear;
        angular += total.impulse.angular + origin.cross(&total.impulse.linear);
    }
    let bound = 64.0 * f64::EPSILON * size;
    assert!(linear.norm() <= bound && angular.norm() <= bound, "{linear} {angular} of {size}");

    // Boundaries are not remembered.
    let saved = setup.on.detector.save().unwrap();
    let ids: Vec<u32> = saved.iter().map(|memory| memory.particle).collect();
    assert_eq!(ids, particles.iter().map(|c| c.particle).collect::<Vec<_>>());
    Outcome { nodes: new.iter().map(|v| v.map(f32::to_bits)).collect(), totals }
}

/// Substeps that are stopped, from the beginning or after their contacts, or constraints, were
/// added, change nothing from then on.
fn stopped(setup: &Setup) {
    let device = &setup.on.device;
    let (nodes, totals) = (setup.nodes(), setup.on.exchange.download().unwrap());
    let contact_cache = setup.on.detector.save().unwrap().len();
    let never = device.upload(&[0_u32]).unwrap();
    let clock = ContactClock { substep: 1.0, substep_index: 1, active: 0, substeps: 3 };
    let clock = device.upload(&[clock]).unwrap();
    for (has_contacts, has_boundaries) in [(false, false), (true, false), (true, true)] {
        if has_contacts {
            setup.on.register();
        } else {
            setup.on.register_within(never.span());
        }
        if has_boundaries {
            setup.add();
        }
        setup.submit(|commands| {
            commands.copy(clock.span(), setup.on.detector.clock());
        });
        let contacts = setup.contacts();
        assert_eq!(contacts.is_empty(), !has_contacts);
        assert_eq!(contacts.iter().any(|c| c.particle == CONTACT_NONE), has_boundaries);
        if !has_boundaries {
            setup.add();
            assert!(setup.fixed_nodes().is_empty());
        }
        setup.guess();
        assert_eq!(setup.contacts(), contacts);
        setup.exchange();
        assert_eq!(setup.nodes(), nodes);
        assert_eq!(setup.on.exchange.download().unwrap(), totals);
        assert_eq!(setup.on.detector.save().unwrap().len(), contact_cache);
    }
}

#[test]
fn impulses_of_boundaries_are_imposed_and_balanced() {
    let mut first: Option<Outcome> = None;
    for (device, blocks) in devices().into_iter().zip([1, u32::MAX, 2, u32::MAX]) {
        let mut setup = Setup::new(&device, boundaries(), CONTACTS);
        setup.constraints = setup.constraints.with_blocks(blocks);
        let outcome = substep(&setup);
        // The next substep remembers what the particles' contacts did, and that no constraint was
        // among them.
        let before = setup.on.detector.save().unwrap();
        setup.on.register();
        let recalled = setup.contacts();
        let known = recalled.iter().filter(|c| {
            let key = (c.particle, c.geometry, c.last_impulse);
            before.iter().any(|m| (m.particle, m.geometry, m.impulse) == key)
        });
        assert!(known.count() > recalled.len() / 2);
        stopped(&setup);
        if device.is_emulated() {
            match &first {
                Some(first) => assert!(*first == outcome, "the schedule or the number of blocks matters"),
                None => first = Some(outcome),
            }
        }
    }
}

/// A contact for the CPU's solver.
fn host_contact(c: &DetectedContact) -> ContactConstraint {
    let z = [0, 1, 2].map(|k| weight(c.offset[2], k));
    ContactConstraint {
        rows: std::array::from_fn(|r| number_of(node_of(c.base, 3 * r)) as u32),
        weights_xy: std::array::from_fn(|r| weight(c.offset[0], r / 3) * weight(c.offset[1], r % 3)),
        weights_z: z,
        normal: c.normal.map(f64::from),
        body_velocity: c.body_velocity.map(f64::from),
        gap: f64::from(c.gap),
        stiffness: f64::from(c.stiffness),
        dissipation: f64::from(c.dissipation),
        friction: f64::from(c.friction),
        stiction_tolerance: if c.particle == CONTACT_NONE { 1.0 } else { 1e-3 },
        lagged_normal_impulse: f64::from(c.lagged_normal_impulse),
        adhesion: f64::from(c.tension),
    }
}

// The same problem as the CPU builds it, solved by the CPU's solver. The objective's Hessian is at
// least the mass matrix, so that each is within its residual of the minimiser
// (`coupling/src/convex/problem.rs`).
#[test]
fn the_solve_with_boundary_constraints_is_the_cpus() {
    for device in devices() {
        let setup = Setup::with_tolerance(&device, boundaries(), CONTACTS, 1e-5);
        setup.on.register();
        let particles = setup.contacts();
        let (constraints, sticky) = constraints_of(&particles, &setup.boundaries, &setup.free);
        let mut problem = setup.free.clone();
        sticky.iter().for_each(|node| problem.node_mass[number_of(*node)] = 0.0);
        problem.contacts =
            particles.iter().chain(constraints.iter().map(|w| &w.contact)).map(host_contact).collect();
        let (right, info) = cpu(&problem, &settings(1e-5), InitialGuess::Free);
        setup.add();
        setup.guess();
        setup.solve();
        let found = setup.solver.download_nodes().unwrap();
        assert!(info.stop.is_converged() && found.info.stop.is_converged(), "{info:?} {:?}", found.info);
        let mut velocities = problem.node_free_velocity.clone();
        for (slot, [x, y, z]) in found.slots.iter().zip(&found.velocities) {
            let number = setup.grid.slots.iter().position(|s| s == slot).unwrap();
            velocities[number] = [*x, *y, *z, 0.0];
        }
        let off = distance(&problem, &velocities, right.velocities());
        let moved = distance(&problem, right.velocities(), &problem.node_free_velocity);
        let bound = found.info.residual + info.residual;
        assert!(off <= bound && bound < 1e-3 * moved, "{off} of {moved}: {info:?} {:?}", found.info);
        // A node that the solver never moves is where it was on both.
        for node in &sticky {
            let number = number_of(*node);
            assert_eq!(velocities[number], right.velocities()[number], "{node:?}");
        }
    }
}

// Without boundary conditions there is nothing to launch, and no memory for it.
#[test]
fn without_boundaries_there_is_nothing_to_do() {
    for device in devices() {
        let setup = Setup::new(&device, Vec::new(), CONTACTS);
        let mut commands = Commands::new();
        let (on, nodes) = (&setup.on, setup.grid.nodes.span());
        let incidence = setup.solver.incidence();
        setup.constraints.issue_add(&mut commands, &on.detector, &setup.grid.spans());
        setup.constraints.issue_guess(&mut commands, &on.detector, incidence, nodes);
        let impulses = setup.solver.impulses();
        setup.constraints.issue_impose(&mut commands, &on.detector, incidence, impulses, nodes, &on.exchange);
        assert!(
            commands.is_empty() && setup.constraints.is_empty() && setup.constraints.fixed_nodes().is_empty()
        );
        // A sphere far behind the only constraint: no contact, no constraint.
        let floor = boundary([0.0, 0.0, -1.0], [0.0, 0.0, 1.0], BoundaryKind::Sticky);
        let setup = Setup::new(&device, vec![floor], CONTACTS);
        setup.on.register();
        let contacts = setup.contacts();
        setup.add();
        assert_eq!(setup.contacts(), contacts);
        assert!(setup.fixed_nodes().is_empty() && !contacts.is_empty());
    }
}
