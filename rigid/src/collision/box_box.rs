//! Two boxes: fifteen axes.

use nalgebra::{Rotation3, Unit, Vector3};

/// Edges more parallel than this (sine of their angle) give no axis: the axes of faces suffice.
const PARALLEL: f64 = 1e-5;
/// If boxes overlap, an axis across two edges is used only if it is better than those of the faces
/// by this fraction of the overlap and by [`EDGE_SIZE`] of the least half extent: else boxes that
/// lie flat on each other would switch between face and edge.
const EDGE_OVERLAP: f64 = 0.02;
const EDGE_SIZE: f64 = 1e-6;

/// The axis, from the first box to the second, along which they are farthest apart or overlap
/// least, and the signed distance along it \[m\], by the separating axes of boxes (Gottschalk, Lin
/// and Manocha 1996). `None` where they are `margin` apart. `rotation` and `translation` are the
/// second's frame in the first's.
pub(super) fn separating_axis(
    a: &Vector3<f64>,
    b: &Vector3<f64>,
    rotation: &Rotation3<f64>,
    translation: &Vector3<f64>,
    margin: f64,
) -> Option<(Unit<Vector3<f64>>, f64)> {
    let r = rotation.matrix();
    let t = translation;
    let size = a.min().min(b.min());
    let tie = 1e-12 * size;
    let mut best = (Vector3::x(), f64::NEG_INFINITY);
    for i in 0..3 {
        let reach = a[i] + r[(i, 0)].abs() * b.x + r[(i, 1)].abs() * b.y + r[(i, 2)].abs() * b.z;
        let s = t[i].abs() - reach;
        if s >= margin {
            return None;
        }
        if s > best.1 + tie {
            best = (Vector3::ith(i, 1.0_f64.copysign(t[i])), s);
        }
    }
    for j in 0..3 {
        let axis = r.column(j);
        let along = axis.dot(t);
        let s = along.abs() - b[j] - (axis.x.abs() * a.x + axis.y.abs() * a.y + axis.z.abs() * a.z);
        if s >= margin {
            return None;
        }
        if s > best.1 + tie {
            best = (axis * 1.0_f64.copysign(along), s);
        }
    }
    let mut needed = best.1 + EDGE_SIZE * size + EDGE_OVERLAP * (-best.1).max(0.0);
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            // e_i x b_j has the components -b_j[i2] along i1 and b_j[i1] along i2.
            let (x, y) = (-r[(i2, j)], r[(i1, j)]);
            let norm = (x * x + y * y).sqrt();
            if norm < PARALLEL {
                continue;
            }
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            let along = x * t[i1] + y * t[i2];
            // Across b_j, the other axes of the second reach |r[i][j2]| and |r[i][j1]|.
            let reach =
                x.abs() * a[i1] + y.abs() * a[i2] + r[(i, j2)].abs() * b[j1] + r[(i, j1)].abs() * b[j2];
            let s = (along.abs() - reach) / norm;
            if s >= margin {
                return None;
            }
            if s > needed {
                needed = s;
                let mut axis = Vector3::zeros();
                axis[i1] = x;
                axis[i2] = y;
                best = (axis * (1.0_f64.copysign(along) / norm), s);
            }
        }
    }
    Some((Unit::new_unchecked(best.0), best.1))
}
