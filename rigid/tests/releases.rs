//! Constraints with a release.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_rigid::multibody::ModelBuilder;
use pliant_rigid::simulation::*;
use pliant_testing::floor::free_link;

const G: f64 = 9.81;
/// No whole number of the steps below.
const RELEASE: f64 = 0.333_77;

/// A body at the origin that `held` (of the link and the world) holds until it is released.
fn body(
    integrator: Integrator,
    held: impl Fn(pliant_rigid::multibody::LinkId) -> Equality,
) -> Simulation<NoContacts> {
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -G));
    let link = builder.add(free_link("ball", 2.0, Vector3::new(0.1, 0.2, 0.3))).unwrap();
    let model = builder.build().unwrap();
    let state = model.zero_configuration();
    let mut system = System::new(model);
    system.equalities.push(Equality::Timed { release: RELEASE, held: Box::new(held(link)) });
    Simulation::new(system, NoContacts, integrator, state).unwrap()
}

// Checks: until the release the body is held, from then on it falls freely, z = -g (t - t_r)^2/2,
// whatever the integrator. Steps end at the release: first-order steps of h are off by g h
// (t - t_r)/2, not by more; with error control h is the half step at which halves and whole, g h^2
// apart, are as far apart as the accuracy allows. The constraint's compliance, which goes with the
// step, lets the body hang by less than 1e-6 m; in the last step before the release, of 3.77 ms, it
// may lose all of that, and falls on with that velocity.
#[test]
fn what_is_let_go_falls_from_then_on() {
    let after = 0.25;
    for (integrator, tolerance) in [
        (Integrator::Fixed { step: 1e-3 }, 0.5 * G * 1e-3 * after),
        (Integrator::ErrorControlled { accuracy: 1e-5, max_step: 0.1 }, 0.5 * G * (1e-5 / G).sqrt() * after),
        (Integrator::Trapezoid { step: 1e-2, accuracy: None }, 1e-6 / 3.77e-3 * after),
        (Integrator::Trapezoid { step: 1e-2, accuracy: Some(1e-6) }, 1e-6 / 3.77e-3 * after),
    ] {
        let weld = |link| Equality::Weld { links: [None, Some(link)], frames: [Isometry3::identity(); 2] };
        let ball = |link| Equality::Ball { links: [None, Some(link)], points: [Point3::origin(); 2] };
        for held in [&weld as &dyn Fn(_) -> _, &ball] {
            let mut simulation = body(integrator, held);
            simulation.advance_to(RELEASE).unwrap();
            assert!(simulation.state().q[6].abs() < 1e-6, "{integrator:?}: {}", simulation.state().q[6]);
            simulation.advance_to(RELEASE + after).unwrap();
            let fallen = -simulation.state().q[6];
            let error = (fallen - 0.5 * G * after * after).abs();
            assert!(error < 1.01 * tolerance + 2e-6, "{integrator:?}: {error} m");
        }
    }
}

// Checks: a run that goes back to a state before the release is held again, and gives the same
// bits.
#[test]
fn what_was_let_go_is_held_again_before() {
    let weld = |link| Equality::Weld { links: [None, Some(link)], frames: [Isometry3::identity(); 2] };
    let mut simulation = body(Integrator::Trapezoid { step: 1e-2, accuracy: None }, weld);
    simulation.advance_to(0.2).unwrap();
    let before = simulation.save();
    simulation.advance_to(0.5).unwrap();
    let first = simulation.state().clone();
    simulation.restore(&before).unwrap();
    simulation.advance_to(0.5).unwrap();
    assert_eq!(*simulation.state(), first);
}
