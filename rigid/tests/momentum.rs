//! Free bodies of any shape that collide keep their momentum and their angular momentum.

use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_rigid::{ConvexHull, Shape};
use pliant_testing::Random;
use pliant_testing::floor::box_on_floor;

/// A shape of about this size (m).
fn shape(random: &mut Random, size: f64) -> Shape {
    let mut length = || size * (1.0 + 0.5 * random.signed());
    let (x, y, z) = (length(), length(), length());
    match (random.signed().abs() * 6.0) as u32 {
        0 => Shape::Sphere { radius: x },
        1 => Shape::Capsule { radius: x, half_length: y },
        2 => Shape::Cylinder { radius: x, half_length: y },
        3 => Shape::Ellipsoid { semi_axes: Vector3::new(x, y, z) },
        4 => {
            let top = 0.2 + 0.6 * random.signed().abs();
            let corners = [(-1.0, 1.0), (1.0, top)].map(|(h, w)| {
                [(-w, -w), (w, -w), (-w, w), (w, w)].map(|(u, v)| Point3::new(x * u, x * v, x * h))
            });
            Shape::ConvexHull(ConvexHull::new(&corners.concat()).unwrap())
        }
        _ => Shape::Box { half_extents: Vector3::new(x, y, z) },
    }
}

/// Momentum and angular momentum about the origin (N s, N m s), and the sum of the sizes of the
/// parts of the latter.
fn momenta(model: &Model, state: &State) -> (Vector3<f64>, Vector3<f64>, f64) {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, state);
    let mut sums = (Vector3::zeros(), Vector3::zeros(), 0.0);
    for (k, link) in model.links().iter().enumerate() {
        let pose = kinematics.pose(LinkId(k));
        let velocity = kinematics.velocity(LinkId(k));
        let part = link.inertia.rotated(pose).momentum(velocity);
        let about_origin = part.angular + pose.translation.vector.cross(&part.linear);
        sums.0 += part.linear;
        sums.1 += about_origin;
        sums.2 += about_origin.norm();
    }
    sums
}

// Contact pushes two bodies with equal and opposite impulses at one point, and friction besides. At
// fixed steps positions move by the velocities of their ends, so that angular momentum is kept like
// momentum: every step of the solver keeps both, converged or not, and rounds.
#[test]
fn colliding_bodies_keep_their_momenta() {
    let mut worst = (0.0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let (mut builder, mut geometries) = (ModelBuilder::new(Vector3::zeros()), Vec::new());
        let size = 10.0_f64.powf(-2.0 + random.signed());
        let speed = 10.0_f64.powf(random.signed());
        let dt = 0.2 * size / speed * random.signed().abs();
        let count = 5;
        for k in 0..count {
            let shape = shape(&mut random, size);
            let mass = size.powi(3) * 1e4 * 10.0_f64.powf(random.signed());
            let (unit, center, inertia) = shape.mass_properties(1.0).unwrap();
            let inertia = RigidInertia::at_center(mass, center.coords, inertia * (mass / unit));
            let link = Link {
                name: format!("body {k}"),
                parent: None,
                joint: JointKind::Free,
                frame: Isometry3::identity(),
                inertia,
                gravity: true,
                dofs: Vec::new(),
            };
            let link = builder.add(link).unwrap();
            let material =
                ContactMaterial { stiffness: 1e6, ..ContactMaterial::with_friction(random.signed().abs()) };
            geometries.push(CollisionGeometry {
                name: format!("shape {k}"),
                link: Some(link),
                pose: Isometry3::identity(),
                shape,
                material,
                group: 1,
                mask: 1,
                color: [0; 3],
            });
        }
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        for k in 0..count {
            let (q, v) = (model.positions_of(LinkId(k)), model.velocities_of(LinkId(k)));
            let rotation = random.rotation();
            let q = &mut state.q[q];
            q[..4].copy_from_slice(&[rotation.w, rotation.i, rotation.j, rotation.k]);
            let place = random.vector() * 0.3 * size + Vector3::z() * (k as f64 * 3.2 * size);
            q[4..].copy_from_slice(Translation3::from(place).vector.as_slice());
            let spin = random.vector() * (0.5 * speed / size);
            state.v[v.clone()][..3].copy_from_slice(spin.as_slice());
            state.v[v][5] = speed * (2.0 - k as f64);
        }
        let scene = CollisionModel::new(geometries, &model, &[]).unwrap();
        let source = Collisions::new(scene, 1e-4);
        let system = System::new(model.clone());
        let mut simulation = Simulation::new(system, source, Integrator::Fixed { step: dt }, state).unwrap();
        let (p, l, size_of_l) = momenta(&model, simulation.state());
        for step in 1..=60 {
            simulation.advance_to(f64::from(step) * dt).unwrap();
            let (p_now, l_now, _) = momenta(&model, simulation.state());
            let off = ((l_now - l).norm() / size_of_l).max((p_now - p).norm() * size / size_of_l);
            if off > worst.0 {
                worst = (off, seed);
                println!(
                    "seed {seed}, step {step}: {off:e} (momentum {:e})",
                    (p_now - p).norm() * size / size_of_l
                );
            }
        }
    }
    assert!(worst.0 < 1e-9, "{worst:?}");
}

// Checks: what falls on a floor has at the end the momentum of its weight less what the floor took,
// whatever the integrator and the solver, as far as the convex problems are solved: in each step to
// 1e-8 of the momenta, under error control to a thousandth of the accuracy.
#[test]
fn floors_take_what_the_momentum_lost() {
    let (seed, controlled) = (9, Integrator::ErrorControlled { accuracy: 1e-3, max_step: 0.01 });
    let mut random = Random::new(seed);
    let mut touched = 0.0_f64;
    for case in 0..24 {
        let integrator = match case % 4 {
            0 => Integrator::Fixed { step: 4e-3 },
            1 => controlled,
            2 => Integrator::Trapezoid { step: 4e-3, accuracy: None },
            _ => Integrator::Trapezoid { step: 0.01, accuracy: Some(1e-3) },
        };
        let (model, mut state, mut floor) =
            box_on_floor(Vector3::new(0.3, 0.0, -9.81), 0.5 + 0.4 * random.signed(), 0.02);
        floor.stiffness = 1e5;
        let velocity = random.vector();
        state.v[3..6].copy_from_slice(velocity.as_slice());
        let mut system = System::new(model);
        if case % 8 == 4 {
            system.solver = RigidSolver::ComFree(ComFreeSettings::default());
        }
        let mass = system.model.links()[0].inertia.mass;
        let gravity = system.model.gravity;
        let mut simulation = Simulation::new(system, floor, integrator, state).unwrap();
        let time = 0.2;
        let summary = simulation.advance_to(time).unwrap();
        let taken = Vector3::from(summary.environment_impulse);
        let bound = summary.steps as f64 * if case % 2 == 0 { 1e-8 } else { 2e-6 };
        let end = Vector3::from_column_slice(&simulation.state().v[3..6]);
        let expected = (gravity * time + velocity - end) * mass;
        let scale = mass * (gravity.norm() * time + velocity.norm() + end.norm());
        let off = (taken - expected).norm() / scale;
        println!("seed {seed}, case {case}, {integrator:?}: {taken:?}, off by {off:e}");
        assert!(off < bound, "case {case}, {integrator:?}: {taken:?}, not {expected:?}");
        touched += taken.norm();
    }
    assert!(touched > 1.0);
}
