//! Files that break the rules of their format, and repairs that a user asks for.

use std::path::{Path, PathBuf};

use pliant_import::{
    ImportError, Imported, LoadOptions, Repair, WarningKind, from_urdf, from_urdf_with, load, load_with,
};
use pliant_rigid::multibody::{JointKind, Kinematics, MassMatrix, mass_matrix};

/// A joint from the world to link `m`, and the link with what is given.
fn moving(joint: &str, link: &str) -> String {
    format!(
        "<robot name=\"r\"><link name=\"world\"/><joint name=\"j\" {joint}><parent link=\"world\"/>\
         <child link=\"m\"/></joint><link name=\"m\">{link}</link></robot>"
    )
}

fn inertial(mass: f64, [xx, yy, zz]: [f64; 3]) -> String {
    format!(
        "<inertial><mass value=\"{mass}\"/><inertia ixx=\"{xx}\" iyy=\"{yy}\" izz=\"{zz}\" ixy=\"0\" ixz=\"0\" \
         iyz=\"0\"/></inertial>"
    )
}

fn repaired(text: &str, repair: Repair) -> Result<Imported, ImportError> {
    let options = LoadOptions { repairs: [repair].into(), ..LoadOptions::default() };
    from_urdf_with(text, ".", &options)
}

/// The mass matrix of the only tree, in the initial state, by rows.
fn matrix(imported: &Imported) -> Vec<Vec<f64>> {
    let model = &imported.system.model;
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, &imported.state);
    let mut mass = MassMatrix::default();
    mass_matrix(model, &kinematics, &mut mass);
    mass.block(0).row_iter().map(|row| row.iter().copied().collect()).collect()
}

fn diagonal(imported: &Imported) -> Vec<f64> {
    matrix(imported).iter().enumerate().map(|(i, row)| row[i]).collect()
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len(), "{found:?} for {wanted:?}");
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{found:?} for {wanted:?}");
    }
}

fn kinds(imported: &Imported) -> Vec<WarningKind> {
    imported.warnings.iter().map(|warning| warning.kind).collect()
}

const FREE: &str = "type=\"floating\"";

// Checks: only the inertia of what moves as one counts (Featherstone 2008, section 2.13: rigid-body
// inertias add). A link of no possible inertia, fixed to one of mass 2 kg and moments (1, 1, 1), is
// read without a word, and the mass matrix has the sums.
#[test]
fn what_counts_is_the_inertia_of_what_moves_as_one() {
    let base = moving(FREE, &inertial(2.0, [1.0, 1.0, 1.0]));
    let held = format!(
        "<link name=\"held\">{}</link><joint name=\"k\" type=\"fixed\"><axis xyz=\"0 0 0\"/><parent link=\"m\"/>\
         <child link=\"held\"/></joint></robot>",
        inertial(0.5, [0.0, 0.0, 0.25])
    );
    let both = from_urdf(&base.replace("</robot>", &held), ".").unwrap();
    assert!(both.warnings.is_empty(), "{:?}", both.warnings);
    close(&diagonal(&both), &[1.0, 1.0, 1.25, 2.5, 2.5, 2.5]);
}

// Checks: a chain of links without mass before the one with mass m is a gimbal; three slides give
// the mass matrix m times the identity.
#[test]
fn links_without_mass_can_carry_one_with_mass() {
    let slide = |name: &str, parent: &str, child: &str, axis: &str| {
        format!(
            "<joint name=\"{name}\" type=\"prismatic\"><parent link=\"{parent}\"/><child link=\"{child}\"/>\
             <axis xyz=\"{axis}\"/><limit lower=\"-1\" upper=\"1\" effort=\"0\" velocity=\"1\"/></joint>"
        )
    };
    let text = format!(
        "<robot name=\"r\"><link name=\"w\"/><link name=\"a\"/><link name=\"b\"/><link name=\"c\">{}</link>{}{}{}</robot>",
        inertial(3.0, [1.0, 1.0, 1.0]),
        slide("x", "w", "a", "1 0 0"),
        slide("y", "a", "b", "0 1 0"),
        slide("z", "b", "c", "0 0 1"),
    );
    let imported = from_urdf(&text, ".").unwrap();
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let wanted = [[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]];
    matrix(&imported).iter().zip(wanted).for_each(|(row, wanted)| close(row, &wanted));
}

// Checks: moments (1, 2, 4) break the triangle inequality. They are computed with as they are, and
// that is said; the repair raises the smallest to the difference of the others, (2, 2, 4).
#[test]
fn moments_that_no_body_has_are_said_and_raised_on_request() {
    let text = moving(FREE, &inertial(1.0, [1.0, 2.0, 4.0]));
    let as_it_is = from_urdf(&text, ".").unwrap();
    assert_eq!(kinds(&as_it_is), [WarningKind::Corrected]);
    close(&diagonal(&as_it_is), &[1.0, 2.0, 4.0, 1.0, 1.0, 1.0]);
    let raised = repaired(&text, Repair::Inertia).unwrap();
    assert_eq!(kinds(&raised), [WarningKind::Repaired]);
    close(&diagonal(&raised), &[2.0, 2.0, 4.0, 1.0, 1.0, 1.0]);
    // Negative ones are refused, and raised to zero first: (-1, 3, 4) becomes (1, 3, 4).
    let negative = moving(FREE, &inertial(1.0, [-1.0, 3.0, 4.0]));
    assert_eq!(from_urdf(&negative, ".").unwrap_err().repair, Some(Repair::Inertia));
    let raised = repaired(&negative, Repair::Inertia).unwrap();
    close(&diagonal(&raised), &[1.0, 3.0, 4.0, 1.0, 1.0, 1.0]);
}

// Checks: any tensor is raised to one that a body can have (no negative moment, none above the sum
// of the two others), never lowered, and left as it is where a body has it. 300 random tensors.
#[test]
fn any_tensor_is_raised_to_one_that_a_body_has() {
    let seed = 11;
    println!("seed {seed}");
    let mut random = pliant_numeric::random::SplitMix64::new(seed);
    let (mut raised, mut kept) = (0, 0);
    for _ in 0..300 {
        let mut number = |low| random.uniform_in(low, 1.0);
        let diagonal = [number(-0.2), number(-0.2), number(-0.2)];
        let off = [number(-1.0) * 0.2, number(-1.0) * 0.2, number(-1.0) * 0.2];
        let tensor = nalgebra::Matrix3::new(
            diagonal[0],
            off[0],
            off[1],
            off[0],
            diagonal[1],
            off[2],
            off[1],
            off[2],
            diagonal[2],
        );
        let text = moving(
            FREE,
            &format!(
                "<inertial><mass value=\"2\"/><inertia ixx=\"{:?}\" iyy=\"{:?}\" izz=\"{:?}\" ixy=\"{:?}\" ixz=\"{:?}\" \
                 iyz=\"{:?}\"/></inertial>",
                diagonal[0], diagonal[1], diagonal[2], off[0], off[1], off[2]
            ),
        );
        let mended = match repaired(&text, Repair::Inertia) {
            Ok(mended) => mended,
            // Only a tensor without a moment about some axis is left.
            Err(error) => {
                assert!(error.to_string().contains("moves no inertia"), "{tensor}: {error}");
                continue;
            }
        };
        let found = mended.system.model.links()[1].inertia.inertia;
        let moments = found.symmetric_eigenvalues();
        let greatest = moments.max();
        assert!(moments.min() > -1e-12, "{tensor} {moments}");
        assert!(2.0 * greatest - moments.sum() < 1e-12 + 1e-6 * greatest, "{tensor} {moments}");
        assert!((found - tensor).symmetric_eigenvalues().min() > -1e-12, "{tensor} {found}");
        if mended.warnings.is_empty() {
            kept += 1;
            assert_eq!(found, tensor);
        } else {
            raised += 1;
        }
    }
    println!("{raised} raised, {kept} kept");
    assert!(raised > 50 && kept > 20, "{raised} raised, {kept} kept");
}

// Checks: a sphere of water of radius r weighs 1000 (4/3) pi r^3 and has 2/5 m r^2; the same with
// the density that the file gives.
#[test]
fn a_link_without_mass_gets_that_of_its_shapes() {
    let sphere = "<collision><geometry><sphere radius=\"0.2\"/></geometry></collision>";
    let ball = |density: f64| {
        let mass = density * 4.0 / 3.0 * std::f64::consts::PI * 0.008;
        let moment = 0.4 * mass * 0.04;
        [moment, moment, moment, mass, mass, mass]
    };
    let stated = moving(FREE, &format!("<inertial><mass value=\"0\"/></inertial>{sphere}"));
    assert_eq!(from_urdf(&stated, ".").unwrap_err().repair, Some(Repair::Mass));
    close(&diagonal(&repaired(&stated, Repair::Mass).unwrap()), &ball(1000.0));
    // Where the file states none at all, MuJoCo takes the shapes too.
    let unstated = from_urdf(&moving(FREE, sphere), ".").unwrap();
    assert_eq!(kinds(&unstated), [WarningKind::Motion]);
    close(&diagonal(&unstated), &ball(1000.0));
    let dense = moving(FREE, &format!("<inertial><density value=\"300\"/></inertial>{sphere}"));
    close(&diagonal(&from_urdf(&dense, ".").unwrap()), &ball(300.0));
}

// Checks: a joint that moves nothing with a mass is refused; fixed on request, it leaves the rest
// of the mechanism as it is.
#[test]
fn a_joint_that_moves_nothing_is_fixed_on_request() {
    let text = moving(FREE, &inertial(1.0, [1.0, 1.0, 1.0])).replace(
        "</robot>",
        "<link name=\"tip\"/><joint name=\"k\" type=\"continuous\"><parent link=\"m\"/><child link=\"tip\"/></joint></robot>",
    );
    assert_eq!(from_urdf(&text, ".").unwrap_err().repair, Some(Repair::Weld));
    let welded = repaired(&text, Repair::Weld).unwrap();
    assert_eq!(welded.joints.len(), 1);
    close(&diagonal(&welded), &[1.0; 6]);
}

// Checks: what other readers read in one way is read so, and said: the first of repeated elements,
// commas, defaults of ROS's variables, blanks before the XML declaration and text after the end.
#[test]
fn broken_rules_with_one_reading_are_corrected() {
    let text = format!(
        "\n <?xml version=\"1.0\"?>{}\n\u{1}",
        moving(
            "type=\"revolute\"",
            &format!("{}{}", inertial(1.0, [1.0, 1.0, 2.0]), inertial(9.0, [9.0, 9.0, 9.0]))
        )
        .replace(
            "<child link=\"m\"/>",
            "<child link=\"m\"/><axis xyz=\"0, 0, 1\"/><axis xyz=\"1 0 0\"/>\
             <origin xyz=\"$(optenv PLACE 0.5 0 0)\"/><limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/>"
        )
    );
    let imported = from_urdf(&text, ".").unwrap();
    assert_eq!(kinds(&imported), [WarningKind::Corrected; 4], "{:?}", imported.warnings);
    close(&diagonal(&imported), &[2.0]);
    let link = imported.system.model.link("m").unwrap();
    assert_eq!(imported.system.model.links()[link.0].frame.translation.x, 0.5);
    // Errors still name the line of the file.
    let error = from_urdf("\n\n<?xml version=\"1.0\"?>\n<robot name=\"r\"/>", ".").unwrap_err();
    assert_eq!(error.location.line, 4);
}

// Checks: numbers that can be read in more than one way are refused, and read from the left on
// request.
#[test]
fn numbers_are_read_from_the_left_on_request() {
    let turned = "<child link=\"m\"/><origin xyz=\"1 2 3 4\"/><dynamics damping=\"0.5.\"/>";
    let text = moving("type=\"continuous\"", &inertial(1.0, [1.0; 3])).replace("<child link=\"m\"/>", turned);
    assert_eq!(from_urdf(&text, ".").unwrap_err().repair, Some(Repair::Numbers));
    // Numbers of extensions are not read.
    let extension = "<contact><direction value=\"1 0 0\"/></contact>";
    assert!(from_urdf(&moving(FREE, &format!("{}{extension}", inertial(1.0, [1.0; 3]))), ".").is_ok());
    let read = repaired(&text, Repair::Numbers).unwrap();
    assert_eq!(kinds(&read), [WarningKind::Repaired; 2]);
    let model = &read.system.model;
    assert_eq!(model.links()[1].frame.translation.vector.as_slice(), [1.0, 2.0, 3.0]);
    assert_eq!(model.dofs()[0].damping, 0.5);
}

// Checks: a collision shape that cannot be used is refused, and left out on request.
#[test]
fn shapes_are_left_out_on_request() {
    let shape = "<collision><geometry><sphere radius=\"0\"/></geometry></collision>\
                 <collision><geometry><mesh filename=\"none.stl\"/></geometry></collision>\
                 <collision><geometry><plane normal=\"1 0 0\"/></geometry></collision>";
    let text = moving(FREE, &format!("{}{shape}", inertial(1.0, [1.0; 3])));
    assert_eq!(from_urdf(&text, ".").unwrap_err().repair, Some(Repair::Shapes));
    let read = repaired(&text, Repair::Shapes).unwrap();
    assert_eq!(kinds(&read), [WarningKind::Repaired; 2]);
    // The half space behind the plane: its z axis is the normal.
    let normal = read.geometries[0].pose.rotation * nalgebra::Vector3::z();
    close(normal.as_slice(), &[1.0, 0.0, 0.0]);
}

// Checks: limits in the wrong order are no limits, and a joint cannot follow one that is fixed or
// missing; all three are said, as changes of the motion.
#[test]
fn limits_and_followers_without_meaning_are_left_out() {
    let base = moving("type=\"revolute\"", &inertial(1.0, [1.0; 3]));
    for inner in [
        "<limit lower=\"1\" upper=\"-1\" effort=\"1\" velocity=\"1\"/>",
        "<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/><mimic joint=\"none\"/>",
    ] {
        let text = base.replace("<child link=\"m\"/>", &format!("<child link=\"m\"/>{inner}"));
        let imported = from_urdf(&text, ".").unwrap();
        assert_eq!(kinds(&imported), [WarningKind::Motion], "{:?}", imported.warnings);
        assert!(imported.system.equalities.is_empty());
    }
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("urdf")).unwrap();
    std::fs::create_dir_all(path.join("srdf")).unwrap();
    path
}

// Checks: the SRDF beside a URDF frees the root, names states and pairs that do not touch; the
// option has the last word.
#[test]
fn the_srdf_beside_a_urdf_frees_its_root() {
    let folder = folder("srdf-beside");
    let leg = "<joint name=\"hip\" type=\"continuous\"><parent link=\"trunk\"/><child link=\"leg\"/></joint>";
    let text = format!(
        "<robot name=\"dog\"><link name=\"trunk\">{0}</link><link name=\"leg\">{0}</link>{leg}</robot>",
        inertial(1.0, [1.0; 3])
    );
    let file = folder.join("urdf/dog_v2.urdf");
    std::fs::write(&file, text).unwrap();
    let root = |imported: &Imported| imported.system.model.links()[0].joint.clone();
    let alone = load(&file).unwrap();
    assert_eq!((root(&alone), alone.keyframes.len()), (JointKind::Fixed, 0));
    let semantics = "<robot name=\"dog\">\
        <virtual_joint name=\"root\" type=\"floating\" parent_frame=\"world\" child_link=\"trunk\"/>\
        <group_state name=\"stand\" group=\"all\"><joint name=\"root\" value=\"1 2 3 0 0 0 2\"/>\
        <joint name=\"hip\" value=\"0.5\"/></group_state>\
        <disable_collisions link1=\"trunk\" link2=\"leg\"/></robot>";
    std::fs::write(folder.join("srdf/dog.srdf"), semantics).unwrap();
    let free = load(&file).unwrap();
    assert_eq!(root(&free), JointKind::Free);
    assert_eq!(free.keyframe("stand").unwrap().state.q, [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.5]);
    assert_eq!(free.excluded.len(), 1);
    assert_eq!(free.files.len(), 2);
    let with = |floating| load_with(&file, &LoadOptions { floating, ..LoadOptions::default() });
    assert_eq!(root(&with(Some(false)).unwrap_or(alone)), JointKind::Fixed);
    std::fs::remove_file(folder.join("srdf/dog.srdf")).unwrap();
    assert_eq!(root(&with(Some(true)).unwrap()), JointKind::Free);
    std::fs::remove_dir_all(folder).unwrap();
}
