// Where the geometries of the bodies are in a substep.
#pragma once

#include "parameters.cuh"
#include "prelude.cuh"

namespace contact {

// Hamilton's product.
__device__ __forceinline__ Array<double, 4> product(const Array<double, 4>& a, const Array<double, 4>& b) {
    return {{a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]}};
}

// The rotation matrix of a unit quaternion, by rows.
__device__ __forceinline__ Array<double, 9> matrix(const Array<double, 4>& q) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    return {{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y), 2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x), 2.0 * (x * z - w * y), 2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y)}};
}

// Places a geometry at the pose that its body has in a substep.
__device__ __forceinline__ void place(const ContactPlacement& p, uint32_t number, uint32_t substep_index) {
    const ContactGeometry& geometry = p.shapes.geometries[number];
    const ContactBody& body = p.bodies[substep_index * p.body_count + geometry.body];
    const Array<double, 9> rotation = contact::matrix(contact::product(body.rotation, geometry.rotation));
    const Array<double, 9> turned = contact::matrix(body.rotation);
    ContactPlacedGeometry& placed = p.placed[number];
    double arm[3];
    for (uint32_t d = 0; d < 3; ++d) {
        // The center from the body's origin, world axes.
        arm[d] = turned[3 * d] * geometry.translation[0] + turned[3 * d + 1] * geometry.translation[1] +
            turned[3 * d + 2] * geometry.translation[2];
        const double center = body.translation[d] + arm[d];
        const double cells = center / p.grid_spacing;
        const double whole = floor(cells);
        placed.cell[d] = static_cast<int32_t>(whole);
        placed.fraction[d] = static_cast<float>(cells - whole);
        placed.lever[d] = static_cast<float>(center - body.origin[d]);
        placed.angular[d] = static_cast<float>(body.angular[d]);
        for (uint32_t e = 0; e < 3; ++e) {
            placed.inverse_rotation[3 * d + e] = static_cast<float>(rotation[3 * e + d]);
        }
    }
    for (uint32_t d = 0; d < 3; ++d) {
        const uint32_t e = (d + 1) % 3, f = (d + 2) % 3;
        placed.linear[d] = static_cast<float>(body.linear[d] + body.angular[e] * arm[f] - body.angular[f] * arm[e]);
    }
}

// Places the geometries of a body for a substep, where the step has that many. All threads of the
// block call this.
__device__ __forceinline__ void place_of_body(
    const ContactPlacement& p, const ContactClock& clock, uint32_t body, uint32_t substep_index) {
    if (substep_index >= clock.substeps) {
        return;
    }
    for (uint32_t number = threadIdx.x; number < p.shapes.geometries.length; number += CONTACT_THREADS) {
        if (p.shapes.geometries[number].body == body) {
            place(p, number, substep_index);
        }
    }
}

}  // namespace contact
