// Signed distances to the geometries of bodies, with outward normal and feature, in the shape's
// frame (lengths in m): what `Shape::surface_point`, `surface_point_from` and `lower_bound` of
// pliant-rigid are, in f32.
//
// Hulls, meshes and height fields are their triangles, not sampled fields: a field would need a
// spacing below the thickness of the thinnest part, rounds off edges by a part of its spacing, and
// has no faces, by which the cache knows a particle's side. The nearest triangle comes from a tree
// of boxes. All positions are relative to the center of the shape, so that the error of a distance
// is a few roundings of the shape's size and the point's distance: 2^-24 of them each.
#pragma once

#include "parameters.cuh"

namespace contact {

struct Vector {
    float x, y, z;
};

__device__ __forceinline__ Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Vector operator-(Vector a) { return {-a.x, -a.y, -a.z}; }
__device__ __forceinline__ Vector operator*(Vector a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ float norm(Vector a) { return sqrtf(dot(a, a)); }
__device__ __forceinline__ Vector cross(Vector a, Vector b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __forceinline__ Vector absolute(Vector a) { return {fabsf(a.x), fabsf(a.y), fabsf(a.z)}; }
__device__ __forceinline__ Vector positive(Vector a) { return {fmaxf(a.x, 0.0f), fmaxf(a.y, 0.0f), fmaxf(a.z, 0.0f)}; }
__device__ __forceinline__ float largest(Vector a) { return fmaxf(a.x, fmaxf(a.y, a.z)); }
__device__ __forceinline__ Vector vector(const Array<float, 3>& a) { return {a[0], a[1], a[2]}; }
__device__ __forceinline__ Array<float, 3> array(Vector a) { return {{a.x, a.y, a.z}}; }

// The direction of `v`, or `fallback` where its length is lost to rounding: squares below are not
// normal numbers.
__device__ __forceinline__ Vector direction_or(Vector v, Vector fallback) {
    const float squared = dot(v, v);
    return squared > 1e-36f ? v * (1.0f / sqrtf(squared)) : fallback;
}

// Cosine of 60 degrees: faces whose normals are closer than this face the same side.
constexpr float SAME_SIDE_COSINE = 0.5f;
// Cosine of 26 degrees: a point outside is behind a face whose nearest point it sees closer than
// this to the normal.
constexpr float SHADOW_COSINE = 0.9f;
// Nearer to an edge or vertex than this part of the shape's radius, the direction to it is made of
// roundings (2^-24 each).
constexpr float COINCIDENT = 7.6e-6f;

// Distances that differ by less than this part of the lengths at hand are equal: four roundings.
constexpr float TIE = 2.4e-7f;

// The nearest point of a surface is `p - distance * normal`.
struct Surface {
    // Negative inside.
    float distance;
    Vector normal;
    uint32_t feature;
};

__device__ __forceinline__ Vector axis_vector(uint32_t axis, float value) {
    return {axis == 0 ? value : 0.0f, axis == 1 ? value : 0.0f, axis == 2 ? value : 0.0f};
}

__device__ __forceinline__ float component(Vector v, uint32_t axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

__device__ __forceinline__ Surface box(Vector half, Vector p) {
    const Vector excess = absolute(p) - half;
    uint32_t axis = excess.y > excess.x ? 1 : 0;
    axis = excess.z > component(excess, axis) ? 2 : axis;
    const float sign = component(p, axis) < 0.0f ? -1.0f : 1.0f;
    const uint32_t feature = 2 * axis + (sign < 0.0f ? 1 : 0);
    const Vector face = axis_vector(axis, sign);
    const float most = component(excess, axis);
    if (most <= 0.0f) {
        return {most, face, feature};
    }
    const Vector out = positive(excess);
    const Vector v = {copysignf(out.x, p.x), copysignf(out.y, p.y), copysignf(out.z, p.z)};
    return {norm(v), direction_or(v, face), feature};
}

// From face `side`, for a point behind it between the planes of the other four; else `nearest`.
__device__ __forceinline__ Surface box_from(Vector half, Vector p, uint32_t side, Surface nearest) {
    if (side >= 6) {
        return nearest;
    }
    const uint32_t axis = side / 2;
    const float sign = side % 2 == 0 ? 1.0f : -1.0f;
    const float distance = sign * component(p, axis) - component(half, axis);
    const Vector excess = absolute(p) - half;
    const bool within = (axis == 0 || excess.x <= 0.0f) && (axis == 1 || excess.y <= 0.0f) && (axis == 2 || excess.z <= 0.0f);
    return distance < 0.0f && within ? Surface{distance, axis_vector(axis, sign), side} : nearest;
}

__device__ __forceinline__ Surface capsule(float radius, float half_length, Vector p) {
    const Vector v = {p.x, p.y, p.z - fminf(fmaxf(p.z, -half_length), half_length)};
    const Vector fallback = fabsf(p.z) < half_length ? Vector{1.0f, 0.0f, 0.0f} : Vector{0.0f, 0.0f, 1.0f};
    return {norm(v) - radius, direction_or(v, fallback), 0};
}

// Of the unbounded side (0) or plane of a cap (1 at +z, 2 at -z).
__device__ __forceinline__ Surface cylinder_face(float radius, float half_length, Vector p, uint32_t feature) {
    if (feature != 0) {
        const float sign = feature == 1 ? 1.0f : -1.0f;
        return {sign * p.z - half_length, {0.0f, 0.0f, sign}, feature};
    }
    const Vector radial = {p.x, p.y, 0.0f};
    return {norm(radial) - radius, direction_or(radial, {1.0f, 0.0f, 0.0f}), 0};
}

__device__ __forceinline__ Surface cylinder(float radius, float half_length, Vector p) {
    const Surface side = cylinder_face(radius, half_length, p, 0);
    const Surface end = cylinder_face(radius, half_length, p, p.z < 0.0f ? 2 : 1);
    const Surface nearest = end.distance > side.distance ? end : side;
    if (side.distance <= 0.0f || end.distance <= 0.0f) {
        return nearest;
    }
    const Vector v = side.normal * side.distance + end.normal * end.distance;
    return {norm(v), direction_or(v, nearest.normal), nearest.feature};
}

__device__ __forceinline__ Surface cylinder_from(float radius, float half_length, Vector p, uint32_t side, Surface nearest) {
    if (side > 2) {
        return nearest;
    }
    const Surface face = cylinder_face(radius, half_length, p, side);
    const bool within = side == 0 ? fabsf(p.z) <= half_length : norm({p.x, p.y, 0.0f}) <= radius;
    return within && face.distance < 0.0f ? face : nearest;
}

// The nearest point of p is x_i = r_i y_i/(u + d_i) in p's octant, with y = |p|, r_i = (e_i/e)^2
// and d_i = r_i - 1 for the smallest semi-axis e (Eberly, Distance from a Point to an Ellipse, an
// Ellipsoid, or a Hyperellipsoid, 2013), so that y - x = (u - 1) y_i/(u + d_i) without
// cancellation. u is the root of 1/|q| = 1, q_i = r_i (y_i/e_i)/(u + d_i), which rises and is
// concave: Newton's method comes to it from below (More and Sorensen 1983). Coordinates of nearly 0
// are lifted to 1e-15 of their semi-axis, so that points in a plane of symmetry leave it where
// their nearest points do.
__device__ __forceinline__ Surface ellipsoid(Vector e, Vector p) {
    const float least = fminf(e.x, fminf(e.y, e.z));
    const float inverse = 1.0f / least;
    const Vector ratio = e * inverse;
    const Vector r = {ratio.x * ratio.x, ratio.y * ratio.y, ratio.z * ratio.z};
    const Vector d = {(e.x - least) * (e.x + least) * inverse * inverse, (e.y - least) * (e.y + least) * inverse * inverse,
        (e.z - least) * (e.z + least) * inverse * inverse};
    const Vector y = {fmaxf(fabsf(p.x), 1e-15f * e.x), fmaxf(fabsf(p.y), 1e-15f * e.y), fmaxf(fabsf(p.z), 1e-15f * e.z)};
    const Vector w = {r.x * (y.x / e.x), r.y * (y.y / e.y), r.z * (y.z / e.z)};
    // Below the root: there a single q_i is 1 already.
    float u = fmaxf(w.x - d.x, fmaxf(w.y - d.y, w.z - d.z));
    for (uint32_t i = 0; i < 24; ++i) {
        const Vector inv = {1.0f / (u + d.x), 1.0f / (u + d.y), 1.0f / (u + d.z)};
        const Vector q = {w.x * inv.x, w.y * inv.y, w.z * inv.z};
        const float squared = dot(q, q);
        const float slope = q.x * q.x * inv.x + q.y * q.y * inv.y + q.z * q.z * inv.z;
        const float next = u + (sqrtf(squared) - 1.0f) * squared / slope;
        // Roundings of a converged root go either way.
        if (!(next > u)) {
            break;
        }
        u = next;
    }
    const Vector along = {
        copysignf(y.x / (u + d.x), p.x), copysignf(y.y / (u + d.y), p.y), copysignf(y.z / (u + d.z), p.z)};
    // Scaled by the largest: the squares of small ones would vanish.
    const float scale = largest(absolute(along));
    const Vector unit = along * (1.0f / scale);
    const float length = norm(unit);
    return {(u - 1.0f) * scale * length, unit * (1.0f / length), 0};
}

// The nearest point of a set of triangles.
struct Hit {
    // Place of the triangle in the order of the tree; CONTACT_NONE where there is none.
    uint32_t slot;
    // 0 the inside of the triangle, 1 to 3 edges ab, bc, ca, 4 to 6 vertices a, b, c.
    uint32_t region;
    // From the nearest point to the query point.
    Vector away;
    // Distance, more for edges and still more for vertices: see `take`.
    float score;
};

// Takes a nearest point if none before was nearer. An edge between nearly flat faces is as far as
// the faces up to rounding, from points whose nearest point is at some distance to it: its normal
// would be wrong by the root of a rounding. So an edge must be nearer than a face by `margin`, a
// few roundings of the lengths at hand, and a vertex nearer than an edge.
__device__ __forceinline__ void take(uint32_t slot, uint32_t region, Vector away, float distance, float margin, Hit& best) {
    const float score = distance + margin * (region == 0 ? 0.0f : region < 4 ? 1.0f : 2.0f);
    if (score < best.score) {
        best = {slot, region, away, score};
    }
}

// Tries the point of edge `number` (1 to 3, from `from` to `to`) nearest to the origin.
__device__ __forceinline__ void try_edge(Vector from, Vector to, uint32_t number, uint32_t slot, float margin, Hit& best) {
    const Vector edge = to - from;
    const float t = fminf(fmaxf(-dot(edge, from) / dot(edge, edge), 0.0f), 1.0f);
    const Vector foot = from + edge * t;
    take(slot, t <= 0.0f ? number + 3 : t >= 1.0f ? number % 3 + 4 : number, -foot, norm(foot), margin, best);
}

// Tries the point of a triangle nearest to the origin. Over the inside, which three planes through
// the edges bound, the plane is nearest; products of areas would lose long thin triangles to
// rounding.
__device__ __forceinline__ void try_triangle(
    Vector a, Vector b, Vector c, Vector normal, uint32_t slot, float margin, Hit& best) {
    const bool inside = dot(cross(normal, b - a), a) <= 0.0f && dot(cross(normal, c - b), b) <= 0.0f &&
        dot(cross(normal, a - c), c) <= 0.0f;
    if (inside) {
        const float height = -dot(normal, a);
        take(slot, 0, normal * height, fabsf(height), margin, best);
        return;
    }
    try_edge(a, b, 1, slot, margin, best);
    try_edge(b, c, 2, slot, margin, best);
    try_edge(c, a, 3, slot, margin, best);
}

__device__ __forceinline__ float squared_distance(const ContactNode& node, Vector p) {
    const Vector below = vector(node.low) - p, above = p - vector(node.high);
    const Vector out = positive({fmaxf(below.x, above.x), fmaxf(below.y, above.y), fmaxf(below.z, above.z)});
    return dot(out, out);
}

// Corner a, b, c (0 to 2) or unit normal (3) of a triangle.
__device__ __forceinline__ Vector corner(const Array<float, 12>& triangle, uint32_t k) {
    return {triangle[3 * k], triangle[3 * k + 1], triangle[3 * k + 2]};
}

__device__ __forceinline__ Vector face_normal(const ContactShapes& shapes, uint32_t slot) {
    return corner(shapes.triangles[slot], 3);
}

// Sum of the normals at an edge (region 1 to 3) or vertex (4 to 6) of a triangle.
__device__ __forceinline__ Vector pseudo_normal(const ContactShapes& shapes, uint32_t slot, uint32_t region) {
    const Array<float, 18>& sums = shapes.edge_normals[slot];
    const uint32_t first = 3 * (region - 1);
    return {sums[first], sums[first + 1], sums[first + 2]};
}

// The triangle nearest to `p`: of those that face within 60 degrees of `facing`, where `filtered`.
__device__ __forceinline__ Hit nearest_triangle(
    const ContactShapes& shapes, const ContactGeometry& g, Vector p, bool filtered, Vector facing) {
    Hit best = {CONTACT_NONE, 0, {0.0f, 0.0f, 0.0f}, __int_as_float(0x7f800000)};
    const float margin = TIE * (g.radius + norm(p));
    // A tree that is halved at each level has no more than 2^32 leaves; farther children wait here.
    uint32_t waiting[CONTACT_TREE_DEPTH];
    uint32_t depth = 1;
    waiting[0] = 0;
    while (depth > 0) {
        const uint32_t index = waiting[--depth];
        const ContactNode node = shapes.nodes[g.first_node + index];
        if (squared_distance(node, p) >= best.score * best.score) {
            continue;
        }
        if (node.count == 0) {
            // The left child follows its parent. The nearer one comes next.
            const uint32_t left = index + 1, right = node.start;
            const float to_left = squared_distance(shapes.nodes[g.first_node + left], p);
            const float to_right = squared_distance(shapes.nodes[g.first_node + right], p);
            waiting[depth++] = to_right < to_left ? left : right;
            waiting[depth++] = to_right < to_left ? right : left;
            continue;
        }
        for (uint32_t k = 0; k < node.count; ++k) {
            const uint32_t slot = g.first_triangle + node.start + k;
            const Array<float, 12>& t = shapes.triangles[slot];
            if (filtered && !(dot(corner(t, 3), facing) > SAME_SIDE_COSINE)) {
                continue;
            }
            try_triangle(corner(t, 0) - p, corner(t, 1) - p, corner(t, 2) - p, corner(t, 3), slot, margin, best);
        }
    }
    return best;
}

__device__ __forceinline__ Surface triangle_plane(const ContactShapes& shapes, uint32_t slot, Vector p) {
    const Vector normal = face_normal(shapes, slot);
    return {dot(normal, p - corner(shapes.triangles[slot], 0)), normal, shapes.features[slot]};
}

__device__ __forceinline__ Surface hull_plane(const ContactShapes& shapes, const ContactGeometry& g, uint32_t face, Vector p) {
    const Array<float, 4>& plane = shapes.planes[g.first_plane + face];
    const Vector normal = {plane[0], plane[1], plane[2]};
    return {dot(normal, p) - plane[3], normal, face};
}

// Sign and normal of a nearest point, by angle-weighted normals of edges and vertices (Baerentzen
// and Aanaes 2005).
__device__ __forceinline__ Surface of_triangles(const ContactShapes& shapes, const ContactGeometry& g, Vector p) {
    const Hit hit = nearest_triangle(shapes, g, p, false, {});
    if (hit.slot == CONTACT_NONE) {
        return {__int_as_float(0x7fc00000), {0.0f, 0.0f, 1.0f}, 0};
    }
    Surface surface = triangle_plane(shapes, hit.slot, p);
    if (hit.region != 0) {
        const Vector pseudo = pseudo_normal(shapes, hit.slot, hit.region);
        const float distance = norm(hit.away);
        const float sign = dot(hit.away, pseudo) < 0.0f ? -1.0f : 1.0f;
        surface.normal = distance > COINCIDENT * g.radius ? hit.away * (sign / distance) : direction_or(pseudo, surface.normal);
        surface.distance = sign * distance;
    }
    if (g.kind == SHAPE_HULL && surface.distance < 0.0f) {
        return hull_plane(shapes, g, surface.feature, p);
    }
    return surface;
}

// Whether the line from `p` along `direction` goes through a hull: it is inside of all planes at
// once (Cyrus and Beck 1978).
__device__ __forceinline__ bool line_enters(const ContactShapes& shapes, const ContactGeometry& g, Vector p, Vector direction) {
    float enter = 0.0f;
    float leave = __int_as_float(0x7f800000);
    for (uint32_t face = 0; face < g.features; ++face) {
        const Surface plane = hull_plane(shapes, g, face, p);
        const float climb = dot(plane.normal, direction);
        // Planes along the line would turn roundings of the height into any point of the line.
        if (climb > 1e-6f) {
            leave = fminf(leave, -plane.distance / climb);
        } else if (climb < -1e-6f) {
            enter = fmaxf(enter, -plane.distance / climb);
        } else if (plane.distance > 0.0f) {
            return false;
        }
    }
    return enter <= leave;
}

__device__ __forceinline__ Surface hull_from(
    const ContactShapes& shapes, const ContactGeometry& g, Vector p, uint32_t side, Surface nearest) {
    if (side >= g.features) {
        return nearest;
    }
    const Vector entered = hull_plane(shapes, g, side, p).normal;
    if (dot(nearest.normal, entered) > SAME_SIDE_COSINE || (nearest.distance >= 0.0f && !line_enters(shapes, g, p, entered))) {
        return nearest;
    }
    Surface best = {-__int_as_float(0x7f800000), {}, 0};
    for (uint32_t face = 0; face < g.features; ++face) {
        const Surface plane = hull_plane(shapes, g, face, p);
        if (dot(plane.normal, entered) > SAME_SIDE_COSINE && plane.distance >= best.distance) {
            best = plane;
        }
    }
    return best.distance < 0.0f ? best : nearest;
}

__device__ __forceinline__ Surface mesh_from(
    const ContactShapes& shapes, const ContactGeometry& g, Vector p, uint32_t side, Surface nearest) {
    if (side >= g.features) {
        return nearest;
    }
    const Vector entered = face_normal(shapes, shapes.slots[g.first_triangle + side]);
    const Vector nearest_normal = face_normal(shapes, shapes.slots[g.first_triangle + nearest.feature]);
    if (dot(nearest_normal, entered) > SAME_SIDE_COSINE) {
        return nearest;
    }
    const Hit hit = nearest_triangle(shapes, g, p, true, entered);
    if (hit.slot == CONTACT_NONE) {
        return nearest;
    }
    const Surface plane = triangle_plane(shapes, hit.slot, p);
    // From outside, the nearest point of that side lies along its normal, or the point is beside
    // the shadow.
    const float reach = nearest.distance < 0.0f ? 0.0f : SHADOW_COSINE * norm(hit.away);
    return plane.distance < -reach ? plane : nearest;
}

// Signed distance to the nearest point of the surface.
__device__ __forceinline__ Surface surface_point(const ContactShapes& shapes, const ContactGeometry& g, Vector p) {
    const Vector size = vector(g.size);
    switch (g.kind) {
    case SHAPE_HALF_SPACE:
        return {p.z, {0.0f, 0.0f, 1.0f}, 0};
    case SHAPE_BOX:
        return box(size, p);
    case SHAPE_SPHERE:
        return {norm(p) - size.x, direction_or(p, {0.0f, 0.0f, 1.0f}), 0};
    case SHAPE_CAPSULE:
        return capsule(size.x, size.y, p);
    case SHAPE_CYLINDER:
        return cylinder(size.x, size.y, p);
    case SHAPE_ELLIPSOID:
        return ellipsoid(size, p);
    default:
        return of_triangles(shapes, g, p);
    }
}

// The same for a point that came through feature `side`, given what is nearest: see
// `Shape::surface_point_from`.
__device__ __forceinline__ Surface surface_point_from(
    const ContactShapes& shapes, const ContactGeometry& g, Vector p, uint32_t side, Surface nearest) {
    if (nearest.feature == side) {
        return nearest;
    }
    const Vector size = vector(g.size);
    switch (g.kind) {
    case SHAPE_BOX:
        return box_from(size, p, side, nearest);
    case SHAPE_CYLINDER:
        return cylinder_from(size.x, size.y, p, side, nearest);
    case SHAPE_HULL:
        return hull_from(shapes, g, p, side, nearest);
    case SHAPE_MESH:
        return mesh_from(shapes, g, p, side, nearest);
    default:
        return nearest;
    }
}

// Beyond every distance [m].
constexpr float BOUNDLESS = 3e38f;

// Distance to the border of the flat face that the point is over [m]: see
// `coupling/src/redundant_centroids.rs`.
__device__ __forceinline__ float planar_clearance(const ContactGeometry& g, Vector p) {
    if (g.kind == SHAPE_HALF_SPACE) {
        return BOUNDLESS;
    }
    if (g.kind != SHAPE_BOX) {
        return -BOUNDLESS;
    }
    // The point is over the nearest face; the distance to its border is the second of the three.
    const Vector inside = vector(g.size) - absolute(p);
    const float low = fminf(inside.x, inside.y), high = fmaxf(inside.x, inside.y);
    return fminf(high, fmaxf(low, inside.z));
}

// A cheap lower bound of the signed distance.
__device__ __forceinline__ float lower_bound(const ContactGeometry& g, Vector p) {
    const Vector size = vector(g.size);
    switch (g.kind) {
    case SHAPE_HALF_SPACE:
        return p.z;
    case SHAPE_BOX:
        return largest(absolute(p) - size);
    case SHAPE_SPHERE:
        return norm(p) - size.x;
    case SHAPE_CAPSULE:
        return norm({p.x, p.y, p.z - fminf(fmaxf(p.z, -size.y), size.y)}) - size.x;
    case SHAPE_CYLINDER:
        return fmaxf(norm({p.x, p.y, 0.0f}) - size.x, fabsf(p.z) - size.y);
    case SHAPE_ELLIPSOID: {
        const float least = fminf(size.x, fminf(size.y, size.z));
        const float k = norm({p.x / size.x, p.y / size.y, p.z / size.z});
        return k > 1.0f ? (k - 1.0f) * least : -fminf(least, (1.0f - k) * largest(size));
    }
    default: {
        // The solid lies in its bounding box, and so does every sphere inside it.
        const Vector excess = absolute(p) - size;
        const float inside = largest(excess);
        return inside <= 0.0f ? inside : norm(positive(excess));
    }
    }
}

// A lower bound for all points within `reach` of `center` along the axes of the shape's frame.
__device__ __forceinline__ float lower_bound_around(const ContactGeometry& g, Vector center, Vector reach) {
    switch (g.kind) {
    case SHAPE_HALF_SPACE:
        return center.z - reach.z;
    case SHAPE_BOX:
        return largest(absolute(center) - vector(g.size) - reach);
    default:
        // No signed distance grows faster than the point moves.
        return lower_bound(g, center) - norm(reach);
    }
}

}  // namespace contact
