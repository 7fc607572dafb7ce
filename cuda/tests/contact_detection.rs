//! Contact detection on the device against a plain model in f64, substep by substep: all shapes on
//! moving bodies, particles that move and are remembered, adhesion, near the world's origin and 100
//! m away.
//!
//! Lengths on the device are rounded to 2^-24 of the distance S to the geometry's center and its
//! size; a gap takes a few of these in a row: 24 of them are the bound (16 of the distance, see
//! `contact_distance.rs`, the rest of the pose and the position). Where the model decides otherwise
//! for a point within that bound, the device may decide either way.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use std::collections::BTreeMap;
use std::f64::consts::PI;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_cuda::Commands;
use pliant_cuda::contact::{ContactError, DetectedContact};
use pliant_cuda::kernels::{ContactBody, MPM_STATUS_LIMIT, MPM_STATUS_WORDS};
use pliant_cuda::layout::Span;
use pliant_rigid::{Geometry, Shape, SpatialVelocity, SurfacePoint, TriangleMesh};
use support::contact::{DELTA, H, OnDevice, Particle, Scene, Seen, impulses, options};
use support::shapes::{bodies, geometry};
use support::{Random, device_kinds, devices};

const ROUNDINGS: f64 = 24.0 / (1 << 24) as f64;

/// What the model remembers of a pair.
#[derive(Clone, Copy)]
struct Memory {
    feature: u32,
    distance: f64,
    normal_impulse: f64,
    bonded: bool,
    impulse: [f32; 3],
}

type Memories = BTreeMap<(u32, u32), Memory>;

/// A pair as the model sees it, at one of the points that the particle may be at.
struct Seeing {
    surface: SurfacePoint,
    remembered: Option<Memory>,
    gap: f64,
    tension: f64,
    /// The largest gap at which it is a contact.
    reach: f64,
}

/// A pair: what does not depend on where exactly the particle is, and what does.
struct Pair {
    relative: Vector3<f64>,
    body_velocity: Vector3<f64>,
    placed: Isometry3<f64>,
    bound: f64,
    seeings: Vec<Seeing>,
}

fn see(
    shape: &Geometry,
    p: &Point3<f64>,
    edge: f64,
    memory: Option<Memory>,
    relative: &Vector3<f64>,
) -> Seeing {
    let nearest = shape.shape.surface_point(p);
    let followed = memory.map(|m| (m, shape.shape.surface_point_from(p, m.feature)));
    let followed = followed.filter(|(m, s)| !(s.distance < 0.0 && s.distance < m.distance - H));
    let (surface, remembered) = followed.map_or((nearest, None), |(m, s)| (s, Some(m)));
    let gap = surface.distance - 0.5 * edge;
    let bond = shape.adhesion.filter(|a| remembered.is_some_and(|m| m.bonded) && gap <= a.range);
    let tension = bond.map_or(0.0, |a| a.stress * edge * edge);
    let reach = (0.02 * H + relative.norm() * DELTA).max(bond.map_or(0.0, |a| a.range));
    Seeing { surface, remembered, gap, tension, reach }
}

fn pair(particle: &Particle, geometry: &Geometry, substep_states: &Seen, memory: Option<Memory>) -> Pair {
    let (position, edge) = (particle.position(), f64::from(particle.volume).cbrt());
    let placed = substep_states.pose * geometry.pose;
    let body_velocity = substep_states.velocity.at(&substep_states.pose.translation.vector.into(), &position);
    let relative = Vector3::from(particle.velocity.map(f64::from)) - body_velocity;
    let local = placed.inverse_transform_point(&position);
    let (middle, radius) = geometry.shape.bounding_sphere().unwrap_or((Point3::origin(), 0.0));
    let bound = ROUNDINGS * (radius + (local - middle).norm());
    let offset =
        |k: usize| Vector3::new((k % 3) as f64 - 1.0, (k / 3 % 3) as f64 - 1.0, (k / 9) as f64 - 1.0);
    let points = std::iter::once(local).chain((0..27).map(|k| local + offset(k) * bound));
    let seeings = points.map(|p| see(geometry, &p, edge, memory, &relative)).collect();
    Pair { relative, body_velocity, placed, bound, seeings }
}

/// What the normal impulse is lagged as.
fn lagged(particle: &Particle, pair: &Pair, seeing: &Seeing, stiffness: f64) -> f64 {
    if let Some(memory) = seeing.remembered {
        return (memory.normal_impulse + DELTA * seeing.tension).max(0.0);
    }
    let (gap, dissipation, mass) = (seeing.gap, options().dissipation, f64::from(particle.mass));
    let velocity = (pair.placed.rotation * seeing.surface.normal.into_inner()).dot(&pair.relative);
    let approach = ((-gap / DELTA).min(1.0 / dissipation) - velocity).max(0.0);
    let linear = DELTA * stiffness * (DELTA + dissipation * gap).abs();
    let compliant = approach * (linear + DELTA * DELTA * stiffness * dissipation * approach);
    compliant.min(mass * (-velocity - gap / DELTA).max(0.0))
}

/// Checks a contact of the device; panics where the model has none like it.
fn check(
    particle: &Particle,
    substep_states: &Seen,
    geometry: &Geometry,
    pair: &Pair,
    contact: &DetectedContact,
) {
    let about = || format!("{} of {}: {contact:?}", particle.id, geometry.shape.name());
    let stiffness = 4.0 * PI * PI * f64::from(particle.mass) / (DELTA * DELTA);
    let normals: Vec<Vector3<f64>> =
        pair.seeings.iter().map(|s| pair.placed.rotation * s.surface.normal.into_inner()).collect();
    let normal = Vector3::from(contact.normal.map(f64::from));
    let near = |a: f64, b: f64, bound: f64| (a - b).abs() <= bound;
    let same = pair.seeings.iter().zip(&normals).any(|(s, own)| {
        let turn = normals.iter().map(|n| (n - own).norm()).filter(|turn| *turn < 0.2).fold(2e-5, f64::max);
        let lagged = lagged(particle, pair, s, stiffness);
        let impulse = s.remembered.map_or([0.0; 3], |m| m.impulse);
        // A gap that is off by `bound` changes the law by at most this.
        let slack =
            1e-5 * lagged.abs() + 8.0 * stiffness * DELTA * pair.bound + f64::from(particle.mass) * 1e-5;
        near(contact.gap.into(), s.gap, 3.0 * pair.bound)
            && near(contact.distance.into(), s.surface.distance, 3.0 * pair.bound)
            && (normal - own).norm() <= 3.0 * turn
            && near(contact.tension.into(), s.tension, 1e-5 * s.tension)
            && near(contact.lagged_normal_impulse.into(), lagged, slack)
            && contact.last_impulse == impulse
    });
    let best =
        pair.seeings.first().map(|s| (s.gap, s.surface, s.tension, lagged(particle, pair, s, stiffness)));
    // Next to an edge the direction to it is lost.
    assert!(same || contact.distance.abs() < 2e-6, "{}\nnot {best:?}", about());
    assert!(near(contact.stiffness.into(), stiffness, 1e-6 * stiffness), "{}", about());
    assert!(near(contact.friction.into(), geometry.material.dynamic_friction, 1e-7), "{}", about());
    let body = Vector3::from(contact.body_velocity.map(f64::from));
    assert!((body - pair.body_velocity).norm() <= 1e-5 * (1.0 + body.norm()), "{}", about());
    let lever = Vector3::from(contact.lever.map(f64::from));
    let right = particle.position() - substep_states.origin;
    assert!((lever - right).norm() <= ROUNDINGS * (1.0 + right.norm()), "{}: {right:?}", about());
    let base = Vector3::from(contact.base).map(f64::from) + Vector3::from(contact.offset.map(f64::from));
    assert!((base * H - particle.position().coords).norm() <= 1e-6 * H, "{}", about());
    assert!(contact.offset.iter().all(|x| (0.5..=1.5).contains(x)), "{}", about());
}

/// How many pairs of the model were contacts, remembered and bonded.
#[derive(Default)]
struct Counts {
    contacts: usize,
    remembered: usize,
    bonded: usize,
    undecided: usize,
}

/// Checks the contacts of a substep, all of them and no others, in their order.
fn compare(
    scene: &Scene,
    particles: &[Particle],
    contact_cache: &Memories,
    found: &[DetectedContact],
    counts: &mut Counts,
) {
    let mut next = found.iter().peekable();
    for particle in particles {
        for (g, (body, geometry)) in scene.geometries().into_iter().enumerate() {
            let memory = contact_cache.get(&(particle.id, g as u32)).copied();
            let substep_states = &scene.substep_states[body.0];
            let pair = pair(particle, geometry, substep_states, memory);
            let certain = |s: &Seeing| s.gap - s.reach < -pair.bound;
            let possible = |s: &Seeing| s.gap - s.reach < pair.bound;
            let contact = next.next_if(|c| (c.particle, c.geometry) == (particle.id, g as u32));
            let Some(contact) = contact else {
                assert!(
                    !pair.seeings.iter().all(certain),
                    "{particle:?} and {} missing",
                    geometry.shape.name()
                );
                continue;
            };
            assert!(pair.seeings.iter().any(possible), "{contact:?}: too far, {}", geometry.shape.name());
            assert_eq!(contact.body as usize, body.0);
            check(particle, substep_states, geometry, &pair, contact);
            counts.contacts += 1;
            counts.remembered += usize::from(pair.seeings[0].remembered.is_some());
            counts.bonded += usize::from(contact.tension > 0.0);
            counts.undecided += usize::from(!pair.seeings.iter().all(certain));
        }
    }
    assert!(next.peek().is_none(), "not of the model, or out of order: {:?}", next.peek());
}

/// What is remembered of these contacts.
fn remember(scene: &Scene, contacts: &[DetectedContact], impulses: &[[f64; 3]]) -> Memories {
    let geometries = scene.geometries();
    let memory = |(contact, impulse): (&DetectedContact, &[f64; 3])| {
        let normal_impulse = Vector3::from(contact.normal.map(f64::from)).dot(&Vector3::from(*impulse));
        let held = contact.tension > 0.0;
        let adhesive = geometries[contact.geometry as usize].1.adhesion.is_some();
        let memory = Memory {
            feature: contact.feature,
            distance: contact.distance.into(),
            normal_impulse: if held { normal_impulse } else { normal_impulse.max(0.0) },
            bonded: held || (adhesive && normal_impulse > 0.0),
            impulse: impulse.map(|x| x as f32),
        };
        ((contact.particle, contact.geometry), memory)
    };
    contacts.iter().zip(impulses).map(memory).collect()
}

#[test]
fn contacts_are_those_of_the_model_for_some_substeps() {
    let substeps = 4;
    for away in [[0; 3], [2500, -2500, 1000]] {
        let mut contacts_by_seed: Vec<Vec<Vec<DetectedContact>>> = Vec::new();
        for device in devices() {
            let mut scene = Scene::random(away, 700, 11);
            let emulated = device.is_emulated();
            let mut on_device = OnDevice::new(device, &scene, 4000, 1, substeps);
            on_device.begin_step(&scene.poses(substeps)).unwrap();
            let (mut contact_cache, mut random, mut counts) = (Memories::new(), Random(3), Counts::default());
            let mut all = Vec::new();
            for _ in 0..substeps {
                on_device.register();
                let found = on_device.detector.download().unwrap();
                compare(&scene, &scene.particles, &contact_cache, &found, &mut counts);
                let normals: Vec<[f32; 3]> = found.iter().map(|c| c.normal).collect();
                let impulses = impulses(&normals, &mut random);
                on_device.remember(&impulses);
                contact_cache = remember(&scene, &found, &impulses);
                scene.substep_states.iter_mut().for_each(Seen::advance);
                scene.particles.iter_mut().for_each(Particle::advance);
                // Some jump by a cell and more: what is then deep inside is not what was
                // remembered.
                for particle in scene.particles.iter_mut().filter(|p| p.id % 4 == 0) {
                    particle.cells[(particle.id / 4 % 3) as usize] += 1.7 * random.signed() as f32;
                }
                on_device.rows.write(&scene.particles);
                all.push(found);
            }
            on_device.detector.check().unwrap();
            // The test would say nothing if nothing happened, or if rounding decided much.
            assert!(counts.contacts > 1000, "{}", counts.contacts);
            assert!(
                counts.remembered > 500 && counts.bonded > 50,
                "{}, {}",
                counts.remembered,
                counts.bonded
            );
            assert!(counts.undecided < 5, "{}", counts.undecided);
            if emulated {
                contacts_by_seed.push(all);
            }
        }
        assert!(
            contacts_by_seed.windows(2).all(|pair| pair[0] == pair[1]),
            "the schedule changes the contacts"
        );
    }
}

/// A particle at 5 m/s passes through a plate of 2 mm, as it does where the solve lets it: it moves
/// its radius in a substep, and stays a contact of the face it came through, at any depth up to a
/// cell behind the far side. So thin plates cannot be tunnelled through.
#[test]
fn a_thin_plate_is_followed_from_the_side_a_particle_came_from() {
    let plate = Shape::Box { half_extents: Vector3::new(0.1, 0.08, 0.001) };
    let (vertices, triangles) = plate.triangles(3);
    let mesh = Shape::Mesh(TriangleMesh::new(vertices, triangles).unwrap());
    let turned = Isometry3::from_parts(
        Vector3::new(0.3, -0.2, 0.1).into(),
        UnitQuaternion::from_euler_angles(0.4, 0.2, 1.0),
    );
    for shape in [plate, Shape::Cylinder { radius: 0.1, half_length: 0.001 }, mesh] {
        let bodies = bodies(vec![vec![geometry(shape, Isometry3::identity(), false)]]);
        let start = turned * Point3::new(0.013, -0.021, 0.0035);
        let particle = Particle::at(0, start.coords, turned.rotation * Vector3::new(0.0, 0.0, -5.0));
        let substep_states =
            Seen { origin: Point3::origin(), pose: turned, velocity: SpatialVelocity::zero() };
        let scene = Scene { particles: vec![particle], bodies, substep_states: vec![substep_states] };
        let outward = turned.rotation * Vector3::z();
        for device in devices() {
            let substeps = 6;
            let mut on_device = OnDevice::new(device, &scene, 8, 1, substeps);
            on_device.begin_step(&scene.poses(substeps)).unwrap();
            let mut particles = scene.particles.clone();
            for k in 0..substeps {
                on_device.register();
                let found = on_device.detector.download().unwrap();
                let [contact] = found[..] else { panic!("substep {k}: {found:?}") };
                let height = turned.inverse_transform_point(&particles[0].position()).z;
                let normal = Vector3::from(contact.normal.map(f64::from));
                assert!((normal - outward).norm() < 1e-6, "substep {k}: {contact:?}");
                assert!(
                    (f64::from(contact.distance) - (height - 0.001)).abs() < 1e-7,
                    "substep {k}: {contact:?}"
                );
                let outside = if height < 0.0 { (-height - 0.001).max(0.0) } else { 0.0 };
                assert!(
                    (f64::from(contact.exit_distance) - outside).abs() < 1e-7,
                    "substep {k}: {contact:?}"
                );
                on_device.remember(&[[0.0; 3]]);
                particles[0].advance();
                on_device.rows.write(&particles);
            }
            // It came out on the far side.
            assert!(turned.inverse_transform_point(&particles[0].position()).z < -0.005);
        }
    }
}

#[test]
fn substeps_beyond_the_limit_change_nothing() {
    for device in devices() {
        let scene = Scene::random([0; 3], 300, 5);
        let mut on_device = OnDevice::new(device, &scene, 2000, 1, 3);
        let mut status = [0_u32; MPM_STATUS_WORDS as usize];
        status[MPM_STATUS_LIMIT as usize] = 1;
        let limit = on_device.device.upload(&status).unwrap();
        on_device.begin_step(&scene.poses(3)).unwrap();
        on_device.register_within(limit.span());
        let found = on_device.detector.download().unwrap();
        on_device.remember(&vec![[1e-3, 0.0, 0.0]; found.len()]);
        let totals = on_device.exchange.download().unwrap();
        on_device.register_within(limit.span());
        assert!(on_device.detector.download().unwrap().is_empty());
        on_device.remember(&[]);
        assert_eq!(on_device.exchange.download().unwrap(), totals);
        // What was remembered still is.
        on_device.begin_step(&scene.poses(3)).unwrap();
        on_device.register();
        let again = on_device.detector.download().unwrap();
        assert!(again.len() > 100 && again.iter().any(|c| c.last_impulse == [1e-3, 0.0, 0.0]));
    }
}

/// A substep recorded once and repeated, each time with the poses of its number, is the same as one
/// issued each time; and so is one that goes on from what another detector saved.
#[test]
fn a_recorded_substep_goes_through_the_poses_and_a_saved_one_goes_on() {
    for device in devices() {
        let scene = Scene::random([0; 3], 300, 5);
        let impulses = |count: usize| -> Vec<[f64; 3]> { vec![[1e-3, 2e-3, -1e-3]; count] };
        let [mut issued, mut recorded, mut restored] =
            [(); 3].map(|()| OnDevice::new(device.clone(), &scene, 2000, 1, 2));
        for on_device in [&mut issued, &mut recorded] {
            on_device.begin_step(&scene.poses(2)).unwrap();
        }
        let of = |on: &OnDevice, commands: &mut Commands| {
            on.detector.issue(commands, &on.geometries, on.rows.spans(), on.faces, Span::EMPTY);
        };
        let recording = device.record(|commands| of(&recorded, commands)).unwrap();
        let mut found = Vec::new();
        for _ in 0..2 {
            issued.register();
            recording.run().unwrap();
            found = issued.detector.download().unwrap();
            assert_eq!(recorded.detector.download().unwrap(), found);
            issued.remember(&impulses(found.len()));
            recorded.remember(&impulses(found.len()));
        }
        let saved = issued.detector.save().unwrap();
        assert_eq!(saved.len(), found.len());
        restored.detector.restore(&saved).unwrap();
        for on_device in [&mut issued, &mut restored] {
            on_device.begin_step(&scene.poses(2)).unwrap();
            on_device.register();
        }
        let found = issued.detector.download().unwrap();
        assert!(found.iter().any(|c| c.last_impulse == [1e-3, 2e-3, -1e-3]));
        assert_eq!(restored.detector.download().unwrap(), found);
        // Particle 299 is the last.
        let mut wrong = saved;
        wrong[3].particle = 300;
        let error = restored.detector.restore(&wrong).unwrap_err();
        assert_eq!(error, ContactError::Memory { entry: 3, particle: 300 });
    }
}

#[test]
fn too_little_memory_is_told() {
    for device in device_kinds() {
        let scene = Scene::random([0; 3], 300, 5);
        let mut on_device = OnDevice::new(device.clone(), &scene, 10, 1, 1);
        on_device.begin_step(&scene.poses(1)).unwrap();
        on_device.register();
        assert_eq!(on_device.detector.download().unwrap().len(), 10);
        let error = on_device.detector.check().unwrap_err();
        assert!(matches!(error, ContactError::Capacity { contacts: 100.., capacity: 10 }), "{error}");

        let poses: Vec<ContactBody> = scene.poses(2);
        let error = on_device.begin_step(&poses).unwrap_err();
        assert_eq!(error, ContactError::Poses { given: 8, bodies: 4, substeps: 1 });

        let spheres = vec![geometry(Shape::Sphere { radius: 0.1 }, Isometry3::identity(), false); 9];
        let substep_states =
            Seen { origin: Point3::origin(), pose: Isometry3::identity(), velocity: SpatialVelocity::zero() };
        let particles = vec![Particle::at(0, Vector3::new(0.05, 0.0, 0.0), Vector3::zeros())];
        let scene = Scene { particles, bodies: bodies(vec![spheres]), substep_states: vec![substep_states] };
        let mut on_device = OnDevice::new(device, &scene, 10, 1, 1);
        on_device.begin_step(&scene.poses(1)).unwrap();
        on_device.register();
        let error = on_device.detector.check().unwrap_err();
        assert_eq!(error, ContactError::TooManyGeometries { geometries: 9, most: 8 });
    }
}
