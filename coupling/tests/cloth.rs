//! Cloth and bodies: nothing goes through, nothing explodes, balances hold.

use crate::common::{fixed, geometry, run_for, snapshot};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{Settings, World};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Sheet};
use pliant_mpm::material::Elastic;
use pliant_rigid::{BodyDesc, Motion, Shape};

/// The paper's bag: a quarter of E 3.2e6 Pa and K 4e5 Pa, which there belong to a quarter of a
/// face's volume.
fn bag(h: f64) -> ClothMaterial {
    let elastic = Elastic { youngs_modulus: 8e5, poissons_ratio: 0.4 };
    ClothMaterial { damping: 0.2, ..ClothMaterial::new(1500.0, elastic, h, 1e5) }
}

/// Vertices, centroids and middles of edges of all faces (m).
fn points(world: &mut World) -> Vec<Point3<f64>> {
    let positions = snapshot(world).positions;
    let at = |id: u32| Vector3::from(positions[id as usize]);
    let mut points = Vec::new();
    for [a, b, c] in world.cloths().iter().flat_map(|patch| &patch.faces) {
        let (a, b, c) = (at(*a), at(*b), at(*c));
        points.extend(
            [a, b, c, (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0, (a + b + c) / 3.0].map(Point3::from),
        );
    }
    points
}

/// Smallest distance of a point of the sheets from a shape (m).
fn clearance(world: &mut World, shape: &Shape, pose: &Isometry3<f64>) -> f64 {
    let distance = |x: &Point3<f64>| shape.surface_point(&pose.inverse_transform_point(x)).distance;
    points(world).iter().map(distance).fold(f64::INFINITY, f64::min)
}

/// Drops a sheet of 0.4 m from 8 cm above a fixed body whose top is at the origin; the least
/// distance of any of its points from the body over 0.8 s (m), and the world at the end.
fn drop_on(shape: &Shape, pose: Isometry3<f64>) -> (f64, World) {
    let h = 1.0 / 64.0;
    let mut builder = World::builder(Settings::new(h, 0.01));
    let corner = Vector3::new(-0.2, -0.2, 0.08);
    let mesh = ClothMesh::rectangle(corner, 0.4 * Vector3::x(), 0.4 * Vector3::y(), [28, 28]).unwrap();
    builder.cloth(Sheet::new(mesh, bag(h)));
    builder.body(fixed("body", shape.clone(), pose, 0.8)).unwrap();
    let mut world = builder.build().unwrap();
    let mut least = f64::INFINITY;
    run_for(&mut world, 0.8, |world, _| {
        world.diagnostics();
        least = least.min(clearance(world, shape, &pose));
    });
    (least, world)
}

/// A sheet dropped on the sharp edge of a box and on a sphere drapes over it, at the step of the
/// paper's bag (10 ms, h = 1/64 m): no point of it is ever inside, and the scheme creates no energy
/// (1e-3 of the energies involved), so that nothing explodes.
///
/// Vertices and centroids are kept half a thickness from the surface, h/2; where a right-angled
/// edge pokes at a chord of length s < h between two vertices, the distance of the chord is
/// (1/sqrt(2) - s / 2h) h, above 0.2 h, less the compression of the compliant contact (near-rigid:
/// below v dt of 1.5 m/s x 0.4 ms = 0.04 h). Measured: 0.47 h over the edge.
#[test]
fn sheet_drapes_over_a_sharp_edge_and_a_sphere() {
    let h = 1.0 / 64.0;
    let tilt = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_4);
    let half = 0.1;
    let below = Translation3::new(0.0, 0.0, -half * 2.0_f64.sqrt());
    let edge = (Shape::Box { half_extents: Vector3::repeat(half) }, Isometry3::from_parts(below, tilt), 0.15);
    let sphere = (Shape::Sphere { radius: 0.1 }, Isometry3::translation(0.0, 0.0, -0.1), 0.4);
    for (shape, pose, nearest) in [edge, sphere] {
        let (least, mut world) = drop_on(&shape, pose);
        let balance = world.balance();
        println!("{:.3} h, {balance:?}", least / h);
        assert!(least > nearest * h, "{shape:?}: {} h", least / h);
        assert!(least < h, "it never got there");
        // The sheet only loses; what the transfers give back of that in a step is below what runs
        // warn of.
        assert!(world.diagnostics().dissipation > 0.0 && balance.energy.unwrap() < 0.05, "{balance:?}");
        assert!(balance.linear_momentum < 1e-5, "{balance:?}");
        let lowest = snapshot(&mut world).positions.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
        assert!(lowest < -0.1, "it does not drape: {lowest} m");
    }
}

/// A tool, a fixed bar and a sheet: what the sheet gets from bodies, floor and pins is what its
/// momentum gains, to the rounding of f32 in the particles.
#[test]
fn momentum_is_accounted_for() {
    let h = 1.0 / 64.0;
    let mut builder = World::builder(Settings::new(h, 0.01));
    let mesh = ClothMesh::rectangle(
        Vector3::new(-0.15, -0.15, 0.1),
        0.3 * Vector3::x(),
        0.3 * Vector3::y(),
        [20, 20],
    )
    .unwrap();
    let pins = [0, 20].map(|v| pliant_mpm::cloth::Pin::fixed(v, mesh.vertices()[v]).unwrap()).to_vec();
    builder.cloth(Sheet { pins, ..Sheet::new(mesh, bag(h)) });
    builder
        .body(BodyDesc {
            name: "bar".into(),
            pose: Isometry3::translation(0.0, 0.0, 0.05)
                * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2),
            motion: Motion::Fixed,
            geometries: geometry(Shape::Capsule { radius: 0.02, half_length: 0.2 }, 0.5),
            appearance: Vec::new(),
        })
        .unwrap();
    let mut world = builder.build().unwrap();
    let mut supported = 0.0;
    run_for(&mut world, 0.5, |world, _| {
        world.diagnostics();
        supported += world.boundary_impulse().linear.z;
    });
    let balance = world.balance();
    assert!(supported > 0.0, "the pins carry nothing");
    assert!(balance.linear_momentum < 1e-5 && balance.angular_momentum < 1e-5, "{balance:?}");
    assert!(balance.energy.unwrap() < 1e-3, "{balance:?}");
}

/// Over a plane a face's centroid is as far away as its vertices on the mean and moves with their
/// mean velocity, so that its own contact would say nothing new: a sheet on a board touches with
/// its vertices alone. The board carries all of its weight, and every particle, centroids too, lies
/// half a thickness above it, less g / omega^2 of the near-rigid contact (omega delta = 2 pi: below
/// 1e-4 h).
#[test]
fn sheet_on_a_board_touches_with_its_vertices() {
    let h = 1.0 / 64.0;
    let mut builder = World::builder(Settings::new(h, 0.01));
    let corner = Vector3::new(-0.1, -0.1, 0.5 * h);
    let mesh = ClothMesh::rectangle(corner, 0.2 * Vector3::x(), 0.2 * Vector3::y(), [14, 14]).unwrap();
    let vertices = mesh.vertices().len();
    builder.cloth(Sheet::new(mesh, bag(h)));
    let board = Shape::Box { half_extents: Vector3::new(0.3, 0.3, 0.1) };
    builder.body(fixed("board", board, Isometry3::translation(0.0, 0.0, -0.1), 0.5)).unwrap();
    let mut world = builder.build().unwrap();
    run_for(&mut world, 0.5, |_, _| {});
    let report = world.step().unwrap();
    assert_eq!(report.contacts_max, vertices);
    let weight = 0.2 * 0.2 * h * 1500.0 * 9.81;
    let carried = -world.body_impulses()[0].linear.z / 0.01;
    println!("carries {carried} of {weight} N");
    assert!((carried / weight - 1.0).abs() < 0.01, "{carried} of {weight} N");
    for x in snapshot(&mut world).positions {
        assert!((x[2] / h - 0.5).abs() < 0.01, "{} h", x[2] / h);
    }
}

/// A point under the middle of a face is touched by its centroid, of which its vertices, here 1.4 h
/// apart, know nothing: over anything but a plane centroids have contacts of their own, which act at
/// the face's three vertices. Gaps:
/// centroid (0.55 - 0.1 - 0.5) h < 0; the nearest vertex ((2 (1.4 / 3)^2 + 0.55^2)^(1/2) - 0.6) h =
/// 0.26 h.
#[test]
fn a_point_under_a_face_touches_its_centroid() {
    let h = 1.0 / 64.0;
    let edge = 1.4 * h;
    let mut builder = World::builder(Settings { gravity: Vector3::zeros(), ..Settings::new(h, 1e-4) });
    let mesh =
        ClothMesh::rectangle(Vector3::zeros(), 8.0 * edge * Vector3::x(), 8.0 * edge * Vector3::y(), [8, 8])
            .unwrap();
    let middle = |face: [usize; 3]| face.iter().map(|&v| mesh.vertices()[v]).sum::<Vector3<f64>>() / 3.0;
    // One of the faces in the middle of the sheet.
    let under = middle(mesh.faces()[64]) - 0.55 * h * Vector3::z();
    builder.cloth(Sheet::new(mesh, bag(h)));
    builder.body(fixed("point", Shape::Sphere { radius: 0.1 * h }, under.into(), 0.5)).unwrap();
    builder.allow_overlap("point");
    let report = builder.build().unwrap().step().unwrap();
    assert_eq!(report.contacts_max, 3);
}
