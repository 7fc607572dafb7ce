//! Pictures of cloth: its sides, gaps, layers, shading and shadows.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

mod render_support;

use nalgebra::{Point3, Vector3};
use pliant_numeric::random::SplitMix64;
use pliant_render::{
    Camera, Image, Picture, RenderCloth, RenderError, RenderSphere, back_color, render, weave_coordinates,
};
use render_support::{BLUE, RED, brightness, count, front_camera, is_blue, is_red};

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
        RenderCloth { positions, colors, triangles, back_colors, weave: &[] }
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

// Laws of the weave, on both sides: seen from near it changes the tone, but the mean of a block of
// pixels by less than 2 %; from afar it does not change a pixel; and on a cloth that has moved a
// vertex keeps its threads: the picture is the same, moved.
#[test]
fn the_weave_fades_and_moves_with_the_cloth() {
    let sheet = |shift: f64, sign: f64| Sheet::new(20, |u, v| [sign * 0.4 * u + shift, 0.0, 0.4 * v]);
    for sign in [1.0, -1.0] {
        let (rest, moved) = (sheet(0.0, sign), sheet(3.0, sign));
        let coordinates = weave_coordinates(&rest.positions, &rest.triangles);
        let look = |sheet: &Sheet, weave: &[[f32; 2]], shift: f64, distance: f64| {
            let mut camera = front_camera(distance);
            camera.vertical_fov = 0.2;
            camera.position.x += shift;
            camera.target.x += shift;
            draw_cloths(&[RenderCloth { weave, ..sheet.cloth() }], 200, camera, -Vector3::y())
        };
        let (plain, woven) = (look(&rest, &[], 0.0, 1.5), look(&rest, &coordinates, 0.0, 1.5));
        let near = |a: &Image, b: &Image, most: u8| {
            a.pixels.iter().zip(&b.pixels).filter(|(x, y)| x.abs_diff(**y) > most).count()
        };
        assert!(near(&plain, &woven, 2) > 10_000, "{}", near(&plain, &woven, 2));
        for block in 0..4 {
            let (x, y) = (block % 2 * 100, block / 2 * 100);
            let mean = |image: &Image| {
                let pixels = (0..100 * 100).map(|n| brightness(image, x + n % 100, y + n / 100));
                pixels.sum::<f64>() / 1e4
            };
            let ratio = mean(&woven) / mean(&plain);
            assert!((ratio - 1.0).abs() < 0.02, "block {block}: {ratio}");
        }
        let follows = look(&moved, &coordinates, 3.0, 1.5);
        // Rounding of the places moves a sample by less than a hundredth of a thread.
        assert!(near(&woven, &follows, 2) < 100, "{}", near(&woven, &follows, 2));
        let stays = look(&moved, &weave_coordinates(&moved.positions, &moved.triangles), 3.0, 1.5);
        assert!(near(&woven, &stays, 2) > 10_000);
        let [plain, woven] = [&[][..], &coordinates].map(|weave| look(&rest, weave, 0.0, 9.0));
        assert!(plain == woven);
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
