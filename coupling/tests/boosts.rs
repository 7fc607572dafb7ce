//! The laws of motion are the same in every inertial frame (Galileo): what is added to all
//! velocities at the start is added to all at the end.

use crate::common::{block, fixed_corotated, prescribed};
use nalgebra::{Isometry3, Matrix3, Translation3, Vector3};
use pliant_coupling::{Settings, World};
use pliant_rigid::{BodyDesc, BodyId, Geometry, Joint, MassProperties, Motion, Shape, SpatialVelocity};
use pliant_testing::Random;

/// An elastic cube that hits a free box off its middle, without gravity; `boost` (m/s) is added to
/// the velocities of both, `translate_free_body` (m) to their places.
fn collision(seed: u64, boost: Vector3<f64>, shift: Vector3<f64>) -> World {
    let mut random = Random(seed);
    let mut settings = Settings::new(0.02, random.choose(&[1e-3, 2e-3, 5e-3]));
    settings.gravity = Vector3::zeros();
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(random.log_uniform(3e4, 3e5), 0.3, 1000.0));
    let speed = random.uniform(0.5, 4.0);
    let velocity = Vector3::new(speed, 0.0, random.uniform(-0.3, 0.3));
    let corner = shift - Vector3::new(0.1, 0.05, 0.05);
    builder.particles(block(rubber, corner.into(), [10; 3], 0.01, velocity + boost));
    let half = Vector3::new(0.03, 0.05, 0.08);
    let mass = random.log_uniform(0.1, 10.0);
    let turned = random.turn();
    let offset = Vector3::new(0.1, random.uniform(-0.04, 0.04), random.uniform(-0.06, 0.06));
    let motion = Motion::Dynamic {
        parent: None,
        joint: Joint::free(),
        mass: MassProperties {
            mass,
            inertia: Matrix3::from_diagonal(&Vector3::new(3e-3, 2.5e-3, 1.2e-3)) * mass,
        },
        force: Vector3::zeros(),
        torque: Vector3::zeros(),
        velocity: SpatialVelocity { angular: Vector3::zeros(), linear: boost },
        gravity: true,
    };
    let geometries = vec![Geometry::new(Shape::Box { half_extents: half }, random.uniform(0.0, 1.0))];
    let pose = Isometry3::from_parts(Translation3::from(offset + shift), turned);
    builder.body(BodyDesc { name: "box".into(), pose, motion, geometries, appearance: Vec::new() }).unwrap();
    builder.build().unwrap()
}

/// Velocities of the box after 0.15 s: linear, angular (m/s, rad/s).
fn after(mut world: World) -> (Vector3<f64>, Vector3<f64>) {
    while world.time() < 0.15 {
        world.step().unwrap();
    }
    let velocity = world.bodies().velocity(BodyId(0));
    (velocity.linear, velocity.angular)
}

/// Boosts of 5 to 50 m/s in random directions change nothing but the velocities themselves: within
/// 1 % of the box's velocity; the grid goes with the material, so that nothing but rounding and the
/// tolerance of the solver differs. With a grid at rest it was up to 5 %, about what a shift of the
/// scene by parts of a cell changes; with impulses on lines that stay in the world 25 % at 30 m/s.
#[test]
fn a_collision_is_the_same_in_every_inertial_frame() {
    for seed in 1..=6 {
        let mut random = Random(seed ^ 0xb005);
        let size = random.uniform(5.0, 50.0);
        let boost = random.turn() * Vector3::new(size, 0.0, 0.0);
        let (linear, angular) = after(collision(seed, Vector3::zeros(), Vector3::zeros()));
        let off = |(v, w): (Vector3<f64>, Vector3<f64>), frame: Vector3<f64>| {
            (v - frame - linear).norm().max(0.05 * (w - angular).norm()) / linear.norm()
        };
        let moved = (0..4).map(|_| {
            let shift = Vector3::from_fn(|_, _| random.uniform(0.0, 0.02));
            off(after(collision(seed, Vector3::zeros(), shift)), Vector3::zeros())
        });
        let moved = moved.fold(0.0, f64::max);
        let boosted = off(after(collision(seed, boost, Vector3::zeros())), boost);
        println!("seed {seed}: off by {boosted:.4} at {size:.1} m/s, {moved:.4} where shifted");
        assert!(boosted < 0.01, "seed {seed}, boost {boost:?}: {boosted}, shifted {moved}");
    }
}

/// A block that slides on a floor is slowed as much where the floor moves too (mu g, Coulomb), at
/// boosts of 5 to 50 m/s along it and across it: within 1 % of the way that friction took, and
/// twice the rounding of f32 velocities.
#[test]
fn friction_is_the_same_in_every_inertial_frame() {
    for seed in 1..=4 {
        let mut random = Random(seed ^ 0xf100);
        let (friction, speed) = (random.uniform(0.05, 0.4), random.log_uniform(0.3, 3.0));
        let boost = random.turn() * Vector3::new(random.uniform(5.0, 50.0), 0.0, 0.0);
        let slowed = |frame: Vector3<f64>| {
            let mut builder = World::builder(Settings::new(0.02, 2e-3));
            let rubber = builder.material(fixed_corotated(1e6, 0.3, 1000.0));
            let velocity = frame + Vector3::new(speed, 0.0, 0.0);
            builder.particles(block(rubber, [0.0; 3], [6, 6, 4], 0.01, velocity));
            let floor = Shape::HalfSpace;
            let path = [(0.0, frame, Vector3::zeros())];
            builder.body(prescribed("floor", floor, Isometry3::identity(), friction, &path)).unwrap();
            let mut world = builder.build().unwrap();
            let time = 0.1f64.min(0.5 * speed / (friction * 9.81));
            while world.time() < time {
                world.step().unwrap();
            }
            let mean = world.mpm().totals(&mut Vec::new());
            let end = (mean.linear_momentum / mean.mass - frame).x;
            ((speed - end) / (friction * 9.81 * world.time()), end)
        };
        let ((at_rest, _), (boosted, _)) = (slowed(Vector3::zeros()), slowed(boost));
        println!("seed {seed}: {at_rest:.4} and {boosted:.4} of mu g at {boost:?}");
        assert!((boosted / at_rest - 1.0).abs() < 0.01, "seed {seed}: {boosted} for {at_rest}");
        assert!((at_rest - 1.0).abs() < 0.01, "seed {seed}: {at_rest} of mu g");
    }
}

/// A collision in free space resumes bit for bit from the state of any of its steps, though its
/// grid moves.
#[test]
fn a_collision_goes_on_from_every_step() {
    let bits = |world: &mut World| {
        let mut bytes = Vec::new();
        world.write_state(&mut bytes).unwrap();
        bytes
    };
    for seed in 1..=6 {
        let build = || collision(seed, Vector3::zeros(), Vector3::zeros());
        let mut world = build();
        let mut states = vec![bits(&mut world)];
        while world.time() < 0.08 {
            world.step().unwrap();
            states.push(bits(&mut world));
        }
        for (step, pair) in states.windows(2).enumerate() {
            let mut fresh = build();
            fresh.read_state(&mut pair[0].as_slice()).unwrap();
            assert!(
                bits(&mut fresh) == pair[0],
                "seed {seed}: what was restored at step {step} is what was saved"
            );
            fresh.step().unwrap();
            assert!(bits(&mut fresh) == pair[1], "seed {seed}: step {step} from a saved state");
        }
    }
}
