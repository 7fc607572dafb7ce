//! Contact between strands of ropes: they do not pass through each other, and stay apart by the sum of their radii.

use crate::common::{ROUNDOFF, bits};
use nalgebra::Vector3;
use pliant_mpm::cloth::Pin;
use pliant_mpm::reference::ReferenceMpm;
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
    mpm.rope_particles()
        .iter()
        .map(|ids| ids.clone().map(|id| particles[id].position.coords).collect())
        .collect()
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
            let what =
                || format!("seed {SEED}, case {case}, substep {k}: {seen:?} {report:?}, h {h}, {ropes:?}");
            assert!(!seen.passed, "{}", what());
            of_case += report.contacts;
            rigid += report.rigid;
            let size =
                now.mass * (boost.norm() + wave[0].max(wave[1])) * (mpm.len() as f64).sqrt() * ROUNDOFF;
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
    println!(
        "parts of the bounds: distance {:.2}, momenta {:.2} and {:.2}, energy {:.2}",
        worst[0], worst[1], worst[2], worst[3]
    );
    assert!(touched > 20, "{touched}");
}

/// What ropes did in a run.
#[derive(Clone, Debug)]
struct Run {
    /// Positions of the vertices at the end \[m\].
    lines: Vec<Vec<V3>>,
    seen: Seen,
    report: StrandReport,
    /// Energy at the end, the most there was, and work of the pins \[J\].
    energy: f64,
    most: f64,
    work: f64,
    /// Mean force of the pins over the last tenth \[N\].
    support: V3,
    totals: Totals,
}

/// Runs ropes for `time` \[s\] under `gravity` \[m/s^2\], with contact between strands or without. Every `every`
/// substeps the pairs of segments are looked at, of one rope those that are `apart` of them apart.
fn run(
    mut mpm: Mpm,
    ropes: &[Rope],
    is_kept_apart: bool,
    (time, gravity): (f64, V3),
    (every, apart): (usize, Option<usize>),
) -> Run {
    mpm.keep_strands_apart(is_kept_apart);
    let mut before = lines(&mpm);
    let (mut t, mut k, mut late) = (0.0, 0, 0.0);
    let mut run = Run {
        lines: Vec::new(),
        seen: Seen { passed: false, nearest: f64::INFINITY },
        report: StrandReport::default(),
        energy: 0.0,
        most: 0.0,
        work: 0.0,
        support: V3::zeros(),
        totals: totals(&mpm),
    };
    while t < time {
        let dt = 0.8 * mpm.largest_stable_substep(mpm.max_speed_relative_to(&V3::zeros()));
        substep(&mut mpm, t, dt, gravity);
        (t, k) = (t + dt, k + 1);
        let pins = mpm.pin_impulse();
        run.work += pins.work;
        if t > 0.9 * time {
            run.support += pins.impulse.linear;
            late += dt;
        }
        run.report = mpm.strand_report().iter().fold(run.report, |sum, report| sum.with(report));
        if k % every == 0 {
            let after = lines(&mpm);
            let seen = look(ropes, &before, &after, apart);
            run.seen =
                Seen { passed: run.seen.passed | seen.passed, nearest: run.seen.nearest.min(seen.nearest) };
            before = after;
            run.most = run.most.max(energy(&totals(&mpm)));
        }
    }
    run.totals = totals(&mpm);
    (run.lines, run.energy, run.support) = (lines(&mpm), energy(&run.totals), run.support / late);
    run
}

/// A rope whose ends are held, and a second one that pins pull against it by its ends: with contact distances
/// stay and none passes through the other, and energy is no more than the pins' work. Without it, ropes come nearer
/// than they may.
#[test]
fn pulled_ropes_do_not_pass_each_other() {
    const SEED: u64 = 2802;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let (mut contacts, mut rigid, mut too_near) = (0, 0, 0);
    let mut worst = [0.0_f64; 2];
    for case in 0..40 {
        let h = random.log_uniform(1e-3, 0.1);
        let gap = random.log_uniform(1e-3, 0.1);
        let (mut ropes, across) = crossed(&mut random, h, gap);
        let reach = ropes[0].material.radius + ropes[1].material.radius;
        let wave = ropes.each_ref().map(|rope| rope.material.wave_speed());
        let time = random.log_uniform(100.0, 400.0) * h / wave[0].max(wave[1]);
        let way = 2.0 * h + 2.0 * reach;
        for (rope, side) in ropes.iter_mut().zip([0.0, 1.0]) {
            let pin = |v: usize| {
                let from = rope.vertices[v];
                Pin::new(v, vec![(0.0, from), (time, from + across * (way * side))], f64::INFINITY).unwrap()
            };
            rope.pins = [0, rope.vertices.len() - 1].map(pin).to_vec();
        }
        let run =
            |is_kept_apart| run(model(h, &ropes), &ropes, is_kept_apart, (time, V3::zeros()), (1, None));
        let (with, without) = (run(true), run(false));
        let limit = missing(h, reach);
        let found = [(1.0 - with.seen.nearest) / limit, with.energy / with.work];
        worst = core::array::from_fn(|n| worst[n].max(found[n]));
        let what = || format!("seed {SEED}, case {case}: {found:?} {with:?}, h {h}, {ropes:?}");
        assert!(!with.seen.passed && with.report.unresolved == 0, "{}", what());
        assert!(found.iter().all(|part| *part < 1.0), "{}", what());
        contacts += with.report.contacts;
        rigid += with.report.rigid;
        too_near += usize::from(without.seen.nearest < 1.0 - limit);
    }
    println!("{contacts} contacts, {rigid} rigid vertices; {too_near} of 40 too near without contact");
    println!("distance {:.2} of the bound, energy {:.3} of the work", worst[0], worst[1]);
    assert!(too_near > 15, "{too_near}");
}

/// A rope falls across one that is held taut by its ends, and hangs on it: the pins carry the weight of both.
/// Without contact it sinks into the other.
#[test]
fn rope_hangs_on_a_taut_rope() {
    let h = 0.02;
    let material = RopeMaterial {
        bending_stiffness: Some(1e-6),
        damping: 0.9,
        ..RopeMaterial::new(1e3, 0.005, 1e6, 4e5)
    };
    let line = |along: V3, height: f64, count: usize| {
        Rope::line(V3::z() * height - along, V3::z() * height + along, count)
    };
    let mut taut = Rope::new(line(V3::x() * 0.15, 0.0, 30), material);
    taut.pins = [0, 30].map(|v| Pin::fixed(v, taut.vertices[v]).unwrap()).to_vec();
    let ropes = [taut, Rope::new(line(V3::y() * 0.2, 0.02, 40), material)];
    let run = |is_kept_apart| {
        let mut mpm = model(h, &ropes);
        mpm.set_mass_damping(vec![2.0; 2]).unwrap();
        run(mpm, &ropes, is_kept_apart, (1.5, -9.81 * V3::z()), (5, None))
    };
    let (with, without) = (run(true), run(false));
    let weight = with.totals.mass * 9.81;
    let (reach, limit) = (2.0 * material.radius, missing(h, 2.0 * material.radius));
    let above = with.lines[1][20].z - with.lines[0][15].z;
    println!(
        "nearest {:.5}, without contact {:.3}; carried {:.4} of the weight; {above:.4} m above",
        with.seen.nearest,
        without.seen.nearest,
        with.support.z / weight
    );
    assert!(!with.seen.passed && with.seen.nearest > 1.0 - limit, "{with:?}");
    // The ends still swing a little.
    assert!((with.support.z / weight - 1.0).abs() < 0.02, "{with:?}");
    assert!(above > reach * (1.0 - limit), "{above}");
    assert!([0, 40].iter().all(|end| with.lines[1][*end].z < -0.15), "{with:?}");
    assert!(without.seen.nearest < 0.9, "{without:?}");
}

/// Points on the long trefoil knot (t^3 - 3 t, t^4 - 4 t^2, t^5 - 10 t) of Shastri (1992), its third axis shortened,
/// in equal parts.
fn overhand(size: f64, length: f64) -> Vec<V3> {
    let at =
        |t: f64| V3::new(t.powi(3) - 3.0 * t, t.powi(4) - 4.0 * t * t, 0.25 * (t.powi(5) - 10.0 * t)) * size;
    let mut points = vec![at(-2.3)];
    for k in 0..460_000 {
        let next = at(-2.3 + 1e-5 * f64::from(k));
        if (next - points[points.len() - 1]).norm() >= length {
            points.push(next);
        }
    }
    points
}

/// An overhand knot that pins pull tight: it does not pass through itself, and strands stay a diameter apart. Without
/// contact they come nearer than a third of it.
#[test]
fn knot_is_pulled_tight() {
    let (radius, h) = (0.005, 0.012);
    let material = RopeMaterial {
        bending_stiffness: Some(1e-5),
        damping: 0.9,
        ..RopeMaterial::new(1e3, radius, 2e6, 1e6)
    };
    let mut rope = Rope::new(overhand(6.0 * radius, 1.5 * radius), material);
    let last = rope.vertices.len() - 1;
    let contour = rope.edges().map(|edge| edge.norm()).sum::<f64>();
    let along = rope.vertices[last] - rope.vertices[0];
    let way = 0.5 * (contour - 0.06 - along.norm()) * along.normalize();
    let pin = |(v, way): (usize, V3)| {
        Pin::new(v, vec![(0.0, rope.vertices[v]), (1.0, rope.vertices[v] + way)], f64::INFINITY).unwrap()
    };
    rope.pins = [(0, -way), (last, way)].map(pin).to_vec();
    let ropes = [rope];
    // Half a circumference at rest, and the two segments.
    let apart = (core::f64::consts::PI / 1.5).ceil() as usize + 1;
    let run = |is_kept_apart| {
        let mut mpm = model(h, &ropes);
        mpm.set_mass_damping(vec![5.0]).unwrap();
        run(mpm, &ropes, is_kept_apart, (1.0, V3::zeros()), (10, Some(apart)))
    };
    let (with, without) = (run(true), run(false));
    println!(
        "{} vertices; nearest {:.5}, without contact {:.3}; {:?}",
        last + 1,
        with.seen.nearest,
        without.seen.nearest,
        with.report
    );
    println!("energy {:.4} J of {:.4} J; without contact {:.4} J", with.energy, with.work, without.energy);
    assert!(!with.seen.passed && with.seen.nearest > 1.0 - missing(h, 2.0 * radius), "{with:?}");
    assert_eq!((with.report.unresolved, with.report.overlapping), (0, 0), "{with:?}");
    assert!(with.energy < with.work && with.report.contacts > 1000, "{with:?}");
    assert!(without.seen.nearest < 0.34, "{without:?}");
}

/// Bent ropes whose strands are not near each other move as without contact, bit for bit: arcs of up to half a turn
/// of a radius from 1.1 times the rope's own on, which spring open, and a coil.
#[test]
fn ropes_away_from_themselves_move_as_without_contact() {
    const SEED: u64 = 2803;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    for case in 0..40 {
        let h = 0.02;
        let radius = h * random.uniform(0.1, 0.9);
        let material = RopeMaterial::new(1e3, radius, random.log_uniform(1e5, 1e8), 4e5);
        let length = random.uniform(radius.max(0.2 * h), 4.0 / 3.0 * h);
        let is_coil = case % 4 == 0;
        // A vertex turns by up to the angle of a chord of this length.
        let bend = (radius * random.uniform(1.1, 6.0)).max(0.6 * length) * if is_coil { 3.0 } else { 1.0 };
        let turn = 2.0 * (0.5 * length / bend).asin();
        let most = if is_coil { 40 } else { (core::f64::consts::PI / turn) as usize };
        let rise = if is_coil { 3.0 * radius / core::f64::consts::TAU * turn } else { 0.0 };
        let at = |k: usize| {
            let angle = turn * k as f64;
            V3::new(bend * angle.cos(), bend * angle.sin(), rise * k as f64)
        };
        let vertices: Vec<V3> = (0..=most.max(1)).map(at).collect();
        let rope = Rope { is_naturally_curved: is_coil, ..Rope::new(vertices, material) };
        if rope.check(h).is_err() {
            // The coil's segments are a little longer.
            continue;
        }
        let run = |is_kept_apart| {
            let mut mpm = model(h, std::slice::from_ref(&rope));
            mpm.keep_strands_apart(is_kept_apart);
            let mut sum = StrandReport::default();
            for _ in 0..100 {
                let dt = 0.8 * mpm.largest_stable_substep(0.0);
                substep(&mut mpm, 0.0, dt, -9.81 * V3::z());
                sum = mpm.strand_report().iter().fold(sum, |sum, report| sum.with(report));
            }
            (bits(&mpm), sum)
        };
        let (with, without) = (run(true), run(false));
        assert_eq!(with.1, StrandReport::default(), "seed {SEED}, case {case}: {rope:?}");
        assert!(with.0 == without.0, "seed {SEED}, case {case}: {rope:?}");
    }
}

/// Strands that start inside each other, by 85 % of the sum of the radii, come apart and are not shot apart: at no
/// time do the ropes' centres part at a hundredth of the speed that a correction within a substep would give them.
#[test]
fn strands_inside_each_other_come_apart_slowly() {
    let (h, radius) = (0.02, 0.006);
    let material = RopeMaterial::new(1e3, radius, 1e6, 4e5);
    let line = |along: V3, height: f64| {
        Rope::new(Rope::line(V3::z() * height - along, V3::z() * height + along, 20), material)
    };
    let center = |line: &Vec<V3>| line.iter().sum::<V3>() / line.len() as f64;
    for along in [V3::y(), V3::new(0.9, 0.1, 0.0), V3::x()] {
        let ropes = [line(V3::x() * 0.1, 0.0), line(along * 0.1, 0.3 * radius)];
        let mut mpm = model(h, &ropes);
        let (mut fastest, mut parting, mut first) = (0.0_f64, 0.0_f64, None);
        let at_once = 0.85 * 2.0 * radius / mpm.largest_stable_substep(0.0);
        let (mut apart, mut last, mut last_time, mut time) = (V3::zeros(), 0.0, 0.0, 0.0);
        for k in 0..20_000 {
            let dt = 0.7 * mpm.largest_stable_substep(fastest);
            substep(&mut mpm, 0.0, dt, V3::zeros());
            time += dt;
            fastest = fastest.max(mpm.max_speed_relative_to(&V3::zeros()));
            first = first.or(mpm.strand_report());
            if k % 100 == 0 {
                let now = lines(&mpm);
                let centers = center(&now[1]) - center(&now[0]);
                last = (centers - apart).norm() / (time - last_time) / at_once;
                parting = if k > 0 { parting.max(last) } else { 0.0 };
                (apart, last_time) = (centers, time);
            }
        }
        let now = lines(&mpm);
        let (seen, fastest) = (look(&ropes, &now, &now, None), fastest / at_once);
        println!("{first:?}, then {:.4} of the radii", seen.nearest);
        println!("centres part at {parting:.1e}, {last:.1e} in the end; fastest vertex {fastest:.1e} of it");
        assert!(first.unwrap().overlap > 0.8 && first.unwrap().overlapping > 0, "{first:?}");
        assert!(seen.nearest > 0.99, "{along:?}: {seen:?}");
        assert!(parting < 0.01, "{along:?}: {parting} {last}");
    }
}

/// Two ropes that are held at both ends, one in the middle too, and pressed onto each other by the pins.
fn pressed() -> ([Rope; 2], f64) {
    let (h, radius) = (0.02, 0.006);
    let material = RopeMaterial {
        damping: 0.9,
        bending_stiffness: Some(1e-5),
        ..RopeMaterial::new(1e3, radius, 1e6, 4e5)
    };
    let across = |along: V3, height: f64, moved: f64, held: &[usize]| {
        let mut rope =
            Rope::new(Rope::line(V3::z() * height - along, V3::z() * height + along, 24), material);
        let pin = |v: usize| {
            let from = rope.vertices[v];
            Pin::new(v, vec![(0.0, from), (0.02, from - moved * V3::z())], f64::INFINITY).unwrap()
        };
        rope.pins = held.iter().map(|v| pin(*v)).collect();
        rope.velocity = -moved / 0.02 * V3::z();
        rope
    };
    let still = across(V3::x() * 0.12, 0.0, 0.0, &[0, 12, 24]);
    ([still, across(V3::new(0.03, 0.12, 0.0), 2.05 * radius, 0.06, &[0, 24])], h)
}

/// Ropes that pins hold at all vertices, and take through each other, are not kept apart: it is counted.
#[test]
fn what_pins_force_is_counted() {
    let (h, radius) = (0.02, 0.004);
    let material = RopeMaterial::new(1e3, radius, 1e6, 4e5);
    let held = |along: V3, height: f64, moved: f64| {
        let mut rope = Rope::new(Rope::line(V3::z() * height - along, V3::z() * height + along, 8), material);
        let pin = |v: usize| {
            let from = rope.vertices[v];
            Pin::new(v, vec![(0.0, from), (0.01, from - moved * V3::z())], f64::INFINITY).unwrap()
        };
        rope.pins = (0..=8).map(pin).collect();
        rope
    };
    let ropes = [held(V3::x() * 0.05, 0.0, 0.0), held(V3::y() * 0.05, 2.5 * radius, 5.0 * radius)];
    let run = run(model(h, &ropes), &ropes, true, (0.01, V3::zeros()), (1, None));
    println!("{:?} {:?}", run.seen, run.report);
    assert!(run.seen.passed && run.report.unresolved > 0 && run.report.overlap > 0.9, "{run:?}");
}

/// Strands in contact: the number of threads changes no bit, and a run that is saved and resumed elsewhere is the same
/// run.
#[test]
fn threads_and_saving_change_no_bit() {
    let (ropes, h) = pressed();
    let dt = 0.5 * model(h, &ropes).largest_stable_substep(3.0);
    let run = |threads: usize, saved: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut mpm, mut contacts) = (model(h, &ropes), 0);
            for k in 0..300 {
                substep(&mut mpm, f64::from(k) * dt, dt, V3::zeros());
                contacts += mpm.strand_report().unwrap().contacts;
                if saved && k % 50 == 49 {
                    let state = bits(&mpm);
                    mpm = model(h, &ropes);
                    mpm.read_state(&mut &state[..]).unwrap();
                }
            }
            (bits(&mpm), contacts)
        })
    };
    let expected = run(1, false);
    assert!(expected.1 > 50, "{}", expected.1);
    assert!(run(3, false) == expected);
    assert!(run(2, true) == expected);
}

/// Strands in contact are where the reference has them, to rounding as in `ropes_move_as_in_the_reference`, and the
/// pins give the impulses that change the momenta.
#[test]
fn contact_is_as_in_the_reference() {
    let (ropes, h) = pressed();
    let (mut mpm, mut reference) =
        (model(h, &ropes), ReferenceMpm::new(h, V3::zeros(), vec![], vec![]).unwrap());
    for rope in &ropes {
        reference.add_rope(rope).unwrap();
    }
    let dt = 0.5 * mpm.largest_stable_substep(3.0);
    let material = &ropes[0].material;
    let bending = (material.bending() / (material.density * material.area())).sqrt();
    let wave = material.wave_speed() + 2.0 * core::f64::consts::PI / h * bending;
    let (mut worst, mut contacts, mut last) = ([0.0_f64; 3], 0, totals(&mpm));
    for k in 0..200 {
        substep(&mut mpm, reference.time, dt, V3::zeros());
        reference.substep(dt, |_, _, _| {}).unwrap();
        contacts += mpm.strand_report().unwrap().contacts;
        let n = f64::from(k + 1);
        let bound = 4.0 * n.sqrt() * ROUNDOFF * (n * wave * dt / h + 8.0);
        for (line, rope) in lines(&mpm).iter().zip(&reference.ropes) {
            let off =
                line.iter().zip(&rope.vertices).map(|(x, p)| (x - p.position).norm()).fold(0.0, f64::max);
            worst[0] = worst[0].max(off / h / bound);
        }
        let (now, pins) = (totals(&mpm), mpm.pin_impulse().impulse);
        let size = now.mass * 6.0 * (mpm.len() as f64).sqrt() * ROUNDOFF;
        worst[1] = worst[1].max((now.linear_momentum - last.linear_momentum - pins.linear).norm() / size);
        worst[2] = worst[2].max((now.angular_momentum - last.angular_momentum - pins.angular).norm() / size);
        last = now;
    }
    println!("{contacts} contacts; {worst:.3?} of the bounds");
    assert!(contacts > 50, "{contacts}");
    assert!(worst.iter().all(|part| *part < 1.0), "{worst:?}");
}
