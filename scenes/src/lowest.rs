//! The lowest point of a robot, for the floor under a model that is run alone.

use nalgebra::{Isometry3, Vector3};
use pliant_import::Imported;
use pliant_rigid::Shape;
use pliant_rigid::multibody::{Kinematics, State};

/// Height of the lowest point of the shapes that can touch, in a state \[m\]; `None` without any.
pub(crate) fn lowest_point(model: &Imported, state: &State) -> Option<f64> {
    let mut kinematics = Kinematics::new(&model.system.model);
    kinematics.update(&model.system.model, state);
    let heights = model.geometries.iter().filter_map(|geometry| {
        let link = geometry.link.map_or(Isometry3::identity(), |link| *kinematics.pose(link));
        lowest(&geometry.shape, &(link * geometry.pose))
    });
    heights.min_by(f64::total_cmp)
}

/// Height of the lowest point of a shape at a pose: that of its frame less its reach downwards, the
/// support function of the shape; `None` of a shape that is the ground itself.
fn lowest(shape: &Shape, pose: &Isometry3<f64>) -> Option<f64> {
    let down: Vector3<f64> = pose.rotation.inverse() * -Vector3::z();
    let across = down.xy().norm();
    let reach = match shape {
        Shape::HalfSpace | Shape::HeightField(_) => return None,
        Shape::Box { half_extents } => half_extents.dot(&down.abs()),
        Shape::Sphere { radius } => *radius,
        Shape::Capsule { radius, half_length } => radius + half_length * down.z.abs(),
        Shape::Cylinder { radius, half_length } => radius * across + half_length * down.z.abs(),
        Shape::Ellipsoid { semi_axes } => semi_axes.component_mul(&down).norm(),
        Shape::ConvexHull(hull) => farthest(hull.mesh().vertices(), &down),
        Shape::Mesh(mesh) => farthest(mesh.vertices(), &down),
    };
    Some(pose.translation.z - reach)
}

fn farthest(vertices: &[nalgebra::Point3<f64>], direction: &Vector3<f64>) -> f64 {
    vertices.iter().map(|vertex| vertex.coords.dot(direction)).fold(f64::MIN, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_numeric::random::SplitMix64;

    // Checks: the lowest point of a shape, against the signed distance of a point far
    // below.
    #[test]
    fn the_lowest_point_touches_a_plane() {
        let seed = 7;
        println!("seed {seed}");
        let mut random = SplitMix64::new(seed);
        let mut number = |low: f64, high: f64| low + (high - low) * random.uniform();
        for _ in 0..200 {
            let (r, l) = (number(0.01, 2.0), number(0.01, 2.0));
            let axes = Vector3::new(r, l, number(0.01, 2.0));
            let turn = Vector3::new(number(-3.0, 3.0), number(-3.0, 3.0), number(-3.0, 3.0));
            let pose = Isometry3::new(Vector3::new(0.0, 0.0, number(-5.0, 5.0)), turn);
            for shape in [
                Shape::Box { half_extents: axes },
                Shape::Sphere { radius: r },
                Shape::Capsule { radius: r, half_length: l },
                Shape::Cylinder { radius: r, half_length: l },
                Shape::Ellipsoid { semi_axes: axes },
            ] {
                let height = lowest(&shape, &pose).unwrap();
                // From far below, the distance to the shape is that to the plane through its lowest
                // point, but for at most size^2 / (2 distance).
                let (far, size) = (1e5, 7.0);
                let below = nalgebra::Point3::new(0.0, 0.0, pose.translation.z - far);
                let distance = shape.surface_point(&(pose.inverse() * below)).distance;
                let beyond = pose.translation.z - far + distance - height;
                assert!((-1e-8..size * size / far).contains(&beyond), "{shape:?} {pose}: {beyond} {height}");
            }
        }
    }
}
