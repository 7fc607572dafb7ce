//! Conservation laws of the fast path.

use crate::common::{every_material, every_material_with, fast, lattice, levels, step, to_states};
use nalgebra::{Point3, Vector3};
use pliant_mpm::reference::ReferenceParticle;
use pliant_mpm::stable_step::largest_stable_substep;
use pliant_mpm::{Boundary, BoundaryKind, Mpm, ParticleState, Totals};
use pliant_testing::Random;

/// 1e-5 relative.
const TOLERANCE: f64 = 1e-5;

fn totals(mpm: &Mpm) -> Totals {
    mpm.totals(&mut Vec::new())
}

/// Mass, linear and angular momentum of the nodes.
fn on_grid(mpm: &Mpm) -> Totals {
    let mut sum = Totals::default();
    for (b, block) in mpm.nodes().iter().enumerate() {
        for (n, node) in block.nodes.iter().enumerate() {
            let [x, y, z, mass] = node.map(f64::from);
            let momentum = mass * Vector3::new(x, y, z);
            sum.mass += mass;
            sum.linear_momentum += momentum;
            sum.angular_momentum += mpm.node_position(b, n).coords.cross(&momentum);
        }
    }
    sum
}

/// Sums of |m v| and |x| |m v|, to which errors are relative.
fn magnitudes(particles: &[ParticleState]) -> (f64, f64) {
    let momentum = |p: &ParticleState| 1e3 * p.volume * p.velocity.norm();
    let linear = particles.iter().map(momentum).sum();
    (linear, particles.iter().map(|p| momentum(p) * p.position.coords.norm()).sum())
}

fn assert_kept(before: &Totals, after: &Totals, scale: (f64, f64), what: &str) -> f64 {
    let error = [
        (after.mass - before.mass).abs() / before.mass,
        (after.linear_momentum - before.linear_momentum).norm() / scale.0,
        (after.angular_momentum - before.angular_momentum).norm() / scale.1,
    ];
    assert!(error.iter().all(|e| *e < TOLERANCE), "{what}: {error:?}");
    error.into_iter().fold(0.0, f64::max)
}

/// P2G (Jiang et al. 2015) keeps mass, linear and angular momentum (with the affine term), with the
/// internal forces of deformed particles of every model, and G2P gives them back; 1e-5 relative to
/// the sum of magnitudes. Measured: 2e-8.
#[test]
fn transfers_conserve_mass_and_momenta() {
    let h = 0.07;
    let mut worst = 0.0_f64;
    for level in levels() {
        for seed in 0..20 {
            let mut random = Random(seed);
            let mut particles = Vec::new();
            for k in 0..60 {
                let position = Vector3::new(0.3, -0.2, 0.1) + 0.25 * random.vector();
                let mut p = ReferenceParticle::at_rest(position, 1e-6 * (2.0 + random.signed()), k % 5, 1e3);
                p.velocity = random.vector();
                p.affine = 3.0 * random.matrix();
                p.deformation_gradient += 0.1 * random.matrix();
                particles.push(p);
            }
            let mut mpm = Mpm::new(h, every_material(), &to_states(&particles), &[], level).unwrap();
            let scale = magnitudes(&mpm.particles());
            let before = totals(&mpm);
            let sums = mpm.particles_to_grid(1e-3, Vector3::zeros());
            let grid = on_grid(&mpm);
            mpm.grid_to_particles(1e-3).unwrap();
            let what = format!("{level:?}, seed {seed}");
            assert!((sums.mass - grid.mass).abs() < 1e-12 * grid.mass, "{what}: {} {}", sums.mass, grid.mass);
            worst = worst.max(assert_kept(&before, &grid, scale, &what));
            worst = worst.max(assert_kept(&grid, &totals(&mpm), scale, &what));
        }
    }
    println!("worst {worst:e}");
}

/// A free spinning block keeps linear and angular momentum over 400 substeps, with sorts on the
/// way; 1e-5 relative. Measured: at most 1.2e-6, what 400 roundings without a preferred direction
/// make (20 u).
#[test]
fn spinning_free_block_keeps_angular_momentum() {
    for (index, material) in every_material().into_iter().enumerate() {
        let h = 0.05;
        let mut particles = lattice([-0.1, -0.1, -0.05], [h / 2.0; 3], [8, 8, 4], material.density);
        let spin = Vector3::new(0.3, -0.2, 2.0);
        for p in &mut particles {
            p.velocity = spin.cross(&p.position) + Vector3::new(0.1, 0.0, 0.05);
            p.affine = spin.cross_matrix();
        }
        let mut mpm = fast(h, &[material], &particles, &[]);
        let dt = largest_stable_substep(h, &[material], 0.5);
        let start = totals(&mpm);
        for _ in 0..400 {
            step(&mut mpm, dt, Vector3::zeros()).unwrap();
        }
        let end = totals(&mpm);
        let angular = (end.angular_momentum - start.angular_momentum).norm() / start.angular_momentum.norm();
        let linear = (end.linear_momentum - start.linear_momentum).norm() / start.linear_momentum.norm();
        println!("material {index}: angular {angular:e}, linear {linear:e}");
        assert!(angular < TOLERANCE && linear < TOLERANCE, "material {index}: {angular:e} {linear:e}");
        assert_eq!(end.mass, start.mass);
    }
}

/// The balances close: the change of the particles' momenta is gravity's impulse and the
/// boundaries', and gravity's is M g dt at the centre of mass. A block hits sticky, smooth and
/// rough planes, off axis; 1e-5 of the sum of magnitudes. Measured: 2.6e-6.
#[test]
fn impulses_account_for_the_change_of_momentum() {
    let h = 0.05;
    let gravity = Vector3::new(1.0, -0.5, -9.81);
    let origin = Vector3::new(2.0, -1.0, 0.5);
    let plane = |normal: Vector3<f64>, kind| Boundary {
        point: Point3::from(origin),
        normal: nalgebra::Unit::new_normalize(normal),
        kind,
    };
    let kinds = [
        vec![plane(Vector3::z(), BoundaryKind::Sticky)],
        vec![plane(Vector3::new(-0.3, 0.2, 1.0), BoundaryKind::Slip)],
        vec![
            plane(Vector3::new(0.2, 0.0, 1.0), BoundaryKind::Frictional { friction: 0.4 }),
            plane(Vector3::new(-1.0, 0.1, 0.0), BoundaryKind::Slip),
        ],
    ];
    for (k, planes) in kinds.iter().enumerate() {
        let mut random = Random(3);
        let mut particles = lattice([-0.25, -0.1, 0.02], [h / 2.0; 3], [8, 8, 8], 1e3);
        for p in &mut particles {
            p.position += origin;
            p.velocity = Vector3::new(1.0, 0.3, -1.5) + 0.1 * random.vector();
        }
        let material = every_material()[1];
        let mut mpm = fast(h, &[material], &particles, planes);
        let dt = largest_stable_substep(h, &[material], 3.0);
        let start = totals(&mpm);
        let (mut linear, mut angular, mut largest) = (start.linear_momentum, start.angular_momentum, 0.0_f64);
        for _ in 0..200 {
            let before = totals(&mpm);
            let sums = step(&mut mpm, dt, gravity).unwrap();
            let expected = before.first_moment.cross(&gravity) * dt;
            assert!(
                (sums.gravity.linear - before.mass * dt * gravity).norm()
                    < 1e-6 * before.mass * dt * gravity.norm()
            );
            assert!((sums.gravity.angular - expected).norm() < TOLERANCE * expected.norm());
            linear += sums.gravity.linear + sums.boundary.linear;
            angular += sums.gravity.angular + sums.boundary.angular;
            largest = largest.max(sums.boundary.linear.norm());
        }
        let end = totals(&mpm);
        let scale = magnitudes(&to_states(&particles));
        let errors = (
            (end.linear_momentum - linear).norm() / scale.0,
            (end.angular_momentum - angular).norm() / scale.1,
        );
        println!("{k}: {errors:?}, largest impulse {largest} N s");
        assert!(largest > 0.01 * scale.0, "{k}: it never touched");
        assert!(errors.0 < TOLERANCE && errors.1 < TOLERANCE, "{k}: {errors:?}");
    }
}

/// Galileo: on a grid that moves with `u`, particles to whose velocities `u` is added do what they
/// do on a grid at rest; planes at rest stop them where they are, and the momentum balance closes.
/// Bound: 1e-5 relative, and the rounding of velocities by 2^-24 of `u` in each substep.
#[test]
fn a_grid_that_moves_with_the_particles_changes_nothing() {
    let (h, steps, gravity) = (0.05, 40, Vector3::new(0.5, 0.0, -9.81));
    for (seed, material) in (0..).zip(every_material()) {
        let mut random = Random(seed);
        let u = (30.0 * random.vector()).map(|v| f64::from(v as f32));
        let spin = 3.0 * random.vector();
        let mut at_rest = lattice([-0.1, -0.1, -0.05], [h / 2.0; 3], [8, 8, 4], material.density);
        for p in &mut at_rest {
            (p.velocity, p.affine) = (spin.cross(&p.position), spin.cross_matrix());
        }
        let mut moving = at_rest.clone();
        moving.iter_mut().for_each(|p| p.velocity += u);
        let (mut a, mut b) = (fast(h, &[material], &at_rest, &[]), fast(h, &[material], &moving, &[]));
        b.set_grid_velocity(u);
        assert_eq!(b.grid_velocity(), u);
        let dt = largest_stable_substep(h, &[material], 0.5);
        let (before, mut impulse) = (totals(&b), Vector3::zeros());
        for _ in 0..steps {
            step(&mut a, dt, gravity).unwrap();
            impulse += step(&mut b, dt, gravity).unwrap().gravity.angular;
        }
        let (time, what) = (f64::from(steps) * dt, format!("material {seed}, {u:?}"));
        assert!((b.grid_origin() - time * u).norm() < 1e-12 * u.norm(), "{what}: {:?}", b.grid_origin());
        let particles = a.particles();
        let fastest = particles.iter().map(|p| p.velocity.norm()).fold(0.0, f64::max);
        let rounding = f64::from(steps) * (u.norm() + fastest) * f64::from(f32::EPSILON);
        for (p, q) in particles.iter().zip(b.particles()) {
            let (dv, dx) = (q.velocity - u - p.velocity, q.position - time * u - p.position);
            assert!(dv.norm() < 1e-5 * fastest + rounding, "{what}: {dv:?} of {fastest} m/s");
            assert!(dx.norm() < 1e-5 * h + time * rounding, "{what}: {dx:?}");
        }
        let after = totals(&b);
        let (_, scale) = magnitudes(&b.particles());
        let off = (after.angular_momentum - before.angular_momentum - impulse).norm();
        assert!(off < TOLERANCE * scale, "{what}: {off} of {scale}");

        // It resumes from a saved state, and returns.
        let mut bytes = Vec::new();
        b.write_state(&mut bytes).unwrap();
        let mut c = fast(h, &[material], &moving, &[]);
        c.read_state(&mut bytes.as_slice()).unwrap();
        assert_eq!((c.particles(), c.grid_origin()), (b.particles(), b.grid_origin()));
        c.reset_grid_frame().unwrap();
        assert_eq!((c.grid_origin(), c.grid_velocity()), (Vector3::zeros(), Vector3::zeros()));
        for (p, q) in c.particles().iter().zip(b.particles()) {
            assert!((p.position - q.position).norm() < 1e-6 * (h + q.position.coords.norm()), "{what}");
        }
    }
}

/// A plane stays where it is while the grid moves: what falls on it comes to rest on it, on any
/// grid, and the plane takes the momentum.
#[test]
fn planes_stay_where_they_are_while_the_grid_moves() {
    let (h, material) = (0.05, every_material()[0]);
    let up = nalgebra::Unit::new_normalize(Vector3::z());
    let plane = Boundary { point: Point3::new(0.0, 0.0, 1.0), normal: up, kind: BoundaryKind::Slip };
    let mut particles = lattice([0.0, 0.0, 1.0 + 0.5 * h], [h / 2.0; 3], [8, 8, 4], material.density);
    particles.iter_mut().for_each(|p| p.velocity.z = -1.0);
    let mut mpm = fast(h, &[material], &particles, &[plane]);
    mpm.set_grid_velocity(Vector3::new(3.0, 0.0, 0.7));
    let (before, dt) = (totals(&mpm), largest_stable_substep(h, &[material], 4.0));
    let mut pushed = Vector3::zeros();
    for _ in 0..(0.3 / dt) as u32 {
        pushed += step(&mut mpm, dt, Vector3::zeros()).unwrap().boundary.linear;
    }
    let after = totals(&mpm);
    let lowest = mpm.particles().iter().map(|p| p.position.z).fold(f64::INFINITY, f64::min);
    println!("pushed {pushed:?}, lowest {lowest}");
    // A node above the plane by less than a cell holds particles that are below it by less than a
    // cell.
    assert!(lowest > 1.0 - h, "{lowest}");
    let gained = after.linear_momentum - before.linear_momentum;
    assert!(pushed.z > before.mass && (gained - pushed).norm() < TOLERANCE * before.mass, "{pushed:?}");
}

/// What has only turned has no elastic energy (frame indifference): that of the rounding of its
/// deformation gradient to f32, E V/2 times the square of some units of 6e-8, and no difference of
/// larger numbers.
#[test]
fn what_only_turned_has_no_elastic_energy() {
    for (index, material) in every_material_with(1e6).into_iter().enumerate() {
        let mut random = Random(index as u64);
        let mut particles = lattice([0.0; 3], [0.025; 3], [4, 4, 4], material.density);
        let volume: f64 = particles.iter().map(|p| p.volume).sum();
        for p in &mut particles {
            p.deformation_gradient =
                nalgebra::Rotation3::from_scaled_axis(3.0 * random.vector()).into_inner();
        }
        let energy = totals(&fast(0.05, &[material], &particles, &[])).elastic_energy;
        let rounding = 0.5 * 1e6 * volume * (4.0 * f64::from(f32::EPSILON)).powi(2);
        println!("material {index}: {energy:e} J, rounding {rounding:e} J");
        assert!(energy.abs() < rounding, "material {index}: {energy:e} J, {rounding:e} J");
    }
}
