//! Constraints with a compliance.

use nalgebra::{Isometry3, Vector3};
use pliant_rigid::comfree::ImpedanceCurve;
use pliant_rigid::multibody::{Dof, JointKind, Link, LinkId, ModelBuilder, RigidInertia, State};
use pliant_rigid::simulation::{
    Equality, Integrator, NoContacts, PathElement, Simulation, System, Tendon, TendonPath,
};
use pliant_rigid::{Compliance, LimitCompliance};

const MASS: f64 = 2.0;
const GRAVITY: f64 = 9.81;

fn flat(d: f64) -> ImpedanceCurve {
    ImpedanceCurve { minimum: d, maximum: d, ..ImpedanceCurve::default() }
}

/// A mass on a slide along z.
fn slider(dof: Dof) -> System {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -GRAVITY));
    builder
        .add(Link {
            name: "mass".to_owned(),
            parent: None,
            joint: JointKind::Prismatic { axis: Vector3::z_axis() },
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(MASS, Vector3::zeros(), nalgebra::Matrix3::identity()),
            gravity: true,
            dofs: vec![dof],
        })
        .unwrap();
    System::new(builder.build().unwrap())
}

fn position(system: System, steps: usize, time: f64) -> f64 {
    let state = system.model.zero_configuration();
    let integrator = Integrator::Fixed { step: time / steps as f64 };
    let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
    simulation.advance_to(time).unwrap();
    simulation.state().q[0]
}

// Checks: a limit at rest carries the load m g = k d r/R, R = (1 - d)/d A (MuJoCo documentation,
// Computation, Solver parameters).
#[test]
fn a_limit_at_rest_carries_the_load() {
    for (d, mobility) in [(0.5, 0.3), (0.9, 0.5), (0.2, 2.0)] {
        let compliance = Compliance::of_time_constant(0.03, 1.0, flat(d), mobility);
        let limit = LimitCompliance { compliance, margin: 0.01 };
        let dof = Dof { limits: [0.0, 1.0], limit_compliance: Some(limit), ..Dof::default() };
        let depth = MASS * GRAVITY * (1.0 - d) / d * mobility / (compliance.stiffness * d);
        let q = position(slider(dof), 3000, 3.0);
        assert!((q - (0.01 - depth)).abs() < 1e-6 * depth, "d {d}: {q}, {}", 0.01 - depth);
    }
}

// Checks: the damped oscillator (m + M) x'' + M b x' + M k d x = -m g with the mass M = 1/R of the
// constraint; the error falls with the step at least at the first order.
#[test]
fn an_equality_is_a_damped_oscillator_with_its_mass() {
    let (d, mobility, time) = (0.6, 0.7, 0.1);
    let compliance = Compliance::of_time_constant(0.05, 0.4, flat(d), mobility);
    let added = d / ((1.0 - d) * mobility);
    let total = MASS + added;
    let spring = added * compliance.stiffness * d / total;
    let decay = 0.5 * added * compliance.damping / total;
    let omega = (spring - decay * decay).sqrt();
    let rest = -MASS * GRAVITY / total / spring;
    let swing = (omega * time).cos() + decay / omega * (omega * time).sin();
    let exact = rest * (1.0 - (-decay * time).exp() * swing);
    let error = |steps| {
        let mut system = slider(Dof::default());
        let (driver, driven) = (LinkId(0), LinkId(0));
        let held = Box::new(Equality::Coupler { driver, driven, ratio: 0.0, offset: 0.0 });
        system.equalities.push(Equality::Compliant { compliance, turning: 0.0, lever: 0.0, held });
        (position(system, steps, time) - exact).abs()
    };
    let (coarse, fine) = (error(50), error(200));
    assert!(coarse < 0.1 * rest.abs() && fine < 0.3 * coarse, "{exact}: {coarse} {fine}");
}

/// Two masses on slides along x and y, or one on both, without weight.
fn sliders(masses: [f64; 2], one: bool) -> System {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    for (i, mass) in masses.into_iter().enumerate() {
        let inertia = RigidInertia::at_center(mass, Vector3::zeros(), nalgebra::Matrix3::identity() * mass);
        builder.accept_any_moments();
        builder
            .add(Link {
                name: format!("slide {i}"),
                parent: (one && i == 1).then_some(LinkId(0)),
                joint: JointKind::Prismatic { axis: [Vector3::x_axis(), Vector3::y_axis()][i] },
                frame: Isometry3::identity(),
                inertia,
                gravity: true,
                dofs: vec![Dof::default()],
            })
            .unwrap();
    }
    System::new(builder.build().unwrap())
}

fn integrators(step: f64) -> [Integrator; 2] {
    [Integrator::Fixed { step }, Integrator::Trapezoid { step, accuracy: None }]
}

fn end(system: System, (q, v): ([f64; 2], [f64; 2]), integrator: Integrator, time: f64) -> State {
    let mut state = system.model.zero_configuration();
    (state.q, state.v) = (q.to_vec(), v.to_vec());
    let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
    simulation.advance_to(time).unwrap();
    simulation.state().clone()
}

// Checks: a mass m that circles on a string beyond its limit, at the radius where the law J a + R f
// = -k d r has the centripetal force f = -m J a = m v^2/r: k d (r - l) = v^2/r (1 + m R), by both
// integrators (MuJoCo documentation, Computation, Solver parameters; the change of J does not count).
#[test]
fn a_mass_circles_on_a_compliant_string() {
    let (d, mobility, speed, radius) = (0.6, 0.7, 2.0, 1.0);
    let compliance = Compliance::of_time_constant(0.05, 1.0, flat(d), mobility);
    let resistance = (1.0 - d) / d * mobility;
    let stretch = speed * speed / radius * (1.0 + MASS * resistance) / (compliance.stiffness * d);
    for integrator in integrators(1e-4) {
        let mut system = sliders([0.0, MASS], true);
        let at = |link| PathElement::Point { link, point: nalgebra::Point3::origin() };
        let path = TendonPath::Spatial(vec![at(None), at(Some(LinkId(1)))]);
        system.tendons.push(Tendon {
            range: [0.0, radius - stretch],
            limit_compliance: Some(LimitCompliance { compliance, margin: 0.0 }),
            ..Tendon::new("string", path)
        });
        let state = end(system, ([radius, 0.0], [0.0, speed]), integrator, 1.0);
        let off = state.q[0].hypot(state.q[1]) - radius;
        assert!(off.abs() < 0.02 * stretch, "{integrator:?}: {off} of {stretch}");
    }
}

// Checks: masses that are coupled by y = c x^2 have the accelerations of (J M^-1 J^T + R) f = -b J v
// - k d r with J = (-2 c x, 1), by both integrators: the change of J does not count, as in MuJoCo.
#[test]
fn a_curved_coupling_has_the_accelerations_of_its_law() {
    let ([a, b], c, d, mobility) = ([2.0, 3.0], 1.5, 0.8, 0.9);
    let ([x, y], [u, v]) = ([0.4, 0.3], [1.2, -0.7]);
    let compliance = Compliance::of_time_constant(0.1, 0.7, flat(d), mobility);
    let slope = 2.0 * c * x;
    let wanted = -compliance.damping * (v - slope * u) - compliance.stiffness * d * (y - c * x * x);
    let force = wanted / (slope * slope / a + 1.0 / b + (1.0 - d) / d * mobility);
    let (exact, step) = ([-slope * force / a, force / b], 1e-6);
    for integrator in integrators(step) {
        let mut system = sliders([a, b], false);
        let (driver, driven) = (LinkId(0), LinkId(1));
        let coefficients = [0.0, 0.0, c, 0.0, 0.0];
        let held = Box::new(Equality::Polynomial { driver, driven, coefficients, origin: 0.0 });
        system.equalities.push(Equality::Compliant { compliance, turning: 0.0, lever: 0.0, held });
        let state = end(system, ([x, y], [u, v]), integrator, step);
        for (found, (start, exact)) in state.v.iter().zip([u, v].into_iter().zip(exact)) {
            let error = ((found - start) / step - exact).abs();
            assert!(error < 1e-3 * exact.abs(), "{integrator:?}: {error} of {exact}");
        }
    }
}
