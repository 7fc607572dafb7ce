//! Tools pressed at random onto cloth on a floor and dragged over it: contact gives back no more
//! than it got.

use std::ops::RangeInclusive;

use crate::common::{floor, prescribed};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{AutoOr, ContactSettings, Settings, World};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Sheet};
use pliant_mpm::material::Elastic;
use pliant_rigid::Shape;
use pliant_testing::Random;

/// A sheet of 6 to 12 edges of 0.55 to 1.25 grid spacings on a floor; a sphere, capsule, cylinder or
/// box from a third of a grid spacing to three comes down until less is left between it and the
/// floor than the sheet's particles need, and is dragged on.
fn draw(seed: u64) -> (World, f64, String) {
    let mut random = Random(seed);
    let h = random.log_uniform(1.0 / 256.0, 1.0 / 24.0);
    let (edge, parts) = (random.uniform(0.55, 1.25) * h, random.choose(&[6_usize, 8, 10, 12]));
    let size = edge * parts as f64;
    let thickness = random.uniform(0.05, 0.5) * h;
    let radius = random.choose(&[0.5 * thickness, 0.25 * h, 0.5 * h]);
    let given = AutoOr::Value(random.log_uniform(20.0, 3000.0));
    let stiffness = random.choose(&[AutoOr::Auto, AutoOr::Auto, given]);
    let (friction, dt) = (random.uniform(0.0, 1.2), random.choose(&[5e-4, 1e-3, 2e-3, 4e-3]));
    let young = random.log_uniform(3e3, 1e6);
    let elastic = Elastic { youngs_modulus: young, poissons_ratio: 0.3 };
    let density = random.uniform(100.0, 1500.0);
    let material = ClothMaterial {
        damping: random.choose(&[0.2, 0.8, 1.0]),
        shear_stiffness: 0.5 * young,
        friction: 0.4,
        ..ClothMaterial::new(density, elastic, thickness, young * random.log_uniform(1.0, 7.0))
    };
    let speed = random.log_uniform(0.05, 0.5);
    let low = random.log_uniform(0.3, 3.0) * h;
    let long = random.uniform(0.5, 4.0) * low;
    let thin = random.uniform(0.15, 1.0);
    let across = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let turned =
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), random.uniform(0.0, std::f64::consts::PI));
    let (shape, rotation) = match random.choose(&[0, 1, 2, 3]) {
        0 => (Shape::Sphere { radius: low }, turned),
        1 => (Shape::Capsule { radius: low, half_length: long }, turned * across),
        2 => (Shape::Cylinder { radius: low, half_length: long }, turned * across),
        _ => (Shape::Box { half_extents: Vector3::new(thin * low, long, low) }, turned),
    };
    let contact = ContactSettings { particle_radius: AutoOr::Value(radius), stiffness, ..Default::default() };
    let mut builder = World::builder(Settings { contact, ..Settings::new(h, dt) });
    let corner = Vector3::new(-0.5 * size, -0.5 * size, 1.05 * radius);
    let mesh =
        ClothMesh::rectangle(corner, size * Vector3::x(), size * Vector3::y(), [parts, parts]).unwrap();
    builder.cloth(Sheet::new(mesh, material));
    builder.body(floor(friction)).unwrap();
    let pressed = low + random.uniform(0.4, 0.9) * 2.0 * radius;
    let start = low + 2.5 * radius + 0.5 * h;
    let way = (0.5 * size).min(0.3 * speed);
    let (down, end) = ((start - pressed) / speed.max(0.05), way / speed);
    let pose = Isometry3::from_parts(Translation3::new(-0.25 * size, 0.0, start), rotation);
    let keys = [
        (0.0, Vector3::z() * ((pressed - start) / down), Vector3::zeros()),
        (down, Vector3::x() * speed, Vector3::zeros()),
    ];
    builder.body(prescribed("tool", shape.clone(), pose, friction, &keys)).unwrap();
    let told = format!(
        "seed {seed}: {shape:?} over {parts} edges of {edge:.4} m, h {h:.4} m, radius {radius:.2e} m, contact {stiffness:?}, friction {friction:.2}, {young:.1e} Pa, {speed:.3} m/s, dt {dt}"
    );
    (builder.build().unwrap(), down + end, told)
}

/// The normal part of contact is elastic or dissipates: over a run that begins without contact it
/// takes from the sheet and the tool at least what it gives. Contact of faces that was solved at the
/// grid's velocity of their centroids, which move with their vertices instead, gave up to 70 % of
/// all energy that went in (docs/decisions/0261). The bound is 1 %: what a spring may give more in a
/// step than it took, as its normal turns over a curved surface.
fn assert_contact_gives_nothing(seeds: RangeInclusive<u64>) {
    for seed in seeds {
        let (mut world, end, told) = draw(seed);
        let mut put_in = 0.0_f64;
        let mut taken = 0.0_f64;
        while world.time() < end {
            world.step().unwrap_or_else(|error| panic!("{told}: {error}"));
            let flows = world.diagnostics().energy.particles.unwrap().flows;
            put_in = put_in.max(flows.bodies);
            taken = flows.contact_normal.unwrap();
        }
        println!("{taken:.2e} of {put_in:.2e} J: {told}");
        assert!(put_in > 0.0, "the tool does not touch the sheet: {told}");
        assert!(taken > -0.01 * put_in, "contact gave {:.2e} of {put_in:.2e} J: {told}", -taken);
    }
}

#[test]
fn contact_of_cloth_gives_nothing() {
    assert_contact_gives_nothing(1..=8);
}

#[test]
#[ignore = "slow tier"]
fn contact_of_cloth_gives_nothing_in_more_rubs() {
    assert_contact_gives_nothing(9..=30);
}
