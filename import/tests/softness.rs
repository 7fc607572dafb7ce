//! Compliance of limits and equalities of MJCF.

use pliant_import::load;
use pliant_rigid::Compliance;
use pliant_rigid::simulation::{Equality, Integrator, NoContacts, Simulation};

const FILE: &str = r#"<mujoco><option timestep="0.002"/><worldbody>
<body name="a" pos="0 0 1"><joint name="j1" type="hinge" axis="0 1 0" range="-10 20" armature="0.05"
  solreflimit="0.03 0.7" solimplimit="0.8 0.93 0.1 0.4 3" margin="0.05"/>
  <geom type="box" size=".1 .2 .3" pos=".1 0 .1" mass="2"/>
 <body name="b" pos="0.3 0 0"><joint name="j2" type="slide" axis="0.6 0 0.8" range="-.1 .1"/>
  <geom type="box" size=".1 .1 .2" mass="1" pos="0 .05 0"/></body></body>
<body name="c" pos="1 1 1"><freejoint/><geom type="box" size=".1 .2 .1" mass="3" pos=".02 .01 0"/></body>
</worldbody>
<tendon><fixed name="t" range="-.02 .02"><joint joint="j1" coef="0.3"/><joint joint="j2" coef="-0.8"/>
</fixed></tendon>
<equality><connect body1="b" body2="c" anchor="0.1 0.2 0.3" solref="0.05 0.8" solimp="0.5 0.9 0.4 0.5 2"/>
<weld body1="c" body2="a" torquescale="0.5" solref="-300 -20" solimp="0.5 0.9 1.5 0.5 2"/>
<joint joint1="j1" joint2="j2" polycoef="0.1 0.4"/></equality></mujoco>"#;

/// Relative error of the figures below, which have nine digits.
const ROUNDING: f64 = 2e-8;

fn check(what: &str, compliance: &Compliance, [k, b, a]: [f64; 3]) {
    let found = [compliance.stiffness, compliance.damping, compliance.mobility];
    for (found, expected) in found.into_iter().zip([k, b, a]) {
        assert!((found / expected - 1.0).abs() < ROUNDING, "{what}: {found}, {expected}");
    }
}

// Checks: k, b and A against `efc_KBIP`, and `efc_R d/(1 - d)`, of MuJoCo 4.0.0 for the same file.
#[test]
fn compliance_is_that_of_mujoco() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("soft.xml");
    std::fs::write(&path, FILE).unwrap();
    let imported = load(&path).unwrap();
    assert!(!imported.warnings.iter().any(|w| w.to_string().contains("sol")), "{:?}", imported.warnings);
    let usual = [2.77008310e3, 1.05263158e2];
    let model = &imported.system.model;
    let limits: Vec<_> =
        model.links().iter().flat_map(|link| &link.dofs).filter_map(|dof| dof.limit_compliance).collect();
    check("hinge", &limits[0].compliance, [2.62177558e3, 7.16845878e1, 4.86066105]);
    assert_eq!(limits[0].margin, 0.05);
    check("slide", &limits[1].compliance, [usual[0], usual[1], 1.27997408]);
    let tendon = imported.system.tendons[0].limit_compliance.unwrap();
    check("tendon", &tendon.compliance, [usual[0], usual[1], 0.69669475]);
    let expected = [
        [7.71604938e2, 4.44444444e1, 0.71916181],
        [3.70370370e2, 2.22222222e1, 0.36573774],
        [usual[0], usual[1], 6.14063513],
    ];
    for (equality, expected) in imported.system.equalities.iter().zip(expected) {
        let Equality::Compliant { compliance, .. } = equality else { panic!("{equality:?}") };
        check("equality", compliance, expected);
    }
    // The residual of a weld's turning is half the angle times the scale: A is 4/scale^2 greater.
    let Equality::Compliant { turning, .. } = &imported.system.equalities[1] else { panic!() };
    assert!((turning / (16.0 * 31.62022035) - 1.0).abs() < ROUNDING, "{turning}");
}

// Checks: A of a weld of a body without mass, against `efc_R d/(1 - d)` of MuJoCo 4.0.0, for which
// the mass is at the body's place in its parent, taken as one in the body.
#[test]
fn a_weld_of_a_massless_body_has_the_mobility_of_mujoco() {
    let text = r#"<mujoco><worldbody>
        <body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0" mass="2"/>
         <body pos=".6 0 0"><joint axis="0 0 1"/><geom size=".1" pos=".2 .1 0" mass="1"/>
          <body name="hand" pos=".4 0 .12" quat="-1 0 1 0"><geom size=".01" pos=".2 0 0" mass="0"/></body>
         </body></body>
        </worldbody><equality><weld body1="hand"/></equality></mujoco>"#;
    let imported = pliant_import::from_mjcf(text, ".").unwrap();
    let Equality::Compliant { compliance, turning, .. } = &imported.system.equalities[0] else { panic!() };
    for (found, expected) in [(compliance.mobility, 9.02540361e-01), (turning / 4.0, 6.57348053e+00)] {
        assert!((found / expected - 1.0).abs() < ROUNDING, "{found}, {expected}");
    }
}

const CURVED: &str = r#"<mujoco><compiler angle="radian"/><option timestep="0.0001" gravity="0 0 0"/><worldbody>
<body name="a"><joint name="x" type="slide" axis="1 0 0" ref="0.2"/><geom type="sphere" size=".1" mass="2"/>
</body><body name="b" pos="0 3 0"><joint name="y" type="hinge" axis="0 1 0" ref="-0.1"/>
<geom type="sphere" size=".1" mass="1" pos=".5 0 0"/></body></worldbody>
<equality><joint joint1="y" joint2="x" polycoef="0.05 0.4 -1.5 0.8 0.6"/></equality></mujoco>"#;

const TENDONS: &str = r#"<mujoco><compiler angle="radian"/><option timestep="0.0001" gravity="0 0 0"/><worldbody>
<body name="a"><joint name="x" type="slide" axis="1 0 0" ref="0.2"/><geom type="sphere" size=".1" mass="2"/>
<site name="s" pos=".1 .2 .3"/></body><body name="b" pos="0 3 0"><joint name="y" type="hinge" axis="0 1 0"/>
<geom type="sphere" size=".1" mass="1" pos=".5 0 0"/><site name="r" pos=".2 0 .4"/></body></worldbody>
<tendon><fixed name="t"><joint joint="x" coef="0.6"/><joint joint="y" coef="-0.3"/></fixed>
<spatial name="u"><site site="s"/><site site="r"/></spatial></tendon>
<equality><tendon tendon1="u" tendon2="t" polycoef="0.05 0.4 -1.5 0.8 0.6"/>
<tendon tendon1="t" polycoef="0.1"/></equality></mujoco>"#;

// Checks: the accelerations of polynomial couplings of joints and tendons are those of MuJoCo 4.0.0
// (`qacc`) for the same file at x = 0.5 m, y = 0.3 rad, x' = 1 m/s. A step of h differs from them by
// less than 2 b h of the larger, for the damping b of the rows. (A trapezoid step has the change of
// the Jacobian too, which MuJoCo leaves out.)
#[test]
fn polynomial_couplings_are_those_of_mujoco() {
    for (file, expected) in [(CURVED, [-23.8811615, -857.849642]), (TENDONS, [-15.7118849, 151.692556])] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("curved.xml");
        std::fs::write(&path, file).unwrap();
        let imported = load(&path).unwrap();
        assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
        let mut state = imported.state.clone();
        (state.q, state.v) = (vec![0.5, 0.3], vec![1.0, 0.0]);
        let (h, b) = (1e-6, 105.263158);
        let integrator = Integrator::Fixed { step: h };
        let mut simulation = Simulation::new(imported.system, NoContacts, integrator, state).unwrap();
        simulation.advance_to(h).unwrap();
        let v = &simulation.state().v;
        let found = [(v[0] - 1.0) / h, v[1] / h];
        let largest = expected.into_iter().fold(0.0, |m: f64, a: f64| m.max(a.abs()));
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 2.0 * b * h * largest, "{found}, {expected}");
        }
    }
}
