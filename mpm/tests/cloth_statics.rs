//! Statics of cloth against closed forms: the heavy elastica and the hanging strip.

#![allow(clippy::unwrap_used)] // everything here runs in tests

mod common;

use nalgebra::{Matrix3, Vector3};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin};
use pliant_mpm::material::Elastic;
use pliant_mpm::reference::{ReferenceCloth, ReferenceMpm};

/// Gravity [m/s^2].
const GRAVITY: f64 = 10.0;

/// Drag on the grid's velocity while a strip comes to rest \[1/s\]: about that of a pendulum's critical
/// damping. At rest it has no effect.
const DRAG: f64 = 5.0;

/// Tip (x, drop) of a heavy elastica of length 1 that is clamped horizontally, for w L^3 / B: B
/// theta'' = -w (L - s) cos(theta), theta(0) = 0, theta'(L) = 0 (Timoshenko and Gere, "Theory of
/// Elastic Stability", with a distributed load), by shooting on theta'(0), and Runge and Kutta's method
/// of fourth order.
fn elastica(load: f64) -> [f64; 2] {
    let steps = 2000;
    let ds = 1.0 / f64::from(steps);
    let shoot = |start: f64| {
        let mut y = [0.0, start, 0.0, 0.0];
        let slope = |s: f64, y: [f64; 4]| [y[1], -load * (1.0 - s) * y[0].cos(), y[0].cos(), y[0].sin()];
        let after = |y: [f64; 4], k: [f64; 4], f: f64| core::array::from_fn(|n| y[n] + f * ds * k[n]);
        for step in 0..steps {
            let s = f64::from(step) * ds;
            let a = slope(s, y);
            let b = slope(s + 0.5 * ds, after(y, a, 0.5));
            let c = slope(s + 0.5 * ds, after(y, b, 0.5));
            let d = slope(s + ds, after(y, c, 1.0));
            y = core::array::from_fn(|n| y[n] + ds / 6.0 * (a[n] + 2.0 * b[n] + 2.0 * c[n] + d[n]));
        }
        y
    };
    let (mut low, mut high) = (0.0, load);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[1] > 0.0 { high = middle } else { low = middle }
    }
    let end = shoot(low);
    [end[2], end[3]]
}

/// A strip that is clamped horizontally.
struct Strip {
    /// w L^3 / B.
    load: f64,
    /// Rectangles along its length, and across it.
    parts: [usize; 2],
    /// Edge of the rectangles over the grid spacing.
    edge: f64,
}

impl Strip {
    /// Tip of the strip at rest (x, drop), over the length.
    fn tip(&self) -> [f64; 2] {
        let a = 1.0 / self.parts[0] as f64;
        let h = a / self.edge;
        let thickness = 0.02;
        let density = 1e2;
        let weight = density * thickness * GRAVITY;
        // Its own weight stretches a hanging strip by 1 / 6000.
        let elastic = Elastic { youngs_modulus: 3e3 * density * GRAVITY, poissons_ratio: 0.0 };
        let mut material = ClothMaterial::new(density, elastic, thickness, 1e5);
        material.bending_stiffness = weight / self.load;
        let width = a * self.parts[1] as f64;
        // A column of rectangles beyond the clamp.
        let parts = [self.parts[0] + 1, self.parts[1]];
        let origin = Vector3::new(-a, 0.0, 0.0);
        let mesh =
            ClothMesh::rectangle(origin, Vector3::x() * (1.0 + a), Vector3::y() * width, parts).unwrap();
        let rows = parts[1] + 1;
        let pins = (0..2 * rows).map(|v| Pin::fixed(v, mesh.vertices()[v]).unwrap()).collect();
        let cloth = ReferenceCloth::new(mesh, material, pins, h).unwrap();
        let mut mpm = ReferenceMpm::new(h, -GRAVITY * Vector3::z(), vec![], vec![]).unwrap();
        mpm.cloths = vec![cloth];
        settle(&mut mpm);
        let vertices = &mpm.cloths[0].vertices;
        let mean =
            vertices[vertices.len() - rows..].iter().map(|p| p.position).sum::<Vector3<f64>>() / rows as f64;
        [mean.x, -mean.z]
    }
}

/// Comes to rest: whenever the kinetic energy falls, it is taken away (kinetic damping, Cundall
/// 1976), until the potential energy has not changed by 1e-7 of itself in a time in which a body falls
/// the length.
fn settle(mpm: &mut ReferenceMpm) {
    let dt = mpm.cloths[0].stability().largest_substep(0.0)
        * std::env::var("DT").map_or(1.0, |x| x.parse::<f64>().unwrap());
    println!("steps {:?}", mpm.cloths[0].stability().mesh_substeps(dt));
    let (mut before, mut last, mut next) = (0.0, f64::INFINITY, 0.0);
    while mpm.time < std::env::var("T").map_or(60.0, |x| x.parse::<f64>().unwrap()) {
        mpm.substep(dt, |_, _, v| *v /= 1.0 + DRAG * dt).unwrap();
        let kinetic = mpm.totals().kinetic_energy;
        if kinetic < before && std::env::var("NOKD").is_err() {
            let cloth = &mut mpm.cloths[0];
            for p in cloth.vertices.iter_mut().chain(&mut cloth.centroids) {
                (p.velocity, p.affine) = (Vector3::zeros(), Matrix3::zeros());
            }
            before = 0.0;
        } else {
            before = kinetic;
        }
        if mpm.time > next {
            let cloth = &mpm.cloths[0];
            let height: f64 = cloth.particles().map(|p| p.mass * p.position.z).sum();
            let potential = cloth.elastic_energy() + GRAVITY * height;
            if std::env::var("TRACE").is_ok() {
                let p = cloth.vertices.last().unwrap();
                println!(
                    "{} {potential:.8} tip {:.5} {:.5} elastic {:.5} kinetic {:.3e}",
                    mpm.time,
                    p.position.x,
                    p.position.z,
                    cloth.elastic_energy(),
                    kinetic
                );
            }
            if (potential - last).abs() < 1e-7 * potential.abs() {
                return;
            }
            (last, next) = (potential, mpm.time + 0.45);
        }
    }
    let cloth = &mpm.cloths[0];
    for (k, p) in cloth.vertices.iter().enumerate() {
        println!("{k}: {:.5} {:.5} {:.5}", p.position.x, p.position.y, p.position.z);
    }
    for k in 0..cloth.faces.len() {
        let f = cloth.deformation_gradient(k);
        let c = f.transpose() * f;
        println!(
            "face {k} {:?}: C11 {:.5} C12 {:.5} C22 {:.5} d3 {:.5}",
            cloth.faces[k].vertices,
            c.m11,
            c.m12,
            c.m22,
            f.column(2).norm()
        );
    }
    panic!("not at rest after {} s", mpm.time);
}

#[test]
#[ignore = "an experiment"]
fn experiment() {
    let list = |name: &str, default: &str| {
        let text = std::env::var(name).unwrap_or(default.into());
        text.split(',').map(|x| x.parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    for load in list("LOADS", "0.3,1,3,10,30") {
        let expected = elastica(load);
        for edge in list("EDGES", "1") {
            for m in list("PARTS", "8,16") {
                for n in list("ACROSS", "2") {
                    let start = std::time::Instant::now();
                    let strip = Strip { load, parts: [m as usize, n as usize], edge };
                    let [x, drop] = strip.tip();
                    println!(
                        "load {load} parts {m} x {n} edge {edge} h: drop {drop:.4} of {:.4}: {:+.2} %, x {x:.4} of {:.4}, {:.1} s",
                        expected[1],
                        100.0 * (drop / expected[1] - 1.0),
                        expected[0],
                        start.elapsed().as_secs_f64()
                    );
                }
            }
        }
    }
}
