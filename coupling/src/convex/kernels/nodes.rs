//! Loops over the touched nodes.

use multiversion::multiversion;

use super::super::layout::Vector;
use super::{Packed, ZERO, axpy, sum};

/// Nodes whose blocks are inverted side by side: the width of an AVX-512 register.
const WIDTH: usize = 8;

/// The inverse of `m I + B` as `[xx, yy, zz, xy, xz, yz]`. By LDL^T with the pivots held at the
/// mass (their bound in exact arithmetic), so that the inverse is positive definite at any ratio of
/// stiffness to mass.
#[inline(always)]
fn inverse(b: [f64; 6], m: f64) -> [f64; 6] {
    let i0 = 1.0 / (b[0] + m);
    let l10 = b[3] * i0;
    let l20 = b[4] * i0;
    let i1 = 1.0 / (b[1] + m - l10 * b[3]).max(m);
    let c21 = b[5] - l20 * b[3];
    let l21 = c21 * i1;
    let i2 = 1.0 / (b[2] + m - l20 * b[4] - l21 * c21).max(m);
    // Rows of L^-1: [1, 0, 0], [-l10, 1, 0], [p, -l21, 1].
    let p = l10 * l21 - l20;
    let xy = -l10 * i1 - p * (l21 * i2);
    [i0 + l10 * l10 * i1 + p * p * i2, i1 + l21 * l21 * i2, i2, xy, p * i2, -l21 * i2]
}

/// `out_i = -(m_i I + B_i)^-1 x_i`, zero for nodes without mass.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn solve_blocks_negated(
    blocks: &[Packed],
    mass: &[f64],
    x: &[Vector],
    out: &mut [Vector],
) {
    let inputs = blocks.chunks(WIDTH).zip(mass.chunks(WIDTH)).zip(x.chunks(WIDTH));
    for (((blocks, mass), x), out) in inputs.zip(out.chunks_mut(WIDTH)) {
        // Component by component; a chunk that is not full ends with nodes of no mass.
        let mut b = [[0.0; WIDTH]; 6];
        let mut m = [0.0; WIDTH];
        let mut v = [[0.0; WIDTH]; 3];
        for (l, ((block, mass), x)) in blocks.iter().zip(mass).zip(x).enumerate() {
            for e in 0..6 {
                b[e][l] = f64::from(block[e]);
            }
            m[l] = *mass;
            for a in 0..3 {
                v[a][l] = x[a];
            }
        }
        let mut y = [[0.0; WIDTH]; 3];
        for l in 0..WIDTH {
            let massive = m[l] > 0.0;
            let safe = if massive { m[l] } else { 1.0 };
            let [xx, yy, zz, xy, xz, yz] =
                inverse([b[0][l], b[1][l], b[2][l], b[3][l], b[4][l], b[5][l]], safe);
            y[0][l] = v[2][l].mul_add(xz, v[1][l].mul_add(xy, v[0][l] * xx));
            y[1][l] = v[2][l].mul_add(yz, v[1][l].mul_add(yy, v[0][l] * xy));
            y[2][l] = v[2][l].mul_add(zz, v[1][l].mul_add(yz, v[0][l] * xz));
            for component in &mut y {
                component[l] = if massive { -component[l] } else { 0.0 };
            }
        }
        for (l, out) in out.iter_mut().enumerate() {
            *out = [y[0][l], y[1][l], y[2][l], 0.0];
        }
    }
}

/// Norms that the stopping rule needs, each squared.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Norms {
    /// `|v - v*|_M^2`.
    pub deviation: f64,
    /// `|grad|^2` in M^-1.
    pub gradient: f64,
    /// `|v|^2` in M.
    pub squares: f64,
    /// `|v - v_mean|^2` in M, with the nodes' mean velocity: the same in every inertial frame. The
    /// response of strongly coupled bodies is a change of velocity and enters as it is.
    pub momentum: f64,
    /// `|J^T gamma|^2` in M^-1.
    pub impulse: f64,
}

/// The gradient `M (v - v*) - J^T gamma` of every touched node (zero where there is no mass), and
/// the norms. The first `nodes` vectors are velocities of nodes, the others unknowns of bodies.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn gradient(
    nodes: usize,
    mass: &[f64],
    inverse_mass: &[f64],
    v: &[Vector],
    free: &[Vector],
    impulse: &[Vector],
    out: &mut [Vector],
) -> Norms {
    let mut sums = [ZERO; 4];
    let vectors = mass.iter().zip(inverse_mass).zip(v).zip(free).zip(impulse).zip(out);
    for (((((&m, &inverse), v), free), j), out) in vectors {
        let massive = m * inverse;
        for l in 0..4 {
            let d = v[l] - free[l];
            let g = massive * (m * d - j[l]);
            out[l] = g;
            sums[0][l] = (m * d).mul_add(d, sums[0][l]);
            sums[1][l] = (inverse * g).mul_add(g, sums[1][l]);
            sums[2][l] = (m * v[l]).mul_add(v[l], sums[2][l]);
            sums[3][l] = (inverse * j[l]).mul_add(j[l], sums[3][l]);
        }
    }
    let [deviation, gradient, squares, impulse] = sums.map(sum);
    let momentum = (squares - of_common_motion(&mass[..nodes], &v[..nodes])).max(0.0);
    Norms { deviation, gradient, squares, momentum, impulse }
}

/// `|v_mean|^2` in M: what is squared of the nodes' common motion.
#[inline(always)]
fn of_common_motion(mass: &[f64], v: &[Vector]) -> f64 {
    let (mut total, mut momentum) = (0.0, ZERO);
    for (&m, v) in mass.iter().zip(v) {
        total += m;
        for l in 0..4 {
            momentum[l] = m.mul_add(v[l], momentum[l]);
        }
    }
    if total > 0.0 { sum(momentum.map(|p| p * p)) / total } else { 0.0 }
}

/// `(d . g, |d|_M^2)` of a direction.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn slope(mass: &[f64], gradient: &[Vector], direction: &[Vector]) -> [f64; 2] {
    let mut sums = [ZERO; 2];
    for ((&m, g), d) in mass.iter().zip(gradient).zip(direction) {
        for l in 0..4 {
            sums[0][l] = g[l].mul_add(d[l], sums[0][l]);
            sums[1][l] = (m * d[l]).mul_add(d[l], sums[1][l]);
        }
    }
    sums.map(sum)
}

/// `y += a x`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn add_scaled(a: f64, x: &[Vector], y: &mut [Vector]) {
    for (x, y) in x.iter().zip(y) {
        axpy(a, x, y);
    }
}

/// `x . y`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn dot(x: &[Vector], y: &[Vector]) -> f64 {
    let mut total = ZERO;
    for (x, y) in x.iter().zip(y) {
        for l in 0..4 {
            total[l] = x[l].mul_add(y[l], total[l]);
        }
    }
    sum(total)
}
