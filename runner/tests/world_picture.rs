//! Pictures and frames of a world without a run.
#![allow(clippy::unwrap_used, clippy::panic)] // everything here runs in tests

use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Material, ParticleSet, ParticleSnapshot, Settings, World};
use pliant_io::ply::read_frame;
use pliant_rigid::{BodyDesc, Shape};
use pliant_runner::picture::{PictureError, WorldLook};
use pliant_scenes::Scenario;
use pliant_scenes::load::load;

fn world() -> World {
    let mut builder = World::builder(Settings::new(0.02, 2e-3));
    for (x, density) in [(0.0, 300.0), (0.3, 900.0)] {
        let material = builder.material(Material::elastic(density, 1e5, 0.3));
        let cube = Shape::Box { half_extents: Vector3::repeat(0.05) };
        let set = ParticleSet::filling(cube, &Isometry3::translation(x, 0.0, 0.05), 0.01, material);
        builder.particles(set.unwrap());
    }
    builder.body(BodyDesc::fixed("table", Shape::HalfSpace)).unwrap();
    builder.build().unwrap()
}

// Checks: the file has the particles that the world has, in their order, to single precision, with
// the time; and the picture shows both materials in their colours, so that it has pixels near each.
#[test]
fn a_world_is_written_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = world();
    world.step().unwrap();
    let look = WorldLook { size: [160, 120], ..WorldLook::default() };
    let path = folder.path().join("w.ply");
    look.write_frame(&mut world, &path).unwrap();
    let (frame, mut snapshot) = (read_frame(&path).unwrap(), ParticleSnapshot::default());
    world.snapshot(&mut snapshot).unwrap();
    assert_eq!(frame.time, Some(2e-3));
    assert_eq!(frame.particles.len(), 2000);
    for (p, ((x, v), j)) in
        frame.particles.iter().zip(snapshot.positions.iter().zip(&snapshot.velocities).zip(&snapshot.j))
    {
        assert_eq!((p.position, p.velocity, p.j), (x.map(|x| x as f32), v.map(|v| v as f32), *j));
    }
    let [one, other] = [0, 1999].map(|p| frame.particles[p].color);
    assert_ne!(one, other);
    let image = look.picture(&mut world).unwrap();
    let file = folder.path().join("w.png");
    look.write_picture(&mut world, &file).unwrap();
    let read = image::open(&file).unwrap().to_rgb8();
    assert_eq!(read.dimensions(), (160, 120));
    assert_eq!((image.width, image.height), (160, 120));
    // Hue: shading scales a colour.
    let near = |color: [u8; 3]| {
        let unit = |c: [u8; 3]| Vector3::from(c.map(f64::from)).normalize();
        read.pixels().filter(|p| (unit(p.0) - unit(color)).norm() < 0.05).count()
    };
    assert!(near(one) > 50 && near(other) > 50, "{} {}", near(one), near(other));
}

// Checks: what cannot be drawn is named.
#[test]
fn colours_must_fit() {
    let look = WorldLook { colors: vec![[0; 3]; 7], ..WorldLook::default() };
    let error = look.picture(&mut world()).unwrap_err();
    assert!(matches!(error, PictureError::Colors { given: 7, particles: 2000 }), "{error}");
}

// Checks: a scene's look has its colours, one for each particle, its size and its name.
#[test]
fn a_scene_has_its_own_look() {
    let mut scenario = Scenario::new(&load("elastic-drop", &[]).unwrap()).unwrap();
    let look = WorldLook::of(&scenario);
    assert_eq!(look.colors.len(), scenario.world.particle_count());
    assert_eq!(look.size, scenario.scene.output.picture_size);
    let small = WorldLook { size: [80, 60], ..look };
    small.picture(&mut scenario.world).unwrap();
}
