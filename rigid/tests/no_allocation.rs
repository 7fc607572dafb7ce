//! Stepping allocates nothing once its buffers have grown: a control loop at a kilohertz never
//! allocates.

#![allow(clippy::unwrap_used)] // everything here runs in tests

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Vector3};
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_rigid::{BodiesBuilder, RigidSettings, SensorReader, Shape, SpatialImpulse};
use pliant_testing::Random;
use pliant_testing::allocations::{Counting, on_this_thread};
use pliant_testing::floor::free_link;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const G: f64 = 9.81;

fn integrators() -> [Integrator; 4] {
    [
        Integrator::Fixed { step: 2e-3 },
        Integrator::ErrorControlled { accuracy: 1e-2, max_step: 0.05 },
        Integrator::Trapezoid { step: 2e-3, accuracy: None },
        Integrator::Trapezoid { step: 0.05, accuracy: Some(1e-2) },
    ]
}

/// Spheres and boxes, every third layer of cylinders and ellipsoids, that fall into a bin, four to
/// a layer.
fn clutter(layers: usize, integrator: Integrator) -> Simulation<Collisions> {
    clutter_by(RigidSolver::Icf, layers, integrator)
}

fn clutter_by(solver: RigidSolver, layers: usize, integrator: Integrator) -> Simulation<Collisions> {
    let seed = 31;
    let mut random = Random::new(seed);
    let material = ContactMaterial {
        stiffness: 1e6,
        dissipation: 10.0,
        static_friction: 0.5,
        dynamic_friction: 0.5,
        torsional_friction: 1e-3,
        rolling_friction: 1e-4,
        ..ContactMaterial::with_friction(0.0)
    };
    let solid = |link: Option<LinkId>, pose: Isometry3<f64>, shape: Shape| CollisionGeometry {
        name: format!("{link:?}"),
        link,
        pose,
        shape,
        material,
        group: 1,
        mask: 1,
        color: [180; 3],
    };
    let cuboid = |half: [f64; 3]| Shape::Box { half_extents: half.into() };
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let mut geometries = vec![solid(None, Isometry3::identity(), Shape::HalfSpace)];
    for (x, y) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let half = if x == 0.0 { [0.2, 0.02, 0.5] } else { [0.02, 0.24, 0.5] };
        geometries.push(solid(None, Isometry3::translation(0.22 * x, 0.22 * y, 0.5), cuboid(half)));
    }
    let mut poses = Vec::new();
    for layer in 0..layers {
        for column in 0..4 {
            let shape = match (layer % 3, column % 2) {
                (2, 0) => Shape::Cylinder { radius: 0.04, half_length: 0.05 },
                (2, _) => Shape::Ellipsoid { semi_axes: Vector3::new(0.05, 0.04, 0.03) },
                (_, 0) => Shape::Sphere { radius: 0.05 },
                _ => cuboid([0.05; 3]),
            };
            let (mass, _, inertia) = shape.mass_properties(1000.0).unwrap();
            let name = format!("{layer} {column}");
            let link = builder.add(free_link(&name, mass, inertia.diagonal())).unwrap();
            geometries.push(solid(Some(link), Isometry3::identity(), shape));
            let (x, y) = (if column & 1 == 0 { -0.1 } else { 0.1 }, if column & 2 == 0 { -0.1 } else { 0.1 });
            let place = Vector3::new(x, y, 0.12 + 0.14 * layer as f64) + random.vector() * 0.02;
            poses.push(Isometry3::from_parts(Translation3::from(place), random.rotation()));
        }
    }
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    for (i, pose) in poses.iter().enumerate() {
        let (t, r) = (pose.translation.vector, pose.rotation);
        state.q[model.positions_of(LinkId(i))].copy_from_slice(&[r.w, r.i, r.j, r.k, t.x, t.y, t.z]);
    }
    let scene = CollisionModel::new(geometries, &model, &[]).unwrap();
    let mut system = System::new(model);
    system.solver = solver;
    Simulation::new(system, Collisions::new(scene, 1e-4), integrator, state).unwrap()
}

/// An arm of rods of 1 kg and 0.5 m, and beside it a lone rod.
fn rods(count: usize) -> Model {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.02, 1e-3));
    let mut parent = None;
    for i in 0..=count {
        let lone = i == count;
        let place = if lone { [0.6, 0.0, 0.0] } else { [0.0, 0.0, if i == 0 { 0.0 } else { -0.5 }] };
        let link = Link {
            name: i.to_string(),
            parent: if lone { None } else { parent },
            joint: JointKind::Revolute { axis: Vector3::y_axis() },
            frame: Isometry3::translation(place[0], place[1], place[2]),
            inertia: RigidInertia::at_center(1.0, Vector3::new(0.0, 0.0, -0.25), inertia),
            gravity: true,
            dofs: vec![Dof { limits: [-2.0, 2.0], friction_loss: 0.01, ..Dof::default() }],
        };
        parent = Some(builder.add(link).unwrap());
    }
    builder.build().unwrap()
}

/// A three-link arm under PD control with compensated weight, its end connected to a free rod by a
/// bar, a coupler between its joints.
fn arm(integrator: Integrator) -> Simulation<NoContacts> {
    arm_by(RigidSolver::Icf, integrator)
}

fn arm_by(solver: RigidSolver, integrator: Integrator) -> Simulation<NoContacts> {
    let model = rods(3);
    let mut state = model.zero_configuration();
    state.q.copy_from_slice(&[0.3, 0.2, -0.1, 0.1]);
    let mut system = System::new(model);
    for l in 0..3 {
        let target = 0.5 - 0.3 * l as f64;
        let control = Control::Position { target, target_rate: 0.0, stiffness: 200.0, damping: 10.0 };
        let actuator =
            Actuator { link: LinkId(l), dof: 0, control, effort_limit: 20.0, gravity_compensation: true };
        system.actuators.push(actuator);
    }
    let links = [Some(LinkId(2)), Some(LinkId(3))];
    let points = [Point3::new(0.0, 0.0, -0.5), Point3::new(0.0, 0.0, -0.5)];
    let mut kinematics = Kinematics::new(&system.model);
    kinematics.update(&system.model, &state);
    let end = |k: usize| kinematics.pose(LinkId(2 + k)) * points[k];
    let distance = (end(1) - end(0)).norm();
    system.equalities.push(Equality::Distance { links, points, distance });
    let (driver, driven) = (LinkId(0), LinkId(1));
    system.equalities.push(Equality::Coupler { driver, driven, ratio: -0.5, offset: 0.35 });
    system.solver = solver;
    Simulation::new(system, NoContacts, integrator, state).unwrap()
}

/// Integral control of two joints, with two states that also leak into each other.
#[derive(Clone, Debug)]
struct Integral;

impl ExternalSystem for Integral {
    fn states(&self) -> usize {
        2
    }

    fn derivative(&self, _: &Model, _: &Kinematics, state: &State, x: &[f64], rate: &mut [f64]) {
        rate[0] = 0.5 - state.q[0] - 0.1 * x[0] + 3.0 * x[1];
        rate[1] = 0.2 - state.q[1] - 2.0 * x[0] - 0.3 * x[1];
    }

    fn add_forces(&self, _: &Model, _: &Kinematics, state: &State, x: &[f64], forces: &mut [f64]) {
        for n in 0..2 {
            forces[n] += 50.0 * (0.3 - state.q[n]) + 20.0 * x[n] - 5.0 * state.v[n];
        }
    }
}

fn controlled_arm(integrator: Integrator) -> Simulation<NoContacts> {
    let model = rods(2);
    let state = model.zero_configuration();
    let mut system = System::new(model);
    system.externals.push(Box::new(Integral));
    system.externals.push(Box::new(Integral));
    Simulation::new(system, NoContacts, integrator, state).unwrap()
}

/// Runs to `start`, then twice from there to `end`, and reads the joints' reactions; returns the
/// allocations of the second time and the steps it took.
fn second_time<S: ContactSource>(mut simulation: Simulation<S>, start: f64, end: f64) -> (usize, usize) {
    simulation.advance_to(start).unwrap();
    let saved = simulation.save();
    simulation.advance_to(end).unwrap();
    let first = simulation.save();
    let reactions = simulation.joint_reactions();
    let mut again = Reactions::default();
    simulation.find_reactions(&mut again);
    simulation.restore(&saved).unwrap();
    let before = on_this_thread();
    let summary = simulation.advance_to(end).unwrap();
    simulation.find_reactions(&mut again);
    let allocations = on_this_thread() - before;
    assert_eq!(again.joints, reactions, "the second run is another");
    assert_eq!(simulation.save(), first, "the second run is another");
    (allocations, summary.steps)
}

// Checks: a stretch of steps that was run before, so that all buffers have seen their peaks,
// allocates nothing when it is run again from a snapshot. Bodies fall onto each other in it:
// contacts come and go, and with them the pattern of the Hessian.
#[test]
fn clutter_allocates_nothing() {
    for layers in [2, 3] {
        for integrator in integrators() {
            let mut probe = clutter(layers, integrator);
            probe.advance_to(0.1).unwrap();
            let early = probe.contact_forces().filter(|c| c.candidate.distance < 0.0).count();
            probe.advance_to(0.5).unwrap();
            let late = probe.contact_forces().filter(|c| c.candidate.distance < 0.0).count();
            assert!(late > early + 4, "{early} and {late} contacts: nothing changes");
            let (allocations, steps) = second_time(clutter(layers, integrator), 0.1, 0.5);
            assert_eq!(allocations, 0, "{layers} layers, {integrator:?}: in {steps} steps");
        }
    }
}

#[test]
fn motors_limits_and_constraints_allocate_nothing() {
    for integrator in integrators() {
        let (allocations, steps) = second_time(arm(integrator), 0.1, 1.0);
        assert_eq!(allocations, 0, "{integrator:?}: in {steps} steps");
    }
}

// The same of the closed-form solver, in both of its forms.
#[test]
fn closed_form_steps_allocate_nothing() {
    let integrator = Integrator::Fixed { step: 2e-3 };
    for settings in [ComFreeSettings::default(), ComFreeSettings::published(0.3, 0.005)] {
        let solver = RigidSolver::ComFree(settings);
        let (allocations, steps) = second_time(clutter_by(solver, 3, integrator), 0.1, 0.5);
        assert_eq!(allocations, 0, "{settings:?}: in {steps} steps");
        let (allocations, steps) = second_time(arm_by(solver, integrator), 0.1, 1.0);
        assert_eq!(allocations, 0, "{settings:?}: in {steps} steps");
    }
}

#[test]
fn external_systems_with_states_allocate_nothing() {
    for integrator in integrators() {
        let (allocations, steps) = second_time(controlled_arm(integrator), 0.1, 1.0);
        assert_eq!(allocations, 0, "{integrator:?}: in {steps} steps");
    }
}

/// Rods with a string over a surface, a limited one, and drives with activations.
fn strung(integrator: Integrator) -> Simulation<NoContacts> {
    let model = rods(3);
    let mut state = model.zero_configuration();
    state.q.copy_from_slice(&[0.3, 0.2, -0.1, 0.1]);
    let mut system = System::new(model);
    let point = |link: usize, x: f64| PathElement::Point {
        link: Some(LinkId(link)),
        point: Point3::new(x, 0.0, -0.3),
    };
    let surface = PathElement::Surface {
        link: Some(LinkId(1)),
        pose: Isometry3::identity(),
        surface: WrapSurface::Sphere,
        radius: 0.1,
        side: None,
    };
    for (path, range) in [
        (vec![point(0, 0.1), surface, point(1, 0.1)], [0.0, 10.0]),
        (vec![point(2, 0.0), point(3, 0.0)], [0.0, 1.4]),
    ] {
        let tendon = Tendon::new("string", TendonPath::Spatial(path));
        system.tendons.push(Tendon { range, stiffness: 30.0, damping: 1.0, friction_loss: 0.1, ..tendon });
    }
    let drive = Drive {
        activation: Activation::Filter { time_constant: 0.1 },
        control: 5.0,
        ..Drive::new("pull", Transmission::Tendon { tendon: 0, gear: 2.0 })
    };
    system.drives.push(drive);
    Simulation::new(system, NoContacts, integrator, state).unwrap()
}

#[test]
fn tendons_and_drives_allocate_nothing() {
    for integrator in integrators() {
        let (allocations, steps) = second_time(strung(integrator), 0.1, 1.0);
        assert_eq!(allocations, 0, "{integrator:?}: in {steps} steps");
    }
}

// The counter counts.
#[test]
fn allocations_are_counted() {
    let before = on_this_thread();
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert_eq!(on_this_thread() - before, 1);
}

// Checks: sensors of a mechanism are read without allocating, once they were read before.
#[test]
fn sensors_are_read_without_allocating() {
    let text = r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1"><joint name="j"/>
        <geom type="box" size=".1 .1 .1"/><site name="s"/></body><body pos="1 0 .1"><freejoint/>
        <geom size=".1"/><site name="t"/></body></worldbody><tendon><spatial name="p"><site site="s"/><site site="t"/>
        </spatial></tendon><actuator><motor name="m" tendon="p"/></actuator><sensor><force site="s"/>
        <torque site="s"/><accelerometer site="s"/><gyro site="s"/><touch site="t"/><tendonvel tendon="p"/>
        <actuatorfrc actuator="m"/><jointactuatorfrc joint="j"/><framelinvel objtype="site" objname="t"
        reftype="site" refname="s"/></sensor></mujoco>"#;
    let mechanism = pliant_import::from_mjcf(text, env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut builder = BodiesBuilder::new();
    builder.robot("r", mechanism, None, &Isometry3::identity()).unwrap();
    let mut bodies = builder.build(Vector3::new(0.0, 0.0, -9.81), 1e-3, &RigidSettings::default()).unwrap();
    let mut reader = SensorReader::default();
    let mut allocations = 0;
    for _ in 0..3 {
        bodies.prepare(1e-3);
        bodies.integrate(1e-3, &vec![SpatialImpulse::zero(); bodies.len()]).unwrap();
        let before = on_this_thread();
        reader.update(&bodies, bodies.sensors());
        assert!(bodies.sensors().iter().all(|sensor| reader.read(&bodies, sensor).is_some()));
        allocations = on_this_thread() - before;
    }
    assert_eq!(allocations, 0);
}
