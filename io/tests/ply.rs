//! Frames go to PLY and come back the same; broken files and failed writes are errors that name the
//! file.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use pliant_io::digest::Hasher;
use pliant_io::files::{IoError, atomic_write};
use pliant_io::ply::{
    FrameFields, FrameParticle, FrameTriangles, encode_frame, parse_triangles, read_frame, write_frame,
};

fn particles(count: usize) -> Vec<FrameParticle> {
    (0..count)
        .map(|i| {
            let s = i as f32;
            FrameParticle {
                position: [0.1 * s, -0.2 * s, 1.0 + s],
                velocity: [s, 2.0 * s, -3.0 * s],
                radius: 0.005,
                color: [i as u8, 255 - i as u8, 7],
                material: 300 + i as u16,
                j: 1.0 - 0.001 * s,
                plastic_strain: 0.01 * s,
                stress_norm: 1e4 * s,
                mass: 0.002 * s,
                volume: 2e-6 * s,
                affine: core::array::from_fn(|k| s + 0.1 * k as f32),
            }
        })
        .collect()
}

// Binary f32 and integers hold every bit, so what is read equals what was written.
#[test]
fn a_frame_survives_the_file_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("000000.ply");
    let written = particles(17);
    let triangles = [[0, 1, 2], [2, 1, 16]];
    let back_colors = [[1, 20, 255], [7, 8, 9]];
    let cloth = FrameTriangles { corners: &triangles, back_colors: &back_colors };
    let digest = write_frame(&path, &written, cloth, FrameFields::ALL, Some(0.1 + 0.2)).unwrap();
    let frame = read_frame(&path).unwrap();
    assert_eq!(frame.time, Some(0.1 + 0.2));
    assert_eq!(digest.bytes, std::fs::metadata(&path).unwrap().len());
    assert!(Hasher::of_prefix(&path, &digest).is_ok());
    assert_eq!(frame.particles, written);
    assert_eq!(frame.triangles, triangles);
    assert_eq!(frame.back_colors, back_colors);
    assert_eq!(frame.fields, FrameFields::ALL);
    // Nothing but the frame is in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

// The format (Turk 1994): little-endian floats in the order of the header. 7 floats, 3 bytes, a
// u16: 33 bytes a particle.
#[test]
fn the_layout_is_the_documented_one() {
    let mut bytes = Vec::new();
    encode_frame(&mut bytes, &particles(3), FrameTriangles::default(), FrameFields::default(), None).unwrap();
    let marker = b"end_header\n";
    let end = bytes.windows(marker.len()).position(|w| w == marker).unwrap() + marker.len();
    let header = std::str::from_utf8(&bytes[..end]).unwrap();
    assert!(header.starts_with("ply\nformat binary_little_endian 1.0\n"), "{header}");
    let names: Vec<&str> =
        header.lines().filter(|l| l.starts_with("property")).filter_map(|l| l.rsplit(' ').next()).collect();
    let expected = ["x", "y", "z", "vx", "vy", "vz", "radius", "red", "green", "blue", "material"];
    assert_eq!(names, expected);
    assert_eq!(bytes.len() - end, 3 * 33);
    let y_of_second = end + 33 + 4;
    assert_eq!(bytes[y_of_second..y_of_second + 4], (-0.2f32).to_le_bytes());
}

#[test]
fn optional_properties_are_chosen_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.ply");
    let fields = FrameFields { plastic_strain: true, ..FrameFields::default() };
    write_frame(&path, &particles(2), FrameTriangles::default(), fields, None).unwrap();
    let frame = read_frame(&path).unwrap();
    assert_eq!((frame.fields, frame.time), (fields, None));
    assert_eq!(frame.particles[1].plastic_strain, 0.01);
    assert_eq!(frame.particles[1].stress_norm, 0.0);
}

#[test]
fn a_short_file_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.ply");
    write_frame(&path, &particles(5), FrameTriangles::default(), FrameFields::ALL, None).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    let error = read_frame(&path).unwrap_err();
    assert!(matches!(error, IoError::Malformed { .. }) && error.to_string().contains("short.ply"), "{error}");
    let error = read_frame(folder.path().join("absent.ply")).unwrap_err();
    assert!(matches!(error, IoError::File { action: "read", .. }), "{error}");
}

#[test]
fn a_triangle_out_of_range_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.ply");
    let missing = FrameTriangles { corners: &[[0, 1, 2]], back_colors: &[] };
    assert!(write_frame(&path, &particles(2), missing, FrameFields::ALL, None).is_err());
    let uneven = FrameTriangles { corners: &[[0, 1, 1]], back_colors: &[[0; 3]; 2] };
    assert!(write_frame(&path, &particles(2), uneven, FrameFields::ALL, None).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

// A write that fails half way leaves the old file as it was and no temporary behind.
#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.txt");
    atomic_write(&path, |out| out.write_all(b"old")).unwrap();
    let error = atomic_write(&path, |out| {
        out.write_all(b"half of the new")?;
        Err(std::io::Error::other("disk on fire"))
    })
    .unwrap_err();
    assert!(error.to_string().contains("kept.txt") && error.to_string().contains("disk on fire"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(atomic_write(folder.path().join("no/such/folder.txt"), |_| Ok(())).is_err());
    // Two replacements in a row work.
    atomic_write(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
}

#[test]
fn foreign_elements_and_polygons_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quad.ply");
    let text = "ply\nformat ascii 1.0\nelement camera 1\nproperty float f\nproperty list uchar int k\n\
                element vertex 4\nproperty double x\nproperty double y\nproperty double z\nproperty uchar red\n\
                element face 1\nproperty uchar flags\nproperty list uchar uint vertex_index\nend_header\n\
                1.5 2 7 8\n0 0 0 9\n1 0 0 9\n1 1 0.25 9\n0 1 0 9\n3 4 0 1 2 3\n";
    let (vertices, triangles) = parse_triangles(text.as_bytes(), &path).unwrap();
    assert_eq!(vertices[2], [1.0, 1.0, 0.25]);
    assert_eq!(triangles, [[0, 1, 2], [0, 2, 3]]);
    let beyond = text.replace("4 0 1 2 3", "4 0 1 2 4");
    assert!(
        parse_triangles(beyond.as_bytes(), &path).unwrap_err().to_string().contains("refers to vertex 4")
    );
}
