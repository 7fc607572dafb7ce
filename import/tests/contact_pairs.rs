//! `<pair>`, margins and priorities of MJCF.

use nalgebra::{Isometry3, Vector3};
use pliant_import::{Imported, WarningKind, from_mjcf};
use pliant_rigid::collision::{CollisionModel, ContactMaterial};
use pliant_rigid::simulation::{Collisions, Integrator, Simulation};
use pliant_rigid::{BodiesBuilder, BodyDesc, RigidSettings, Shape};
use pliant_testing::Random;

/// A ball over a plane, with attributes of both and a section.
fn ball(plane: &str, ball: &str, section: &str) -> Imported {
    let file = format!(
        "<mujoco><worldbody><geom name=\"p\" type=\"plane\" size=\"5 5 .1\" {plane}/>
         <body name=\"b\" pos=\"0 0 0.1\"><freejoint/><geom name=\"s\" size=\"0.1\" mass=\"1\" {ball}/></body>
         </worldbody>{section}</mujoco>"
    );
    from_mjcf(&file, ".").unwrap_or_else(|error| panic!("{error}"))
}

fn scene(imported: &Imported) -> CollisionModel {
    let scene = CollisionModel::new(imported.geometries.clone(), &imported.system.model, &imported.excluded);
    scene.unwrap().with_pairs(&imported.pairs).unwrap()
}

fn contact(imported: &Imported) -> ContactMaterial {
    scene(imported).contact_material(0, 1)
}

fn pair(attributes: &str) -> String {
    format!("<contact><pair geom1=\"s\" geom2=\"p\" {attributes}/></contact>")
}

// Checks: margin and coefficients of friction of `mjData.contact` of MuJoCo 4.0.0 for the same
// files: margins add whatever the gaps, a pair takes nothing from its geoms, and of two priorities
// the greater one counts for all but the margin.
#[test]
fn contacts_are_those_of_mujoco() {
    let of = |plane: &str, own: &str, section: &str| {
        let contact = contact(&ball(plane, own, section));
        [contact.margin, contact.dynamic_friction, contact.torsional_friction]
    };
    assert_eq!(of("margin='0.02'", "margin='0.03'", ""), [0.05, 1.0, 0.0]);
    assert_eq!(of("margin='0.02' gap='0.01'", "margin='0.03' gap='0.004'", ""), [0.05, 1.0, 0.0]);
    assert_eq!(of("gap='0.01'", "margin='0.03'", ""), [0.03, 1.0, 0.0]);
    let figures = ("friction='0.3' condim='4'", "friction='0.5' margin='0.02' condim='1'");
    assert_eq!(of(figures.0, figures.1, &pair("")), [0.0, 1.0, 0.0]);
    assert_eq!(
        of(figures.0, figures.1, &pair("friction='0.7 0.7 0.01' condim='4' margin='0.01'")),
        [0.01, 0.7, 0.01]
    );
    assert_eq!(of(figures.0, figures.1, &pair("condim='1'")), [0.0, 0.0, 0.0]);
    let greater = "friction='0.2' margin='0.01' priority='1'";
    assert_eq!(of("friction='0.6' margin='0.02'", greater, ""), [0.03, 0.2, 0.0]);
    let default = "<default><pair friction='0.4 0.4' margin='0.007'/></default>";
    assert_eq!(of("", "", &format!("{default}{}", pair(""))), [0.007, 0.4, 0.0]);
}

// Checks: the spring of a pair is m k d/(1 - d) of the mass that a force between both bodies feels,
// and of a ball on a static floor the same as that of two geoms with these figures.
#[test]
fn the_spring_of_a_pair_is_that_of_its_figures() {
    let mut random = Random::new(1824);
    for _ in 0..50 {
        let (time, ratio, d) =
            (random.log_uniform(5e-3, 0.5), random.uniform(0.3, 2.0), random.uniform(0.1, 0.99));
        let figures = format!("solref='{time} {ratio}' solimp='{d} {d} 0.001'");
        let own = contact(&ball("", "", &pair(&figures)));
        let both = contact(&ball("", &figures, ""));
        // The floor of the second has another material.
        let of_geom = ball("", &figures, "").geometries[1].material;
        assert!(
            (2.0 * own.stiffness / of_geom.stiffness - 1.0).abs() < 1e-12,
            "seed 1824: {own:?}, {of_geom:?}"
        );
        assert!(own.stiffness < both.stiffness || of_geom.stiffness > 2e6, "seed 1824");
        assert_eq!(own.dissipation, of_geom.dissipation);
        let expected = d / ((1.0 - d) * d * (time * ratio).powi(2));
        assert!((own.stiffness / expected - 1.0).abs() < 1e-12, "seed 1824: {own:?}, {expected}");
    }
    let usual = contact(&ball("solref='0.5 1'", "", &pair("")));
    assert_eq!((usual.stiffness, usual.dissipation), (1e6, 10.0));
    let two = |masses: [f64; 2]| {
        let body = |i: usize, mass: f64| {
            format!("<body pos='{i} 0 0'><freejoint/><geom name='g{i}' size='0.1' mass='{mass}'/></body>")
        };
        let file = format!(
            "<mujoco><worldbody>{}{}</worldbody><contact><pair geom1='g0' geom2='g1' solref='0.1 1'/></contact></mujoco>",
            body(0, masses[0]),
            body(1, masses[1])
        );
        contact(&from_mjcf(&file, ".").unwrap()).stiffness
    };
    assert!((two([2.0, 3.0]) / two([1.2, 1e12]) - 1.0).abs() < 1e-9);
}

// Checks: every part of a mesh, and a geom that touches nothing else, touches by the pair; the flag
// that switches contact off does so for pairs.
#[test]
fn pairs_hold_whatever_the_contype() {
    let apart = "contype='0' conaffinity='0'";
    assert!(scene(&ball(apart, apart, &pair(""))).may_touch(0, 1));
    let off = format!("<option><flag contact='disable'/></option>{}", pair(""));
    assert!(!scene(&ball("", "", &off)).may_touch(0, 1));
    let jointed = "<mujoco><worldbody><body><freejoint/><geom name='a' size='.1'/>
        <body pos='0 0 1'><joint/><geom name='b' size='.1'/></body></body></worldbody>
        <contact><pair geom1='a' geom2='b'/></contact></mujoco>";
    assert!(scene(&from_mjcf(jointed, ".").unwrap()).may_touch(0, 1));
}

// Checks: a ball falls to the height at which MuJoCo's rests, to what both press in: both surfaces
// act at their margins together.
#[test]
fn a_ball_rests_at_the_margin() {
    let imported = ball("margin='0.02'", "margin='0.03'", "");
    assert!(imported.warnings.iter().all(|w| w.kind == WarningKind::Pictures), "{:?}", imported.warnings);
    let scene = scene(&imported);
    let Imported { system, state, .. } = imported;
    let mut simulation =
        Simulation::new(system, Collisions::new(scene, 1e-4), Integrator::Fixed { step: 1e-3 }, state)
            .unwrap();
    simulation.advance_to(2.0).unwrap();
    let gap = simulation.state().q[6] - 0.1;
    // MuJoCo: 0.049633.
    assert!(gap < 0.05 && gap > 0.049633, "{gap}");
}

// Checks: bodies that are made of two files after another body keep the contacts of their pairs:
// each ball rests at the margin of the pair of its own file.
#[test]
fn bodies_keep_the_pairs_of_their_files() {
    let mut builder = BodiesBuilder::new();
    let side = Shape::Box { half_extents: Vector3::repeat(0.1) };
    builder.add(BodyDesc::fixed("before", side).at(Isometry3::translation(9.0, 0.0, 0.0))).unwrap();
    let margins = [0.013, 0.031];
    for (i, margin) in margins.iter().enumerate() {
        let file = ball("margin='0.5'", "", &pair(&format!("margin='{margin}'")));
        let base = Isometry3::translation(0.0, 0.0, -20.0 * i as f64);
        builder.add_mechanism(&format!("file{i}"), file.into(), None, &base).unwrap();
    }
    let bodies = builder.build(Vector3::new(0.0, 0.0, -9.81), 1e-3, &RigidSettings::default()).unwrap();
    let scene = bodies.simulation().source().scene();
    let number = |name: &str| scene.geometries().iter().position(|g| g.name == name).unwrap();
    for (i, margin) in margins.iter().enumerate() {
        let [ball, plane] = ["b", "world"].map(|body| number(&format!("file{i}/{body}[0]")));
        assert_eq!(scene.contact_material(ball, plane).margin, *margin, "{i}");
        assert!(scene.own_contact(plane, ball).is_some() && scene.own_contact(0, ball).is_none());
    }
    assert_eq!(scene.contact_material(number("file0/b[0]"), number("file1/world[0]")).margin, 0.5);
}
