//! The singular value and polar decompositions of hard and random matrices.

#![allow(clippy::unwrap_used)]

use pliant_numeric::linalg::{Mat3, Sym3, Vec3};
use pliant_numeric::scalar::Real;
use pliant_numeric::svd::*;
use pliant_testing::random::{Random, to_f32, to_f64};

/// Matrices whose decomposition is hard: singular, reflected, equal or tiny singular values,
/// extreme scales; then random.
fn matrices() -> Vec<Mat3<f64>> {
    let mut random = Random(7);
    let spectra = [
        [1.0, 1.0, 1.0],
        [1.0, 1.0, -1.0],
        [1.0, 1.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1e-4, 1e-4],
        [1.0, 1e-4, -1e-4],
        [1.0, 1e-6, 1e-7],
        [1.0, 1e-10, 1e-11],
        [1.0, 1e-15, -1e-16],
        [2.0, 2.0, 1e-9],
        [1.001, 1.0, 0.999],
        [1.0 + 1e-7, 1.0, 1.0 - 1e-7],
        [3.0, 1.0, -0.2],
    ];
    let mut all = vec![Mat3::identity(), Mat3::zero(), Mat3([[0.0, 1.0, 0.0]; 3]), Mat3([[1.0; 3]; 3])];
    all.push(Mat3::diagonal(Vec3([-1.0, -1.0, -1.0])));
    all.push(Mat3([[1.0, 2.0, 3.0], [0.0, 1.0, 4.0], [0.0, 0.0, 1.0]]));
    for s in spectra {
        all.push(Mat3::diagonal(Vec3(s)));
        for scale in [1.0, 1e-12, 1e12] {
            all.push(random.with_singular_values(Vec3(s)).scale(scale));
        }
    }
    for _ in 0..3000 {
        all.push(random.mat3(-1.0, 1.0));
        all.push(Mat3::identity() + random.mat3(-0.05, 0.05));
    }
    all
}

/// Largest entry of m^T m - I.
fn orthogonality(m: &Mat3<f64>) -> f64 {
    (m.transpose() * *m - Mat3::identity()).max_abs()
}

/// Largest errors of (reconstruction / |F|, orthogonality) over all matrices, after checking order
/// and determinants.
fn svd_errors(decompose: impl Fn(&Mat3<f64>) -> (Mat3<f64>, Mat3<f64>, Vec3<f64>, Mat3<f64>)) -> (f64, f64) {
    let (mut reconstruction, mut orthogonal) = (0.0_f64, 0.0_f64);
    for f in matrices() {
        let (f, u, sigma, v) = decompose(&f);
        let scale = f.max_abs().max(1e-100);
        let error = (u.scale_columns(sigma).mul_transpose(&v) - f).max_abs() / scale;
        assert!(error.is_finite(), "{f:?}");
        reconstruction = reconstruction.max(error);
        orthogonal = orthogonal.max(orthogonality(&u)).max(orthogonality(&v));
        assert!(u.determinant() > 0.0 && v.determinant() > 0.0, "{f:?}");
        let [a, b, c] = sigma.0;
        let slack = 1.0 + 1e-6;
        assert!(a * slack >= b && b >= 0.0 && b * slack + 1e-5 * scale >= c.abs(), "{f:?} {sigma:?}");
    }
    (reconstruction, orthogonal)
}

/// Backward stability: U diag(sigma) V^T = F to a few units of rounding. Measured, over f32 and
/// f64: at most 8.6 eps and 7.0 eps.
#[test]
fn svd_f64() {
    let (reconstruction, orthogonal) = svd_errors(|f| {
        let d = svd(f);
        (*f, d.u, d.sigma, d.v)
    });
    println!("{} eps, {} eps", reconstruction / f64::EPSILON, orthogonal / f64::EPSILON);
    assert!(reconstruction < 12.0 * f64::EPSILON, "{reconstruction}");
    assert!(orthogonal < 16.0 * f64::EPSILON, "{orthogonal}");
}

#[test]
fn svd_f32() {
    let (reconstruction, orthogonal) = svd_errors(|f| {
        let f = to_f32(f);
        let d = svd(&f);
        (to_f64(&f), to_f64(&d.u), Vec3(d.sigma.0.map(f64::from)), to_f64(&d.v))
    });
    let epsilon = <f32 as Real>::epsilon();
    println!("{} eps, {} eps", reconstruction / epsilon, orthogonal / epsilon);
    assert!(reconstruction < 12.0 * epsilon, "{reconstruction}");
    assert!(orthogonal < 16.0 * epsilon, "{orthogonal}");
}

/// The given singular values are recovered, to rounding of the largest (Weyl).
#[test]
fn singular_values_are_found() {
    let mut random = Random(11);
    for _ in 0..300 {
        let mut s = random.vec3(0.0, 2.0).0;
        s.sort_by(|a, b| b.total_cmp(a));
        s[2] *= if random.uniform(0.0, 1.0) < 0.5 { -1.0 } else { 1.0 };
        let sigma = svd(&random.with_singular_values(Vec3(s))).sigma;
        for k in 0..3 {
            assert!((sigma.0[k] - s[k]).abs() < 2e-14, "{s:?} {sigma:?}");
        }
    }
}

#[test]
fn eigen_sym_reproduces_the_matrix() {
    let mut random = Random(3);
    for k in 0..2000 {
        let a = if k % 2 == 0 { random.mat3(-1.0, 1.0) } else { random.mat3(-1e-9, 1e-9) };
        let a = Sym3::from_symmetric_product(&a, &Mat3::identity());
        let (values, q) = eigen_sym(&a);
        let error = (Sym3::from_eigen(&q, values).to_mat3() - a.to_mat3()).max_abs();
        assert!(error < 12.0 * f64::EPSILON * a.max_abs(), "{error} {a:?}");
        assert!(orthogonality(&q) < 16.0 * f64::EPSILON && q.determinant() > 0.0);
        assert!(values.0[0] >= values.0[1] && values.0[1] >= values.0[2]);
    }
}

/// R is a rotation and R^T F symmetric, for conditioned, reflected and singular F, and in f32 as in
/// f64.
#[test]
fn polar_is_a_rotation_with_symmetric_stretch() {
    for f in matrices() {
        let asymmetry = |r: &Mat3<f64>, f: &Mat3<f64>| {
            let s = r.transpose() * *f;
            (s - s.transpose()).max_abs() / f.max_abs().max(1e-100)
        };
        let r = polar(&f);
        assert!(orthogonality(&r) < 24.0 * f64::EPSILON && r.determinant() > 0.0, "{f:?} {r:?}");
        assert!(asymmetry(&r, &f) < 24.0 * f64::EPSILON, "{f:?} {r:?}");
        let (r, f) = (to_f64(&polar(&to_f32(&f))), to_f64(&to_f32(&f)));
        let epsilon = <f32 as Real>::epsilon();
        assert!(orthogonality(&r) < 24.0 * epsilon && r.determinant() > 0.0, "{f:?} {r:?}");
        assert!(asymmetry(&r, &f) < 24.0 * epsilon, "{f:?} {r:?}");
    }
}

#[test]
fn conversions_to_nalgebra_keep_rows_and_columns() {
    let m = Mat3([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]);
    let n: nalgebra::Matrix3<f64> = m.into();
    assert_eq!((n[(0, 1)], n[(2, 0)]), (2.0, 7.0));
    assert_eq!(Mat3::from(n), m);
    let v = Vec3([1.0, -2.0, 0.5]);
    assert_eq!(Vec3::from(n * nalgebra::Vector3::from(v)), m.mul_vec(v));
}
