//! Ropes in the grid of the reference: balances and closed forms.

use nalgebra::{Matrix3, Vector3};
use pliant_mpm::cloth::Pin;
use pliant_mpm::reference::ReferenceMpm;
use pliant_mpm::rope::{Rope, RopeMaterial, TwistPin};
use pliant_testing::Random;

/// A rope of random stiffness along a random smooth line, segments of `part` to 4/3 of the spacing `h` \[m\].
fn any_rope(random: &mut Random, h: f64, part: f64, count: usize) -> Rope {
    let youngs_modulus = random.log_uniform(1e3, 1e10);
    let radius = h * random.log_uniform(0.02, part);
    let material = RopeMaterial {
        damping: random.choose(&[1.0, 0.8]),
        ..RopeMaterial::new(random.log_uniform(100.0, 2e4), radius, youngs_modulus, 0.4 * youngs_modulus)
    };
    let mut direction = Vector3::from(random.rotation() * Vector3::x());
    let mut at = Vector3::from(random.vec3(-0.1, 0.1));
    let length = h * random.uniform(part, 4.0 / 3.0);
    let mut vertices = vec![at];
    for _ in 0..count {
        at += direction * length;
        vertices.push(at);
        direction = (direction + 0.4 * random.vector()).normalize();
    }
    Rope {
        twist: random.uniform(-0.5, 0.5) * count as f64,
        is_naturally_curved: random.unit() < 0.5,
        ..Rope::new(vertices, material)
    }
}

/// Free ropes that fly, bend and spin: momentum and angular momentum, with that of the spins, stay to
/// rounding, and energy never exceeds that at the start by more than the swing of explicit steps, at the
/// largest substep for the present state. Transfers lose energy and never make any (Jiang et al. 2015).
#[test]
fn free_ropes_keep_momenta_and_make_no_energy() {
    let mut random = Random(51);
    let mut worst = [0.0_f64; 3];
    for case in 0..24 {
        let h = random.log_uniform(0.003, 0.1);
        let part = random.choose(&[0.1, 0.5, 1.0]);
        let rope = any_rope(&mut random, h, part, 12);
        let mut mpm = ReferenceMpm::new(h, Vector3::zeros(), vec![], vec![]).unwrap();
        mpm.add_rope(&rope).unwrap();
        let speed = random.uniform(0.001, 0.05) * rope.material.wave_speed();
        for k in 0..rope.vertices.len() {
            let (v, c) = (speed * random.vector(), Matrix3::from(random.mat3(-1.0, 1.0)) * (speed / h));
            let p = &mut mpm.ropes[0].vertices[k];
            (p.velocity, p.affine) = (v, c);
        }
        let spin = speed / rope.material.radius;
        mpm.ropes[0].frames.segments.iter_mut().for_each(|s| s.spin = spin * random.signed());
        let start = mpm.totals();
        let size = mpm.ropes[0].rod().masses.iter().sum::<f64>() * speed;
        let reach = rope.vertices.iter().map(|x| x.norm()).fold(0.0, f64::max) + 12.0 * h;
        let (mut way, mut dt) = (0.0, 0.0);
        for _ in 0..200 {
            let fastest = mpm.ropes[0].vertices.iter().map(|p| p.velocity.norm()).fold(0.0, f64::max);
            dt = mpm.ropes[0].largest_substep(fastest);
            mpm.substep(dt, |_, _, _| {}).unwrap();
            way += dt * fastest;
            let now = mpm.totals();
            let momentum = (now.linear_momentum - start.linear_momentum).norm() / size;
            let angular = (now.angular_momentum - start.angular_momentum).norm() / (size * (reach + way));
            let energy = now.energy() / start.energy();
            worst = [worst[0].max(momentum), worst[1].max(angular), worst[2].max(energy)];
            assert!(
                momentum < 1e-12 && angular < 1e-12,
                "seed 51, case {case}: {momentum:.1e} {angular:.1e}"
            );
            assert!(
                energy < 1.0 / (1.0 - 0.5 * 1.4),
                "seed 51, case {case}: energy times {energy}, {rope:?}"
            );
        }
        let left = mpm.totals().energy() / start.energy();
        println!("case {case}: h {h:.4}, l/h {part}, dt {dt:.1e}: energy {left:.3} at the end");
        assert!(left < 1.05, "seed 51, case {case}: {left}");
    }
    println!("momenta off by {:.1e}, {:.1e}; energy at most times {:.3}", worst[0], worst[1], worst[2]);
}

/// A rope that hangs by its upper end is longer by rho g L^2 / (2 E): the strain rises linearly from the lower
/// end (any text on strength of materials). The vertices' masses are lumped, which changes nothing at the ends.
#[test]
fn hanging_rope_has_its_length() {
    let (h, length, segments, gravity) = (0.05, 0.5, 20, 10.0);
    let mut material = RopeMaterial::new(1e3, 0.005, 5e4, 2e4);
    material.damping = 0.0;
    let top = Vector3::new(0.013, -0.02, 0.03);
    let rope = Rope {
        pins: vec![Pin::fixed(0, top).unwrap()],
        ..Rope::new(Rope::line(top, top - length * Vector3::z(), segments), material)
    };
    let mut mpm = ReferenceMpm::new(h, -gravity * Vector3::z(), vec![], vec![]).unwrap();
    mpm.add_rope(&rope).unwrap();
    mpm.mass_damping = vec![10.0];
    let dt = mpm.ropes[0].largest_substep(0.3);
    for _ in 0..(1.2 / dt) as usize {
        mpm.substep(dt, |_, _, _| {}).unwrap();
    }
    let tip = mpm.ropes[0].vertices.last().unwrap();
    let found = top.z - tip.position.z - length;
    let expected = material.density * gravity * length * length / (2.0 * material.youngs_modulus);
    println!("longer by {found:.5} m, closed form {expected:.5} m");
    // The pin holds the grid within a spacing of it.
    assert!((found / expected - 1.0).abs() < h / length, "{found} {expected}");
}

/// Twist without motion: a rod clamped at one end, whose other end is turned by a motor and held, comes to the
/// torque C angle / L at both supports, opposite (Saint-Venant). The torque is that of the twist pins.
#[test]
fn turned_rod_holds_its_torque() {
    let (h, segments, length) = (0.02, 20, 0.2);
    let material = RopeMaterial::new(1e3, 0.004, 1e8, 3e6);
    let points = Rope::line(Vector3::zeros(), length * Vector3::x(), segments);
    let held = [0, 1, segments - 1, segments];
    let angle = 2.0;
    let turned = TwistPin::new(segments - 1, vec![(0.0, 0.0), (0.05, angle)], f64::INFINITY).unwrap();
    let rope = Rope {
        pins: held.iter().map(|&v| Pin::fixed(v, points[v]).unwrap()).collect(),
        twist_pins: vec![TwistPin::fixed(0), turned],
        ..Rope::new(points, material)
    };
    let mut mpm = ReferenceMpm::new(h, Vector3::zeros(), vec![], vec![]).unwrap();
    mpm.add_rope(&rope).unwrap();
    mpm.mass_damping = vec![50.0];
    let dt = mpm.ropes[0].largest_substep(0.1);
    while mpm.time < 0.3 {
        mpm.substep(dt, |_, _, _| {}).unwrap();
    }
    let torques = mpm.ropes[0].rod().forces(&mpm.ropes[0].frames).torques;
    let expected = material.twist() * angle / (length * (segments - 1) as f64 / segments as f64);
    println!(
        "torques {:.4e} and {:.4e} N m, closed form {expected:.4e} N m",
        torques[0],
        torques[segments - 1]
    );
    for torque in [torques[0], -torques[segments - 1]] {
        assert!((torque / expected - 1.0).abs() < 1e-3, "{torque} {expected}");
    }
    let moment = mpm.ropes[0].support()[1] / dt;
    assert!(moment.norm() < 1e-3 * expected, "the two supports balance: {moment:?}");
}

/// Period of the first bending mode of a free beam in the grid, from the times at which the middle of its
/// deflection crosses zero.
fn period(h: f64, segments: usize, length: f64, material: &RopeMaterial) -> f64 {
    // The mode's shape (Timoshenko, "Vibration problems in engineering").
    let beta = 4.730_040_745 / length;
    let ratio = 0.982_502_215;
    let shape = |x: f64| {
        let y = beta * x;
        y.cosh() + y.cos() - ratio * (y.sinh() + y.sin())
    };
    let way = Vector3::new(0.6, 0.8, 0.0);
    let rope = Rope::new(Rope::line(Vector3::zeros(), length * way, segments), *material);
    let mut mpm = ReferenceMpm::new(h, Vector3::zeros(), vec![], vec![]).unwrap();
    mpm.add_rope(&rope).unwrap();
    let expected = beta * beta * (material.bending() / (material.density * material.area())).sqrt();
    let speed = 1e-3 * length * expected;
    mpm.ropes[0].set_velocity(|x| {
        let s = x.dot(&way);
        let slope = (shape(s + 1e-6) - shape(s - 1e-6)) / 2e-6;
        (speed * shape(s) * Vector3::z(), speed * slope * Vector3::z() * way.transpose())
    });
    let dt = mpm.ropes[0].largest_substep(speed);
    let (middle, mut before, mut crossings) = (segments / 2, 0.0, Vec::new());
    while crossings.len() < 3 {
        mpm.substep(dt, |_, _, _| {}).unwrap();
        let z = mpm.ropes[0].vertices[middle].position.z;
        if before != 0.0 && (before > 0.0) != (z > 0.0) {
            crossings.push(mpm.time - dt * z / (z - before));
        }
        before = z;
        assert!(mpm.time < 20.0 / expected, "no vibration");
    }
    (crossings[2] - crossings[0]) / (core::f64::consts::TAU / expected)
}

/// A free beam in the grid vibrates with the period 2 pi L^2 / (4.7300^2 sqrt(B / (rho A))); the grid's
/// filter slows it, by an error that falls at least linearly with the spacing.
#[test]
fn beam_vibrates_in_the_grid() {
    let material = RopeMaterial::new(1e3, 0.004, 1e7, 4e6);
    let length = 0.4;
    let off =
        [20, 40].map(|segments| period(length / (0.7 * segments as f64), segments, length, &material) - 1.0);
    println!("period off by {off:?}");
    assert!(off[1].abs() < 0.05 && off[1].abs() < 0.6 * off[0].abs(), "{off:?}");
}
