//! Pictures against projective geometry: where things are, what hides what, how large they are,
//! where shadows fall.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use std::io::Cursor;

use image::AnimationDecoder;
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_numeric::random::SplitMix64;
use pliant_render::{
    BodyShape, Camera, GifWriter, Image, Picture, RenderBody, RenderCloth, RenderError, RenderSphere,
    back_color, encode_png, render, viridis, write_png,
};

const RED: [u8; 3] = [220, 30, 30];
const BLUE: [u8; 3] = [30, 60, 220];

/// From -y, level with the origin, looking along +y: x to the right, z up in the picture.
fn front_camera(distance: f64) -> Camera {
    Camera {
        position: Point3::new(0.0, -distance, 0.0),
        target: Point3::origin(),
        up: Vector3::z(),
        vertical_fov: 0.5,
    }
}

fn is_red(p: [u8; 3]) -> bool {
    p[0] > p[1].saturating_add(40) && p[0] > p[2].saturating_add(40)
}

fn is_blue(p: [u8; 3]) -> bool {
    p[2] > p[0].saturating_add(40) && p[2] > p[1].saturating_add(40)
}

fn count(image: &Image, test: impl Fn([u8; 3]) -> bool) -> usize {
    image.pixels.chunks_exact(3).filter(|p| test([p[0], p[1], p[2]])).count()
}

fn solid(shape: BodyShape, color: [u8; 3]) -> RenderBody {
    RenderBody { shape, pose: Isometry3::identity(), color, marked: false }
}

// A sphere of radius r at distance d, seen under the half angle asin(r/d), is a disc of radius
// tan(asin(r/d)) in units of slope. Counting covered pixels errs by the boundary pixels at most:
// about 1 % of a disc of 200 pixels.
#[test]
fn a_sphere_has_the_area_of_its_cone() {
    let (distance, radius) = (3.0, 0.4_f64);
    let ball = [RenderSphere { center: [0.0; 3], radius: radius as f32, color: RED }];
    let mut picture = Picture::new(400, 400, front_camera(distance));
    picture.particles = &ball;
    let image = render(&picture).unwrap();
    let scale = 200.0 / 0.25_f64.tan();
    let slope = radius / (distance * distance - radius * radius).sqrt();
    let expected = std::f64::consts::PI * (slope * scale).powi(2);
    let area = count(&image, is_red) as f64;
    assert!((area / expected - 1.0).abs() < 0.01, "{area} pixels, expected {expected:.0}");
    // The same ball as a body is the same silhouette.
    let body = [solid(BodyShape::Sphere { radius }, RED)];
    let mut picture = Picture::new(400, 400, front_camera(distance));
    picture.bodies = &body;
    assert_eq!(count(&render(&picture).unwrap(), is_red), area as usize);
}

/// Area of the convex hull of points in the plane (Andrew's monotone chain and the shoelace
/// formula).
fn hull_area(mut points: Vec<[f64; 2]>) -> f64 {
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let cross =
        |o: [f64; 2], a: [f64; 2], b: [f64; 2]| (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut hull: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while hull.len() > 1 && cross(hull[hull.len() - 2], hull[hull.len() - 1], p) <= 0.0 {
                hull.pop();
            }
            hull.push(p);
        }
        hull.pop();
        hull
    };
    let mut hull = chain(&mut points.iter().copied());
    hull.extend(chain(&mut points.iter().rev().copied()));
    let shifted = hull.iter().cycle().skip(1);
    hull.iter().zip(shifted).map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum::<f64>() / 2.0
}

// A perspective picture of a convex body is the hull of the pictures of its points, so the
// silhouette of a turned box is the hull of its eight projected corners.
#[test]
fn a_turned_box_has_the_area_of_its_projection() {
    let half = Vector3::new(0.5, 0.3, 0.2);
    let pose = Isometry3::new(Vector3::new(0.1, 0.2, -0.05), Vector3::new(0.4, -0.7, 0.9));
    let camera = front_camera(4.0);
    let (width, height) = (480, 400);
    let corners = (0..8).map(|i| {
        let sign = |axis: i32| if i >> axis & 1 == 0 { -1.0 } else { 1.0 };
        let corner = pose * Point3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z);
        camera.project(&corner, width, height).unwrap()
    });
    let expected = hull_area(corners.collect());
    let body = [RenderBody { shape: BodyShape::Box { half_extents: half }, pose, color: RED, marked: false }];
    let mut picture = Picture::new(width, height, camera);
    picture.bodies = &body;
    let area = count(&render(&picture).unwrap(), is_red) as f64;
    assert!((area / expected - 1.0).abs() < 0.01, "{area} pixels, expected {expected:.0}");
}

// Every solid is symmetric about the middle and as wide and high as its size says, under a long
// lens (from 40 m the nearer parts are 1 % larger at most) and whichever way it is drawn:
// analytically or as a mesh.
#[test]
fn solids_have_their_extents() {
    let camera = Camera { vertical_fov: 0.03, ..front_camera(40.0) };
    let pixels_per_metre = 150.0 / 0.015_f64.tan() / 40.0;
    let upright = UnitQuaternion::identity();
    let lying = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
    let half = [0.3, 0.2];
    let cube = BodyShape::Mesh {
        vertices: (0..8)
            .map(|i| Point3::new([-0.3, 0.3][i & 1], [-0.1, 0.1][i >> 1 & 1], [-0.2, 0.2][i >> 2]))
            .collect(),
        triangles: vec![
            [0, 2, 3],
            [0, 3, 1],
            [4, 5, 7],
            [4, 7, 6],
            [0, 1, 5],
            [0, 5, 4],
            [2, 6, 7],
            [2, 7, 3],
            [0, 4, 6],
            [0, 6, 2],
            [1, 3, 7],
            [1, 7, 5],
        ],
        smooth: false,
    };
    let cases = [
        (BodyShape::Box { half_extents: Vector3::new(0.3, 0.1, 0.2) }, upright, half),
        (cube, upright, half),
        (BodyShape::Cylinder { radius: 0.3, half_length: 0.2 }, upright, half),
        (BodyShape::Cylinder { radius: 0.2, half_length: 0.3 }, lying, half),
        (BodyShape::Capsule { radius: 0.2, half_length: 0.1 }, lying, half),
        (BodyShape::Capsule { radius: 0.2, half_length: 0.1 }, upright, [0.2, 0.3]),
        (BodyShape::Ellipsoid { half_axes: Vector3::new(0.3, 0.1, 0.2) }, upright, half),
        (BodyShape::Ellipsoid { half_axes: Vector3::new(0.2, 0.1, 0.3) }, lying, half),
    ];
    for (shape, rotation, half) in cases {
        let body = [RenderBody {
            shape: shape.clone(),
            pose: Isometry3::from_parts(Default::default(), rotation),
            color: RED,
            marked: false,
        }];
        let mut picture = Picture::new(300, 300, camera);
        picture.bodies = &body;
        let image = render(&picture).unwrap();
        let red_columns = (0..300).filter(|&x| is_red(image.pixel(x, 150).unwrap())).count() as f64;
        let red_rows = (0..300).filter(|&y| is_red(image.pixel(150, y).unwrap())).count() as f64;
        let expected = half.map(|h| 2.0 * h * pixels_per_metre);
        let close = |a: f64, b: f64| (a - b).abs() < 2.5 + 0.01 * b;
        assert!(close(red_columns, expected[0]), "{shape:?}: {red_columns} columns, expected {expected:?}");
        assert!(close(red_rows, expected[1]), "{shape:?}: {red_rows} rows, expected {expected:?}");
    }
}

// An ellipsoid is a stretched ball: its silhouette under a long lens is the ellipse of its axes. At
// 40 m the lens shows the outline of the ellipsoid from 0.1 / 40 in front of its middle, 0.3 % at
// most; pixels add 1 %.
#[test]
fn an_ellipsoid_has_the_area_of_its_ellipse() {
    let camera = Camera { vertical_fov: 0.03, ..front_camera(40.0) };
    let pixels_per_metre = 200.0 / 0.015_f64.tan() / 40.0;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.7);
    for marked in [false, true] {
        let body = [RenderBody {
            shape: BodyShape::Ellipsoid { half_axes: Vector3::new(0.4, 0.1, 0.15) },
            pose: Isometry3::from_parts(Default::default(), turn),
            color: RED,
            marked,
        }];
        let mut picture = Picture::new(400, 400, camera);
        picture.bodies = &body;
        let area = count(&render(&picture).unwrap(), is_red) as f64;
        let expected = std::f64::consts::PI * 0.4 * 0.15 * pixels_per_metre.powi(2);
        assert!((area / expected - 1.0).abs() < 0.01, "{area} pixels, expected {expected:.0}");
    }
}

// Marks belong to the body's frame: turned by a quarter about the line of sight, what was the
// lighter quadrant is the darker one, and by a half turn the same again. Without marks a ball looks
// the same however it is turned.
#[test]
fn a_marked_ball_is_seen_to_turn() {
    let at = |marked, quarter_turns: i32| {
        let angle = f64::from(quarter_turns) * std::f64::consts::FRAC_PI_2;
        let body = [RenderBody {
            shape: BodyShape::Sphere { radius: 0.4 },
            pose: Isometry3::rotation(Vector3::y() * angle),
            color: RED,
            marked,
        }];
        let mut picture = Picture::new(200, 200, front_camera(3.0));
        picture.bodies = &body;
        picture.light = Some(-Vector3::y());
        let image = render(&picture).unwrap();
        brightness(&image, 115, 85)
    };
    let marked = [0, 1, 2].map(|turns| at(true, turns));
    assert!((marked[0] - marked[1]).abs() > 15.0, "{marked:?}");
    assert!((marked[0] - marked[2]).abs() < 3.0, "{marked:?}");
    assert!((at(false, 0) - at(false, 1)).abs() < 1.0);
}

// A small near ball hides a large far one where the line of sight says so, in either order of the
// list.
#[test]
fn what_is_near_hides_what_is_far() {
    let near = RenderSphere { center: [0.0, -0.5, 0.0], radius: 0.1, color: RED };
    let far = RenderSphere { center: [0.0, 0.5, 0.0], radius: 0.3, color: BLUE };
    for balls in [[near, far], [far, near]] {
        let mut picture = Picture::new(200, 200, front_camera(3.0));
        picture.particles = &balls;
        let image = render(&picture).unwrap();
        assert!(is_red(image.pixel(100, 100).unwrap()));
        // 0.2 m to the right at the far ball's distance of 3.5 m: 0.057 of slope, 22 pixels; past
        // the near ball.
        assert!(is_blue(image.pixel(100 + 31, 100).unwrap()));
    }
}

fn brightness(image: &Image, x: u32, y: u32) -> f64 {
    image.pixel(x, y).unwrap().iter().map(|&c| f64::from(c)).sum::<f64>() / 3.0
}

// Light from the upper left falls behind the ball to the lower right: the shadow of a ball at
// height h under a light (-1, 0, 1) lies at x = +h. The mirrored place is lit.
#[test]
fn the_shadow_falls_away_from_the_light() {
    let ball = [RenderSphere { center: [0.0, 0.0, 0.3], radius: 0.1, color: RED }];
    let camera = Camera { position: Point3::new(0.0, -3.0, 2.5), ..front_camera(1.0) };
    let mut picture = Picture::new(300, 240, camera);
    picture.particles = &ball;
    picture.ground = Some(0.0);
    picture.light = Some(Vector3::new(-1.0, 0.0, 1.0));
    let image = render(&picture).unwrap();
    let at = |x: f64| {
        let [column, row] = camera.project(&Point3::new(x, 0.05, 0.0), 300, 240).unwrap();
        brightness(&image, column as u32, row as u32)
    };
    let (shadow, lit) = (at(0.3), at(-0.3));
    // Only the sky reaches the shadow: less than 0.6 of the light, 0.8 of the sRGB byte.
    assert!(shadow < 0.8 * lit, "shadow {shadow}, lit {lit}");
}

#[test]
fn the_ground_lies_below_the_horizon_and_the_background_above() {
    let camera = Camera {
        position: Point3::new(0.0, -4.0, 0.5),
        target: Point3::new(0.0, 0.0, 0.5),
        ..front_camera(1.0)
    };
    let ball = [RenderSphere { center: [0.0, 0.0, 0.5], radius: 0.05, color: RED }];
    let mut floorless = Picture::new(160, 120, camera);
    floorless.particles = &ball;
    let mut with_floor = floorless.clone();
    with_floor.ground = Some(0.0);
    with_floor.bodies = &[];
    let (sky, both) = (render(&floorless).unwrap(), render(&with_floor).unwrap());
    // A level camera has its horizon in the middle.
    for x in [5, 80, 155] {
        assert_eq!(sky.pixel(x, 10), both.pixel(x, 10));
    }
    assert!(
        sky.pixels.chunks_exact(3).filter(|p| p.iter().all(|&c| c > 190)).count() > 18_000,
        "light background"
    );
    // The same floor as a half space is the same but for its colour.
    let floor =
        [RenderBody { shape: BodyShape::HalfSpace, pose: Isometry3::identity(), color: BLUE, marked: false }];
    let mut half_space = floorless.clone();
    half_space.bodies = &floor;
    let close_up =
        Camera { position: Point3::new(0.0, -0.5, 0.9), target: Point3::new(0.0, 0.0, 0.5), ..camera };
    half_space.camera = close_up;
    let image = render(&half_space).unwrap();
    assert!(is_blue(image.pixel(80, 118).unwrap()), "{:?}", image.pixel(80, 118));
    assert_eq!(sky.pixel(0, 0), both.pixel(0, 0));
}

// Whatever the bounds and the angle, all corners fall inside the picture and at least one comes
// near its edge (the framing fills 0.88 of one half axis for the corner that decides).
#[test]
fn framing_keeps_all_bounds_inside_and_fills_the_picture() {
    let mut random = SplitMix64::new(11);
    for case in 0..200 {
        let low = Point3::from(Vector3::from_fn(|_, _| random.uniform_in(-2.0, 1.0)));
        let high = low + Vector3::from_fn(|_, _| random.uniform_in(0.01, 2.0));
        let (azimuth, elevation) = (random.uniform_in(-3.1, 3.1), random.uniform_in(-0.3, 1.4));
        let (width, height) = (320 + (case % 5) * 80, 300);
        let camera = Camera::frame(low, high, azimuth, elevation, f64::from(width) / f64::from(height));
        let mut farthest: f64 = 0.0;
        for corner in 0..8 {
            let pick = |axis: usize| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] };
            let [x, y] = camera.project(&Point3::new(pick(0), pick(1), pick(2)), width, height).unwrap();
            let (x, y) = (2.0 * x / f64::from(width) - 1.0, 2.0 * y / f64::from(height) - 1.0);
            farthest = farthest.max(x.abs()).max(y.abs());
        }
        assert!((farthest - 0.88).abs() < 1e-9, "case {case}, seed 11: {farthest}");
    }
}

// Threads only share out rows; each sample depends on the scene alone.
#[test]
fn the_same_bytes_whatever_the_number_of_threads() {
    let mut random = SplitMix64::new(5);
    let balls: Vec<RenderSphere> = (0..3000)
        .map(|_| RenderSphere {
            center: std::array::from_fn(|_| random.uniform_in(-0.4, 0.4) as f32),
            radius: 0.03,
            color: viridis(random.uniform() as f32),
        })
        .collect();
    let mut picture = Picture::new(160, 120, front_camera(2.5));
    picture.particles = &balls;
    picture.ground = Some(-0.4);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&picture).unwrap())
    };
    assert!(with(1) == with(3));
}

#[test]
fn captions_are_drawn_and_clipped() {
    let mut picture = Picture::new(60, 40, front_camera(2.0));
    let plain = render(&picture).unwrap();
    picture.caption = Some("t = 0.25 s, a caption longer than the picture is wide");
    let image = render(&picture).unwrap();
    let changed = plain.pixels.chunks(3).zip(image.pixels.chunks(3)).filter(|(a, b)| a != b).count();
    // About 9 characters of up to 20 dots.
    assert!((30..180).contains(&changed), "{changed}");
}

#[test]
fn bad_input_is_a_typed_error() {
    let picture = |width, camera| render(&Picture::new(width, 10, camera)).unwrap_err();
    assert_eq!(picture(0, front_camera(1.0)), RenderError::Size { width: 0, height: 10 });
    assert!(matches!(picture(u32::MAX, front_camera(1.0)), RenderError::Size { .. }));
    assert!(matches!(picture(10, front_camera(0.0)), RenderError::Camera(_)));
    assert!(matches!(picture(10, front_camera(f64::NAN)), RenderError::Camera(_)));
    let along_up = Camera { up: Vector3::y(), ..front_camera(1.0) };
    assert!(matches!(picture(10, along_up), RenderError::Camera(_)));
    let wide = Camera { vertical_fov: 4.0, ..front_camera(1.0) };
    assert!(matches!(picture(10, wide), RenderError::Camera(_)));
    let mut dark = Picture::new(10, 10, front_camera(1.0));
    dark.light = Some(Vector3::zeros());
    assert!(matches!(render(&dark), Err(RenderError::Light(_))));
    let broken =
        BodyShape::Mesh { vertices: vec![Point3::origin()], triangles: vec![[0, 0, 1]], smooth: true };
    let bodies = [solid(broken, RED)];
    let mut picture = Picture::new(10, 10, front_camera(1.0));
    picture.bodies = &bodies;
    assert_eq!(render(&picture), Err(RenderError::Mesh { body: 0, triangle: 0 }));
    // A particle that is not finite is left out, the rest is drawn.
    let balls = [
        RenderSphere { center: [f32::NAN, 0.0, 0.0], radius: 1.0, color: BLUE },
        RenderSphere { center: [0.0; 3], radius: 0.2, color: RED },
    ];
    let mut picture = Picture::new(20, 20, front_camera(2.0));
    picture.particles = &balls;
    assert!(is_red(render(&picture).unwrap().pixel(10, 10).unwrap()));
}

#[test]
fn a_png_decodes_to_the_same_pixels() {
    let ball = [RenderSphere { center: [0.0; 3], radius: 0.3, color: RED }];
    let mut picture = Picture::new(64, 48, front_camera(2.0));
    picture.particles = &ball;
    let image = render(&picture).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("preview.png");
    write_png(&path, &image).unwrap();
    let decoded = image::load_from_memory(&std::fs::read(&path).unwrap()).unwrap().to_rgb8();
    assert_eq!(decoded.dimensions(), (64, 48));
    assert_eq!(decoded.into_raw(), image.pixels);
    let short = Image { width: 2, height: 2, pixels: vec![0; 11] };
    assert!(encode_png(&short, &mut Vec::new()).is_err());
}

/// Frames of the GIF as the `image` crate's decoder shows them.
fn decode(bytes: &[u8]) -> Vec<image::Frame> {
    let decoder = image::codecs::gif::GifDecoder::new(Cursor::new(bytes)).unwrap();
    decoder.into_frames().collect::<Result<_, _>>().unwrap()
}

// A ball crosses the picture: every frame is there, at its time, and shows what was drawn within
// the palette's error plus the tolerance for leaving a pixel as it is.
#[test]
fn a_gif_shows_the_frames_it_was_given() {
    let (width, height, frames) = (96, 60, 12);
    let mut writer = GifWriter::new(Vec::new(), width, height, 0.05).unwrap();
    let mut images = Vec::new();
    for frame in 0..frames {
        let ball = [RenderSphere { center: [-0.5 + 0.08 * frame as f32, 0.0, 0.1], radius: 0.1, color: RED }];
        let mut picture = Picture::new(
            width,
            height,
            Camera { position: Point3::new(0.0, -3.0, 1.0), ..front_camera(1.0) },
        );
        picture.particles = &ball;
        picture.ground = Some(0.0);
        images.push(render(&picture).unwrap());
        writer.add(&images[frame]).unwrap();
    }
    // Twice the same: a frame with nothing new must still be one.
    writer.add(&images[frames - 1]).unwrap();
    let wrong = Image { width: 1, height: 1, pixels: vec![0; 3] };
    assert!(writer.add(&wrong).is_err());
    let bytes = writer.finish().unwrap();
    let decoded = decode(&bytes);
    assert_eq!(decoded.len(), frames + 1);
    for (frame, image) in decoded.iter().zip(&images) {
        assert_eq!(frame.delay().numer_denom_ms(), (50, 1));
        let shown = frame.buffer().pixels().flat_map(|p| [p[0], p[1], p[2]]);
        let worst = shown.zip(&image.pixels).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(worst <= 40, "{worst}");
        let shown = frame.buffer().pixels().flat_map(|p| [p[0], p[1], p[2]]);
        let sum: u64 = shown.zip(&image.pixels).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        assert!((sum as f64 / image.pixels.len() as f64) < 4.0, "mean error {sum}");
    }
    assert!(GifWriter::new(Vec::new(), 0, 10, 0.1).is_err());
    assert!(GifWriter::new(Vec::new(), 10, 10, f64::NAN).is_err());
}

// LZW against an independent decoder, on what strains it: noise fills the table of 4096 codes again
// and again, and lengths around the changes of width try the last code of each.
#[test]
fn gif_compression_is_understood_at_every_length() {
    let mut random = SplitMix64::new(2);
    for (width, height) in
        (1..60).map(|n| (n * 9, 1)).chain([(251, 1), (252, 1), (253, 1), (254, 1), (255, 1), (300, 200)])
    {
        // Few colours, so that the palette is exact and the pixels come back the same.
        let pixels = (0..width * height).flat_map(|_| [(random.next_u64() % 200) as u8 & 0xFC; 3]).collect();
        let image = Image { width, height, pixels };
        let mut writer = GifWriter::new(Vec::new(), width, height, 0.1).unwrap();
        writer.add(&image).unwrap();
        let frames = decode(&writer.finish().unwrap());
        let shown: Vec<u8> = frames[0].buffer().pixels().flat_map(|p| [p[0], p[1], p[2]]).collect();
        assert!(shown == image.pixels, "{width} x {height}, seed 2");
    }
}

// The map grows lighter throughout (CIE luminance of the linear colour), which is what makes it
// readable in grey.
#[test]
fn viridis_grows_lighter() {
    let luminance = |t: f32| {
        let linear = viridis(t).map(|c| (f64::from(c) / 255.0).powf(2.2));
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let values: Vec<f64> = (0..=50).map(|i| luminance(i as f32 / 50.0)).collect();
    assert!(values.windows(2).all(|w| w[1] > w[0]), "{values:?}");
    assert_eq!(viridis(f32::NAN), viridis(0.0));
    assert_eq!(viridis(7.0), viridis(1.0));
}

/// A sheet of `side` x `side` squares over [-1, 1]^2 whose front is on the side of +w of (u, v, w),
/// and where `at` places (u, v).
struct Sheet {
    positions: Vec<[f32; 3]>,
    colors: Vec<[u8; 3]>,
    triangles: Vec<[u32; 3]>,
    back_colors: Vec<[u8; 3]>,
}

impl Sheet {
    fn new(side: u32, at: impl Fn(f64, f64) -> [f64; 3]) -> Self {
        let across = side + 1;
        let part = |i: u32| 2.0 * f64::from(i) / f64::from(side) - 1.0;
        let place = |n: u32| at(part(n % across), part(n / across)).map(|x| x as f32);
        let cells = (0..side * side).map(|n| n / side * across + n % side);
        let triangles: Vec<_> =
            cells.flat_map(|n| [[n, n + 1, n + across], [n + 1, n + across + 1, n + across]]).collect();
        Self {
            positions: (0..across * across).map(place).collect(),
            colors: vec![RED; (across * across) as usize],
            back_colors: vec![BLUE; triangles.len()],
            triangles,
        }
    }

    fn cloth(&self) -> RenderCloth<'_> {
        let Self { positions, colors, triangles, back_colors } = self;
        RenderCloth { positions, colors, triangles, back_colors }
    }
}

fn draw_cloths(cloths: &[RenderCloth], side: u32, camera: Camera, light: Vector3<f64>) -> Image {
    let mut picture = Picture::new(side, side, camera);
    (picture.cloths, picture.light) = (cloths, Some(light));
    render(&picture).unwrap()
}

// A sheet that faces the camera shows the area of its outline under a long lens and no gap between
// its 7,200 uneven triangles, in the colour of the side that is seen. A gap shows the background in
// a quarter of a pixel at least, a tenth of its brightness.
#[test]
fn cloth_shows_each_side_in_its_colour_without_gaps() {
    let camera = Camera { vertical_fov: 0.03, ..front_camera(40.0) };
    let mut random = SplitMix64::new(23);
    let shaken: Vec<[f64; 2]> =
        (0..61 * 61).map(|_| [0, 1].map(|_| random.uniform_in(-0.003, 0.003))).collect();
    let sheet = |sign: f64| {
        Sheet::new(60, |u, v| {
            let inside = u.abs() < 0.99 && v.abs() < 0.99;
            let n = ((v + 1.0) * 30.0).round() * 61.0 + ((u + 1.0) * 30.0).round();
            let [a, b] = if inside { shaken[n as usize] } else { [0.0; 2] };
            [sign * (0.4 * u + a), 0.0, 0.4 * v + b]
        })
    };
    let pixels_per_metre = 150.0 / 0.015_f64.tan() / 40.0;
    let expected = (0.8 * pixels_per_metre).powi(2);
    for (sign, is_seen) in [(1.0, is_red as fn([u8; 3]) -> bool), (-1.0, is_blue)] {
        let sheet = sheet(sign);
        let image = draw_cloths(&[sheet.cloth()], 300, camera, -Vector3::y());
        let area = count(&image, is_seen) as f64;
        assert!((area / expected - 1.0).abs() < 0.01, "{area} pixels, expected {expected:.0}, seed 23");
        let middle = image.pixel(150, 150).unwrap();
        let reach = (0.4 * pixels_per_metre) as u32 - 2;
        for y in 150 - reach..150 + reach {
            for x in 150 - reach..150 + reach {
                let p = image.pixel(x, y).unwrap();
                let off = (0..3).map(|c| p[c].abs_diff(middle[c])).max().unwrap();
                assert!(off <= 4, "({x}, {y}): {p:?}, middle {middle:?}, seed 23");
            }
        }
        // Without colours of their own, backs look like fronts.
        let alike = RenderCloth { back_colors: &[], ..sheet.cloth() };
        assert_eq!(count(&draw_cloths(&[alike], 300, camera, -Vector3::y()), is_red), area as usize);
    }
    let [front, back] = [RED, back_color(RED)].map(|c| c.map(f64::from));
    assert!(back.iter().sum::<f64>() < front.iter().sum() && back[0] - back[1] < front[0] - front[1]);
}

// Of two layers a tenth of a millimetre apart the nearer one is seen at every pixel, at 3 m, from
// either side, in either order.
#[test]
fn the_nearer_of_two_close_layers_is_seen() {
    let layer = |y: f64| Sheet::new(20, |u, v| [0.4 * u, y + 0.05 * (4.0 * u).sin(), 0.4 * v]);
    let (near, mut far) = (layer(0.0), layer(1e-4));
    far.colors.fill([30, 200, 60]);
    far.back_colors.fill([230, 210, 40]);
    for (from, expected) in [(-3.0, is_red as fn([u8; 3]) -> bool), (3.0, |p| p[0] > 120 && p[2] < 120)] {
        let camera = Camera { position: Point3::new(0.0, from, 0.0), ..front_camera(3.0) };
        let images = [[near.cloth(), far.cloth()], [far.cloth(), near.cloth()]]
            .map(|cloths| draw_cloths(&cloths, 120, camera, Vector3::y() * from));
        assert!(images[0] == images[1]);
        for y in 40..80 {
            for x in 40..80 {
                let p = images[0].pixel(x, y).unwrap();
                assert!(expected(p), "({x}, {y}) from {from}: {p:?}");
            }
        }
    }
}

// Averaged normals make a half pipe of 24 facets look round: the light on it is the cosine of the
// angle to the camera, which changes by 2 levels a pixel at most where it is not steep; from one
// flat facet to the next it would jump by 10 and stay.
#[test]
fn cloth_is_shaded_smoothly() {
    let camera = Camera { vertical_fov: 0.03, ..front_camera(40.0) };
    let pipe = Sheet::new(24, |u, v| {
        let (sin, cos) = (u * std::f64::consts::FRAC_PI_2).sin_cos();
        [0.4 * sin, -0.4 * cos, 0.4 * v]
    });
    let image = draw_cloths(&[pipe.cloth()], 300, camera, -Vector3::y());
    let row: Vec<f64> = (80..220).map(|x| brightness(&image, x, 150)).collect();
    let steepest = row.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f64::max);
    assert!(steepest < 4.0, "{steepest}: {row:?}");
    assert!(row[70] > row[5] + 10.0 && row[70] > row[134] + 10.0, "{row:?}");
}

// A level sheet throws its shadow on the ground, as a ball does, and takes that of a ball above it.
#[test]
fn cloth_casts_and_takes_shadows() {
    let sheet = Sheet::new(10, |u, v| [0.2 * u, 0.2 * v, 0.3]);
    let ball = [RenderSphere { center: [-0.2, 0.0, 0.5], radius: 0.06, color: BLUE }];
    let camera = Camera { position: Point3::new(0.0, -3.0, 2.5), ..front_camera(1.0) };
    let (cloths, size) = ([sheet.cloth()], 300);
    let mut picture = Picture::new(size, size, camera);
    picture.cloths = &cloths;
    picture.particles = &ball;
    picture.ground = Some(0.0);
    picture.light = Some(Vector3::new(-1.0, 0.0, 1.0));
    let image = render(&picture).unwrap();
    let at = |x: f64, y: f64, z: f64| {
        let [column, row] = camera.project(&Point3::new(x, y, z), size, size).unwrap();
        brightness(&image, column as u32, row as u32)
    };
    // On the ground the sheet's shadow is about x = 0.3; on the sheet the ball's is about x = 0.
    for (shadow, lit) in [(at(0.4, 0.0, 0.0), at(-0.4, 0.0, 0.0)), (at(0.0, 0.0, 0.3), at(0.14, 0.0, 0.3))] {
        assert!(shadow < 0.85 * lit, "shadow {shadow}, lit {lit}");
    }
}

#[test]
fn bad_cloth_is_a_typed_error() {
    let sheet = Sheet::new(2, |u, v| [u, 0.0, v]);
    let draw = |cloth| {
        let cloths = [cloth];
        let mut picture = Picture::new(20, 20, front_camera(2.0));
        picture.cloths = &cloths;
        render(&picture)
    };
    let missing = RenderCloth { triangles: &[[0, 1, 2], [0, 1, 9]], back_colors: &[], ..sheet.cloth() };
    assert_eq!(draw(missing), Err(RenderError::RenderCloth { cloth: 0, triangle: 1 }));
    let colourless = RenderCloth { colors: &sheet.colors[..8], ..sheet.cloth() };
    assert!(matches!(draw(colourless), Err(RenderError::RenderCloth { cloth: 0, .. })));
    let uneven = RenderCloth { back_colors: &sheet.back_colors[..7], ..sheet.cloth() };
    assert_eq!(draw(uneven), Err(RenderError::Backs { cloth: 0, triangles: 8, backs: 7 }));
    // A vertex that is not finite takes its own triangles along, no others.
    let mut torn = sheet.positions.clone();
    torn[0] = [f32::NAN; 3];
    let image = draw(RenderCloth { positions: &torn, ..sheet.cloth() }).unwrap();
    assert!(is_red(image.pixel(14, 5).unwrap()) || is_blue(image.pixel(14, 5).unwrap()));
}
