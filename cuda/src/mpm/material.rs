//! What the kernels know of materials and boundary conditions.

use pliant_mpm::material::{Material, Model};
use pliant_mpm::{Boundary, BoundaryKind};

use crate::kernels::{
    MPM_DRUCKER_PRAGER, MPM_FIXED_COROTATED, MPM_FRICTIONAL, MPM_GRANULAR, MPM_LINEAR_COROTATED,
    MPM_NEO_HOOKEAN, MPM_SLIP, MPM_STICKY, MPM_VON_MISES, MpmMaterial, MpmPlane,
};

/// Materials' parameters in f32, as `pliant_mpm::constitutive` derives them.
pub fn device_materials(materials: &[Material]) -> Vec<MpmMaterial> {
    materials.iter().map(device_material).collect()
}

/// A material's parameters.
fn device_material(material: &Material) -> MpmMaterial {
    let elastic = material.model.elastic();
    let (mu, lambda) = (elastic.shear_modulus(), elastic.lame_lambda());
    let (mut slow, mut fast, mut relaxation) = ([0.0; 2], [0.0; 2], 0.0);
    let (model, yield_strain) = match material.model {
        Model::FixedCorotated(_) => (MPM_FIXED_COROTATED, 0.0),
        Model::NeoHookean(_) => (MPM_NEO_HOOKEAN, 0.0),
        Model::LinearCorotated(_) => (MPM_LINEAR_COROTATED, 0.0),
        // sqrt(2/3) sigma_Y / (2 mu): Simo and Hughes, box 9.1.
        Model::VonMises { yield_stress, .. } => {
            (MPM_VON_MISES, (2.0_f64 / 3.0).sqrt() * yield_stress / (2.0 * mu))
        }
        // alpha (3 lambda + 2 mu) / (2 mu): Klar et al. 2016.
        Model::DruckerPrager { friction_angle, .. } => {
            let sine = friction_angle.sin();
            let alpha = (2.0_f64 / 3.0).sqrt() * 2.0 * sine / (3.0 - sine);
            (MPM_DRUCKER_PRAGER, alpha * (3.0 * lambda + 2.0 * mu) / (2.0 * mu))
        }
        // The cones and mu I_0 / (d sqrt(rho_s)) of `pliant_mpm::constitutive::Granular`.
        Model::Granular(flow) => {
            slow = cone(flow.friction_angle.tan());
            fast = cone(flow.fast_friction_angle.tan());
            relaxation = mu * flow.inertial_number / (flow.grain_diameter * flow.grain_density.sqrt());
            (MPM_GRANULAR, 0.0)
        }
    };
    MpmMaterial {
        model,
        mu: mu as f32,
        lambda: lambda as f32,
        yield_strain: yield_strain as f32,
        slow_ratio: slow[0] as f32,
        slow_triangularity: slow[1] as f32,
        fast_ratio: fast[0] as f32,
        fast_triangularity: fast[1] as f32,
        relaxation: relaxation as f32,
    }
}

/// Ratio and triangularity of a cone of Matsuoka and Nakai with m = sqrt(J2)/p in simple shear: see
/// [`MpmMaterial`].
fn cone(m: f64) -> [f64; 2] {
    [0.75_f64.sqrt() * m, 0.5 * m * (3.0 - m * m)]
}

/// A boundary condition in cells, as `pliant_mpm` has it for its grid pass.
pub(crate) fn device_plane(boundary: &Boundary, grid_spacing: f64) -> MpmPlane {
    let normal = boundary.normal.into_inner();
    let (kind, friction) = match boundary.kind {
        BoundaryKind::Sticky => (MPM_STICKY, 0.0),
        BoundaryKind::Slip => (MPM_SLIP, 0.0),
        BoundaryKind::Frictional { friction } => (MPM_FRICTIONAL, friction),
    };
    MpmPlane {
        normal_f64: normal.into(),
        offset: normal.dot(&boundary.point.coords) / grid_spacing,
        normal: normal.map(|n| n as f32).into(),
        friction: friction as f32,
        kind,
        unused: 0,
    }
}
