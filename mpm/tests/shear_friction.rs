//! Friction between yarns: sheets in a frame that shears them have the loops of the law.

use nalgebra::{Matrix2, Vector2, Vector3};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin, ShearFriction, Sheet, Weave};
use pliant_mpm::material::Elastic;
use pliant_mpm::{InstructionSet, Mpm};
use pliant_testing::Random;

/// Random woven sheets whose border is pinned and sheared between warp and weft to and fro, as in a
/// picture frame: F = U = 1 + gamma/2 (a b^T + b a^T). The strain is uniform, so that it is in
/// equilibrium for every mesh. A cycle between shears of 0 and gamma takes 4 tau_0 (gamma / 2 - gamma_0)
/// per volume (Prandtl's element): to 1e-3, as the cycle is slow. The pins do this work, to 3e-4 of the energy
/// 1/2 G gamma^2: impulses times the mean of the velocities before and after. With those after it is off by 1 %
/// of that energy, of first order in the substep.
#[test]
fn a_cycle_takes_the_energy_of_its_loop() {
    let cases = std::env::var("SHEAR_CASES").map_or(8, |n| n.parse().unwrap());
    for case in 0..cases {
        let mut random = Random::new(4600 + case);
        let edge = random.log_uniform(1e-3, 0.1);
        let h = edge * random.uniform(0.75, 1.4);
        let parts = [6 + random.word() as usize % 6, 5 + random.word() as usize % 6];
        let size = parts.map(|n| n as f64 * edge);
        let angle = random.uniform(0.0, core::f64::consts::TAU);
        let (a, b) = (Vector2::new(angle.cos(), angle.sin()), Vector2::new(-angle.sin(), angle.cos()));
        let elastic = Elastic { youngs_modulus: random.log_uniform(1e4, 1e7), poissons_ratio: 0.1 };
        let modulus = elastic.youngs_modulus * random.log_uniform(0.05, 0.4);
        let most = random.uniform(0.05, 0.3);
        let friction = ShearFriction {
            stress: modulus * most * random.log_uniform(0.1, 2.0),
            strain: most * random.log_uniform(0.02, 0.4),
        };
        let weave = Weave {
            shear_friction: Some(friction),
            ..Weave::new(Vector3::new(a.x, a.y, 0.0), elastic.youngs_modulus, modulus)
        };
        let thickness = h * random.log_uniform(0.01, 0.5);
        let density = random.log_uniform(100.0, 2000.0);
        let material =
            ClothMaterial { weave: Some(weave), ..ClothMaterial::new(density, elastic, thickness, 1e4) };
        let cycle = 40.0 * size[0].max(size[1]) * (density / modulus).sqrt();

        let turned = a * b.transpose() + b * a.transpose();
        let sheared = |x: &Vector3<f64>, shear: f64| {
            let at = (Matrix2::identity() + turned * (0.5 * shear)) * x.xy();
            Vector3::new(at.x, at.y, x.z)
        };
        let [x, y] = [Vector3::x() * size[0], Vector3::y() * size[1]];
        let mesh = ClothMesh::rectangle(-0.5 * (x + y), x, y, parts).unwrap();
        let shear_at = |time: f64| 0.5 * most * (1.0 - (core::f64::consts::TAU * time / cycle).cos());
        let mut pins = Vec::new();
        for (vertex, at) in mesh.vertices().iter().enumerate() {
            let (i, j) = (vertex / (parts[1] + 1), vertex % (parts[1] + 1));
            if i % parts[0] == 0 || j % parts[1] == 0 {
                let times = (0..=800).map(|k| f64::from(k) / 400.0 * cycle);
                let path = times.map(|time| (time, sheared(at, shear_at(time)))).collect();
                pins.push(Pin::new(vertex, path, f64::INFINITY).unwrap());
            }
        }
        let sheets = [Sheet { pins, ..Sheet::new(mesh, material) }];
        let mut mpm = Mpm::with_sheets(h, vec![], &[], &sheets, &[], InstructionSet::detect()).unwrap();
        let longest = mpm.largest_stable_substep(most * size[0].max(size[1]) / cycle * 4.0);
        let count = (cycle / longest).ceil() as usize;
        let dt = cycle / count as f64;
        let (mut work, mut lost) = (0.0, 0.0);
        for k in 0..2 * count {
            mpm.begin_step();
            mpm.particles_to_grid(dt, Vector3::zeros());
            mpm.apply_pins(k as f64 * dt, dt);
            mpm.grid_to_particles(dt).unwrap();
            // The first cycle starts without slip.
            if k >= count {
                work += mpm.pin_impulse().work;
                lost += mpm.dissipated().plastic.unwrap();
            }
        }
        let volume = size[0] * size[1] * thickness;
        let expected = 4.0 * friction.stress * (0.5 * most - friction.strain) * volume;
        let more = (work - lost) / (0.5 * modulus * most * most * volume);
        println!(
            "case {case}: lost {:.4} of the law, {more:.1e} of the stored energy more work, {count} substeps",
            lost / expected
        );
        assert!((lost / expected - 1.0).abs() < 1e-3, "case {case}: lost {lost} J, not {expected}");
        assert!(more.abs() < 3e-4, "case {case}: work of {work} J for {lost} J");
    }
}
