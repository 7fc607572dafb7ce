//! The closed forms of where two solids touch, against the detector.

use nalgebra::{Isometry3, Vector3};
use pliant_geometry::Shape;
use pliant_geometry::pairs::size_of;
use pliant_rigid::collision::{
    CollisionGeometry, CollisionModel, ContactMaterial, Detector, GeometricContact,
};
use pliant_rigid::multibody::{JointKind, Link, LinkId, Model, ModelBuilder, RigidInertia};
use pliant_testing::solids::{PAIRS, SolidRandom as Random, kind, meetings, solid};

/// Two free links.
fn model() -> Model {
    let mut builder = ModelBuilder::new(Vector3::zeros());
    for name in ["first", "second"] {
        let inertia = RigidInertia::at_center(1.0, Vector3::zeros(), nalgebra::Matrix3::identity());
        let joint = JointKind::Free;
        let (frame, dofs) = (Isometry3::identity(), vec![]);
        let link = Link { name: name.into(), parent: None, joint, frame, inertia, gravity: true, dofs };
        builder.add(link).unwrap();
    }
    builder.build().unwrap()
}

fn detected(model: &Model, shapes: &[Shape; 2], poses: &[Isometry3<f64>; 2]) -> Vec<GeometricContact> {
    let geometry = |k: usize| CollisionGeometry {
        name: format!("{k}"),
        link: Some(LinkId(k)),
        pose: Isometry3::identity(),
        shape: shapes[k].clone(),
        material: ContactMaterial::with_friction(0.5),
        group: 1,
        mask: 1,
        color: [0; 3],
    };
    let scene = CollisionModel::new(vec![geometry(0), geometry(1)], model, &[]).unwrap();
    let mut out = Vec::new();
    Detector::new().detect(&scene, |link| poses[link.0], 10.0, &mut out);
    out
}

/// The deepest contact point has the distance of the detector's deepest contact, in 2000 poses of
/// every pair, apart or overlapping by less than a fifth of the smaller size (a capsule in a box by
/// that of the box and its radius, so that its axis is inside, too). Formulas in closed form agree
/// to the rounding of sums of coordinates up to 2 m, some ten of them; where the detector uses GJK
/// and EPA, to their tolerance, 1e-9 of a size up to 0.5 m. The normals agree where the nearest
/// features do: those of the detector's deepest contact. Half of the distance along the normal from
/// the point, both surfaces are, by their signed distances.
#[test]
fn distances_and_normals_are_those_of_the_detector() {
    let (model, seed) = (model(), 11);
    let mut random = Random(seed);
    for names in PAIRS {
        let iterates = matches!(names, ['c', 'b'] | ['b', 'b']);
        let tolerance = if iterates { 1e-9 * 0.5 } else { 20.0 * f64::EPSILON };
        let (mut apart, mut overlapping, mut worst, mut turned) = (0, 0, 0.0_f64, 0.0_f64);
        while apart < 1000 || overlapping < 1000 {
            let shapes = names.map(|name| random.shape(name));
            let poses = [random.pose(), random.pose()];
            let contacts = detected(&model, &shapes, &poses);
            let deepest = contacts.iter().min_by(|a, b| a.distance.total_cmp(&b.distance)).unwrap();
            let least = |shape: &Shape| match *shape {
                Shape::Box { half_extents } => half_extents.min(),
                Shape::HalfSpace => 1.0,
                _ => size_of(shape).unwrap()[0],
            };
            let size = least(&shapes[0]).min(least(&shapes[1]));
            let within = if names == ['c', 'b'] { least(&shapes[0]) + 0.2 * size } else { 0.2 * size };
            let count = if deepest.distance > 0.0 { &mut apart } else { &mut overlapping };
            if deepest.distance < -within || *count == 1000 {
                continue;
            }
            *count += 1;
            let [a, b] = [0, 1].map(|k| solid(&shapes[k], &poses[k]));
            let found = meetings(kind(&shapes), &a, &b);
            let closest = found.iter().min_by(|a, b| a.distance.total_cmp(&b.distance)).unwrap();
            let at = format!("seed {seed}, {names:?}: {shapes:?} {poses:?}\n{deepest:?}\n{closest:?}");
            let error = (closest.distance - deepest.distance).abs();
            assert!(error <= tolerance, "{error:e}, {at}");
            worst = worst.max(error);
            let angle = (Vector3::from(closest.normal.0) - deepest.normal.as_ref()).norm();
            // A distance that is good to the tolerance has a direction that is good to its root,
            // where it is a maximum over directions.
            assert!(angle <= 4.0 * (tolerance / size).sqrt(), "{angle:e}, {at}");
            turned = turned.max(angle);
            for (k, sign) in [(0, -0.5), (1, 0.5)] {
                let surface = closest.point + closest.normal * (sign * closest.distance);
                let local = poses[k].inverse_transform_point(&Vector3::from(surface.0).into());
                let from = shapes[k].surface_point(&local).distance;
                assert!(from.abs() <= tolerance, "{from:e} from {k}, {at}");
            }
            for m in &found {
                let n = Vector3::from(m.normal.0);
                assert!((n.norm() - 1.0).abs() < 1e-14 && m.distance.is_finite(), "{m:?} {at}");
                assert!(m.point.0.iter().all(|x| x.is_finite()), "{m:?} {at}");
            }
        }
        println!("{names:?}: distances within {worst:e} m, normals within {turned:e}");
    }
}
