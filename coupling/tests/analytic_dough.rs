//! What the solver's tolerance does to a result (Yu et al. 2025, Fig. 4), in miniature: dough under
//! a rolling pin.

use crate::common::{block, floor, prescribed, run_for, snapshot};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{AutoOr, Material, ParticleSnapshot, Settings, World};
use pliant_mpm::material::{Elastic, Model};
use pliant_rigid::Shape;

const H: f64 = 0.02;

/// A slab of dough (E 2e4, nu 0.45, yield 1 kPa) of 16 x 8 x 5 cm, pressed by 2.5 cm by a pin of 3
/// cm radius, which then rolls 8 cm along it and lifts; mu 1, d 1.
fn rolled(relative_tolerance: f64, stiffness: AutoOr<f64>) -> (ParticleSnapshot, u32) {
    let mut settings = Settings::new(H, 5e-3);
    settings.solver.relative_tolerance = relative_tolerance;
    settings.contact.stiffness = stiffness;
    let mut builder = World::builder(settings);
    let elastic = Elastic { youngs_modulus: 2e4, poissons_ratio: 0.45 };
    let dough =
        builder.material(Material { density: 1000.0, model: Model::VonMises { elastic, yield_stress: 1e3 } });
    builder.particles(block(dough, [-0.06, -0.04, 0.0], [16, 8, 5], 0.01, Vector3::zeros()));
    builder.body(floor(1.0)).unwrap();
    let along_y = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let pose = Isometry3::from_parts(Translation3::new(-0.03, 0.0, 0.082), along_y);
    let (radius, roll) = (0.03, 0.2);
    let keys = [
        (0.0, Vector3::z() * -0.25, Vector3::zeros()),
        (0.1, Vector3::zeros(), Vector3::zeros()),
        (0.15, Vector3::x() * roll, Vector3::y() * (roll / radius)),
        (0.55, Vector3::z() * 0.25, Vector3::zeros()),
    ];
    let pin = Shape::Cylinder { radius, half_length: 0.1 };
    builder.body(prescribed("pin", pin, pose, 1.0, &keys)).unwrap();
    let mut world = builder.build().unwrap();
    let mut iterations = 0;
    run_for(&mut world, 0.7, |_, report| iterations += report.iterations);
    (snapshot(&mut world), iterations)
}

/// The same picture (Yu et al. 2025, Fig. 4): positions within h/10 of those of eps_r 1e-5 at the
/// end, with a stiffness as resolved as can be and a soft one, although the dough was really
/// worked.
///
/// Measured for the worst particle: 0.010 h to 0.034 h at eps_r 1e-1, 0.005 h to 0.026 h at the
/// paper's 5e-2, for k from 1e3 to 1e6 N/m and the automatic stiffness. (Solves that adopt the last
/// one's velocities without a step leave 0.15 h at 1e-1.)
#[test]
#[ignore = "slow tier"]
fn a_loose_tolerance_gives_the_same_dough() {
    for stiffness in [AutoOr::Auto, AutoOr::Value(1e3), AutoOr::Value(1e6)] {
        let (tight, many) = rolled(1e-5, stiffness);
        let strain = tight.state.iter().copied().fold(0.0, f32::max);
        assert!(strain > 0.5, "the dough did not yield: {strain}");
        for tolerance in [1e-1, 5e-2] {
            let (loose, few) = rolled(tolerance, stiffness);
            let distance =
                |(a, b): (&[f64; 3], &[f64; 3])| (Vector3::from(*a) - Vector3::from(*b)).norm() / H;
            let mut off: Vec<f64> = loose.positions.iter().zip(&tight.positions).map(distance).collect();
            off.sort_by(f64::total_cmp);
            let mean = off.iter().sum::<f64>() / off.len() as f64;
            let worst = off[off.len() - 1];
            println!(
                "{stiffness:?}, eps_r {tolerance}: mean {mean:.4} h, worst {worst:.4} h; \
                 {few} iterations, {many} at 1e-5; strain {strain:.2}"
            );
            assert!(worst < 0.1, "eps_r {tolerance}, {stiffness:?}: mean {mean} h, worst {worst} h");
        }
    }
}
