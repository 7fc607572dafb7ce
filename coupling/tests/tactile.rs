//! Tactile pads: what they add up to, and where the load of a block at rest lies.

use crate::common::{G, block, fixed, fixed_corotated, force_on, run_for, snapshot};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{BuildError, Settings, TactilePad, World};
use pliant_rigid::{BodyId, Shape};

/// A plate of 2 cm with its upper face at z = 0, tilted by `tilt` [rad] about x, that particles on
/// it touch.
fn plate(builder: &mut pliant_coupling::WorldBuilder, tilt: f64) -> (BodyId, Isometry3<f64>) {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), tilt);
    let pose =
        Isometry3::from_parts(Translation3::identity(), turn) * Isometry3::translation(0.0, 0.0, -0.01);
    let shape = Shape::Box { half_extents: Vector3::new(0.1, 0.1, 0.01) };
    (builder.body(fixed("plate", shape, pose, 0.6)).unwrap(), pose)
}

/// A pad on the plate's upper face: its x along the plate's y, so that a mix-up of frames shows.
fn pad(body: BodyId, half_extents: [f64; 2], bins: [usize; 2]) -> TactilePad {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_2);
    let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, 0.01), turn);
    TactilePad { name: "skin".into(), body, pose, half_extents, bins, reach: 1e-3 }
}

/// A soft block of 8 x 6 x 5 cm on the plate, its corner at (`x`, -0.03).
fn world(
    x: f64,
    tilt: f64,
    tolerance: f64,
    pads: &[([f64; 2], [usize; 2])],
) -> (World, BodyId, Isometry3<f64>) {
    let mut settings = Settings::new(0.02, 1e-3);
    settings.solver.relative_tolerance = tolerance;
    let mut builder = World::builder(settings);
    let material = builder.material(fixed_corotated(5e4, 0.3, 1000.0));
    let mut set = block(material, [x, -0.03, 0.0], [8, 6, 5], 0.01, Vector3::zeros());
    let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), tilt);
    set.positions.iter_mut().for_each(|p| *p = turn * *p);
    builder.particles(set);
    let (body, pose) = plate(&mut builder, tilt);
    for (half_extents, bins) in pads {
        builder.tactile(pad(body, *half_extents, *bins));
    }
    (builder.build().unwrap(), body, pose)
}

/// Conservation: bins sum to the pad's force, and a pad over the whole touched face measures the
/// force on the body, step by step, on a tilted plate on which the block slides. Tolerances:
/// rounding of the sums, 1e-13; for the body f32, to which node velocities are rounded (2^-24 of
/// momenta that are some steps' impulses here), 1e-6 at a solver's tolerance of 1e-12. Measured:
/// 9e-16, 3e-8.
#[test]
fn a_pad_feels_what_its_body_feels() {
    let (mut world, body, pose) = world(-0.037, 0.4, 1e-12, &[([0.1, 0.1], [7, 5]), ([0.1, 0.1], [1, 1])]);
    let to_pad = (pose * world.tactile_pads()[0].pose).rotation.inverse();
    let (mut sums, mut bodies, mut touched) = (0.0_f64, 0.0_f64, 0);
    run_for(&mut world, 0.1, |world, _| {
        let on_body = to_pad * force_on(world, body);
        let (fine, coarse) = (world.tactile(0), world.tactile(1));
        let scale = on_body.norm().max(1.0);
        let sum: Vector3<f64> = fine.forces.iter().sum();
        sums =
            sums.max((sum - fine.force).norm() / scale).max((coarse.bin(0, 0) - fine.force).norm() / scale);
        bodies = bodies.max((fine.force - on_body).norm() / scale);
        let area = world.tactile_pads()[0].bin_area();
        let pressed: f64 = (0..35).map(|n| fine.pressure(n % 7, n / 7) * area).sum();
        sums = sums.max((pressed + fine.force.z).abs() / scale);
        touched = touched.max(fine.forces.iter().filter(|f| f.z < 0.0).count());
    });
    println!("sums off by {sums:.1e}, the body's force by {bodies:.1e}; {touched} bins");
    assert!(sums < 1e-13 && bodies < 1e-6, "{sums} {bodies}");
    // The block of 8 cm by 6 cm reaches three bins of 4 cm and three of 2.9 cm.
    assert!(touched >= 9, "only {touched} bins are touched");
}

/// Statics: a block at rest presses with m g, its centre of pressure is below its centre of mass,
/// and the pressure is m g/A within the block's outline and zero beyond it. Tolerances: 1 % and 2 %
/// of the half extent; 25 % for the pressure in the middle of the face, where the ends of a block
/// of nu 0.3 that friction keeps from spreading carry less. Mean over 0.1 s. Measured: 2e-6, 1e-6,
/// 4 %.
#[test]
fn a_block_at_rest_presses_below_its_centre() {
    let (mut world, ..) = world(-0.025, 0.0, 1e-4, &[([0.1, 0.1], [20, 20])]);
    let (mut force, mut moment, mut middle, mut beside, mut steps) = (0.0, [0.0; 2], 0.0, 0.0_f64, 0.0);
    run_for(&mut world, 0.8, |world, _| {
        if world.time() > 0.7 {
            let reading = world.tactile(0);
            force -= reading.force.z;
            [0, 1].iter().for_each(|&d| moment[d] += reading.moment[d]);
            // The pad's x is the plate's y, its y the plate's -x: the block's middle at (0.015, 0)
            // is at (0, -0.015) there.
            middle += reading.pressure(10, 8);
            beside = beside.max(reading.pressure(10, 17)).max(reading.pressure(2, 10));
            steps += 1.0;
        }
    });
    let weight = 240.0 * 1e-3 * G;
    let center = moment.map(|m| m / force);
    let positions = snapshot(&mut world).positions;
    let mean = |d: usize| positions.iter().map(|x| x[d]).sum::<f64>() / positions.len() as f64;
    let off = (center[0] - mean(1)).hypot(center[1] + mean(0));
    let (force, pressure) = (force / steps, middle / steps);
    println!("carried {:.5}, centre off by {off:.2e} m, pressure {pressure:.1} Pa", force / weight);
    assert!((force / weight - 1.0).abs() < 0.01, "{force} N, weight {weight} N");
    assert!(off < 0.02 * 0.04, "centre of pressure off by {off} m");
    assert!((pressure * 0.08 * 0.06 / weight - 1.0).abs() < 0.25, "{pressure} Pa");
    assert!(beside == 0.0, "{beside} Pa beside the block");
}

/// A pad measures its own rectangle and side only: half of the face half of the load of a symmetric
/// block, the far side of the plate nothing. Tolerance 1 %: particles in symmetry about the cut.
#[test]
fn a_pad_ends_where_it_ends() {
    let mut settings = Settings::new(0.02, 1e-3);
    settings.solver.relative_tolerance = 1e-6;
    let mut builder = World::builder(settings);
    let material = builder.material(fixed_corotated(5e4, 0.3, 1000.0));
    builder.particles(block(material, [-0.04, -0.03, 0.0], [8, 6, 5], 0.01, Vector3::zeros()));
    let (body, _) = plate(&mut builder, 0.0);
    let half = pad(body, [0.1, 0.05], [2, 2]);
    let whole = builder.tactile(pad(body, [0.1, 0.1], [1, 1]));
    // The plate's x from 0 to 0.1.
    let right = Isometry3::translation(0.05, 0.0, 0.0) * half.pose;
    let right = builder.tactile(TactilePad { pose: right, ..half.clone() });
    let below = Isometry3::from_parts(
        Translation3::new(0.0, 0.0, -0.01),
        UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI),
    );
    let below = builder.tactile(TactilePad { pose: below, reach: 0.1, ..half });
    let mut world = builder.build().unwrap();
    let mut sums = [0.0; 3];
    run_for(&mut world, 0.3, |world, _| {
        for (sum, pad) in sums.iter_mut().zip([whole, right, below]) {
            *sum += world.tactile(pad).force.z;
        }
    });
    assert!((sums[1] / sums[0] - 0.5).abs() < 0.005, "{sums:?}");
    assert_eq!(sums[2], 0.0);
}

#[test]
fn a_pad_that_cannot_be_is_refused_with_its_field() {
    type Change = fn(&mut TactilePad);
    let changes: [(&str, Change); 5] = [
        ("body", |p| p.body = BodyId(7)),
        ("half_extents", |p| p.half_extents[1] = 0.0),
        ("bins", |p| p.bins[0] = 0),
        ("reach", |p| p.reach = f64::NAN),
        ("pose", |p| p.pose.translation.x = f64::INFINITY),
    ];
    for (field, change) in changes {
        let mut builder = World::builder(Settings::new(0.02, 1e-3));
        let (body, _) = plate(&mut builder, 0.0);
        let mut wrong = pad(body, [0.1, 0.1], [2, 2]);
        change(&mut wrong);
        builder.tactile(wrong);
        match builder.build() {
            Err(BuildError::Sensor { name, field: found, .. }) => {
                assert_eq!((&*name, found), ("skin", field))
            }
            other => panic!("{field}: {other:?}"),
        }
    }
}
