//! Contact between strands of ropes: they do not pass through each other, and stay apart by the sum of their radii.

#![allow(clippy::unwrap_used)] // everything here runs in tests

mod common;

use common::{ROUNDOFF, bits};
use nalgebra::Vector3;
use pliant_mpm::cloth::Pin;
use pliant_mpm::rope::{Rope, RopeMaterial, StrandReport};
use pliant_mpm::{InstructionSet, Mpm, Totals};
use pliant_testing::Random;

type V3 = Vector3<f64>;

fn model(h: f64, ropes: &[Rope]) -> Mpm {
    Mpm::with_ropes(h, vec![], &[], (&[], ropes), &[], InstructionSet::detect()).unwrap()
}

fn totals(mpm: &Mpm) -> Totals {
    mpm.totals(&mut Vec::new())
}

fn energy(totals: &Totals) -> f64 {
    totals.kinetic_energy + totals.elastic_energy
}

fn substep(mpm: &mut Mpm, time: f64, dt: f64, gravity: V3) {
    mpm.begin_step();
    mpm.particles_to_grid(dt, gravity);
    mpm.apply_pins(time, dt);
    mpm.grid_to_particles(dt).unwrap();
}

/// Positions of the vertices of every rope \[m\].
fn lines(mpm: &Mpm) -> Vec<Vec<V3>> {
    let particles = mpm.particles();
    mpm.rope_particles().iter().map(|ids| ids.clone().map(|id| particles[id].position.coords).collect()).collect()
}

/// Distance of two segments: of the common perpendicular of their lines, where that is on both, and of the end
/// points from the other segment.
fn distance([a, b, c, d]: &[V3; 4]) -> f64 {
    let (u, v, r) = (b - a, d - c, a - c);
    let on = |x: &V3, from: &V3, along: &V3| ((x - from).dot(along) / along.norm_squared()).clamp(0.0, 1.0);
    let mut places = vec![[0.0, on(a, c, &v)], [1.0, on(b, c, &v)], [on(c, a, &u), 0.0], [on(d, a, &u), 1.0]];
    let area = u.norm_squared() * v.norm_squared() - u.dot(&v).powi(2);
    if area > 0.0 {
        let s = (u.dot(&v) * v.dot(&r) - u.dot(&r) * v.norm_squared()) / area;
        let t = (u.norm_squared() * v.dot(&r) - u.dot(&v) * u.dot(&r)) / area;
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            places.push([s, t]);
        }
    }
    places.into_iter().map(|[s, t]| (r + u * s - v * t).norm()).fold(f64::INFINITY, f64::min)
}

/// Whether two segments pass through each other on straight ways: in one plane, found by bisection from 16
/// samples, without a distance.
fn passes(from: &[V3; 4], to: &[V3; 4]) -> bool {
    let at = |t: f64| -> [V3; 4] { core::array::from_fn(|i| from[i] + (to[i] - from[i]) * t) };
    let volume = |t: f64| {
        let x = at(t);
        (x[1] - x[0]).cross(&(x[3] - x[2])).dot(&(x[2] - x[0]))
    };
    let size = (from[1] - from[0]).norm();
    (0..16).any(|sample| {
        let (mut low, mut high) = (f64::from(sample) / 16.0, f64::from(sample + 1) / 16.0);
        let sign = volume(low).signum();
        if sign == volume(high).signum() {
            return false;
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if volume(middle).signum() == sign { low = middle } else { high = middle }
        }
        distance(&at(low)) < 1e-6 * size
    })
}

/// What the strands of all ropes do in a substep.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Whether some pass through each other.
    passed: bool,
    /// Least distance over the sum of the radii.
    nearest: f64,
}

/// Looks at all pairs of segments of different ropes, and at those of one rope that are at least `apart` of its
/// segments apart.
fn look(ropes: &[Rope], from: &[Vec<V3>], to: &[Vec<V3>], apart: Option<usize>) -> Seen {
    let mut seen = Seen { passed: false, nearest: f64::INFINITY };
    for (i, a) in ropes.iter().enumerate() {
        for (j, b) in ropes.iter().enumerate().skip(i) {
            let reach = a.material.radius + b.material.radius;
            for k in 1..to[i].len() {
                for l in 1..to[j].len() {
                    if i == j && apart.is_none_or(|apart| l < k + apart) {
                        continue;
                    }
                    let points = |of: &[Vec<V3>]| [of[i][k - 1], of[i][k], of[j][l - 1], of[j][l]];
                    let (before, now) = (points(from), points(to));
                    let sizes = (before[1] - before[0]).norm() + (before[3] - before[2]).norm();
                    let ways = (0..4).map(|n| (now[n] - before[n]).norm()).sum::<f64>();
                    if (before[0] - before[2]).norm() > sizes + ways + reach {
                        continue;
                    }
                    seen.passed |= passes(&before, &now);
                    seen.nearest = seen.nearest.min(distance(&now) / reach);
                }
            }
        }
    }
    seen
}

/// Part of a distance over the sum of the radii R that may be missing: each substep may leave 1e-5 of R, and
/// rounding of the positions, of up to six cells from the corner of a block, on both strands; a tenth of what is
/// missing comes back in each.
fn missing(h: f64, reach: f64) -> f64 {
    10.0 * (1e-5 + 2.0 * 3.0_f64.sqrt() * 8.0 * ROUNDOFF * h / reach)
}

/// A rope's material at random over a wide range, in a grid of spacing `h` \[m\], and the length of its segments
/// \[m\].
fn any_rope(random: &mut Random, h: f64) -> (RopeMaterial, f64) {
    let youngs_modulus = random.log_uniform(1e4, 1e10);
    let radius = h * random.log_uniform(1e-2, 0.5);
    let mut material = RopeMaterial {
        damping: random.choose(&[1.0, 0.5]),
        ..RopeMaterial::new(random.log_uniform(100.0, 2e4), radius, youngs_modulus, 0.4 * youngs_modulus)
    };
    if random.unit() < 0.5 {
        material.bending_stiffness = Some(material.bending() * random.log_uniform(1e-3, 1.0));
    }
    (material, h * random.uniform((radius / h).max(0.2), 4.0 / 3.0))
}

/// Two ropes, 10 h long or a little more, that cross at a random angle with this `gap` between them over the sum of
/// their radii, turned and put anywhere; and the direction from the second to the first across both.
fn crossed(random: &mut Random, h: f64, gap: f64) -> ([Rope; 2], V3) {
    let materials = [any_rope(random, h), any_rope(random, h)];
    let apart = (1.0 + gap) * (materials[0].0.radius + materials[1].0.radius);
    let (turn, at) = (random.rotation(), V3::from(random.vec3(-1.0, 1.0)));
    let angle = random.uniform(0.3, 1.5);
    let ropes = [0, 1].map(|n| {
        let side = [0.5, -0.5][n];
        let (material, length) = materials[n];
        let segments = (10.0 * h / length).ceil();
        let along = V3::new((angle * side).cos(), (angle * side).sin(), 0.0) * (length * segments);
        let middle = V3::z() * (apart * side) + along * random.uniform(-0.2, 0.2);
        let ends = [-0.5, 0.5].map(|end| at + turn * (middle + along * end));
        Rope::new(Rope::line(ends[0], ends[1], segments as usize), material)
    });
    (ropes, turn * V3::z())
}

/// Crossed ropes that fly at each other in free space, over a wide range: none passes through the other, distances
/// stay, momenta are kept to rounding in every substep, and energy does not grow: at the start it is all
/// kinetic, which explicit steps turn into energy that swings by 1 / (1 - x / 2) at most, for the largest phase x
/// of 1.4 (`random_ropes_are_stable`).
#[test]
fn flying_ropes_do_not_pass_each_other() {
    const SEED: u64 = 2801;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let (mut touched, mut contacts, mut rigid) = (0, 0, 0);
    let mut worst = [0.0_f64; 4];
    for case in 0..60 {
        let h = random.log_uniform(1e-3, 0.1);
        let gap = random.log_uniform(1e-3, 0.1);
        let (mut ropes, across) = crossed(&mut random, h, gap);
        let reach = ropes[0].material.radius + ropes[1].material.radius;
        let wave = ropes.each_ref().map(|rope| rope.material.wave_speed());
        let speed = wave[0].min(wave[1]) * random.log_uniform(1e-2, 1.0);
        let boost = random.vector() * speed;
        for (rope, side) in ropes.iter_mut().zip([-0.5, 0.5]) {
            rope.velocity = boost + across * (speed * side) + 0.1 * speed * random.vector();
        }
        let share = random.uniform(0.2, 0.9);
        let mut mpm = model(h, &ropes);
        mpm.set_grid_velocity(boost);
        let (mut last, mut before) = (totals(&mpm), lines(&mpm));
        let start = energy(&last);
        let mut of_case = 0;
        for k in 0..400 {
            let dt = share * mpm.largest_stable_substep(mpm.max_speed_relative_to(&boost));
            substep(&mut mpm, 0.0, dt, V3::zeros());
            let (now, after) = (totals(&mpm), lines(&mpm));
            let report = mpm.strand_report().unwrap();
            let seen = look(&ropes, &before, &after, None);
            let what = || format!("seed {SEED}, case {case}, substep {k}: {seen:?} {report:?}, h {h}, {ropes:?}");
            assert!(!seen.passed, "{}", what());
            of_case += report.contacts;
            rigid += report.rigid;
            let size = now.mass * (boost.norm() + wave[0].max(wave[1])) * (mpm.len() as f64).sqrt() * ROUNDOFF;
            let lever = (now.first_moment / now.mass).norm() + 10.0 * h;
            let found = [
                (1.0 - seen.nearest) / missing(h, reach),
                (now.linear_momentum - last.linear_momentum).norm() / size,
                (now.angular_momentum - last.angular_momentum).norm() / (size * lever),
                energy(&now) / start * (1.0 - 0.7),
            ];
            assert!(found.iter().all(|part| *part < 1.0), "{found:?}; {}", what());
            worst = core::array::from_fn(|n| worst[n].max(found[n]));
            (last, before) = (now, after);
        }
        touched += usize::from(of_case > 0);
        contacts += of_case;
    }
    println!("{touched} of 60 touch; {contacts} contacts, {rigid} rigid vertices");
    println!("parts of the bounds: distance {:.2}, momenta {:.2} and {:.2}, energy {:.2}", worst[0], worst[1], worst[2], worst[3]);
    assert!(touched > 20, "{touched}");
}

/// A rope whose ends are held, and a second one that pins pull through it by its ends: it passes through without
/// contact, and does not with it; distances stay, and the pins' work accounts for the energy.
#[test]
fn pulled_ropes_do_not_pass_each_other() {
    const SEED: u64 = 2802;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let (mut contacts, mut rigid, mut would_pass) = (0, 0, 0);
    let mut worst = [0.0_f64; 4];
    for case in 0..40 {
        let h = random.log_uniform(1e-3, 0.1);
        let gap = random.log_uniform(1e-3, 0.1);
        let (mut ropes, across) = crossed(&mut random, h, gap);
        let reach = ropes[0].material.radius + ropes[1].material.radius;
        let wave = ropes.each_ref().map(|rope| rope.material.wave_speed());
        let time = random.log_uniform(300.0, 1000.0) * h / wave[0].max(wave[1]);
        let way = 2.0 * h + 2.0 * reach;
        for (rope, side) in ropes.iter_mut().zip([0.0, 1.0]) {
            let to = across * (way * side);
            let last = rope.vertices.len() - 1;
            rope.pins = [0, last]
                .map(|v| Pin::new(v, vec![(0.0, rope.vertices[v]), (time, rope.vertices[v] + to)], f64::INFINITY).unwrap())
                .to_vec();
        }
        for is_kept_apart in [true, false] {
            let mut mpm = model(h, &ropes);
            mpm.keep_strands_apart(is_kept_apart);
            let (mut before, mut work, mut t, mut passed) = (lines(&mpm), 0.0, 0.0, false);
            let mut most = 0.0_f64;
            let mut k = 0;
            let mut near = f64::INFINITY;
            while t < time {
                let dt = 0.7 * mpm.largest_stable_substep(mpm.max_speed_relative_to(&V3::zeros()));
                substep(&mut mpm, t, dt, V3::zeros());
                t += dt;
                k += 1;
                let after = lines(&mpm);
                work += mpm.pin_impulse().work;
                let now = energy(&totals(&mpm));
                most = most.max(now);
                let seen = look(&ropes, &before, &after, None);
                near = near.min(seen.nearest);
                passed |= seen.passed;
                if is_kept_apart {
                    let report = mpm.strand_report().unwrap();
                    contacts += report.contacts; rigid += report.rigid;
                    worst[0] = worst[0].max((1.0 - seen.nearest) / missing(h, reach));
                    assert!(!seen.passed, "case {case} {k}");
                    worst[1] = worst[1].max(now / work.max(1e-3 * most));
                }
                before = after;
            }
            let now = energy(&totals(&mpm));
            println!("case {case} {is_kept_apart}: {k} steps passed {passed} near {near:.4} energy {now:.3e} work {work:.3e} most {most:.2e} R/h {:.2e}", reach / h);
            would_pass += usize::from(passed);
        }
    }
    println!("{contacts} contacts, {rigid} rigid vertices; {would_pass} of 40 pass without contact");
    println!("{worst:?}");
}
