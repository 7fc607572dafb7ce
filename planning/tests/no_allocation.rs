//! Quasi-dynamic steps allocate nothing.

#![allow(clippy::unwrap_used)] // everything here runs in tests

mod quasi_support;

use nalgebra::{Isometry3, Vector3};
use pliant_geometry::Shape;
use pliant_planning::quasi::{Derivatives, QuasiSettings};
use pliant_testing::allocations::{Counting, on_this_thread};
use quasi_support::{Bench, place};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const G: f64 = 9.81;

// Quasi-dynamic steps and their derivatives, from the first one on.
#[test]
fn quasi_dynamic_steps_allocate_nothing() {
    let mut bench = Bench::with_floor(Vector3::new(0.0, 0.0, -G), 0.5);
    let cube = Shape::Box { half_extents: Vector3::repeat(0.05) };
    for name in ["first", "second"] {
        bench.object(name, cube.clone(), 1.0, Vector3::zeros());
    }
    bench.pusher(Shape::Capsule { radius: 0.02, half_length: 0.05 });
    let (model, mut dynamics) = bench.dynamics(&QuasiSettings::new(0.02, vec![1e4; 3], 40.0));
    let mut q = model.zero_configuration().q;
    for (name, x) in [("first", 0.0), ("second", 0.11)] {
        place(&model, &mut q, name, &Isometry3::translation(x, 0.0, 0.05));
    }
    q[14] = -0.075;
    q[16] = 0.06;
    let (mut next, mut out) = (q.clone(), Derivatives::new(&dynamics));
    let (before, mut pushed) = (on_this_thread(), 0);
    for _ in 0..100 {
        dynamics.step(&q, &[1e-3, 0.0, 0.0], &mut next).unwrap();
        dynamics.derivatives(&q, &[1e-3, 0.0, 0.0], &mut next, &mut out).unwrap();
        pushed = pushed.max(dynamics.contacts().len());
        core::mem::swap(&mut q, &mut next);
    }
    assert_eq!(on_this_thread() - before, 0);
    assert!(pushed > 12 && q[11] > 0.15, "{pushed} contacts, {q:?}");
}
