//! Many worlds on one device, each with a queue of its own, against each alone.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Material, ParticleSet, Settings, World, Worlds};
use pliant_cuda::backend::{attach, attach_worlds};
use pliant_cuda::{Device, DeviceError};
use pliant_rigid::{BodyDesc, BodyId, Shape};
use support::{Random, devices};

/// What is different from world to world.
#[derive(Clone, Copy)]
struct Figures {
    density: f64,
    particles: u32,
    friction: f64,
    velocity: Vector3<f64>,
    /// Whether there is a ball to fall onto the rubber.
    has_ball: bool,
}

impl Figures {
    fn random(random: &mut Random) -> Self {
        Self {
            density: random.log_uniform(300.0, 3000.0),
            particles: 2 + random.word() % 3,
            friction: random.uniform(0.0, 1.0),
            velocity: random.vector() * 0.3 - Vector3::z() * 0.5,
            has_ball: random.word().is_multiple_of(2),
        }
    }

    /// A piece of rubber that falls onto a floor.
    fn world(&self) -> World {
        let mut builder = World::builder(Settings::new(0.02, 2e-3));
        let rubber = builder.material(Material::elastic(self.density, 3e4, 0.3));
        let half = 0.01 * f64::from(self.particles);
        let cube = Shape::Box { half_extents: Vector3::repeat(half) };
        let at = Isometry3::translation(0.0, 0.0, half);
        let mut set = ParticleSet::filling(cube, &at, 0.01, rubber).unwrap();
        set.velocities.fill(self.velocity);
        builder.particles(set);
        builder.body(BodyDesc::fixed("floor", Shape::HalfSpace)).unwrap();
        if self.has_ball {
            let ball = BodyDesc::dynamic("ball", Shape::Sphere { radius: 0.02 }, 500.0).unwrap();
            builder.body(ball.at(Isometry3::translation(0.0, 0.0, 2.0 * half + 0.021))).unwrap();
        }
        let mut world = builder.build().unwrap();
        world.bodies_mut().set_friction(BodyId(0), self.friction).unwrap();
        world
    }
}

fn bits(world: &mut World) -> Vec<u8> {
    let mut bits = Vec::new();
    world.write_state(&mut bits).unwrap();
    bits
}

// Law: worlds are isolated, so each has the bits that it has alone, whatever the others are, on
// however many threads they are stepped, and when one of them begins again.
#[test]
fn each_world_on_a_device_is_as_alone() {
    const STEPS: usize = 3;
    for (seed, device) in devices().into_iter().enumerate() {
        let cases: &[_] = if seed == 0 { &[(1, 1), (16, 3)] } else { &[(4, 2)] };
        for &(count, threads) in cases {
            let mut random = Random(seed as u64);
            let figures: Vec<_> = (0..count).map(|_| Figures::random(&mut random)).collect();
            let alone = |k: usize, steps: usize| {
                let mut world = figures[k].world();
                attach(&device.queue().unwrap(), &mut world).unwrap();
                let contacts: f64 = (0..steps).map(|_| world.step().unwrap().contacts_mean).sum();
                assert!(contacts > 0.0, "seed {seed}: world {k} touches nothing");
                bits(&mut world)
            };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let all: Vec<World> = figures.iter().map(Figures::world).collect();
            let mut worlds = pool.install(|| Worlds::new(all)).unwrap();
            attach_worlds(&device, &mut worlds).unwrap();
            for step in 0..STEPS {
                if step == 1 && count > 3 {
                    worlds.reset(3, &figures[3].world()).unwrap();
                    attach(&device.queue().unwrap(), worlds.get_mut(3).unwrap()).unwrap();
                }
                assert!(worlds.step().iter().all(Result::is_ok));
            }
            for k in 0..count {
                let steps = if k == 3 { STEPS - 1 } else { STEPS };
                let same = bits(worlds.get_mut(k).unwrap()) == alone(k, steps);
                assert!(same, "{}, seed {seed}: world {k} of {count} differs", device.name());
            }
        }
    }
}

// A buffer of one queue is an error in another, and the kernels of a GPU are loaded once.
#[test]
fn queues_share_kernels_and_no_memory() {
    for device in devices() {
        let queue = device.queue().unwrap();
        assert_eq!(queue.name(), device.name());
        assert!(queue.self_test().unwrap());
        let buffer = device.upload(&[1_u32, 2, 3]).unwrap();
        let read = |device: &Device| {
            let mut commands = pliant_cuda::Commands::new();
            commands.clear(buffer.span());
            device.submit(&commands)
        };
        assert!(matches!(read(&queue), Err(DeviceError::DanglingSpan { command: "clear", .. })));
        assert_eq!(buffer.download().unwrap(), [1, 2, 3]);
        read(&device).unwrap();
        assert_eq!(buffer.download().unwrap(), [0; 3]);
        // A queue outlives the handle that it was made from.
        drop(buffer);
        drop(device);
        assert!(queue.self_test().unwrap());
    }
}
