//! Sites of MJCF files.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_import::{Imported, from_mjcf};
use pliant_rigid::{BodiesBuilder, BodyDesc, Motion, RigidSettings};

fn turn(axis: &nalgebra::Unit<Vector3<f64>>, degrees: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_axis_angle(axis, degrees.to_radians())
}

/// An arm with a hinge away from its body's origin, a site within a frame, one without a name, and
/// one of the world.
fn arm() -> Imported {
    let text = r#"<mujoco><worldbody>
        <site name="mark" pos="1 2 3"/>
        <body name="arm" pos="0.3 0 1" euler="0 0 90">
          <joint name="hinge" axis="0 0 1" pos="0.1 0 0"/>
          <geom size="0.1"/>
          <frame pos="0 0.2 0" euler="90 0 0">
            <site name="tip" pos="0.5 0 0" euler="0 90 0"/><site pos="7 7 7"/>
          </frame>
          <body name="hand" pos="0 0 0.4"><geom size="0.1"/><site name="palm" pos="0 0 0.1"/></body>
        </body></worldbody></mujoco>"#;
    from_mjcf(text, ".").unwrap()
}

// Checks: a site stands at the product of the frames that contain it (MuJoCo, XML reference, site and
// frame), here in the frame of its link, whose origin is the hinge; sites without a name are not
// kept.
#[test]
fn sites_are_kept_in_the_frame_of_their_link() {
    let imported = arm();
    let names: Vec<&str> = imported.sites.iter().map(|site| &site.name[..]).collect();
    assert_eq!(names, ["mark", "tip", "palm"]);
    assert_eq!(imported.site("mark").unwrap().link, None);
    let tip = imported.site("tip").unwrap();
    assert_eq!(tip.link, imported.joint("hinge"));
    let frame = Isometry3::from_parts(Translation3::new(0.0, 0.2, 0.0), turn(&Vector3::x_axis(), 90.0));
    let own = Isometry3::from_parts(Translation3::new(0.5, 0.0, 0.0), turn(&Vector3::y_axis(), 90.0));
    let wanted = Translation3::new(-0.1, 0.0, 0.0) * frame * own;
    let difference = tip.pose.to_homogeneous() - wanted.to_homogeneous();
    assert!(difference.amax() < 1e-12, "{difference}");
    assert_eq!(imported.site("palm").unwrap().link, imported.system.model.link("hand"));
}

// Checks: two sites of one name are refused, as in MuJoCo.
#[test]
fn names_of_sites_are_unique() {
    let text = r#"<mujoco><worldbody><site name="a"/><body><geom size="1"/><site name="a"/></body>
        </worldbody></mujoco>"#;
    let error = from_mjcf(text, ".").unwrap_err().to_string();
    assert!(error.contains("site") && error.contains("'a'"), "{error}");
}

// Checks: added to other bodies, the sites of a mechanism keep their places on it, and those of its
// world stand on what carries it.
#[test]
fn sites_go_with_their_mechanism() {
    let mut builder = BodiesBuilder::new();
    let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, 2.0), turn(&Vector3::x_axis(), 30.0));
    let base = Isometry3::from_parts(Translation3::new(0.4, 0.0, 0.0), turn(&Vector3::y_axis(), 20.0));
    let stand = BodyDesc {
        name: "stand".into(),
        pose,
        motion: Motion::Fixed,
        geometries: vec![],
        appearance: vec![],
    };
    let stand = builder.add(stand).unwrap();
    builder.add_mechanism("first", arm().into(), None, &Isometry3::identity()).unwrap();
    let second = builder.robot("second", arm(), Some(stand), &base).unwrap();
    let bodies = builder.build(Vector3::zeros(), 1e-3, &RigidSettings::default()).unwrap();
    let names: Vec<&str> = bodies.sites().iter().map(|site| &site.name[..]).collect();
    assert_eq!(names[..4], ["first/mark", "first/tip", "first/palm", "second/mark"]);
    let place = |n: usize| bodies.site_pose(&bodies.sites()[n]).translation.vector;
    let arm = |p: Point3<f64>| {
        let body = Isometry3::from_parts(Translation3::new(0.3, 0.0, 1.0), turn(&Vector3::z_axis(), 90.0));
        body * p
    };
    let wanted =
        [Point3::new(1.0, 2.0, 3.0), arm(Point3::new(0.5, 0.2, 0.0)), arm(Point3::new(0.0, 0.0, 0.5))];
    for (n, p) in wanted.into_iter().enumerate() {
        assert!((place(n) - p.coords).norm() < 1e-12, "{n}: {} {p}", place(n));
        let moved = pose * base * p;
        assert_eq!(second.site(&bodies, ["mark", "tip", "palm"][n]), Ok(&bodies.sites()[n + 3]));
        assert!((place(n + 3) - moved.coords).norm() < 1e-12, "{n}: {} {moved}", place(n + 3));
    }
}
