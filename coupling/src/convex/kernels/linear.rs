//! The Newton system in velocities scaled by the roots of the masses: `(I + S J^T G J S) y = -S g`
//! with `S = M^-1/2`, so that the identity bounds it from below at any ratio of masses. Written
//! once for single and double precision.
//!
//! Single precision is enough while the contacts' part is not so large that the identity is lost in
//! its rounding: the system is solved again at every iterate, whose gradient is exact to double
//! precision, and rounded weights and Hessians still make a symmetric, positive semidefinite
//! product.
//!
//! Each component of the nodes' vectors is stored separately, eight nodes to a [`Lanes`]: [`Nodes`]
//! where only loops over the nodes go, [`Rows`] where contacts read three consecutive nodes
//! wherever they begin.

use std::hint::black_box;

use multiversion::multiversion;

use super::super::active::Active;
use super::super::layout::{Vector, Weights};
use super::{Matrix, Real, SymmetricColumns};

/// Nodes side by side: an AVX register of f32, or two of f64.
pub(in super::super) const WIDTH: usize = 8;

pub(in super::super) type Lanes<T> = [T; WIDTH];

/// Vectors of eight nodes, component by component.
pub(in super::super) type Nodes<T> = [Lanes<T>; 3];

/// Symmetric 3x3 matrices of eight nodes, `[xx, yy, zz, xy, xz, yz]`.
pub(in super::super) type NodeBlocks<T> = [Lanes<T>; 6];

/// The components of all nodes' vectors, padded so that four nodes can be read from the last row
/// on.
pub(in super::super) type Rows<T> = [Vec<T>; 3];

/// One number for each node of a stencil: nine rows of three nodes and a fourth that counts for
/// nothing.
pub(in super::super) type Stencil<T> = [Lanes<T>; 5];

/// Registers summed in their own precision before the sum goes on in double precision.
const CHUNK: usize = 64;

/// The sum over a stencil of its weights times a component of its nodes. The lanes go through
/// memory before they are summed, or the compiler mixes the components of a vector in its
/// registers, with a shuffle for each product.
#[inline(always)]
fn interpolate<T: Real>(weights: &Stencil<T>, field: &Stencil<T>) -> T {
    let mut lanes = [T::default(); WIDTH];
    for m in 0..weights.len() {
        for l in 0..WIDTH {
            lanes[l] = weights[m][l].mul_add(field[m][l], lanes[l]);
        }
    }
    let h = black_box(lanes);
    ((h[0] + h[4]) + (h[2] + h[6])) + ((h[1] + h[5]) + (h[3] + h[7]))
}

#[inline(always)]
fn add_to<T: Real>(total: &mut f64, part: &Lanes<T>) {
    for l in 0..WIDTH {
        *total += part[l].double();
    }
}

/// Products `xy z` of all contacts' weights.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn expand_weights<T: Real>(weights: &[Weights], out: &mut [Stencil<T>]) {
    for (w, out) in weights.iter().zip(out) {
        let z = [T::of(w.z[0]), T::of(w.z[1]), T::of(w.z[2]), T::default()];
        for (row, &xy) in out.as_flattened_mut().as_chunks_mut::<4>().0.iter_mut().zip(&w.xy) {
            let xy = T::of(xy);
            for k in 0..4 {
                row[k] = xy * z[k];
            }
        }
    }
}

/// The active contacts' Hessians.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn pack_hessians<T: Real>(
    active: &Active,
    hessians: &[SymmetricColumns],
    out: &mut [Matrix<T>],
) {
    for (&c, out) in active.contacts.iter().zip(out) {
        let g = &hessians[c as usize];
        let entries = [g[0][0], g[1][1], g[2][2], g[0][1], g[0][2], g[1][2]];
        for e in 0..6 {
            out[e] = T::of(entries[e]);
        }
    }
}

/// `out += J^T G J x`; returns `x^T J^T G J x`.
///
/// With strongly coupled bodies (`MOBILE`), `moved` holds the bodies' contribution to each active
/// contact's relative velocity, and is overwritten with `G J x`: the nodes' part of the transposed
/// product is computed here, the bodies' by the caller.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn product_add<T: Real, const MOBILE: bool>(
    active: &Active,
    weights: &[Stencil<T>],
    hessians: &[Matrix<T>],
    moved: &mut [[T; 4]],
    x: &Rows<T>,
    out: &mut Rows<T>,
) -> f64 {
    let nodes = x[0].len();
    let x = [&x[0][..nodes], &x[1][..nodes], &x[2][..nodes]];
    let [out_x, out_y, out_z] = out;
    let out = [&mut out_x[..nodes], &mut out_y[..nodes], &mut out_z[..nodes]];
    let mut curvature = 0.0;
    let mut field = [[[T::default(); WIDTH]; 5]; 3];
    for group in &active.groups {
        // The group's rows side by side, and what its contacts give them: nodes are read and
        // written once a group.
        for r in 0..9 {
            let first = group.rows[r] as usize;
            for a in 0..3 {
                let row = &mut field[a].as_flattened_mut()[4 * r..4 * r + 4];
                row.copy_from_slice(&x[a][first..first + 4]);
            }
        }
        let mut sums = [[[T::default(); WIDTH]; 5]; 3];
        // Opaque, or the compiler takes the arrays apart into scalars.
        let (field, sums) = (black_box(&field), black_box(&mut sums));
        let mut part = T::default();
        let range = group.begin as usize..group.end as usize;
        let first = range.start;
        for (n, (&c, g)) in active.contacts[range.clone()].iter().zip(&hessians[range]).enumerate() {
            let w = weights[c as usize];
            let mut v: [T; 3] =
                [interpolate(&w, &field[0]), interpolate(&w, &field[1]), interpolate(&w, &field[2])];
            if MOBILE {
                let moved = &moved[first + n];
                for a in 0..3 {
                    v[a] = v[a] - moved[a];
                }
            }
            let image = black_box([
                g[0].mul_add(v[0], g[3].mul_add(v[1], g[4] * v[2])),
                g[3].mul_add(v[0], g[1].mul_add(v[1], g[5] * v[2])),
                g[4].mul_add(v[0], g[5].mul_add(v[1], g[2] * v[2])),
            ]);
            if MOBILE {
                moved[first + n][..3].copy_from_slice(&image);
            }
            part = part + v[0].mul_add(image[0], v[1].mul_add(image[1], v[2] * image[2]));
            for a in 0..3 {
                for m in 0..w.len() {
                    let mut sum = sums[a][m];
                    for l in 0..WIDTH {
                        sum[l] = w[m][l].mul_add(image[a], sum[l]);
                    }
                    sums[a][m] = sum;
                }
            }
        }
        for r in 0..9 {
            let first = group.rows[r] as usize;
            for a in 0..3 {
                if let Some(run) = out[a][first..].first_chunk_mut::<4>() {
                    let sum = sums[a].as_flattened().as_chunks::<4>().0[r];
                    let mut value = *run;
                    for k in 0..4 {
                        value[k] = value[k] + sum[k];
                    }
                    *run = value;
                }
            }
        }
        curvature += part.double();
    }
    curvature
}

/// The inverses of the scaled diagonal blocks `I + s_i^2 B_i`, by LDL^T with the pivots held at one
/// (their bound in exact arithmetic). Returns the largest trace of the `s_i^2 B_i`, which are
/// positive semidefinite.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn invert_scaled<T: Real>(
    blocks: &[Matrix<T>],
    scale: &[Lanes<T>],
    out: &mut [NodeBlocks<T>],
) -> f64 {
    let mut largest = [T::default(); WIDTH];
    let one = T::of(1.0);
    for ((blocks, scale), out) in blocks.chunks(WIDTH).zip(scale).zip(out) {
        let mut b = [[T::default(); WIDTH]; 6];
        for (l, block) in blocks.iter().enumerate() {
            for e in 0..6 {
                b[e][l] = block[e];
            }
        }
        for e in 0..6 {
            for l in 0..WIDTH {
                b[e][l] = (b[e][l] * scale[l]) * scale[l];
            }
        }
        for l in 0..WIDTH {
            largest[l] = largest[l].max(b[0][l] + b[1][l] + b[2][l]);
            let i0 = (b[0][l] + one).inverse();
            let l10 = b[3][l] * i0;
            let l20 = b[4][l] * i0;
            let i1 = (b[1][l] + one - l10 * b[3][l]).max(one).inverse();
            let c21 = b[5][l] - l20 * b[3][l];
            let l21 = c21 * i1;
            let i2 = (b[2][l] + one - l20 * b[4][l] - l21 * c21).max(one).inverse();
            // Rows of L^-1: [1, 0, 0], [-l10, 1, 0], [p, -l21, 1].
            let p = l10 * l21 - l20;
            out[0][l] = i0 + l10 * l10 * i1 + p * p * i2;
            out[1][l] = i1 + l21 * l21 * i2;
            out[2][l] = i2;
            out[3][l] = -l10 * i1 - p * (l21 * i2);
            out[4][l] = p * i2;
            out[5][l] = -l21 * i2;
        }
    }
    largest.iter().fold(0.0, |most: f64, value| most.max(value.double()))
}

/// First half of a conjugate-gradient iteration: `p = z + beta p`, `t = S p`, `q = 0`; returns
/// `|p|^2`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn conjugate<T: Real>(
    scale: &[Lanes<T>],
    z: &[Nodes<T>],
    beta: T,
    p: &mut [Nodes<T>],
    t: &mut Rows<T>,
    q: &mut Rows<T>,
) -> f64 {
    let mut total = 0.0;
    for a in 0..3 {
        q[a].fill(T::default());
        let inputs = scale.chunks(CHUNK).zip(z.chunks(CHUNK));
        let outputs = p.chunks_mut(CHUNK).zip(t[a].as_chunks_mut::<WIDTH>().0.chunks_mut(CHUNK));
        for ((scale, z), (p, t)) in inputs.zip(outputs) {
            let mut part = [T::default(); WIDTH];
            for (((scale, z), p), t) in scale.iter().zip(z).zip(p).zip(t) {
                for l in 0..WIDTH {
                    let value = beta.mul_add(p[a][l], z[a][l]);
                    p[a][l] = value;
                    t[l] = scale[l] * value;
                    part[l] = value.mul_add(value, part[l]);
                }
            }
            add_to(&mut total, &part);
        }
    }
    total
}

/// Second half: `x += a p`, `r -= a (p + S q)`, `z = B r`; returns `r . z` and `|r|^2`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn descend<T: Real>(
    alpha: T,
    p: &[Nodes<T>],
    q: &Rows<T>,
    scale: &[Lanes<T>],
    blocks: &[NodeBlocks<T>],
    x: &mut [Nodes<T>],
    r: &mut [Nodes<T>],
    z: &mut [Nodes<T>],
) -> [f64; 2] {
    let mut totals = [0.0; 2];
    let [q_x, q_y, q_z] = q;
    let q = [q_x.as_chunks::<WIDTH>().0, q_y.as_chunks::<WIDTH>().0, q_z.as_chunks::<WIDTH>().0];
    let count = p.len();
    let mut begin = 0;
    while begin < count {
        let end = count.min(begin + CHUNK);
        let mut parts = [[T::default(); WIDTH]; 2];
        for i in begin..end {
            let (p, scale, b) = (&p[i], &scale[i], &blocks[i]);
            let (x, r, z) = (&mut x[i], &mut r[i], &mut z[i]);
            for a in 0..3 {
                let q = &q[a][i];
                for l in 0..WIDTH {
                    x[a][l] = alpha.mul_add(p[a][l], x[a][l]);
                    r[a][l] = (-alpha).mul_add(scale[l].mul_add(q[l], p[a][l]), r[a][l]);
                }
            }
            for l in 0..WIDTH {
                z[0][l] = b[0][l].mul_add(r[0][l], b[3][l].mul_add(r[1][l], b[4][l] * r[2][l]));
                z[1][l] = b[3][l].mul_add(r[0][l], b[1][l].mul_add(r[1][l], b[5][l] * r[2][l]));
                z[2][l] = b[4][l].mul_add(r[0][l], b[5][l].mul_add(r[1][l], b[2][l] * r[2][l]));
            }
            for a in 0..3 {
                for l in 0..WIDTH {
                    parts[0][l] = r[a][l].mul_add(z[a][l], parts[0][l]);
                    parts[1][l] = r[a][l].mul_add(r[a][l], parts[1][l]);
                }
            }
        }
        add_to(&mut totals[0], &parts[0]);
        add_to(&mut totals[1], &parts[1]);
        begin = end;
    }
    totals
}

/// The right-hand side `-S g / norm` of the scaled system.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn scale_gradient<T: Real>(
    norm: f64,
    scale: &[Lanes<T>],
    gradient: &[Vector],
    out: &mut [Nodes<T>],
) {
    let factor = -1.0 / norm;
    for ((g, scale), out) in gradient.chunks(WIDTH).zip(scale).zip(out) {
        for (l, g) in g.iter().enumerate() {
            let scale = factor * scale[l].double();
            for a in 0..3 {
                out[a][l] = T::of(scale * g[a]);
            }
        }
    }
}

/// The velocities `S y norm` of the scaled system's solution.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn scale_solution<T: Real>(
    norm: f64,
    scale: &[Lanes<T>],
    y: &[Nodes<T>],
    out: &mut [Vector],
) {
    for ((y, scale), out) in y.iter().zip(scale).zip(out.chunks_mut(WIDTH)) {
        for (l, out) in out.iter_mut().enumerate() {
            let scale = norm * scale[l].double();
            for a in 0..3 {
                out[a] = scale * y[a][l].double();
            }
        }
    }
}
