//! The mechanics of ropes apart from the grid: derivatives, balances, closed forms, bounds.

use core::f64::consts::PI;

use nalgebra::{DMatrix, SymmetricEigen, Vector3};
use pliant_mpm::rope::{Rod, RodForces, RodFrames, Rope, RopeMaterial, RopeStability};
use pliant_testing::Random;

/// Any rope that the format allows: radii of 0.1 mm to 5 cm, moduli of 1e3 to 1e10 Pa.
fn any_material(random: &mut Random) -> RopeMaterial {
    let youngs_modulus = random.log_uniform(1e3, 1e10);
    RopeMaterial {
        bending_stiffness: None,
        twist_stiffness: None,
        ..RopeMaterial::new(
            random.log_uniform(100.0, 2e4),
            random.log_uniform(1e-4, 0.05),
            youngs_modulus,
            youngs_modulus * random.uniform(0.1, 1.0),
        )
    }
}

/// A rope of `count` segments of about ten radii, at random angles of up to `sharp` \[rad\], with half of
/// these as its natural shape, and its twist.
fn any_rope(random: &mut Random, count: usize, sharp: f64) -> Rope {
    let material = any_material(random);
    let length = 10.0 * material.radius;
    let mut direction = Vector3::from(random.rotation() * Vector3::x());
    let mut at = Vector3::from(random.vec3(-1.0, 1.0));
    let mut vertices = vec![at];
    for _ in 0..count {
        at += direction * length * random.uniform(0.7, 1.3);
        vertices.push(at);
        let across = direction.cross(&random.vector()).normalize();
        let angle = random.uniform(0.0, sharp);
        direction = direction * angle.cos() + across * angle.sin();
    }
    Rope {
        is_naturally_curved: random.unit() < 0.5,
        twist: random.uniform(-1.0, 1.0) * (count - 1) as f64,
        ..Rope::new(vertices, material)
    }
}

/// A rope, its frames and the positions of its vertices after moves of a part of its segments and turns of
/// up to half a radian.
fn deformed(random: &mut Random, count: usize, sharp: f64) -> (Rod, RodFrames, Vec<Vector3<f64>>) {
    let rope = any_rope(random, count, sharp);
    let (rod, mut frames) = Rod::new(&rope);
    let part = 0.2 * rod.segments[0].length;
    let positions: Vec<_> = rope.vertices.iter().map(|x| x + part * random.vector()).collect();
    frames.segments.iter_mut().for_each(|s| s.spin = 0.5 * random.signed());
    rod.carry(&mut frames, &positions, 1.0);
    frames.segments.iter_mut().for_each(|s| s.spin = 0.0);
    (rod, frames, positions)
}

/// The frames after the vertices have moved by the first entries of `change` \[m\], three each, and the
/// segments turned by the last \[rad\].
fn changed(rod: &Rod, frames: &RodFrames, positions: &[Vector3<f64>], change: &[f64]) -> RodFrames {
    let moved: Vec<_> =
        positions.iter().enumerate().map(|(k, x)| x + Vector3::from_fn(|d, _| change[3 * k + d])).collect();
    let mut next = frames.clone();
    let turns = &change[3 * positions.len()..];
    next.segments.iter_mut().zip(turns).for_each(|(segment, turn)| segment.spin = *turn);
    rod.carry(&mut next, &moved, 1.0);
    next.segments.iter_mut().for_each(|segment| segment.spin = 0.0);
    next
}

/// Forces and torques one after the other.
fn flat(RodForces { on_vertices, torques }: RodForces) -> Vec<f64> {
    on_vertices.iter().flat_map(|f| f.iter().copied().collect::<Vec<_>>()).chain(torques).collect()
}

/// Second derivatives of the energy by differences of the forces, over the square roots of the inertias: its
/// eigenvalues are squares of frequencies \[1/s^2\].
fn dynamic_matrix(rod: &Rod, frames: &RodFrames, positions: &[Vector3<f64>]) -> DMatrix<f64> {
    let places = 3 * positions.len();
    let count = places + rod.segments.len();
    let inertia = |k: usize| if k < places { rod.masses[k / 3] } else { rod.segments[k - places].inertia };
    let scale = 1e-6 * rod.segments[0].length;
    let mut matrix = DMatrix::zeros(count, count);
    for k in 0..count {
        let step = if k < places { scale } else { 1e-6 };
        let side = |sign: f64| {
            let mut change = vec![0.0; count];
            change[k] = sign * step;
            flat(rod.forces(&changed(rod, frames, positions, &change)))
        };
        let (up, down) = (side(1.0), side(-1.0));
        for j in 0..count {
            matrix[(j, k)] = (down[j] - up[j]) / (2.0 * step) / (inertia(j) * inertia(k)).sqrt();
        }
    }
    (&matrix + matrix.transpose()) * 0.5
}

/// Forces and torques are minus the derivative of the energy (Bergou et al. 2008): along random directions,
/// central differences agree to their own error, for angles up to a fold, twists and natural shapes.
#[test]
fn forces_are_the_derivative_of_the_energy() {
    let mut random = Random(41);
    let mut worst = 0.0_f64;
    for case in 0..400 {
        let sharp = random.choose(&[0.1, 1.0, 2.3, 2.9]);
        let (rod, frames, positions) = deformed(&mut random, 5, sharp);
        let scale = rod.segments[0].length;
        let count = 3 * positions.len() + rod.segments.len();
        let direction: Vec<f64> =
            (0..count).map(|k| random.signed() * if k < 3 * positions.len() { scale } else { 1.0 }).collect();
        let energy = |step: f64| {
            let change: Vec<f64> = direction.iter().map(|d| step * d).collect();
            rod.elastic_energy(&changed(&rod, &frames, &positions, &change))
        };
        // Of fourth order: the step's error is about 1e-12 of the energy's scale, rounding 1e-12.
        let step = 1e-4;
        let difference =
            (8.0 * (energy(step) - energy(-step)) - energy(2.0 * step) + energy(-2.0 * step)) / (12.0 * step);
        let forces = flat(rod.forces(&frames));
        let expected: f64 = -forces.iter().zip(&direction).map(|(f, d)| f * d).sum::<f64>();
        let size: f64 = forces.iter().zip(&direction).map(|(f, d)| (f * d).abs()).sum::<f64>() + energy(0.0);
        let off = (difference - expected).abs() / size;
        assert!(off < 1e-7, "seed 41, case {case}: {difference} {expected}, off by {off:.1e}");
        worst = worst.max(off);
    }
    println!("off by {worst:.1e}");
}

/// Forces sum to zero, and so do their moments with the torques along the tangents: internal forces of any
/// shape (Newton's third law; Noether). To rounding of their sizes.
#[test]
fn forces_and_torques_balance() {
    let mut random = Random(42);
    let mut worst = [0.0_f64; 2];
    for case in 0..400 {
        let sharp = random.choose(&[0.1, 2.3, 3.1]);
        let (rod, frames, positions) = deformed(&mut random, 12, sharp);
        let RodForces { on_vertices, torques } = rod.forces(&frames);
        let force: Vector3<f64> = on_vertices.iter().sum();
        let moment: Vector3<f64> =
            positions.iter().zip(&on_vertices).map(|(x, f)| x.cross(f)).sum::<Vector3<f64>>()
                + frames.segments.iter().zip(&torques).map(|(s, t)| s.tangent * *t).sum::<Vector3<f64>>();
        let size: f64 = on_vertices.iter().map(|f| f.norm()).sum();
        let off = [force.norm() / size, moment.norm() / (size * 3.0)];
        assert!(off[0] < 1e-14 && off[1] < 1e-14, "seed 42, case {case}: {off:?}");
        worst = [worst[0].max(off[0]), worst[1].max(off[1])];
    }
    println!("off by {worst:?}");
}

/// The same rope elsewhere, turned, has the same energy and turned forces.
#[test]
fn place_and_direction_do_not_matter() {
    let mut random = Random(43);
    for case in 0..100 {
        let rope = any_rope(&mut random, 8, 2.0);
        let (turn, way) = (random.rotation(), Vector3::from(random.vec3(-1.0, 1.0)));
        let moves = |rope: &Rope| Rope {
            vertices: rope.vertices.iter().map(|x| turn * x + way).collect(),
            ..rope.clone()
        };
        let [(rod, here), (other, there)] = [Rod::new(&rope), Rod::new(&moves(&rope))];
        let (a, b) = (rod.elastic_energy(&here), other.elastic_energy(&there));
        assert!((a - b).abs() <= 1e-9 * a.abs(), "seed 43, case {case}: {a} {b}");
        let (f, g) = (rod.forces(&here), other.forces(&there));
        let size: f64 = f.on_vertices.iter().map(|x| x.norm()).sum();
        for (x, y) in f.on_vertices.iter().zip(&g.on_vertices) {
            assert!((turn * x - y).norm() < 1e-7 * size, "seed 43, case {case}");
        }
    }
}

/// A straight rod twisted by an angle has the torque C angle / L, with L between the middles of its end
/// segments, and no force (Saint-Venant; any text on strength of materials). A solid section has C =
/// G pi r^4 / 2.
#[test]
fn twisted_rod_has_its_torque() {
    let mut random = Random(44);
    for _ in 0..50 {
        let material = any_material(&mut random);
        let length = 20.0 * material.radius * random.uniform(1.0, 5.0);
        let way = random.rotation() * Vector3::x() * length;
        let twist = random.uniform(-5.0, 5.0);
        let rope = Rope { twist, ..Rope::new(Rope::line(Vector3::zeros(), way, 10), material) };
        let (rod, frames) = Rod::new(&rope);
        let RodForces { on_vertices, torques } = rod.forces(&frames);
        let stiffness = material.shear_modulus * 0.5 * PI * material.radius.powi(4);
        let expected = stiffness * twist / (0.9 * length);
        assert!((torques[0] - expected).abs() < 1e-9 * expected.abs(), "{} {expected}", torques[0]);
        assert!((torques[9] + expected).abs() < 1e-9 * expected.abs());
        assert!(torques[1..9].iter().all(|t| t.abs() < 1e-9 * expected.abs()));
        let pull = material.youngs_modulus * material.area();
        assert!(on_vertices.iter().all(|f| f.norm() < 1e-9 * (pull + expected.abs() / length)));
    }
}

/// Smallest eigenvalue of the second derivatives with the two first and last vertices and the end segments'
/// turns held.
fn clamped_stiffness(segments: usize, ratio: f64, twist: f64) -> f64 {
    let mut material = RopeMaterial::new(1e3, 1e-3, 1e9, 1e9);
    material.twist_stiffness = Some(ratio * material.bending());
    let rope =
        Rope { twist, ..Rope::new(Rope::line(Vector3::zeros(), 0.3 * Vector3::x(), segments), material) };
    let (rod, frames) = Rod::new(&rope);
    let matrix = dynamic_matrix(&rod, &frames, &rope.vertices);
    let places = 3 * rope.vertices.len();
    let free: Vec<usize> = (6..places - 6).chain(places + 1..places + segments - 1).collect();
    let held = DMatrix::from_fn(free.len(), free.len(), |i, j| matrix[(free[i], free[j])]);
    SymmetricEigen::new(held).eigenvalues.min()
}

/// A rod clamped at both ends, without pull, buckles where its torque is 8.9868 B / L, the first root
/// of tan(x) = x times two (Greenhill 1883 for hinged ends; van der Heijden et al. 2003, "Instability and
/// self-contact phenomena in the writhing of clamped rods", for clamped ones). The onset comes nearer with
/// the number of segments.
#[test]
fn twisted_rod_buckles_where_it_should() {
    let expected = 8.986_818_916;
    let onset = |segments: usize, ratio: f64| {
        let (mut low, mut high) = (1.0, 20.0);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            // The torque is `middle` B / L, with L between the middles of the end segments.
            let twist = middle / ratio;
            if clamped_stiffness(segments, ratio, twist) > 0.0 { low = middle } else { high = middle }
        }
        low
    };
    for ratio in [0.7, 2.0] {
        let off = [12, 24].map(|segments| onset(segments, ratio) / expected - 1.0);
        println!("C / B = {ratio}: onset off by {off:?}");
        assert!(off[1].abs() < 0.02 && off[1].abs() < 0.3 * off[0].abs(), "{off:?}");
    }
}

/// Frequencies of a free beam are (4.7300 / L)^2 sqrt(B / (rho A)) for the first mode (Timoshenko, "Vibration
/// problems in engineering"), and those of free torsion pi / L sqrt(C / (rho J)); the error falls as the square
/// of the segment.
#[test]
fn beams_and_shafts_have_their_frequencies() {
    let material = RopeMaterial::new(1.2e3, 2e-3, 3e8, 1e8);
    let length = 0.4;
    let off = |segments: usize| {
        let rope = Rope::new(Rope::line(Vector3::zeros(), length * Vector3::y(), segments), material);
        let (rod, frames) = Rod::new(&rope);
        let matrix = dynamic_matrix(&rod, &frames, &rope.vertices);
        let mut found: Vec<f64> = SymmetricEigen::new(matrix).eigenvalues.iter().copied().collect();
        found.sort_by(f64::total_cmp);
        // Six rigid motions and the turn; then two directions of bending.
        let bending = (4.730_040_745_f64 / length).powi(2)
            * (material.bending() / (material.density * material.area())).sqrt();
        let torsion = PI / length * (material.twist() / (material.density * material.polar_moment())).sqrt();
        let nearest = |omega: f64| {
            let of = |x: &f64| (x.max(0.0).sqrt() / omega - 1.0).abs();
            found.iter().map(of).fold(f64::INFINITY, f64::min)
        };
        assert!((found[7].sqrt() / bending - 1.0).abs() < 0.1, "{} {bending}", found[7].sqrt());
        [(found[7].sqrt() / bending - 1.0).abs(), nearest(torsion)]
    };
    let (coarse, fine) = (off(10), off(20));
    println!("off by {coarse:?}, {fine:?}");
    assert!(fine[0] < (4.73_f64 / 20.0).powi(2) / 4.0 && fine[0] < 0.3 * coarse[0], "{coarse:?} {fine:?}");
    assert!(fine[1] < 0.01 && fine[1] < 0.3 * coarse[1], "{coarse:?} {fine:?}");
}

/// Height and reach of the tip of an inextensible cantilever under a tip load P with P L^2 / B = load, by
/// shooting on the elastica phi'' = -load cos phi, phi(0) = 0, phi'(1) = 0 (Bisshopp and Drucker 1945), with
/// s over the length.
fn elastica(load: f64) -> [f64; 2] {
    let integrate = |start: f64| {
        let (n, mut phi, mut slope, mut tip) = (20_000, 0.0_f64, start, [0.0; 2]);
        let ds = 1.0 / n as f64;
        for _ in 0..n {
            // Midpoint rule.
            let half = phi + 0.5 * ds * slope;
            let middle = slope - 0.5 * ds * load * phi.cos();
            slope -= ds * load * half.cos();
            phi += ds * middle;
            tip = [tip[0] + ds * half.cos(), tip[1] + ds * half.sin()];
        }
        (slope, tip)
    };
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if integrate(middle).0 > 0.0 { high = middle } else { low = middle }
    }
    integrate(low).1
}

/// Tip of a clamped rope under a tip load, at rest after damped motion.
fn cantilever(segments: usize, load: f64) -> [f64; 2] {
    let length = 0.5;
    let mut material = RopeMaterial::new(1e3, 2e-3, 1e9, 4e8);
    // Soft against bending, so that it does not stretch.
    material.bending_stiffness = Some(1e-4 * material.youngs_modulus * material.area() * length * length);
    let pull = load * material.bending() / (length * length);
    let rope = Rope::new(Rope::line(Vector3::zeros(), length * Vector3::x(), segments), material);
    let (rod, mut frames) = Rod::new(&rope);
    let mut positions = rope.vertices.clone();
    let mut velocities = vec![Vector3::zeros(); positions.len()];
    let dt = RopeStability::new(&rope, 1e-6).largest_substep_at_rest();
    let slowest =
        (1.875_f64 / length).powi(2) * (material.bending() / (material.density * material.area())).sqrt();
    for _ in 0..(12.0 / (slowest * dt)) as usize {
        let mut forces = rod.forces(&frames).on_vertices;
        *forces.last_mut().unwrap() += pull * Vector3::y();
        for k in 2..positions.len() {
            velocities[k] += dt * forces[k] / rod.masses[k];
            velocities[k] *= (-2.0 * slowest * dt).exp();
            positions[k] += dt * velocities[k];
        }
        rod.carry(&mut frames, &positions, 0.0);
    }
    let l = length / segments as f64;
    let tip = positions.last().unwrap();
    // Free length: from the clamped vertex, whose hinge bends, and half a segment beside it.
    let free = length - 0.5 * l;
    [(tip.x - 0.5 * l) / free, tip.y / free]
}

/// A cantilever's large deflection is that of the elastica, and comes nearer as the square of the segment's
/// length: load P L^2 / B = 2 for the free length.
#[test]
fn cantilever_is_an_elastica() {
    let off = |segments: usize| {
        let n = segments as f64;
        let free = (n - 0.5) / n;
        let [x, y] = cantilever(segments, 2.0 / (free * free));
        let [reach, height] = elastica(2.0);
        (x - reach).hypot(y - height)
    };
    let (coarse, fine) = (off(6), off(12));
    println!("off by {coarse:.2e}, {fine:.2e} of the length");
    assert!(fine < 3e-3 && fine < 0.4 * coarse, "{coarse} {fine}");
}

/// No frequency of a rope in any shape is above the bound by which its substep is found: with a grid so fine
/// that the chain decides, the largest substep times the highest frequency stays below two radians.
#[test]
fn substeps_are_below_the_limit_in_any_shape() {
    let mut random = Random(45);
    let (mut worst, mut best) = (0.0_f64, f64::INFINITY);
    for case in 0..150 {
        let sharp = random.choose(&[0.01, 0.5, 1.5, 2.3]);
        let mut rope = any_rope(&mut random, 6, sharp);
        // Stretch, bending or twist may each be by far the stiffest.
        let material = &mut rope.material;
        material.bending_stiffness = Some(material.bending() * random.log_uniform(1e-3, 1e5));
        material.twist_stiffness = Some(material.twist() * random.log_uniform(1e-3, 1e5));
        let (rod, mut frames) = Rod::new(&rope);
        let part = 0.1 * rod.segments[0].length;
        let positions: Vec<_> = rope.vertices.iter().map(|x| x + part * random.vector()).collect();
        rod.carry(&mut frames, &positions, 0.0);
        let stability = RopeStability::new(&rope, 1e-9);
        let dt = stability.largest_substep(&rod.state(&frames), 0.0);
        let squares = SymmetricEigen::new(dynamic_matrix(&rod, &frames, &positions)).eigenvalues;
        let phase = dt * squares.max().sqrt();
        assert!(phase < 2.0, "seed 45, case {case}: {phase} rad, {rope:?}");
        (worst, best) = (worst.max(phase), best.min(phase));
    }
    println!("phases from {best:.2} to {worst:.2} rad");
}

/// A free rope with random velocities and spins, stepped alone: both momenta stay, the angular one with the
/// spins, and energy does not grow beyond the swing of symplectic steps of that phase, 1 / (1 - x / 2)
/// (Hairer, Lubich and Wanner, "Geometric Numerical Integration", section I.1).
#[test]
fn free_chain_keeps_momenta_and_energy() {
    let mut random = Random(46);
    let mut worst = [0.0_f64; 3];
    for case in 0..40 {
        let sharp = random.choose(&[0.1, 1.0]);
        let rope = any_rope(&mut random, 10, sharp);
        let (rod, mut frames) = Rod::new(&rope);
        let mut positions = rope.vertices.clone();
        let speed = 0.02 * rope.material.wave_speed();
        let mut velocities: Vec<_> = positions.iter().map(|_| speed * random.vector()).collect();
        let spin = speed / rope.material.radius;
        frames.segments.iter_mut().for_each(|s| s.spin = spin * random.signed());
        let stability = RopeStability::new(&rope, 1e-9);
        let origin = positions[0];
        let sums = |positions: &[Vector3<f64>], velocities: &[Vector3<f64>], frames: &RodFrames| {
            let mut of = (Vector3::zeros(), rod.spin_momentum(frames), rod.spin_energy(frames), 0.0);
            for ((x, v), m) in positions.iter().zip(velocities).zip(&rod.masses) {
                of.0 += v * *m;
                of.1 += (x - origin).cross(v) * *m;
                of.2 += 0.5 * m * v.norm_squared();
                of.3 += m * v.norm();
            }
            (of.0, of.1, of.2 + rod.elastic_energy(frames), of.3)
        };
        let start = sums(&positions, &velocities, &frames);
        let size = 10.0 * rod.segments[0].length;
        for _ in 0..400 {
            let dt = 0.5 * stability.largest_substep(&rod.state(&frames), speed);
            let RodForces { on_vertices, torques } = rod.forces(&frames);
            for k in 0..positions.len() {
                velocities[k] += dt * on_vertices[k] / rod.masses[k];
                positions[k] += dt * velocities[k];
            }
            for ((segment, torque), rest) in frames.segments.iter_mut().zip(torques).zip(&rod.segments) {
                segment.spin += dt * torque / rest.inertia;
            }
            let impulses = rod.carry(&mut frames, &positions, dt);
            for ((v, impulse), m) in velocities.iter_mut().zip(impulses).zip(&rod.masses) {
                *v += impulse / *m;
            }
            let now = sums(&positions, &velocities, &frames);
            let momentum = start.3.max(now.3);
            worst[0] = worst[0].max((now.0 - start.0).norm() / momentum);
            worst[1] = worst[1].max((now.1 - start.1).norm() / (momentum * size));
            worst[2] = worst[2].max(now.2 / start.2);
            assert!(worst[0] < 1e-13 && worst[1] < 1e-13, "seed 46, case {case}: {worst:?}");
            assert!(worst[2] < 1.0 / (1.0 - 0.5), "seed 46, case {case}: energy times {}", worst[2]);
        }
    }
    println!("momenta off by {:.1e} and {:.1e}, energy at most times {:.3}", worst[0], worst[1], worst[2]);
}
