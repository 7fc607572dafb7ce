//! Laws of the sheet's model, and the checks of its mesh.

use super::mesh::{LONGEST_EDGE, SMALLEST_ALTITUDE};
use super::model::{Qr, THINNEST};
use super::*;
use crate::material::Elastic;
use nalgebra::Vector3;
use pliant_numeric::linalg::Vec3;
use pliant_testing::random::Random;

const ELASTIC: Elastic = Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 };

/// With and without shear stiffness.
fn materials() -> [ClothMaterial; 2] {
    let plain = ClothMaterial::new(1e3, ELASTIC, 0.01, 2e5);
    [plain, ClothMaterial { shear_stiffness: 3e4, friction: 0.4, ..plain }]
}

/// -f' of the normal response of both \[Pa\].
fn pressure(r33: f64) -> f64 {
    let r33 = r33.max(THINNEST);
    let linear = (1.0 - (2.0 * r33).ln()) / (8.0 * r33);
    2e5 * if r33 < 0.5 { linear } else { (1.0 - r33).powi(2) }
}

/// Columns of a deformation gradient: random rotation after an upper triangle with a moderate
/// stretch.
fn random_columns(random: &mut Random) -> [Vec3<f64>; 3] {
    let q = random.rotation_matrix();
    let mut upper = random.mat3(-0.4, 0.4);
    for i in 0..3 {
        upper.0[i][i] = random.uniform(0.6, 1.4);
        for j in 0..i {
            upper.0[i][j] = 0.0;
        }
    }
    let f = q * upper;
    [f.column(0), f.column(1), f.column(2)]
}

/// Gram-Schmidt as documented: F = Q R with Q a rotation and r11, r22 >= 0, to a few epsilon.
#[test]
fn qr_factors() {
    let mut random = Random(71);
    for _ in 0..200 {
        let f = random_columns(&mut random);
        let qr = Qr::new(&f);
        let product = qr.product();
        for i in 0..3 {
            assert!((product[i] - f[i]).norm_squared().sqrt() < 1e-14);
            for j in 0..3 {
                let identity = f64::from(u8::from(i == j));
                assert!((qr.q[i].dot(qr.q[j]) - identity).abs() < 4e-15);
            }
        }
        assert!((qr.q[0].cross(qr.q[1]).dot(qr.q[2]) - 1.0).abs() < 4e-15);
        assert!(qr.plane[0] > 0.0 && qr.plane[2] > 0.0);
    }
}

/// P = d psi / d F for all nine entries, by central differences with step 1e-6: 1e-6 of E. With
/// shear stiffness and without, also for sheared and opened states outside the yield surface,
/// pressed to less than half, and for r33 < 0.
#[test]
fn stress_is_the_derivative_of_the_energy() {
    let mut random = Random(72);
    let mut worst = 0.0_f64;
    for material in materials() {
        let model = ClothModel::<f64>::new(&material);
        for k in 0..200 {
            let mut f = random_columns(&mut random);
            if k % 10 == 0 {
                f[2] = f[2] * (-0.5);
            } else if k % 10 == 5 {
                f[2] = f[2] * 0.3;
            }
            let stress = model.first_piola(&Qr::new(&f));
            for column in 0..3 {
                for row in 0..3 {
                    let at = |step: f64| {
                        let mut moved = f;
                        moved[column].0[row] += step;
                        model.energy_density(&Qr::new(&moved))
                    };
                    let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                    let error = (difference - stress[column].0[row]).abs() / ELASTIC.youngs_modulus;
                    worst = worst.max(error);
                    assert!(error < 1e-6, "{material:?} {f:?} {column} {row} {error}");
                }
            }
        }
    }
    println!("worst {worst:e} E");
}

/// Frame indifference: a rotation turns the stress, P(Q F) = Q P(F), and leaves the energy.
/// Isotropy in the plane: turning the material frame about the normal, F -> F T, leaves the energy
/// and gives P T. To rounding.
#[test]
fn frame_indifference_and_isotropy_in_the_plane() {
    let mut random = Random(73);
    for material in materials() {
        let model = ClothModel::<f64>::new(&material);
        for _ in 0..200 {
            let f = random_columns(&mut random);
            let rotation = random.rotation_matrix();
            let angle = random.uniform(0.0, 6.0);
            let (c, s) = (angle.cos(), angle.sin());
            let turn =
                |f: &[Vec3<f64>; 3]| [f[0].scale_add(c, f[1] * s), f[1].scale_add(c, f[0] * (-s)), f[2]];
            let moved = turn(&f).map(|column| rotation.mul_vec(column));
            let expected = turn(&model.first_piola(&Qr::new(&f))).map(|column| rotation.mul_vec(column));
            let stress = model.first_piola(&Qr::new(&moved));
            for i in 0..3 {
                let error = (stress[i] - expected[i]).norm_squared().sqrt();
                assert!(error < 1e-11 * ELASTIC.youngs_modulus, "{error}");
            }
            let energy = model.energy_density(&Qr::new(&moved)) - model.energy_density(&Qr::new(&f));
            assert!(energy.abs() < 1e-12 * ELASTIC.youngs_modulus, "{energy}");
        }
    }
}

/// Small strain in the plane is Hooke's law of plane stress: uniaxial stress E eps with contraction
/// nu eps (Timoshenko and Goodier).
#[test]
fn small_strain_is_plane_stress() {
    let model = ClothModel::<f64>::new(&materials()[0]);
    let strain = 1e-6;
    let f = [
        Vec3([1.0 + strain, 0.0, 0.0]),
        Vec3([0.0, 1.0 - ELASTIC.poissons_ratio * strain, 0.0]),
        Vec3([0.0, 0.0, 1.0]),
    ];
    let [p1, p2, p3] = model.first_piola(&Qr::new(&f));
    assert!((p1.0[0] / (ELASTIC.youngs_modulus * strain) - 1.0).abs() < 1e-5, "{p1:?}");
    assert!(p2.0[1].abs() < 1e-5 * p1.0[0] && p3.norm_squared() < 1e-40, "{p2:?} {p3:?}");
}

/// The normal response is f' = -K (1 - r33)^2 (Jiang, Gast and Teran 2017) down to r33 = 1/2 and -K/8 (1 - ln
/// (2 r33)) / r33 below, along the normal, also for a sheet that is tilted; what presses back, r33 f', grows as
/// the sheet is pressed thinner.
#[test]
fn normal_response() {
    let model = ClothModel::<f64>::new(&materials()[0]);
    let mut random = Random(74);
    let mut before = -1.0;
    for r33 in [1.0, 0.9, 0.7, 0.51, 0.49, 0.3, 0.1, 0.06] {
        let q = random.rotation_matrix();
        let f = [q.column(0), q.column(1), q.column(2) * r33];
        let p3 = model.first_piola(&Qr::new(&f))[2];
        assert!((p3 + q.column(2) * pressure(r33)).norm_squared().sqrt() < 1e-9, "{r33} {p3:?}");
        // By the cubic it falls from r33 = 1/3 on.
        let back = p3.norm_squared().sqrt() * r33;
        assert!(back > before, "{r33}: {back}");
        before = back;
    }
}

/// Columns whose faces may be collapsed and turned over, with compressed and sheared directors.
fn crumpled_columns(random: &mut Random) -> [Vec3<f64>; 3] {
    let [a, b, c] = random_columns(random);
    let flat = 10f64.powf(random.uniform(-6.0, 0.0));
    [a, a.scale_add(random.uniform(-2.0, 2.0), b * flat), c + Vec3(random.vector().into())]
}

/// Return mapping lands on its set, r33 in \[0, 1\], gamma |r| <= c_F |f'|, |y| <= 1 and |f' y| <= K, y =
/// R2^-1 r; on the border of the cone or of the last where it slid; r keeps its direction; the plane stays;
/// inside nothing changes; twice is once; the energy never grows. Without shear stiffness r is zero.
#[test]
fn return_mapping_lands_on_its_set() {
    let mut random = Random(75);
    let (mut slid, mut shortened, mut inside, mut opened, mut turned) = (0, 0, 0, 0, 0);
    for material in materials() {
        let model = ClothModel::<f64>::new(&material);
        for number in 0..1200 {
            let draw = [random_columns, crumpled_columns][number % 2];
            let trial = Qr::new(&draw(&mut random));
            let mapped = model.return_mapping(&trial);
            let size = |r: [f64; 2]| r[0].hypot(r[1]);
            assert_eq!((mapped.plane, mapped.normal), (trial.plane, trial.normal.abs().min(1.0)));
            let (before, after) = (model.energy_density(&trial), model.energy_density(&mapped));
            assert!(after <= before * (1.0 + 1e-12), "{before} {after} {trial:?}");
            turned += usize::from(trial.normal < 0.0);
            let pressure = pressure(mapped.normal);
            let (limit, longest) = (0.4 * pressure, (2e5 / pressure).min(1.0));
            let [r11, r12, r22] = trial.plane;
            let carried_back = |r: [f64; 2]| size([(r[0] - r12 * r[1] / r22) / r11, r[1] / r22]) / longest;
            if material.shear_stiffness == 0.0 || trial.normal.abs() > 1.0 {
                assert_eq!(mapped.shear, [0.0; 2]);
                opened += 1;
            } else if 3e4 * size(trial.shear) <= limit && carried_back(trial.shear) <= 1.0 {
                assert_eq!(mapped.shear, trial.shear);
                inside += 1;
            } else {
                let [of_cone, of_collapse] = [3e4 * size(mapped.shear) / limit, carried_back(mapped.shear)];
                let most = of_cone.max(of_collapse);
                assert!((most - 1.0).abs() < 1e-9, "{most}");
                let cross = mapped.shear[0] * trial.shear[1] - mapped.shear[1] * trial.shear[0];
                assert!(cross.abs() < 1e-14);
                *if of_cone > of_collapse { &mut slid } else { &mut shortened } += 1;
            }
            let again = model.return_mapping(&mapped);
            assert!((again.shear[0] - mapped.shear[0]).abs() < 1e-14 && again.normal == mapped.normal);
        }
    }
    println!("{slid} {shortened} {inside} {opened} {turned}");
    assert!(slid > 50 && shortened > 50 && inside > 20 && opened > 700 && turned > 50);
}

/// However a face collapses, what acts across it stays within (K + gamma) of its stress: |p1| and |p2|
/// beyond the plane's part, and r33 |p3|.
#[test]
fn stress_of_collapsed_faces_is_bounded() {
    let mut random = Random(78);
    for material in materials() {
        let model = ClothModel::<f64>::new(&material);
        for _ in 0..1000 {
            let mapped = model.return_mapping(&Qr::new(&crumpled_columns(&mut random)));
            let [p1, p2, p3] = model.first_piola(&mapped);
            let across = mapped.q[2];
            let most = [across.dot(p1).abs(), across.dot(p2).abs(), mapped.normal * p3.norm_squared().sqrt()];
            let bound = material.normal_stiffness + material.shear_stiffness;
            assert!(most.iter().all(|p| *p <= bound * (1.0 + 1e-12)), "{most:?} {mapped:?}");
        }
    }
}

/// A face that is a line, a point, flat or inverted gives finite numbers, in f64 and f32.
#[test]
fn collapsed_faces_stay_finite() {
    let (o, x, y, z) = ([0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    for f in [[o, o, o], [x, x, z], [x, o, z], [o, y, z], [x, y, o], [x, y, [0.0, 0.0, -1.0]], [x, y, x]] {
        for material in materials() {
            let wide = Qr::new(&f.map(Vec3));
            let narrow = Qr::new(&f.map(|c| Vec3(c.map(|v| v as f32))));
            let model = ClothModel::<f64>::new(&material);
            let slim = ClothModel::<f32>::new(&material);
            let stress = model.first_piola(&model.return_mapping(&wide));
            assert!(stress.iter().all(|c| c.norm_squared().is_finite()), "{f:?} {stress:?}");
            let stress = slim.first_piola(&slim.return_mapping(&narrow));
            assert!(stress.iter().all(|c| c.norm_squared().is_finite()), "{f:?} {stress:?}");
            assert!(model.energy_density(&wide).is_finite());
        }
    }
}

/// f32 is f64 to a few hundred epsilons of E times the stretch.
#[test]
fn f32_agrees_with_f64() {
    let mut random = Random(76);
    for material in materials() {
        for _ in 0..300 {
            let f = random_columns(&mut random).map(|c| c.0.map(|x| x as f32));
            let stress = ClothModel::<f32>::new(&material).first_piola(&Qr::new(&f.map(Vec3)));
            let f = f.map(|c| Vec3(c.map(f64::from)));
            let expected = ClothModel::<f64>::new(&material).first_piola(&Qr::new(&f));
            for i in 0..3 {
                for j in 0..3 {
                    let error = (f64::from(stress[i].0[j]) - expected[i].0[j]).abs();
                    assert!(error < 1e-5 * ELASTIC.youngs_modulus, "{f:?} {error}");
                }
            }
        }
    }
}

/// A material's parameters are refused by name.
#[test]
fn material_errors() {
    let good = materials()[1];
    let cases = [
        (ClothMaterial { density: 0.0, ..good }, "density"),
        (ClothMaterial { elastic: Elastic { poissons_ratio: 0.5, ..ELASTIC }, ..good }, "poissons_ratio"),
        (ClothMaterial { thickness: f64::NAN, ..good }, "thickness"),
        (ClothMaterial { normal_stiffness: -1.0, ..good }, "normal_stiffness"),
        (ClothMaterial { shear_stiffness: f64::INFINITY, ..good }, "shear_stiffness"),
        (ClothMaterial { friction: -0.1, ..good }, "friction"),
        (ClothMaterial { bending_stiffness: f64::NAN, ..good }, "bending_stiffness"),
        (ClothMaterial { damping: 1.1, ..good }, "damping"),
    ];
    for (material, field) in cases {
        assert_eq!(material.validate().unwrap_err().field, field);
    }
    assert_eq!(good.validate(), Ok(()));
}

fn points() -> Vec<Vector3<f64>> {
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        .map(Vector3::from)
        .to_vec()
}

/// A mesh that is not an orientable surface is refused, with the vertex or face named.
#[test]
fn mesh_errors() {
    let of = |count: usize, faces: &[[usize; 3]]| ClothMesh::new(points()[..count].to_vec(), faces.to_vec());
    assert!(of(4, &[[0, 1, 2], [1, 3, 2]]).is_ok());
    assert_eq!(of(3, &[]), Err(MeshError::NoFaces));
    let missing = MeshError::NoSuchVertex { face: 1, vertex: 4, count: 4 };
    assert_eq!(of(4, &[[0, 1, 2], [1, 4, 2]]), Err(missing));
    assert_eq!(of(4, &[[0, 1, 2], [1, 2, 2]]), Err(MeshError::RepeatedVertex { face: 1, vertex: 2 }));
    assert_eq!(of(4, &[[0, 1, 2]]), Err(MeshError::Unused { vertex: 3 }));
    let fan = of(5, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
    assert_eq!(fan, Err(MeshError::NonManifoldEdge { face: 2, edge: [0, 1] }));
    let turned = of(4, &[[0, 1, 2], [1, 2, 3]]);
    assert_eq!(turned, Err(MeshError::Orientation { faces: [0, 1], edge: [1, 2] }));
    let mut line = points();
    line[3] = Vector3::new(2.0, 0.0, 0.0);
    let degenerate = ClothMesh::new(line[..4].to_vec(), vec![[0, 1, 2], [0, 3, 1]]);
    assert_eq!(degenerate, Err(MeshError::Degenerate { face: 1, area: 0.0, longest_edge: 2.0 }));
    let mut lost = points();
    lost[2].y = f64::NAN;
    let lost = ClothMesh::new(lost[..3].to_vec(), vec![[0, 1, 2]]);
    assert!(matches!(lost, Err(MeshError::NotFinite { vertex: 2, .. })));
    let text = of(4, &[[0, 1, 2], [1, 4, 2]]).unwrap_err().to_string();
    assert_eq!(text, "faces[1]: vertex 4 is not one of the 4 vertices");
}

/// Faces are checked against the grid.
#[test]
fn spacing_errors() {
    let mesh = ClothMesh::new(points()[..3].to_vec(), vec![[0, 1, 2]]).unwrap();
    let root = 2.0_f64.sqrt();
    let largest = root / LONGEST_EDGE;
    assert!(mesh.check_spacing(largest).is_ok());
    assert!(matches!(mesh.check_spacing(0.99 * largest), Err(MeshError::TooLarge { face: 0, .. })));
    let coarsest = root / 2.0 / SMALLEST_ALTITUDE;
    assert!(mesh.check_spacing(coarsest).is_ok());
    assert!(matches!(mesh.check_spacing(1.01 * coarsest), Err(MeshError::TooSmall { face: 0, .. })));
}

/// The reason for [`LONGEST_EDGE`]: every point of a triangle is within a third of its longest edge
/// of a vertex or its centroid, and in some it is no nearer; and the coupling of two particles
/// through the grid (quintic B-spline).
#[test]
fn faces_are_covered_within_a_third_of_their_longest_edge() {
    let mut random = Random(77);
    let mut farthest = 0.0_f64;
    for k in 0..600 {
        let mut corners = [0, 1, 2].map(|_| Vector3::from(random.vec3(-1.0, 1.0).0));
        if k % 2 == 0 {
            // Needles.
            corners[2] = corners[0] + 0.01 * corners[2];
        }
        let [a, b, c] = corners;
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let particles = [a, b, c, (a + b + c) / 3.0];
        for i in 0..=30 {
            for j in 0..=30 - i {
                let (s, t) = (f64::from(i) / 30.0, f64::from(j) / 30.0);
                let x = a + (b - a) * s + (c - a) * t;
                let nearest = particles.iter().map(|p| (x - p).norm()).fold(f64::INFINITY, f64::min);
                farthest = farthest.max(nearest / longest);
                assert!(nearest <= longest / 3.0 * (1.0 + 1e-12), "{corners:?}");
            }
        }
    }
    assert!(farthest > 0.32, "{farthest}");

    let shared = |distance: f64| -> f64 {
        let weight = |node: i32, x: f64| {
            let (base, fx) = crate::bspline::base_node(x);
            let weights = crate::bspline::quadratic_weights(fx);
            usize::try_from(node - base).ok().and_then(|k| weights.get(k).copied()).unwrap_or(0.0)
        };
        // Mean over where the first of the two is within a cell.
        let at = |x: f64| (-3..6).map(|node| weight(node, x) * weight(node, x + distance)).sum::<f64>();
        (0..100).map(|k| at(f64::from(k) / 100.0) / 100.0).sum()
    };
    for (distance, left) in [(2.0 / 3.0, 0.666), (1.0, 0.394), (2.0, 0.015)] {
        assert!((shared(distance) / shared(0.0) - left).abs() < 1e-3, "{distance}");
    }
}

/// Ready-made meshes: area, normal, Euler's V - E + F = 1 of a disc, and every edge and face knows
/// its neighbours.
#[test]
fn ready_made_meshes_and_adjacency() {
    let (x, y) = (Vector3::x(), Vector3::y());
    let rectangle = ClothMesh::rectangle(Vector3::zeros(), 0.4 * x, 0.3 * y, [4, 3]).unwrap();
    let disc = ClothMesh::disc(x, Vector3::new(0.0, 0.0, 2.0), 0.5, 4).unwrap();
    assert_eq!((rectangle.vertices().len(), rectangle.faces().len()), (20, 24));
    assert_eq!((disc.vertices().len(), disc.faces().len()), (61, 96));
    // A regular polygon of 24 sides.
    let polygon = 0.5 * 24.0 * 0.25 * (core::f64::consts::TAU / 24.0).sin();
    for (mesh, area) in [(&rectangle, 0.12), (&disc, polygon)] {
        let (v, e, f) = (mesh.vertices().len(), mesh.edges().len(), mesh.faces().len());
        assert_eq!(v + f, e + 1);
        let sum: f64 = (0..f).map(|k| mesh.area(k)).sum();
        assert!((sum / area - 1.0).abs() < 1e-12, "{sum} {area}");
        for k in 0..f {
            let [a, b, c] = mesh.corners(k);
            assert!((b - a).cross(&(c - a)).z > 0.0);
            assert!(mesh.faces()[k].iter().all(|&vertex| mesh.faces_of(vertex).contains(&k)));
        }
        let counted: usize = (0..v).map(|k| mesh.faces_of(k).len()).sum();
        assert_eq!(counted, 3 * f);
        let sides: usize = mesh.edges().iter().map(|edge| 1 + usize::from(edge.other.is_some())).sum();
        assert_eq!(sides, 3 * f);
        for edge in mesh.edges() {
            let corners = mesh.faces()[edge.face];
            assert!(corners.contains(&edge.vertices[0]) && corners.contains(&edge.opposite));
            if let Some((face, tip)) = edge.other {
                let corners = mesh.faces()[face];
                assert!(
                    corners.contains(&edge.vertices[1]) && corners.contains(&tip) && tip != edge.opposite
                );
            }
        }
    }
    for mesh in [
        ClothMesh::rectangle(Vector3::zeros(), x, y, [0, 3]),
        ClothMesh::rectangle(Vector3::zeros(), x, x, [3, 3]),
        ClothMesh::disc(x, y, -1.0, 3),
        ClothMesh::disc(x, 0.0 * y, 1.0, 3),
        ClothMesh::disc(x, y, 1.0, 0),
    ] {
        assert!(mesh.is_err());
    }
}
