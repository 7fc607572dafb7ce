//! What is inside a rope, against closed forms.

use nalgebra::Vector3;
use pliant_mpm::cloth::Pin;
use pliant_mpm::rope::{Rope, RopeMaterial, TwistPin};
use pliant_mpm::{InstructionSet, Mpm};
use pliant_testing::Random;

/// A rope whose vertices are all held is drawn out by a strain e, turned by an angle from end to end: every
/// segment has the tension E A e, every inner vertex the twisting moment C times the angle over the length
/// at rest (Saint-Venant), and the directors turn by equal parts. Vertices and twists are f64, and the pins
/// are exact: what is off is rounding in some hundred substeps.
#[test]
fn held_ropes_have_tension_and_torque() {
    let seed = 91;
    let (mut random, mut worst) = (Random::new(seed), [0.0_f64; 3]);
    for case in 0..20 {
        let h = random.log_uniform(1e-3, 0.1);
        let radius = h * random.log_uniform(0.05, 0.4);
        let mut material = RopeMaterial::new(random.log_uniform(300.0, 9e3), radius, 1.0, 0.4);
        material.youngs_modulus = random.log_uniform(1e5, 1e10);
        material.shear_modulus = material.youngs_modulus * random.uniform(0.1, 0.5);
        let (segments, part) = (random.choose(&[5_usize, 12, 30]), random.uniform(0.5, 1.0) * h);
        let length = part * segments as f64;
        let (start, direction) = (5.0 * h * random.vector(), random.vector().normalize());
        let (strain, angle) = (random.signed() * 0.05, random.signed() * 0.4 * segments as f64);
        let points = Rope::line(start, start + direction * length, segments);
        let moved = |v: usize| points[v] + direction * strain * part * v as f64;
        let duration = 1e-3 * h;
        let pin =
            |v: usize| Pin::new(v, vec![(0.0, points[v]), (duration, moved(v))], f64::INFINITY).unwrap();
        let rope = Rope {
            pins: (0..=segments).map(pin).collect(),
            twist_pins: vec![TwistPin::fixed(0), TwistPin::fixed(segments - 1)],
            twist: angle,
            ..Rope::new(points.clone(), material)
        };
        let mut mpm = Mpm::with_ropes(h, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap();
        let dt = mpm.largest_stable_substep(strain.abs() * length / duration).min(0.01 * duration);
        for k in 0..(1.1 * duration / dt).ceil() as usize {
            mpm.begin_step();
            mpm.particles_to_grid(dt, Vector3::zeros());
            mpm.apply_pins(k as f64 * dt, dt);
            mpm.grid_to_particles(dt).unwrap();
        }
        let found = mpm.rope_internals(0).unwrap();
        assert_eq!((found.tension.len(), found.twist.len()), (segments, segments - 1));
        assert_eq!(mpm.rope_internals(1), None);
        let per_strain = material.youngs_modulus * material.area();
        let tension = found.tension.iter().map(|tension| (tension / per_strain - strain).abs());
        // The frames are at the middles of the segments.
        let each = angle / (segments - 1) as f64;
        let per_twist = material.twist() / part;
        let torque = found.torque.iter().map(|torque| (torque / per_twist - each).abs());
        let turned = found.director.windows(2).map(|pair| {
            let sine = found.tangent[0].dot(&pair[0].cross(&pair[1]));
            (sine.atan2(pair[0].dot(&pair[1])) - each).abs()
        });
        let off = [tension.fold(0.0, f64::max), torque.fold(0.0, f64::max), turned.fold(0.0, f64::max)];
        println!(
            "seed {seed}, case {case}: {segments} segments, strain {strain:.3}, {angle:.2} rad: {off:?}"
        );
        worst.iter_mut().zip(off).for_each(|(worst, off)| *worst = worst.max(off));
    }
    assert!(worst.iter().all(|off| *off < 1e-12), "strain, twist, angle off by {worst:?}");
}
