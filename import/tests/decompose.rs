//! Collision meshes that are not convex, as several hulls.

// A test fails by panicking, in its helpers too.

use std::fmt::Write as _;
use std::path::Path;

use nalgebra::Point3;
use pliant_geometry::Shape;
use pliant_import::{Decompose, Imported, LoadOptions, load_with};

/// A prism with the outline of a U, 3 x 3 x 1 with a notch of 1 x 2, as an OBJ in `folder`; its
/// volume is 7, that of its hull 9.
fn write_u(folder: &Path) {
    let outline = [[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]];
    let cover = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]];
    let mut text = String::new();
    for z in 0..2 {
        outline.iter().for_each(|[x, y]| writeln!(text, "v {x} {y} {z}").unwrap());
    }
    for [a, b, c] in cover {
        writeln!(text, "f {} {} {}\nf {} {} {}", a + 1, c + 1, b + 1, a + 9, b + 9, c + 9).unwrap();
    }
    for i in 0..8 {
        let j = (i + 1) % 8;
        writeln!(text, "f {} {} {} {}", i + 1, j + 1, j + 9, i + 9).unwrap();
    }
    std::fs::write(folder.join("u.obj"), text).unwrap();
}

fn robot(folder: &Path, options: &LoadOptions) -> Result<Imported, String> {
    let path = folder.join("u.urdf");
    let text = "<robot name=\"r\"><link name=\"a\"><collision name=\"u\"><geometry><mesh filename=\"u.obj\" \
                scale=\"0.1 0.1 0.1\"/></geometry></collision></link></robot>";
    std::fs::write(&path, text).unwrap();
    load_with(&path, options).map_err(|e| e.to_string())
}

fn corners(robot: &Imported) -> Vec<Vec<Point3<f64>>> {
    let hull = |shape: &Shape| match shape {
        Shape::ConvexHull(hull) => hull.mesh().vertices().to_vec(),
        other => panic!("{other:?}"),
    };
    robot.geometries.iter().map(|geometry| hull(&geometry.shape)).collect()
}

fn with(decompose: Decompose) -> LoadOptions {
    LoadOptions { decompose: Some(decompose), ..LoadOptions::default() }
}

// Checks: the hulls hold the solid but for half a voxel, and leave its notch free; their volumes
// differ from the solid's by at most a voxel over its surface, and by far less than the hull's does.
#[test]
fn a_u_keeps_its_notch() {
    let folder = tempfile::tempdir().unwrap();
    write_u(folder.path());
    let whole = robot(folder.path(), &LoadOptions::default()).unwrap();
    assert_eq!(whole.geometries.len(), 1);
    assert!(whole.warnings[0].to_string().contains("convex hull"), "{:?}", whole.warnings);
    let settings = Decompose { resolution: 48, ..Decompose::default() };
    let parts = robot(folder.path(), &with(settings)).unwrap();
    assert!(parts.warnings.is_empty(), "{:?}", parts.warnings);
    assert!((3..=32).contains(&parts.geometries.len()), "{} hulls", parts.geometries.len());
    let names: Vec<_> = parts.geometries.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(&names[..2], ["u", "u.1"]);
    let voxel = 0.3 / 47.0;
    let distance = |p: [f64; 3]| {
        let p = Point3::from(p);
        parts.geometries.iter().map(|g| g.shape.surface_point(&p).distance).fold(f64::MAX, f64::min)
    };
    for p in [[0.05, 0.2, 0.05], [0.25, 0.2, 0.05], [0.15, 0.05, 0.05], [0.05, 0.05, 0.05]] {
        assert!(distance(p) < 0.0, "{p:?} is {} m outside", distance(p));
    }
    // The middle of the notch is 0.05 m from its walls.
    let free = distance([0.15, 0.2, 0.05]);
    assert!((free - 0.05).abs() < 1.5 * voxel, "{free} m");
    let volume = |g: &pliant_rigid::collision::CollisionGeometry| g.shape.mass_properties(1.0).unwrap().0;
    let sum: f64 = parts.geometries.iter().map(volume).sum();
    assert!((volume(&whole.geometries[0]) - 0.009).abs() < 1e-12);
    // Its surface is 14 / 100 of covers and 16 / 100 of walls.
    assert!((sum - 0.007).abs() < 0.30 * voxel, "{sum} m^3");
    assert!(sum < 0.0075, "{sum} m^3");
}

// Checks: the same bits again, and from the cache; a damaged file is made anew; other settings have
// another file; nothing but complete files is left.
#[test]
fn hulls_are_kept_by_their_settings() {
    let folder = tempfile::tempdir().unwrap();
    write_u(folder.path());
    let settings = Decompose { resolution: 24, ..Decompose::default() };
    let fresh = corners(&robot(folder.path(), &with(settings)).unwrap());
    assert_eq!(corners(&robot(folder.path(), &with(settings)).unwrap()), fresh);
    let cache = folder.path().join("deep").join("cache");
    let options = LoadOptions { cache: Some(cache.clone()), ..with(settings) };
    let files = || -> Vec<_> {
        let mut files: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        files
    };
    assert_eq!(corners(&robot(folder.path(), &options).unwrap()), fresh);
    let kept = files();
    assert_eq!(kept.len(), 1);
    let bytes = std::fs::read(&kept[0]).unwrap();
    assert_eq!(corners(&robot(folder.path(), &options).unwrap()), fresh);
    for damage in [0, 40, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[damage] ^= 1;
        std::fs::write(&kept[0], &damaged).unwrap();
        assert_eq!(corners(&robot(folder.path(), &options).unwrap()), fresh);
        assert_eq!(std::fs::read(&kept[0]).unwrap(), bytes);
    }
    // What is in the cache is used.
    let read = |options| corners(&robot(folder.path(), options).unwrap()).len();
    let coarse = Decompose { concavity: 1.0, ..settings };
    let one = LoadOptions { decompose: Some(coarse), ..options.clone() };
    assert_eq!(read(&one), 1);
    let other = files().into_iter().find(|file| file != &kept[0]).unwrap();
    std::fs::copy(&other, &kept[0]).unwrap();
    assert_eq!(read(&options), 1);
}

#[test]
fn settings_have_limits() {
    let folder = tempfile::tempdir().unwrap();
    write_u(folder.path());
    for (settings, said) in [
        (Decompose { concavity: -0.1, ..Decompose::default() }, "concavity is -0.1"),
        (Decompose { concavity: f64::NAN, ..Decompose::default() }, "concavity is NaN"),
        (Decompose { hulls: 3, ..Decompose::default() }, "hulls is 3"),
        (Decompose { resolution: 100_000, ..Decompose::default() }, "resolution is 100000"),
    ] {
        let error = robot(folder.path(), &with(settings)).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}
