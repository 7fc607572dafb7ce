//! What friction holds hardly creeps.

use crate::common::{G, block, fixed, fixed_corotated, run_for};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Settings, World};
use pliant_rigid::Shape;
use pliant_testing::Random;

/// A block on a slope within the cone of friction: regularised friction holds it at the speed v_s x
/// / sqrt(1 - x^2), x = tan(slope)/mu, of the law (Castro et al. 2023). At the default stiction
/// tolerance v_s of 0.05 mm/s that is below 0.1 mm/s up to x = 0.89. Asked is 0.1 mm/s. Gravity is
/// turned, not the floor.
#[test]
fn a_block_on_a_slope_creeps_below_a_tenth_of_a_millimetre_a_second() {
    let seed = 10;
    let mut random = Random(seed);
    for case in 0..4 {
        let (friction, part) = (random.uniform(0.3, 1.0), random.uniform(0.3, 0.8));
        let slope = f64::atan(part * friction);
        let mut settings = Settings::new(0.02, random.choose(&[1e-3, 2e-3, 5e-3]));
        settings.gravity = G * Vector3::new(slope.sin(), 0.0, -slope.cos());
        let mut builder = World::builder(settings);
        let rubber = builder.material(fixed_corotated(random.log_uniform(1e5, 1e6), 0.3, 1000.0));
        builder.particles(block(rubber, [0.003, 0.001, 0.0], [8, 8, 6], 0.01, Vector3::zeros()));
        builder.body(fixed("slope", Shape::HalfSpace, Isometry3::identity(), friction)).unwrap();
        let mut world = builder.build().unwrap();
        // Its own vibration, from weight that is there at once, dies down first.
        run_for(&mut world, 0.5, |_, _| {});
        let before = world.diagnostics().center_of_mass.x;
        run_for(&mut world, 0.5, |_, _| {});
        let creep = (world.diagnostics().center_of_mass.x - before) / 0.5;
        println!(
            "seed {seed} case {case}: friction {friction:.2}, {part:.2} of the cone: {:.4} mm/s",
            1e3 * creep
        );
        assert!(creep.abs() < 1e-4, "case {case}: {creep} m/s");
    }
}
