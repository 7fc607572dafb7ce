//! Draws dough under a rolling pin among a few bodies, without simulating anything:
//! `cargo run --release -p pliant-scenes --example picture -- FILE.png|FILE.gif [PARTICLES]`.

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::time::Instant;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_scenes::files::atomic_write;
use pliant_scenes::render::{
    Ball, Body, BodyShape, Camera, GifWriter, Image, Picture, RenderError, render, write_png,
};
use pliant_scenes::sample::{Density, Jitter, Solid, sample};

const PIN_RADIUS: f64 = 0.03;

/// Height of the pin's axis as it presses into the block at `x`.
fn pin_height(x: f64) -> f64 {
    0.115 - 0.02 * (1.0 - (x / 0.16).powi(2)).max(0.0)
}

/// A block with a groove pressed where the pin is.
fn dough(count: f64, pin: f64) -> Result<Vec<Ball>, Box<dyn Error>> {
    let block = Solid::Box { half_extents: Vector3::new(0.16, 0.06, 0.05) };
    let spacing = (0.32 * 0.12 * 0.10 / count).cbrt();
    let jitter = Some(Jitter { fraction: 0.35, seed: 1 });
    let filled = sample(&block, &Isometry3::translation(0.0, 0.0, 0.05), Density::Spacing(spacing), jitter)?;
    let pressed = |p: &Point3<f64>| {
        let across = ((p.x - pin) / PIN_RADIUS).clamp(-1.0, 1.0);
        let floor = pin_height(pin) - PIN_RADIUS * (1.0 - across * across).sqrt() - 0.6 * spacing;
        let lowered = if across.abs() < 1.0 { (floor / 0.1).min(1.0) } else { 1.0 };
        let center = Point3::new(p.x, p.y * (1.0 + 0.4 * (1.0 - lowered)), p.z * lowered);
        Ball { center: center.coords.cast().into(), radius: 0.6 * spacing as f32, color: [232, 198, 148] }
    };
    Ok(filled.positions.iter().map(pressed).collect())
}

/// A cloth of `side` x `side` vertices that hangs in folds over nothing in particular.
fn cloth(side: u32) -> BodyShape {
    let at = |i: u32| f64::from(i) / f64::from(side - 1) - 0.5;
    let height = |x: f64, y: f64| 0.02 + 0.012 * (14.0 * x + 3.0 * y).sin() + 0.01 * (11.0 * y).cos();
    let vertices = (0..side * side)
        .map(|n| (at(n % side), at(n / side)))
        .map(|(x, y)| Point3::new(0.2 * x, 0.2 * y, height(x, y)))
        .collect();
    let cells = (0..(side - 1) * (side - 1)).map(|n| n / (side - 1) * side + n % (side - 1));
    let triangles = cells.flat_map(|n| [[n, n + 1, n + side], [n + 1, n + side + 1, n + side]]).collect();
    BodyShape::Mesh { vertices, triangles, smooth: true }
}

fn bodies(pin: f64) -> Vec<Body> {
    let across = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2);
    let at = |x: f64, y: f64, z: f64, rotation| Isometry3::from_parts([x, y, z].into(), rotation);
    let upright = UnitQuaternion::identity();
    let cylinder = |radius, half_length| BodyShape::Cylinder { radius, half_length };
    let axis = at(pin, 0.0, pin_height(pin), across);
    let cube = BodyShape::Box { half_extents: Vector3::new(0.04, 0.03, 0.05) };
    let capsule = BodyShape::Capsule { radius: 0.02, half_length: 0.04 };
    let egg = BodyShape::Ellipsoid { half_axes: Vector3::new(0.03, 0.03, 0.045) };
    let turned = UnitQuaternion::from_euler_angles(0.4, 0.3, 0.5);
    let body = |shape, pose, color| Body { shape, pose, color, marked: true };
    vec![
        body(cylinder(PIN_RADIUS, 0.10), axis, [196, 128, 72]),
        body(cylinder(0.012, 0.16), axis, [90, 94, 104]),
        body(BodyShape::Sphere { radius: 0.04 }, at(0.26, -0.09, 0.04, turned), [214, 72, 62]),
        body(cube, at(-0.26, 0.06, 0.05, UnitQuaternion::from_euler_angles(0.0, 0.0, 0.5)), [62, 118, 190]),
        body(capsule, at(0.25, 0.08, 0.02, across), [84, 160, 110]),
        body(egg, at(0.06, -0.16, 0.03, across * turned), [226, 180, 60]),
        body(cloth(40), at(-0.2, -0.18, 0.002, upright), [150, 110, 190]),
    ]
}

fn draw(width: u32, height: u32, particles: &[Ball], pin: f64, caption: &str) -> Result<Image, RenderError> {
    let (low, high) = (Point3::new(-0.3, -0.2, 0.0), Point3::new(0.3, 0.16, 0.14));
    let aspect = f64::from(width) / f64::from(height);
    let bodies = bodies(pin);
    let mut picture = Picture::new(width, height, Camera::frame(low, high, -1.1, 0.46, aspect));
    picture.particles = particles;
    picture.bodies = &bodies;
    picture.ground = Some(0.0);
    picture.caption = Some(caption);
    render(&picture)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "picture.png".to_owned());
    let count = std::env::args().nth(2).map_or(Ok(5920.0), |n| n.parse::<f64>())?;
    let start = Instant::now();
    if path.ends_with(".gif") {
        let frames = 100;
        let mut images = Vec::new();
        for frame in 0..frames {
            let pin = 0.1 * (TAU * f64::from(frame) / f64::from(frames)).sin();
            let caption = format!("dough  t = {:.2} s", f64::from(frame) * 0.05);
            images.push(draw(480, 300, &dough(count, pin)?, pin, &caption)?);
        }
        eprintln!("{frames} frames drawn in {:.1} s", start.elapsed().as_secs_f64());
        atomic_write(&path, |out| {
            let mut gif = GifWriter::new(out, 480, 300, 0.05)?;
            images.iter().try_for_each(|image| gif.add(image))?;
            gif.finish().map(drop)
        })?;
        eprintln!("{} bytes in {:.1} s", std::fs::metadata(&path)?.len(), start.elapsed().as_secs_f64());
    } else {
        let particles = dough(count, 0.03)?;
        let start = Instant::now();
        let image = draw(960, 600, &particles, 0.03, "dough  t = 1.25 s")?;
        eprintln!("{} particles in {:.2} s", particles.len(), start.elapsed().as_secs_f64());
        write_png(&path, &image)?;
    }
    Ok(())
}
