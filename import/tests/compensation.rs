//! Compensation of weight in MJCF files.

use pliant_import::load;
use pliant_rigid::simulation::{Integrator, NoContacts, Simulation};

/// Velocities of the falling body and the pendulum after a time \[s\].
fn speeds(share: f64, integrator: Integrator, time: f64) -> [f64; 2] {
    let file = format!(
        r#"<mujoco><option gravity="0 0 -10"/><worldbody>
<body name="a" gravcomp="{share}"><freejoint/><geom type="box" size=".1 .2 .3" pos=".3 .1 0" mass="2"/></body>
<body name="b" pos="3 0 0" gravcomp="{share}"><joint type="hinge" axis="0 1 0"/>
<inertial pos=".5 0 0" mass="1.5" diaginertia=".1 .2 .15"/></body></worldbody></mujoco>"#
    );
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("light.xml");
    std::fs::write(&path, file).unwrap();
    let imported = load(&path).unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let mut simulation = Simulation::new(imported.system, NoContacts, integrator, imported.state).unwrap();
    simulation.advance_to(time).unwrap();
    let v = &simulation.state().v;
    assert!(v[..3].iter().all(|w| w.abs() < 1e-12), "the force acts at the centre of mass: {v:?}");
    [v[5], v[6]]
}

// Checks: a share c of the weight m g is compensated by a force at the centre of mass (MuJoCo's XML
// reference, body/gravcomp): a free body falls with (1 - c) g and does not turn, and a level pendulum
// starts with the acceleration (1 - c) m g l/(I + m l^2). While that turns by less than x rad, its
// moment changes by less than x^2/2.
#[test]
fn a_share_of_the_weight_is_compensated() {
    let time = 1e-3;
    for share in [0.0, 0.3, 0.5, 0.9, 1.0] {
        for integrator in
            [Integrator::Fixed { step: 1e-4 }, Integrator::Trapezoid { step: 1e-4, accuracy: None }]
        {
            let [falling, turning] = speeds(share, integrator, time);
            let left = 10.0 * (1.0 - share) * time;
            assert!((falling + left).abs() < 1e-12, "{share}: {falling}");
            let expected = left * 1.5 * 0.5 / (0.2 + 1.5 * 0.25);
            let turned = expected * time;
            assert!(
                (turning - expected).abs() <= turned * turned * expected + 1e-12,
                "{share}: {turning}, {expected}"
            );
        }
    }
}
