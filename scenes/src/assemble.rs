//! From a scene's description to what a world is made of: materials, filled shapes, bodies.

use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_mpm::material::{Elastic, Material, MaterialError, Model};
use pliant_rigid::{
    BodyDesc, BodyId, ConvexHull, GeometryError, HeightField, Joint, MassProperties, Motion, PoseKey, Shape,
    SpatialVelocity, Trajectory, TriangleMesh, VelocityKey,
};

use crate::format::{self, AutoOr, RigidShape, Scene, Soft, SoftShape};
use crate::mesh_io::{MeshError, load_mesh};
use crate::sample::{Density, Jitter, Sample, SampleError, Solid, sample};
use crate::unconnected::{refuse, unconnected};

/// A part of a scene that cannot be made, with the path of its field.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// A material's figure is out of its range.
    #[error("{path}: {source}")]
    Material {
        /// Path of the field.
        path: String,
        /// What is wrong.
        source: MaterialError,
    },
    /// A mesh file cannot be read.
    #[error("{path}: {source}")]
    Mesh {
        /// Path of the field.
        path: String,
        /// What is wrong.
        source: MeshError,
    },
    /// A shape cannot be filled with particles.
    #[error("{path}: {source}")]
    Sample {
        /// Path of the field.
        path: String,
        /// What is wrong.
        source: SampleError,
    },
    /// A rigid shape cannot be used: an open or inside-out mesh, a flat hull.
    #[error("{path}: {source}")]
    Geometry {
        /// Path of the field.
        path: String,
        /// What is wrong.
        source: GeometryError,
    },
    /// A name that the scene does not define; validation tells it first.
    #[error("{path}: '{name}' is not defined")]
    Undefined {
        /// Path of the field.
        path: String,
        /// The name.
        name: String,
    },
    /// The world does not take this part of a scene.
    #[error("{path}: {reason}")]
    NotConnected {
        /// Path of the field.
        path: String,
        /// Why it is refused.
        reason: &'static str,
    },
    /// A body without volume cannot have its mass from a density.
    #[error("{path}: the geometries have no volume to take mass and inertia from")]
    NoVolume {
        /// Path of the field.
        path: String,
    },
}

/// A soft body as particles.
#[derive(Clone, Debug)]
pub struct SoftParticles {
    /// Index of its material among [`Assembly::materials`].
    pub material: usize,
    /// The filled shape.
    pub sample: Sample,
    /// Velocity of each particle, world frame [m/s].
    pub velocities: Vec<Vector3<f64>>,
    /// sRGB colour.
    pub color: [u8; 3],
}

/// What a world is made of. Everything in the order of the scene.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The scene's named materials in the order of their names, then those written in place.
    pub materials: Vec<Material>,
    /// The soft bodies.
    pub soft: Vec<SoftParticles>,
    /// The rigid bodies. A body's own origin is its centre of mass.
    pub bodies: Vec<BodyDesc>,
    /// Centre of mass of each body in the frame that the scene gives the body [m].
    pub centers: Vec<Vector3<f64>>,
}

/// Makes the parts of a valid scene.
///
/// # Errors
/// [`AssembleError`]: a mesh file, a shape that holds no particle, a mesh that bounds no solid.
pub fn assemble(scene: &Scene) -> Result<Assembly, AssembleError> {
    refuse(scene)?;
    let mut assembly =
        Assembly { materials: Vec::new(), soft: Vec::new(), bodies: Vec::new(), centers: Vec::new() };
    for (name, described) in &scene.materials {
        assembly.materials.push(material(described, &format!("materials.{name}"))?);
    }
    for (at, soft) in scene.soft.iter().enumerate() {
        let path = format!("soft[{at}]");
        let material = soft_material(&mut assembly.materials, scene, soft, &path)?;
        assembly.soft.push(fill(scene, at, soft, material, &path)?);
    }
    (assembly.bodies, assembly.centers) = bodies(scene)?;
    Ok(assembly)
}

/// Makes the bodies of a valid scene: their descriptions, and their centres of mass in the frames that the scene gives
/// them [m].
///
/// # Errors
/// [`AssembleError`]: a mesh file, a mesh that bounds no solid.
pub fn bodies(scene: &Scene) -> Result<(Vec<BodyDesc>, Vec<Vector3<f64>>), AssembleError> {
    let (mut descs, mut centers) = (Vec::new(), Vec::new());
    for (at, described) in scene.bodies.iter().enumerate() {
        let (desc, center) = body(described, &descs, &format!("bodies[{at}]"))?;
        descs.push(desc);
        centers.push(center);
    }
    Ok((descs, centers))
}

/// The isometry of a pose whose quaternion is near unit length.
pub fn isometry(pose: &format::Pose) -> Isometry3<f64> {
    frame(&pose.position, &pose.orientation)
}

fn frame(position: &[f64; 3], &[w, x, y, z]: &[f64; 4]) -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::from(*position),
        UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
    )
}

fn material(described: &format::Material, path: &str) -> Result<Material, AssembleError> {
    let (density, youngs_modulus, poissons_ratio) = described.elastic_figures();
    let elastic = Elastic { youngs_modulus, poissons_ratio };
    let model = match *described {
        format::Material::FixedCorotated { .. } => Model::FixedCorotated(elastic),
        format::Material::NeoHookean { .. } => Model::NeoHookean(elastic),
        format::Material::LinearCorotated { .. } => Model::LinearCorotated(elastic),
        format::Material::VonMises { yield_stress, .. } => Model::VonMises { elastic, yield_stress },
        format::Material::DruckerPrager { friction_angle, .. } => {
            Model::DruckerPrager { elastic, friction_angle }
        }
    };
    let material = Material { density, model };
    material.validate().map_err(|source| AssembleError::Material { path: path.to_owned(), source })?;
    Ok(material)
}

/// Index of a soft body's material; one written in place joins the list.
fn soft_material(
    materials: &mut Vec<Material>,
    scene: &Scene,
    soft: &Soft,
    path: &str,
) -> Result<usize, AssembleError> {
    let path = format!("{path}.material");
    match &soft.material {
        format::MaterialRef::Named(name) => scene
            .materials
            .keys()
            .position(|known| known == name)
            .ok_or_else(|| AssembleError::Undefined { path, name: name.clone() }),
        format::MaterialRef::Inline(described) => {
            materials.push(material(described, &path)?);
            Ok(materials.len() - 1)
        }
    }
}

fn fill(
    scene: &Scene,
    at: usize,
    soft: &Soft,
    material: usize,
    path: &str,
) -> Result<SoftParticles, AssembleError> {
    let solid = match &soft.shape {
        SoftShape::Box { half_extents } => Solid::Box { half_extents: (*half_extents).into() },
        SoftShape::Sphere { radius } => Solid::Sphere { radius: *radius },
        SoftShape::Cylinder { radius, half_length } => {
            Solid::Cylinder { radius: *radius, half_length: *half_length }
        }
        SoftShape::Mesh { file, scale } => Solid::Mesh(
            load_mesh(file, *scale)
                .map_err(|source| AssembleError::Mesh { path: format!("{path}.shape.file"), source })?,
        ),
    };
    let density = match (soft.sampling.counts, soft.sampling.spacing) {
        (Some(counts), _) => Density::Counts(counts.map(|count| count as usize)),
        (None, AutoOr::Value(spacing)) => Density::Spacing(spacing),
        // Validation has told where there is none; half of nothing holds no particle.
        (None, AutoOr::Auto) => Density::Spacing(scene.grid_spacing.unwrap_or(0.0) / 2.0),
    };
    // Bodies of one scene draw different numbers; the multiplier only has to be odd and large.
    let seed = scene.seed ^ (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let jitter = soft.sampling.jitter;
    let jitter = (jitter > 0.0).then_some(Jitter { fraction: jitter, seed });
    let pose = isometry(&soft.pose);
    let sample = sample(&solid, &pose, density, jitter)
        .map_err(|source| AssembleError::Sample { path: format!("{path}.shape"), source })?;
    let (linear, angular) = (Vector3::from(soft.velocity), Vector3::from(soft.angular_velocity));
    let velocities = sample
        .positions
        .iter()
        .map(|x| linear + angular.cross(&(x.coords - pose.translation.vector)))
        .collect();
    Ok(SoftParticles { material, sample, velocities, color: soft.color })
}

fn body(
    described: &format::Body,
    before: &[BodyDesc],
    path: &str,
) -> Result<(BodyDesc, Vector3<f64>), AssembleError> {
    let mut geometries = Vec::with_capacity(described.geometries.len());
    for (at, geometry) in described.geometries.iter().enumerate() {
        let shape = shape(&geometry.shape, &format!("{path}.geometries[{at}].shape"))?;
        geometries.push(pliant_rigid::Geometry {
            shape,
            pose: isometry(&geometry.pose),
            friction: geometry.friction,
            color: geometry.color,
        });
    }
    let mut center = Vector3::zeros();
    let (pose, motion) = match &described.motion {
        format::Motion::Fixed { pose } => (isometry(pose), Motion::Fixed),
        format::Motion::PrescribedPoses { keyframes } => {
            let keys: Vec<_> = keyframes
                .iter()
                .map(|k| PoseKey { time: k.time, pose: frame(&k.position, &k.orientation) })
                .collect();
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
            (isometry(&dynamic.pose), dynamic_motion(dynamic, mass, before, path)?)
        }
    };
    // The rigid library puts a body's origin into its centre of mass.
    let to_center = Translation3::from(center);
    for geometry in &mut geometries {
        geometry.pose = to_center.inverse() * geometry.pose;
    }
    Ok((BodyDesc { name: described.name.clone(), pose: pose * to_center, motion, geometries }, center))
}

fn spatial(angular: &[f64; 3], linear: &[f64; 3]) -> SpatialVelocity {
    SpatialVelocity { angular: (*angular).into(), linear: (*linear).into() }
}

fn dynamic_motion(
    dynamic: &format::Dynamic,
    mass: MassProperties,
    before: &[BodyDesc],
    path: &str,
) -> Result<Motion, AssembleError> {
    let parent = match &dynamic.parent {
        None => None,
        Some(name) => {
            let found = before.iter().position(|body| body.name == *name);
            Some(BodyId(found.ok_or_else(|| AssembleError::Undefined {
                path: format!("{path}.motion.parent"),
                name: name.clone(),
            })?))
        }
    };
    let unit = |axis: &[f64; 3]| Unit::new_normalize(Vector3::from(*axis));
    let joint = match &dynamic.joint {
        format::Joint::Free {} => Joint::Free,
        format::Joint::Fixed {} => Joint::Fixed,
        format::Joint::Revolute(joint) => Joint::Revolute { axis: unit(&joint.axis), damping: joint.damping },
        format::Joint::Prismatic(joint) => {
            Joint::Prismatic { axis: unit(&joint.axis), damping: joint.damping }
        }
        format::Joint::Universal(_) | format::Joint::Planar(_) | format::Joint::Ball(_) => {
            return Err(unconnected(format!("{path}.motion.joint")));
        }
    };
    Ok(Motion::Dynamic {
        parent,
        joint,
        mass,
        force: dynamic.applied_force.into(),
        torque: dynamic.applied_torque.into(),
        velocity: spatial(&dynamic.angular_velocity, &dynamic.velocity),
        gravity: dynamic.gravity,
    })
}

fn shape(described: &RigidShape, path: &str) -> Result<Shape, AssembleError> {
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

/// Mass, centre [m] and inertia about the centre, in the body's frame, of solids of one density [kg/m^3].
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

/// Mass properties of a dynamic body and its centre of mass in the frame that the scene gives it [m].
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;
    use crate::format::{Assignment, apply};
    use approx::assert_relative_eq;

    fn of(name: &str, set: &[&str]) -> Assembly {
        let set: Vec<_> = set.iter().map(|s| Assignment::parse(s).unwrap()).collect();
        assemble(&apply(&builtin::scene(name).unwrap().unwrap(), &set).unwrap()).unwrap()
    }

    // The law: the published dough has 5,920 particles and the density of the material over the volume of the box; the
    // roller's axis is horizontal and across the first pass.
    #[test]
    fn dough_rolling_has_the_published_particles_and_a_lying_roller() {
        let dough = of("dough-rolling", &[]);
        let sample = &dough.soft[0].sample;
        assert_eq!(sample.positions.len(), 5920);
        assert_relative_eq!(sample.particle_volume * 5920.0, 0.32 * 0.12 * 0.1, max_relative = 1e-12);
        let Motion::Dynamic { joint: Joint::Revolute { axis, .. }, .. } = &dough.bodies[1].motion else {
            panic!("{:?}", dough.bodies[1].motion)
        };
        let axis = dough.bodies[1].pose * axis.into_inner();
        assert_relative_eq!(axis, Vector3::y(), epsilon = 1e-10);
    }

    // The law: mass 2 rho V of two like boxes side by side, centre between them, inertia of the one box that they make:
    // m (b^2 + c^2)/12.
    #[test]
    fn two_boxes_weigh_as_the_one_they_make() {
        let assembly = of(
            "elastic-drop",
            &[
                r#"bodies=[{"name":"b","motion":{"type":"dynamic","pose":{"position":[1,2,3]},"joint":{"type":"free"},"density":500},
                "geometries":[{"shape":{"type":"box","half_extents":[0.1,0.2,0.3]},"pose":{"position":[0.3,0,0]}},
                              {"shape":{"type":"box","half_extents":[0.1,0.2,0.3]},"pose":{"position":[0.5,0,0]}}]}]"#,
            ],
        );
        let mass = 500.0 * 0.4 * 0.4 * 0.6;
        let Motion::Dynamic { mass: found, .. } = &assembly.bodies[0].motion else { panic!() };
        assert_relative_eq!(found.mass, mass, max_relative = 1e-12);
        let expected = Vector3::new(0.16 + 0.36, 0.16 + 0.36, 0.16 + 0.16) * (mass / 12.0);
        assert_relative_eq!(found.inertia, Matrix3::from_diagonal(&expected), epsilon = 1e-10 * mass);
        assert_relative_eq!(assembly.centers[0], Vector3::new(0.4, 0.0, 0.0), epsilon = 1e-12);
        assert_relative_eq!(
            assembly.bodies[0].pose.translation.vector,
            Vector3::new(1.4, 2.0, 3.0),
            epsilon = 1e-12
        );
        assert_relative_eq!(
            assembly.bodies[0].geometries[0].pose.translation.vector.x,
            -0.1,
            epsilon = 1e-12
        );
    }

    // The law: a body set spinning has velocity v + w x r.
    #[test]
    fn particles_take_the_velocity_of_their_body() {
        let assembly = of("elastic-drop", &["soft[0].velocity=[1,0,0]", "soft[0].angular_velocity=[0,0,2]"]);
        let soft = &assembly.soft[0];
        for (x, v) in soft.sample.positions.iter().zip(&soft.velocities) {
            assert_relative_eq!(*v, Vector3::new(1.0 - 2.0 * x.y, 2.0 * x.x, 0.0), epsilon = 1e-12);
        }
    }

    // The law: the seed alone decides the jitter, and two bodies do not draw the same numbers.
    #[test]
    fn the_seed_decides_the_jitter() {
        let first =
            |seed: &str| of("elastic-drop", &["soft[0].sampling.jitter=0.5", seed]).soft[0].sample.clone();
        assert_eq!(first("seed=1"), first("seed=1"));
        assert_ne!(first("seed=1").positions, first("seed=2").positions);
    }

    #[test]
    fn a_missing_mesh_is_named() {
        let mut scene = builtin::scene("elastic-drop").unwrap().unwrap();
        scene.soft[0].shape = SoftShape::Mesh { file: "/nowhere/bun.obj".into(), scale: 1.0 };
        let error = assemble(&scene).unwrap_err().to_string();
        assert!(error.starts_with("soft[0].shape.file") && error.contains("/nowhere/bun.obj"), "{error}");
    }
}
