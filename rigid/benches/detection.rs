//! How long detection takes: `cargo bench -p pliant-rigid --bench detection` on a quiet machine.

#![allow(clippy::unwrap_used)] // the tests' helpers

#[path = "../tests/collision_common/mod.rs"]
mod collision_common;

use collision_common::*;
use nalgebra::{Isometry3, Translation3, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionModel, Detector};
use pliant_testing::Random;
use std::time::Instant;

fn measure(name: &str, scene: &CollisionModel, poses: &[Isometry3<f64>], margin: f64) {
    let (mut detector, mut out) = (Detector::new(), Vec::new());
    let mut times: Vec<f64> = (0..401)
        .map(|_| {
            let start = Instant::now();
            detector.detect(scene, |link| poses[link.0], margin, &mut out);
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let pairs: std::collections::BTreeSet<_> = out.iter().map(|c| (c.a, c.b)).collect();
    println!("{name}: {:.1} us, {} touching pairs, {} contacts", times[200] * 1e6, pairs.len(), out.len());
}

/// `count` bodies in a cubic pile, shaken, so that neighbours touch, above a plane.
fn pile(count: usize, shape: impl Fn(usize) -> Shape) -> (CollisionModel, Vec<Isometry3<f64>>) {
    let mut random = Random::new(8);
    let side = (count as f64).cbrt().ceil() as usize;
    let mut shapes: Vec<Shape> = (0..count).map(shape).collect();
    let mut poses: Vec<Isometry3<f64>> = (0..count)
        .map(|k| {
            let cell = Vector3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
            let place = cell * 0.1 + Vector3::new(0.0, 0.0, 0.05) + random.vector() * 0.005;
            Isometry3::from_parts(Translation3::from(place), random.rotation())
        })
        .collect();
    shapes.push(Shape::HalfSpace);
    poses.push(Isometry3::identity());
    (free_bodies(shapes), poses)
}

fn main() {
    let sphere = Shape::Sphere { radius: 0.05 };
    let cube = cuboid(0.05, 0.05, 0.05);
    let capsule = Shape::Capsule { radius: 0.04, half_length: 0.03 };
    let cylinder = Shape::Cylinder { radius: 0.045, half_length: 0.045 };
    let ellipsoid = Shape::Ellipsoid { semi_axes: Vector3::new(0.06, 0.05, 0.04) };
    let mut random = Random::new(3);
    let points: Vec<_> = (0..40).map(|_| (random.vector().normalize() * 0.055).into()).collect();
    let rock = hull(&points);
    for count in [20, 100, 500] {
        for (name, kinds) in [
            ("spheres", vec![&sphere]),
            ("boxes", vec![&cube]),
            ("boxes and spheres", vec![&cube, &sphere]),
            ("capsules", vec![&capsule]),
            ("cylinders", vec![&cylinder]),
            ("ellipsoids", vec![&ellipsoid]),
            ("hulls of 40", vec![&rock]),
            ("all", vec![&cube, &sphere, &capsule, &cylinder, &ellipsoid, &rock]),
        ] {
            let (scene, poses) = pile(count, |k| kinds[k % kinds.len()].clone());
            measure(&format!("{count} {name}"), &scene, &poses, 1e-3);
        }
    }
    let torus = mesh(pliant_testing::meshes::torus(0.2, 0.08, 48, 24));
    let scene = free_bodies(vec![torus, cube.clone()]);
    measure("box on a torus of 2304 triangles", &scene, &[at(0.0, 0.0, 0.0), at(0.2, 0.0, 0.125)], 1e-3);
    let ground = terrain(|x, y| 0.02 * (9.0 * x).sin() * (7.0 * y).cos(), 100, 0.02);
    let scene = free_bodies(vec![ground, cylinder]);
    measure("cylinder on terrain", &scene, &[at(0.0, 0.0, 0.0), at(0.1, 0.1, 0.05)], 1e-3);
}
