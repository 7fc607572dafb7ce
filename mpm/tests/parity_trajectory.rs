//! Hundreds of substeps of the fast path against the f64 reference, through sorts and impacts.

use crate::common::{
    ROUNDOFF, every_material, every_material_with, fast, lattice, levels, step, to_reference, to_states,
};
use nalgebra::{Matrix3, Point3, Vector3};
use pliant_mpm::material::Model;
use pliant_mpm::reference::ReferenceMpm;
use pliant_mpm::stable_step::largest_stable_substep;
use pliant_mpm::{Boundary, BoundaryKind, Mpm};

const H: f64 = 0.05;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Substeps' rounding errors have no preferred direction: N of them add up to sqrt(N) times one
/// (Higham 2002, section 2.8), and in each the last few sums decide, about a unit roundoff of the
/// largest value. This many times that is allowed.
const ALLOWED: f64 = 4.0;

/// A block of one model falls on a smooth floor at z = 0 while it spins, and bounces, flows or
/// crumbles; both paths for 300 substeps.
///
/// The bound: the scheme is stable (substep below Courant's) and dissipates, plasticity and the
/// floor are projections, so that none enlarges an error of velocity: after N substeps it is
/// ALLOWED sqrt(N) u V with the velocity scale V (impact and wave speed), and that of position is
/// its integral, N dt times as much, and ALLOWED sqrt(N) u of 8 cells. Measured: elastic models and
/// dough 2 % to 5 % of the bound in velocity, sand, whose grains come apart, 20 %.
#[test]
fn blocks_bounce_as_in_the_reference() {
    let floor = Boundary { point: Point3::origin(), normal: Vector3::z_axis(), kind: BoundaryKind::Slip };
    let substeps = 300;
    for (index, material) in every_material_with(1e5).into_iter().enumerate() {
        let mut particles = lattice([-0.11, 0.03, 0.06], [H / 2.0; 3], [8, 6, 6], material.density);
        let spin = Vector3::new(0.5, 1.5, 2.0);
        let centre = Vector3::new(-0.01, 0.1, 0.13);
        for p in &mut particles {
            p.velocity = spin.cross(&(p.position - centre)) + Vector3::new(0.4, -0.3, -0.8);
            p.affine = spin.cross_matrix();
        }
        let mut mpm = fast(H, &[material], &particles, &[floor]);
        let mut reference = ReferenceMpm::new(H, GRAVITY, vec![material], to_reference(&mpm)).unwrap();
        let dt = largest_stable_substep(H, &[material], 2.5);
        let versions = mpm.grid_version();
        let (mut reversed, mut impulse) = (false, 0.0);
        for _ in 0..substeps {
            impulse += step(&mut mpm, dt, GRAVITY).unwrap().boundary.linear.z;
            reference
                .substep(dt, |x, _, v| {
                    if x.z <= 1e-6 * H {
                        v.z = v.z.max(0.0);
                    }
                })
                .unwrap();
            reversed |= reference.totals().linear_momentum.z > 0.0;
        }
        let mass = reference.totals().mass;
        assert!(impulse > 0.5 * mass, "material {index} met the floor with {impulse} N s of {mass} kg");
        assert!(reversed || index >= 3, "material {index} did not bounce");
        assert!(mpm.grid_version() - versions >= 3, "the blocks never changed");
        let scale = 2.5 + material.pressure_wave_speed();
        let n = f64::from(substeps);
        let velocity_bound = ALLOWED * n.sqrt() * ROUNDOFF * scale;
        let position_bound = n * dt * velocity_bound + ALLOWED * n.sqrt() * ROUNDOFF * 8.0 * H;
        let (mut velocity_error, mut position_error) = (0.0_f64, 0.0_f64);
        for (f, p) in mpm.particles().iter().zip(&reference.particles) {
            velocity_error = velocity_error.max((f.velocity - p.velocity).amax());
            position_error = position_error.max((f.position.coords - p.position).amax());
        }
        println!(
            "material {index}: position {:.1e} m, {:.4} of its bound; velocity {:.1e} m/s, {:.4} of its bound",
            position_error,
            position_error / position_bound,
            velocity_error,
            velocity_error / velocity_bound
        );
        // Granular particles keep, beside the grid's velocity that moves them, a part that no
        // stress resists, with its roundings: the two paths' sand is held to the same places only.
        let is_held = velocity_error < velocity_bound || matches!(material.model, Model::Granular(_));
        assert!(position_error < position_bound && is_held, "material {index}");
    }
}

/// Galilean invariance: a block at rest shape flies 3 blocks (12 cells) far, across block borders
/// and the origin, and is the same block there. Bounds as above, with C (4/h) u V sqrt(27) in each
/// substep from rounding of the gathered sums, and F the sum of dt C.
#[test]
fn a_flying_block_is_translated() {
    for level in levels() {
        for material in 0..every_material().len() {
            let velocity = Vector3::new(1.1, -0.7, 1.3);
            let mut particles = lattice([-0.31, 0.21, -0.4], [H / 2.0; 3], [5, 6, 4], 1e3);
            for p in &mut particles {
                p.velocity = velocity;
                p.material = material;
            }
            let mut mpm = Mpm::new(H, every_material(), &to_states(&particles), &[], level).unwrap();
            let start = mpm.particles();
            let first_corner = mpm.block(0).corner_node();
            let dt = 0.2 * H / velocity.amax();
            let substeps = 60;
            for _ in 0..substeps {
                step(&mut mpm, dt, Vector3::zeros()).unwrap();
            }
            let n = f64::from(substeps);
            let moved = velocity * n * dt;
            assert!(moved.x > 2.5 * 4.0 * H && moved.z >= 12.0 * H * 0.999);
            assert!(mpm.block(0).corner_node()[0] >= first_corner[0] + 8, "no sort");
            let roundoff = ALLOWED * n.sqrt() * ROUNDOFF;
            let velocity_bound = roundoff * velocity.amax();
            let position_bound = n * dt * velocity_bound + roundoff * 8.0 * H;
            let strain_bound = roundoff * (1.0 + dt * 4.0 / H * 27.0_f64.sqrt() * velocity.amax());
            let mut worst = [0.0_f64; 3];
            for (now, then) in mpm.particles().iter().zip(&start) {
                let strain = now.deformation_gradient - Matrix3::identity();
                let errors = [
                    (now.position - then.position - moved).amax() / position_bound,
                    (now.velocity - velocity).amax() / velocity_bound,
                    strain.abs().max() / strain_bound,
                ];
                worst = core::array::from_fn(|i| worst[i].max(errors[i]));
                assert_eq!((now.material, now.volume), (then.material, then.volume));
            }
            println!("{level:?}, material {material}: {worst:?} of the bounds");
            assert!(worst.iter().all(|w| *w < 1.0), "{level:?}, material {material}: {worst:?}");
        }
    }
}
