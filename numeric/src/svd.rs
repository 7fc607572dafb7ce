//! Eigenvalues, singular values and the polar decomposition of 3x3 matrices, without branches on
//! values.
//!
//! Cyclic Jacobi (Golub and Van Loan, *Matrix Computations*, 8.5) diagonalises F^T F; as in McAdams
//! et al. 2011 the left factor then comes from F V. Squaring F loses the small singular values
//! below sqrt(epsilon) |F|; one rotation of the two smaller columns of F V (one-sided Jacobi)
//! brings them back, so that U diag(sigma) V^T is F to a few epsilon |F| for any F.

use crate::linalg::{Mat3, Sym3, Vec3};
use crate::scalar::{Mask, Real};

/// Singular value decomposition `F = U diag(sigma) V^T` with proper rotations.
#[derive(Clone, Copy, Debug)]
pub struct Svd<T> {
    /// Left rotation, determinant +1.
    pub u: Mat3<T>,
    /// Singular values, largest magnitude first (to rounding); only the last may be negative, and
    /// then det F is.
    pub sigma: Vec3<T>,
    /// Right rotation, determinant +1.
    pub v: Mat3<T>,
}

/// Magnitudes below this are taken as zero, so that scaling by the inverse stays within f32's
/// range.
const SMALLEST_SCALE: f64 = 1e-30;

/// Tangent of the Jacobi angle that annihilates `off` between diagonal entries `p` and `q`;
/// magnitude at most 1.
///
/// Entries must be of order one: what is below epsilon^2 counts as zero.
#[inline(always)]
fn jacobi_tangent<T: Real>(p: T, q: T, off: T) -> T {
    let d = q - p;
    let twice_off = off + off;
    let root = d.mul_add(d, twice_off * twice_off).sqrt();
    let denominator = (d.abs() + root).max(T::splat(1e-3 * T::epsilon() * T::epsilon()));
    let t = twice_off / denominator;
    T::select(d.lt(T::splat(0.0)), -t, t)
}

/// `(cosine, sine)` of the angle with tangent `t`.
#[inline(always)]
fn from_tangent<T: Real>(t: T) -> (T, T) {
    let one = T::splat(1.0);
    let c = one / t.mul_add(t, one).sqrt();
    (c, t * c)
}

/// Columns `(x, y)` turned to `(c x - s y, s x + c y)`.
#[inline(always)]
fn rotate<T: Real>(c: T, s: T, x: Vec3<T>, y: Vec3<T>) -> (Vec3<T>, Vec3<T>) {
    (x * c - y * s, y.scale_add(c, x * s))
}

/// `(x, y)`, or `(y, -x)` where the mask holds: a swap that keeps the determinant.
#[inline(always)]
fn swap_columns<T: Real>(mask: T::Mask, x: Vec3<T>, y: Vec3<T>) -> (Vec3<T>, Vec3<T>) {
    (Vec3::<T>::select(mask, y, x), Vec3::<T>::select(mask, x * T::splat(-1.0), y))
}

/// Cyclic Jacobi on a matrix of order one: eigenvalues in no order, and the columns of a rotation
/// of eigenvectors.
///
/// A lane whose entry is negligible is not rotated, so its result does not depend on how long its
/// neighbours take.
#[inline(always)]
fn jacobi<T: Real>(a: Sym3<T>) -> (Vec3<T>, [Vec3<T>; 3]) {
    // d[k] are the diagonal entries, off[k] the entry that couples the other two indices.
    let mut d = [a.xx, a.yy, a.zz];
    let mut off = [a.yz, a.xz, a.xy];
    let identity = Mat3::<T>::identity();
    let mut v = [identity.row(0), identity.row(1), identity.row(2)];
    let zero = T::splat(0.0);
    let negligible = (d[0] + d[1] + d[2]).abs().max(a.max_abs()) * T::splat(0.0625 * T::epsilon());
    for _ in 0..T::jacobi_sweeps() {
        let largest = off[0].abs().max(off[1].abs()).max(off[2].abs());
        if !negligible.lt(largest).any() {
            break;
        }
        for (p, q, k) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)] {
            let t = jacobi_tangent(d[p], d[q], off[k]);
            let t = T::select(off[k].abs().le(negligible), zero, t);
            let (c, s) = from_tangent(t);
            d[p] -= t * off[k];
            d[q] += t * off[k];
            off[k] = T::select(off[k].abs().le(negligible), off[k], zero);
            // Entry (p, k) is named after q, entry (q, k) after p.
            let (pk, qk) = (off[q], off[p]);
            off[q] = c * pk - s * qk;
            off[p] = s * pk + c * qk;
            (v[p], v[q]) = rotate(c, s, v[p], v[q]);
        }
    }
    (Vec3(d), v)
}

/// Eigenvalues of a symmetric matrix, largest first, and a proper rotation whose columns are the
/// eigenvectors.
///
/// `a = q diag(values) q^T` to a few epsilon |a|.
#[inline(always)]
pub fn eigen_sym<T: Real>(a: &Sym3<T>) -> (Vec3<T>, Mat3<T>) {
    let scale = a.max_abs().max(T::splat(SMALLEST_SCALE));
    let (Vec3(mut d), mut q) = jacobi(a.scale(T::splat(1.0) / scale));
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let mask = d[i].lt(d[j]);
        (q[i], q[j]) = swap_columns::<T>(mask, q[i], q[j]);
        (d[i], d[j]) = (T::select(mask, d[j], d[i]), T::select(mask, d[i], d[j]));
    }
    (Vec3(d) * scale, Mat3::from_columns(q))
}

/// A unit vector perpendicular to the unit vector `u`.
#[inline(always)]
fn perpendicular<T: Real>(u: Vec3<T>) -> Vec3<T> {
    let [x, y, z] = u.0;
    let zero = T::splat(0.0);
    // The two larger of the components chosen carry at least half of the squared length.
    let raw = Vec3::<T>::select(z.abs().lt(x.abs()), Vec3([-y, x, zero]), Vec3([zero, -z, y]));
    let length = raw.fused_norm_squared().sqrt().max(T::splat(0.5));
    raw * (T::splat(1.0) / length)
}

/// Singular value decomposition with proper rotations; the sign of det F is on the smallest
/// singular value.
///
/// U, V are orthogonal and F is reproduced to a few epsilon |F|, also where singular values are
/// zero or equal.
/// |F| should lie within 1e-30 and 1e30; anything smaller counts as zero.
#[inline(always)]
pub fn svd<T: Real>(f: &Mat3<T>) -> Svd<T> {
    let (zero, one) = (T::splat(0.0), T::splat(1.0));
    let scale = f.max_abs().max(T::splat(SMALLEST_SCALE));
    let f = f.scale(one / scale);
    let (Vec3(mut d), mut v) = jacobi(Sym3::right_gram(&f));
    for j in [1, 2] {
        let mask = d[0].lt(d[j]);
        (v[0], v[j]) = swap_columns::<T>(mask, v[0], v[j]);
        (d[0], d[j]) = (T::select(mask, d[j], d[0]), T::select(mask, d[0], d[j]));
    }

    // The largest column of F V gives the first left vector.
    let b0 = f.mul_vec(v[0]);
    let sigma0 = b0.fused_norm_squared().sqrt();
    let nothing = sigma0.lt(T::splat(0.5)); // F is scaled to a largest entry of one, unless it is zero
    let u0 = b0 * (one / sigma0.max(T::splat(0.5)));
    let u0 = Vec3::<T>::select(nothing, Vec3([one, zero, zero]), u0);

    // The other two, freed of the first direction, are made orthogonal to each other by one more
    // rotation.
    let (b1, b2) = (f.mul_vec(v[1]), f.mul_vec(v[2]));
    let c1 = u0.scale_add(-u0.fused_dot(b1), b1);
    let c2 = u0.scale_add(-u0.fused_dot(b2), b2);
    let (c, s) =
        from_tangent(jacobi_tangent(c1.fused_norm_squared(), c2.fused_norm_squared(), c1.fused_dot(c2)));
    let (c1, c2) = rotate(c, s, c1, c2);
    let (v1, v2) = rotate(c, s, v[1], v[2]);
    let mask = c1.fused_norm_squared().lt(c2.fused_norm_squared());
    let (c1, c2) = swap_columns::<T>(mask, c1, c2);
    let (v1, v2) = swap_columns::<T>(mask, v1, v2);

    let sigma1 = c1.fused_norm_squared().sqrt();
    let noise = sigma0.max(one) * T::splat(4.0 * T::epsilon());
    let u1 = c1 * (one / sigma1.max(noise));
    let u1 = Vec3::<T>::select(sigma1.le(noise), perpendicular(u0), u1);
    let u2 = u0.cross(u1);
    let sigma2 = u2.fused_dot(c2);
    Svd {
        u: Mat3::from_columns([u0, u1, u2]),
        sigma: Vec3([sigma0, sigma1, sigma2]) * scale,
        v: Mat3::from_columns([v[0], v1, v2]),
    }
}

/// The rotation R of the polar decomposition `F = R S`, always with determinant +1.
///
/// Where F has a reflection, S is symmetric with its smallest eigenvalue negative (`R = U V^T` of
/// [`svd`]). Newton's iteration (Higham 1986, `R <- (R + R^-T) / 2`) for well-conditioned F with
/// det F > 0; lanes on which it has not converged after a fixed number of iterations take the
/// rotation from [`svd`].
#[inline(always)]
pub fn polar<T: Real>(f: &Mat3<T>) -> Mat3<T> {
    let half = T::splat(0.5);
    let mut r = *f;
    let mut change = T::splat(1.0);
    for _ in 0..T::jacobi_sweeps() + 1 {
        let cofactors = r.cofactors();
        let determinant = r.row(0).fused_dot(cofactors.row(0));
        let next = r.scale(half) + cofactors.scale(half / determinant);
        change = (next - r).norm_squared();
        r = next;
    }
    // Quadratic convergence: after a change of sqrt(epsilon) the error is of order epsilon.
    let converged = change.le(T::splat(T::epsilon())) & T::splat(0.0).lt(f.determinant());
    if converged.all() {
        return r;
    }
    let Svd { u, v, .. } = svd(f);
    Mat3::<T>::select(converged, r, u.mul_transpose(&v))
}
