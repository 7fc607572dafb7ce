//! Surfaces of particles that fill known solids, against those solids.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use pliant_numeric::random::SplitMix64;
use pliant_render::{Camera, Picture, RenderSphere, RenderSurface, SoftBodies, render, soft_bodies};

use nalgebra::{Point3, Vector3};

/// Radius of a particle over its spacing at rest.
const RADIUS: f32 = 0.6;

/// Particles on a lattice, jittered by a tenth of the spacing, that lie in a solid.
fn filled(
    random: &mut SplitMix64,
    side: f64,
    spacing: f64,
    is_inside: impl Fn(&Vector3<f64>) -> bool,
) -> Vec<RenderSphere> {
    let count = (side / spacing).round() as i32;
    let start = -f64::from(count - 1) / 2.0;
    let mut balls = Vec::new();
    for z in 0..count {
        for y in 0..count {
            for x in 0..count {
                let at = Vector3::new(x, y, z).map(|k| (start + f64::from(k)) * spacing);
                if is_inside(&at) {
                    let moved = at.map(|c| c + (random.uniform() - 0.5) * 0.2 * spacing);
                    let center = moved.map(|c| c as f32).into();
                    balls.push(RenderSphere {
                        center,
                        radius: RADIUS * spacing as f32,
                        color: [200, 90, 40],
                    });
                }
            }
        }
    }
    balls
}

/// Volume by the divergence theorem: that of the tetrahedra from the origin to each triangle; it is
/// positive when triangles go round counterclockwise from outside.
fn volume(surface: &RenderSurface) -> f64 {
    let corner = |v: u32| Vector3::from(surface.positions[v as usize].map(f64::from));
    let of = |t: &[u32; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2]))) / 6.0;
    surface.triangles.iter().map(of).sum()
}

fn one(drawn: SoftBodies) -> RenderSurface {
    assert!(drawn.failures.is_empty(), "{:?}", drawn.failures);
    assert_eq!(drawn.surfaces.len(), 1);
    drawn.surfaces.into_iter().next().unwrap()
}

// Law: the surface of a ball filled with particles has the particles' volume (a spacing cubed each)
// within 10 %, and lies within 0.8 of a spacing of the ball: the lattice leaves half a spacing of
// doubt where the ball ends.
#[test]
fn a_filled_ball_has_its_surface() {
    for seed in 0..12 {
        let mut random = SplitMix64::new(seed);
        let spacing = 10f64.powf(-3.0 + 2.0 * random.uniform());
        let radius = spacing * (5.0 + 7.0 * random.uniform());
        let balls = filled(&mut random, 2.0 * radius, spacing, |p| p.norm() < radius);
        let surface = one(soft_bodies(&balls, &vec![7; balls.len()], 0.7 * spacing as f32));
        let ratio = volume(&surface) / (balls.len() as f64 * spacing.powi(3));
        assert!((ratio - 1.0).abs() < 0.1, "volume ratio {ratio}, seed {seed}");
        for p in &surface.positions {
            let off = (Vector3::from(p.map(f64::from)).norm() - radius) / spacing;
            assert!(off.abs() < 0.8, "{off} spacings off the ball, seed {seed}");
        }
    }
}

// Law: the surface of a filled box has its volume within 8 %; no point of it is more than 0.4 of a
// spacing outside the box, and none but those at edges, which are round, is deeper inside than 0.4.
#[test]
fn a_filled_box_has_its_surface() {
    for seed in 20..32 {
        let mut random = SplitMix64::new(seed);
        let spacing = 10f64.powf(-3.0 + 2.0 * random.uniform());
        let count = 8.0 + (8.0 * random.uniform()).floor();
        let side = count * spacing;
        let balls = filled(&mut random, side, spacing, |_| true);
        let surface = one(soft_bodies(&balls, &vec![0; balls.len()], 0.5 * spacing as f32));
        let ratio = volume(&surface) / side.powi(3);
        assert!((ratio - 1.0).abs() < 0.08, "volume ratio {ratio}, seed {seed}");
        for p in &surface.positions {
            let mut inside = p.map(|c| (side / 2.0 - f64::from(c).abs()) / spacing);
            inside.sort_by(f64::total_cmp);
            assert!(inside[0] > -0.4, "{} spacings outside, seed {seed}", -inside[0]);
            assert!(inside[0] < 0.4 || inside[1] < 2.0, "{inside:?} spacings inside, seed {seed}");
        }
    }
}

// Law: the same surface to the last bit, whatever the number of threads.
#[test]
fn threads_do_not_change_a_surface() {
    let mut random = SplitMix64::new(3);
    let mut balls = filled(&mut random, 0.4, 0.01, |p| p.norm() < 0.2);
    for ball in &mut balls {
        ball.color = [0, 1, 2].map(|_| random.next_u64() as u8);
    }
    let bodies: Vec<u32> = balls.iter().map(|ball| u32::from(ball.center[0] > 0.05)).collect();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| soft_bodies(&balls, &bodies, 0.005))
    };
    let expected = with(1);
    assert_eq!(expected.surfaces.len(), 2);
    for threads in [2, 2, 3, 8] {
        assert!(with(threads) == expected, "{threads} threads, seed 3");
    }
}

// Laws: bodies with different numbers keep surfaces of their own though they touch; a grain alone
// stays a sphere; colours are within those of the particles.
#[test]
fn bodies_do_not_merge_and_grains_stay_spheres() {
    let mut random = SplitMix64::new(4);
    let mut balls = filled(&mut random, 0.1, 0.01, |_| true);
    let bodies: Vec<u32> = balls.iter().map(|ball| u32::from(ball.center[2] > 0.0)).collect();
    for (ball, body) in balls.iter_mut().zip(&bodies) {
        ball.color = if *body == 0 { [250, 10, 10] } else { [10, 10, 250] };
    }
    let mut all = (balls.clone(), bodies.clone());
    let grain = RenderSphere { center: [0.5, 0.0, 0.0], radius: 0.006, color: [0, 255, 0] };
    all.0.push(grain);
    all.1.push(0);
    let drawn = soft_bodies(&all.0, &all.1, 0.005);
    assert_eq!((drawn.surfaces.len(), &drawn.spheres), (2, &vec![grain]));
    for (surface, color) in drawn.surfaces.iter().zip([[250, 10, 10], [10, 10, 250]]) {
        assert!(surface.colors.iter().all(|c| *c == color));
        let ratio = volume(surface) / 5e-4;
        assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
    }
    // Half of one body brighter: no vertex is brighter or darker than both.
    for ball in &mut balls {
        ball.color = if ball.center[0] > 0.0 { [200, 100, 0] } else { [100, 100, 0] };
    }
    let surface = one(soft_bodies(&balls, &vec![0; balls.len()], 0.005));
    assert!(surface.colors.iter().all(|c| (100..=200).contains(&c[0]) && c[1] == 100 && c[2] == 0));
    assert!(surface.colors.iter().any(|c| c[0] == 100) && surface.colors.iter().any(|c| c[0] == 200));
}

// Law: what is not finite is left out, and a body that is spread without bounds is drawn as spheres
// and named; nothing of it stops a picture.
#[test]
fn a_diverged_frame_is_drawn() {
    let mut random = SplitMix64::new(5);
    let mut balls = filled(&mut random, 0.1, 0.01, |_| true);
    let sound = balls.len();
    balls[3].center[1] = f32::NAN;
    balls[77].center[2] = f32::INFINITY;
    balls[78].radius = f32::NAN;
    let camera = Camera::frame(Point3::new(-0.1, -0.1, -0.1), Point3::new(0.1, 0.1, 0.1), 0.3, 0.4, 1.0);
    let reds = |drawn: &SoftBodies| {
        let mut picture = Picture::new(80, 80, camera);
        picture.surfaces = &drawn.surfaces;
        picture.particles = &drawn.spheres;
        let image = render(&picture).unwrap();
        image.pixels.chunks(3).filter(|p| p[0] > p[2] + 40).count()
    };
    let drawn = soft_bodies(&balls, &vec![0; sound], 0.005);
    assert_eq!((drawn.surfaces.len(), drawn.failures.len()), (1, 0));
    let seen = reds(&drawn);
    assert!(seen > 1000, "{seen}");
    // A second lump at the edge of what a float tells apart.
    let far: Vec<RenderSphere> = filled(&mut random, 0.05, 0.01, |_| true);
    balls.extend(far.iter().map(|b| RenderSphere { center: [b.center[0] + 1e9, 0.0, 0.0], ..*b }));
    let drawn = soft_bodies(&balls, &vec![0; balls.len()], 0.005);
    assert_eq!((drawn.surfaces.len(), drawn.failures.len()), (0, 1));
    assert_eq!(drawn.spheres.len(), balls.len() - 3);
    assert!(drawn.failures[0].to_string().contains("soft body 0"), "{}", drawn.failures[0]);
    assert!(!soft_bodies(&[], &[], 0.01).spheres.iter().any(|_| true));
}
