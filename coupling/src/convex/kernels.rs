//! The hot loops, over plain slices, compiled for AVX-512, AVX2 and the baseline and chosen at run time.
//!
//! Every sum has one fixed order and every multiply-add is fused in all three versions, so that the bits do not
//! depend on the instruction set.

use std::hint::black_box;

use multiversion::multiversion;

use super::active::Active;
use super::prepared::{Group, LANES, LawLanes, Vector, Weights};

/// The columns of a symmetric 3x3 matrix.
pub(super) type Columns = [Vector; 3];

/// A symmetric 3x3 matrix as `[xx, yy, zz, xy, xz, yz, 0, 0]`: one AVX register. In f32, which is enough for a
/// preconditioner.
pub(super) type Packed = [f32; 8];

const ZERO: Vector = [0.0; 4];

#[inline(always)]
fn axpy(a: f64, x: &Vector, y: &mut Vector) {
    for l in 0..4 {
        y[l] = a.mul_add(x[l], y[l]);
    }
}

/// The sum of the lanes. Through memory, since the compiler otherwise takes the sums in the loop before it apart
/// into scalars.
#[inline(always)]
fn sum(x: Vector) -> f64 {
    let x = black_box(x);
    (x[0] + x[1]) + (x[2] + x[3])
}

#[inline(always)]
fn apply(matrix: &Columns, x: &Vector) -> Vector {
    let mut y = ZERO;
    for a in 0..3 {
        axpy(x[a], &matrix[a], &mut y);
    }
    y
}

/// `sum_i w_i v_i` of one contact.
#[inline(always)]
fn interpolate(nodes: &[Vector], rows: &[u32; 9], weights: &Weights) -> Vector {
    let mut layers = [ZERO; 3];
    for r in 0..9 {
        let first = rows[r] as usize;
        let run = &nodes[first..first + 3];
        for k in 0..3 {
            axpy(weights.xy[r], &run[k], &mut layers[k]);
        }
    }
    let mut value = ZERO;
    for k in 0..3 {
        axpy(weights.z[k], &layers[k], &mut value);
    }
    value
}

/// Adds `w_i x` of one contact to its nodes. Contact by contact: groups are small, and a loop over their contacts for
/// each of the nine rows would end too often.
#[inline(always)]
fn spread(rows: &[u32; 9], weights: &Weights, x: &Vector, nodes: &mut [Vector]) {
    let layers: [Vector; 3] = std::array::from_fn(|k| x.map(|value| weights.z[k] * value));
    for r in 0..9 {
        let first = rows[r] as usize;
        let run = &mut nodes[first..first + 3];
        for k in 0..3 {
            axpy(weights.xy[r], &layers[k], &mut run[k]);
        }
    }
}

/// `out_c += sum_i w_ic v_i`: the product with J.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn gather_add(groups: &[Group], weights: &[Weights], nodes: &[Vector], out: &mut [Vector]) {
    for group in groups {
        let range = group.begin as usize..group.end as usize;
        for (w, value) in weights[range.clone()].iter().zip(&mut out[range]) {
            axpy(1.0, &interpolate(nodes, &group.rows, w), value);
        }
    }
}

/// `out_i += sum_c w_ic x_c`: the product with J^T.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn scatter_add(groups: &[Group], weights: &[Weights], values: &[Vector], out: &mut [Vector]) {
    for group in groups {
        let range = group.begin as usize..group.end as usize;
        for (w, x) in weights[range.clone()].iter().zip(&values[range]).filter(|(_, x)| **x != ZERO) {
            spread(&group.rows, w, x, out);
        }
    }
}

/// `out += J^T G J x`; returns `x^T J^T G J x`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn product_add(
    active: &Active,
    weights: &[Weights],
    hessians: &[Columns],
    x: &[Vector],
    out: &mut [Vector],
) -> f64 {
    let mut curvature = ZERO;
    for group in &active.groups {
        for &c in &active.contacts[group.begin as usize..group.end as usize] {
            let (w, hessian) = (&weights[c as usize], &hessians[c as usize]);
            let value = black_box(interpolate(x, &group.rows, w));
            let image = apply(hessian, &value);
            for l in 0..4 {
                curvature[l] = value[l].mul_add(image[l], curvature[l]);
            }
            spread(&group.rows, w, &black_box(image), out);
        }
    }
    sum(curvature)
}

/// `out_i += sum_c w_ic^2 G_c`, or with the weight to the first power (`lumped`).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn diagonal_blocks_add(
    active: &Active,
    weights: &[Weights],
    hessians: &[Columns],
    lumped: bool,
    out: &mut [Packed],
) {
    let power = |weight: f64| if lumped { weight } else { weight * weight };
    for group in &active.groups {
        for &c in &active.contacts[group.begin as usize..group.end as usize] {
            let (w, g) = (&weights[c as usize], &hessians[c as usize]);
            let packed = [g[0][0], g[1][1], g[2][2], g[0][1], g[0][2], g[1][2], 0.0, 0.0];
            let layers: [Packed; 3] =
                black_box(std::array::from_fn(|k| packed.map(|value| (power(w.z[k]) * value) as f32)));
            for r in 0..9 {
                let factor = power(w.xy[r]) as f32;
                let first = group.rows[r] as usize;
                let run = &mut out[first..first + 3];
                for k in 0..3 {
                    for l in 0..8 {
                        run[k][l] = factor.mul_add(layers[k][l], run[k][l]);
                    }
                }
            }
        }
    }
}

/// The inverses of `m_i I + B_i`, zero for nodes without mass. By LDL^T with the pivots held at the mass (their
/// bound in exact arithmetic), so that the inverse is positive definite at any ratio of stiffness to mass.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn invert_blocks(blocks: &[Packed], mass: &[f64], inverse_mass: &[f64], out: &mut [Columns]) {
    for (((b, &m), &free), inverse) in blocks.iter().zip(mass).zip(inverse_mass).zip(out) {
        // No active contact, or no mass: three divisions less.
        if free == 0.0 || b[0] + b[1] + b[2] == 0.0 {
            *inverse = [[free, 0.0, 0.0, 0.0], [0.0, free, 0.0, 0.0], [0.0, 0.0, free, 0.0]];
            continue;
        }
        let b = b.map(f64::from);
        let i0 = 1.0 / (b[0] + m);
        let l10 = b[3] * i0;
        let l20 = b[4] * i0;
        let i1 = 1.0 / (b[1] + m - l10 * b[3]).max(m);
        let c21 = b[5] - l20 * b[3];
        let l21 = c21 * i1;
        let i2 = 1.0 / (b[2] + m - l20 * b[4] - l21 * c21).max(m);
        // Rows of L^-1: [1, 0, 0], [-l10, 1, 0], [p, -l21, 1].
        let p = l10 * l21 - l20;
        let yz = -l21 * i2;
        let xz = p * i2;
        let xy = -l10 * i1 - p * (l21 * i2);
        *inverse = [
            [i0 + l10 * l10 * i1 + p * p * i2, xy, xz, 0.0],
            [xy, i1 + l21 * l21 * i2, yz, 0.0],
            [xz, yz, i2, 0.0],
        ];
    }
}

/// Impulses and the sum of the potentials at the contact velocities `v`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn respond(laws: &[LawLanes], v: &[Vector], impulses: &mut [Vector]) -> f64 {
    let mut potential = [0.0; LANES];
    let chunks = v.chunks_exact(LANES).zip(impulses.chunks_exact_mut(LANES));
    for (law, (v, impulses)) in laws.iter().zip(chunks) {
        let n = &law.normal;
        let mut gamma = [[0.0; LANES]; 3];
        for l in 0..LANES {
            let (x, y, z) = (v[l][0], v[l][1], v[l][2]);
            let (nx, ny, nz) = (n[0][l], n[1][l], n[2][l]);
            let v_n = nx * x + ny * y + nz * z;
            let (tx, ty, tz) = (x - v_n * nx, y - v_n * ny, z - v_n * nz);
            let slip = tx * tx + ty * ty + tz * tz;
            let v_s = law.stiction[l];
            let s = (slip + v_s * v_s).sqrt();
            let c = law.friction_bound[l] / s;
            let u = (law.release[l] - v_n).max(0.0);
            let gamma_n = u * (law.linear[l] + law.quadratic[l] * u);
            potential[l] += u * u * (0.5 * law.linear[l] + law.quadratic[l] * u * (1.0 / 3.0))
                + law.friction_bound[l] * slip / (s + v_s);
            gamma[0][l] = gamma_n * nx - c * tx;
            gamma[1][l] = gamma_n * ny - c * ty;
            gamma[2][l] = gamma_n * nz - c * tz;
        }
        for l in 0..LANES {
            impulses[l] = [gamma[0][l], gamma[1][l], gamma[2][l], 0.0];
        }
    }
    potential.iter().sum()
}

/// Hessians of the potentials at the contact velocities `v`; `turning` scales the part of friction that lowers them
/// along the slip, `-c/s^2 v_t v_t^T`: 1 gives the Hessian, 0 the quadratic that touches friction's potential here and
/// lies above it everywhere.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn hessians(laws: &[LawLanes], v: &[Vector], turning: f64, out: &mut [Columns]) {
    let chunks = v.chunks_exact(LANES).zip(out.chunks_exact_mut(LANES));
    for (law, (v, out)) in laws.iter().zip(chunks) {
        let n = &law.normal;
        let mut g = [[0.0; LANES]; 6];
        for l in 0..LANES {
            let (x, y, z) = (v[l][0], v[l][1], v[l][2]);
            let (nx, ny, nz) = (n[0][l], n[1][l], n[2][l]);
            let v_n = nx * x + ny * y + nz * z;
            let (tx, ty, tz) = (x - v_n * nx, y - v_n * ny, z - v_n * nz);
            let v_s = law.stiction[l];
            let inverse_s = 1.0 / (tx * tx + ty * ty + tz * tz + v_s * v_s).sqrt();
            let c = law.friction_bound[l] * inverse_s;
            let u = (law.release[l] - v_n).max(0.0);
            let k_n = if u > 0.0 { law.linear[l] + 2.0 * law.quadratic[l] * u } else { 0.0 };
            // G = c I + (k_n - c) n n^T - c/s^2 t t^T. The slip's direction is formed before it is squared: c/s^2 alone
            // overflows at no slip.
            let (kn, ct) = (k_n - c, turning * c);
            let (ex, ey, ez) = (tx * inverse_s, ty * inverse_s, tz * inverse_s);
            g[0][l] = c + kn * nx * nx - ct * ex * ex;
            g[1][l] = c + kn * ny * ny - ct * ey * ey;
            g[2][l] = c + kn * nz * nz - ct * ez * ez;
            g[3][l] = kn * nx * ny - ct * ex * ey;
            g[4][l] = kn * nx * nz - ct * ex * ez;
            g[5][l] = kn * ny * nz - ct * ey * ez;
        }
        for l in 0..LANES {
            out[l] = [
                [g[0][l], g[3][l], g[4][l], 0.0],
                [g[3][l], g[1][l], g[5][l], 0.0],
                [g[4][l], g[5][l], g[2][l], 0.0],
            ];
        }
    }
}

/// [`LANES`] contacts seen along a search direction: all that the objective needs at any step length.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RayLanes {
    v_n: [f64; LANES],
    dv_n: [f64; LANES],
    /// `|v_t|^2`, `v_t . dv_t` and `|dv_t|^2`.
    slip: [f64; LANES],
    cross: [f64; LANES],
    dslip: [f64; LANES],
}

/// Prepares the rays `v + alpha dv`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn rays(laws: &[LawLanes], v: &[Vector], dv: &[Vector], out: &mut [RayLanes]) {
    let chunks = v.chunks_exact(LANES).zip(dv.chunks_exact(LANES));
    for ((law, (v, dv)), ray) in laws.iter().zip(chunks).zip(out) {
        let n = &law.normal;
        for l in 0..LANES {
            let v_n = n[0][l] * v[l][0] + n[1][l] * v[l][1] + n[2][l] * v[l][2];
            let dv_n = n[0][l] * dv[l][0] + n[1][l] * dv[l][1] + n[2][l] * dv[l][2];
            let t: [f64; 3] = [v[l][0] - v_n * n[0][l], v[l][1] - v_n * n[1][l], v[l][2] - v_n * n[2][l]];
            let d: [f64; 3] =
                [dv[l][0] - dv_n * n[0][l], dv[l][1] - dv_n * n[1][l], dv[l][2] - dv_n * n[2][l]];
            ray.v_n[l] = v_n;
            ray.dv_n[l] = dv_n;
            ray.slip[l] = t[0] * t[0] + t[1] * t[1] + t[2] * t[2];
            ray.cross[l] = t[0] * d[0] + t[1] * d[1] + t[2] * d[2];
            ray.dslip[l] = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        }
    }
}

/// Sums of the contacts' potentials and their first two derivatives by the step length.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn along(laws: &[LawLanes], rays: &[RayLanes], alpha: f64) -> [f64; 3] {
    let mut sums = [[0.0; LANES]; 3];
    for (law, ray) in laws.iter().zip(rays) {
        for l in 0..LANES {
            let u = (law.release[l] - (ray.v_n[l] + alpha * ray.dv_n[l])).max(0.0);
            let k_n = if u > 0.0 { law.linear[l] + 2.0 * law.quadratic[l] * u } else { 0.0 };
            let gamma_n = u * (law.linear[l] + law.quadratic[l] * u);
            // Rounding must not make the square of the slip negative.
            let slip = (ray.slip[l] + alpha * (2.0 * ray.cross[l] + alpha * ray.dslip[l])).max(0.0);
            let cross = ray.cross[l] + alpha * ray.dslip[l];
            let v_s = law.stiction[l];
            let s = (slip + v_s * v_s).sqrt();
            let inverse_s = 1.0 / s;
            let c = law.friction_bound[l] * inverse_s;
            let turned = cross * inverse_s;
            sums[0][l] += u * u * (0.5 * law.linear[l] + law.quadratic[l] * u * (1.0 / 3.0))
                + law.friction_bound[l] * slip / (s + v_s);
            sums[1][l] += c * cross - gamma_n * ray.dv_n[l];
            sums[2][l] += k_n * ray.dv_n[l] * ray.dv_n[l] + c * (ray.dslip[l] - turned * turned).max(0.0);
        }
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// Norms that the stopping rule needs, each squared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Norms {
    /// `|v - v*|_M^2`.
    pub deviation: f64,
    /// `|grad|^2` in M^-1.
    pub gradient: f64,
    /// `|v|^2` in M.
    pub momentum: f64,
    /// `|J^T gamma|^2` in M^-1.
    pub impulse: f64,
}

/// The gradient `M (v - v*) - J^T gamma` of every touched node (zero where there is no mass), and the norms.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn gradient(
    mass: &[f64],
    inverse_mass: &[f64],
    v: &[Vector],
    free: &[Vector],
    impulse: &[Vector],
    out: &mut [Vector],
) -> Norms {
    let mut sums = [ZERO; 4];
    let nodes = mass.iter().zip(inverse_mass).zip(v).zip(free).zip(impulse).zip(out);
    for (((((&m, &inverse), v), free), j), out) in nodes {
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
    let [deviation, gradient, momentum, impulse] = sums.map(sum);
    Norms { deviation, gradient, momentum, impulse }
}

/// `out = -B x` with symmetric blocks B.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn apply_blocks_negated(blocks: &[Columns], x: &[Vector], out: &mut [Vector]) {
    for ((block, x), out) in blocks.iter().zip(x).zip(out) {
        *out = apply(block, x).map(|value| -value);
    }
}

/// `(d . g, |d|_M^2)` of a direction.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn slope(mass: &[f64], gradient: &[Vector], direction: &[Vector]) -> [f64; 2] {
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
pub(super) fn add_scaled(a: f64, x: &[Vector], y: &mut [Vector]) {
    for (x, y) in x.iter().zip(y) {
        axpy(a, x, y);
    }
}

/// `x . y`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn dot(x: &[Vector], y: &[Vector]) -> f64 {
    let mut total = ZERO;
    for (x, y) in x.iter().zip(y) {
        for l in 0..4 {
            total[l] = x[l].mul_add(y[l], total[l]);
        }
    }
    sum(total)
}

/// First half of a conjugate-gradient iteration: `p = z + beta p`, `q = M p`; returns `|p|_M^2`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn conjugate(mass: &[f64], z: &[Vector], beta: f64, p: &mut [Vector], q: &mut [Vector]) -> f64 {
    let mut total = ZERO;
    for (((&m, z), p), q) in mass.iter().zip(z).zip(p).zip(q) {
        for l in 0..4 {
            p[l] = beta.mul_add(p[l], z[l]);
            q[l] = m * p[l];
            total[l] = p[l].mul_add(q[l], total[l]);
        }
    }
    sum(total)
}

/// Second half: `x += a p`, `r -= a q`, `z = B r`; returns `r . z` and `|r|^2` in M^-1.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn descend(
    a: f64,
    p: &[Vector],
    q: &[Vector],
    blocks: &[Columns],
    inverse_mass: &[f64],
    x: &mut [Vector],
    r: &mut [Vector],
    z: &mut [Vector],
) -> [f64; 2] {
    let mut sums = [ZERO; 2];
    let inputs = p.iter().zip(q).zip(blocks).zip(inverse_mass);
    let outputs = x.iter_mut().zip(r).zip(z);
    for ((((p, q), block), &inverse), ((x, r), z)) in inputs.zip(outputs) {
        axpy(a, p, x);
        axpy(-a, q, r);
        *z = apply(block, r);
        for l in 0..4 {
            sums[0][l] = r[l].mul_add(z[l], sums[0][l]);
            sums[1][l] = (inverse * r[l]).mul_add(r[l], sums[1][l]);
        }
    }
    sums.map(sum)
}
