//! Pictures against projective geometry: where things are, what hides what, how large they are,
//! where shadows fall.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

mod render_support;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_numeric::random::SplitMix64;
use pliant_render::{
    Background, BodyShape, Camera, KeptBackground, Picture, RenderBody, RenderError, RenderSphere, render,
    render_before, render_depth, render_with_depth, viridis,
};
use render_support::{BLUE, RED, brightness, count, front_camera, is_blue, is_red};

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

// The law: a background saves work and changes nothing. Random solids, floors, lights and sizes, drafts
// and stills: before a background made without any solid, before that of another picture, and before
// one that is kept while the camera stays, a picture has the bytes and depths that it has alone.
#[test]
fn a_background_changes_no_byte() {
    let seed = 20_261_127;
    println!("seed {seed}");
    let mut random = SplitMix64::new(seed);
    let mut other: Option<Background> = None;
    let mut kept = KeptBackground::default();
    for case in 0..60 {
        let mut within = |low: f64, high: f64| low + (high - low) * random.uniform();
        let size = 10.0_f64.powf(within(-2.0, 1.0));
        let place = |a: f64, b: f64, c: f64| Vector3::new(a, b, c) * size;
        let camera = Camera {
            position: place(within(-3.0, 3.0), within(-6.0, -2.0), within(-0.5, 4.0)).into(),
            target: Point3::origin(),
            up: Vector3::z(),
            vertical_fov: within(0.2, 1.2),
        };
        let ball = |a: f64, b: f64, c: f64, r: f64| RenderSphere {
            center: place(a, b, c).map(|x| x as f32).into(),
            radius: (r * size) as f32,
            color: RED,
        };
        let balls: Vec<_> = (0..(within(0.0, 9.0) as usize))
            .map(|_| ball(within(-2.0, 2.0), within(-2.0, 2.0), within(-0.5, 2.0), within(0.01, 0.6)))
            .collect();
        let half_extents = place(within(0.1, 1.0), within(0.1, 1.0), within(0.1, 1.0));
        let mut bodies = vec![solid(BodyShape::Box { half_extents }, BLUE)];
        if within(0.0, 1.0) < 0.4 {
            let turn = UnitQuaternion::from_euler_angles(within(-0.5, 0.5), within(-0.5, 0.5), 0.0);
            let pose = Isometry3::from_parts(place(0.0, 0.0, within(-1.0, 0.0)).into(), turn);
            bodies.push(RenderBody { pose, ..solid(BodyShape::HalfSpace, [200, 190, 180]) });
        }
        let sides = [within(20.0, 90.0) as u32, within(20.0, 90.0) as u32];
        let mut picture = Picture::new(sides[0], sides[1], camera);
        picture.ground = (within(0.0, 1.0) < 0.7).then(|| within(-1.0, 0.5) * size);
        picture.light =
            (within(0.0, 1.0) < 0.5).then(|| Vector3::new(within(-1.0, 1.0), 0.3, within(0.2, 1.0)));
        picture.draft = within(0.0, 1.0) < 0.5;
        picture.particles = &balls;
        picture.bodies = &bodies;
        let alone = render(&picture).unwrap();
        let empty = Picture { particles: &[], bodies: &bodies[1..], ..picture.clone() };
        let background = Background::new(&empty).unwrap();
        assert!(render_before(&picture, &background).unwrap() == alone, "case {case}: {picture:?}");
        let depths = render_depth(&picture).unwrap();
        for turn in 0..3 {
            let (image, depth) = render_with_depth(&picture, &mut kept).unwrap();
            assert!(image == alone && depth == depths, "case {case}, turn {turn}: {picture:?}");
        }
        if let Some(other) = other.replace(background) {
            assert!(render_before(&picture, &other).unwrap() == alone, "case {case}: {picture:?}");
        }
    }
}

// Depth is along the viewing direction: that of a floor seen obliquely is linear over the rows in
// 1/depth, and a ball in front of it is as far as its nearest point where the camera looks.
#[test]
fn depths_are_those_along_the_viewing_direction() {
    let (height, distance, radius) = (2.0, 3.0, 0.4_f64);
    let ball = [RenderSphere { center: [0.0; 3], radius: radius as f32, color: RED }];
    let mut picture = Picture::new(101, 101, front_camera(distance));
    picture.particles = &ball;
    let depth = render_depth(&picture).unwrap();
    assert!((f64::from(depth[50 * 101 + 50]) - (distance - radius)).abs() < 1e-4, "{}", depth[50 * 101 + 50]);
    assert_eq!(depth[0], f32::INFINITY);

    let camera = Camera {
        position: Point3::new(0.0, -4.0, height),
        target: Point3::new(0.0, 0.0, 0.0),
        up: Vector3::z(),
        vertical_fov: 0.5,
    };
    let mut picture = Picture::new(60, 80, camera);
    picture.ground = Some(0.0);
    let depth = render_depth(&picture).unwrap();
    // The plane z = 0 along the ray of slopes (a, b): depth = height / (sin - b cos) for a camera that
    // looks down by the angle atan(height / 4). The nearest sample is half a sample below a centre.
    let down = (height / 4.0_f64).atan();
    let scale = 40.0 / 0.25_f64.tan();
    for (pixel, depth) in depth.iter().enumerate() {
        let b = (40.0 - (pixel / 60) as f64 - 0.75) / scale;
        let expected = height / (down.sin() - b * down.cos());
        assert!((f64::from(*depth) / expected - 1.0).abs() < 1e-5, "pixel {pixel}: {depth} and {expected}");
    }
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
