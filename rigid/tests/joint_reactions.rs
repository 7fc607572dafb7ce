//! What joints and contacts pass to links. The laws are statics, Newton's and Euler's.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::floor::{box_on_floor, free_link};
use pliant_testing::mechanisms::mechanism;

const G: f64 = 9.81;

fn down() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -G)
}

fn integrators() -> [Integrator; 4] {
    [
        Integrator::Fixed { step: 1e-3 },
        Integrator::ErrorControlled { accuracy: 1e-4, max_step: 0.01 },
        Integrator::Trapezoid { step: 1e-3, accuracy: None },
        Integrator::Trapezoid { step: 0.01, accuracy: Some(1e-4) },
    ]
}

/// Rods of 1 kg and 1 m in a row, that hang by one end and turn about y.
fn chain(links: usize) -> Model {
    let inertia = Matrix3::from_diagonal(&Vector3::new(1.0 / 12.0, 1.0 / 12.0, 1e-3));
    let mut builder = ModelBuilder::new(down());
    let mut parent = None;
    for i in 0..links {
        let link = Link {
            name: i.to_string(),
            parent,
            joint: JointKind::Revolute { axis: Vector3::y_axis() },
            frame: Isometry3::translation(0.0, 0.0, if i == 0 { 0.0 } else { -1.0 }),
            inertia: RigidInertia::at_center(1.0, Vector3::new(0.0, 0.0, -0.5), inertia),
            gravity: true,
            dofs: vec![Dof::default()],
        };
        parent = Some(builder.add(link).unwrap());
    }
    builder.build().unwrap()
}

fn assert_near(found: &ForceVector, force: [f64; 3], moment: [f64; 3], tolerance: f64, what: &str) {
    let expected = ForceVector::new(moment.into(), force.into());
    let off = (*found - expected).to_vector().amax();
    assert!(off < tolerance, "{what}: {found:?}, not {expected:?}");
}

// Statics: a chain that hangs at rest passes its weight from joint to joint, and nothing else.
// There is nothing to read before the first step and after a restore.
#[test]
fn a_hanging_chain_passes_its_weight() {
    for integrator in integrators() {
        let model = chain(2);
        let state = model.zero_configuration();
        let mut simulation = Simulation::new(System::new(model), NoContacts, integrator, state).unwrap();
        assert!(simulation.joint_reactions().is_empty());
        simulation.advance_to(0.1).unwrap();
        let name = format!("{integrator:?}");
        let reactions = simulation.joint_reactions();
        let [upper, lower] = &reactions[..] else { panic!("two joints") };
        assert_near(upper, [0.0, 0.0, 2.0 * G], [0.0; 3], 1e-9, &name);
        assert_near(lower, [0.0, 0.0, G], [0.0; 3], 1e-9, &name);
        let saved = simulation.save();
        simulation.restore(&saved).unwrap();
        assert!(simulation.joint_reactions().is_empty() && simulation.contact_wrenches().is_empty());
    }
}

// Newton and Euler: a rod that swings through its lowest point pulls along itself with m g cos q +
// m w^2 d, and across with the quarter of m g sin q that does not turn it. A step passes its mean,
// that of its middle: off by what the pull turns by in half a millisecond, 3 rad/s times that times
// its 14.3 N.
#[test]
fn a_swinging_rod_pulls_with_its_centripetal_force() {
    for integrator in integrators() {
        let model = chain(1);
        let mut state = model.zero_configuration();
        state.v[0] = 3.0;
        let mut simulation = Simulation::new(System::new(model), NoContacts, integrator, state).unwrap();
        simulation.advance_to(1e-3).unwrap();
        let (angle, rate) = (simulation.state().q[0], simulation.state().v[0]);
        let (along, across) = (G * angle.cos() + 0.5 * rate * rate, 0.25 * G * angle.sin());
        // The rod is along (-sin q, 0, -cos q).
        let x = along * angle.sin() - across * angle.cos();
        let z = along * angle.cos() + across * angle.sin();
        let name = format!("{integrator:?}");
        assert_near(&simulation.joint_reactions()[0], [x, 0.0, z], [0.0; 3], 0.02, &name);
    }
}

// Statics: an arm held level by its motors. The moments about y are those of the weights (the rods
// lie along -x), and each is what its motor gives.
#[test]
fn a_motor_held_arm_passes_weight_and_moment() {
    for integrator in integrators() {
        let model = chain(2);
        let mut state = model.zero_configuration();
        state.q[0] = core::f64::consts::FRAC_PI_2;
        let mut system = System::new(model);
        for l in 0..2 {
            let target = if l == 0 { core::f64::consts::FRAC_PI_2 } else { 0.0 };
            let control = Control::Position { target, target_rate: 0.0, stiffness: 1e4, damping: 1e2 };
            let (link, effort_limit) = (LinkId(l), f64::INFINITY);
            system.actuators.push(Actuator {
                link,
                dof: 0,
                control,
                effort_limit,
                gravity_compensation: true,
            });
        }
        let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
        simulation.advance_to(0.2).unwrap();
        let name = format!("{integrator:?}");
        let efforts: Vec<f64> = simulation.actuator_efforts().collect();
        let reactions = simulation.joint_reactions();
        // r x F of a weight at -x: the motors hold against (-x) x (-z) = -y.
        let moments = [G * (0.5 + 1.5), G * 0.5];
        for l in 0..2 {
            let force = [0.0, 0.0, G * (2 - l) as f64];
            assert_near(&reactions[l], force, [0.0, moments[l], 0.0], 1e-6, &name);
            assert!((efforts[l] - moments[l]).abs() < 1e-6, "{name}: {efforts:?}");
        }
    }
}

// Statics: a box of 1 kg that rests on a plate of 3 kg, off its middle: the plate, welded to the
// world, passes both weights and the moment of the box's; the contacts of both are opposite forces
// about their own origins; the box's free joint passes nothing.
#[test]
fn a_welded_plate_passes_what_lies_on_it() {
    for integrator in integrators() {
        let mut builder = ModelBuilder::new(down());
        let mut plate = free_link("plate", 3.0, Vector3::repeat(0.1));
        plate.joint = JointKind::Fixed;
        plate.frame = Isometry3::translation(0.0, 0.0, 1.0);
        let plate = builder.add(plate).unwrap();
        let shape = Shape::Box { half_extents: Vector3::repeat(0.05) };
        let (mass, _, inertia) = shape.mass_properties(1000.0).unwrap();
        let cube = builder.add(free_link("box", mass, inertia.diagonal())).unwrap();
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        state.q[4..].copy_from_slice(&[0.2, 0.1, 1.1]);
        let material = ContactMaterial {
            stiffness: 1e5,
            dissipation: 20.0,
            static_friction: 0.5,
            dynamic_friction: 0.5,
            ..ContactMaterial::with_friction(0.0)
        };
        let solid = |link: LinkId, shape: Shape| CollisionGeometry {
            name: format!("{link:?}"),
            link: Some(link),
            pose: Isometry3::identity(),
            shape,
            material,
            group: 1,
            mask: 1,
            color: [180; 3],
        };
        let slab = Shape::Box { half_extents: Vector3::new(0.5, 0.5, 0.05) };
        let scene = CollisionModel::new(vec![solid(plate, slab), solid(cube, shape)], &model, &[]).unwrap();
        let source = Collisions::new(scene, 1e-4);
        let mut simulation = Simulation::new(System::new(model), source, integrator, state).unwrap();
        simulation.advance_to(1.0).unwrap();
        let name = format!("{integrator:?}");
        let weight = mass * G;
        let wrenches = simulation.contact_wrenches();
        let moment = [-0.1 * weight, 0.2 * weight, 0.0];
        assert_near(&wrenches[cube.0], [0.0, 0.0, weight], [0.0; 3], 1e-3, &name);
        assert_near(&wrenches[plate.0], [0.0, 0.0, -weight], moment, 1e-3, &name);
        let reactions = simulation.joint_reactions();
        let held = moment.map(|m| -m);
        assert_near(&reactions[plate.0], [0.0, 0.0, weight + 3.0 * G], held, 1e-3, &name);
        assert_near(&reactions[cube.0], [0.0; 3], [0.0; 3], 1e-3, &name);
    }
}

// Statics: a rod held level by its hinge and a string to its other end: each carries half, the
// hinge no moment.
#[test]
fn a_constraint_takes_its_share() {
    for integrator in integrators() {
        let model = chain(1);
        let mut state = model.zero_configuration();
        state.q[0] = core::f64::consts::FRAC_PI_2;
        let mut system = System::new(model);
        let points = [Point3::new(0.0, 0.0, -1.0), Point3::new(-1.0, 0.0, 1.0)];
        let links = [Some(LinkId(0)), None];
        system.equalities.push(Equality::Distance { links, points, distance: 1.0 });
        let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
        simulation.advance_to(0.5).unwrap();
        let found = simulation.joint_reactions()[0];
        // The string gives a little, more at longer steps, so that they disturb the rest.
        assert_near(&found, [0.0, 0.0, 0.5 * G], [0.0; 3], 1e-2, &format!("{integrator:?}"));
    }
}

// D'Alembert: along its axes a joint without motor, spring or damper passes only what turns its
// armature. Random mechanisms with every joint, in full motion. What a step passes is that of its
// middle, where a step of half the length ends; accelerations there are the mean ones to the second
// order.
#[test]
fn idle_joints_pass_nothing_along_their_axes() {
    for seed in 0..5 {
        let dt = 1e-4;
        let run = |step: f64| {
            let (model, state) = mechanism(&mut Random::new(seed));
            let before = state.v.clone();
            let integrator = Integrator::Fixed { step };
            let mut simulation = Simulation::new(System::new(model), NoContacts, integrator, state).unwrap();
            simulation.advance_to(step).unwrap();
            (simulation, before)
        };
        let (middle, _) = run(0.5 * dt);
        let (simulation, before) = run(dt);
        let after = simulation.state().v.clone();
        let reactions = simulation.joint_reactions();
        let model = &simulation.system().model;
        let mut kinematics = Kinematics::new(model);
        kinematics.update(model, middle.state());
        for (l, reaction) in reactions.iter().enumerate() {
            for n in model.velocities_of(LinkId(l)) {
                let passed = kinematics.axes()[n].dot(reaction);
                let taken = -model.dofs()[n].armature * (after[n] - before[n]) / dt;
                let scale = 1.0 + reaction.to_vector().amax();
                assert!((passed - taken).abs() < 1e-6 * scale, "seed {seed}, link {l}: {passed} {taken}");
            }
        }
    }
}

// Newton, with contact in motion: whatever a sliding, tumbling box does, its free joint passes
// nothing, at any step.
#[test]
fn a_free_joint_passes_nothing_through_an_impact() {
    for integrator in integrators() {
        let (model, mut state, floor) = box_on_floor(down(), 0.5, 0.01);
        state.v[..4].copy_from_slice(&[1.0, 2.0, 0.5, 1.0]);
        let mut simulation = Simulation::new(System::new(model), floor, integrator, state).unwrap();
        let mut strongest = 0.0_f64;
        for k in 1..=100 {
            simulation.advance_to(f64::from(k) * 5e-3).unwrap();
            let contact = simulation.contact_wrenches()[0].to_vector().amax();
            let passed = simulation.joint_reactions()[0].to_vector().amax();
            assert!(passed < 1e-5 * (G + contact), "{integrator:?}, {k}: {passed} N of {contact} N");
            strongest = strongest.max(contact);
        }
        assert!(strongest > 1.5 * G, "{integrator:?}: no impact, {strongest} N");
    }
}
