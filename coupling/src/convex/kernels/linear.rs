//! The Newton system in single precision, in velocities scaled by the roots of the masses:
//! `(I + S J^T G J S) y = -S g` with `S = M^-1/2`, so that the identity bounds it from below at any ratio of masses.
//!
//! Single precision is enough: the system is solved again at every iterate, whose gradient is exact to double
//! precision, and rounded weights and Hessians still make a symmetric, positive semidefinite product.

use std::hint::black_box;

use multiversion::multiversion;

use super::super::active::Active;
use super::super::prepared::{Group, Vector, Weights};
use super::{Columns, Packed};

/// A node's or a contact's vector `[x, y, z, 0]` in single precision: one SSE register.
pub(in super::super) type Quad = [f32; 4];

/// The columns of a symmetric 3x3 matrix.
pub(in super::super) type QuadColumns = [Quad; 3];

/// One active contact of the Newton system.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Linearised {
    xy: [f32; 9],
    z: [f32; 3],
    hessian: QuadColumns,
}

/// Nodes summed in single precision before the sum goes on in double precision.
const CHUNK: usize = 64;

const ZERO: Quad = [0.0; 4];

#[inline(always)]
fn axpy(a: f32, x: &Quad, y: &mut Quad) {
    for l in 0..4 {
        y[l] = a.mul_add(x[l], y[l]);
    }
}

#[inline(always)]
fn apply(matrix: &QuadColumns, x: &Quad) -> Quad {
    let mut y = ZERO;
    for a in 0..3 {
        axpy(x[a], &matrix[a], &mut y);
    }
    y
}

#[inline(always)]
fn add_to(total: &mut [f64; 4], part: &Quad) {
    for l in 0..4 {
        total[l] += f64::from(part[l]);
    }
}

/// The active contacts with the Hessians of the iterate, in single precision.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn linearise(
    active: &Active,
    weights: &[Weights],
    hessians: &[Columns],
    out: &mut Vec<Linearised>,
) {
    out.clear();
    out.resize(active.contacts.len(), Linearised::default());
    for (&c, out) in active.contacts.iter().zip(out) {
        let (w, g) = (&weights[c as usize], &hessians[c as usize]);
        for r in 0..9 {
            out.xy[r] = w.xy[r] as f32;
        }
        for k in 0..3 {
            out.z[k] = w.z[k] as f32;
            for l in 0..4 {
                out.hessian[k][l] = g[k][l] as f32;
            }
        }
    }
}

/// `out += J^T G J x`; returns `x^T J^T G J x`. The groups' ranges count in `contacts`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn product_add(
    groups: &[Group],
    contacts: &[Linearised],
    x: &[Quad],
    out: &mut [Quad],
) -> f64 {
    let mut curvature = [0.0; 4];
    for group in groups {
        let mut field = [&[ZERO; 3]; 9];
        for r in 0..9 {
            // Always there: the rows are nodes of the problem.
            if let Some(run) = x[group.rows[r] as usize..].first_chunk::<3>() {
                field[r] = run;
            }
        }
        // What the group's contacts give its rows: nodes are written once a group.
        let mut sums = [[0.0; 12]; 9];
        // Opaque, or the compiler takes the arrays apart into scalars.
        let (field, sums) = (black_box(field), black_box(&mut sums));
        let mut part = ZERO;
        for contact in &contacts[group.begin as usize..group.end as usize] {
            // Three sums at a time, or each would wait for the last.
            let mut planes = [[0.0; 12]; 3];
            for j in 0..3 {
                for i in 0..3 {
                    let (weight, run) = (contact.xy[3 * i + j], field[3 * i + j].as_flattened());
                    for l in 0..12 {
                        planes[i][l] = weight.mul_add(run[l], planes[i][l]);
                    }
                }
            }
            let mut value = ZERO;
            for l in 0..4 {
                let mut layers = [0.0; 3];
                for k in 0..3 {
                    layers[k] = planes[0][4 * k + l] + planes[1][4 * k + l] + planes[2][4 * k + l];
                }
                value[l] = contact.z[2]
                    .mul_add(layers[2], contact.z[1].mul_add(layers[1], contact.z[0] * layers[0]));
            }
            let value = black_box(value);
            let image = black_box(apply(&contact.hessian, &value));
            for l in 0..4 {
                part[l] = value[l].mul_add(image[l], part[l]);
            }
            let mut layers = [0.0; 12];
            for k in 0..3 {
                for l in 0..4 {
                    layers[4 * k + l] = contact.z[k] * image[l];
                }
            }
            for r in 0..9 {
                for l in 0..12 {
                    sums[r][l] = contact.xy[r].mul_add(layers[l], sums[r][l]);
                }
            }
        }
        for r in 0..9 {
            let first = group.rows[r] as usize;
            for (node, sum) in out[first..first + 3].iter_mut().zip(sums[r].as_chunks::<4>().0) {
                for l in 0..4 {
                    node[l] += sum[l];
                }
            }
        }
        add_to(&mut curvature, &part);
    }
    curvature.iter().sum()
}

/// The inverses of the scaled diagonal blocks `I + s_i^2 B_i`, by LDL^T with the pivots held at one (their bound in
/// exact arithmetic).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn invert_scaled(blocks: &[Packed], scale: &[f32], out: &mut [QuadColumns]) {
    const LANES: usize = 8;
    let chunks = blocks.chunks(LANES).zip(scale.chunks(LANES)).zip(out.chunks_mut(LANES));
    for ((blocks, scale), out) in chunks {
        let mut b = [[0.0f32; LANES]; 6];
        for (l, (block, s)) in blocks.iter().zip(scale).enumerate() {
            for e in 0..6 {
                b[e][l] = (block[e] * s) * s;
            }
        }
        let mut inverse = [[0.0f32; LANES]; 6];
        for l in 0..LANES {
            let i0 = 1.0 / (b[0][l] + 1.0);
            let l10 = b[3][l] * i0;
            let l20 = b[4][l] * i0;
            let i1 = 1.0 / (b[1][l] + 1.0 - l10 * b[3][l]).max(1.0);
            let c21 = b[5][l] - l20 * b[3][l];
            let l21 = c21 * i1;
            let i2 = 1.0 / (b[2][l] + 1.0 - l20 * b[4][l] - l21 * c21).max(1.0);
            // Rows of L^-1: [1, 0, 0], [-l10, 1, 0], [p, -l21, 1].
            let p = l10 * l21 - l20;
            inverse[0][l] = i0 + l10 * l10 * i1 + p * p * i2;
            inverse[1][l] = i1 + l21 * l21 * i2;
            inverse[2][l] = i2;
            inverse[3][l] = -l10 * i1 - p * (l21 * i2);
            inverse[4][l] = p * i2;
            inverse[5][l] = -l21 * i2;
        }
        for (l, out) in out.iter_mut().enumerate() {
            let b = &inverse;
            *out = [
                [b[0][l], b[3][l], b[4][l], 0.0],
                [b[3][l], b[1][l], b[5][l], 0.0],
                [b[4][l], b[5][l], b[2][l], 0.0],
            ];
        }
    }
}

/// First half of a conjugate-gradient iteration: `p = z + beta p`, `t = S p`, `q = 0`; returns `|p|^2`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn conjugate(
    scale: &[f32],
    z: &[Quad],
    beta: f32,
    p: &mut [Quad],
    t: &mut [Quad],
    q: &mut [Quad],
) -> f64 {
    let mut total = [0.0; 4];
    let inputs = scale.chunks(CHUNK).zip(z.chunks(CHUNK));
    let outputs = p.chunks_mut(CHUNK).zip(t.chunks_mut(CHUNK)).zip(q.chunks_mut(CHUNK));
    for ((scale, z), ((p, t), q)) in inputs.zip(outputs) {
        let mut part = ZERO;
        for ((((&s, z), p), t), q) in scale.iter().zip(z).zip(p).zip(t).zip(q) {
            for l in 0..4 {
                p[l] = beta.mul_add(p[l], z[l]);
                t[l] = s * p[l];
                part[l] = p[l].mul_add(p[l], part[l]);
            }
            *q = ZERO;
        }
        add_to(&mut total, &part);
    }
    total.iter().sum()
}

/// Second half: `x += a p`, `r -= a (p + S q)`, `z = B r`; returns `r . z` and `|r|^2`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn descend(
    a: f32,
    p: &[Quad],
    q: &[Quad],
    scale: &[f32],
    blocks: &[QuadColumns],
    x: &mut [Quad],
    r: &mut [Quad],
    z: &mut [Quad],
) -> [f64; 2] {
    let mut totals = [[0.0; 4]; 2];
    let inputs = p.chunks(CHUNK).zip(q.chunks(CHUNK)).zip(scale.chunks(CHUNK)).zip(blocks.chunks(CHUNK));
    let outputs = x.chunks_mut(CHUNK).zip(r.chunks_mut(CHUNK)).zip(z.chunks_mut(CHUNK));
    for ((((p, q), scale), blocks), ((x, r), z)) in inputs.zip(outputs) {
        let mut parts = [ZERO; 2];
        let inputs = p.iter().zip(q).zip(scale).zip(blocks);
        let outputs = x.iter_mut().zip(r).zip(z);
        for ((((p, q), &s), block), ((x, r), z)) in inputs.zip(outputs) {
            axpy(a, p, x);
            for l in 0..4 {
                r[l] = (-a).mul_add(s.mul_add(q[l], p[l]), r[l]);
            }
            // Opaque, as above.
            let r = black_box(r);
            *z = apply(block, r);
            for l in 0..4 {
                parts[0][l] = r[l].mul_add(z[l], parts[0][l]);
                parts[1][l] = r[l].mul_add(r[l], parts[1][l]);
            }
        }
        add_to(&mut totals[0], &parts[0]);
        add_to(&mut totals[1], &parts[1]);
    }
    totals.map(|lanes| lanes.iter().sum())
}

/// The right-hand side `-S g / norm` of the scaled system.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn scale_gradient(norm: f64, scale: &[f32], gradient: &[Vector], out: &mut [Quad]) {
    let factor = -1.0 / norm;
    for ((g, &s), out) in gradient.iter().zip(scale).zip(out) {
        let scale = factor * f64::from(s);
        for l in 0..4 {
            out[l] = (scale * g[l]) as f32;
        }
    }
}

/// The velocities `S y norm` of the scaled system's solution.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn scale_solution(norm: f64, scale: &[f32], y: &[Quad], out: &mut [Vector]) {
    for ((y, &s), out) in y.iter().zip(scale).zip(out) {
        let scale = norm * f64::from(s);
        for l in 0..4 {
            out[l] = scale * f64::from(y[l]);
        }
    }
}
