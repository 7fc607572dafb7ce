//! The contact model at all contacts, and along a search direction.

use multiversion::multiversion;
use pliant_rigid::contact_model::{self, IN_LANES, LinePoint};

use super::super::layout::{ContactModelLanes, LANES, Vector};
use super::SymmetricColumns;

/// Impulses and the sum of the potentials at the contact velocities `v`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn linearise_response(
    contact_models: &[ContactModelLanes],
    v: &[Vector],
    impulses: &mut [Vector],
) -> f64 {
    let mut potential = [0.0; LANES];
    let chunks = v.chunks_exact(LANES).zip(impulses.chunks_exact_mut(LANES));
    for (model, (v, impulses)) in contact_models.iter().zip(chunks) {
        let n = &model.normal;
        let mut gamma = [[0.0; LANES]; 3];
        for l in 0..LANES {
            let (x, y, z) = (v[l][0], v[l][1], v[l][2]);
            let (nx, ny, nz) = (n[0][l], n[1][l], n[2][l]);
            let v_n = nx * x + ny * y + nz * z;
            let (tx, ty, tz) = (x - v_n * nx, y - v_n * ny, z - v_n * nz);
            let normal = model.normal_model(l).at::<IN_LANES>(v_n);
            let [friction, c, _] = model.friction(l).at(tx * tx + ty * ty + tz * tz);
            potential[l] += normal.potential + friction;
            let gamma_n = normal.impulse;
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

/// Hessians of the potentials at the contact velocities `v`; `hessian_blend` scales the part of
/// friction that lowers them along the slip, `-c/s^2 v_t v_t^T`: 1 gives the Hessian, 0 the
/// quadratic that touches friction's potential here and lies above it everywhere.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn hessians(
    contact_models: &[ContactModelLanes],
    v: &[Vector],
    hessian_blend: f64,
    out: &mut [SymmetricColumns],
) {
    let chunks = v.chunks_exact(LANES).zip(out.chunks_exact_mut(LANES));
    for (model, (v, out)) in contact_models.iter().zip(chunks) {
        let n = &model.normal;
        let mut g = [[0.0; LANES]; 6];
        for l in 0..LANES {
            let (x, y, z) = (v[l][0], v[l][1], v[l][2]);
            let (nx, ny, nz) = (n[0][l], n[1][l], n[2][l]);
            let v_n = nx * x + ny * y + nz * z;
            let (tx, ty, tz) = (x - v_n * nx, y - v_n * ny, z - v_n * nz);
            let k_n = model.normal_model(l).at::<IN_LANES>(v_n).hessian;
            let [c, inverse_s] = model.friction(l).secant_and_inverse(tx * tx + ty * ty + tz * tz);
            // G = c I + (k_n - c) n n^T - c/s^2 t t^T, rounded as lanes are fastest: its six
            // entries from one division. The slip's direction is formed before it is squared: c/s^2
            // alone overflows at no slip.
            let (kn, ct) = (k_n - c, hessian_blend * c);
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

/// [`LANES`] contacts seen along a search direction: all that the objective needs at any step
/// length.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct LineSearchLanes {
    v_n: [f64; LANES],
    dv_n: [f64; LANES],
    /// `|v_t|^2`, `v_t . dv_t` and `|dv_t|^2`.
    slip: [f64; LANES],
    cross: [f64; LANES],
    dslip: [f64; LANES],
}

/// Prepares the rays `v + alpha dv`.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(in super::super) fn rays(
    contact_models: &[ContactModelLanes],
    v: &[Vector],
    dv: &[Vector],
    out: &mut [LineSearchLanes],
) {
    let chunks = v.chunks_exact(LANES).zip(dv.chunks_exact(LANES));
    for ((model, (v, dv)), ray) in contact_models.iter().zip(chunks).zip(out) {
        let n = &model.normal;
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
pub(in super::super) fn along(
    contact_models: &[ContactModelLanes],
    line_search_lanes: &[LineSearchLanes],
    alpha: f64,
) -> [f64; 3] {
    let mut sums = [[0.0; LANES]; 3];
    for (model, ray) in contact_models.iter().zip(line_search_lanes) {
        for l in 0..LANES {
            let dslip = ray.dslip[l];
            let at = LinePoint {
                v_n: ray.v_n[l] + alpha * ray.dv_n[l],
                dv_n: ray.dv_n[l],
                // Rounding must not make the square of the slip negative.
                slip_squared: (ray.slip[l] + alpha * (2.0 * ray.cross[l] + alpha * dslip)).max(0.0),
                cross: ray.cross[l] + alpha * dslip,
                change_squared: dslip,
            };
            let terms = contact_model::along::<IN_LANES>(&model.normal_model(l), &model.friction(l), &at);
            for k in 0..3 {
                sums[k][l] += terms[k];
            }
        }
    }
    sums.map(|lanes| lanes.iter().sum())
}
