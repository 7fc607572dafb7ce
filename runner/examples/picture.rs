//! Draws dough under a rolling pin among a few bodies, or a folded sheet over a box, without
//! simulating anything: `cargo run --release -p pliant-runner --example picture --
//! FILE.png|FILE.gif [PARTICLES|cloth]`.

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::time::Instant;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_coupling::sample::{Density, Jitter, SamplingSolid, sample};
use pliant_garment::crossings::CrossingDetector;
use pliant_io::files::atomic_write;
use pliant_mpm::cloth::SheetParticles;
use pliant_render::{
    BodyShape, Camera, GifWriter, Image, Picture, RenderBody, RenderCloth, RenderError, RenderSphere, render,
    write_png,
};

const PIN_RADIUS: f64 = 0.03;

/// Height of the pin's axis as it presses into the block at `x`.
fn pin_height(x: f64) -> f64 {
    0.115 - 0.02 * (1.0 - (x / 0.16).powi(2)).max(0.0)
}

/// A block with a groove pressed where the pin is.
fn dough(count: f64, pin: f64) -> Result<Vec<RenderSphere>, Box<dyn Error>> {
    let block = SamplingSolid::Box { half_extents: Vector3::new(0.16, 0.06, 0.05) };
    let spacing = (0.32 * 0.12 * 0.10 / count).cbrt();
    let jitter = Some(Jitter { fraction: 0.35, seed: 1 });
    let filled = sample(&block, &Isometry3::translation(0.0, 0.0, 0.05), Density::Spacing(spacing), jitter)?;
    let pressed = |p: &Point3<f64>| {
        let across = ((p.x - pin) / PIN_RADIUS).clamp(-1.0, 1.0);
        let floor = pin_height(pin) - PIN_RADIUS * (1.0 - across * across).sqrt() - 0.6 * spacing;
        let lowered = if across.abs() < 1.0 { (floor / 0.1).min(1.0) } else { 1.0 };
        let center = Point3::new(p.x, p.y * (1.0 + 0.4 * (1.0 - lowered)), p.z * lowered);
        RenderSphere {
            center: center.coords.cast().into(),
            radius: 0.6 * spacing as f32,
            color: [232, 198, 148],
        }
    };
    Ok(filled.positions.iter().map(pressed).collect())
}

fn bodies(pin: f64) -> Vec<RenderBody> {
    let across = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2);
    let at = |x: f64, y: f64, z: f64, rotation| Isometry3::from_parts([x, y, z].into(), rotation);
    let cylinder = |radius, half_length| BodyShape::Cylinder { radius, half_length };
    let axis = at(pin, 0.0, pin_height(pin), across);
    let cube = BodyShape::Box { half_extents: Vector3::new(0.04, 0.03, 0.05) };
    let capsule = BodyShape::Capsule { radius: 0.02, half_length: 0.04 };
    let egg = BodyShape::Ellipsoid { half_axes: Vector3::new(0.03, 0.03, 0.045) };
    let turned = UnitQuaternion::from_euler_angles(0.4, 0.3, 0.5);
    let body = |shape, pose, color| RenderBody { shape, pose, color, marked: true };
    vec![
        body(cylinder(PIN_RADIUS, 0.10), axis, [196, 128, 72]),
        body(cylinder(0.012, 0.16), axis, [90, 94, 104]),
        body(BodyShape::Sphere { radius: 0.04 }, at(0.26, -0.09, 0.04, turned), [214, 72, 62]),
        body(cube, at(-0.26, 0.06, 0.05, UnitQuaternion::from_euler_angles(0.0, 0.0, 0.5)), [62, 118, 190]),
        body(capsule, at(0.25, 0.08, 0.02, across), [84, 160, 110]),
        body(egg, at(0.06, -0.16, 0.03, across * turned), [226, 180, 60]),
    ]
}

fn draw(
    width: u32,
    height: u32,
    particles: &[RenderSphere],
    pin: f64,
    caption: &str,
) -> Result<Image, RenderError> {
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

/// Squares along and across the sheet: 8,000 triangles.
const SQUARES: [u32; 2] = [100, 40];

/// Half of the edges of the box beneath the sheet \[m\].
const BOX: [f64; 3] = [0.09, 0.11, 0.06];

/// Where the sheet lies at (x, y): over the box, steeply down its sides, in waves on the floor.
fn drape(x: f64, y: f64) -> f64 {
    let over = |c: f64, half: f64| 1.0 / (1.0 + ((c.abs() - half - 0.04) / 0.008).exp());
    let covered = over(x, BOX[0]) * over(y, BOX[1]);
    let waves = 0.012 * (1.0 + (42.0 * y + 9.0 * x).sin()) + 0.006 * (1.0 + (55.0 * x - 14.0 * y).sin());
    0.003 + (2.0 * BOX[2] + 0.002) * covered + waves * (1.0 - 0.93 * covered)
}

/// A sheet 0.72 m long and 0.4 m wide that is folded over upon itself: vertices \[m\] and faces.
fn folded_sheet() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    const GAP: f64 = 0.008;
    let turn = FRAC_PI_2 * GAP;
    let at = |u: f64, v: f64| {
        let (along, y) = (0.72 * u, 0.4 * (v - 0.5));
        // From left to right, half a turn, and back.
        let (from, length) = (-0.22, 0.44);
        let (x, above) = if along < length {
            (from + along, 0.0)
        } else if along < length + turn {
            let angle = 2.0 * (along - length) / GAP;
            (from + length + GAP / 2.0 * angle.sin(), GAP / 2.0 * (1.0 - angle.cos()))
        } else {
            (from + length - (along - length - turn), GAP)
        };
        [x, y, drape(x, y) + above]
    };
    let [columns, rows] = SQUARES;
    let across = columns + 1;
    let part = |i: u32, of: u32| f64::from(i) / f64::from(of);
    let vertices =
        (0..across * (rows + 1)).map(|n| at(part(n % across, columns), part(n / across, rows))).collect();
    let cells = (0..columns * rows).map(|n| n / columns * across + n % columns);
    let faces = cells.flat_map(|n| [[n, n + 1, n + across], [n + 1, n + across + 1, n + across]]).collect();
    (vertices, faces)
}

fn milliseconds<T>(work: impl Fn() -> T) -> (f64, T) {
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], work())
}

/// Draws the sheet and prints the time that takes, that of its particles as balls, that of nothing,
/// and that of its crossings.
fn draw_cloth(path: &str) -> Result<(), Box<dyn Error>> {
    let (vertices, triangles) = folded_sheet();
    let positions: Vec<[f32; 3]> = vertices.iter().map(|x| x.map(|x| x as f32)).collect();
    let colors = vec![[190, 38, 42]; positions.len()];
    let backs = vec![[226, 208, 176]; triangles.len()];
    let cloth = RenderCloth {
        positions: &positions,
        colors: &colors,
        triangles: &triangles,
        back_colors: &backs,
        weave: &[],
    };
    let cloths = [cloth];
    let centroid = |t: &[u32; 3]| -> [f32; 3] {
        std::array::from_fn(|k| t.iter().map(|&v| positions[v as usize][k]).sum::<f32>() / 3.0)
    };
    let places = positions.iter().copied().chain(triangles.iter().map(centroid));
    let balls: Vec<RenderSphere> =
        places.map(|center| RenderSphere { center, radius: 0.004, color: [190, 38, 42] }).collect();
    let body = RenderBody {
        shape: BodyShape::Box { half_extents: Vector3::from(BOX) },
        pose: Isometry3::translation(0.0, 0.0, BOX[2]),
        color: [70, 110, 160],
        marked: false,
    };
    let (low, high) = (Point3::new(-0.24, -0.2, 0.0), Point3::new(0.24, 0.2, 0.14));
    let still = |width: u32, height: u32, cloths: &[RenderCloth], particles: &[RenderSphere]| {
        let aspect = f64::from(width) / f64::from(height);
        let mut picture = Picture::new(width, height, Camera::frame(low, high, -1.05, 0.42, aspect));
        (picture.cloths, picture.particles) = (cloths, particles);
        picture.bodies = std::slice::from_ref(&body);
        picture.ground = Some(0.0);
        render(&picture)
    };
    for (width, height) in [(960, 600), (480, 300)] {
        let (none, _) = milliseconds(|| still(width, height, &[], &[]));
        let (as_balls, _) = milliseconds(|| still(width, height, &[], &balls));
        let (as_cloth, image) = milliseconds(|| still(width, height, &cloths, &[]));
        eprintln!(
            "{width} x {height}: {none:.0} ms without, {as_balls:.0} ms as balls, {as_cloth:.0} ms as cloth"
        );
        if width == 960 {
            write_png(path, &image?)?;
        }
    }
    let patch = SheetParticles {
        vertices: 0..vertices.len(),
        centroids: vertices.len()..vertices.len(),
        faces: triangles,
        rest_edges: Vec::new(),
    };
    let check = CrossingDetector::new(&[patch]);
    let (time, crossings) = milliseconds(|| check.count(&vertices));
    eprintln!("{} crossings in {time:.1} ms", crossings.count);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "picture.png".to_owned());
    if std::env::args().nth(2).is_some_and(|what| what == "cloth") {
        return draw_cloth(&path);
    }
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
