#![allow(clippy::unwrap_used)] // everything here runs in tests

use nalgebra::Vector3;
use pliant_numeric::random::SplitMix64;

use super::{StrandContact, StrandReport, V3};
use crate::rope::{Rope, RopeMaterial};

const SEED: u64 = 20_261_128;

fn vector(random: &mut SplitMix64, size: f64) -> V3 {
    Vector3::from_fn(|_, _| size * (2.0 * random.uniform() - 1.0))
}

fn log_uniform(random: &mut SplitMix64, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.uniform())
}

/// The vector between two places of two segments.
fn apart(points: &[V3; 4], [s, t]: [f64; 2]) -> V3 {
    points[0] + (points[1] - points[0]) * s - points[2] - (points[3] - points[2]) * t
}

/// Distance of two segments: of the nearest of the lines' common perpendicular, where that is on both, and of the
/// end points from the other segment.
fn distance(points: &[V3; 4]) -> f64 {
    let [a, b, c, d] = *points;
    let (u, v, r) = (b - a, d - c, a - c);
    let on = |x: V3, from: V3, along: V3| {
        ((x - from).dot(&along) / along.norm_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    };
    let mut places = vec![[0.0, on(a, c, v)], [1.0, on(b, c, v)], [on(c, a, u), 0.0], [on(d, a, u), 1.0]];
    let area = u.norm_squared() * v.norm_squared() - u.dot(&v).powi(2);
    if area > 0.0 {
        let s = (u.dot(&v) * v.dot(&r) - u.dot(&r) * v.norm_squared()) / area;
        let t = (u.norm_squared() * v.dot(&r) - u.dot(&v) * u.dot(&r)) / area;
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            places.push([s, t]);
        }
    }
    places.into_iter().map(|place| apart(points, place).norm()).fold(f64::INFINITY, f64::min)
}

/// Whether two segments pass through each other on straight ways: in one plane, found by bisection from 64
/// samples, without a distance.
fn passes(from: &[V3; 4], to: &[V3; 4]) -> bool {
    let at = |t: f64| -> [V3; 4] { core::array::from_fn(|i| from[i] + (to[i] - from[i]) * t) };
    let volume = |t: f64| {
        let x = at(t);
        (x[1] - x[0]).cross(&(x[3] - x[2])).dot(&(x[2] - x[0]))
    };
    let size = (from[1] - from[0]).norm();
    (0..64).any(|sample| {
        let (mut low, mut high) = (f64::from(sample) / 64.0, f64::from(sample + 1) / 64.0);
        let sign = volume(low).signum();
        if sign == volume(high).signum() {
            return false;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if volume(middle).signum() == sign { low = middle } else { high = middle }
        }
        distance(&at(low)) < 1e-6 * size
    })
}

/// A pile of ropes of random radii and masses, turned about the axis across them, a little more than the sum of
/// the radii apart where they cross.
struct Pile {
    contact: StrandContact,
    masses: Vec<f64>,
    /// Segments with their radius and rope.
    segments: Vec<([usize; 2], f64, usize)>,
}

impl Pile {
    fn new(random: &mut SplitMix64) -> Self {
        let (mut ropes, mut height, mut last) = (Vec::new(), 0.0, 0.0);
        let count = 2 + (random.uniform() * 3.0) as usize;
        for _ in 0..count {
            let radius = log_uniform(random, 2e-3, 0.5);
            let material = RopeMaterial::new(log_uniform(random, 1e2, 1e4), radius, 1.0, 1.0);
            height += (last + radius) * (1.0 + log_uniform(random, 1e-6, 0.5));
            last = radius;
            let angle = random.uniform() * 6.3;
            let along = V3::new(angle.cos(), angle.sin(), 0.0) * 4.0;
            let center =
                V3::new(0.0, 0.0, height) + vector(random, 0.2).component_mul(&V3::new(1.0, 1.0, 0.0));
            let segments = (8.0 / radius.max(0.5)) as usize;
            ropes.push(Rope::new(Rope::line(center - along, center + along, segments), material));
        }
        let contact = StrandContact::new(&ropes, 1.0);
        let masses =
            ropes.iter().flat_map(|r| r.volumes().into_iter().map(|v| v * r.material.density)).collect();
        let (mut segments, mut first) = (Vec::new(), 0);
        for (number, rope) in ropes.iter().enumerate() {
            segments.extend(
                (1..rope.vertices.len()).map(|k| ([first + k - 1, first + k], rope.material.radius, number)),
            );
            first += rope.vertices.len();
        }
        let mut pile = Self { contact, masses, segments };
        pile.contact.starts = ropes.into_iter().flat_map(|rope| rope.vertices).collect();
        pile.contact.inverse_masses = pile.masses.iter().map(|m| 1.0 / m).collect();
        pile
    }

    /// Pairs of segments of different ropes, with the sum of their radii.
    fn pairs(&self) -> impl Iterator<Item = ([usize; 4], f64)> + '_ {
        let of = |k: usize| {
            let ([a, b], radius, rope) = self.segments[k];
            let others = self.segments[k + 1..].iter().filter(move |other| other.2 != rope);
            others.map(move |([c, d], other, _)| ([a, b, *c, *d], radius + other))
        };
        (0..self.segments.len()).flat_map(of)
    }

    /// Momentum, angular momentum and kinetic energy, at these places.
    fn totals(&self, places: &[V3], velocities: &[V3]) -> (V3, V3, f64) {
        let mut totals = (V3::zeros(), V3::zeros(), 0.0);
        for ((m, x), v) in self.masses.iter().zip(places).zip(velocities) {
            totals.0 += *m * v;
            totals.1 += *m * x.cross(v);
            totals.2 += 0.5 * m * v.norm_squared();
        }
        totals
    }

    /// Velocities towards the middle of the pile, and at random.
    fn falling(&self, speed: f64, random: &mut SplitMix64) -> Vec<V3> {
        let starts = &self.contact.starts;
        let center = starts.iter().map(|x| x.z).sum::<f64>() / starts.len() as f64;
        let of = |x: &V3| vector(random, 0.3 * speed) - V3::z() * (speed * (x.z - center).signum());
        starts.iter().map(of).collect()
    }

    /// A substep of 1 s with these velocities.
    fn step(&mut self, velocities: &[V3]) -> StrandReport {
        self.contact.velocities.copy_from_slice(velocities);
        for k in 0..velocities.len() {
            self.contact.ends[k] = self.contact.starts[k] + velocities[k];
        }
        self.contact.keep_apart(1.0)
    }
}

/// Random ropes that fall on each other, their vertices driven at random, at up to hundreds of radii in a
/// substep: none passes through another (two segments in one plane at a distance of zero, found by sampling the
/// ways), distances stay the sum of the radii but for a tenth, in fast ones, momentum is kept to rounding,
/// and kinetic energy never grows. Where nothing had to be pushed or moved rigidly, angular momentum is kept to
/// rounding as well, and of the distance no more is missing than may be in a substep.
#[test]
fn random_strands_stay_apart() {
    println!("seed {SEED}");
    let mut random = SplitMix64::new(SEED);
    let (mut contacts, mut rigid, mut would_pass, mut settled) = (0, 0, 0, 0);
    let mut worst = [0.0_f64; 6];
    for case in 0..200 {
        let mut pile = Pile::new(&mut random);
        let speed = log_uniform(&mut random, 1e-3, 0.7);
        let mut velocities = pile.falling(speed, &mut random);
        let mut is_clean = true;
        for step in 0..12 {
            let starts = pile.contact.starts.clone();
            let free: Vec<V3> = starts.iter().zip(&velocities).map(|(x, v)| x + v).collect();
            let report = pile.step(&velocities);
            let (ends, after) = (pile.contact.ends.clone(), pile.contact.velocities.clone());
            let mut missing = 0.0_f64;
            for (vertices, reach) in pile.pairs() {
                let [from, to, alone] = [&starts, &ends, &free].map(|x| vertices.map(|v| x[v]));
                assert!(!passes(&from, &to), "seed {SEED}, case {case}, step {step}: {vertices:?} pass");
                would_pass += usize::from(passes(&from, &alone));
                missing = missing.max(1.0 - distance(&to) / reach);
            }
            let (before, now) = (pile.totals(&free, &velocities), pile.totals(&ends, &after));
            let size = before.2.sqrt() * pile.masses.iter().sum::<f64>().sqrt();
            let angular = (now.1 - before.1).norm() / (8.0 * size);
            let found = [missing, (now.0 - before.0).norm() / size, angular, now.2 / before.2 - 1.0]
                .map(|x| x.max(0.0));
            for n in 0..4 {
                worst[n] = worst[n].max(found[n]);
            }
            assert!(found[1] < 1e-11 && found[3] < 1e-12, "seed {SEED}, case {case}, step {step}: {found:?}");
            assert!(missing < 0.1 && angular < 1e-6, "seed {SEED}, case {case}, step {step}: {found:?}");
            is_clean &= report.rigid == 0 && missing < 1.1e-5;
            if is_clean {
                settled += 1;
                worst[4] = worst[4].max(angular);
                // Pushes of a tenth of what is missing, with a lever of up to an eighth of that of the moment.
                assert!(angular < 2e-7, "seed {SEED}, case {case}, step {step}: {angular}");
            }
            assert_eq!(report.unresolved, 0, "seed {SEED}, case {case}, step {step}");
            contacts += report.contacts;
            rigid += report.rigid;
            pile.contact.starts.copy_from_slice(&ends);
            velocities = after;
            // Driven on.
            velocities.iter_mut().for_each(|v| *v += vector(&mut random, 0.1 * speed));
        }
    }
    println!("{contacts} contacts, {rigid} rigid vertices, {would_pass} pairs would have passed");
    println!("{settled} of 2400 steps within rounding, their angular momentum to {:.1e}", worst[4]);
    println!(
        "missing {:.1e} of a distance, momenta {:.1e} and {:.1e}, energy {:.1e}",
        worst[0], worst[1], worst[2], worst[3]
    );
    assert!(would_pass > 100 && contacts > 1000 && settled > 1000 && rigid > 0);
}

/// Where vertices are held, what holds them takes the momentum and the angular momentum that the others lose.
#[test]
fn held_vertices_take_the_impulses() {
    println!("seed {SEED}");
    let mut random = SplitMix64::new(SEED + 1);
    let (mut held_impulses, mut worst) = (0, [0.0_f64; 2]);
    for case in 0..200 {
        let mut pile = Pile::new(&mut random);
        let speed = log_uniform(&mut random, 1e-3, 0.05);
        let mut velocities = pile.falling(speed, &mut random);
        for k in 0..velocities.len() {
            if random.uniform() < 0.3 {
                pile.contact.inverse_masses[k] = 0.0;
                velocities[k] = V3::zeros();
            }
        }
        for step in 0..6 {
            let starts = pile.contact.starts.clone();
            let report = pile.step(&velocities);
            let contact = &pile.contact;
            let mut lost = [V3::zeros(); 2];
            for (k, mass) in pile.masses.iter().enumerate() {
                if contact.inverse_masses[k] == 0.0 {
                    assert!(contact.velocities[k] == velocities[k], "case {case}: a held vertex was moved");
                    lost[0] -= contact.on_held[k];
                    lost[1] -= starts[k].cross(&contact.on_held[k]);
                    held_impulses += usize::from(contact.on_held[k] != V3::zeros());
                } else {
                    lost[0] -= *mass * (contact.velocities[k] - velocities[k]);
                    let free = starts[k] + velocities[k];
                    lost[1] -=
                        *mass * (contact.ends[k].cross(&contact.velocities[k]) - free.cross(&velocities[k]));
                }
            }
            let size = pile.totals(&starts, &velocities).2.sqrt() * pile.masses.iter().sum::<f64>().sqrt();
            let found = [lost[0].norm() / size, lost[1].norm() / (8.0 * size)];
            assert!(found[0] < 1e-9, "seed {SEED}, case {case}, step {step}: {found:?} {report:?}");
            worst[0] = worst[0].max(found[0]);
            if report.rigid == 0 && report.overlap < 1.1e-5 {
                assert!(found[1] < 2e-7, "seed {SEED}, case {case}, step {step}: {found:?} {report:?}");
                worst[1] = worst[1].max(found[1]);
            }
            let (ends, after) = (pile.contact.ends.clone(), pile.contact.velocities.clone());
            pile.contact.starts.copy_from_slice(&ends);
            velocities = after;
        }
    }
    println!("{held_impulses} impulses on held vertices; momenta to {:.1e} and {:.1e}", worst[0], worst[1]);
    assert!(held_impulses > 100, "{held_impulses}");
}
