//! Parts that drawn scenes are made of.

use nalgebra::Vector3;

use pliant_scenes::format::{
    AutoOr, BodySpec, Dynamic, Geometry, JointSpec, Material, MaterialRef, Motion, Pose, RigidShape,
    Sampling, Scene, SoftBodySpec, SoftShape, VelocityKeyframe,
};

/// A free body, at rest in the frame of its shapes, with this mass \[kg\].
pub fn dynamic(mass: f64) -> Dynamic {
    Dynamic {
        pose: Pose::default(),
        joint: JointSpec::Free {},
        parent: None,
        density: None,
        mass: Some(mass),
        inertia: None,
        center_of_mass: None,
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        applied_force: [0.0; 3],
        applied_torque: [0.0; 3],
        gravity: true,
    }
}

/// A body of one shape.
pub fn body(name: &str, dynamic: Dynamic, shape: RigidShape, friction: f64) -> BodySpec {
    BodySpec {
        name: name.to_owned(),
        motion: Motion::Dynamic(Box::new(dynamic)),
        geometries: vec![Geometry { friction, ..Geometry::new(shape) }],
    }
}

/// The half-space z < 0, static.
pub fn floor(friction: f64) -> BodySpec {
    BodySpec {
        name: "floor".to_owned(),
        motion: Motion::Fixed { pose: Pose::default() },
        geometries: vec![Geometry { friction, ..Geometry::new(RigidShape::HalfSpace {}) }],
    }
}

/// A soft body at rest.
pub fn soft(name: &str, shape: SoftShape, position: [f64; 3], material: Material) -> SoftBodySpec {
    SoftBodySpec {
        name: name.to_owned(),
        shape,
        pose: Pose { position, ..Pose::default() },
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        material: MaterialRef::Inline(material),
        mass_damping: 0.0,
        sampling: Sampling { spacing: AutoOr::Auto, counts: None, jitter: 0.0 },
        color: [222, 184, 135],
    }
}

/// Prescribed motion from `pose` at a constant `velocity` \[m/s\].
pub fn moving(pose: Pose, velocity: Vector3<f64>) -> Motion {
    let keyframe = VelocityKeyframe { time: 0.0, linear: velocity.into(), angular: [0.0; 3] };
    Motion::PrescribedVelocities { pose, keyframes: vec![keyframe] }
}

/// The dynamic bodies of a scene.
pub fn dynamics(scene: &Scene) -> impl Iterator<Item = (&BodySpec, &Dynamic)> {
    scene.bodies.iter().filter_map(|body| match &body.motion {
        Motion::Dynamic(dynamic) => Some((body, &**dynamic)),
        _ => None,
    })
}
