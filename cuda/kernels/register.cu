// Contacts of a substep: see `coupling/src/register.rs`, which this follows.
#include "block.cuh"
#include "distance.cuh"

// Probe: distances of points to one geometry, a thread a point.
PLIANT_KERNEL(probe_contact_distance, ProbeContactDistanceParameters, CONTACT_THREADS) {
    const uint32_t at = global_thread();
    if (at >= p.points.length) {
        return;
    }
    const ContactGeometry& geometry = p.shapes.geometries[p.geometry];
    const contact::Vector point = contact::vector(p.points[at]);
    contact::Surface surface = contact::surface_point(p.shapes, geometry, point);
    if (p.sides[at] != CONTACT_NONE) {
        surface = contact::surface_point_from(p.shapes, geometry, point, p.sides[at], surface);
    }
    p.distances[at] = surface.distance;
    p.normals[at] = contact::array(surface.normal);
    p.features[at] = surface.feature;
    p.lower_bounds[at] = contact::lower_bound(geometry, point);
}
