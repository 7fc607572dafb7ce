//! Bodies that a scene describes itself.

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_rigid::collision::{ContactMaterial, FrictionRule};
use pliant_rigid::multibody::JointKind;
use pliant_rigid::{
    Appearance, BodiesBuilder, BodyDesc, BodyId, ConvexHull, HeightField, Joint, MassProperties, Motion,
    PoseKey, Shape, SpatialVelocity, Trajectory, TriangleMesh, VelocityKey,
};

use super::error::AssembleError;
use crate::format::{self, Rigid, RigidShape};
use crate::isometry::{frame, isometry};
use pliant_io::mesh::load_mesh;

/// A body that the rigid library can add, and its centre of mass in the frame that the scene gives
/// the body \[m\].
pub(super) fn body(
    described: &format::BodySpec,
    rigid: &Rigid,
    before: &BodiesBuilder,
    path: &str,
) -> Result<(BodyDesc, Vector3<f64>), AssembleError> {
    let (mut geometries, mut appearance) = (Vec::new(), Vec::new());
    for (at, geometry) in described.geometries.iter().enumerate() {
        let shape = shape(&geometry.shape, &format!("{path}.geometries[{at}].shape"))?;
        let (pose, color) = (isometry(&geometry.pose), geometry.color);
        if geometry.collision {
            let (group, mask) = (geometry.group, geometry.mask);
            let material = surface(geometry, rigid);
            let adhesion = geometry.adhesion;
            let seen = true;
            geometries.push(pliant_rigid::Geometry {
                shape,
                pose,
                material,
                adhesion,
                group,
                mask,
                seen,
                color,
            });
        } else {
            appearance.push(Appearance { shape: shape.into(), pose, color });
        }
    }
    let mut center = Vector3::zeros();
    let (pose, motion) = match &described.motion {
        format::Motion::Fixed { pose } => (isometry(pose), Motion::Fixed),
        format::Motion::PrescribedPoses { keyframes } => {
            let keys = pose_keys(keyframes);
            let first = keys.first().map_or_else(Isometry3::identity, |key| key.pose);
            (first, Motion::Prescribed(Trajectory::Poses(keys)))
        }
        format::Motion::PrescribedVelocities { pose, keyframes } => {
            let keys = keyframes
                .iter()
                .map(|k| VelocityKey { time: k.time, velocity: spatial(&k.angular, &k.linear) })
                .collect();
            (isometry(pose), Motion::Prescribed(Trajectory::Velocities(keys)))
        }
        format::Motion::Dynamic(dynamic) => {
            let (mass, found) = mass_properties(dynamic, &geometries, path)?;
            center = found;
            (isometry(&dynamic.pose), dynamic_motion(dynamic, mass, &center, before, path)?)
        }
    };
    // In the rigid library a body's origin is its centre of mass.
    let to_center = Translation3::from(center);
    for pose in geometries.iter_mut().map(|g| &mut g.pose).chain(appearance.iter_mut().map(|a| &mut a.pose)) {
        *pose = to_center.inverse() * *pose;
    }
    let name = described.name.clone();
    Ok((BodyDesc { name, pose: pose * to_center, motion, geometries, appearance }, center))
}

/// The keys of a path of poses.
pub(super) fn pose_keys(keyframes: &[format::PoseKeyframe]) -> Vec<PoseKey> {
    let key = |k: &format::PoseKeyframe| PoseKey { time: k.time, pose: frame(&k.position, &k.orientation) };
    keyframes.iter().map(key).collect()
}

fn surface(geometry: &format::Geometry, rigid: &Rigid) -> ContactMaterial {
    let dissipation = geometry.dissipation.unwrap_or(rigid.dissipation);
    // Without dissipation a contact rebounds.
    let natural = if dissipation == 0.0 { 1.0 } else { 0.0 };
    ContactMaterial {
        stiffness: geometry.stiffness.unwrap_or(rigid.stiffness),
        dissipation,
        restitution: geometry.restitution.or(rigid.restitution).unwrap_or(natural),
        static_friction: geometry.static_friction.unwrap_or(geometry.friction),
        dynamic_friction: geometry.friction,
        torsional_friction: geometry.torsional_friction,
        rolling_friction: geometry.rolling_friction,
        friction_rule: FrictionRule::HarmonicMean,
        impedance: geometry.impedance,
        margin: 0.0,
        priority: 0,
    }
}

fn spatial(angular: &[f64; 3], linear: &[f64; 3]) -> SpatialVelocity {
    SpatialVelocity { angular: (*angular).into(), linear: (*linear).into() }
}

fn dynamic_motion(
    dynamic: &format::Dynamic,
    mass: MassProperties,
    center: &Vector3<f64>,
    before: &BodiesBuilder,
    path: &str,
) -> Result<Motion, AssembleError> {
    let find = |name: &String| -> Result<BodyId, AssembleError> {
        before.find(name).ok_or_else(|| AssembleError::Undefined {
            path: format!("{path}.motion.parent"),
            name: name.clone(),
        })
    };
    Ok(Motion::Dynamic {
        parent: dynamic.parent.as_ref().map(find).transpose()?,
        joint: joint(&dynamic.joint, center),
        mass,
        force: dynamic.applied_force.into(),
        torque: dynamic.applied_torque.into(),
        velocity: spatial(&dynamic.angular_velocity, &dynamic.velocity),
        gravity: dynamic.gravity,
    })
}

/// The joint of a body whose centre of mass is at `center` of the frame that the scene gives it
/// \[m\].
fn joint(described: &format::JointSpec, center: &Vector3<f64>) -> Joint {
    let unit = |axis: &[f64; 3]| Unit::new_normalize(Vector3::from(*axis));
    let mut turn = UnitQuaternion::identity();
    let kind = match described {
        format::JointSpec::Free {} => JointKind::Free,
        format::JointSpec::Fixed {} => JointKind::Fixed,
        format::JointSpec::Revolute(joint) => JointKind::Revolute { axis: unit(&joint.axis) },
        format::JointSpec::Prismatic(joint) => JointKind::Prismatic { axis: unit(&joint.axis) },
        format::JointSpec::Universal(joint) => {
            JointKind::Universal { first: unit(&joint.axes[0]), second: unit(&joint.axes[1]) }
        }
        format::JointSpec::Planar(joint) => {
            turn = frame(&[0.0; 3], &joint.orientation).rotation;
            JointKind::Planar
        }
        format::JointSpec::Ball(_) => JointKind::Ball,
    };
    let origin = described.position().map_or(Point3::origin(), |p| Point3::from(Vector3::from(p) - center));
    Joint { kind, origin, turn, dofs: described.dofs().into_iter().map(|(_, dof)| dof).collect() }
}

pub(super) fn shape(described: &RigidShape, path: &str) -> Result<Shape, AssembleError> {
    let geometry = |source| AssembleError::Geometry { path: path.to_owned(), source };
    Ok(match described {
        RigidShape::HalfSpace {} => Shape::HalfSpace,
        RigidShape::Box { half_extents } => Shape::Box { half_extents: (*half_extents).into() },
        RigidShape::Sphere { radius } => Shape::Sphere { radius: *radius },
        RigidShape::Capsule { radius, half_length } => {
            Shape::Capsule { radius: *radius, half_length: *half_length }
        }
        RigidShape::Cylinder { radius, half_length } => {
            Shape::Cylinder { radius: *radius, half_length: *half_length }
        }
        RigidShape::Ellipsoid { half_axes } => Shape::Ellipsoid { semi_axes: (*half_axes).into() },
        RigidShape::HeightField { heights, spacing, depth } => {
            let columns = heights.first().map_or(0, Vec::len);
            let field = HeightField::new(&heights.concat(), columns, *spacing, *depth);
            Shape::HeightField(field.map_err(geometry)?)
        }
        RigidShape::ConvexHull { points } => {
            let points: Vec<_> = points.iter().map(|p| Point3::from(*p)).collect();
            Shape::ConvexHull(ConvexHull::new(&points).map_err(geometry)?)
        }
        RigidShape::Mesh { file, scale } => {
            let mesh = load_mesh(file, *scale)
                .map_err(|source| AssembleError::Mesh { path: format!("{path}.file"), source })?;
            Shape::Mesh(TriangleMesh::new(mesh.vertices, mesh.triangles).map_err(geometry)?)
        }
    })
}

/// Mass, centre \[m\] and inertia about the centre, in the body's frame, of solids of one density
/// \[kg/m^3\].
fn solid_mass(geometries: &[pliant_rigid::Geometry], density: f64) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let parts: Vec<_> = geometries
        .iter()
        .filter_map(|geometry| {
            let (mass, center, inertia) = geometry.shape.mass_properties(density)?;
            let turn = geometry.pose.rotation.to_rotation_matrix();
            Some((mass, (geometry.pose * center).coords, turn * inertia * turn.transpose()))
        })
        .collect();
    let mass: f64 = parts.iter().map(|(mass, ..)| mass).sum();
    let center = parts.iter().map(|(mass, center, _)| center * *mass).sum::<Vector3<f64>>() / mass;
    // Parallel axes: I + m (r.r 1 - r r^T).
    let inertia = parts.iter().fold(Matrix3::zeros(), |sum, (mass, at, inertia)| {
        let r = at - center;
        sum + inertia + (Matrix3::identity() * r.norm_squared() - r * r.transpose()) * *mass
    });
    (mass, center, inertia)
}

/// Mass properties of a dynamic body and its centre of mass in the frame that the scene gives it
/// \[m\].
fn mass_properties(
    dynamic: &format::Dynamic,
    geometries: &[pliant_rigid::Geometry],
    path: &str,
) -> Result<(MassProperties, Vector3<f64>), AssembleError> {
    let (volume, solid_center, unit_inertia) = solid_mass(geometries, 1.0);
    let has_volume = volume > 0.0;
    let no_volume = || AssembleError::NoVolume { path: format!("{path}.motion") };
    let mass = match (dynamic.mass, dynamic.density) {
        (Some(mass), _) => mass,
        (None, Some(density)) if has_volume => density * volume,
        _ => return Err(no_volume()),
    };
    let center = match dynamic.center_of_mass {
        Some(center) => center.into(),
        None if has_volume => solid_center,
        None => Vector3::zeros(),
    };
    let inertia = match dynamic.inertia {
        Some(moments) => Matrix3::from_diagonal(&moments.into()),
        None if has_volume => unit_inertia * (mass / volume),
        None => return Err(no_volume()),
    };
    Ok((MassProperties { mass, inertia }, center))
}
