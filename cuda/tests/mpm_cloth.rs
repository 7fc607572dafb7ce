//! Sheets of cloth on the device: the f64 reference's motion, momenta, schedules and sorts, saving,
//! energy.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use mpm_support::{ROUNDOFF, lattice, on_device};
use nalgebra::{Matrix3, Vector3};
use pliant_cuda::Device;
use pliant_cuda::mpm::{BlockCapacities, DeviceMpm, DeviceMpmError, Transfer};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Pin, Sheet, Stability};
use pliant_mpm::material::{Elastic, Material, Model};
use pliant_mpm::reference::{ReferenceMpm, ReferenceParticle};
use pliant_mpm::{InstructionSet, Mpm, MpmError, ParticleRecord, ParticleState};
use support::{device_kinds, devices};

const H: f64 = 0.05;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
/// When the pins let go [s].
const RELEASE: f64 = 0.06;

/// Cloth with every part of the model on, stiff in its plane for how soft it is across: substeps
/// are as long as the latter allows, and the mesh takes several steps in each.
fn material() -> ClothMaterial {
    ClothMaterial {
        shear_stiffness: 2e4,
        friction: 0.4,
        bending_stiffness: 5e-3,
        damping: 0.7,
        ..ClothMaterial::new(800.0, Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 }, H, 2e4)
    }
}

fn dt() -> f64 {
    let sheets = scene().0;
    sheets.iter().map(|sheet| Stability::new(sheet, H).largest_substep(2.0)).fold(f64::INFINITY, f64::min)
}

/// A sheet that hangs from pins, which move and let go, and another that falls on it with a block
/// of jelly; they meet from the start.
fn scene() -> (Vec<Sheet>, Vec<Material>, Vec<ParticleState>) {
    let origin = Vector3::new(0.013, -0.021, 0.32);
    let (u, v) = (Vector3::new(0.35, 0.03, 0.05), Vector3::new(-0.02, 0.3, 0.02));
    let mesh = ClothMesh::rectangle(origin, u, v, [7, 6]).unwrap();
    let pin = |vertex: usize| {
        let at = mesh.vertices()[vertex];
        let path = vec![(0.0, at), (0.045, at + Vector3::new(0.01, 0.0, 0.02))];
        Pin::new(vertex, path, RELEASE).unwrap()
    };
    let held = (0..4).chain([30, 55]).map(pin).collect();
    let lower = Sheet { pins: held, ..Sheet::new(mesh.clone(), material()) };
    let disc = ClothMesh::disc(Vector3::new(0.18, 0.13, 0.41), Vector3::new(0.2, 0.1, 1.0), 0.12, 3).unwrap();
    let falling = Vector3::new(0.3, -0.2, -1.5);
    let softer = ClothMaterial { damping: 1.0, ..material() };
    let upper = Sheet { velocity: falling, ..Sheet::new(disc, softer) };
    let jelly = Elastic { youngs_modulus: 2e4, poissons_ratio: 0.3 };
    let jelly = Material { density: 900.0, model: Model::NeoHookean(jelly) };
    let mut block = lattice([0.14, 0.08, 0.43], H / 2.0, [4, 4, 2]);
    block.iter_mut().for_each(|p| p.velocity = falling);
    (vec![lower, upper], vec![jelly], block)
}

fn model() -> Mpm {
    let (sheets, materials, block) = scene();
    Mpm::with_sheets(H, materials, &block, &sheets, &[], InstructionSet::detect()).unwrap()
}

/// The same in the f64 reference.
fn reference() -> ReferenceMpm {
    let (sheets, materials, block) = scene();
    let particles = block.iter().map(|s| ReferenceParticle {
        position: s.position.coords,
        velocity: s.velocity,
        affine: Matrix3::zeros(),
        deformation_gradient: Matrix3::identity(),
        volume: s.volume,
        mass: s.volume * materials[0].density,
        material: 0,
        state: 0.0,
    });
    let particles = particles.collect();
    let mut mpm = ReferenceMpm::new(H, GRAVITY, materials, particles).unwrap();
    for sheet in sheets {
        let cloth = mpm.add_cloth(sheet.mesh, sheet.material, sheet.pins).unwrap();
        mpm.cloths[cloth].set_velocity(|_| (sheet.velocity, Matrix3::zeros()));
    }
    mpm
}

/// Largest distance of a particle from its place in the reference [cells], and of a director.
fn distance(found: &[ParticleRecord], fast: &Mpm, reference: &ReferenceMpm) -> [f64; 2] {
    let mut places = vec![Vector3::zeros(); fast.len()];
    let mut directors = places.clone();
    for p in found {
        let cells = |d: usize, _| 4.0 * f64::from(p.block[d]) + f64::from(p.position[d]);
        places[p.id as usize] = Vector3::from_fn(cells);
        directors[p.id as usize] = Vector3::from_fn(|d, _| f64::from(p.deformation_gradient[2 + 3 * d]));
    }
    let mut most = [0.0_f64; 2];
    for (patch, cloth) in fast.sheet_particles().iter().zip(&reference.cloths) {
        for (id, p) in (patch.vertices.start..patch.centroids.end).zip(cloth.particles()) {
            most[0] = most[0].max((places[id] - p.position / H).norm());
        }
        for (id, face) in patch.centroids.clone().zip(&cloth.faces) {
            most[1] = most[1].max((directors[id] - face.director).norm());
        }
    }
    for (id, p) in reference.particles.iter().enumerate() {
        most[0] = most[0].max((places[id] - p.position / H).norm());
    }
    most
}

/// What rounding lets be between the reference and a path in f32 after n substeps: 4 sqrt(n) u (V
/// dt n / h + 8) cells, with V the wave speed, as for the host (mpm/tests/cloth_fast.rs). A
/// director turns with its face, by what the corners are off over the altitude, which is 0.6 cells
/// and more here; so it may be twice as far.
fn assert_close([places, directors]: [f64; 2], substeps: u32) {
    let (n, moved) = (f64::from(substeps), material().wave_speed() * dt() / H);
    let bound = 4.0 * n.sqrt() * ROUNDOFF * (n * moved + 8.0);
    println!("{substeps}: {places:e} cells, {directors:e} of {bound:e}");
    assert!(places < bound && directors < 2.0 * bound, "{substeps}: {places} cells, {directors}; {bound}");
}

/// Runs a device and the reference alike, in steps of ten substeps, and holds one against the other
/// after each.
fn follow(device_mpm: &mut DeviceMpm, reference: &mut ReferenceMpm, steps: u32, before: u32) {
    for step in 1..=steps {
        follow_step(device_mpm, reference, dt(), before + 10 * step);
    }
}

/// The same for one step with substeps of `substep` [s], after which there were `substeps`.
fn follow_step(device_mpm: &mut DeviceMpm, reference: &mut ReferenceMpm, substep: f64, substeps: u32) {
    device_mpm.advance(10, substep, GRAVITY).unwrap();
    for _ in 0..10 {
        reference.substep(substep, |_, _, _| {}).unwrap();
    }
    let found = device_mpm.particles().download().unwrap();
    assert_close(distance(&found, &model(), reference), substeps);
}

/// All particles of both sheets and the jelly are where the f64 reference has them, while pins move
/// and after they let go, with sorts in the middle of steps, and with either way to the grid.
/// Measured: places 0.2 to 0.6 of the bound, directors 0.2 to 0.8.
#[test]
fn sheets_move_as_in_the_reference() {
    for device in device_kinds() {
        for (transfer, steps) in [(Transfer::Ordered, 5), (Transfer::Atomic, 2)] {
            let mut reference = reference();
            let mut device_mpm = on_device(&device, &model(), &[]);
            device_mpm.set_transfer(transfer);
            device_mpm.set_sort_interval(4);
            follow(&mut device_mpm, &mut reference, steps, 0);
            assert!(steps < 5 || reference.time > RELEASE, "the pins never let go: {} s", reference.time);
        }
    }
}

/// The same where directors begin at 0.3 of their length, below the half where the normal response takes its
/// other form ([`pliant_mpm::cloth`]), and spring open.
#[test]
fn sheets_pressed_below_a_half_open_as_in_the_reference() {
    for device in device_kinds() {
        let mut reference = reference();
        let start = pressed(&mut reference, 0.3);
        let mut device_mpm = on_device(&device, &start, &[]);
        follow(&mut device_mpm, &mut reference, 3, 0);
        let lengths = reference.cloths.iter().flat_map(|cloth| &cloth.faces).map(|face| face.director.norm());
        let shortest = lengths.fold(f64::INFINITY, f64::min);
        println!("directors of {shortest} and more");
        assert!(shortest > 0.5, "sheets did not open: {shortest}");
    }
}

/// Shortens the directors of the reference's sheets, which are at rest, to `r33`. Returns the model of the same.
fn pressed(reference: &mut ReferenceMpm, r33: f64) -> Mpm {
    let mut start = model();
    let mut records: Vec<_> = start.stored_particles().collect();
    records.sort_by_key(|record| record.id);
    for (patch, cloth) in start.sheet_particles().iter().zip(&mut reference.cloths) {
        cloth.faces.iter_mut().for_each(|face| face.director *= r33);
        let (_, on_directors) = cloth.elastic_forces();
        for ((id, face), force) in patch.centroids.clone().zip(&cloth.faces).zip(on_directors) {
            // V tau = V p3 d3^T; the edges of a sheet at rest have no part in it.
            let stress = -force * face.director.transpose();
            let six = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
            records[id].stress_volume = six.map(|place| stress[place] as f32);
            for row in 0..3 {
                records[id].deformation_gradient[2 + 3 * row] = face.director[row] as f32;
            }
        }
    }
    start.set_particles(&records).unwrap();
    start
}

/// The same where a step has substeps so short that the mesh takes none of its own, and then as
/// long ones as before: the mesh's steps are not part of the commands that were recorded.
#[test]
fn substeps_change_their_length() {
    let steps =
        |substep: f64| scene().0.iter().map(|sheet| Stability::new(sheet, H).mesh_substeps(substep).0).max();
    assert!(steps(dt()) > Some(1) && steps(0.3 * dt()) == Some(1));
    for device in device_kinds() {
        let mut reference = reference();
        let mut device_mpm = on_device(&device, &model(), &[]);
        for (step, part) in (1..).zip([1.0, 0.3, 1.0]) {
            follow_step(&mut device_mpm, &mut reference, part * dt(), 10 * step);
        }
    }
}

/// All bits of the particles, in the order of their ids.
fn bits(device_mpm: &DeviceMpm) -> Vec<String> {
    let mut all = device_mpm.particles().download().unwrap();
    all.sort_by_key(|p| p.id);
    all.iter().map(|p| format!("{p:?}")).collect()
}

/// The schedule changes no bit, and neither does memory for blocks that has to be made within a
/// step.
#[test]
fn schedules_and_growth_change_no_bit() {
    let start = model();
    let tight = BlockCapacities { particle_blocks: start.block_count() as u32, node_blocks: 40 };
    let mut first = None;
    for (k, device) in devices().into_iter().filter(Device::is_emulated).enumerate() {
        let room = if k == 1 { tight } else { BlockCapacities::for_model(&start) };
        let mut device_mpm = DeviceMpm::new(&device, &start, &[], room).unwrap();
        device_mpm.set_sort_interval(3);
        let account = device_mpm.advance(7, dt(), GRAVITY).unwrap();
        assert_eq!(k == 1, device_mpm.grid().capacities().node_blocks > room.node_blocks);
        let found = (bits(&device_mpm), account.totals, account.pins.impulse.angular, account.pins.work);
        assert!(*first.get_or_insert_with(|| found.clone()) == found, "device {k}");
    }
}

/// Linear and angular momentum change by what gravity and the pins gave, step by step, and energy
/// by the work of both and what is lost otherwise, which the host's run says. Bound on momenta:
/// rounding of N particles' in each substep, sqrt(N) u of the sum of their sizes, and as much in
/// the grid (mpm/tests/cloth_fast.rs); here for five substeps.
#[test]
fn pins_and_gravity_account_for_momenta() {
    for device in device_kinds() {
        let mut host = model();
        let mut device_mpm = on_device(&device, &host, &[]);
        let (mut pulled, mut before) = (0.0_f64, device_mpm.totals().unwrap());
        for step in 0..9 {
            let time = f64::from(step) * 5.0 * dt();
            let account = device_mpm.advance(5, dt(), GRAVITY).unwrap();
            let (pins, after) = (account.pins, account.totals);
            let mut right = pliant_mpm::PinImpulse::default();
            for k in 0..5 {
                host.begin_step();
                host.particles_to_grid(dt(), GRAVITY);
                host.apply_pins(time + f64::from(k) * dt(), dt());
                host.grid_to_particles(dt()).unwrap();
                let of_substep = host.pin_impulse();
                right.impulse.linear += of_substep.impulse.linear;
                right.impulse.angular += of_substep.impulse.angular;
                right.work += of_substep.work;
            }
            let linear =
                after.linear_momentum - before.linear_momentum - account.gravity.linear - pins.impulse.linear;
            let angular = after.angular_momentum
                - before.angular_momentum
                - account.gravity.angular
                - pins.impulse.angular;
            let speed = 2.0 + GRAVITY.norm() * time;
            let size = 5.0 * after.mass * speed * 2.0 * (host.len() as f64).sqrt() * ROUNDOFF;
            assert!(linear.norm() < size, "{step}: {linear:?} N s of {size}");
            // Levers are up to 0.9 m; places are rounded to 2^-24 of a block of 0.2 m.
            assert!(angular.norm() < 2.0 * size, "{step}: {angular:?} N m s of {size}");
            // The two paths' particles differ by rounding, which the pins answer; there are six of
            // them. Measured: 2e-6 N s.
            let apart = (pins.impulse.linear - right.impulse.linear).norm();
            let worked = (pins.work - right.work).abs();
            println!("{step}: {apart:e} N s, {worked:e} J of {size:e}; {:e} J", right.work);
            assert!(apart < 0.05 * size && worked < 0.05 * size * speed, "{step}: {pins:?}, not {right:?}");
            let energy = (after.kinetic_energy - host.totals(&mut Vec::new()).kinetic_energy).abs();
            assert!(energy < size * speed, "{step}: {energy} J");
            pulled = pulled.max(pins.impulse.linear.norm());
            before = after;
        }
        assert!(pulled > 1e-3, "the pins never pulled: {pulled} N s");
        let (found, right) = (before.elastic_energy, host.totals(&mut Vec::new()).elastic_energy);
        assert!((found / right - 1.0).abs() < 1e-3, "{found} J, on the host {right} J");
    }
}

/// The elastic energy of particles, faces and hinges is the host's of the same state, also where faces are
/// pressed below a half. A face's density is a sum of squares of differences, so rounding makes an
/// error of u times the strains' sum times the modulus; what is left of that, of a sheet as it lies
/// here, is below 1e-6 of the whole (measured: 8e-8, pressed 2e-8).
#[test]
fn energies_are_the_hosts() {
    for device in device_kinds() {
        energy_is_the_hosts(&device, &model(), 12);
        energy_is_the_hosts(&device, &pressed(&mut reference(), 0.3), 4);
    }
}

fn energy_is_the_hosts(device: &Device, start: &Mpm, substeps: u32) {
    let mut device_mpm = on_device(device, start, &[]);
    let account = device_mpm.advance(substeps, dt(), GRAVITY).unwrap();
    let mut host = model();
    device_mpm.particles().write_back(&mut host).unwrap();
    host.set_last_substep(device_mpm.last_substep());
    let right = host.totals(&mut Vec::new());
    let found = account.totals;
    assert_eq!(found, device_mpm.totals().unwrap());
    let off = (found.elastic_energy / right.elastic_energy - 1.0).abs();
    println!("elastic energy off by {off:e} of {} J", right.elastic_energy);
    assert!(off < 1e-6 && right.elastic_energy > 1e-2, "{found:?}, not {right:?}");
    // f64 sums of the same numbers, of either sign, in two orders.
    let off = (found.kinetic_lag / right.kinetic_lag - 1.0).abs();
    assert!(off < 1e-10 && right.kinetic_lag.abs() > 1e-6, "{found:?}, not {right:?}");
}

/// What comes back is the device's state to the bit, and from it both the host and another device
/// go on to where the reference is.
#[test]
fn a_state_from_the_device_goes_on_elsewhere() {
    for device in device_kinds() {
        let mut reference = reference();
        let mut device_mpm = on_device(&device, &model(), &[]);
        follow(&mut device_mpm, &mut reference, 1, 0);
        let mut host = model();
        device_mpm.particles().write_back(&mut host).unwrap();
        let mut again = on_device(&device, &host, &[]);
        assert!(bits(&again) == bits(&device_mpm));
        again.set_time(10.0 * dt());
        follow(&mut again, &mut reference, 1, 10);
        for k in 10..20 {
            host.begin_step();
            host.particles_to_grid(dt(), GRAVITY);
            host.apply_pins(f64::from(k) * dt(), dt());
            host.grid_to_particles(dt()).unwrap();
        }
        let stored: Vec<_> = host.stored_particles().collect();
        assert_close(distance(&stored, &host, &reference), 20);
    }
}

/// What sheets take is known to the byte, and a vertex that leaves its neighbourhood is told with
/// its id.
#[test]
fn memory_is_known_and_a_lost_vertex_is_told() {
    let start = model();
    for device in device_kinds() {
        let capacities = BlockCapacities::for_model(&start);
        let free = device.memory().unwrap().free;
        let device_mpm = DeviceMpm::new(&device, &start, &[], capacities).unwrap();
        let taken = free - device.memory().unwrap().free;
        // A GPU's allocations are rounded up, and others may use it.
        assert!(!device.is_emulated() || DeviceMpm::bytes_needed(&start, &[], capacities) == taken);
        drop(device_mpm);

        // A sheet that flies off: all its particles are lost, and the first of them is told.
        let (mut sheets, ..) = scene();
        sheets[1].velocity = Vector3::new(0.0, 0.0, 30.0 * H / dt());
        let fast = Mpm::with_sheets(H, Vec::new(), &[], &sheets[1..], &[], InstructionSet::detect()).unwrap();
        let mut device_mpm = DeviceMpm::new(&device, &fast, &[], capacities).unwrap();
        match device_mpm.advance(3, dt(), GRAVITY).map(|_| ()) {
            Err(DeviceMpmError::Lost {
                substep_index: 0,
                source: MpmError::LostParticle { id: 0, velocity, .. },
            }) => {
                assert!((velocity.z * dt() / H - 30.0).abs() < 0.1, "{velocity}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A sheet without other particles, bending and pins: no materials but its own.
#[test]
fn a_sheet_alone_falls() {
    let mesh =
        ClothMesh::rectangle(Vector3::zeros(), 0.2 * Vector3::x(), 0.2 * Vector3::y(), [5, 5]).unwrap();
    let plain = ClothMaterial { bending_stiffness: 0.0, ..material() };
    let sheet = Sheet::new(mesh, plain);
    let mpm = Mpm::with_sheets(H, Vec::new(), &[], &[sheet], &[], InstructionSet::detect()).unwrap();
    for device in device_kinds() {
        let mut device_mpm = on_device(&device, &mpm, &[]);
        let account = device_mpm.advance(10, dt(), GRAVITY).unwrap();
        let speed = GRAVITY.z * 10.0 * dt();
        // Velocities round once in the grid and once in the particles of each substep.
        let tolerance = 40.0 * ROUNDOFF * speed.abs();
        for p in device_mpm.particles().download().unwrap() {
            assert!((f64::from(p.velocity[2]) - speed).abs() < tolerance, "{p:?}");
        }
        assert!(account.totals.elastic_energy.abs() < 1e-9, "{account:?}");
        assert!((account.max_speed + speed).abs() < tolerance, "{account:?}");
    }
}
