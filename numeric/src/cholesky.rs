//! Cholesky factorisation `A = L L^T` of small dense matrices, in place (Golub and Van Loan,
//! *Matrix Computations*, 4.2), over one number or lanes.
//!
//! `at(i, j)` says where the entry of row `i` and column `j <= i` lies: see [`rows`] and
//! [`packed`]. Nothing branches on a value: a matrix that is not positive definite gives a factor
//! that is not finite, and a mask that says so.

use crate::scalar::Real;

/// Rows of `n` numbers.
#[inline(always)]
pub fn rows(n: usize) -> impl Fn(usize, usize) -> usize + Copy {
    #[inline(always)]
    move |i, j| i * n + j
}

/// The lower triangle alone, row by row.
#[inline(always)]
pub fn packed(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// Factorises the lower triangle of a matrix of `n` rows. The diagonal of the factor is left as its
/// reciprocals. False where a pivot is not positive or not finite.
#[inline(always)]
pub fn factorise<T: Real>(a: &mut [T], n: usize, at: impl Fn(usize, usize) -> usize + Copy) -> T::Mask {
    columns(a, n, at, |_, reciprocal| reciprocal)
}

/// As [`factorise`], with the diagonal itself.
#[inline(always)]
pub fn factorise_with_roots(a: &mut [f64], n: usize, at: impl Fn(usize, usize) -> usize + Copy) -> bool {
    columns(a, n, at, |root, _| root)
}

/// Column by column; `diagonal` chooses what is kept of a root and its reciprocal.
#[inline(always)]
fn columns<T: Real>(
    a: &mut [T],
    n: usize,
    at: impl Fn(usize, usize) -> usize + Copy,
    diagonal: impl Fn(T, T) -> T,
) -> T::Mask {
    let (zero, infinite) = (T::zero(), T::splat(f64::INFINITY));
    let mut definite = zero.lt(infinite);
    for j in 0..n {
        let mut pivot = a[at(j, j)];
        for k in 0..j {
            pivot -= a[at(j, k)] * a[at(j, k)];
        }
        definite = definite & zero.lt(pivot) & pivot.lt(infinite);
        let root = pivot.sqrt();
        let reciprocal = T::one() / root;
        a[at(j, j)] = diagonal(root, reciprocal);
        for i in j + 1..n {
            let mut sum = a[at(i, j)];
            for k in 0..j {
                sum -= a[at(i, k)] * a[at(j, k)];
            }
            a[at(i, j)] = sum * reciprocal;
        }
    }
    definite
}

/// `x <- L^-1 x` for `N` right sides at once, one entry of each in a row, with the factor that
/// [`factorise`] left.
#[inline(always)]
pub fn solve_lower<T: Real, const N: usize>(
    a: &[T],
    at: impl Fn(usize, usize) -> usize + Copy,
    x: &mut [[T; N]],
) {
    for i in 0..x.len() {
        let mut sum = x[i];
        for k in 0..i {
            for d in 0..N {
                sum[d] -= a[at(i, k)] * x[k][d];
            }
        }
        for d in 0..N {
            sum[d] *= a[at(i, i)];
        }
        x[i] = sum;
    }
}

/// `x <- A^-1 x` with the factor that [`factorise`] left.
#[inline(always)]
pub fn solve<T: Real>(a: &[T], at: impl Fn(usize, usize) -> usize + Copy, x: &mut [T]) {
    solve_lower(a, at, x.as_chunks_mut::<1>().0);
    for i in (0..x.len()).rev() {
        let mut sum = x[i];
        for k in i + 1..x.len() {
            sum -= a[at(k, i)] * x[k];
        }
        x[i] = sum * a[at(i, i)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// `B B^T + I` and a right side, seeded.
    fn system(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = SplitMix64::new(seed);
        let mut numbers = |count: usize| (0..count).map(|_| random.uniform_in(-1.0, 1.0)).collect::<Vec<_>>();
        let (b, x) = (numbers(n * n), numbers(n));
        let entry = |i: usize, j: usize| {
            (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum::<f64>() + f64::from(u8::from(i == j))
        };
        ((0..n * n).map(|e| entry(e / n, e % n)).collect(), x)
    }

    /// The eigenvalues lie between 1 and 1 + n^2, so that a backward stable solution is off by less
    /// than n (1 + n^2) roundings of numbers up to n times the right side.
    #[test]
    fn solutions_satisfy_the_system() {
        for n in 0..=9 {
            let (a, b) = system(n, n as u64);
            let bound = 4.0 * (n * n * (1 + n * n)) as f64 * f64::EPSILON;
            let (mut dense, mut triangle) = (a.clone(), vec![0.0; n * (n + 1) / 2]);
            for i in 0..n {
                (0..=i).for_each(|j| triangle[packed(i, j)] = a[i * n + j]);
            }
            assert!(factorise(&mut dense, n, rows(n)) && factorise(&mut triangle, n, packed));
            let (mut x, mut y) = (b.clone(), b.clone());
            solve(&dense, rows(n), &mut x);
            solve(&triangle, packed, &mut y);
            assert_eq!(x, y, "{n}: the order in memory must not matter");
            for i in 0..n {
                let left: f64 = (0..n).map(|j| a[i * n + j] * x[j]).sum();
                assert!((left - b[i]).abs() <= bound, "{n}: row {i} is off by {:e}", left - b[i]);
            }
            let mut roots = a.clone();
            assert!(factorise_with_roots(&mut roots, n, rows(n)));
            for i in 0..n {
                assert_eq!(1.0 / roots[i * n + i], dense[i * n + i], "{n}");
            }
        }
    }

    #[test]
    fn indefinite_and_infinite_matrices_are_told() {
        for bad in [[1.0, 0.0, 2.0, 1.0], [f64::NAN, 0.0, 0.0, 1.0], [f64::INFINITY, 0.0, 0.0, 1.0]] {
            assert!(!factorise(&mut bad.clone(), 2, rows(2)), "{bad:?}");
        }
    }
}
