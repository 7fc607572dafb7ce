//! Triangles: intersection with rays, and smooth normals.

use super::ray::{Ray, V3};

/// Two unit vectors across a unit `direction` and across each other (Duff et al., "Building an
/// orthonormal basis, revisited", 2017).
fn across(direction: &V3) -> [V3; 2] {
    let sign = 1.0_f32.copysign(direction.z);
    let a = -1.0 / (sign + direction.z);
    let b = direction.x * direction.y * a;
    [
        V3::new(1.0 + sign * direction.x * direction.x * a, sign * b, -sign * direction.x),
        V3::new(b, sign + direction.y * direction.y * a, -direction.y),
    ]
}

/// Intersection of a ray and a triangle: t and the weights of the corners.
///
/// Signed areas in the plane across the ray, which for an edge that two triangles share are
/// opposite to the last bit, so that no ray slips between them (after Woop, Benthin and Wald,
/// "Watertight ray/triangle intersection", 2013).
pub(super) fn intersect(corners: &[V3; 3], ray: &Ray) -> Option<(f32, [f32; 3])> {
    let [right, up] = across(&ray.direction);
    let offsets = corners.map(|c| c - ray.origin);
    let flat = offsets.map(|o| [o.dot(&right), o.dot(&up)]);
    let area = |i: usize, j: usize| flat[i][0] * flat[j][1] - flat[i][1] * flat[j][0];
    let areas = [area(1, 2), area(2, 0), area(0, 1)];
    if !(areas.iter().all(|a| *a >= 0.0) || areas.iter().all(|a| *a <= 0.0)) {
        return None;
    }
    let whole = areas[0] + areas[1] + areas[2];
    if whole == 0.0 {
        return None;
    }
    let weights = areas.map(|a| a / whole);
    let t = (0..3).map(|i| weights[i] * offsets[i].dot(&ray.direction)).sum::<f32>();
    (t > 0.0).then_some((t, weights))
}

/// Normal of a triangle, as long as twice its area.
pub(super) fn facet(corners: &[V3; 3]) -> V3 {
    (corners[1] - corners[0]).cross(&(corners[2] - corners[0]))
}

/// Whether the ray meets the side that the normal points away from.
pub(super) fn from_behind(corners: &[V3; 3], ray: &Ray) -> bool {
    facet(corners).dot(&ray.direction) > 0.0
}

/// Normals of vertices, any length: those of their triangles, weighted by area. Triangles that are
/// not finite are ignored.
pub(super) fn vertex_normals(points: &[V3], triangles: &[[u32; 3]]) -> Vec<V3> {
    let mut normals = vec![V3::zeros(); points.len()];
    for triangle in triangles {
        let normal = facet(&triangle.map(|v| points[v as usize]));
        if normal.iter().all(|x| x.is_finite()) {
            triangle.iter().for_each(|&v| normals[v as usize] += normal);
        }
    }
    normals
}

/// Unit normal of a triangle whose corners have the unit `normals`, on the side of the ray.
pub(super) fn seen_normal(corners: &[V3; 3], normals: &[V3; 3], ray: &Ray) -> V3 {
    let weights = intersect(corners, ray).map_or([1.0 / 3.0; 3], |(_, weights)| weights);
    let smooth = normals[0] * weights[0] + normals[1] * weights[1] + normals[2] * weights[2];
    let towards = if from_behind(corners, ray) { -smooth } else { smooth };
    let unit = towards.try_normalize(0.0).unwrap_or(-ray.direction);
    // Near a silhouette the smooth normal may point away from the eye although the triangle is
    // visible: then it is edge-on.
    let away = unit.dot(&ray.direction);
    if away > 0.0 { (unit - ray.direction * away).try_normalize(0.0).unwrap_or(-ray.direction) } else { unit }
}
