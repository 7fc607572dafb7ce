//! From a scene's description to the parts of a world: materials, filled shapes, bodies, robots and
//! their motors and controllers.

mod arm;
mod body;
mod drive;
mod error;
mod inputs;
mod parts;
mod pending;
mod robot;
mod sensor;
mod sighting;
mod task;

use std::path::Path;

use nalgebra::{Matrix3, Vector3};
use pliant_mpm::cloth::Sheet;
use pliant_mpm::material::Material;
use pliant_mpm::rope::Rope;
use pliant_rigid::Shape;

use crate::estimate::{particle_bytes, particle_spacing};
use crate::format::limits::MOST_PARTICLES;
use crate::format::{self, AutoOr, ClothSpec, RopeSpec, Scene, SoftBodySpec, SoftShape};
use crate::initial_checks::fits_grid;
use crate::isometry::isometry;
use crate::machine_memory::machine_memory;
use pliant_coupling::sample::{Density, Jitter, ParticleSample, SamplingSolid, bounds, sample};
use pliant_io::mesh::load_mesh;

pub use error::AssembleError;
pub use inputs::TimedInputs;
pub use parts::RigidParts;
pub use pending::PendingTask;
pub use robot::rigid_parts;
pub use sensor::tactile_pads;
pub use sighting::{SeenPoints, sightings};

/// A soft body as particles.
#[derive(Clone, Debug)]
pub struct SoftParticles {
    /// Index of its material among [`Assembly::materials`].
    pub material: usize,
    /// The shape, in the body's own frame.
    pub shape: Shape,
    /// The filled shape.
    pub sample: ParticleSample,
    /// Velocity of each particle, world frame \[m/s\].
    pub velocities: Vec<Vector3<f64>>,
    /// Gradient of the velocity: the cross-product matrix of the angular velocity \[1/s\]. Without it
    /// the particles of a body that turns carry less than its angular momentum, and it turns too
    /// slowly.
    pub velocity_gradient: Matrix3<f64>,
    /// sRGB colour.
    pub color: [u8; 3],
}

/// A sheet of cloth.
#[derive(Clone, Debug)]
pub struct AssembledCloth {
    /// The sheet in the world.
    pub sheet: Sheet,
    /// sRGB colour of its front.
    pub color: [u8; 3],
    /// Colour of its back; none if it follows from the front's.
    pub back_color: Option<[u8; 3]>,
}

/// A rope.
#[derive(Clone, Debug)]
pub struct AssembledRope {
    /// The rope in the world.
    pub rope: Rope,
    /// sRGB colour.
    pub color: [u8; 3],
}

/// The parts of a world, in the order of the scene.
#[derive(Debug)]
pub struct Assembly {
    /// The scene's named materials in the order of their names, then those written in place.
    pub materials: Vec<Material>,
    /// Rate of mass-proportional damping of each material \[1/s\].
    pub mass_damping: Vec<f64>,
    /// The soft bodies.
    pub soft: Vec<SoftParticles>,
    /// The cloths.
    pub cloths: Vec<AssembledCloth>,
    /// The ropes.
    pub ropes: Vec<AssembledRope>,
    /// Bodies and robots with their motors and controllers.
    pub rigid: RigidParts,
    /// Warnings of soft bodies that the grid hardly resolves, one line each.
    pub warnings: Vec<String>,
}

/// Builds the parts of a valid scene. The folder `cache` keeps the hulls of decomposed meshes of
/// robots; without one they are computed anew.
///
/// # Errors
/// [`AssembleError`]: a file, a shape that holds no particle, a mesh that bounds no solid, a body
/// or robot that cannot be used.
pub fn assemble(scene: &Scene, cache: Option<&Path>) -> Result<Assembly, AssembleError> {
    let mut materials: Vec<_> = scene.materials.values().map(format::Material::particle_material).collect();
    let mut mass_damping = Vec::new();
    let mut soft = Vec::with_capacity(scene.soft.len());
    let mut warnings = Vec::new();
    for (at, described) in scene.soft.iter().enumerate() {
        let path = format!("soft[{at}]");
        let mut material = soft_material(&mut materials, scene, described, &path)?;
        if described.mass_damping > 0.0 {
            // A copy, because other bodies may be of the same named material.
            materials.push(materials[material]);
            material = materials.len() - 1;
            mass_damping.resize(material, 0.0);
            mass_damping.push(described.mass_damping);
        }
        soft.push(fill(scene, at, described, material, &path, &mut warnings)?);
    }
    let cloths = scene.cloths.iter().enumerate().map(|(at, described)| cloth(scene, at, described));
    let cloths = cloths.collect::<Result<_, _>>()?;
    let ropes = scene.ropes.iter().enumerate().map(|(at, described)| rope(scene, at, described));
    let ropes = ropes.collect::<Result<_, _>>()?;
    Ok(Assembly { materials, mass_damping, soft, cloths, ropes, rigid: rigid_parts(scene, cache)?, warnings })
}

fn rope(scene: &Scene, at: usize, described: &RopeSpec) -> Result<AssembledRope, AssembleError> {
    let failed = |source| AssembleError::Rope { path: format!("ropes[{at}]"), source: Box::new(source) };
    // Validation has reported a missing grid.
    let rope = described.build(scene.grid_spacing.unwrap_or(1.0)).map_err(failed)?;
    Ok(AssembledRope { rope, color: described.color })
}

fn cloth(scene: &Scene, at: usize, described: &ClothSpec) -> Result<AssembledCloth, AssembleError> {
    let failed = |source| AssembleError::Cloth { path: format!("cloths[{at}]"), source: Box::new(source) };
    // Paths were made absolute when the scene was read; validation has reported a missing grid.
    let spacing = scene.grid_spacing.unwrap_or(1.0);
    let (mesh, material, pins) = described.build(Path::new(""), spacing).map_err(failed)?;
    let gas = described.gas_within(&mesh, &material).map_err(failed)?;
    let sheet = Sheet { mesh, material, pins, gas, velocity: described.velocity.into() };
    Ok(AssembledCloth { sheet, color: described.color, back_color: described.back_color })
}

/// Index of a soft body's material; one written in place joins the list.
fn soft_material(
    materials: &mut Vec<Material>,
    scene: &Scene,
    soft: &SoftBodySpec,
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
            materials.push(described.particle_material());
            Ok(materials.len() - 1)
        }
    }
}

fn fill(
    scene: &Scene,
    at: usize,
    soft: &SoftBodySpec,
    material: usize,
    path: &str,
    warnings: &mut Vec<String>,
) -> Result<SoftParticles, AssembleError> {
    let solid = match &soft.shape {
        SoftShape::Box { half_extents } => SamplingSolid::Box { half_extents: (*half_extents).into() },
        SoftShape::Sphere { radius } => SamplingSolid::Sphere { radius: *radius },
        SoftShape::Cylinder { radius, half_length } => {
            SamplingSolid::Cylinder { radius: *radius, half_length: *half_length }
        }
        SoftShape::Mesh { file, scale } => SamplingSolid::Mesh(
            load_mesh(file, *scale)
                .map_err(|source| AssembleError::Mesh { path: format!("{path}.shape.file"), source })?,
        ),
    };
    let density = match (soft.sampling.counts, soft.sampling.spacing) {
        (Some(counts), _) => Density::Counts(counts.map(|count| count as usize)),
        (None, AutoOr::Value(spacing)) => Density::Spacing(spacing),
        // Validation has reported a missing grid spacing; with zero there would be no particle.
        (None, AutoOr::Auto) => Density::Spacing(scene.grid_spacing.unwrap_or(0.0) / 2.0),
    };
    // Bodies of one scene draw different random numbers; the multiplier must be odd and large.
    let seed = scene.seed ^ (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let jitter = soft.sampling.jitter;
    let jitter = (jitter > 0.0).then_some(Jitter { fraction: jitter, seed });
    let pose = isometry(&soft.pose);
    check_room(scene, soft, &solid, path)?;
    let sample = sample(&solid, &pose, density, jitter)
        .map_err(|source| AssembleError::Sample { path: format!("{path}.shape"), source })?;
    let shape =
        solid.shape().map_err(|source| AssembleError::Geometry { path: format!("{path}.shape"), source })?;
    check_coarse(scene, soft, &solid, &sample, path, warnings)?;
    let (linear, angular) = (Vector3::from(soft.velocity), Vector3::from(soft.angular_velocity));
    let velocities = sample
        .positions
        .iter()
        .map(|x| linear + angular.cross(&(x.coords - pose.translation.vector)))
        .collect();
    let velocity_gradient = angular.cross_matrix();
    Ok(SoftParticles { material, shape, sample, velocities, velocity_gradient, color: soft.color })
}

/// Refuses a mesh that holds more particles than a scene or the machine, before it is filled.
fn check_room(
    scene: &Scene,
    soft: &SoftBodySpec,
    solid: &SamplingSolid,
    path: &str,
) -> Result<(), AssembleError> {
    if !matches!(solid, SamplingSolid::Mesh(_)) {
        // Validation has counted them.
        return Ok(());
    }
    let (low, high) = bounds(solid);
    let extents = high - low;
    let cells = match soft.sampling.counts {
        Some(counts) => counts.iter().map(|&count| f64::from(count)).product(),
        None => (extents / particle_spacing(scene, soft)).product(),
    };
    let room = scene.limits.memory.or_else(machine_memory).map_or(f64::INFINITY, |bytes| bytes as f64);
    // A surface encloses at most its bounding box.
    let volume = solid
        .shape()
        .map_err(|source| AssembleError::Geometry { path: format!("{path}.shape"), source })?
        .mass_properties(1.0)
        .map_or(0.0, |(volume, ..)| volume);
    let particles = cells * (volume / extents.product()).clamp(0.0, 1.0);
    if cells > f64::from(MOST_PARTICLES) || particle_bytes(particles) > room {
        let (path, megabytes) = (format!("{path}.shape"), particle_bytes(particles) / 1e6);
        let most = if room.is_finite() { format!("{:.0} MB", room / 1e6) } else { "no limit".to_owned() };
        return Err(AssembleError::TooLarge { path, cells, particles, megabytes, most });
    }
    Ok(())
}

/// Refuses a body that the grid or its particles cannot resolve, and warns of one that they hardly
/// resolve.
fn check_coarse(
    scene: &Scene,
    soft: &SoftBodySpec,
    solid: &SamplingSolid,
    sample: &ParticleSample,
    path: &str,
    warnings: &mut Vec<String>,
) -> Result<(), AssembleError> {
    let Some(spacing) = scene.grid_spacing else { return Ok(()) };
    let path = format!("{path} '{}'", soft.name);
    let (low, high) = bounds(solid);
    let cells =
        fits_grid((high - low).into(), sample.spacing.into(), spacing, scene.contact.particle_radius.value())
            .map_err(|source| AssembleError::Resolution { path: path.clone(), source })?;
    if let Some(cells) = cells {
        warnings.push(format!(
            "{path}: its smallest side has {cells:.2} grid cells; at least 2 are needed to \
             resolve its deformation: use a smaller grid_spacing"
        ));
    }
    if sample.left_out > 0 {
        warnings.push(format!(
            "{path}: parts of the mesh thinner than a particle ({:.3e} m) get no particles; their \
             mass, that of {} of {} particles, is distributed over the others",
            2.0 * sample.radius(),
            sample.left_out,
            sample.left_out + sample.positions.len()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;
    use crate::format::{Assignment, apply};
    use approx::assert_relative_eq;
    use nalgebra::Matrix3;
    use pliant_rigid::BodyId;
    use pliant_rigid::multibody::JointKind;

    fn of(name: &str, set: &[&str]) -> Assembly {
        let set: Vec<_> = set.iter().map(|s| Assignment::parse(s).unwrap()).collect();
        assemble(&apply(&builtin::scene(name).unwrap().unwrap(), &set).unwrap(), None).unwrap()
    }

    // Checks: the published dough has 5,920 particles and the density of the material over the
    // volume of the box; the roller's axis is horizontal and across the first pass.
    #[test]
    fn dough_rolling_has_the_published_particles_and_a_lying_roller() {
        let dough = of("dough-pin", &[]);
        let sample = &dough.soft[0].sample;
        assert_eq!(sample.positions.len(), 5920);
        assert_relative_eq!(sample.particle_volume * 5920.0, 0.32 * 0.12 * 0.1, max_relative = 1e-12);
        let builder = &dough.rigid.builder;
        let JointKind::Revolute { axis } = &builder.links()[1].joint else {
            panic!("{:?}", builder.links()[1])
        };
        let axis = builder.pose(BodyId(1)) * axis.into_inner();
        assert_relative_eq!(axis, Vector3::y(), epsilon = 1e-10);
    }

    // Checks: mass 2 rho V of two like boxes side by side, centre between them, inertia of the one
    // box that they make: m (b^2 + c^2)/12.
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
        let builder = &assembly.rigid.builder;
        let found = &builder.links()[0].inertia;
        assert_relative_eq!(found.mass, mass, max_relative = 1e-12);
        let expected = Vector3::new(0.16 + 0.36, 0.16 + 0.36, 0.16 + 0.16) * (mass / 12.0);
        assert_relative_eq!(found.inertia, Matrix3::from_diagonal(&expected), epsilon = 1e-10 * mass);
        assert_relative_eq!(assembly.rigid.centers[0], Vector3::new(0.4, 0.0, 0.0), epsilon = 1e-12);
        assert_relative_eq!(
            builder.pose(BodyId(0)).translation.vector,
            Vector3::new(1.4, 2.0, 3.0),
            epsilon = 1e-12
        );
        assert_relative_eq!(
            builder.bodies()[0].geometries[0].pose.translation.vector.x,
            -0.1,
            epsilon = 1e-12
        );
    }

    // Checks: a body set spinning has velocity v + w x r.
    #[test]
    fn particles_take_the_velocity_of_their_body() {
        let assembly = of("elastic-drop", &["soft[0].velocity=[1,0,0]", "soft[0].angular_velocity=[0,0,2]"]);
        let soft = &assembly.soft[0];
        for (x, v) in soft.sample.positions.iter().zip(&soft.velocities) {
            assert_relative_eq!(*v, Vector3::new(1.0 - 2.0 * x.y, 2.0 * x.x, 0.0), epsilon = 1e-12);
        }
    }

    // Checks: the seed alone decides the jitter, and two bodies do not draw the same numbers.
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
        let error = assemble(&scene, None).unwrap_err().to_string();
        assert!(error.starts_with("soft[0].shape.file") && error.contains("/nowhere/bun.obj"), "{error}");
    }
}
