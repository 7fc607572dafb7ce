//! What a world refuses, and how a run that went wrong says so.

use crate::common::{self, block, fixed, fixed_corotated, floor, prescribed};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_coupling::convex::SettingsError;
use pliant_coupling::{
    ALLOWED_OVERLAP, AutoOr, Boundary, BoundaryKind, BuildError, GridMotion, ParticleSet, Settings,
    StepError, World, WorldBuilder,
};
use pliant_mpm::{ParticleState, largest_stable_substep};
use pliant_rigid::{BodyDesc, Shape};
use pliant_testing::Random;

fn builder(settings: Settings) -> WorldBuilder {
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(1e5, 0.3, 1000.0));
    builder.particles(block(rubber, [0.0; 3], [4; 3], 0.01, Vector3::zeros()));
    builder
}

fn good() -> Settings {
    Settings::new(0.02, 1e-3)
}

/// The error of a build that must fail; a world is too much to print.
fn refusal(builder: WorldBuilder) -> BuildError {
    let Err(error) = builder.build() else { panic!("it must be refused") };
    error
}

/// A wall that comes at the block with this speed [m/s] along x.
fn wall(speed: f64) -> BodyDesc {
    let shape = Shape::Box { half_extents: Vector3::new(0.01, 1.0, 1.0) };
    let keys = [(0.0, Vector3::x() * speed, Vector3::zeros())];
    prescribed("wall", shape, Isometry3::translation(-0.05, 0.0, 0.0), 0.5, &keys)
}

/// A block with this stretch, in two substeps of a step.
fn stretched(stretch: f64) -> WorldBuilder {
    let mut settings = good();
    settings.substeps = AutoOr::Value(2);
    let mut builder = World::builder(settings);
    let rubber = builder.material(fixed_corotated(1e5, 0.3, 1000.0));
    let at = block(rubber, [0.0; 3], [4; 3], 0.01, Vector3::zeros()).positions;
    builder.particle_states(at.into_iter().map(|p| ParticleState {
        deformation_gradient: Matrix3::identity() * stretch,
        ..ParticleState::new(p, Vector3::zeros(), 1e-6, rubber.0)
    }));
    builder.body(floor(0.5)).unwrap();
    builder
}

/// A block that starts stretched carries waves that are too fast for the substeps that were given.
#[test]
fn substeps_too_long_for_the_stretch_at_the_start_are_refused() {
    for stretch in [30.0, 1e2, 1e3] {
        let error = refusal(stretched(stretch));
        let BuildError::UnstableSubsteps { substeps: 2, needed, .. } = error else { panic!("{error:?}") };
        assert!(needed > 2, "{error}");
    }
}

/// A block that is stretched beyond all bounds after the build bursts within a substep: the step says
/// what was lost, where and why.
#[test]
fn a_blown_up_run_names_step_particle_and_cause() {
    for stretch in [30.0_f32, 1e2, 1e3] {
        let mut world = stretched(1.0).build().unwrap();
        let mut particles: Vec<_> = world.mpm().stored_particles().collect();
        for particle in &mut particles {
            particle.deformation_gradient = particle.deformation_gradient.map(|f| f * stretch);
        }
        world.set_particles(&particles).unwrap();
        let error = (0..100).find_map(|_| world.step().err()).expect("it cannot go on");
        println!("stretched by {stretch:e}: {error}");
        let StepError::BlewUp { step, substep_index, particle, velocity, cause, .. } = &error else {
            panic!("{error:?}");
        };
        assert!(*step < 100 && *substep_index < 2 && *particle < 64, "{error}");
        assert!(velocity.norm() > 1.0 || !velocity.norm().is_finite(), "{error}");
        assert!(cause.contains("smaller dt"), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&format!("step {step}")) && text.contains(&format!("particle {particle}")),
            "{text}"
        );
        // It can still be read.
        assert_eq!(common::snapshot(&mut world).positions.len(), 64);
    }
}

/// Gravity that crosses a cell within a substep is named as the cause.
#[test]
fn absurd_gravity_is_named() {
    let mut settings = good();
    settings.gravity = Vector3::new(0.0, 0.0, -1e9);
    let mut world = builder(settings).build().unwrap();
    let error = (0..10).find_map(|_| world.step().err()).expect("it cannot go on");
    assert!(error.to_string().contains("gravity"), "{error}");
}

/// Explicit substeps beyond the stability limit are refused, with the limit and what it takes; that
/// many are accepted.
#[test]
fn unstable_substeps_are_refused() {
    let mut settings = Settings::new(0.02, 1e-2);
    settings.substeps = AutoOr::Value(2);
    let error = refusal(builder(settings.clone()));
    let limit = largest_stable_substep(0.02, &[fixed_corotated(1e5, 0.3, 1000.0)], 0.0);
    let BuildError::UnstableSubsteps { substeps: 2, substep, largest, needed } = error else {
        panic!("{error:?}");
    };
    assert_eq!((substep, largest), (5e-3, limit));
    assert!(error.to_string().contains(&format!("{limit:.3e} s")), "{error}");
    assert!(error.to_string().contains(&format!("{needed} substeps")), "{error}");
    settings.substeps = AutoOr::Value(needed);
    builder(settings.clone()).build().unwrap();
    settings.substeps = AutoOr::Value(needed - 1);
    refusal(builder(settings.clone()));
    // A tool that will move at 5 m/s at some time brings particles to that speed.
    settings.substeps = AutoOr::Value(needed);
    let mut with_tool = builder(settings);
    with_tool.body(wall(5.0)).unwrap();
    let BuildError::UnstableSubsteps { largest, .. } = refusal(with_tool) else { panic!("another error") };
    assert_eq!(largest, largest_stable_substep(0.02, &[fixed_corotated(1e5, 0.3, 1000.0)], 5.0));
}

/// Automatic substeps follow the speed of the particles and that of the tools that may reach them in the
/// coming step: 0.4 h/(c_s + v). At 50 m/s a wall comes 0.5 m far in it.
#[test]
fn automatic_substeps_follow_the_tools() {
    for (place, told) in [(-0.3, 50.0), (-9.0, 0.0)] {
        let mut settings = Settings::new(0.02, 1e-2);
        // Else the grid would move with the wall.
        settings.grid_motion = GridMotion::Fixed;
        settings.gravity = Vector3::zeros();
        let mut builder = builder(settings);
        let along = Vector3::y() * 50.0;
        let keys = [(0.0, Vector3::zeros(), Vector3::zeros()), (0.0199, along, Vector3::zeros())];
        let shape = Shape::Box { half_extents: Vector3::new(0.01, 1.0, 1.0) };
        let start = Isometry3::translation(place, 0.0, 0.0);
        builder.body(prescribed("wall", shape, start, 0.5, &keys)).unwrap();
        let mut world = builder.build().unwrap();
        let speed_of_sound = fixed_corotated(1e5, 0.3, 1000.0).pressure_wave_speed();
        for speed in [0.0, told, told] {
            let expected = (1e-2 / (0.4 * 0.02 / (speed_of_sound + speed))).ceil() as u32;
            assert_eq!(world.substeps(), expected, "at {speed} m/s");
            assert_eq!(world.step().unwrap().substeps, expected, "at {speed} m/s");
        }
    }
}

/// A tool shortens the substeps of a step only if it may reach a particle in that step: not if it ends two cells
/// from all of them. So substeps depend neither on where the particles are in the grid nor on which way they lie.
#[test]
fn automatic_substeps_do_not_depend_on_the_place_in_the_grid() {
    let seed = 3012;
    println!("seed {seed}");
    let mut random = Random(seed);
    let (h, dt, speed) = (0.02, 1e-3, 50.0);
    let speed_of_sound = fixed_corotated(1e5, 0.3, 1000.0).pressure_wave_speed();
    for case in 0..60 {
        let mut settings = Settings::new(h, dt);
        settings.grid_motion = GridMotion::Fixed;
        settings.gravity = Vector3::zeros();
        let mut builder = World::builder(settings);
        let rubber = builder.material(fixed_corotated(1e5, 0.3, 1000.0));
        let corner = random.vector() * 4.0 * h;
        builder.particles(block(rubber, corner.into(), [4; 3], 0.01, Vector3::zeros()));
        let (axis, reaches) = (case % 3, case % 2 == 0);
        let along = Vector3::ith(axis, 1.0);
        let gap = speed * dt + if reaches { -0.5 * h } else { 2.0 * h };
        let mut half_extents = Vector3::repeat(1.0);
        half_extents[axis] = 0.01;
        let start = Isometry3::from_parts((corner - along * (gap + 0.01)).into(), Default::default());
        let keys = [(0.0, along * speed, Vector3::zeros())];
        builder.body(prescribed("wall", Shape::Box { half_extents }, start, 0.5, &keys)).unwrap();
        let told = if reaches { speed } else { 0.0 };
        let expected = (dt / (0.4 * h / (speed_of_sound + told))).ceil() as u32;
        assert_eq!(builder.build().unwrap().substeps(), expected, "{case}: block at {corner:?}, axis {axis}");
    }
}

/// Automatic substeps rise at once with the speed of a tool and fall late, after a hundred substeps that
/// could have been fewer; a state that is saved between has them too.
#[test]
fn automatic_substeps_fall_late() {
    let build = || {
        let mut settings = Settings::new(0.02, 1e-3);
        settings.grid_motion = GridMotion::Fixed;
        settings.gravity = Vector3::zeros();
        let mut builder = builder(settings);
        let (along, still) = (Vector3::y() * 50.0, Vector3::zeros());
        let keys = [(0.0, still, still), (0.0015, along, still), (0.0025, still, still)];
        let shape = Shape::Box { half_extents: Vector3::new(0.01, 1.0, 1.0) };
        let start = Isometry3::translation(-0.06, 0.0, 0.0);
        builder.body(prescribed("wall", shape, start, 0.5, &keys)).unwrap();
        builder.build().unwrap()
    };
    let mut world = build();
    let mut taken = Vec::new();
    for step in 0..20 {
        taken.push(world.step().unwrap().substeps);
        if step == 10 {
            let mut state = Vec::new();
            world.write_state(&mut state).unwrap();
            world = build();
            world.read_state(&mut state.as_slice()).unwrap();
        }
    }
    println!("{taken:?}");
    let (few, many) = (taken[0], taken[1]);
    assert!(few < many);
    // The wall moves in steps 1 and 2.
    let last = 2 + 100_u32.div_ceil(many);
    let expected: Vec<_> = (0..20).map(|step| if (1..last).contains(&step) { many } else { few }).collect();
    assert_eq!(taken, expected);
}

/// A contact stiffer than double precision resolves within a substep is refused, with the largest
/// that is not; that one is accepted.
#[test]
fn stiffness_that_the_step_cannot_hold_is_refused() {
    let mut settings = good();
    settings.contact.stiffness = AutoOr::Value(1e18);
    let error = refusal(builder(settings.clone()));
    let BuildError::TooStiff { largest, .. } = error else { panic!("{error:?}") };
    assert!(error.to_string().contains("1.000e18 N/m") && error.to_string().contains("auto"), "{error}");
    settings.contact.stiffness = AutoOr::Value(largest);
    builder(settings).build().unwrap();
}

/// What a world prints of itself fits a screen: no particle by particle.
#[test]
fn a_world_prints_no_particles() {
    let mut builder = builder(good());
    builder.body(floor(0.5)).unwrap();
    let text = format!("{:?}", builder.build().unwrap());
    println!("{text}");
    assert!(text.len() < 2000 && text.contains("particles: 64") && text.contains("floor"), "{text}");
}

/// Particles well inside a body are refused, with the body, how many, the deepest and its depth; a
/// shallow overlap is not.
#[test]
fn particles_inside_a_body_are_refused() {
    let half_extents = Vector3::repeat(0.03);
    let at = |x: f64| fixed("anvil", Shape::Box { half_extents }, Isometry3::translation(x, 0.02, 0.02), 0.5);
    let mut inside = builder(good());
    inside.body(at(0.002)).unwrap();
    let error = refusal(inside);
    let BuildError::Overlap { ref part, ref body, count, particle, depth, position, limit } = error else {
        panic!("{error:?}");
    };
    // The face at x = 0.032 has three of the four layers inside, 7 mm and more, and of the fourth,
    // at 0.035, the contact spheres of radius 5 mm; the deepest centres are 25 mm from the faces
    // across y and z.
    assert_eq!((part.as_str(), body.as_str(), count), ("particle set 0", "body `anvil`", 64));
    assert!((limit - ALLOWED_OVERLAP * 0.02).abs() < 1e-15, "{limit}");
    assert!(particle < 64 && (depth - 0.03).abs() < 1e-8 && (position.x - 0.005).abs() < 1e-8, "{error}");
    assert!(error.to_string().contains("anvil"), "{error}");

    let mut allowed = builder(good());
    allowed.body(at(0.002)).unwrap();
    allowed.allow_overlap("anvil");
    allowed.build().unwrap();

    // A face that the contact spheres touch to within the limit, and one a little further in.
    let at_depth = |depth: f64| {
        let mut touching = builder(good());
        touching.body(at(-0.03 + depth)).unwrap();
        touching
    };
    at_depth(0.9 * limit).build().unwrap();
    let BuildError::Overlap { count, depth, .. } = refusal(at_depth(1.1 * limit)) else { panic!() };
    assert!(count == 16 && (depth - 1.1 * limit).abs() < 1e-8, "{depth} {count}");

    // Behind a plane that bounds the grid.
    let mut settings = good();
    settings.boundaries.push(Boundary {
        point: Point3::new(0.012, 0.0, 0.0),
        normal: Vector3::x_axis(),
        kind: BoundaryKind::Sticky,
    });
    let error = refusal(builder(settings));
    let BuildError::Overlap { count, depth, ref body, .. } = error else { panic!("{error:?}") };
    assert!(count == 16 && (depth - 0.007).abs() < 1e-8 && body.contains("boundaries[0]"), "{error}");
}

/// Values out of range are refused by name, with the value and its unit.
#[test]
fn settings_out_of_range_are_refused() {
    type Change = fn(&mut Settings);
    let cases: [(&str, &str, Change); 12] = [
        ("grid_spacing", "-0.02 m", |s| s.grid_spacing = -0.02),
        ("grid_spacing", "NaN m", |s| s.grid_spacing = f64::NAN),
        ("dt", "0 s", |s| s.dt = 0.0),
        ("dt", "-1 s", |s| s.dt = -1.0),
        ("dt", "inf s", |s| s.dt = f64::INFINITY),
        ("contact.stiffness", "-1 N/m", |s| s.contact.stiffness = AutoOr::Value(-1.0)),
        ("contact.dissipation", "-2 s/m", |s| s.contact.dissipation = -2.0),
        ("contact.stiction_tolerance", "0 m/s", |s| s.contact.stiction_tolerance = 0.0),
        ("contact.particle_radius", "-0.1 m", |s| s.contact.particle_radius = AutoOr::Value(-0.1)),
        ("gravity", "NaN m/s^2", |s| s.gravity.y = f64::NAN),
        ("substeps", "0", |s| s.substeps = AutoOr::Value(0)),
        ("relative_tolerance", "-1", |s| s.solver.relative_tolerance = -1.0),
    ];
    for (field, value, change) in cases {
        let mut settings = good();
        change(&mut settings);
        let text = refusal(builder(settings)).to_string();
        assert!(text.contains(field) && text.contains(value), "{field}: {text}");
    }
    let mut settings = good();
    settings.solver.max_iterations = 0;
    let error = refusal(builder(settings));
    assert!(
        matches!(error, BuildError::Solver(SettingsError::Count { field: "max_iterations" })),
        "{error:?}"
    );
}

/// Particles, materials and bodies out of range are refused.
#[test]
fn contents_out_of_range_are_refused() {
    let mut negative_density = World::builder(good());
    let material = negative_density.material(fixed_corotated(1e5, 0.3, -1.0));
    negative_density.particles(block(material, [0.0; 3], [1; 3], 0.01, Vector3::zeros()));
    let text = refusal(negative_density).to_string();
    assert!(
        text.contains("materials[0]") && text.contains("density") && text.contains("-1 kg/m^3"),
        "{text}"
    );

    for (volume, velocity, field) in [(-1e-6, 0.0, "volume"), (1e-6, f64::NAN, "velocity")] {
        let mut bad = builder(good());
        let material = bad.material(fixed_corotated(1e5, 0.3, 1.0));
        bad.particles(ParticleSet {
            positions: vec![Point3::new(1.0, 1.0, 1.0)],
            velocities: vec![Vector3::new(velocity, 0.0, 0.0)],
            volumes: vec![volume],
            material,
        });
        let text = refusal(bad).to_string();
        assert!(text.contains(field) && text.contains("64"), "{text}");
    }

    let mut uneven = builder(good());
    let material = uneven.material(fixed_corotated(1e5, 0.3, 1.0));
    let mut set = block(material, [0.5; 3], [2; 3], 0.01, Vector3::zeros());
    set.velocities.pop();
    uneven.particles(set);
    let text = refusal(uneven).to_string();
    assert!(text.contains("8 positions") && text.contains("7 velocities"), "{text}");

    let text = builder(good()).body(floor(-0.5)).unwrap_err().to_string();
    assert!(text.contains("floor") && text.contains("friction") && text.contains("-0.5"), "{text}");

    let empty = refusal(World::builder(good()));
    assert!(matches!(empty, BuildError::Empty), "{empty:?}");
}
