//! Parts of MJCF that stand for others, or lie in other files.

use std::path::{Path, PathBuf};

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_geometry::Shape;
use pliant_import::{from_mjcf, load};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("part")).unwrap();
    path
}

// Checks: copy i of a `<replicate>` stands at the i-th power of its motion (MuJoCo, XML reference,
// replicate), and its names end in the number with as many digits as the count.
#[test]
fn copies_stand_at_the_powers_of_a_motion() {
    let text = "<mujoco><worldbody><body name=\"holder\"><replicate count=\"12\" offset=\"1 0.5 0\" \
        euler=\"0 0 90\" sep=\"-\"><body name=\"b\" pos=\"0.1 0 0.2\"><freejoint name=\"f\"/>\
        <geom name=\"g\" size=\"0.1\"/></body></replicate></body></worldbody></mujoco>";
    // A free joint must be on a child of the world.
    assert!(from_mjcf(text, ".").unwrap_err().to_string().contains("child of the world"));
    let text = text.replace("<freejoint name=\"f\"/>", "<joint name=\"f\"/>");
    let imported = from_mjcf(&text, ".").unwrap();
    let quarter = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_2);
    let step = Isometry3::from_parts(Translation3::new(1.0, 0.5, 0.0), quarter);
    let own = Point3::new(0.1, 0.0, 0.2);
    let mut placed = Isometry3::identity();
    for i in 0..12 {
        let link = imported.system.model.link(&format!("b-{i:02}")).unwrap();
        let frame = imported.system.model.links()[link.0].frame;
        let (found, wanted) = (frame.translation.vector, (placed * own).coords);
        assert!((found - wanted).norm() < 1e-12, "copy {i}: {found} for {wanted}");
        assert!(frame.rotation.angle_to(&placed.rotation) < 1e-12);
        assert_eq!(imported.joint(&format!("f-{i:02}")), Some(link));
        placed *= step;
    }
}

// Checks: a spring by time constant t and damping ratio z has k = I / (t z)^2 and d = 2 I / t, where
// I is what the joint feels with all others free (MuJoCo, XML reference, springdamper; found so by
// MuJoCo 4.0). Of two slides in a row, a cart of 3 kg with one of 2 kg on it, the first feels 3 kg
// and the second 3 * 2 / (3 + 2) kg.
#[test]
fn a_spring_by_time_constant_is_that_of_the_inertia_it_feels() {
    let (t, z) = (0.3, 0.7);
    let text = format!(
        "<mujoco><worldbody><body><joint name=\"a\" type=\"slide\" springdamper=\"{t} {z}\"/><geom size=\"0.1\" \
         mass=\"3\"/><body pos=\"1 0 0\"><joint name=\"b\" type=\"slide\" springdamper=\"{t} {z}\" stiffness=\"7\"/>\
         <geom size=\"0.1\" mass=\"2\"/></body></body></worldbody></mujoco>"
    );
    let imported = from_mjcf(&text, ".").unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    for (dof, felt) in imported.system.model.dofs().iter().zip([3.0, 1.2]) {
        assert!((dof.stiffness - felt / (t * z * t * z)).abs() < 1e-12 * dof.stiffness, "{dof:?}");
        assert!((dof.damping - 2.0 * felt / t).abs() < 1e-12 * dof.damping, "{dof:?}");
    }
}

// Checks: heights of a picture are its red channel, the last row at the least y, scaled from 0 to 1
// and then by the height of the field (found by MuJoCo 4.0 for the same picture).
#[test]
fn heights_come_from_the_red_channel_of_a_picture() {
    let folder = folder("mjcf-heights");
    let mut picture = image::RgbImage::new(3, 2);
    for (i, red) in [250, 10, 130, 40, 70, 100].into_iter().enumerate() {
        picture.put_pixel(i as u32 % 3, i as u32 / 3, image::Rgb([red, 7, 99]));
    }
    picture.save(folder.join("h.png")).unwrap();
    let text = "<mujoco><asset><hfield name=\"h\" file=\"h.png\" size=\"1 1 0.5 0.1\"/></asset>\
        <worldbody><geom type=\"hfield\" hfield=\"h\"/></worldbody></mujoco>";
    let imported = from_mjcf(text, &folder).unwrap();
    assert_eq!(imported.files.len(), 1);
    let Shape::HeightField(field) = &imported.geometries[0].shape else { panic!("no height field") };
    let (columns, rows) = (3, 2);
    let expected = [40.0, 70.0, 100.0, 250.0, 10.0, 130.0].map(|red| (red - 10.0) / 240.0 * 0.5);
    for (i, height) in expected.into_iter().enumerate() {
        let (x, y) = ((i % columns) as f64 - 1.0, 2.0 * (i / columns) as f64 / (rows - 1) as f64 - 1.0);
        let here = field.mesh().vertices().iter().filter(|v| (v.x - x).abs() + (v.y - y).abs() < 1e-12);
        let found = here.map(|vertex| vertex.z).fold(f64::MIN, f64::max);
        assert!((found - height).abs() < 1e-12, "({x}, {y}): {found} for {height}");
    }
    // Without heights the field is flat.
    let flat = text.replace("file=\"h.png\"", "nrow=\"2\" ncol=\"3\"");
    assert!(from_mjcf(&flat, &folder).is_ok());
    std::fs::remove_dir_all(folder).unwrap();
}

// Checks: a file is sought from the folder of the main file first, then from that of the file that
// names it (found by MuJoCo 4.0).
#[test]
fn files_are_found_from_the_file_that_names_them() {
    let folder = folder("mjcf-includes");
    let ball = |name: &str| format!("<mujoco><worldbody><site name=\"{name}\"/></worldbody></mujoco>");
    let main = "<mujoco><include file=\"part/a.xml\"/></mujoco>";
    std::fs::write(folder.join("main.xml"), main).unwrap();
    std::fs::write(folder.join("part/a.xml"), "<mujoco><include file=\"b.xml\"/></mujoco>").unwrap();
    std::fs::write(folder.join("part/b.xml"), ball("inner")).unwrap();
    let names = |read: &pliant_import::Imported| -> Vec<String> {
        read.files.iter().map(|file| file.strip_prefix(&folder).unwrap().display().to_string()).collect()
    };
    let read = load(folder.join("main.xml")).unwrap();
    assert_eq!(names(&read), ["main.xml", "part/a.xml", "part/b.xml"]);
    std::fs::write(folder.join("b.xml"), ball("outer")).unwrap();
    let read = load(folder.join("main.xml")).unwrap();
    assert_eq!(names(&read), ["main.xml", "part/a.xml", "b.xml"]);
    std::fs::remove_dir_all(folder).unwrap();
}

// Checks: limits of a ball joint are left out with a warning, given by a range or without (MuJoCo's
// range is then 0), and not where they are switched off.
#[test]
fn limits_of_balls_are_left_out_with_a_warning() {
    for (given, warns) in [
        ("range=\"0 1\"", true),
        ("range=\"0 1\" limited=\"false\"", false),
        ("limited=\"true\"", true),
        ("limited=\"false\"", false),
        ("limited=\"auto\"", false),
        ("", false),
    ] {
        let text = format!(
            "<mujoco><worldbody><body><joint type=\"ball\" {given}/><geom size=\"1\"/></body></worldbody></mujoco>"
        );
        let imported = from_mjcf(&text, ".").unwrap();
        let said = imported.warnings.iter().any(|w| w.to_string().contains("have no limits"));
        assert_eq!(said, warns, "{given}");
    }
}
