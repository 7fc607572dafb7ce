//! Ropes on the fast path: against the reference, balances, the same bits.

use crate::common::{ROUNDOFF, bits, lattice, levels, to_states};
use nalgebra::{Matrix3, Vector3};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin, Sheet};
use pliant_mpm::material::{Elastic, Material, Model};
use pliant_mpm::reference::{ReferenceMpm, ReferenceParticle};
use pliant_mpm::rope::{Rope, RopeError, RopeMaterial, TwistPin, TwistPinError};
use pliant_mpm::{InstructionSet, Mpm, ParticleRecord, Totals};
use pliant_testing::Random;

const H: f64 = 0.05;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
/// When the pins are released \[s\].
const RELEASE: f64 = 0.02;

fn material() -> RopeMaterial {
    RopeMaterial { damping: 0.9, ..RopeMaterial::new(1e3, 0.012, 1e5, 4e4) }
}

/// A twisted, naturally curved rope that falls on a block of jelly and a sheet of cloth, and one whose ends
/// are held, one of them turned, until both are released.
fn scene() -> (Vec<Material>, Vec<ReferenceParticle>, Vec<Sheet>, Vec<Rope>) {
    let elastic = Elastic { youngs_modulus: 1e4, poissons_ratio: 0.3 };
    let jelly = Material { density: 1e3, model: Model::FixedCorotated(elastic) };
    let block = lattice([0.1, 0.05, 0.0], [H / 2.0; 3], [6, 6, 4], 1e3);
    let mesh =
        ClothMesh::rectangle(Vector3::new(0.0, 0.3, 0.05), 0.3 * Vector3::x(), 0.2 * Vector3::y(), [6, 4])
            .unwrap();
    let sheet = Sheet::new(mesh, ClothMaterial::new(1e3, elastic, 0.01, 1e4));
    let curved = (0..=14)
        .map(|k| {
            let angle = 0.25 * f64::from(k);
            Vector3::new(0.05 + 0.02 * f64::from(k), 0.13 + 0.06 * angle.sin(), 0.16 + 0.03 * angle.cos())
        })
        .collect();
    let falling = Rope {
        twist: 4.0,
        is_naturally_curved: true,
        velocity: Vector3::new(0.2, 0.3, -1.5),
        ..Rope::new(curved, material())
    };
    let points = Rope::line(Vector3::new(-0.2, 0.4, 0.12), Vector3::new(0.3, 0.43, 0.15), 20);
    let pin = |v: usize| Pin::new(v, vec![(0.0, points[v])], RELEASE).unwrap();
    let held = Rope {
        pins: [0, 1, 19, 20].map(pin).to_vec(),
        twist_pins: vec![
            TwistPin::fixed(0),
            TwistPin::new(19, vec![(0.0, 0.0), (1.0, 100.0)], RELEASE).unwrap(),
        ],
        ..Rope::new(points, material())
    };
    (vec![jelly], block, vec![sheet], vec![falling, held])
}

fn fast(level: InstructionSet) -> Mpm {
    let (materials, block, sheets, ropes) = scene();
    Mpm::with_ropes(H, materials, &to_states(&block), (&sheets, &ropes), &[], level).unwrap()
}

fn reference() -> ReferenceMpm {
    let (materials, block, sheets, ropes) = scene();
    let mut mpm = ReferenceMpm::new(H, GRAVITY, materials, block).unwrap();
    for sheet in sheets {
        mpm.add_cloth(sheet.mesh, sheet.material, sheet.pins).unwrap();
    }
    for rope in &ropes {
        mpm.add_rope(rope).unwrap();
    }
    mpm
}

fn substep(mpm: &mut Mpm, time: f64, dt: f64) {
    mpm.begin_step();
    mpm.particles_to_grid(dt, GRAVITY);
    mpm.apply_pins(time, dt);
    mpm.grid_to_particles(dt).unwrap();
}

fn totals(mpm: &Mpm) -> Totals {
    mpm.totals(&mut Vec::new())
}

/// Speed of waves of stretch, and of the shortest bending waves of the grid, 2 k sqrt(B / (rho A)) with k = pi / h
/// \[m/s\].
fn wave_speed() -> f64 {
    let bending = (material().bending() / (material().density * material().area())).sqrt();
    material().wave_speed() + 2.0 * core::f64::consts::PI / H * bending
}

/// Half of the largest substep at the start, for speeds of 3 m/s.
fn dt() -> f64 {
    0.5 * fast(InstructionSet::detect()).largest_stable_substep(3.0)
}

/// Ropes, cloth and jelly are where the reference has them, at every instruction set, while they touch and
/// after the pins are released; so are energy and angular momentum, with those of the spins. The bound is that
/// of rounding of positions in `parity_trajectory`: 4 sqrt(N) u (V dt N / h + 8) cells, with V the speed of
/// waves.
#[test]
fn ropes_move_as_in_the_reference() {
    let dt = dt();
    for level in levels() {
        let (mut mpm, mut reference) = (fast(level), reference());
        let moved = wave_speed() * dt / H;
        let mut worst = 0.0_f64;
        for k in 0..160 {
            substep(&mut mpm, reference.time, dt);
            reference.substep(dt, |_, _, _| {}).unwrap();
            let particles = mpm.particles();
            let n = f64::from(k + 1);
            let bound = 4.0 * n.sqrt() * ROUNDOFF * (n * moved + 8.0);
            for (ids, rope) in mpm.rope_particles().iter().zip(&reference.ropes) {
                for (id, p) in ids.clone().zip(&rope.vertices) {
                    let off = (particles[id].position.coords - p.position).norm() / H;
                    worst = worst.max(off / bound);
                    assert!(off < bound, "{level:?} {k}: {off} cells; {bound}");
                }
            }
            for (p, q) in particles.iter().zip(&reference.particles) {
                let off = (p.position.coords - q.position).norm() / H;
                assert!(off < bound, "{level:?} {k}: jelly {off} cells; {bound}");
            }
        }
        let (now, expected) = (totals(&mpm), reference.totals());
        assert!((now.elastic_energy / expected.elastic_energy - 1.0).abs() < 1e-3, "{now:?} {expected:?}");
        assert!((now.kinetic_energy / expected.kinetic_energy - 1.0).abs() < 1e-3, "{now:?} {expected:?}");
        let off = (now.angular_momentum - expected.angular_momentum).norm();
        assert!(off < 1e-4 * expected.angular_momentum.norm(), "{off}");
        println!("{level:?}: {worst:.2} of the bound");
        assert!(reference.time > RELEASE, "the pins were never released");
    }
}

/// Momenta change by what gravity and the pins gave, in every substep: the twist pins give an angular impulse.
/// Bound: rounding of N particles' momenta, sqrt(N) u of the sum of their sizes, and as much in the grid.
#[test]
fn pins_and_gravity_account_for_momenta() {
    let dt = dt();
    // Without jelly, beside whose momentum that of spins would not be seen.
    let ropes = scene().3;
    let mut mpm = Mpm::with_ropes(H, vec![], &[], (&[], &ropes), &[], InstructionSet::detect()).unwrap();
    let (mut now, mut turned, mut worst) = (totals(&mpm), 0.0_f64, [0.0_f64; 2]);
    for k in 0..160 {
        let (before, time) = (now, f64::from(k) * dt);
        mpm.begin_step();
        let free = mpm.particles_to_grid(dt, GRAVITY);
        mpm.apply_pins(time, dt);
        mpm.grid_to_particles(dt).unwrap();
        now = totals(&mpm);
        let pins = mpm.pin_impulse();
        assert_eq!(time < RELEASE, pins.impulse.linear != Vector3::zeros(), "{k}");
        turned = turned.max(pins.impulse.angular.norm());
        let linear = now.linear_momentum - before.linear_momentum - free.gravity.linear - pins.impulse.linear;
        let angular =
            now.angular_momentum - before.angular_momentum - free.gravity.angular - pins.impulse.angular;
        let size = now.mass * (2.0 + GRAVITY.norm() * time) * 2.0 * (mpm.len() as f64).sqrt() * ROUNDOFF;
        worst = [worst[0].max(linear.norm() / size), worst[1].max(angular.norm() / size)];
        // Levers are up to 0.5 m; places are rounded to 2^-24 of a block of 0.2 m.
        assert!(linear.norm() < size && angular.norm() < size, "{k}: {linear:?} {angular:?} of {size}");
    }
    println!("{:.3} and {:.3} of rounding", worst[0], worst[1]);
    assert!(turned > 1e-6, "nothing was turned: {turned}");
}

/// The number of threads changes no bit, a run that is saved and resumed elsewhere is the same run, and the same
/// substep and energy follow from a saved state.
#[test]
fn threads_and_saving_change_no_bit() {
    let dt = dt();
    let figures = |mpm: &Mpm| (bits(mpm), totals(mpm), mpm.largest_stable_substep(1.0).to_bits());
    let run = |threads: usize, saved: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut mpm = fast(InstructionSet::detect());
            for k in 0..120 {
                substep(&mut mpm, f64::from(k) * dt, dt);
                if saved && k % 30 == 10 {
                    let state = bits(&mpm);
                    let expected = figures(&mpm);
                    mpm = fast(InstructionSet::detect());
                    mpm.read_state(&mut &state[..]).unwrap();
                    assert!(figures(&mpm) == expected, "{k}");
                }
            }
            figures(&mpm)
        })
    };
    let expected = run(1, false);
    assert!(run(3, false) == expected);
    assert!(run(2, true) == expected);

    // A frame that is none is refused, and changes nothing.
    let mut mpm = fast(InstructionSet::detect());
    let before = bits(&mpm);
    for (from_end, value) in [(8, f64::NAN), (15 * 8 + 8 * 9, 3.0)] {
        let mut wrong = before.clone();
        let at = wrong.len() - from_end;
        wrong[at..at + 8].copy_from_slice(&value.to_bits().to_le_bytes());
        let error = mpm.read_state(&mut &wrong[..]).unwrap_err().to_string();
        assert!(error.contains("rope"), "{error}");
        assert!(bits(&mpm) == before);
    }
    assert!(mpm.read_state(&mut &before[..before.len() - 1]).is_err());
}

/// A state of a model without ropes is written as before: nothing follows the particles.
#[test]
fn states_without_ropes_are_unchanged() {
    let (materials, block, sheets, ropes) = scene();
    let states = to_states(&block);
    let level = InstructionSet::detect();
    let without = Mpm::with_sheets(H, materials.clone(), &states, &sheets, &[], level).unwrap();
    let none = Mpm::with_ropes(H, materials, &states, (&sheets, &[]), &[], level).unwrap();
    assert!(bits(&without) == bits(&none));
    assert_eq!((without.ropes().len(), without.rope_particles().len()), (0, 0));
    // One more vertex than segments.
    assert_eq!(ropes[1].vertices.len(), 21);
}

/// Particles that a program puts elsewhere take their frames along: a straight twisted rope that is stretched by 5 %
/// has E A L 0.05^2 / 2 more, and its twist.
#[test]
fn moved_particles_take_their_frames_along() {
    let points = Rope::line(Vector3::new(0.1, 0.2, 0.3), Vector3::new(0.7, 0.2, 0.3), 20);
    let rope = Rope { twist: 4.0, ..Rope::new(points, material()) };
    let mut mpm = Mpm::with_ropes(H, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap();
    let before = totals(&mpm).elastic_energy;
    let records: Vec<ParticleRecord> = mpm
        .stored_particles()
        .map(|mut record| {
            for d in 0..3 {
                let cells = 1.05 * (f64::from(4 * record.block[d]) + f64::from(record.position[d]));
                record.block[d] = ((cells - 0.5) / 4.0).floor() as i32;
                record.position[d] = (cells - f64::from(4 * record.block[d])) as f32;
            }
            record
        })
        .collect();
    mpm.set_particles(&records).unwrap();
    let added = totals(&mpm).elastic_energy - before;
    let expected = 0.5 * material().youngs_modulus * material().area() * 0.6 * 0.05_f64.powi(2);
    println!("{added:.6} J more, {expected:.6} J expected");
    // Rounding of the strain is that of positions, 2^-22 of a segment of 0.6 spacings.
    assert!((added / expected - 1.0).abs() < 1e-4, "{added} {expected}");
    substep(&mut mpm, 0.0, 1e-5);
    assert!((totals(&mpm).elastic_energy / (before + added) - 1.0).abs() < 1e-2);
}

/// Mass-proportional damping takes from spins what it takes from velocities, exp(-alpha t), and reports the
/// impulse and the energy.
#[test]
fn damping_slows_spins() {
    let points = Rope::line(Vector3::zeros(), 0.3 * Vector3::x(), 10);
    let still: Vec<Pin> = (0..11).map(|v| Pin::fixed(v, points[v]).unwrap()).collect();
    let turn = TwistPin::new(4, vec![(0.0, 0.0), (1.0, 50.0)], 1e-9).unwrap();
    let mut soft = material();
    soft.twist_stiffness = Some(0.0);
    let rope = Rope { pins: still, twist_pins: vec![turn], ..Rope::new(points, soft) };
    let mut mpm = Mpm::with_ropes(H, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap();
    mpm.set_mass_damping(vec![20.0]).unwrap();
    let dt = 1e-4;
    let spinning = |mpm: &Mpm| totals(mpm).angular_momentum.x;
    let mut before = 0.0;
    for k in 0..100 {
        mpm.particles_to_grid(dt, Vector3::zeros());
        mpm.apply_pins(f64::from(k) * dt, dt);
        mpm.grid_to_particles(dt).unwrap();
        let now = spinning(&mpm);
        if k > 0 {
            assert!((now / before - (-20.0 * dt).exp()).abs() < 1e-6, "{k}: {now} {before}");
            assert!((mpm.dissipated().drag.angular.x - (now - before)).abs() < 1e-6 * now.abs());
        }
        before = now;
    }
    assert!(before > 0.0, "nothing spins");
}

/// Free ropes at random over the whole range of the format, at the largest substep for their present state:
/// momenta stay to rounding, and energy does not grow beyond the swing of explicit steps.
#[test]
fn random_ropes_are_stable() {
    let mut random = Random(61);
    let mut worst = [0.0_f64; 3];
    for case in 0..60 {
        let h = random.log_uniform(1e-3, 0.1);
        let youngs_modulus = random.log_uniform(1e3, 1e10);
        let radius = random.log_uniform(1e-4_f64.min(0.1 * h), h);
        let mut material = RopeMaterial {
            damping: random.choose(&[1.0, 0.5]),
            ..RopeMaterial::new(random.log_uniform(100.0, 2e4), radius, youngs_modulus, 0.0)
        };
        material.shear_modulus = youngs_modulus * random.uniform(0.1, 0.5);
        if random.unit() < 0.3 {
            material.bending_stiffness = Some(material.bending() * random.log_uniform(1e-4, 1.0));
        }
        let length = h * random.uniform((radius / h).max(1.0 / 32.0), 4.0 / 3.0);
        let (mut direction, mut at) =
            (random.rotation() * Vector3::x(), Vector3::from(random.vec3(-1.0, 1.0)));
        let mut vertices = vec![at];
        for _ in 0..16 {
            at += direction * length;
            vertices.push(at);
            direction = (direction + 0.3 * random.vector()).normalize();
        }
        let wave = material.wave_speed();
        let rope = Rope {
            twist: random.uniform(-20.0, 20.0),
            is_naturally_curved: random.unit() < 0.5,
            velocity: random.vector() * wave * random.uniform(0.0, 0.3),
            ..Rope::new(vertices, material)
        };
        let mut mpm = Mpm::with_ropes(
            h,
            vec![],
            &[],
            (&[], std::slice::from_ref(&rope)),
            &[],
            InstructionSet::detect(),
        )
        .unwrap();
        mpm.set_grid_velocity(rope.velocity);
        let records: Vec<ParticleRecord> = mpm
            .stored_particles()
            .map(|mut record| {
                record.velocity.iter_mut().for_each(|v| *v += (0.05 * wave * random.signed()) as f32);
                record.affine = core::array::from_fn(|_| (0.05 * wave / h * random.signed()) as f32);
                record
            })
            .collect();
        mpm.set_particles(&records).unwrap();
        let boost = rope.velocity;
        let energy = |t: &Totals| {
            t.kinetic_energy - boost.dot(&t.linear_momentum)
                + 0.5 * t.mass * boost.norm_squared()
                + t.elastic_energy
        };
        let mut last = totals(&mpm);
        let start = energy(&last);
        for _ in 0..200 {
            let dt = mpm.largest_stable_substep(mpm.max_speed_relative_to(&mpm.grid_velocity()));
            mpm.begin_step();
            mpm.particles_to_grid(dt, Vector3::zeros());
            mpm.grid_to_particles(dt).unwrap();
            let now = totals(&mpm);
            let size = now.mass * (boost.norm() + wave) * (mpm.len() as f64).sqrt() * ROUNDOFF;
            let lever = (now.first_moment / now.mass).norm() + 16.0 * length;
            let linear = (now.linear_momentum - last.linear_momentum).norm() / size;
            let angular = (now.angular_momentum - last.angular_momentum).norm() / (size * lever);
            let grown = energy(&now) / start;
            worst = [worst[0].max(linear), worst[1].max(angular), worst[2].max(grown)];
            assert!(linear < 1.0 && angular < 1.0, "seed 61, case {case}: {linear} {angular} of rounding");
            assert!(grown < 1.0 / (1.0 - 0.7), "seed 61, case {case}: energy times {grown}, h {h}, {rope:?}");
            last = now;
        }
        let left = energy(&last) / start;
        assert!(left < 1.1, "seed 61, case {case}: {left}");
    }
    println!("momenta {:.2} and {:.2} of rounding; energy at most times {:.3}", worst[0], worst[1], worst[2]);
}

/// The same in every inertial frame: with the grid moving along, a rope's shape after 100 substeps is the same to
/// rounding of the way in `ropes_move_as_in_the_reference`, and turned by a quarter about an axis of the
/// grid it is the same turned.
#[test]
fn frames_do_not_matter() {
    let run = |boost: Vector3<f64>, turn: Matrix3<f64>| {
        let [mut rope, _] = <[Rope; 2]>::try_from(scene().3).unwrap();
        rope.vertices.iter_mut().for_each(|x| *x = turn * *x);
        rope.velocity = boost;
        rope.pins = vec![];
        rope.is_naturally_curved = false;
        let mut mpm = Mpm::with_ropes(H, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap();
        mpm.set_grid_velocity(boost);
        let dt = 0.5 * mpm.stable_substep_at_rest();
        for _ in 0..100 {
            mpm.begin_step();
            mpm.particles_to_grid(dt, Vector3::zeros());
            mpm.grid_to_particles(dt).unwrap();
        }
        let way = 100.0 * dt * boost;
        let moved = 100.0 * dt * (boost.norm() + material().wave_speed()) / H;
        let bound = 4.0 * 10.0 * ROUNDOFF * (moved + 8.0);
        let places =
            mpm.particles().iter().map(|p| turn.transpose() * (p.position.coords - way)).collect::<Vec<_>>();
        (places, bound)
    };
    let (still, _) = run(Vector3::zeros(), Matrix3::identity());
    let quarter = Matrix3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
    for (boost, turn) in
        [(Vector3::new(128.0, -64.0, 32.0), Matrix3::identity()), (Vector3::zeros(), quarter)]
    {
        let (other, bound) = run(boost, turn);
        let off = still.iter().zip(&other).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max) / H;
        println!("off by {off:.1e} cells, rounding {bound:.1e}");
        assert!(off < bound, "{off} cells, rounding {bound}");
    }
}

/// What is out of range is refused, with the field and its value.
#[test]
fn refused_ropes_say_why() {
    let good = || Rope::new(Rope::line(Vector3::zeros(), 0.5 * Vector3::x(), 20), material());
    let refused = |change: &dyn Fn(&mut Rope)| {
        let mut rope = good();
        change(&mut rope);
        let error = rope.check(H).unwrap_err();
        let built = Mpm::with_ropes(H, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect());
        assert!(built.unwrap_err().to_string().starts_with("ropes[0]: "));
        error
    };
    assert_eq!(good().check(H), Ok(()));
    let says = |change: &dyn Fn(&mut Rope), text: &str| {
        let message = refused(change).to_string();
        assert!(message.contains(text), "{message}");
    };
    says(&|r| r.material.density = -1.0, "material.density is -1 kg/m^3");
    says(&|r| r.material.radius = 0.0, "material.radius is 0 m");
    says(&|r| r.material.radius = 0.06, "0.06 m must be at most the grid spacing, 0.05 m");
    says(&|r| r.material.youngs_modulus = f64::INFINITY, "material.youngs_modulus is inf Pa");
    says(&|r| r.material.shear_modulus = f64::NAN, "material.shear_modulus is NaN Pa");
    says(&|r| r.material.bending_stiffness = Some(-1.0), "material.bending_stiffness is -1 N m^2");
    says(&|r| r.material.twist_stiffness = Some(f64::NAN), "material.twist_stiffness is NaN N m^2");
    says(&|r| r.material.damping = 1.5, "material.damping is 1.5");
    says(&|r| r.vertices.truncate(1), "points: 1 given");
    says(&|r| r.vertices[3].y = f64::NAN, "points[3]: (");
    says(&|r| r.vertices[3].x += 0.2, "segment 2: is");
    says(&|r| r.vertices[3] = r.vertices[2] + 0.001 * Vector3::x(), "segment 2: is");
    let sharp = || [0.0, 0.05, 0.01].map(|x| Vector3::new(x, if x == 0.01 { 0.02 } else { 0.0 }, 0.0));
    says(&|r| r.vertices = sharp().to_vec(), "points[1]: the rope turns by");
    says(&|r| r.twist = 1e3, "twist: 1000 rad");
    says(&|r| r.twist = f64::NAN, "twist: NaN rad");
    says(&|r| r.pins = vec![Pin::fixed(30, Vector3::zeros()).unwrap()], "pins[0]: vertex: 30");
    says(&|r| r.twist_pins = vec![TwistPin::fixed(20)], "twist_pins[0]: segment: 20 is not one of the 20");
    says(
        &|r| r.twist_pins = vec![TwistPin::fixed(2), TwistPin::fixed(2)],
        "twist_pins[1]: segment: 2 has two",
    );
    assert_eq!(TwistPin::new(0, vec![], 1.0), Err(TwistPinError::NoPath));
    assert!(matches!(TwistPin::new(0, vec![(0.0, 1.0); 2], 1.0), Err(TwistPinError::Path { index: 1, .. })));
    assert!(matches!(TwistPin::new(0, vec![(0.0, 1.0)], f64::NAN), Err(TwistPinError::Release(_))));
    assert!(matches!(refused(&|r| r.twist = 1e3), RopeError::Twist { .. }));
}

/// Pins of ropes are numbered after the sheets, and are moved and released like theirs.
#[test]
fn pins_of_ropes_are_changed_like_those_of_sheets() {
    let mut mpm = fast(InstructionSet::detect());
    let numbers: Vec<_> = mpm.pins().map(|(rope, pin)| (rope, pin.vertex())).collect();
    // One sheet, so the second rope is number 2. A pin's own number is that in its rope.
    assert_eq!(numbers, [(2, 0), (2, 1), (2, 19), (2, 20)]);
    mpm.move_pin(1, 3, 0.0, &Vector3::new(0.0, 0.0, 1.0), 1.0).unwrap();
    assert_eq!(mpm.pins().last().unwrap().0, 1);
    assert!(mpm.move_pin(3, 0, 0.0, &Vector3::zeros(), 1.0).is_err());
    assert!(mpm.move_pin(2, 21, 0.0, &Vector3::zeros(), 1.0).is_err());
    mpm.release_pin(2, 0, 0.001).unwrap();
    let pins: Vec<_> = mpm.pins().map(|(rope, pin)| (rope, pin.clone())).collect();
    mpm.set_pins(pins.clone()).unwrap();
    assert_eq!(mpm.pins().map(|(rope, pin)| (rope, pin.clone())).collect::<Vec<_>>(), pins);
}
