//! Garments: outlines, triangles, seams, the T-shirt against closed forms, and the area that a
//! cloth covers.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::{Rotation3, Vector2, Vector3};
use pliant_garment::outline::LONGEST_EDGE;
use pliant_garment::tshirt::PANELS;
use pliant_garment::*;
use pliant_mpm::cloth::{ClothMesh, MeshError};

const H: f64 = 1.0 / 128.0;

fn at(x: f64, y: f64) -> Vector2<f64> {
    Vector2::new(x, y)
}

/// A rectangle from the origin, around from its lower left corner.
fn rectangle(width: f64, height: f64) -> Outline {
    Outline::starting_at(at(0.0, 0.0))
        .line("bottom", at(width, 0.0))
        .line("right", at(width, height))
        .line("top", at(0.0, height))
        .line("left", at(0.0, 0.0))
}

/// A circle about the origin, of four cubic curves that go through it in three points each.
fn circle(radius: f64) -> Outline {
    let k = 4.0 / 3.0 * (2f64.sqrt() - 1.0);
    let mut outline = Outline::starting_at(at(radius, 0.0));
    for quarter in 0..4 {
        let (s, c) = (f64::from(quarter) * FRAC_PI_2).sin_cos();
        let turned = |x: f64, y: f64| radius * at(c * x - s * y, s * x + c * y);
        let controls = [turned(1.0, k), turned(k, 1.0)];
        outline = outline.cubic(&format!("quarter {quarter}"), controls, turned(0.0, 1.0));
    }
    outline
}

// Checks: the parts of a line are equal and as many as length / spacing, rounded; those of a curve
// have equal lengths along it, here on a circle: equal angles. (This curve is off the circle by
// 2.7e-4 of its radius.)
#[test]
fn pieces_are_divided_into_equal_parts() {
    let boundary = rectangle(0.1, 0.034).divide(0.01).unwrap();
    let counts: Vec<_> = boundary.pieces.iter().map(|piece| piece.parts).collect();
    assert_eq!(counts, [10, 3, 10, 3]);
    assert!((boundary.points[4] - at(0.04, 0.0)).norm() < 1e-16);
    let boundary = circle(0.1).divide(0.01).unwrap();
    // 2 pi 0.1 m / 4 / 0.01 m = 15.7.
    assert_eq!(boundary.points.len(), 64);
    for (k, x) in boundary.points.iter().enumerate() {
        let exact = 2.0 * PI * k as f64 / 64.0;
        let off = (x.y.atan2(x.x) - exact + PI).rem_euclid(2.0 * PI) - PI;
        assert!(off.abs() < 3e-4, "{k}: {off}");
    }
    // An explicit number takes precedence over the spacing.
    let boundary = rectangle(0.1, 0.034).parts(5).divide(0.01).unwrap();
    assert_eq!(boundary.pieces[3].parts, 5);
    assert!((rectangle(0.1, 0.034).length("right").unwrap() - 0.034).abs() < 1e-16);
}

// Checks: Green's theorem. A parabola and its chord enclose 2/3 of the chord times the sagitta
// (Archimedes); this cubic circle encloses a little more than pi r^2 (its radius is between r and
// 1.00027 r).
#[test]
fn the_area_of_an_outline_is_exact() {
    let arch = Outline::starting_at(at(0.0, 0.0)).line("chord", at(3.0, 0.0)).quadratic(
        "arch",
        at(1.5, 2.0),
        at(0.0, 0.0),
    );
    // The sagitta of a quadratic curve is half the height of its control point.
    assert!((arch.area() - 2.0 / 3.0 * 3.0 * 1.0).abs() < 1e-14);
    let area = circle(2.0).area() / 4.0;
    assert!(area > PI && area < PI * 1.00027f64.powi(2), "{area}");
}

// Checks: every wrong outline is refused with the name of the piece at fault.
#[test]
fn wrong_outlines_are_refused_by_name() {
    let start = || Outline::starting_at(at(0.0, 0.0));
    let square = || start().line("a", at(1.0, 0.0)).line("b", at(1.0, 1.0)).line("c", at(0.0, 1.0));
    let cases: [(Outline, f64, &str); 10] = [
        (square().line("d", at(0.0, 0.0)), 0.0, "spacing: 0 m"),
        (start(), 0.1, "at least one piece"),
        (square().line("a", at(0.0, 0.0)), 0.1, "piece 'a': the name is taken"),
        (square().line("d", at(f64::NAN, 0.0)), 0.1, "piece 'd': its points must be finite"),
        (square(), 0.1, "piece 'c': ends 1 m from the start"),
        (square().line("stub", at(0.0, 0.96)).line("d", at(0.0, 0.0)), 0.1, "piece 'stub': is 0.04"),
        (square().line("d", at(0.0, 0.0)).parts(5), 0.1, "piece 'd': 5 parts of 1 m are too few"),
        (
            square().quadratic("hook", at(-0.3, 0.5), at(0.0, 0.0)).parts(1),
            0.6,
            "piece 'hook': a part of the curve is 0.15",
        ),
        (
            start()
                .line("a", at(1.0, 0.0))
                .line("b", at(0.2, 1.0))
                .line("c", at(0.9, 1.0))
                .line("d", at(0.0, 0.0)),
            0.1,
            "pieces 'b' and 'd': cross near",
        ),
        (
            start()
                .line("a", at(0.0, 1.0))
                .line("b", at(1.0, 1.0))
                .line("c", at(1.0, 0.0))
                .line("d", at(0.0, 0.0)),
            0.1,
            "outline: runs clockwise (area -1",
        ),
    ];
    for (outline, spacing, expected) in cases {
        let error = outline.divide(spacing).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // A path that goes back along itself encloses nothing there.
    let spike = start().line("a", at(1.0, 0.0)).line("out", at(1.5, 0.0)).line("back", at(1.0, 0.0));
    let error = spike.line("b", at(0.0, 1.0)).line("c", at(0.0, 0.0)).divide(0.1).unwrap_err();
    assert!(matches!(error, OutlineError::Crossing { .. }), "{error}");
}

fn longest(sheet: &PanelMesh, spacing: f64) -> f64 {
    sheet.quality().longest_edge / spacing
}

// Checks: the triangles fill the outline's edges exactly (shoelace formula), their boundary is that
// of the outline, as Euler's formula has it, and they are nearly equilateral: 25 degrees is the
// smallest angle promised for outlines without sharper corners.
#[test]
fn outlines_are_filled_with_good_triangles() {
    let notched = Outline::starting_at(at(0.0, 0.0))
        .line("a", at(0.3, 0.0))
        .line("b", at(0.3, 0.1))
        .quadratic("c", at(0.12, 0.1), at(0.1, 0.3))
        .line("d", at(0.0, 0.3))
        .line("e", at(0.0, 0.0));
    for (outline, spacing) in [
        (rectangle(0.2, 0.3), 0.01),
        (rectangle(0.213, 0.117), 0.0093),
        (rectangle(0.3, 0.0065), 0.01),
        (circle(0.1), 0.01),
        (circle(0.1), 0.031),
        (notched.clone(), 0.01),
        (notched, 0.02),
    ] {
        let sheet = PanelMesh::fill(&outline, spacing).unwrap();
        let boundary = outline.divide(spacing).unwrap();
        assert_eq!(sheet.points[..sheet.outer], boundary.points);
        assert!((sheet.area() - boundary.area()).abs() < 1e-12 * boundary.area());
        let vertices = sheet.points.iter().map(|x| x.push(0.0)).collect();
        let mesh = ClothMesh::new(vertices, sheet.faces.clone()).unwrap();
        let open = mesh.edges().iter().filter(|edge| edge.other.is_none());
        for edge in open.clone() {
            assert_eq!(edge.vertices[1], (edge.vertices[0] + 1) % sheet.outer, "{edge:?}");
        }
        assert_eq!(open.count(), sheet.outer);
        let angle = sheet.quality().min_angle.to_degrees();
        assert!(angle >= 25.0 && longest(&sheet, spacing) < 1.6, "{angle} {}", longest(&sheet, spacing));
    }
}

// Checks: parts so long that vertices go out between them leave a sheet that does not fill its
// outline, which is refused.
#[test]
fn parts_that_hold_no_vertices_in_are_refused() {
    let outline = Outline::starting_at(at(0.0, 0.0)).line("a", at(0.1, 0.0)).parts(6);
    let outline = outline.line("b", at(0.1, 0.1)).parts(6).line("c", at(0.0, 0.1)).parts(6);
    let error = PanelMesh::fill(&outline.line("d", at(0.0, 0.0)).parts(6), 0.01).unwrap_err();
    assert!(matches!(error, TriangulateError::NotFilled { .. }), "{error}");
    assert!(error.to_string().contains("should cover 0.01"), "{error}");
}

fn boundary_loops(mesh: &ClothMesh) -> Vec<usize> {
    let open = mesh.edges().iter().filter(|edge| edge.other.is_none()).map(|edge| edge.vertices);
    let mut next: BTreeMap<usize, usize> = open.map(|[a, b]| (a, b)).collect();
    let mut loops = Vec::new();
    while let Some((first, mut vertex)) = next.pop_first() {
        let mut length = 1;
        while vertex != first {
            vertex = next.remove(&vertex).unwrap();
            length += 1;
        }
        loops.push(length);
    }
    loops
}

fn euler(mesh: &ClothMesh) -> i64 {
    mesh.vertices().len() as i64 - mesh.edges().len() as i64 + mesh.faces().len() as i64
}

fn total_area(mesh: &ClothMesh) -> f64 {
    (0..mesh.faces().len()).map(|face| mesh.area(face)).sum()
}

// Checks: sewing is gluing. Two rectangles side by side make one (V = V1 + V2 - seam, Euler
// characteristic 1); one bent to a tube, sewn to itself, is an annulus (0, two boundary loops);
// lying on each other, sewn along three sides, a bag (1, one loop) whose panels face opposite ways.
#[test]
fn sewn_panels_are_glued() {
    let sheet = PanelMesh::fill(&rectangle(0.2, 0.1), 0.01).unwrap();
    let flat = |dx: f64| move |x: Vector2<f64>| Vector3::new(x.x + dx, x.y, 0.0);
    let panels = [Panel::new("l", &sheet, flat(0.0)), Panel::new("r", &sheet, flat(0.2))];
    let sewn = sew(&panels, &[Seam::new(("l", "right"), ("r", "left"), SeamDirection::Opposite)]).unwrap();
    assert_eq!(sewn.mesh.vertices().len(), 2 * sheet.points.len() - 11);
    assert_eq!((euler(&sewn.mesh), boundary_loops(&sewn.mesh)), (1, vec![2 * 40 + 2 * 10]));
    assert!((total_area(&sewn.mesh) - 0.04).abs() < 1e-15);
    for (panel, map) in sewn.vertices.iter().enumerate() {
        for (x, &vertex) in sheet.points.iter().zip(map) {
            let expected = flat(0.2 * panel as f64)(*x);
            assert!((sewn.mesh.vertices()[vertex] - expected).norm() < 1e-15);
        }
    }

    let around = |x: Vector2<f64>| {
        let (s, c) = (x.x / 0.2 * 2.0 * PI).sin_cos();
        Vector3::new(0.2 / (2.0 * PI) * c, 0.2 / (2.0 * PI) * s, x.y)
    };
    let tube = [Panel::new("tube", &sheet, around)];
    let seam = |direction| [Seam::new(("tube", "left"), ("tube", "right"), direction)];
    let sewn = sew(&tube, &seam(SeamDirection::Opposite)).unwrap();
    assert_eq!((euler(&sewn.mesh), boundary_loops(&sewn.mesh)), (0, vec![20, 20]));
    // The other way it is Moebius's band.
    let error = sew(&tube, &seam(SeamDirection::Same)).unwrap_err();
    assert!(matches!(error, SewError::OneSided { seam: 0, .. }), "{error}");

    let lay = |z: f64| move |x: Vector2<f64>| Vector3::new(x.x, x.y, z);
    let panels = [Panel::new("front", &sheet, lay(0.01)), Panel::new("back", &sheet, lay(-0.01))];
    let seams = ["left", "bottom", "right"]
        .map(|side| Seam::new(("front", side), ("back", side), SeamDirection::Same));
    let bag = sew(&panels, &seams).unwrap();
    assert_eq!((euler(&bag.mesh), boundary_loops(&bag.mesh)), (1, vec![40]));
    for (panel, side) in [(0, 1.0), (1, -1.0)] {
        for face in bag.faces[panel].clone() {
            let [a, b, c] = bag.mesh.corners(face);
            assert!(side * (b - a).cross(&(c - a)).z > 0.0);
        }
    }
}

// Checks: what cannot be sewn is named: panel, piece and counts.
#[test]
fn seams_that_do_not_fit_are_named() {
    let (wide, narrow) = (rectangle(0.2, 0.1), rectangle(0.2, 0.08));
    let [wide, narrow] = [wide, narrow].map(|outline| PanelMesh::fill(&outline, 0.01).unwrap());
    let flat = |x: Vector2<f64>| x.push(0.0);
    let panels = [Panel::new("wide", &wide, flat), Panel::new("narrow", &narrow, flat)];
    let tell = |seams: &[Seam]| sew(&panels, seams).unwrap_err().to_string();
    let seam = |a, b| Seam::new(a, b, SeamDirection::Opposite);
    assert_eq!(
        tell(&[seam(("wide", "right"), ("narrow", "left"))]),
        "seams[0]: piece 'right' of panel 'wide' has 10 parts, but piece 'left' of panel 'narrow' has 8"
    );
    assert!(tell(&[seam(("wide", "hem"), ("narrow", "left"))]).contains("panel 'wide' has no piece 'hem'"));
    assert!(tell(&[seam(("sleeve", "hem"), ("narrow", "left"))]).contains("no panel 'sleeve'"));
    let again = seam(("wide", "top"), ("narrow", "bottom"));
    assert!(tell(&[again.clone(), again]).contains("seams[1]: piece 'top' of panel 'wide' is sewn already"));
    let twice = [Panel::new("a", &wide, flat), Panel::new("a", &wide, flat)];
    assert!(matches!(sew(&twice, &[]), Err(SewError::PanelName { .. })));
}

// Checks: a shirt is a sphere with four holes, Euler characteristic 2 - 4, around neck, waist and
// cuffs; the size is the published scene's (4,171 vertices and 7,987 faces, so 12,158 particles);
// faces are what the grid can see.
#[test]
fn the_default_shirt_has_the_published_size() {
    let shirt = TShirt::default();
    let sewn = shirt.sew().unwrap();
    let mesh = &sewn.mesh;
    let [vertices, faces] = [mesh.vertices().len(), mesh.faces().len()];
    let near = |found: usize, published: f64| (found as f64 / published - 1.0).abs() < 0.02;
    assert!(near(vertices, 4171.0) && near(faces, 7987.0), "{vertices} {faces}");
    assert_eq!(euler(mesh), -2);
    let half = |depth| shirt.half_outline(depth).unwrap().divide(shirt.spacing).unwrap();
    let parts = |depth, name: &str| half(depth).pieces.iter().find(|p| p.name == name).unwrap().parts;
    let (front, back) = (shirt.front_neck_depth, shirt.back_neck_depth);
    let cuff = 2 * parts(front, "cuff");
    let neck = 2 * (parts(front, "neck") + parts(back, "neck"));
    let mut expected = vec![4 * parts(front, "waist"), cuff, cuff, neck];
    let mut loops = boundary_loops(mesh);
    expected.sort_unstable();
    loops.sort_unstable();
    assert_eq!(loops, expected);
    mesh.check_spacing(H).unwrap();
    let quality = Quality::of((0..faces).map(|face| mesh.corners(face)));
    assert!(quality.min_angle.to_degrees() >= 25.0, "{quality:?}");
    assert!(quality.longest_edge < LONGEST_EDGE * shirt.spacing && quality.longest_edge < 2.0 * H);
    let length = |[a, b]: [usize; 2]| (mesh.vertices()[a] - mesh.vertices()[b]).norm();
    let mean = mesh.edges().iter().map(|edge| length(edge.vertices)).sum::<f64>() / mesh.edges().len() as f64;
    assert!(mean > H && mean < 1.4 * H, "{}", mean / H);
    // The same shirt again is the same to the last bit.
    assert_eq!(shirt.sew().unwrap(), sewn);
}

// Checks: seen from above, each layer covers its outline. Between a curve and a straight edge of
// length l lies the integral of k s (l - s)/2 ds, with k the curvature at length s, so at most
// l^2/8 times the angle by which the curve turns: at the neck pi/2 on either side, at the underarm
// pi/2 and the slope of the sleeve.
#[test]
fn the_shirts_layers_have_the_area_of_their_outlines() {
    let shirt = TShirt::default();
    let sewn = shirt.sew().unwrap();
    for (panel, depth) in [shirt.front_neck_depth, shirt.back_neck_depth].into_iter().enumerate() {
        let exact = 2.0 * shirt.half_outline(depth).unwrap().area();
        let faces = sewn.faces[2 * panel].start..sewn.faces[2 * panel + 1].end;
        let projected = |face: usize| {
            let [a, b, c] = sewn.mesh.corners(face);
            0.5 * (b - a).cross(&(c - a)).z
        };
        let area = faces.map(projected).sum::<f64>().abs();
        let half = shirt.half_outline(depth).unwrap().divide(shirt.spacing).unwrap();
        let edges = (0..half.points.len()).map(|k| half.edge(k)).map(|[a, b]| (b - a).norm());
        let run = 0.5 * (shirt.chest_width - shirt.neck_width) + shirt.sleeve_length;
        let turn = 2.0 * (FRAC_PI_2 + FRAC_PI_2 + (shirt.sleeve_drop / run).atan());
        let limit = edges.fold(0.0, f64::max).powi(2) / 8.0 * turn;
        assert!((area - exact).abs() < limit, "{panel}: {area} {exact} {limit}");
    }
    let cuff = shirt.half_outline(shirt.front_neck_depth).unwrap().length("cuff").unwrap();
    assert!((cuff - shirt.sleeve_opening).abs() < 1e-15, "{cuff}");
    // Half a layer by hand: the body, the sleeve and the two curves (underarm: a triangle less a
    // parabola's third).
    let flat = TShirt { sleeve_drop: 0.0, ..shirt };
    let body = 0.5 * flat.chest_width * flat.length;
    let sleeve = flat.sleeve_length * flat.sleeve_opening;
    let underarm = flat.sleeve_length * 0.5 * flat.sleeve_length / 2.0 / 3.0;
    let neck = |depth: f64| {
        let k = 4.0 / 3.0 * (2f64.sqrt() - 1.0);
        // A quarter of the cubic circle of radius 1: 1/2 + k (2 - k/2) 3/10, by Green's theorem.
        0.5 * flat.neck_width * depth * (0.5 + 0.6 * k - 0.15 * k * k)
    };
    let exact = body + sleeve + underarm - neck(0.05);
    let found = flat.half_outline(0.05).unwrap().area();
    assert!((found - exact).abs() < 1e-15, "{found} {exact}");
    // The cloth of both layers, seams tilted: about 0.35 m^2.
    let total = total_area(&sewn.mesh);
    assert!((total - 0.35).abs() < 0.01, "{total}");
}

// Checks: the left half is the mirror image of the right, vertex by vertex and bit by bit; seams
// are between the layers, at z = 0, all else on its layer; normals are outwards.
#[test]
fn the_shirt_is_symmetric_and_lies_in_its_layers() {
    let shirt = TShirt::default();
    let sewn = shirt.sew().unwrap();
    let x = |panel: usize, vertex: usize| sewn.mesh.vertices()[sewn.vertices[panel][vertex]];
    for (right, left, side) in [(0, 1, 1.0), (2, 3, -1.0)] {
        assert_eq!(sewn.vertices[right].len(), sewn.vertices[left].len());
        for vertex in 0..sewn.vertices[right].len() {
            let mirrored = x(left, vertex).component_mul(&Vector3::new(-1.0, 1.0, 1.0));
            assert_eq!(x(right, vertex), mirrored, "{} {vertex}", PANELS[right]);
            let z = x(right, vertex).z;
            assert!(z == 0.0 || z == side * 0.5 * shirt.gap, "{z}");
        }
        for face in sewn.faces[right].start..sewn.faces[left].end {
            let [a, b, c] = sewn.mesh.corners(face);
            assert!(side * (b - a).cross(&(c - a)).z > 0.0, "{face}");
        }
    }
    // Twice (fold excepted) the seam's vertices are at z = 0: sides, underarms and shoulders.
    let half = shirt.half_outline(shirt.front_neck_depth).unwrap().divide(shirt.spacing).unwrap();
    let parts = |name: &str| half.pieces.iter().find(|piece| piece.name == name).unwrap().parts;
    let seam = 2 * (parts("side") + parts("underarm") + 1 + parts("shoulder") + 1);
    assert_eq!(sewn.mesh.vertices().iter().filter(|x| x.z == 0.0).count(), seam);
    let top = sewn.mesh.vertices().iter().fold(f64::NEG_INFINITY, |top, x| top.max(x.y));
    assert!((top - 0.5 * shirt.length).abs() < 1e-15);
}

// Checks: what is promised of the triangles holds for shirts of other measures, too: here 12, with
// a fixed generator (xorshift).
#[test]
fn other_shirts_have_good_triangles() {
    let mut state = 1u64;
    let mut random = |low: f64, high: f64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        low + (high - low) * ((state >> 11) as f64 / (1u64 << 53) as f64)
    };
    for _ in 0..12 {
        let shirt = TShirt {
            chest_width: random(0.3, 0.6),
            length: random(0.4, 0.75),
            sleeve_length: random(0.1, 0.3),
            sleeve_opening: random(0.1, 0.16),
            sleeve_drop: random(0.0, 0.12),
            neck_width: random(0.12, 0.2),
            front_neck_depth: random(0.06, 0.12),
            back_neck_depth: random(0.02, 0.05),
            ..TShirt::for_grid(random(0.008, 0.012))
        };
        let mesh = shirt.sew().unwrap_or_else(|error| panic!("{shirt:?}: {error}")).mesh;
        let quality = Quality::of((0..mesh.faces().len()).map(|face| mesh.corners(face)));
        assert!(quality.min_angle.to_degrees() >= 25.0, "{shirt:?}: {quality:?}");
        mesh.check_spacing(shirt.gap).unwrap_or_else(|error| panic!("{shirt:?}: {error}"));
        assert_eq!((euler(&mesh), boundary_loops(&mesh).len()), (-2, 4));
    }
}

// Checks: measures that make no shirt are named with their value.
#[test]
fn impossible_shirts_are_named() {
    let shirt = TShirt::default();
    for (shirt, expected) in [
        (TShirt { length: -1.0, ..shirt }, "length: -1 m must be positive"),
        (TShirt { gap: f64::NAN, ..shirt }, "gap: NaN m must be positive"),
        (TShirt { neck_width: 0.4, ..shirt }, "neck_width: 0.4 m must be below chest_width"),
        (TShirt { back_neck_depth: 0.08, ..shirt }, "back_neck_depth: 0.08 m must be below front_neck_depth"),
        (TShirt { length: 0.12, ..shirt }, "length: 0.12 m must be more"),
        (TShirt { sleeve_opening: 0.5, ..shirt }, "sleeve_opening: 0.5 m must be less"),
    ] {
        let error = shirt.sew().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{expected}: {error}");
    }
    let error = TShirt { spacing: 0.06, ..shirt }.sew().unwrap_err().to_string();
    assert!(error.starts_with("panel 'front': piece '"), "{error}");
}

fn mesh_of(outline: &Outline, spacing: f64) -> (Vec<Vector3<f64>>, Vec<[usize; 3]>) {
    let sheet = PanelMesh::fill(outline, spacing).unwrap();
    (sheet.points.iter().map(|x| x.push(0.0)).collect(), sheet.faces)
}

// Checks: a rectangle covers its area, whatever lies on it and however it is folded, turned in its
// plane; leaning by an angle a, cos a of it. Half a cell along each side is the error allowed.
#[test]
fn covered_areas_of_rectangles_are_exact() {
    let (positions, faces) = mesh_of(&rectangle(0.3, 0.2), 0.02);
    let cell = 1e-4;
    let limit = 1.0 * cell / 2.0;
    let covers = |positions: &[Vector3<f64>], expected: f64| {
        let area = covered_area(positions, &faces, cell).unwrap();
        assert!((area - expected).abs() < limit, "{area} {expected}");
    };
    covers(&positions, 0.06);
    // Folded in the middle: two layers on half of the floor.
    let flat =
        ClothMesh::rectangle(Vector3::zeros(), Vector3::x() * 0.3, Vector3::y() * 0.2, [30, 20]).unwrap();
    let folded: Vec<_> = flat.vertices().iter().map(|x| Vector3::new((x.x - 0.15).abs(), x.y, x.x)).collect();
    let area = covered_area(&folded, flat.faces(), cell).unwrap();
    assert!((area - 0.03).abs() < limit, "{area}");
    for angle in [0.3, 1.0, 2.0] {
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), angle);
        covers(&positions.iter().map(|x| turn * x).collect::<Vec<_>>(), 0.06);
        let lean = Rotation3::from_axis_angle(&Vector3::y_axis(), angle);
        covers(&positions.iter().map(|x| lean * x).collect::<Vec<_>>(), 0.06 * angle.cos().abs());
    }
}

// Checks: two circles of radius r whose centres are d apart have 2 r^2 acos(d / 2r) - d/2
// sqrt(4 r^2 - d^2) in common. Straight edges lose spacing^2 / 12 times the angle 2 pi of each, and
// the cubic circle is too large by 2.7e-4 of r at most.
#[test]
fn the_covered_area_of_two_discs_is_that_of_their_union() {
    let (r, d, spacing) = (0.1, 0.08, 0.004);
    let (mut positions, mut faces) = mesh_of(&circle(r), spacing);
    let count = positions.len();
    positions.extend(positions.clone().iter().map(|x| x + Vector3::new(d, 0.0, 0.02)));
    faces.extend(faces.clone().iter().map(|face| face.map(|vertex| vertex + count)));
    let lens = 2.0 * r * r * (d / (2.0 * r)).acos() - 0.5 * d * (4.0 * r * r - d * d).sqrt();
    let exact = 2.0 * PI * r * r - lens;
    let area = covered_area(&positions, &faces, 1e-4).unwrap();
    let limit = 2.0 * (spacing * spacing / 12.0 * 2.0 * PI + 2.7e-4 * 2.0 * PI * r * r);
    assert!((area - exact).abs() < limit, "{area} {exact} {limit}");
}

// Checks: a shirt that lies flat covers what its back does, which has the higher neck.
#[test]
fn a_flat_shirt_covers_its_back() {
    let shirt = TShirt::default();
    let mesh = shirt.sew().unwrap().mesh;
    let back = shirt.half_outline(shirt.back_neck_depth).unwrap().divide(shirt.spacing).unwrap();
    let area = covered_area(mesh.vertices(), mesh.faces(), 2e-4).unwrap();
    // Half a cell along the waist and at the other pieces that go across the strips.
    assert!((area - 2.0 * back.area()).abs() < 1e-4, "{area} {}", 2.0 * back.area());
}

#[test]
fn areas_that_cannot_be_measured_are_refused() {
    let (mut positions, faces) = mesh_of(&rectangle(0.3, 0.2), 0.05);
    assert_eq!(covered_area(&positions, &[], 1e-3), Ok(0.0));
    assert_eq!(covered_area(&positions, &faces, 0.0), Err(CoveredError::Cell(0.0)));
    assert!(matches!(covered_area(&positions, &faces, 1e-12), Err(CoveredError::TooFine { .. })));
    assert!(matches!(covered_area(&positions[..3], &faces, 1e-3), Err(CoveredError::NoSuchVertex { .. })));
    positions[faces[4][1]].y = f64::NAN;
    assert!(matches!(covered_area(&positions, &faces, 1e-3), Err(CoveredError::NotFinite { .. })));
}

// Checks: a cloth read from an OBJ is the one written, metres per file unit applied; a file that
// holds no sheet is named.
#[test]
fn cloth_is_read_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cloth.obj");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write("v 0 0 0\nv 1000 0 0\nv 1000 500 0\nv 0 500 0\nf 1 2 3 4\n");
    let cloth = load_cloth(&path, 1e-3).unwrap();
    assert_eq!((cloth.vertices().len(), cloth.faces().len()), (4, 2));
    assert!((total_area(&cloth) - 0.5).abs() < 1e-7);
    // The second triangle is turned over.
    write("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 4 3\n");
    let error = load_cloth(&path, 1.0).unwrap_err();
    assert!(error.to_string().contains("cloth.obj") && error.to_string().contains("flip one"), "{error}");
    assert!(matches!(error, ClothFileError::Cloth { source: MeshError::Orientation { .. }, .. }));
    let error = load_cloth(folder.path().join("none.obj"), 1.0).unwrap_err().to_string();
    assert!(error.contains("none.obj"), "{error}");
}
