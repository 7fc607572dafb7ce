//! Couplings by polynomials.

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_rigid::multibody::{Dof, JointKind, Link, LinkId, ModelBuilder, RigidInertia};
use pliant_rigid::simulation::{Equality, Integrator, NoContacts, Simulation, System};

/// Masses of driver and driven \[kg\], speed of the driver at the start \[m/s\], time \[s\].
const MASSES: [f64; 2] = [1.3, 0.8];
const SPEED: f64 = 0.9;
const TIME: f64 = 0.5;
/// y = c(x), and where x is at the start \[m\].
const COEFFICIENTS: [f64; 5] = [0.1, -0.3, 1.2, 0.8, -1.5];
const ORIGIN: f64 = 0.2;

fn curve(x: f64) -> [f64; 2] {
    let [a, b, c, d, e] = COEFFICIENTS;
    let s = x - ORIGIN;
    [
        a + b * s + c * s.powi(2) + d * s.powi(3) + e * s.powi(4),
        b + 2.0 * c * s + 3.0 * d * s * s + 4.0 * e * s.powi(3),
    ]
}

/// Errors of the driver's speed and of the coupling after `TIME`.
fn errors(integrator: Integrator) -> [f64; 2] {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    for (name, mass) in ["x", "y"].into_iter().zip(MASSES) {
        builder
            .add(Link {
                name: name.to_owned(),
                parent: None,
                joint: JointKind::Prismatic { axis: Vector3::x_axis() },
                frame: Isometry3::identity(),
                inertia: RigidInertia::at_center(mass, Vector3::zeros(), Matrix3::identity()),
                gravity: false,
                dofs: vec![Dof::default()],
            })
            .unwrap();
    }
    let mut system = System::new(builder.build().unwrap());
    let (driver, driven) = (LinkId(0), LinkId(1));
    system.equalities.push(Equality::Polynomial {
        driver,
        driven,
        coefficients: COEFFICIENTS,
        origin: ORIGIN,
    });
    let mut state = system.model.zero_configuration();
    let [y, slope] = curve(0.0);
    state.q = vec![0.0, y];
    state.v = vec![SPEED, slope * SPEED];
    let mut simulation = Simulation::new(system, NoContacts, integrator, state).unwrap();
    simulation.advance_to(TIME).unwrap();
    let state = simulation.state();
    let inertia = |x: f64| MASSES[0] + MASSES[1] * curve(x)[1].powi(2);
    let exact = SPEED * (inertia(0.0) / inertia(state.q[0])).sqrt();
    [(state.v[0] - exact).abs(), (state.q[1] - curve(state.q[0])[0]).abs()]
}

// Checks: without forces the kinetic energy (m + M c'(x)^2) x'^2 / 2 of two masses on slides with
// y = c(x) stays (analytical mechanics, constraints that do no work). Its error falls as that of the
// step's rule, and so does the error of the coupling.
#[test]
fn a_curved_coupling_does_no_work() {
    let fixed = |step| errors(Integrator::Fixed { step });
    let trapezoid = |step| errors(Integrator::Trapezoid { step, accuracy: None });
    let (coarse, fine) = (fixed(2e-3), fixed(1e-3));
    println!("first order: {coarse:?} {fine:?}");
    for (coarse, fine) in coarse.into_iter().zip(fine) {
        assert!(coarse < 0.01 * SPEED && fine < 0.6 * coarse, "first order: {coarse} {fine}");
    }
    let (coarse, fine) = (trapezoid(4e-3), trapezoid(2e-3));
    println!("second order: {coarse:?} {fine:?}");
    for (coarse, fine) in coarse.into_iter().zip(fine) {
        assert!(coarse < 1e-3 * SPEED && fine < 0.35 * coarse, "second order: {coarse} {fine}");
    }
}
