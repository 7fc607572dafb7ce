//! A step can be watched and stopped while it is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{block, fixed_corotated, floor, free};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{AutoOr, ParticleSnapshot, Settings, StepError, StepProgress, StepWatch, World};
use pliant_rigid::simulation::Integrator;
use pliant_rigid::{Shape, SpatialVelocity};

/// A small rubber block above a floor, and a ball beside it.
fn world(change: impl FnOnce(&mut Settings), with_particles: bool) -> World {
    let mut settings = Settings::new(0.02, 1e-3);
    change(&mut settings);
    let mut builder = World::builder(settings);
    if with_particles {
        let rubber = builder.material(fixed_corotated(1e4, 0.3, 1000.0));
        builder.particles(block(rubber, [0.0, 0.0, 0.001], [4, 4, 4], 0.01, Vector3::zeros()));
    }
    builder.body(floor(0.5)).unwrap();
    let ball = Shape::Sphere { radius: 0.02 };
    let spin = SpatialVelocity { angular: Vector3::new(0.0, 3.0, 0.0), linear: Vector3::zeros() };
    builder.body(free("ball", ball, Isometry3::translation(0.2, 0.0, 0.1), 0.5, 500.0, spin)).unwrap();
    builder.build().unwrap()
}

/// Steps once while another thread waits until `is_time` and then asks to stop. What came of the
/// step, and how far it was.
fn stopped(world: &mut World, is_time: fn(StepProgress) -> bool) -> (StepError, StepProgress) {
    let watch = world.watch().clone();
    let error = std::thread::scope(|scope| {
        let watcher = watch.clone();
        scope.spawn(move || {
            while !is_time(watcher.progress()) {
                std::thread::sleep(Duration::from_micros(50));
            }
            watcher.stop();
        });
        world.step().unwrap_err()
    });
    (error, watch.progress())
}

// The law: a step of a million substeps, which would take minutes, ends soon after it is asked to
// and says where it was.
#[test]
fn a_long_step_stops_between_substeps() {
    let mut world = world(|settings| settings.substeps = AutoOr::Value(1_000_000), true);
    let (error, progress) = stopped(&mut world, |progress| progress.substeps >= 5);
    let StepError::Stopped { step: 0, time } = error else { panic!("{error}") };
    assert_eq!(progress.expected, 1_000_000);
    assert!((5..500_000).contains(&progress.substeps), "{progress:?}");
    // 1e-9 s a substep.
    assert!((time / 1e-9 - progress.substeps as f64).abs() < 0.5, "{time} s after {progress:?}");
}

// The law: so does one of a million steps of the bodies, fixed or controlled by an error.
#[test]
fn a_long_step_stops_between_steps_of_the_bodies() {
    for integrator in [
        Integrator::Fixed { step: 1e-9 },
        Integrator::ErrorControlled { accuracy: 1e-3, max_step: 1e-9 },
        Integrator::Trapezoid { step: 1e-9, accuracy: Some(1e-3) },
    ] {
        let mut world = world(|settings| settings.rigid.integrator = Some(integrator), false);
        let (error, progress) = stopped(&mut world, |progress| progress.rigid_steps >= 5);
        let StepError::Stopped { step: 0, time } = error else { panic!("{integrator:?}: {error}") };
        assert!((5..900_000).contains(&progress.rigid_steps), "{integrator:?}: {progress:?}");
        assert!(progress.rigid_share > 0.0 && progress.rigid_share < 0.9, "{integrator:?}: {progress:?}");
        assert!((time / 1e-3 - progress.rigid_share).abs() < 1e-9, "{integrator:?}: {time} s, {progress:?}");
    }
}

// The law: a request that is there before the step keeps the world as it was, and once it is taken
// back the world goes on to the same bits as one that was never asked, whoever watches.
#[test]
fn watching_changes_no_bit() {
    let snapshot = |world: &mut World| {
        let mut particles = ParticleSnapshot::default();
        world.snapshot(&mut particles).unwrap();
        let pose = world.bodies().pose(world.bodies().find("ball").unwrap());
        (format!("{particles:?}"), pose)
    };
    let (mut quiet, mut watched) = (world(|_| {}, true), world(|_| {}, true));
    let stop = Arc::new(AtomicBool::new(true));
    watched.set_watch(StepWatch::with_stop(stop.clone()));
    let before = snapshot(&mut watched);
    assert!(matches!(watched.step(), Err(StepError::Stopped { step: 0, .. })));
    assert_eq!(snapshot(&mut watched), before);
    assert_eq!(watched.watch().progress().substeps, 0);
    stop.store(false, Ordering::Relaxed);
    let done = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (watch, done) = (watched.watch().clone(), done.clone());
        let stop_watching = done.clone();
        scope.spawn(move || {
            while !stop_watching.load(Ordering::Relaxed) {
                let progress = watch.progress();
                assert!(progress.rigid_share <= 1.0, "{progress:?}");
            }
        });
        for step in 0..20 {
            quiet.step().unwrap();
            let substeps = watched.step().unwrap().substeps;
            let progress = watched.watch().progress();
            assert_eq!((progress.step, progress.substeps), (step, u64::from(substeps)));
            assert_eq!(progress.expected, u64::from(substeps));
            assert_eq!(progress.rigid_share, 1.0);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(snapshot(&mut watched), snapshot(&mut quiet));
}
