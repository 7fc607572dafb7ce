//! The look of woven cloth: a tone that depends on the place in the material, faded out where a pixel
//! is too wide to show it.

use super::ray::V3;
use super::triangle::facet;

/// Period of the crossings of threads \[m\], coarser than life so that pictures show it, and their
/// contrast.
const PERIOD: f32 = 0.005;
const CROSSINGS: f32 = 0.07;

/// Width and length of a thicker piece of thread \[m\], and the contrast of such pieces.
const SLUB: [f32; 2] = [0.005, 0.09];
const SLUBS: f32 = 0.09;

/// Coordinates in the material \[m\] of the vertices of cloth, from its shape at one time, best at
/// rest: their places in the plane in which most of its area lies. A vertex that keeps its coordinates
/// keeps its threads as the cloth moves.
///
/// # Panics
/// A triangle has a vertex that does not exist.
pub fn weave_coordinates(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Vec<[f32; 2]> {
    let points: Vec<V3> = positions.iter().map(|p| V3::from(*p)).collect();
    let mut spread = nalgebra::Matrix3::zeros();
    for triangle in triangles {
        let normal = facet(&triangle.map(|v| points[v as usize]));
        let area = normal.norm();
        if area > 0.0 && area.is_finite() {
            spread += normal * normal.transpose() / area;
        }
    }
    let total = spread.trace();
    if total.is_nan() || total <= 0.0 {
        return vec![[0.0; 2]; positions.len()];
    }
    let axes = (spread / total).symmetric_eigen();
    let normal: V3 = axes.eigenvectors.column(axes.eigenvalues.imax()).into();
    // Threads along the axis of the world that is most across the normal.
    let along = V3::ith(normal.iamin(), 1.0);
    let warp = (along - normal * normal.dot(&along)).normalize();
    let weft = normal.cross(&warp);
    points.iter().map(|p| [p.dot(&warp), p.dot(&weft)]).collect()
}

/// Whether pixels of `width` \[m\] on the cloth are too wide to show it.
pub(super) fn is_faded(width: f32) -> bool {
    width >= PERIOD.max(SLUB[0])
}

/// Factor of the albedo at a place in the material \[m\], of mean 1, for pixels of `width` \[m\] on the
/// cloth.
pub(super) fn tone(place: [f32; 2], width: f32) -> f32 {
    if is_faded(width) || !place.iter().all(|x| x.is_finite()) {
        return 1.0;
    }
    // A wave is gone where a pixel is half of it.
    let crossings = CROSSINGS * shown(width, 0.5 * PERIOD);
    let slubs = SLUBS * shown(width, SLUB[0]);
    let [u, v] = place;
    let wave = |x: f32| (std::f32::consts::TAU * (x / PERIOD).fract()).cos();
    let threads = noise(u / SLUB[0], v / SLUB[1], 0) + noise(v / SLUB[0], u / SLUB[1], 1);
    1.0 + crossings * wave(u) * wave(v) + slubs * threads
}

/// 1 for narrow pixels, 0 from `least` on.
fn shown(width: f32, least: f32) -> f32 {
    let t = ((least - width) / (0.6 * least)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Smooth noise within [-1/2, 1/2], of mean 0, with cells of side 1.
fn noise(x: f32, y: f32, kind: u32) -> f32 {
    let ([i, fx], [j, fy]) = (split(x), split(y));
    let at = |a: f32, b: f32| random((i + a) as i32, (j + b) as i32, kind);
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t * t * (3.0 - 2.0 * t);
    mix(mix(at(0.0, 0.0), at(1.0, 0.0), fx), mix(at(0.0, 1.0), at(1.0, 1.0), fx), fy)
}

fn split(x: f32) -> [f32; 2] {
    let whole = x.floor();
    [whole, x - whole]
}

/// A number within [-1/2, 1/2) that belongs to a corner of the cells.
fn random(i: i32, j: i32, kind: u32) -> f32 {
    let mut bits = (i as u32)
        .wrapping_mul(0x9e37_79b9)
        .wrapping_add((j as u32).wrapping_mul(0x85eb_ca6b))
        .wrapping_add(kind.wrapping_mul(0xc2b2_ae35));
    // The finaliser of MurmurHash3 (Appleby 2011).
    bits = (bits ^ bits >> 16).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ bits >> 13).wrapping_mul(0xc2b2_ae35);
    bits ^= bits >> 16;
    (bits >> 8) as f32 / 16_777_216.0 - 0.5
}
