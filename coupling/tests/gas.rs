//! Inflated cloths among bodies: balances, work of squeezing, frames of reference, copies of a world.

use crate::common::idle::Idle;
use crate::common::{fixed, floor, free, prescribed, run_for, snapshot};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Settings, World};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Gas, Sheet, Weave, gas};
use pliant_mpm::material::Elastic;
use pliant_rigid::{BodyId, Shape, SpatialVelocity};
use pliant_testing::Random;

/// Air at sea level \[Pa\].
const AIR: f64 = 101_325.0;

/// Grid spacing \[m\].
const H: f64 = 0.03;

/// A ball or a pillow of about 0.2 m with gas of either law, in which tension and strain are those of
/// a beach ball to a football; its lowest point is at the origin.
fn inflated(random: &mut Random) -> Sheet {
    let elastic = Elastic { youngs_modulus: random.log_uniform(2e5, 2e7), poissons_ratio: 0.3 };
    let thickness = 1e-3;
    let mut material = ClothMaterial::new(random.log_uniform(300.0, 2e3), elastic, thickness, 1e5);
    material.damping = random.uniform(0.2, 1.0);
    material.bending_stiffness = 1e-5;
    let mesh = if random.unit() < 0.6 {
        ClothMesh::sphere(Vector3::new(0.0, 0.0, 0.1), 0.1, 4)
    } else {
        let [u, v] = [0.24 * Vector3::x(), 0.18 * Vector3::y()];
        ClothMesh::pillow(Vector3::new(-0.12, -0.09, 0.03), u, v, [8, 6], 0.06)
    };
    // Strains of up to 3 %.
    let gauge_pressure = random.uniform(0.1, 1.0) * 0.06 * elastic.youngs_modulus * thickness / 0.1;
    let gas = random.choose(&[
        Gas::ConstantPressure { gauge_pressure },
        Gas::Isothermal { gauge_pressure, ambient_pressure: AIR, volume: None },
    ]);
    Sheet { gas: Some(gas), ..Sheet::new(mesh.unwrap(), material) }
}

/// A world of settings with a sheet raised by `height` \[m\].
fn raised(mut sheet: Sheet, height: f64) -> Sheet {
    let vertices = sheet.mesh.vertices().iter().map(|x| x + Vector3::z() * height).collect();
    sheet.mesh = ClothMesh::new(vertices, sheet.mesh.faces().to_vec()).unwrap();
    sheet
}

/// Volume within the first sheet now \[m^3\].
fn volume(world: &mut World) -> f64 {
    let positions = snapshot(world).positions;
    let patch = &world.cloths()[0];
    let vertices: Vec<_> = patch.vertices.clone().map(|id| Vector3::from(positions[id])).collect();
    let first = patch.vertices.start;
    let faces: Vec<_> = patch.faces.iter().map(|f| f.map(|v| v as usize - first)).collect();
    gas::enclosed_volume(&faces, &vertices)
}

/// Inflated things that fall on a floor at random: momentum is what gravity and the floor gave, to f32,
/// and the scheme creates less energy than runs warn of, 5 % of what was put in, counting what the gas
/// released.
#[test]
fn bouncing_balls_keep_their_balances() {
    let mut random = Random(2711);
    let mut worst = [0.0_f64; 3];
    for k in 0..8 {
        let sheet = inflated(&mut random);
        let mut settings = Settings::new(H, random.choose(&[2e-3, 5e-3]));
        settings.contact.particle_radius = pliant_coupling::AutoOr::Value(0.005);
        let mut builder = World::builder(settings);
        let velocity =
            Vector3::new(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), random.uniform(-3.0, 0.0));
        builder.cloth(Sheet { velocity, ..raised(sheet.clone(), random.uniform(0.02, 0.3)) });
        builder.body(floor(random.uniform(0.0, 1.0))).unwrap();
        let mut world = builder.build().unwrap();
        let mut touched = false;
        run_for(&mut world, 0.3, |world, report| {
            world.diagnostics();
            touched |= report.contacts_max > 0;
        });
        let balance = world.balance();
        let found = [balance.linear_momentum, balance.angular_momentum, balance.energy.unwrap()];
        println!("case {k}: {found:?}, {:?}", sheet.gas);
        assert!(touched);
        worst = [0, 1, 2].map(|n| worst[n].max(found[n]));
    }
    assert!(worst[0] < 1e-5 && worst[1] < 1e-5 && worst[2] < 0.05, "{worst:?}");
}

/// A plate that squeezes a taut ball slowly between itself and the floor works against sheet and gas: its
/// work is what they store more, to 5 % (what contact and the grid lose; measured 3.8 %). Of this the gas
/// has, by Boyle's law at the volume that is left, -(p_a + p_0) V_0 ln(V / V_0) + p_a (V - V_0), which
/// is a large part, but not all.
#[test]
fn squeezing_works_against_the_gas() {
    let elastic = Elastic { youngs_modulus: 1e8, poissons_ratio: 0.3 };
    let mut material = ClothMaterial::new(1e3, elastic, 1e-3, 1e6);
    material.damping = 1.0;
    let gauge_pressure = 5e4;
    let law = Gas::Isothermal { gauge_pressure, ambient_pressure: AIR, volume: None };
    let mesh = ClothMesh::sphere(Vector3::new(0.0, 0.0, 0.1), 0.1, 5).unwrap();
    let at_rest = gas::enclosed_volume(mesh.faces(), mesh.vertices());
    let free_energy = |v: f64| -(AIR + gauge_pressure) * at_rest * (v / at_rest).ln() + AIR * (v - at_rest);
    let mut settings = Settings::new(0.025, 2e-3);
    settings.gravity = Vector3::zeros();
    settings.contact.particle_radius = pliant_coupling::AutoOr::Value(0.002);
    let mut builder = World::builder(settings);
    builder.cloth(Sheet { gas: Some(law), ..Sheet::new(mesh, material) });
    let half = Shape::Box { half_extents: Vector3::new(0.3, 0.3, 0.05) };
    builder.body(fixed("below", half.clone(), Isometry3::translation(0.0, 0.0, -0.055), 0.0)).unwrap();
    let speed = Vector3::new(0.0, 0.0, -0.3);
    let start = Isometry3::translation(0.0, 0.0, 0.255);
    builder.body(prescribed("plate", half, start, 0.0, &[(0.0, speed, Vector3::zeros())])).unwrap();
    let mut world = builder.build().unwrap();
    let stored = |world: &mut World| {
        let d = world.diagnostics();
        (d.elastic_energy, d.kinetic_energy)
    };
    let (mut work, mut begin) = (0.0, None);
    run_for(&mut world, 0.18, |world, _| {
        // Impulses are those on the plate.
        work -= world.body_impulses()[1].linear.dot(&speed);
        // First the ball comes to rest from its first breath.
        if world.time() > 0.06 && begin.is_none() {
            begin = Some((stored(world), volume(world)));
            work = 0.0;
        }
    });
    let ((elastic, kinetic), before) = begin.unwrap();
    let (end, motion) = stored(&mut world);
    let after = volume(&mut world);
    let of_gas = free_energy(after) - free_energy(before);
    println!(
        "work {work:.3} J, stored {:.3} J, of the gas {of_gas:.3} J, V {:.3}",
        end - elastic,
        after / before
    );
    println!("motion {kinetic:.1e} to {motion:.1e} J");
    assert!(((end - elastic) / work - 1.0).abs() < 0.05, "{work} J, stored {} J", end - elastic);
    assert!(of_gas > 0.3 * work && of_gas < work, "{of_gas} J of {work} J");
    assert!(after < 0.97 * before);
}

/// A ball that hits a box off its middle does so in every inertial frame: as `boosts` has it for solids,
/// within 1 % of the box's velocity.
#[test]
fn a_ball_hits_a_box_in_every_inertial_frame() {
    let mut random = Random(2712);
    for _ in 0..3 {
        let sheet = raised(inflated(&mut random), -0.1);
        let speed = random.uniform(1.0, 4.0);
        let size = random.uniform(5.0, 50.0);
        let boost = random.turn() * Vector3::new(size, 0.0, 0.0);
        let after = |boost: Vector3<f64>| {
            let mut settings = Settings::new(H, 2e-3);
            settings.gravity = Vector3::zeros();
            let mut builder = World::builder(settings);
            builder.cloth(Sheet { velocity: boost + Vector3::x() * speed, ..sheet.clone() });
            let half = Shape::Box { half_extents: Vector3::new(0.03, 0.05, 0.08) };
            let pose = Isometry3::translation(0.19, 0.03, 0.02);
            let velocity = SpatialVelocity { angular: Vector3::zeros(), linear: boost };
            builder.body(free("box", half, pose, 0.5, 500.0, velocity)).unwrap();
            let mut world = builder.build().unwrap();
            run_for(&mut world, 0.1, |_, _| {});
            let found = world.bodies().velocity(BodyId(0));
            (found.linear - boost, found.angular)
        };
        let (rest, moving) = (after(Vector3::zeros()), after(boost));
        let off = (moving.0 - rest.0).norm().max(0.05 * (moving.1 - rest.1).norm()) / rest.0.norm();
        println!("off by {off:.1e} at {size:.1} m/s");
        assert!(rest.0.norm() > 0.05 * speed && off < 0.01, "{rest:?} {moving:?}");
    }
}

/// Branches and saved states of a world go on as it does, bit for bit, and a state is refused by a world
/// whose cloth has another gas.
#[test]
fn copies_of_a_world_have_its_gas() {
    let make = |gauge_pressure: f64| {
        let mut builder = World::builder(Settings::new(H, 5e-3));
        let mesh = ClothMesh::sphere(Vector3::new(0.0, 0.0, 0.12), 0.1, 4).unwrap();
        let elastic = Elastic { youngs_modulus: 1e6, poissons_ratio: 0.3 };
        let gas = Some(Gas::Isothermal { gauge_pressure, ambient_pressure: AIR, volume: None });
        let cotton = ClothMaterial::new(1e3, elastic, 1e-3, 1e5);
        builder.cloth(Sheet { gas, ..Sheet::new(mesh, cotton) });
        builder.body(floor(0.5)).unwrap();
        builder.build().unwrap()
    };
    let bits = |world: &mut World| {
        run_for(world, 0.05, |_, _| {});
        let mut bits = Vec::new();
        world.write_state(&mut bits).unwrap();
        bits
    };
    let mut world = make(1e3);
    run_for(&mut world, 0.05, |_, _| {});
    let mut saved = Vec::new();
    world.write_state(&mut saved).unwrap();
    let mut branch = world.branch().unwrap();
    let mut restored = make(1e3);
    restored.read_state(&mut saved.as_slice()).unwrap();
    let expected = bits(&mut world);
    assert!(bits(&mut branch) == expected && bits(&mut restored) == expected);
    let error = make(2e3).read_state(&mut saved.as_slice()).unwrap_err().to_string();
    assert!(error.contains("gas of sheet 0"), "{error}");
}

/// A device, which has no kernel for gas, refuses it by name instead of leaving it out.
#[test]
fn a_device_refuses_gas() {
    let mut builder = World::builder(Settings::new(H, 5e-3));
    builder.cloth(inflated(&mut Random(1)));
    let mut world = builder.build().unwrap();
    let error = world.attach("cuda", Box::new(Idle)).unwrap_err().to_string();
    assert!(error.contains("gas in a cloth") && error.contains("cuda"), "{error}");
}

/// Nor has it one for yarns.
#[test]
fn a_device_refuses_a_weave() {
    let mut builder = World::builder(Settings::new(H, 5e-3));
    let mesh = ClothMesh::rectangle(Vector3::zeros(), H * Vector3::x(), H * Vector3::y(), [2, 2]).unwrap();
    let elastic = Elastic { youngs_modulus: 1e4, poissons_ratio: 0.1 };
    let weave = Some(Weave::new(Vector3::x(), 1e4, 1e3));
    builder.cloth(Sheet::new(mesh, ClothMaterial { weave, ..ClothMaterial::new(300.0, elastic, 1e-3, 1e4) }));
    let mut world = builder.build().unwrap();
    let error = world.attach("cuda", Box::new(Idle)).unwrap_err().to_string();
    assert!(error.contains("the weave of a cloth") && error.contains("cuda"), "{error}");
}
