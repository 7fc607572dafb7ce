//! Solids filled with particles.
//!
//! Each particle has an equal share V_p of the solid's exact volume, so that mass and momentum do
//! not depend on the resolution. It touches at half the edge of a cube of that volume, r =
//! cbrt(V_p) / 2 (contact's `auto` radius). The outer particles lie at the depth r: none extends
//! out of the solid, and the solid touches its support. Boxes and meshes take a lattice that
//! divides their bounding box evenly, cylinders rings of equal cells, spheres shells of them
//! (`round.rs`). All other solids take the lattice of their bounding box, too; there points closer
//! than r to the surface are moved inwards (`fit.rs`).

mod columns;
mod fit;
mod lattice;
mod round;
mod set;
mod solid;

use nalgebra::{Isometry3, Point3, Vector3};

use pliant_numeric::random::SplitMix64;
use pliant_rigid::Shape;

use columns::MeshColumns;
pub use solid::{Density, Jitter, MOST_PARTICLES, ParticleSample, SampleError, SamplingSolid};
use solid::{JitterSource, ParticleLayout, positive};

/// Fills `solid`, placed by `pose` (solid's frame to world), at the given density.
///
/// # Errors
/// [`SampleError`]: a size, spacing or pose that is not positive or finite, a mesh that does not
/// bound a solid, or no particle inside.
pub fn sample(
    solid: &SamplingSolid,
    pose: &Isometry3<f64>,
    density: Density,
    jitter: Option<Jitter>,
) -> Result<ParticleSample, SampleError> {
    check_solid(solid)?;
    check_pose(pose)?;
    if let Some(jitter) = jitter
        && !(0.0..=1.0).contains(&jitter.fraction)
    {
        return Err(SampleError::Jitter(jitter.fraction));
    }
    let shape = solid.shape()?;
    let volume = shape.mass_properties(1.0).map_or(0.0, |(mass, ..)| mass);
    positive("the volume", volume, "m^3")?;
    let (low, high) = bounds(solid);
    let lattice = lattice::lattice(solid, low, high, density)?;
    let mut jitter_source = JitterSource(jitter.map(|j| (j.fraction, SplitMix64::new(j.seed))));
    let filling = match solid {
        SamplingSolid::Box { half_extents } => lattice.boxed(half_extents, &mut jitter_source)?,
        SamplingSolid::Sphere { radius } => round::shells(*radius, &lattice.spacing, &mut jitter_source)?,
        SamplingSolid::Cylinder { radius, half_length } => {
            round::rings(*radius, *half_length, &lattice.spacing, &mut jitter_source)?
        }
        SamplingSolid::Mesh(mesh) => {
            let columns = MeshColumns::new(mesh);
            let inside = |point: &Point3<f64>| columns.winding_number(point) > 0;
            fit::fitted(&shape, inside, volume, &lattice, &mut jitter_source)?
        }
        SamplingSolid::Other(_) => {
            let inside = |point: &Point3<f64>| shape.surface_point(point).distance < 0.0;
            fit::fitted(&shape, inside, volume, &lattice, &mut jitter_source)?
        }
    };
    let ParticleLayout { points, spacing, left_out } = filling;
    let particle_volume = volume / points.len() as f64;
    let positions = points.into_iter().map(|point| pose * point).collect();
    Ok(ParticleSample { positions, particle_volume, spacing, left_out })
}

fn check_solid(solid: &SamplingSolid) -> Result<(), SampleError> {
    match solid {
        SamplingSolid::Box { half_extents } => {
            half_extents.iter().try_for_each(|&side| positive("half_extents", side, "m"))
        }
        SamplingSolid::Sphere { radius } => positive("radius", *radius, "m"),
        SamplingSolid::Cylinder { radius, half_length } => {
            positive("radius", *radius, "m")?;
            positive("half_length", *half_length, "m")
        }
        SamplingSolid::Other(shape) => Ok(shape.validate()?),
        // Its shape is checked.
        SamplingSolid::Mesh(_) => Ok(()),
    }
}

fn check_pose(pose: &Isometry3<f64>) -> Result<(), SampleError> {
    let finite = pose.translation.vector.iter().chain(pose.rotation.coords.iter()).all(|x| x.is_finite());
    if finite {
        Ok(())
    } else {
        Err(SampleError::PoseNotFinite { translation: pose.translation.vector.into() })
    }
}

/// Axis-aligned bounds in the solid's own frame \[m\].
pub fn bounds(solid: &SamplingSolid) -> (Point3<f64>, Point3<f64>) {
    let half = match solid {
        SamplingSolid::Box { half_extents } => *half_extents,
        SamplingSolid::Sphere { radius } => Vector3::repeat(*radius),
        SamplingSolid::Cylinder { radius, half_length } => Vector3::new(*radius, *radius, *half_length),
        SamplingSolid::Mesh(mesh) => {
            let start = (Point3::from([f64::INFINITY; 3]), Point3::from([f64::NEG_INFINITY; 3]));
            return mesh.vertices.iter().fold(start, |(low, high), v| (low.inf(v), high.sup(v)));
        }
        SamplingSolid::Other(shape) => return bounds_of(shape),
    };
    (Point3::from(-half), Point3::from(half))
}

/// The same of a shape; a half-space has none.
fn bounds_of(shape: &Shape) -> (Point3<f64>, Point3<f64>) {
    let half = match shape {
        Shape::HalfSpace => Vector3::repeat(f64::INFINITY),
        Shape::Box { half_extents } => *half_extents,
        Shape::Sphere { radius } => Vector3::repeat(*radius),
        Shape::Cylinder { radius, half_length } => Vector3::new(*radius, *radius, *half_length),
        Shape::Capsule { radius, half_length } => Vector3::new(*radius, *radius, half_length + radius),
        Shape::Ellipsoid { semi_axes } => *semi_axes,
        Shape::ConvexHull(hull) => return hull.mesh().bounds().into(),
        Shape::Mesh(mesh) => return mesh.bounds().into(),
        Shape::HeightField(field) => return field.mesh().bounds().into(),
    };
    (Point3::from(-half), Point3::from(half))
}
