//! Suction, waves and external states of `control` and `simulation` against their equations.

use std::f64::consts::{PI, TAU};

use nalgebra::{Isometry3, Matrix3, Point3, Unit, Vector3};
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::control::*;
use pliant_rigid::multibody::{
    Dof, ForceVector, JointKind, Kinematics, Link, LinkId, Model, ModelBuilder, RigidInertia, State,
};
use pliant_rigid::simulation::*;
use pliant_rigid::{ConvexHull, Shape};
use pliant_testing::Random;
use pliant_testing::floor::free_link;

const G: f64 = 9.81;

/// Largest magnitude.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| x.abs().max(m))
}

const LAW: SuctionForceModel = SuctionForceModel { max_force: 50.0, half_distance: 2e-3, range: 0.05 };

// Checks: F_m at contact and inside, half at d_h, F_m d_h/d far away (off by d_h/d), nothing from
// the range on; it falls everywhere and is smooth: its slope has no jump (differences over 1e-6 m
// stay within the curvature, which is at most 2 F_m/d_h^2).
#[test]
fn suction_falls_with_distance() {
    assert_eq!(LAW.force(0.0), 50.0);
    assert_eq!(LAW.force(-0.01), 50.0);
    assert!((LAW.force(2e-3) - 25.0).abs() < 1e-12);
    let d = 0.03;
    assert!((LAW.force(d) * d / (50.0 * 2e-3) - 1.0).abs() < 2e-3 / d);
    assert_eq!(LAW.force(0.05), 0.0);
    assert_eq!(LAW.force(0.06), 0.0);
    let (mut last, mut slope) = (LAW.force(1e-7), None::<f64>);
    let h = 1e-6;
    for k in 1..60_000 {
        let force = LAW.force(1e-7 + h * f64::from(k));
        assert!(force <= last);
        let fresh = (force - last) / h;
        if let Some(old) = slope {
            assert!((fresh - old).abs() < 2.0 * 50.0 / (2e-3 * 2e-3) * h, "{k}: {old} {fresh}");
        }
        (last, slope) = (force, Some(fresh));
    }
}

fn solids() -> [Shape; 5] {
    let corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]];
    let hull = ConvexHull::new(&corners.map(|c| Point3::from(c) * 0.03)).unwrap();
    [
        Shape::Sphere { radius: 0.02 },
        Shape::Box { half_extents: Vector3::new(0.02, 0.03, 0.01) },
        Shape::Ellipsoid { semi_axes: Vector3::new(0.02, 0.03, 0.01) },
        Shape::Cylinder { radius: 0.02, half_length: 0.02 },
        Shape::ConvexHull(hull),
    ]
}

// Checks: what the target gets the cup loses, force and moment about the world's origin (Newton's
// third law, one line of action; to rounding); the force is F(d) cos along the surface's normal; a
// cup that looks away, or is switched off, pulls nothing.
#[test]
fn suction_acts_on_cup_and_target_alike() {
    let seed = 8;
    let mut random = Random::new(seed);
    let mut pulled = 0;
    for k in 0..200 {
        let mut builder = ModelBuilder::new(Vector3::zeros());
        let cup = builder.add(free_link("cup", 1.0, Vector3::repeat(0.1))).unwrap();
        let body = builder.add(free_link("body", 1.0, Vector3::repeat(0.1))).unwrap();
        let model = builder.build().unwrap();
        let mut state = model.zero_configuration();
        for link in [cup, body] {
            let (t, r) = (random.vector() * 0.04, random.rotation());
            state.q[model.positions_of(link)].copy_from_slice(&[r.w, r.i, r.j, r.k, t.x, t.y, t.z]);
        }
        let shape = solids()[k % 5].clone();
        let place = Isometry3::from_parts((random.vector() * 0.02).into(), random.rotation());
        let (point, axis) = (Point3::from(random.vector() * 0.02), Unit::new_normalize(random.vector()));
        let cups = vec![Cup { link: cup, point, axis }];
        let targets = vec![SuctionTarget { link: body, pose: place, shape: shape.clone() }];
        let suction = Suction::new(&model, cups, targets, LAW, vec![[1.0, 2.0]]).unwrap();
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &state);
        let mut forces = vec![0.0; model.velocities()];
        suction.add_forces(&model, &kinematics, &state, &[], &mut forces);
        assert!(forces.iter().all(|f| *f == 0.0), "off before 1 s");
        state.time = 1.5;
        suction.add_forces(&model, &kinematics, &state, &[], &mut forces);

        let wrench = |link| {
            let f = &forces[model.velocities_of(link)];
            let force = Vector3::new(f[3], f[4], f[5]);
            let arm = kinematics.pose(link).translation.vector;
            (force, Vector3::new(f[0], f[1], f[2]) + arm.cross(&force))
        };
        let ((on_cup, cup_moment), (on_body, body_moment)) = (wrench(cup), wrench(body));
        assert!((on_cup + on_body).norm() < 1e-13, "seed {seed}, {k}");
        assert!((cup_moment + body_moment).norm() < 1e-13, "seed {seed}, {k}");

        let frame = kinematics.pose(body) * place;
        let from = kinematics.pose(cup) * point;
        let surface = shape.surface_point(&frame.inverse_transform_point(&from));
        let normal = frame * surface.normal.into_inner();
        let facing = -normal.dot(&(kinematics.pose(cup) * axis.into_inner()));
        let expected = normal * (LAW.force(surface.distance) * facing.max(0.0));
        assert!((on_body - expected).norm() < 1e-12, "seed {seed}, {k}: {on_body} {expected}");
        // On the line through the cup's opening.
        assert!((cup_moment - from.coords.cross(&on_cup)).norm() < 1e-12, "seed {seed}, {k}");
        pulled += usize::from(on_body.norm() > 1.0);
    }
    assert!(pulled > 30, "seed {seed}: {pulled}");
}

/// A plate that slides up and down with 3 x 2 bellows (springs of 1 N/m, damping 1, 10 mm of travel
/// either way) whose cups hang 5 mm above a box of 1 kg on the floor. The plate rises by 0.3 m
/// between 0.5 and 1.5 s; the pump runs from 0.1 to 3 s.
fn vacuum(integrator: Integrator) -> Simulation<Collisions> {
    let slide = |name: String, parent, frame, mass: f64, dof| Link {
        name,
        parent,
        joint: JointKind::Prismatic { axis: Vector3::z_axis() },
        frame,
        inertia: RigidInertia::at_center(mass, Vector3::zeros(), Matrix3::identity() * (mass * 1e-4)),
        gravity: true,
        dofs: vec![dof],
    };
    let material = ContactMaterial {
        stiffness: 1e6,
        dissipation: 10.0,
        static_friction: 0.5,
        dynamic_friction: 0.5,
        ..ContactMaterial::with_friction(0.0)
    };
    let solid = |name: String, link, shape| CollisionGeometry {
        name,
        link,
        pose: Isometry3::identity(),
        shape,
        material,
        group: 1,
        mask: 1,
        color: [180; 3],
    };
    let (half, tall) = (Vector3::new(0.1, 0.08, 0.05), 0.005);
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let height = Isometry3::translation(0.0, 0.0, 2.0 * half.z + 5e-3 + tall + 0.05);
    let plate = builder.add(slide("plate".into(), None, height, 2.0, Dof::default())).unwrap();
    let mut geometries = vec![solid("floor".into(), None, Shape::HalfSpace)];
    let mut cups = Vec::new();
    for i in 0..6 {
        let (x, y) = (0.05 * (f64::from(i % 3) - 1.0), 0.06 * (f64::from(i / 3) - 0.5));
        let frame = Isometry3::translation(x, y, -0.05);
        let dof = Dof { damping: 1.0, stiffness: 1.0, limits: [-0.01, 0.01], ..Dof::default() };
        let link = builder.add(slide(format!("bellows {i}"), Some(plate), frame, 0.01, dof)).unwrap();
        let shape = Shape::Cylinder { radius: 0.01, half_length: tall };
        geometries.push(solid(format!("cup {i}"), Some(link), shape));
        cups.push(Cup { link, point: Point3::new(0.0, 0.0, -tall), axis: -Vector3::z_axis() });
    }
    let inertia = Vector3::new(0.16 * 0.16 + 0.01, 0.05, 0.04 + 0.16 * 0.16) / 12.0;
    let body = builder.add(free_link("box", 1.0, inertia)).unwrap();
    let shape = Shape::Box { half_extents: half };
    geometries.push(solid("box".into(), Some(body), shape.clone()));
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q[model.positions_of(body)][6] = half.z;
    let mut system = System::new(model);
    let model = &system.model;
    let targets = vec![SuctionTarget { link: body, pose: Isometry3::identity(), shape }];
    let suction = Suction::new(model, cups, targets, LAW, vec![[0.1, 3.0]]).unwrap();
    let joint =
        ControlledJoint { link: plate, dof: 0, stiffness: 1e4, damping: 2e2, effort_limit: f64::INFINITY };
    let path = JointTrajectory::cubic(vec![0.5, 1.5], vec![vec![0.0], vec![0.3]]).unwrap();
    let lift = InverseDynamics::new(model, vec![joint], path).unwrap();
    system.externals.push(Box::new(suction));
    system.externals.push(Box::new(lift));
    let scene = CollisionModel::new(geometries, &system.model, &[]).unwrap();
    Simulation::new(system, Collisions::new(scene, 1e-4), integrator, state).unwrap()
}

// Checks: six cups lift a box of 1 kg and hold it where the plate, the bellows' stops (10 mm down)
// and the sag m g/(M K_p) of the plate under the unknown weight put it; everything is at rest then;
// switched off, it falls with g (the contacts that were pressed with 50 N each over 50 um give it a
// push of at most 6 sqrt(2 E m), m = 10 g: 3 cm/s).
#[test]
fn cups_lift_a_box_and_let_it_go() {
    for integrator in
        [Integrator::Fixed { step: 1e-3 }, Integrator::ErrorControlled { accuracy: 1e-4, max_step: 0.05 }]
    {
        let mut simulation = vacuum(integrator);
        let height = |s: &Simulation<Collisions>| s.state().q[s.system().model.positions() - 1];
        simulation.advance_to(0.09).unwrap();
        assert!((height(&simulation) - 0.05).abs() < 1e-4, "{integrator:?}: at the start");
        simulation.advance_to(2.9).unwrap();
        let sag = G / (2.06 * 1e4);
        let held = height(&simulation);
        assert!((held - (0.05 + 0.3 - 0.005 - sag)).abs() < 2e-4, "{integrator:?}: held at {held}");
        let fastest = largest(&simulation.state().v);
        assert!(fastest < 1e-3, "{integrator:?}: {fastest} m/s");
        // Newton on the box: what the cups pull and what their contacts push leave its weight.
        // (Under error control a position may be off by the accuracy, which at 1e6 N/m is a hundred
        // newtons in a single step: nothing follows for one.)
        if matches!(integrator, Integrator::Fixed { .. }) {
            let pushed: f64 = simulation.contact_forces().map(|c| c.force.z.abs()).sum();
            assert!((6.0 * 50.0 - pushed - G).abs() < 0.01 * G, "{integrator:?}: {pushed} N");
        }

        simulation.advance_to(3.0).unwrap();
        simulation.advance_to(3.2).unwrap();
        let fallen = held - height(&simulation);
        assert!((fallen - G * 0.02).abs() < 0.03 * 0.2 + 2e-3, "{integrator:?}: {fallen} m in 0.2 s");
        simulation.advance_to(4.0).unwrap();
        assert!((height(&simulation) - 0.05).abs() < 1e-3, "{integrator:?}: on the floor again");
    }
}

// Invalid input is refused, with the item, the field and its value.
#[test]
fn force_elements_that_cannot_be_are_refused() {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    builder.add(free_link("cup", 1.0, Vector3::repeat(0.1))).unwrap();
    builder.add(free_link("body", 1.0, Vector3::repeat(0.1))).unwrap();
    let model = &builder.build().unwrap();
    let cup = Cup { link: LinkId(0), point: Point3::origin(), axis: Vector3::z_axis() };
    let target = |radius| SuctionTarget {
        link: LinkId(1),
        pose: Isometry3::identity(),
        shape: Shape::Sphere { radius },
    };
    let law = LAW;
    let suctions = [
        (Suction::new(model, vec![cup], vec![target(-1.0)], law, vec![]), "suction target 0, radius: -1 m"),
        (Suction::new(model, vec![cup], vec![target(1.0)], law, vec![[1.0, 1.0]]), "end: 1 s"),
        (
            Suction::new(model, vec![cup], vec![target(1.0)], law, vec![[0.0, 1.0], [0.5, 2.0]]),
            "start: 0.5 s",
        ),
        (Suction::new(model, vec![], vec![], SuctionForceModel { range: 0.0, ..law }, vec![]), "range: 0 m"),
        (Suction::new(model, vec![Cup { link: LinkId(50), ..cup }], vec![], law, vec![]), "cup 0, link: 50"),
    ];
    for (suction, words) in suctions {
        let error = suction.unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let push = ForceVector::new(Vector3::zeros(), Vector3::x());
    let back = Wave::PiecewiseLinear { points: vec![(1.0, push), (0.5, push)] };
    let error = AppliedWave::new(model, LinkId(0), Point3::origin(), back).unwrap_err().to_string();
    assert!(error.contains("time: 0.5 s"), "{error}");
}

/// A body without gravity that a wave acts on at `point`; its velocity at time `t`.
fn pushed(wave: Wave, point: Point3<f64>, step: f64, t: f64) -> Vec<f64> {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let link = builder.add(free_link("body", 2.0, Vector3::repeat(0.5))).unwrap();
    let mut system = System::new(builder.build().unwrap());
    let state = system.model.zero_configuration();
    system.externals.push(Box::new(AppliedWave::new(&system.model, link, point, wave).unwrap()));
    let mut simulation = Simulation::new(system, NoContacts, Integrator::Fixed { step }, state).unwrap();
    simulation.advance_to(t).unwrap();
    simulation.state().v.clone()
}

// Checks: the impulse of half a period of a sine is amplitude T/pi, of force and torque. The steps
// add up a trapezoid (the ends are 0): off by (pi dt/T)^2/3 of it.
#[test]
fn half_a_period_gives_its_impulse() {
    let amplitude = ForceVector::new(Vector3::new(0.0, 0.3, 0.0), Vector3::new(10.0, 0.0, -4.0));
    let (frequency, step) = (0.5, 1e-3);
    let period = 1.0 / frequency;
    let wave = Wave::Sine { amplitude, frequency, phase: 0.0 };
    let v = pushed(wave, Point3::origin(), step, period / 2.0);
    let impulse = amplitude * (period / PI);
    let off = (PI * step / period).powi(2) / 3.0 * 1.01;
    for (found, wanted) in
        [(v[3] * 2.0, impulse.linear.x), (v[5] * 2.0, impulse.linear.z), (v[1] * 0.5, impulse.angular.y)]
    {
        assert!((found / wanted - 1.0).abs() < off, "{found} {wanted}");
    }
    // A quarter period on, it is a cosine; a whole period leaves nothing.
    let shifted = Wave::Sine { amplitude, frequency, phase: PI / 2.0 };
    assert!((shifted.at(0.3).linear.x - 10.0 * (TAU * 0.15).cos()).abs() < 1e-12);
    let v = pushed(shifted, Point3::origin(), step, period);
    assert!(v[3].abs() < 1e-9, "{v:?}");
}

// Checks: a push of 10 N for 0.5 s between jumps, at a lever of 0.2 m, gives 5 N s and 1 N m s (the
// body hardly turns in that time); a ramp gives its area, right to the step's half times the change
// (implicit steps take the force at their end).
#[test]
fn pushes_and_ramps_give_their_area() {
    let push = |newton: f64| ForceVector::new(Vector3::zeros(), Vector3::x() * newton);
    let points = vec![(0.2, push(0.0)), (0.2, push(10.0)), (0.7, push(10.0)), (0.7, push(0.0))];
    let wave = Wave::PiecewiseLinear { points };
    assert_eq!([0.0, 0.2, 0.6999, 0.7, 3.0].map(|t| wave.at(t).linear.x), [0.0, 10.0, 10.0, 0.0, 0.0]);
    let v = pushed(wave.clone(), Point3::origin(), 1e-3, 1.0);
    // One step more or less at the jumps.
    assert!((v[3] * 2.0 - 5.0).abs() < 10.0 * 1.01e-3, "{v:?}");
    let heavy = Wave::PiecewiseLinear { points: vec![(0.0, push(0.01))] };
    let v = pushed(heavy, Point3::new(0.0, 0.2, 0.0), 1e-3, 1.0);
    assert!((v[2] * 0.5 + 0.2 * 0.01).abs() < 1e-6 && (v[3] * 2.0 - 0.01).abs() < 1e-12, "{v:?}");

    let ramp = Wave::PiecewiseLinear { points: vec![(0.0, push(0.0)), (1.0, push(6.0))] };
    assert!((ramp.at(0.25).linear.x - 1.5).abs() < 1e-15);
    let v = pushed(ramp, Point3::origin(), 1e-3, 1.0);
    assert!((v[3] * 2.0 - 3.0 - 0.5e-3 * 6.0).abs() < 1e-9, "{v:?}");

    let model = ModelBuilder::new(Vector3::zeros());
    let mut model = model;
    let link = model.add(free_link("body", 1.0, Vector3::repeat(1.0))).unwrap();
    let model = model.build().unwrap();
    let wave = AppliedWave::new(&model, link, Point3::origin(), wave).unwrap();
    assert_eq!([0.0, 0.2, 0.7].map(|t| wave.next_event(t)), [Some(0.2), Some(0.7), None]);
}

/// Its state is the displacement of the first joint, which acts as a spring.
#[derive(Clone, Debug)]
struct Odometer {
    stiffness: f64,
}

impl ExternalSystem for Odometer {
    fn states(&self) -> usize {
        1
    }

    fn start(&self, x: &mut [f64]) {
        x[0] = 0.25;
    }

    fn derivative(&self, _: &Model, _: &Kinematics, state: &State, _: &[f64], rate: &mut [f64]) {
        rate[0] = state.v[0];
    }

    fn add_forces(&self, _: &Model, _: &Kinematics, _: &State, x: &[f64], forces: &mut [f64]) {
        forces[0] -= self.stiffness * x[0];
    }
}

// Checks: an external state advances with the velocities at the end of the step, as the positions
// do; so dx/dt = dq/dt keeps x - q to rounding (differences of 1.5e-8: 1e-6), at any step and any
// stiffness. With velocities of the start it would lag.
#[test]
fn an_external_state_goes_with_the_positions() {
    for (stiffness, step) in [(10.0, 0.05), (1e4, 0.05)] {
        let mut builder = ModelBuilder::new(Vector3::zeros());
        let mut link = free_link("slider", 1.0, Vector3::repeat(0.1));
        link.joint = JointKind::Prismatic { axis: Vector3::x_axis() };
        link.dofs = vec![Dof::default()];
        builder.add(link).unwrap();
        let mut system = System::new(builder.build().unwrap());
        system.externals.push(Box::new(Odometer { stiffness }));
        let mut state = system.model.zero_configuration();
        state.v[0] = 2.0;
        let mut simulation = Simulation::new(system, NoContacts, Integrator::Fixed { step }, state).unwrap();
        let mut displacement = 0.0_f64;
        for k in 1..=40 {
            simulation.advance_to(step * f64::from(k)).unwrap();
            let (x, q) = (simulation.external_state()[0], simulation.state().q[0]);
            assert!((x - 0.25 - q).abs() < 1e-6, "{stiffness} {k}: {x} {q}");
            displacement = displacement.max(q.abs());
        }
        assert!(displacement > 0.05, "{stiffness}: {displacement}");
    }
}
