//! Draws a block of dough under a rolling pin, with a few bodies beside it: `cargo run --release --example picture -- out.png`.

use std::error::Error;
use std::time::Instant;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_scenes::render::{Ball, Body, BodyShape, Camera, Picture, render, write_png};
use pliant_scenes::sample::{Density, Jitter, Solid, sample};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "picture.png".to_owned());
    let count = std::env::args().nth(2).map_or(Ok(5920), |n| n.parse::<f64>().map(|n| n as usize))?;
    let spacing = (0.32 * 0.12 * 0.10 / count as f64).cbrt();
    let pose = Isometry3::translation(0.0, 0.0, 0.05);
    let block = Solid::Box { half_extents: Vector3::new(0.16, 0.06, 0.05) };
    let jitter = Some(Jitter { fraction: 0.35, seed: 1 });
    let dough = sample(&block, &pose, Density::Spacing(spacing), jitter)?;
    let particles: Vec<Ball> = dough
        .positions
        .iter()
        .filter(|p| (p.x - 0.03).hypot(p.z - 0.095) > 0.03)
        .map(|p| Ball {
            center: p.coords.cast().into(),
            radius: 0.6 * spacing as f32,
            color: [232, 198, 148],
        })
        .collect();
    let across = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
    let at = |x: f64, y: f64, z: f64, rotation| Isometry3::from_parts([x, y, z].into(), rotation);
    let upright = UnitQuaternion::identity();
    let tilted = UnitQuaternion::from_euler_angles(0.0, 0.0, 0.5);
    let cylinder = |radius, half_length| BodyShape::Cylinder { radius, half_length };
    let bodies = [
        Body { shape: cylinder(0.03, 0.10), pose: at(0.03, 0.0, 0.095, across), color: [196, 128, 72] },
        Body { shape: cylinder(0.012, 0.16), pose: at(0.03, 0.0, 0.095, across), color: [90, 94, 104] },
        Body {
            shape: BodyShape::Sphere { radius: 0.04 },
            pose: at(0.26, -0.09, 0.04, upright),
            color: [214, 72, 62],
        },
        Body {
            shape: BodyShape::Box { half_extents: Vector3::new(0.04, 0.03, 0.05) },
            pose: at(-0.26, 0.02, 0.05, tilted),
            color: [62, 118, 190],
        },
        Body {
            shape: BodyShape::Capsule { radius: 0.02, half_length: 0.04 },
            pose: at(0.25, 0.08, 0.02, across),
            color: [84, 160, 110],
        },
    ];
    let (low, high) = (Point3::new(-0.3, -0.16, 0.0), Point3::new(0.3, 0.16, 0.14));
    let mut picture = Picture::new(960, 600, Camera::frame(low, high, -1.1, 0.42, 1.6));
    picture.particles = &particles;
    picture.bodies = &bodies;
    picture.ground = Some(0.0);
    picture.caption = Some("dough-rolling  t = 1.25 s");
    let start = Instant::now();
    let image = render(&picture)?;
    eprintln!("{} particles: {:.0} ms", particles.len(), start.elapsed().as_secs_f64() * 1e3);
    write_png(&path, &image)?;
    Ok(())
}
