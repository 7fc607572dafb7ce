//! Mass, centre and inertia of meshes and shells against closed forms.

// A test fails by panicking, in its helpers too.

use nalgebra::{Matrix3, Vector3};
use pliant_import::from_mjcf;

/// Corners of a box of half extents `h`, and its faces, the last two those at -x.
fn cuboid(h: [f64; 3]) -> Vec<[f64; 3]> {
    (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { h[k] } else { -h[k] })).collect()
}

const FACES: [[usize; 3]; 12] = [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [1, 3, 7],
    [1, 7, 5],
    [0, 4, 6],
    [0, 6, 2],
];

fn flipped(faces: &[[usize; 3]]) -> Vec<[usize; 3]> {
    faces.iter().map(|&[a, b, c]| [a, c, b]).collect()
}

/// A square tube along z: half widths 1 and 1/2, half length 1.
fn tube() -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let square = |w: f64, z: f64| [[-w, -w, z], [w, -w, z], [w, w, z], [-w, w, z]];
    let rings = [square(1.0, -1.0), square(1.0, 1.0), square(0.5, -1.0), square(0.5, 1.0)];
    let mut faces = Vec::new();
    // Walls between two rings.
    for (from, to) in [(0, 4), (12, 8), (4, 12), (8, 0)] {
        for i in 0..4 {
            let j = (i + 1) % 4;
            faces.extend([[from + i, from + j, to + j], [from + i, to + j, to + i]]);
        }
    }
    (rings.concat(), faces)
}

/// Mass \[kg\], centre \[m\] and inertia about it \[kg m^2\] of a body with one geom.
type Figures = (f64, Vector3<f64>, Matrix3<f64>);

fn body(assets: &str, geom: &str) -> Result<Figures, String> {
    let text = format!(
        "<mujoco><asset>{assets}</asset><worldbody><body><freejoint/><geom {geom}/></body></worldbody></mujoco>"
    );
    let read = from_mjcf(&text, ".").map_err(|e| e.to_string())?;
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let inertia = &read.system.model.links()[0].inertia;
    let center = inertia.center();
    Ok((inertia.mass, center, inertia.shifted(&center).inertia))
}

fn mesh(vertices: &[[f64; 3]], faces: &[[usize; 3]], more: &str, geom: &str) -> Result<Figures, String> {
    let vertices: Vec<_> = vertices.iter().flatten().map(f64::to_string).collect();
    let faces: Vec<_> = faces.iter().flatten().map(usize::to_string).collect();
    let asset =
        format!("<mesh name=\"m\" vertex=\"{}\" face=\"{}\" {more}/>", vertices.join(" "), faces.join(" "));
    body(&asset, &format!("type=\"mesh\" mesh=\"m\" {geom}"))
}

/// The sums are of tens of products of numbers near 1.
fn close(found: &Figures, mass: f64, center: Vector3<f64>, diagonal: Vector3<f64>) {
    let inertia = Matrix3::from_diagonal(&diagonal);
    assert!((found.0 / mass - 1.0).abs() < 1e-13, "{} kg, not {mass} kg", found.0);
    assert!((found.1 - center).norm() < 1e-13, "{:?}, not {center:?}", found.1);
    assert!((found.2 - inertia).norm() < 1e-12 * inertia.norm(), "{}, not {inertia}", found.2);
}

// Checks: a tube is a cube less a rod, each m (a^2 + b^2) / 12; the hull is the cube.
#[test]
fn a_tube_is_not_its_hull() {
    let (vertices, faces) = tube();
    let (cube, rod) = (8000.0, 2000.0);
    let solid = Vector3::new(cube * 8.0 - rod * 5.0, cube * 8.0 - rod * 5.0, cube * 8.0 - rod * 2.0) / 12.0;
    close(&mesh(&vertices, &faces, "inertia=\"exact\"", "").unwrap(), 6000.0, Vector3::zeros(), solid);
    let hull = Vector3::repeat(cube * 8.0 / 12.0);
    close(&mesh(&vertices, &faces, "inertia=\"convex\"", "").unwrap(), cube, Vector3::zeros(), hull);
    // A given mass has the same distribution.
    let found = mesh(&vertices, &faces, "inertia=\"exact\"", "mass=\"3\" pos=\"0 0 2\"").unwrap();
    close(&found, 3.0, Vector3::new(0.0, 0.0, 2.0), solid / 2000.0);
    // Pyramids from the middle, height times area / 3: the walls of the hole, seen from behind, count
    // as positive (MuJoCo's `legacy`).
    let legacy = mesh(&vertices, &faces, "", "").unwrap();
    let pyramids = (4.0 * 1.0 * 4.0 + 4.0 * 0.5 * 2.0 + 2.0 * 1.0 * 3.0) / 3.0;
    assert!((legacy.0 - 1000.0 * pyramids).abs() < 1e-9, "{} kg", legacy.0);
}

// Checks: six faces of mass area times density, each m (a^2 + b^2) / 12 and Steiner's term; the same
// of a mesh as of a primitive.
#[test]
fn a_shell_box_is_six_plates() {
    let h = [1.0, 0.5, 0.25];
    let mut inertia = Vector3::<f64>::zeros();
    let mut mass = 0.0;
    for k in 0..3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let plates = 2.0 * 10.0 * 4.0 * h[i] * h[j];
        mass += plates;
        inertia[k] += plates * (h[i] * h[i] + h[j] * h[j]) / 3.0;
        inertia[i] += plates * (h[j] * h[j] / 3.0 + h[k] * h[k]);
        inertia[j] += plates * (h[i] * h[i] / 3.0 + h[k] * h[k]);
    }
    let found = mesh(&cuboid(h), &FACES, "inertia=\"shell\"", "density=\"10\"").unwrap();
    close(&found, mass, Vector3::zeros(), inertia);
    let geom = "type=\"box\" size=\"1 0.5 0.25\" density=\"10\" shellinertia=\"true\"";
    close(&body("", geom).unwrap(), mass, Vector3::zeros(), inertia);
    // Orientation does not matter.
    let found = mesh(&cuboid(h), &flipped(&FACES), "inertia=\"shell\"", "density=\"10\"").unwrap();
    close(&found, mass, Vector3::zeros(), inertia);
}

// Checks: a thin shell is the derivative of a solid with respect to its size. For spheres of radius r:
// 2/5 m r^2 with m = 4/3 pi r^3 gives 8/3 pi r^4; likewise cylinders and capsules that grow by the
// same thickness on all sides, by central differences of second order.
#[test]
fn shells_of_primitives_are_derivatives_of_solids() {
    let step = 1e-4;
    for kind in ["sphere", "cylinder", "capsule"] {
        let size = |grow: f64| {
            let (radius, half) = (0.5 + grow, 0.75 + if kind == "cylinder" { grow } else { 0.0 });
            format!("type=\"{kind}\" size=\"{radius:?} {half:?}\"")
        };
        let shell = body("", &format!("{} shellinertia=\"true\"", size(0.0))).unwrap();
        let (more, less) = (body("", &size(step)).unwrap(), body("", &size(-step)).unwrap());
        let mass = (more.0 - less.0) / (2.0 * step);
        let inertia = (more.2 - less.2) / (2.0 * step);
        // The error is step^2 / 6 of the third derivative, which is below 60 times the value.
        assert!((shell.0 / mass - 1.0).abs() < 10.0 * step * step, "{kind}: {} and {mass}", shell.0);
        let error = (shell.2 - inertia).norm() / inertia.norm();
        assert!(error < 10.0 * step * step, "{kind}: {error:e}");
    }
}

// Checks: a cube without its face at -x. Pyramids over the faces have their apex at the mean of the
// surface, 1/5 along x, for the centre, and at the centre for the mass; MuJoCo 4.0 has the same mass,
// 6433.3 kg, centre, 0.175 m, and inertia.
#[test]
fn an_open_mesh_is_summed_about_its_middle() {
    for rule in ["exact", "legacy"] {
        let found = mesh(&cuboid([1.0; 3]), &FACES[..10], &format!("inertia=\"{rule}\""), "").unwrap();
        let mass = 1000.0 * (4.0 * (1.0 - 0.175) + 4.0 * 4.0) / 3.0;
        assert!((found.0 / mass - 1.0).abs() < 1e-13, "{} kg, not {mass} kg", found.0);
        assert!((found.1 - Vector3::new(0.175, 0.0, 0.0)).norm() < 1e-13, "{:?}", found.1);
        // As MuJoCo 4.0 prints it.
        for (k, expected) in [4706.66666667, 3967.2125, 3967.2125].into_iter().enumerate() {
            assert!((found.2[(k, k)] - expected).abs() < 1e-8, "{}", found.2);
        }
    }
}

// Checks: `exact` refuses what has no inside, `legacy` does not mind (MuJoCo 4.0, which has `legacy`
// as default).
#[test]
fn inverted_meshes_have_no_exact_inertia() {
    let cube = cuboid([1.0; 3]);
    let inertia = Vector3::repeat(8000.0 * 8.0 / 12.0);
    let mut one = FACES.to_vec();
    one[3].swap(0, 1);
    for faces in [flipped(&FACES), one] {
        close(&mesh(&cube, &faces, "", "").unwrap(), 8000.0, Vector3::zeros(), inertia);
    }
    let error = mesh(&cube, &flipped(&FACES), "inertia=\"exact\"", "").unwrap_err();
    assert!(error.contains("negative volume") && error.contains("inertia=\"exact\""), "{error}");
    let mut one = FACES.to_vec();
    one[3].swap(0, 1);
    let error = mesh(&cube, &one, "inertia=\"exact\"", "").unwrap_err();
    assert!(error.contains("different orientations"), "{error}");
    let flat = mesh(&cube[..4], &FACES[..2], "inertia=\"exact\"", "contype=\"0\" conaffinity=\"0\"");
    assert!(flat.unwrap_err().contains("no volume"));
    let error = mesh(&cube, &FACES, "", "shellinertia=\"true\"").unwrap_err();
    assert!(error.contains("shellinertia"), "{error}");
}
