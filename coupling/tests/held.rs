//! Bodies on vertices that pins hold: they meet what holds them, not the mass of the cloth.

use crate::common::{geometry, snapshot};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_coupling::{AutoOr, NEAR_RIGID_STIFFNESS_NUMBER, Settings, World};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin, Sheet};
use pliant_mpm::material::Elastic;
use pliant_rigid::{BodyDesc, BodyId, Joint, MassProperties, Motion, Shape, SpatialVelocity};
use pliant_testing::Random;

/// A ball that falls onto a sheet all of whose vertices are held, or move with one velocity, meets a floor: it goes
/// no deeper than a mass M on one contact, the weakest there is, with the near-rigid stiffness k of a centroid, M g
/// / k (1 + sqrt(1 + k v^2 / (M g^2))), and the way of a step; nothing creates energy, and momentum is accounted
/// for. Were the vertices as free as the cloth's own mass, a ball heavier than that would sink through.
#[test]
fn held_vertices_bear_what_falls_on_them() {
    let seed = 3013;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let cases = std::env::var("HELD_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(16);
    for case in 0..cases {
        let h = random.log_uniform(0.005, 0.1);
        let edge = h * random.uniform(0.4, 1.0);
        let (count, thickness) = (10, 0.1 * h);
        let elastic = Elastic { youngs_modulus: random.log_uniform(1e4, 1e6), poissons_ratio: 0.3 };
        let density = random.log_uniform(100.0, 2000.0);
        let cloth = ClothMaterial::new(density, elastic, thickness, elastic.youngs_modulus);
        // A quarter of a face.
        let centroid = 0.125 * edge * edge * thickness * density;
        let mass = centroid * random.log_uniform(3.0, 3000.0);
        let radius = h * random.uniform(1.0, 2.0);
        let turn = random.rotation();
        let [u, v, up] = [0, 1, 2].map(|axis| turn * Vector3::ith(axis, 1.0));
        let common = if case % 2 == 0 { Vector3::zeros() } else { random.vector() };
        let g = 9.81;
        let speed = random.uniform(0.1, 1.0) * (2.0 * g * h).sqrt();
        // Steps in which it falls by up to a tenth of a cell.
        let mut settings = Settings::new(h, random.log_uniform(0.002, 0.05) * (h / g).sqrt());
        settings.gravity = -g * up;
        settings.contact.particle_radius = AutoOr::Value(0.0);
        let mut builder = World::builder(settings);
        let width = edge * f64::from(count);
        let corner = -0.5 * width * (u + v);
        let parts = [count as usize; 2];
        let mesh = ClothMesh::rectangle(corner, width * u, width * v, parts).unwrap();
        let path = |x: Vector3<f64>| vec![(0.0, x), (100.0, x + 100.0 * common)];
        let pin = |(n, x): (usize, &Vector3<f64>)| Pin::new(n, path(*x), f64::INFINITY).unwrap();
        let pins = mesh.vertices().iter().enumerate().map(pin).collect();
        builder.cloth(Sheet { pins, velocity: common, ..Sheet::new(mesh, cloth) });
        let gap = h * random.uniform(0.0, 0.5);
        let start = (radius + gap) * up + 0.3 * h * (random.signed() * u + random.signed() * v);
        let inertia = nalgebra::Matrix3::identity() * (0.4 * mass * radius * radius);
        let motion = Motion::Dynamic {
            parent: None,
            joint: Joint::free(),
            mass: MassProperties { mass, inertia },
            force: Vector3::zeros(),
            torque: Vector3::zeros(),
            velocity: SpatialVelocity { angular: Vector3::zeros(), linear: common - speed * up },
            gravity: true,
        };
        let geometries = geometry(Shape::Sphere { radius }, if case % 4 < 2 { 0.0 } else { 0.6 });
        let pose = Isometry3::from_parts(start.into(), UnitQuaternion::identity());
        builder
            .body(BodyDesc { name: "ball".into(), pose, motion, geometries, appearance: Vec::new() })
            .unwrap();
        let mut world = builder.build().unwrap();
        let dt = world.settings().dt;
        let (mut deepest, mut bound) = (0.0_f64, 0.0_f64);
        for _ in 0..100 {
            let report = world.step().unwrap();
            let substep = dt / f64::from(report.substeps);
            let stiffness = NEAR_RIGID_STIFFNESS_NUMBER * centroid / (substep * substep);
            let fall = (speed * speed + 2.0 * g * gap).sqrt();
            let sunk = mass * g / stiffness;
            bound = bound.max(sunk * (1.0 + (1.0 + fall * fall / (sunk * g)).sqrt()) + fall * dt);
            let center = world.bodies().pose(BodyId(0)).translation.vector;
            let depths = snapshot(&mut world)
                .positions
                .into_iter()
                .map(|x| radius - (center - Vector3::from(x)).norm());
            deepest = depths.fold(deepest, f64::max);
        }
        world.diagnostics();
        let balance = world.balance();
        println!(
            "{case}: ball of {:.0} centroids: {:.2e} m deep, bound {bound:.2e} m, h {h:.2e} m; energy {:?}, momentum {:.1e}",
            mass / centroid,
            deepest,
            balance.energy,
            balance.linear_momentum
        );
        assert!(deepest < bound, "{case}: {deepest} m, bound {bound} m");
        // What runs warn of.
        assert!(balance.energy.unwrap() < 0.05, "{case}: {balance:?}");
        assert!(balance.linear_momentum < 1e-5, "{case}: {balance:?}");
    }
}
