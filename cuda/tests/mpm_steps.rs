//! Steps of the material point method on the device: conservation, the host's path, repeatability,
//! and what goes wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod mpm_support;
mod support;

use mpm_support::path::{DT, GRAVITY, H, block, compare, floor, transfers};
use mpm_support::{every_material, host, on_device, random_matrix, random_vector};
use nalgebra::Vector3;
use pliant_cuda::kernels::{PROBE_THREADS, ProbeFindNodesParameters};
use pliant_cuda::mpm::{Advance, BlockCapacities, DeviceMpm, DeviceMpmError, StopCause};
use pliant_cuda::{Commands, Device, Launch};
use pliant_mpm::material::Material;
use pliant_mpm::{Mpm, MpmError, ParticleRecord, ParticleState, Totals};
use pliant_rigid::StepWatch;
use support::{Random, device_kinds, devices};

fn totals(mpm: &Mpm, device: &DeviceMpm) -> Totals {
    let mut copy = mpm.clone();
    device.particles().write_back(&mut copy).unwrap();
    copy.totals(&mut Vec::new())
}

/// Without gravity and boundaries MPM with APIC conserves mass, linear and angular momentum, the
/// affine field's part included (Jiang et al. 2015, section 5.3), here of a block that spins,
/// stretches and crosses blocks, to 1e-5.
#[test]
fn a_spinning_free_block_conserves_momentum() {
    let spin = Vector3::new(3.0, -5.0, 8.0);
    let drift = Vector3::new(2.0, -1.0, 3.0);
    let mut states = block([8, 6, 6], 0);
    let centre = states.iter().map(|s| s.position.coords).sum::<Vector3<f64>>() / states.len() as f64;
    for s in &mut states {
        s.velocity = drift + spin.cross(&(s.position.coords - centre));
        s.affine = spin.cross_matrix();
    }
    let mpm = host(H, &every_material(1e5), &states, &[]);
    let before = mpm.clone().totals(&mut Vec::new());
    for (device, transfer) in &transfers() {
        let mut device_mpm = on_device(device, &mpm, &[]);
        device_mpm.set_transfer(*transfer);
        for _ in 0..2 {
            let account = device_mpm.advance(12, DT, Vector3::zeros()).unwrap();
            assert!((account.mass - before.mass).abs() < 1e-5 * before.mass);
        }
        let after = totals(&mpm, &device_mpm);
        let scale = before.mass * 5.0;
        assert!((after.mass - before.mass).abs() == 0.0);
        assert!((after.linear_momentum - before.linear_momentum).norm() < 1e-5 * scale);
        let error = after.angular_momentum - before.angular_momentum;
        assert!(error.norm() < 1e-5 * (scale * 0.1), "{error:?} of {:?}", before.angular_momentum);
    }
}

#[test]
fn an_elastic_block_moves_as_on_the_host() {
    let mut states = block([6, 6, 8], 0);
    let mut random = Random(8);
    for s in &mut states {
        s.velocity = Vector3::new(0.5, 0.2, -1.5) + 0.1 * random_vector(&mut random);
        s.affine = 5.0 * random_matrix(&mut random);
    }
    compare(&states, &floor(0.0), 40);
}

#[test]
fn sand_moves_as_on_the_host() {
    let mut states = block([6, 6, 8], 4);
    for s in &mut states {
        s.velocity = Vector3::new(0.5, 0.2, -1.0);
    }
    compare(&states, &floor(0.0), 40);
}

/// A fast cloud of all materials, which crosses blocks.
fn cloud() -> (Vec<Material>, Vec<ParticleState>) {
    let mut states = block([7, 7, 7], 0);
    let mut random = Random(4);
    for (k, s) in states.iter_mut().enumerate() {
        s.material = k % 6;
        s.velocity = Vector3::new(4.0, -3.0, 5.0) + random_vector(&mut random);
    }
    (every_material(1e5), states)
}

fn bits(mpm: &DeviceMpm) -> Vec<ParticleRecord> {
    mpm.particles().download().unwrap()
}

/// No result depends on the schedule: the same bits, and the same order of the particles, for every
/// seed; and from run to run.
#[test]
fn results_do_not_depend_on_the_schedule() {
    let (materials, states) = cloud();
    let boundaries = [floor(0.01)];
    let mpm = host(H, &materials, &states, &boundaries);
    let run = |device: &Device| {
        let mut device_mpm = on_device(device, &mpm, &boundaries);
        let mut accounts = Vec::new();
        for _ in 0..3 {
            let account = device_mpm.advance(8, DT, GRAVITY).unwrap();
            accounts.push((
                account.boundary.angular,
                account.gravity.angular,
                account.work,
                account.max_speed,
            ));
        }
        (bits(&device_mpm), accounts)
    };
    let emulated: Vec<_> = devices().into_iter().filter(Device::is_emulated).collect();
    let first = emulated.first().map(run);
    for device in &emulated[1.min(emulated.len())..] {
        assert!(Some(run(device)) == first);
    }
    for device in devices().iter().filter(|device| !device.is_emulated()) {
        assert!(run(device) == run(device));
    }
}

/// Steps of different lengths, and rare sorts, which a particle that drifts too far makes up for:
/// the same but for rounding.
#[test]
fn the_sort_interval_changes_rounding_only() {
    let (materials, states) = cloud();
    let mpm = host(H, &materials, &states, &[]);
    for device in devices() {
        let mut often = on_device(&device, &mpm, &[]);
        often.set_sort_interval(1);
        assert_eq!(often.advance(12, DT, GRAVITY).unwrap().extra_sorts, 0);
        assert_eq!(often.advance(24, DT, GRAVITY).unwrap().extra_sorts, 0);
        let mut rarely = on_device(&device, &mpm, &[]);
        rarely.set_sort_interval(1000);
        // 36 substeps of 4e-4 s at up to 9 m/s are 6 cells; scratchpads allow for two.
        let account = rarely.advance(36, DT, GRAVITY).unwrap();
        assert!(account.extra_sorts >= 1, "{account:?}");
        let [mut a, mut b] = [bits(&often), bits(&rarely)];
        a.sort_by_key(|p| p.id);
        b.sort_by_key(|p| p.id);
        for (p, q) in a.iter().zip(&b) {
            for d in 0..3 {
                let at = |p: &ParticleRecord| 4.0 * p.block[d] as f32 + p.position[d];
                // 36 substeps of some roundings of a position of up to 20 cells.
                assert!((at(p) - at(q)).abs() < 1e-3, "{p:?} {q:?}");
            }
        }
    }
}

/// Written back, the particles are the device's bit for bit, and a device that takes them goes on
/// with them.
#[test]
fn particles_come_back_bit_for_bit() {
    let (materials, states) = cloud();
    for device in devices() {
        let mut mpm = host(H, &materials, &states, &[]);
        let mut device_mpm = on_device(&device, &mpm, &[]);
        device_mpm.advance(3, DT, GRAVITY).unwrap();
        device_mpm.particles().write_back(&mut mpm).unwrap();
        let again = on_device(&device, &mpm, &[]);
        let [mut a, mut b] = [bits(&device_mpm), bits(&again)];
        a.sort_by_key(|p| p.id);
        b.sort_by_key(|p| p.id);
        assert!(a == b);
        // The host goes on, too.
        mpm.begin_step();
        mpm.particles_to_grid(DT, GRAVITY);
        mpm.grid_to_particles(DT).unwrap();
        // A model of other particles refuses them.
        let mut other = host(H, &materials, &states[1..], &[]);
        let refused = device_mpm.particles().write_back(&mut other);
        assert!(matches!(refused, Err(DeviceMpmError::Mpm(MpmError::Checkpoint { .. }))), "{refused:?}");
    }
}

/// Too few blocks, of either kind, stop a step, which says how many there are; the particles are as
/// before the substep that needed them, bit for bit, and with more room the step goes on to the
/// bits of one that had it from the start.
#[test]
fn too_few_blocks_stop_a_step_that_goes_on_with_more() {
    let (materials, states) = cloud();
    let mpm = host(H, &materials, &states, &[]);
    let counts = (mpm.block_count() as u32, mpm.nodes().len() as u32);
    for device in devices() {
        let enough = BlockCapacities::for_model(&mpm);
        let mut roomy = DeviceMpm::new(&device, &mpm, &[], enough).unwrap();
        let before = bits(&roomy);
        let account = roomy.advance(2, DT, GRAVITY).unwrap();
        let few = [
            BlockCapacities { particle_blocks: 1, ..enough },
            BlockCapacities { particle_blocks: 3, ..enough },
            BlockCapacities { node_blocks: 30, ..enough },
        ];
        for (k, capacities) in few.into_iter().enumerate() {
            let mut tight = DeviceMpm::new(&device, &mpm, &[], capacities).unwrap();
            let stopped = match tight.advance_with(2, DT, GRAVITY, &()).unwrap() {
                Advance::Stopped(stopped) => stopped,
                Advance::Done(_) => panic!("{capacities:?} is enough"),
            };
            assert_eq!(stopped.substep_index, 0);
            match stopped.cause {
                StopCause::ParticleBlocks { needed, capacity } if k < 2 => {
                    assert_eq!((needed, capacity), (counts.0, capacities.particle_blocks));
                }
                StopCause::NodeBlocks { needed, capacity: 30 } if k == 2 => assert_eq!(needed, counts.1),
                other => panic!("{other}"),
            }
            assert!(bits(&tight) == before);
            // Without more room it stops again.
            let again = tight.resume(&()).unwrap();
            assert!(matches!(again, Advance::Stopped(same) if same == stopped), "{again:?}");
            tight.grow_blocks(&stopped).unwrap();
            let Advance::Done(same) = tight.resume(&()).unwrap() else { panic!("there is room") };
            assert_eq!(format!("{same:?}"), format!("{account:?}"));
            assert!(bits(&tight) == bits(&roomy));
            assert!(matches!(tight.resume(&()), Err(DeviceMpmError::NothingToResume)));
        }
    }
    // Room for now, and not for later.
    for device in device_kinds() {
        let enough = BlockCapacities::for_model(&mpm);
        let tight = BlockCapacities { particle_blocks: counts.0, node_blocks: counts.1 };
        let mut grows = DeviceMpm::new(&device, &mpm, &[], tight).unwrap();
        let mut roomy = DeviceMpm::new(&device, &mpm, &[], enough).unwrap();
        for _ in 0..3 {
            let [a, b] = [&mut grows, &mut roomy].map(|mpm| mpm.advance(10, DT, GRAVITY).unwrap());
            assert_eq!(format!("{a:?}"), format!("{b:?}"));
        }
        assert!(grows.grid().capacities() != tight && bits(&grows) == bits(&roomy));
    }
}

/// A particle that crosses more than two cells in a substep is lost, and told with its id; of
/// several, the least.
#[test]
fn a_lost_particle_is_told() {
    let (materials, mut states) = cloud();
    for lost in [77, 240] {
        states[lost].position += Vector3::new(0.0, 0.0, 1.0 + lost as f64);
        states[lost].velocity = Vector3::new(0.0, 0.0, 30.0 * H / DT);
    }
    let mpm = host(H, &materials, &states, &[]);
    for device in devices() {
        let mut device_mpm = on_device(&device, &mpm, &[]);
        match device_mpm.advance(10, DT, GRAVITY).map(|_| ()) {
            Err(DeviceMpmError::Lost {
                source: MpmError::LostParticle { id: 77, position, velocity },
                ..
            }) => {
                assert!(
                    (velocity.z - 30.0 * H / DT).abs() < 1.0 && position.z > 70.0,
                    "{position} {velocity}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

/// After a sort, particles lie block by block and cell by cell, those of a cell in the order they
/// had; each block once, and each particle in the block that holds the lowest node of its stencil.
#[test]
fn a_sort_orders_by_block_and_cell() {
    let (materials, states) = cloud();
    let mpm = host(H, &materials, &states, &[]);
    for device in devices() {
        let mut device_mpm = on_device(&device, &mpm, &[]);
        // Every step begins with one.
        device_mpm.set_sort_interval(1000);
        // Out of the order that the host had given them.
        device_mpm.advance(4, DT, GRAVITY).unwrap();
        let mut places = vec![0; states.len()];
        for (place, particle) in bits(&device_mpm).iter().enumerate() {
            places[particle.id as usize] = place;
        }
        // Positions stay where they are in so little time.
        device_mpm.advance(1, 1e-12, Vector3::zeros()).unwrap();
        let (mut substep_states, mut last) = (Vec::new(), None);
        for particle in bits(&device_mpm) {
            let base = particle.position.map(|x| (x - 0.5).floor());
            assert!(base.iter().all(|b| (0.0..4.0).contains(b)), "{particle:?}");
            if last.is_none_or(|(block, _)| block != particle.block) {
                assert!(!substep_states.contains(&particle.block), "{particle:?}");
                substep_states.push(particle.block);
                last = None;
            }
            let here = ((base[0] * 4.0 + base[1]) * 4.0 + base[2], places[particle.id as usize]);
            assert!(last.is_none_or(|(_, before)| before < here), "{particle:?} after {last:?}");
            last = Some((particle.block, here));
        }
    }
}

/// The balance of a step of many substeps and sorts is what the particles' momentum changed by, to
/// 1e-5 of what went through it, and gravity's part is m g t.
#[test]
fn accounts_balance_over_many_substeps() {
    let (materials, mut states) = cloud();
    states.iter_mut().for_each(|s| s.velocity.z = -2.0);
    let boundaries = [floor(0.02)];
    let mpm = host(H, &materials, &states, &boundaries);
    let before = mpm.clone().totals(&mut Vec::new());
    for device in devices() {
        let mut device_mpm = on_device(&device, &mpm, &boundaries);
        let account = device_mpm.advance(17, DT, GRAVITY).unwrap();
        let after = totals(&mpm, &device_mpm);
        let scale = before.mass * 10.0;
        let fall = before.mass * 17.0 * DT * GRAVITY;
        assert!((account.gravity.linear - fall).norm() < 1e-6 * fall.norm());
        assert!(account.boundary.linear.z > 0.05 * before.mass, "the floor pushes: {account:?}");
        let linear = account.gravity.linear + account.boundary.linear;
        assert!((after.linear_momentum - before.linear_momentum - linear).norm() < 1e-5 * scale);
        let angular = account.gravity.angular + account.boundary.angular;
        assert!((after.angular_momentum - before.angular_momentum - angular).norm() < 1e-5 * scale * 0.1);
    }
}

/// A step of more substeps than are launched together is one step: a particle falls by g t, the
/// balance has all of m g t, and the watch counts every substep. Stopped between launches, it says
/// where.
#[test]
fn a_step_of_many_launches_is_counted_and_stopped() {
    // Two launches of 1024, and a rest.
    const SUBSTEPS: u32 = 2050;
    let states = &block([1, 1, 1], 0)[..1];
    let substep = 1e-5;
    let mpm = host(H, &every_material(1e5), states, &[]);
    let before = mpm.clone().totals(&mut Vec::new());
    for device in device_kinds() {
        let mut device_mpm = on_device(&device, &mpm, &[]);
        let watch = StepWatch::default();
        device_mpm.set_watch(watch.clone());
        watch.stop();
        let stopped = device_mpm.advance(SUBSTEPS, substep, GRAVITY).unwrap_err();
        assert_eq!(stopped, DeviceMpmError::StoppedOnRequest { substep_index: 0 });
        watch.resume();
        watch.begin_step(0);
        let account = device_mpm.advance(SUBSTEPS, substep, GRAVITY).unwrap();
        assert_eq!(watch.progress().substeps, u64::from(SUBSTEPS));
        let fall = before.mass * f64::from(SUBSTEPS) * substep * GRAVITY;
        assert!((account.gravity.linear - fall).norm() < 1e-6 * fall.norm(), "{account:?}");
        let gained = totals(&mpm, &device_mpm).linear_momentum - before.linear_momentum;
        // A velocity is rounded in every substep.
        assert!((gained - fall).norm() < 1e-3 * fall.norm(), "{gained:?} {fall:?}");
    }
}

/// What is run between a substep's halves sees its nodes: here it stops them all, and with them the
/// particles.
#[test]
fn commands_between_the_halves_change_the_nodes() {
    let (materials, mut states) = cloud();
    // Grains would keep their own motion.
    states.iter_mut().for_each(|s| s.material %= 5);
    let mpm = host(H, &materials, &states, &[]);
    for device in devices() {
        let mut device_mpm = on_device(&device, &mpm, &[]);
        // Steps of one kind, which are recorded once.
        device_mpm.set_sort_interval(1000);
        let nodes = device_mpm.grid().nodes().nodes;
        let stop = |commands: &mut Commands, substep: u32| {
            if substep == 2 {
                commands.clear(nodes);
            }
        };
        let Advance::Done(account) = device_mpm.advance_with(3, DT, GRAVITY, &stop).unwrap() else {
            panic!("nothing stops it")
        };
        assert_eq!(account.max_speed, 0.0);
        assert!(bits(&device_mpm).iter().all(|p| p.velocity == [0.0; 3]));
        // Recorded: the same again, until that is forgotten.
        assert_eq!(device_mpm.advance(3, DT, GRAVITY).unwrap().max_speed, 0.0);
        device_mpm.forget_recording();
        assert!(device_mpm.advance(3, DT, GRAVITY).unwrap().max_speed > 0.0);
    }
}

/// Every node block is found by its key, 64 nodes after another in the order of the slots, and
/// others are not.
#[test]
fn node_blocks_are_found_by_their_keys() {
    let (materials, states) = cloud();
    let mpm = host(H, &materials, &states, &[]);
    for device in devices() {
        let mut device_mpm = on_device(&device, &mpm, &[]);
        device_mpm.advance(12, DT, GRAVITY).unwrap();
        let keys = device_mpm.grid().block_keys().unwrap();
        assert!(keys.len() > 27);
        let mut asked = keys.clone();
        asked.extend([[1000, 0, 0], [0, -1000, 3], [-7, 5, 1 << 19]]);
        let input = device.upload(&asked).unwrap();
        let output = device.allocate::<u32>(asked.len()).unwrap();
        let (grid, slots) = (device_mpm.grid().nodes(), output.span());
        let parameters = ProbeFindNodesParameters { grid, keys: input.span(), slots };
        device.launch(Launch::over(asked.len() as u32, PROBE_THREADS, PROBE_THREADS), &parameters).unwrap();
        let mut right: Vec<u32> = (0..keys.len() as u32).collect();
        right.extend([u32::MAX; 3]);
        assert!(output.download().unwrap() == right);
    }
}
