//! The friction angles of the sand's cone in the tests in which sands are measured.

use pliant_mpm::Material;
use pliant_mpm::constitutive::{Constitutive, DruckerPrager};
use pliant_mpm::material::{Elastic, FrictionTest, Model};
use pliant_numeric::linalg::Mat3;

const ELASTIC: Elastic = Elastic { youngs_modulus: 1e6, poissons_ratio: 0.3 };

/// Compression before the flow, along each axis: elastic strains turn the stress off the axes of
/// the flow by as much.
const COMPRESSION: f64 = 2e-5;

/// Strain increment, and how many: the flow is 20 times the elastic strain.
const INCREMENT: f64 = 2e-7;
const INCREMENTS: usize = 2000;

/// Stress after an isotropic compression and many small increments of the flow.
fn flow(angle: f64, increment: [[f64; 3]; 3]) -> pliant_numeric::linalg::Sym3<f64> {
    let model = DruckerPrager::<f64>::new(&ELASTIC, angle);
    let mut response = model.update(Mat3::<f64>::identity().scale(1.0 - COMPRESSION), 0.0, 1e-3);
    let step = Mat3::from(nalgebra::Matrix3::from_fn(|r, c| increment[r][c]));
    for _ in 0..INCREMENTS {
        response = model.update(step * response.deformation_gradient, response.state, 1e-3);
    }
    response.kirchhoff_stress
}

/// Steady shear along a plane that does not stretch (Davis 1968): tan(phi) = tau/sigma_n on that
/// plane. Tolerance: the elastic strains, 3e-4; measured 9e-5.
#[test]
fn simple_shear_flows_at_its_friction_angle() {
    for degrees in [20.0_f64, 31.0, 40.0] {
        let angle = degrees.to_radians();
        let cone = FrictionTest::SimpleShear.cone_angle(angle);
        let d = INCREMENT;
        let tau = flow(cone, [[1.0, 0.0, d], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        println!(
            "{degrees} degrees, cone {:.2}: {:.6}",
            cone.to_degrees(),
            (tau.xz / -tau.zz).atan().to_degrees()
        );
        assert!((tau.xz / -tau.zz / angle.tan() - 1.0).abs() < 3e-4, "{} {}", tau.xz / -tau.zz, angle.tan());
    }
}

/// Plane strain at constant volume: sin(phi) = (s1 - s3)/(s1 + s3), and in triaxial compression the
/// same of its own axes.
#[test]
fn plane_strain_and_triaxial_compression_flow_at_their_friction_angles() {
    for degrees in [20.0_f64, 30.0, 40.0] {
        let angle = degrees.to_radians();
        let d = INCREMENT;
        let ratio = |major: f64, minor: f64| (major - minor) / (major + minor);
        let cone = FrictionTest::PlaneStrain.cone_angle(angle);
        let tau = flow(cone, [[d.exp(), 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, (-d).exp()]]);
        assert!(
            (ratio(tau.zz, tau.xx) - angle.sin()).abs() < 1e-9,
            "plane strain: {}",
            ratio(tau.zz, tau.xx)
        );
        let cone = FrictionTest::TriaxialCompression.cone_angle(angle);
        let tau = flow(cone, [[d.exp(), 0.0, 0.0], [0.0, d.exp(), 0.0], [0.0, 0.0, (-2.0 * d).exp()]]);
        assert!((ratio(tau.zz, tau.xx) - angle.sin()).abs() < 1e-9, "triaxial: {}", ratio(tau.zz, tau.xx));
    }
    // The values in the documentation: the cone of 30 degrees has 44 in plane strain, where 22.2
    // have 30.
    let of = |degrees: f64| FrictionTest::PlaneStrain.cone_angle(degrees.to_radians()).to_degrees();
    assert!((of(43.9) - 30.0).abs() < 0.1 && (of(30.0) - 22.2).abs() < 0.05, "{} {}", of(43.9), of(30.0));
}

/// An angle for which there is no cone makes a material that is refused.
#[test]
fn impossible_angles_are_refused() {
    for (test, angle) in [
        (FrictionTest::SimpleShear, 1.06),
        (FrictionTest::SimpleShear, -0.1),
        (FrictionTest::PlaneStrain, 0.0),
        (FrictionTest::TriaxialCompression, f64::NAN),
    ] {
        let model = Model::DruckerPrager { elastic: ELASTIC, friction_angle: test.cone_angle(angle) };
        assert_eq!(
            Material { density: 1e3, model }.validate().unwrap_err().field,
            "friction_angle",
            "{test:?} {angle}"
        );
    }
}
