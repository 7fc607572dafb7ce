//! Products with the interpolation J and its transpose, contact by contact.

use std::hint::black_box;

use multiversion::multiversion;

use super::super::active::Active;
use super::super::layout::{Group, Vector, Weights};
use super::{Matrix, Real, SymmetricColumns, ZERO, axpy};

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

/// Adds `w_i x` of one contact to its nodes. Contact by contact: groups are small, and a loop over
/// their contacts for each of the nine rows would end too often.
#[inline(always)]
fn scatter(rows: &[u32; 9], weights: &Weights, x: &Vector, nodes: &mut [Vector]) {
    let mut layers = [ZERO; 3];
    for k in 0..3 {
        for l in 0..4 {
            layers[k][l] = weights.z[k] * x[l];
        }
    }
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
pub(in super::super) fn gather_add(
    groups: &[Group],
    weights: &[Weights],
    nodes: &[Vector],
    out: &mut [Vector],
) {
    for group in groups {
        let range = group.begin as usize..group.end as usize;
        for (w, value) in weights[range.clone()].iter().zip(&mut out[range]) {
            axpy(1.0, &interpolate(nodes, &group.rows, w), value);
        }
    }
}

/// `out_i += sum_c w_ic x_c`: the product with J^T.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn scatter_add(
    groups: &[Group],
    weights: &[Weights],
    values: &[Vector],
    out: &mut [Vector],
) {
    for group in groups {
        let range = group.begin as usize..group.end as usize;
        for (w, x) in weights[range.clone()].iter().zip(&values[range]).filter(|(_, x)| **x != ZERO) {
            scatter(&group.rows, w, x, out);
        }
    }
}

/// `out_i += sum_c w_ic^2 G_c`, or with the weight to the first power (`lumped`).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn diagonal_blocks_add<T: Real>(
    active: &Active,
    weights: &[Weights],
    hessians: &[SymmetricColumns],
    lumped: bool,
    out: &mut [Matrix<T>],
) {
    for group in &active.groups {
        for &c in &active.contacts[group.begin as usize..group.end as usize] {
            let (w, g) = (&weights[c as usize], &hessians[c as usize]);
            let packed = [g[0][0], g[1][1], g[2][2], g[0][1], g[0][2], g[1][2], 0.0, 0.0];
            let mut layers = [[T::default(); 8]; 3];
            for k in 0..3 {
                let factor = if lumped { w.z[k] } else { w.z[k] * w.z[k] };
                for l in 0..8 {
                    layers[k][l] = T::of(factor * packed[l]);
                }
            }
            let layers = black_box(layers);
            for r in 0..9 {
                let factor = T::of(if lumped { w.xy[r] } else { w.xy[r] * w.xy[r] });
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
