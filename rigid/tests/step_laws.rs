//! Closed forms of single laws that a fixed step is made of: steady forces, limits under load, what
//! contact presses, friction of impacts, and how far away is too far.

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::comfree::{cube, down, on_floor};
use pliant_testing::floor::box_on_floor;

const G: f64 = 9.81;

/// A slider of 1 kg along x, with limits (m), that a motor pushes with a force (N).
fn pushed_slider(limits: [f64; 2], force: f64, step: f64) -> Simulation<NoContacts> {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let link = Link {
        name: "slider".into(),
        parent: None,
        joint: JointKind::Prismatic { axis: Vector3::x_axis() },
        frame: Isometry3::identity(),
        inertia: RigidInertia::at_center(1.0, Vector3::zeros(), Matrix3::identity()),
        gravity: true,
        dofs: vec![Dof { limits, ..Dof::default() }],
    };
    let link = builder.add(link).unwrap();
    let model = builder.build().unwrap();
    let state = model.zero_configuration();
    let mut system = System::new(model);
    system.actuators.push(Actuator {
        link,
        dof: 0,
        control: Control::Effort { effort: force },
        effort_limit: f64::INFINITY,
        gravity_compensation: false,
    });
    Simulation::new(system, NoContacts, Integrator::Fixed { step }, state).unwrap()
}

// Newton's second law under a steady force: x = F t^2/(2 m) at any step, to rounding, since nothing
// resists it within the step.
#[test]
fn a_steady_force_gives_the_parabola_at_any_step() {
    for step in [1e-3, 1e-2, 0.1] {
        let mut slider = pushed_slider([f64::NEG_INFINITY, f64::INFINITY], 3.0, step);
        slider.advance_to(1.0).unwrap();
        let x = slider.state().q[0];
        assert!((x - 1.5).abs() < 1e-12, "step {step}: {x}");
    }
}

// A limit is a spring of the period beta dt, beta = 0.1 (Castro et al. 2022, near-rigid
// constraints): a force F presses a mass m in by F (beta dt)^2/(4 pi^2 m), however much that is
// against the speed at which limits lead joints back.
#[test]
fn a_limit_gives_way_in_proportion_to_its_load() {
    for dt in [1e-3, 5e-3] {
        for force in [1.0, 1e3, 1e5, 3e5] {
            let mut slider = pushed_slider([-1.0, 0.0], force, dt);
            slider.advance_to(2000.0 * dt).unwrap();
            let found = slider.state().q[0];
            let law = force * (0.1 * dt).powi(2) / (4.0 * core::f64::consts::PI.powi(2));
            println!("dt {dt}, {force} N: {found:e} m, law {law:e} m");
            assert!((found / law - 1.0).abs() < 0.01, "dt {dt}, {force} N: {found:e} {law:e}");
        }
    }
}

// What presses moves with the velocity of the end of the step, what slides with the mean. A box
// that comes down at 3 m/s in one step of 10 ms is stopped where its springs have its momentum, m
// v/dt = 4 k depth, with gravity's m g besides; by the mean velocity it would be v dt/2 = 15 mm
// deep. Dissipation only takes from that.
#[test]
fn an_impact_does_not_go_in_by_the_mean_velocity() {
    let (dt, v) = (1e-2, 3.0);
    let (model, mut state, floor) = box_on_floor(down(), 0.5, 1e-9);
    (state.v[3], state.v[5]) = (1.0, -v);
    let deepest = (v / dt + G) / (4.0 * floor.stiffness);
    let integrator = Integrator::Fixed { step: dt };
    let mut simulation = Simulation::new(System::new(model), floor, integrator, state).unwrap();
    for k in 1..=5 {
        simulation.advance_to(dt * f64::from(k)).unwrap();
        let depth = 0.05 - simulation.state().q[6];
        println!("step {k}: {depth:e} m deep, {deepest:e} at most");
        // The guard across surfaces leaves a thousandth of v dt/2, a quarter of that on four
        // contacts.
        assert!(depth < deepest + 1e-3 * v * dt / 2.0, "step {k}: {depth:e} m, {deepest:e} m at most");
    }
}

// Coulomb's law of an impact that slides throughout: the ball loses mu (1 + e) v_n of its speed
// along the floor and spins up by m r times that over its moment of inertia, 2 m r^2/5. It slides
// on: mu (1 + e) v_n 7/2 is below its speed.
#[test]
fn friction_of_an_impact_is_bounded_by_its_impulse() {
    let (radius, speed, fall) = (0.05, 3.0, 2.0);
    for (mu, e) in [(0.1, 0.8), (0.2, 0.5), (0.0, 1.0)] {
        let material = ContactMaterial { restitution: e, ..ContactMaterial::with_friction(mu) };
        let shape = Shape::Sphere { radius };
        let mut builder = ModelBuilder::new(Vector3::zeros());
        let inertia = Vector3::repeat(0.4 * radius * radius);
        let ball = builder.add(pliant_testing::floor::free_link("ball", 1.0, inertia)).unwrap();
        let model = builder.build().unwrap();
        let touchable = |name: &str, link, shape| CollisionGeometry {
            name: name.into(),
            link,
            pose: Isometry3::identity(),
            shape,
            material,
            group: 1,
            mask: u32::MAX,
            color: [0; 3],
        };
        let geometries =
            vec![touchable("ball", Some(ball), shape), touchable("floor", None, Shape::HalfSpace)];
        let scene = CollisionModel::new(geometries, &model, &[]).unwrap();
        let mut state = model.zero_configuration();
        // The impulses act in the middle of the gap, here none: a nanometre.
        state.q[6] = radius + 1e-9;
        (state.v[3], state.v[5]) = (speed, -fall);
        let source = Collisions::new(scene, 1e-4);
        let integrator = Integrator::Fixed { step: 1e-3 };
        let mut simulation = Simulation::new(System::new(model), source, integrator, state).unwrap();
        simulation.advance_to(0.05).unwrap();
        let v = &simulation.state().v;
        let lost = mu * (1.0 + e) * fall;
        println!("mu {mu}, e {e}: {v:?}");
        assert!((v[5] - e * fall).abs() < 1e-9, "mu {mu}, e {e}: rises at {}", v[5]);
        assert!((v[3] - (speed - lost)).abs() < 1e-9, "mu {mu}, e {e}: {} along the floor", v[3]);
        assert!((v[1] - 2.5 * lost / radius).abs() < 1e-6, "mu {mu}, e {e}: turns at {}", v[1]);
    }
}

// A body that leaves what double precision resolves for contact, 1e9 m, is an error that names it;
// one that stays short of that is not.
#[test]
fn a_body_too_far_away_is_an_error() {
    for (from, errs) in [(1e9 - 50.0, true), (1e9 - 200.0, false)] {
        let (model, mut state, source) =
            on_floor(down(), &[cube(0.1, 5.0)], ContactMaterial::with_friction(0.5));
        (state.q[4], state.v[3]) = (from, 1e4);
        let integrator = Integrator::Fixed { step: 1e-2 };
        let mut simulation = Simulation::new(System::new(model), source, integrator, state).unwrap();
        let result = simulation.advance_to(1e-2);
        match result {
            Err(SimulationError::Diverged { body, quantity, value, .. }) => {
                assert!(
                    errs && body == "solid 0" && quantity == "position" && value >= 1e9,
                    "{from}: {value}"
                );
            }
            other => assert!(!errs && other.is_ok(), "{from}: {other:?}"),
        }
    }
}
