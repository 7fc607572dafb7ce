//! Steps of one block on three paths: the f64 reference, the host's and the device's.

use nalgebra::{Point3, Unit, Vector3};
use pliant_cuda::Device;
use pliant_cuda::mpm::Transfer;
use pliant_mpm::reference::{ReferenceMpm, ReferenceParticle};
use pliant_mpm::{Boundary, BoundaryKind, ParticleState};

use super::{every_material, host, lattice, on_device, to_reference};
use crate::support::{self, devices};

pub const GRAVITY: Vector3<f64> = Vector3::new(0.3, -0.2, -9.81);
pub const H: f64 = 0.02;
/// Below c h / c_s for E 1e5 Pa and 1e3 kg/m^3: 0.4 of 0.02 m / 11.6 m/s.
pub const DT: f64 = 4e-4;

/// All devices, and one of each kind with atomics, of which the emulation is slow, and other builds
/// of it slower.
pub fn transfers() -> Vec<(Device, Transfer)> {
    let devices = devices();
    let kinds = [true, false].map(|emulated| devices.iter().find(|d| d.is_emulated() == emulated).cloned());
    let is_slow = std::env::var_os(support::LIBRARY).is_some();
    let atomic = kinds.into_iter().flatten().filter(|_| !is_slow).map(|device| (device, Transfer::Atomic));
    devices.iter().map(|device| (device.clone(), Transfer::Ordered)).chain(atomic).collect()
}

/// A block of 8 particles a cell.
pub fn block(counts: [usize; 3], material: usize) -> Vec<ParticleState> {
    let mut states = lattice([0.013, -0.031, 0.002], H / 2.0, counts);
    states.iter_mut().for_each(|s| s.material = material);
    states
}

/// Root mean squares of the differences to the reference: position [m] and velocity [m/s].
fn distance(
    particles: impl Iterator<Item = (usize, Vector3<f64>, Vector3<f64>)>,
    right: &[ReferenceParticle],
) -> [f64; 2] {
    let mut sums = [0.0, 0.0];
    for (id, position, velocity) in particles {
        sums[0] += (position - right[id].position).norm_squared();
        sums[1] += (velocity - right[id].velocity).norm_squared();
    }
    sums.map(|sum| (sum / right.len() as f64).sqrt())
}

/// Many substeps of one block on three paths: the f64 reference, the host's and the device's. The
/// host's own distance to the reference is what f32 makes of these particles; the device may be
/// three times as far, for it adds in another order.
pub fn compare(states: &[ParticleState], boundary: &Boundary, substeps: u32) {
    let materials = every_material(1e5);
    let mut mpm = host(H, &materials, states, &[*boundary]);
    let start = mpm.clone();
    let mut reference = ReferenceMpm::new(H, GRAVITY, materials, to_reference(&mpm)).unwrap();
    let normal = boundary.normal.into_inner();
    let BoundaryKind::Frictional { friction } = boundary.kind else { panic!("a frictional boundary") };
    for _ in 0..substeps {
        mpm.begin_step();
        mpm.particles_to_grid(DT, GRAVITY);
        mpm.grid_to_particles(DT).unwrap();
        reference
            .substep(DT, |position, _, v| {
                let into = v.dot(&normal);
                if boundary.acts_on(&Point3::from(*position), H) && into < 0.0 {
                    let along = *v - into * normal;
                    let speed = along.norm();
                    let kept = (speed + friction * into).max(0.0);
                    *v = if speed > 0.0 { along * (kept / speed) } else { Vector3::zeros() };
                }
            })
            .unwrap();
    }
    let of_host = mpm.particles().into_iter().enumerate().map(|(id, s)| (id, s.position.coords, s.velocity));
    let yardstick = distance(of_host, &reference.particles);
    for (device, transfer) in &transfers() {
        let mut device_mpm = on_device(device, &start, &[*boundary]);
        device_mpm.set_transfer(*transfer);
        device_mpm.advance(substeps, DT, GRAVITY).unwrap();
        let mut copy = start.clone();
        device_mpm.particles().write_back(&mut copy).unwrap();
        let of_device =
            copy.particles().into_iter().enumerate().map(|(id, s)| (id, s.position.coords, s.velocity));
        let found = distance(of_device, &reference.particles);
        println!("{transfer:?}: device {found:?}, host {yardstick:?} from the reference");
        for (found, yardstick) in found.into_iter().zip(yardstick) {
            assert!(found <= 3.0 * yardstick, "{found:e} from the reference, the host {yardstick:e}");
        }
        // It moved by far more than that.
        let moved = (copy.particles()[0].position - states[0].position).norm();
        assert!(moved > 1e3 * found[0], "{moved}");
    }
}

pub fn floor(height: f64) -> Boundary {
    let normal = Unit::new_unchecked(Vector3::z());
    Boundary {
        point: Point3::new(0.0, 0.0, height),
        normal,
        kind: BoundaryKind::Frictional { friction: 0.4 },
    }
}
