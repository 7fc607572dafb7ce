//! Every refusal and warning of the importers: where it points to, and what it says.

use pliant_import::{self, Format, ImportError, ImportProblem, Imported, SourceLocation};

const BALL: &str = "<geom name=\"ball\" size=\"0.1\"/>";

fn mjcf(text: &str) -> Result<Imported, ImportError> {
    pliant_import::from_mjcf(text, env!("CARGO_TARGET_TMPDIR"))
}

/// A world with something in it.
fn world(inner: &str) -> String {
    format!("<mujoco>\n<worldbody>\n{inner}\n</worldbody>\n</mujoco>")
}

/// A body with a hinge, and more sections.
fn with(joint: &str, sections: &str) -> String {
    format!(
        "<mujoco><worldbody><body name=\"b\"><joint name=\"j\" {joint}/>{BALL}</body></worldbody>{sections}</mujoco>"
    )
}

/// Text; what the error must point to, as [`place`] writes it, and a part of its message.
type Case = (String, &'static str, &'static str);

/// An element, or `element attribute=value`.
fn place(location: &SourceLocation, attribute: &str, value: &str) -> String {
    let element = &location.element;
    if attribute.is_empty() { format!("{element}{value}") } else { format!("{element} {attribute}={value}") }
}

fn expect(cases: &[Case], read: impl Fn(&str) -> Result<Imported, ImportError>) {
    for (text, at, message) in cases {
        let error = match read(text) {
            Ok(_) => panic!("not refused: {text}"),
            Err(error) => error,
        };
        let told = error.to_string();
        assert_eq!(place(&error.location, &error.attribute, &error.value), *at, "{told}\n{text}");
        assert!(told.contains(message), "{told} does not say: {message}\n{text}");
        assert!(told.starts_with("<text>"), "{told}");
    }
}

#[test]
fn mjcf_that_is_no_mechanism_is_refused() {
    let body = |inner: &str| world(&format!("<body name=\"b\">{inner}</body>"));
    let inertial = |figures: &str| body(&format!("<freejoint/><inertial pos=\"0 0 0\" {figures}/>"));
    let joint = |attributes: &str| with(attributes, "");
    let section = |text: &str| with("", text);
    let geom = |attributes: &str| body(&format!("<geom name=\"g\" {attributes}/>"));
    let mesh = |attributes: &str| {
        with("", &format!("<asset><mesh name=\"m\" {attributes}/></asset>")).replace(
            "<geom name=\"ball\" size=\"0.1\"/>",
            "<geom name=\"ball\" size=\"0.1\"/><geom type=\"mesh\" mesh=\"m\"/>",
        )
    };
    expect(
        &[
            // The document.
            ("<mujoco><worldbody></mujoco>".into(), "", "not well-formed XML"),
            ("".into(), "", "not well-formed XML"),
            ("<robot name=\"r\"/>".into(), "robot 'r'", "must be <mujoco>"),
            ("<mujoco version=\"1\"/>".into(), "mujoco version=1", "no such attribute"),
            (world("<nonsense/>"), "nonsense", "no such element in <worldbody>"),
            (geom("size=\"1\" bogus=\"3\""), "geom 'g' bogus=3", "no such attribute"),
            (section("<include file=\"not-there.xml\"/>"), "include file=not-there.xml", "cannot be read"),
            (format!("<mujoco>{}</mujoco>", "<default>".repeat(300) + &"</default>".repeat(300)), "default", "nested elements"),
            // The compiler.
            (section("<compiler angle=\"grad\"/>"), "compiler angle=grad", "one of: degree, radian"),
            (section("<compiler eulerseq=\"xyw\"/>"), "compiler eulerseq=xyw", "letters"),
            (section("<compiler coordinate=\"global\"/>"), "compiler coordinate=global", "not supported"),
            (section("<compiler boundmass=\"-1\"/>"), "compiler boundmass=-1", "not negative"),
            (section("<option timestep=\"0\"/>"), "option timestep=0", "positive"),
            (section("<option gravity=\"0 nan 0\"/>"), "option gravity=0 nan 0", "3 finite numbers"),
            // Numbers.
            (body("<geom name=\"g\" size=\"0,1\"/>"), "geom 'g' size=0,1", "1 to 3 finite numbers"),
            (world("<body name=\"b\" pos=\"1 2\"/>"), "body 'b' pos=1 2", "3 finite numbers"),
            (world("<body name=\"b\" pos=\"1 2 inf\"/>"), "body 'b' pos=1 2 inf", "3 finite numbers"),
            (world("<body name=\"b\" quat=\"0 0 0 0\"/>"), "body 'b' quat=0 0 0 0", "quaternion"),
            (world("<body name=\"b\" quat=\"1 0 0 0\" euler=\"0 0 0\"/>"), "body 'b' euler=0 0 0", "only orientation"),
            (world("<body name=\"b\" zaxis=\"0 0 0\"/>"), "body 'b' zaxis=0 0 0", "direction"),
            (world("<body name=\"b\" axisangle=\"0 0 0 1\"/>"), "body 'b' axisangle=0 0 0 1", "axis"),
            (world("<body name=\"b\" xyaxes=\"1 0 0 2 0 0\"/>"), "body 'b' xyaxes=1 0 0 2 0 0", "plane"),
            (world("<body name=\"b\" mocap=\"yes\"/>"), "body 'b' mocap=yes", "one of: false, true"),
            (world("<body name=\"b\"><body name=\"c\" mocap=\"true\"/></body>"), "body 'c' mocap=true", "child of the world"),
            (world("<body name=\"b\" mocap=\"true\"><joint name=\"j\"/></body>"), "joint 'j'", "a joint of a mocap body"),
            (section("<keyframe><key name=\"k\" mpos=\"0 0 0\"/></keyframe>"), "key 'k' mpos=0 0 0", "0 finite numbers"),
            // Names.
            (world("<body name=\"b\"/><body name=\"b\"/>"), "body 'b' name=b", "twice"),
            (geom("size=\"1\" class=\"c\""), "geom 'g' class=c", "no default class"),
            (world("<body name=\"b\" childclass=\"c\"/>"), "body 'b' childclass=c", "no default class"),
            (geom("size=\"1\" material=\"m\""), "geom 'g' material=m", "no material"),
            (geom("type=\"mesh\" mesh=\"m\""), "geom 'g' mesh=m", "no mesh"),
            (geom("type=\"hfield\" hfield=\"m\""), "geom 'g' hfield=m", "no height field"),
            // Joints.
            (joint("axis=\"0 0 0\""), "joint 'j' axis=0 0 0", "direction"),
            (joint("range=\"2 1\""), "joint 'j' range=2 1", "lower and a greater upper"),
            (joint("limited=\"true\""), "joint 'j'", "range is missing"),
            (joint("damping=\"-1\""), "joint 'j' damping=-1", "not negative"),
            (joint("stiffness=\"-1\""), "joint 'j' stiffness=-1", "not negative"),
            (joint("armature=\"-1\""), "joint 'j' armature=-1", "not negative"),
            (joint("frictionloss=\"-1\""), "joint 'j' frictionloss=-1", "not negative"),
            (joint("type=\"universal\""), "joint 'j' type=universal", "one of"),
            (body("<joint name=\"i\"/><freejoint name=\"f\"/>"), "freejoint 'f'", "beside other joints"),
            (body(&format!("{BALL}<body><freejoint name=\"f\"/></body>")), "freejoint 'f'", "not a child of the world"),
            ("<mujoco><compiler autolimits=\"false\"/><worldbody><body><joint name=\"j\" range=\"0 1\"/></body></worldbody></mujoco>".into(),
             "joint 'j' range=0 1", "limited is missing"),
            // Inertia.
            (body("<joint/>"), "body 'b'", "has no mass"),
            (inertial("diaginertia=\"1 1 1\""), "inertial", "mass is missing"),
            (inertial("mass=\"-1\""), "inertial mass=-1", "not negative"),
            (inertial("mass=\"1\""), "inertial", "moves no inertia"),
            (inertial("mass=\"1\" diaginertia=\"1 1 0\""), "inertial diaginertia=1 1 0", "moves no inertia"),
            (inertial("mass=\"1\" diaginertia=\"1 1 -1\""), "inertial diaginertia=1 1 -1", "no negative moment"),
            (inertial("mass=\"1\" diaginertia=\"1 1 3\""), "inertial diaginertia=1 1 3", "larger than the sum"),
            (inertial("mass=\"1\" fullinertia=\"1 1 1 2 0 0\""), "inertial fullinertia=1 1 1 2 0 0", "no negative moment"),
            (inertial("mass=\"1\" fullinertia=\"1 1 1 0 0 0\" diaginertia=\"1 1 1\""), "inertial fullinertia=1 1 1 0 0 0", "left out"),
            // Geoms.
            (geom("size=\"0\""), "geom 'g' size=0", "positive"),
            (geom("type=\"box\" size=\"1 1\""), "geom 'g' size=1 1", "3 positive lengths"),
            (geom("type=\"capsule\""), "geom 'g'", "size is missing"),
            (geom("type=\"capsule\" size=\"1\" fromto=\"0 0 0 0 0 0\""), "geom 'g' fromto=0 0 0 0 0 0", "different points"),
            (geom("type=\"sphere\" size=\"1\" fromto=\"0 0 0 1 0 0\""), "geom 'g' fromto=0 0 0 1 0 0", "sphere"),
            (geom("type=\"sdf\""), "geom 'g' type=sdf", "not supported"),
            (geom("size=\"1\" mass=\"-1\""), "geom 'g' mass=-1", "not negative"),
            (geom("size=\"1\" density=\"-1\""), "geom 'g' density=-1", "not negative"),
            (geom("size=\"1\" friction=\"-1\""), "geom 'g' friction=-1", "not negative"),
            (geom("size=\"1\" condim=\"2\""), "geom 'g' condim=2", "1, 3, 4 or 6"),
            (geom("size=\"1\" contype=\"1.5\""), "geom 'g' contype=1.5", "whole number"),
            (body("<freejoint/><geom name=\"g\" type=\"ellipsoid\" size=\"1 2 3\" shellinertia=\"true\"/>"), "geom 'g' shellinertia=true", "false for this type"),
            // Assets.
            (mesh("file=\"not-there.obj\""), "mesh 'm' file=not-there.obj", "No such file"),
            (mesh("file=\"a.blend\""), "mesh 'm' file=a.blend", "only obj, stl, ply, glb, gltf, dae and msh"),
            (mesh("vertex=\"0 0 0 1 0 0 0 1 0 1 1 0\""), "mesh 'm' vertex=0 0 0 1 0 0 0 1 0 1 1 0", "do not span a volume"),
            (mesh("vertex=\"0 0 0 1 0 0 0 1 0 1 1 1\" scale=\"1 0 1\""), "mesh 'm' scale=1 0 1", "none of them 0"),
            (mesh("vertex=\"0 0 0 1 0 0 0 1 0 1 1 1\" face=\"0 1 4\""), "mesh 'm' face=0 1 4", "vertices"),
            (section("<asset><hfield name=\"h\" nrow=\"2\" ncol=\"2\" size=\"1 1 1 1\" elevation=\"1 2 3 4 5\"/></asset>"),
             "hfield 'h' elevation=1 2 3 4 5", "2 rows of 2"),
            (section("<asset><hfield name=\"h\" nrow=\"2\" ncol=\"2\" size=\"1 1 1 1\" file=\"a.png\"/></asset>"), "hfield 'h' file=a.png", "cannot be read"),
            // Motors.
            (section("<actuator><motor/></actuator>"), "motor", "joint is missing"),
            (section("<actuator><motor joint=\"x\"/></actuator>"), "motor joint=x", "no joint"),
            (section("<actuator><motor joint=\"j\" gear=\"0\"/></actuator>"), "motor gear=0", "other than 0"),
            (section("<actuator><position joint=\"j\" kp=\"-1\"/></actuator>"), "position kp=-1", "not negative"),
            (section("<actuator><position joint=\"j\" kv=\"-1\"/></actuator>"), "position kv=-1", "not negative"),
            (section("<actuator><velocity joint=\"j\" kv=\"-1\"/></actuator>"), "velocity kv=-1", "not negative"),
            (section("<actuator><motor tendon=\"t\"/></actuator>"), "motor tendon=t", "no tendon of this name"),
            (section("<actuator><damper joint=\"j\"/></actuator>"), "damper ctrlrange=", "not negative"),
            (section("<tendon><fixed name=\"t\"/></tendon>"), "fixed 't'", "joint is missing"),
            (section("<tendon><spatial name=\"t\"><site site=\"s\"/></spatial></tendon>"), "site site=s", "no site of this name"),
            (section("<actuator><motor joint=\"j\" ctrlrange=\"1 -1\"/></actuator>"), "motor ctrlrange=1 -1", "greater upper"),
            (section("<actuator><motor joint=\"j\" forcerange=\"1 -1\"/></actuator>"), "motor forcerange=1 -1", "greater upper"),
            (section("<actuator><position joint=\"j\" inheritrange=\"1\"/></actuator>"), "position inheritrange=1", "has no range"),
            // Constraints, contacts, states.
            (section("<equality><connect body1=\"b\"/></equality>"), "connect", "anchor is missing"),
            (section("<equality><connect body1=\"x\" anchor=\"0 0 0\"/></equality>"), "connect body1=x", "no body"),
            (section("<equality><weld body1=\"b\" body2=\"b\"/></equality>"), "weld body2=b", "another body"),
            (section("<equality><joint joint1=\"x\"/></equality>"), "joint joint1=x", "no joint"),
            (section("<equality><joint joint1=\"j\" joint2=\"j\" polycoef=\"0 1 1 0 0\"/></equality>"), "joint joint2=j", "another joint"),
            (section("<equality><distance/></equality>"), "distance", "not supported"),
            (section("<contact><exclude body1=\"b\" body2=\"x\"/></contact>"), "exclude body2=x", "no body"),
            (section("<contact><pair geom1=\"ball\" geom2=\"x\"/></contact>"), "pair geom2=x", "no geom"),
            (section("<keyframe><key qpos=\"0 0\"/></keyframe>"), "key qpos=0 0", "a finite number"),
            // What cannot be left out.
            (world("<replicate/>"), "replicate", "count is missing"),
            (world("<replicate count=\"0\"/>"), "replicate count=0", "from 1 to"),
            (world("<replicate count=\"2000\"><replicate count=\"2000\"><site/></replicate></replicate>"), "replicate count=2000", "at most 100000 elements"),
            (world("<composite/>"), "composite", "not supported"),
            (world("<flexcomp/>"), "flexcomp", "not supported"),
            (section("<extension/>"), "extension", "not supported"),
        ],
        mjcf,
    );
}

const INERTIA: &str = "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>";

#[test]
fn urdf_that_is_no_mechanism_is_refused() {
    let robot = |inner: &str| format!("<robot name=\"r\">{inner}</robot>");
    let full = |name: &str| {
        format!("<link name=\"{name}\"><inertial><mass value=\"1\"/>{INERTIA}</inertial></link>")
    };
    let joint = |attributes: &str, inner: &str| {
        robot(&format!(
            "{}{}<joint name=\"j\" {attributes}><parent link=\"a\"/><child link=\"b\"/>{inner}</joint>",
            full("a"),
            full("b")
        ))
    };
    let joined = |name: &str, a: &str, b: &str| {
        format!("<joint name=\"{name}\" type=\"fixed\"><parent link=\"{a}\"/><child link=\"{b}\"/></joint>")
    };
    let inertial = |inner: &str| robot(&format!("<link name=\"a\"><inertial>{inner}</inertial></link>"));
    let moving = |inner: &str| {
        robot(&format!(
            "<link name=\"w\"/><link name=\"m\"><inertial>{inner}</inertial></link>{}",
            joined("j", "w", "m").replace("fixed", "floating")
        ))
    };
    let shape = |inner: &str| {
        robot(&format!("<link name=\"a\"><collision><geometry>{inner}</geometry></collision></link>"))
    };
    let limit = "<limit lower=\"0\" upper=\"1\" effort=\"1\" velocity=\"1\"/>";
    let (a, b, c) = (full("a"), full("b"), full("c"));
    expect(
        &[
            ("<robot><link></robot>".into(), "", "not well-formed XML"),
            ("<mujoco/>".into(), "mujoco", "must be <mujoco> (MJCF) or <robot>"),
            (robot(""), "robot 'r'", "link is missing"),
            (robot("<link/>"), "link", "name is missing"),
            (robot("<link name=\"a\"/><link name=\"a\"/>"), "link 'a' name=a", "twice"),
            (robot(&format!("{a}{b}")), "link 'b'", "must be one root"),
            (robot(&format!("{a}{}", joined("j", "a", "x"))), "child link=x", "no link"),
            (robot(&format!("{a}{}", joined("j", "x", "a"))), "parent link=x", "no link"),
            (
                robot(&format!("{a}{b}{}{}", joined("j", "a", "b"), joined("k", "b", "a"))),
                "link 'a'",
                "cyclic",
            ),
            (
                robot(&format!("{a}{b}{c}{}{}", joined("j", "b", "c"), joined("k", "c", "b"))),
                "link 'b'",
                "cyclic",
            ),
            (
                robot(&format!("{a}{b}{c}{}{}", joined("j", "a", "c"), joined("k", "b", "c"))),
                "child link=c",
                "one parent",
            ),
            (
                robot(&format!("{a}{b}{}{}", joined("j", "a", "b"), joined("j", "a", "b"))),
                "joint 'j' name=j",
                "twice",
            ),
            (joint("", ""), "joint 'j'", "type is missing"),
            (joint("type=\"screw\"", ""), "joint 'j' type=screw", "one of"),
            (joint("type=\"revolute\"", ""), "joint 'j'", "limit is missing"),
            (joint("type=\"revolute\"", "<limit effort=\"-1\"/>"), "limit effort=-1", "not negative"),
            (joint("type=\"revolute\"", "<limit velocity=\"-1\"/>"), "limit velocity=-1", "not negative"),
            (
                joint("type=\"revolute\"", &format!("{limit}<axis xyz=\"0 0 0\"/>")),
                "axis xyz=0 0 0",
                "direction",
            ),
            (
                joint("type=\"revolute\"", &format!("{limit}<dynamics damping=\"-1\"/>")),
                "dynamics damping=-1",
                "not negative",
            ),
            (
                joint("type=\"revolute\"", &format!("{limit}<dynamics friction=\"-1\"/>")),
                "dynamics friction=-1",
                "not negative",
            ),
            (
                joint("type=\"revolute\"", &format!("{limit}<mimic joint=\"j\"/>")),
                "mimic joint=j",
                "another joint",
            ),
            (joint("type=\"fixed\"", "<origin xyz=\"0 0 x 1\"/>"), "origin xyz=0 0 x 1", "3 finite numbers"),
            (inertial("<mass value=\"1\"/>"), "inertial", "inertia is missing"),
            (inertial(&format!("<mass/>{INERTIA}")), "mass", "value is missing"),
            (inertial(&format!("<mass value=\"-1\"/>{INERTIA}")), "mass value=-1", "not negative"),
            (
                inertial("<mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\"/>"),
                "inertia",
                "iyz is missing",
            ),
            (
                moving(
                    "<mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"-1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>",
                ),
                "inertial",
                "none can be negative; the repair 'inertia'",
            ),
            (moving("<mass value=\"0\"/>"), "link 'm'", "moves no inertia"),
            (moving("<mass value=\"0\"/>"), "link 'm'", "the repair 'weld'"),
            (
                robot(&format!(
                    "{a}<link name=\"b\"/><joint name=\"j\" type=\"floating\"><parent link=\"a\"/><child link=\"b\"/></joint>"
                )),
                "link 'b'",
                "moves no inertia",
            ),
            (shape(""), "geometry", "is missing"),
            (shape("<box size=\"1 0 1\"/>"), "box size=1 0 1", "positive"),
            (shape("<sphere/>"), "sphere", "radius is missing"),
            (shape("<cylinder radius=\"1\" length=\"-1\"/>"), "cylinder length=-1", "positive"),
            (
                shape("<mesh filename=\"package://p/no.stl\"/>"),
                "mesh filename=package://p/no.stl",
                "No such file",
            ),
        ],
        |text| pliant_import::from_urdf(text, env!("CARGO_TARGET_TMPDIR")),
    );
}

/// Text; element, attribute and value of the only warning, and a part of what it says.
fn warned(cases: &[Case], read: impl Fn(&str) -> Result<Imported, ImportError>) {
    for (text, at, message) in cases {
        let imported = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let told: Vec<String> = imported.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:#?}\n{text}");
        let warning = &imported.warnings[0];
        assert_eq!(place(&warning.location, &warning.attribute, &warning.value), *at, "{}", told[0]);
        assert!(told[0].contains(message), "{}", told[0]);
    }
}

#[test]
fn what_mjcf_loses_is_named() {
    let joint = |attributes: &str| with(attributes, "");
    let section = |text: &str| with("", text);
    let geom = |attributes: &str| {
        world(&format!("<body><freejoint/><geom name=\"g\" size=\"0.1\" {attributes}/></body>"))
    };
    let two = |pair: &str| {
        let file = geom("").replace("<body>", "<geom name=\"b\" type=\"plane\" size=\"1 1 1\"/><body>");
        file.replace("</mujoco>", &format!("<contact><pair geom1=\"g\" {pair}/></contact></mujoco>"))
    };
    warned(
        &[
            (section("<sensor><rangefinder/></sensor>"), "rangefinder", "left out"),
            (section("<visual/>"), "visual", "pictures"),
            (
                section("<tendon><fixed armature=\"1\"><joint joint=\"j\" coef=\"1\"/></fixed></tendon>"),
                "fixed armature=1",
                "not modelled",
            ),
            (section("<custom/>"), "custom", "left out"),
            (
                section(
                    "<asset><texture name=\"t\" file=\"no.png\"/><material name=\"m\" texture=\"t\"/></asset>",
                ),
                "texture 't' file=no.png",
                "left out: cannot read",
            ),
            (
                section("<asset><material name=\"m\" texture=\"t\"/></asset>"),
                "material 'm' texture=t",
                "no texture of this name",
            ),
            (
                section("<asset><mesh name=\"m\" file=\"no.obj\"/></asset>"),
                "mesh 'm' file=no.obj",
                "left out where it is only seen",
            ),
            (
                section("<asset><material name=\"m\" shininess=\"1\"/></asset>"),
                "material 'm' shininess=1",
                "pictures",
            ),
            (section("<option wind=\"1 0 0\"/>"), "option wind=1 0 0", "no air"),
            (
                section("<option><flag actuation=\"disable\"/></option>"),
                "flag actuation=disable",
                "cannot be switched off",
            ),
            (
                world("<site name=\"s\" fromto=\"0 0 0 1 0 0\"/>"),
                "site 's' fromto=0 0 0 1 0 0",
                "a place and an orientation",
            ),
            (world("<camera name=\"c\"/>"), "camera 'c'", "pictures"),
            (world("<body name=\"b\" gravcomp=\"1.5\"/>"), "body 'b' gravcomp=1.5", "only 0 to 1"),
            (joint("solreffriction=\"0.01 1\""), "joint 'j' solreffriction=0.01 1", "regularisation"),
            (joint("type=\"ball\" springdamper=\"1 1\""), "joint 'j' springdamper=1 1", "only the damper"),
            (joint("stiffness=\"1 2\""), "joint 'j' stiffness=1 2", "linear"),
            (joint("type=\"ball\" stiffness=\"1\""), "joint 'j' stiffness=1", "needs a coordinate"),
            (joint("type=\"ball\" range=\"0 90\""), "joint 'j' range=0 90", "no limits"),
            (joint("type=\"ball\" frictionloss=\"1\""), "joint 'j' frictionloss=1", "axes of the parent"),
            (geom("solref=\"0.05 1\""), "geom 'g' solref=0.05 1", "approximated: stiffness"),
            (geom("condim=\"6\""), "geom 'g' condim=6", "torsional and rolling friction"),
            (geom("gap=\"0.01\""), "geom 'g' gap=0.01", "older versions"),
            (geom("solmix=\"2\""), "geom 'g' solmix=2", "springs in series"),
            (
                world("<geom name=\"a\" size=\"1\" condim=\"1\"/><geom size=\"1\" friction=\"0.5\"/>"),
                "geom 'a' condim=1",
                "its own friction does not act",
            ),
            (section("<actuator><muscle joint=\"j\"/></actuator>"), "muscle lengthrange=", "lengthrange"),
            (
                section("<actuator><general joint=\"j\" gaintype=\"user\"/></actuator>"),
                "general gaintype=user",
                "not supported",
            ),
            (
                section("<actuator><motor body=\"b\"/></actuator>"),
                "motor body=b",
                "only joints, tendons and sites can be actuated",
            ),
            (
                section("<equality><weld body1=\"b\" active=\"false\"/></equality>"),
                "weld active=false",
                "cannot be activated",
            ),
            (two("geom2=\"b\" condim=\"4\""), "pair condim=4", "torsional and rolling friction"),
            (two("geom2=\"b\" friction=\"0.5\""), "pair friction=0.5", "the mean"),
            (two("geom2=\"b\" solref=\"0.05 1\""), "pair solref=0.05 1", "approximated: stiffness"),
            (two("geom2=\"b\" solreffriction=\"0.05 1\""), "pair solreffriction=0.05 1", "regularisation"),
        ],
        mjcf,
    );
    // What makes no difference is not spoken of; solver settings are handed over.
    let quiet = mjcf(&with(
        "margin=\"0\" group=\"3\"",
        "<size memory=\"1M\"/><statistic extent=\"1\"/><option integrator=\"RK4\" timestep=\"0.004\" wind=\"0 0 0\"/>",
    ));
    let quiet = quiet.unwrap();
    assert!(quiet.warnings.is_empty(), "{}", quiet.warnings[0]);
    assert_eq!(
        quiet.hints,
        [("integrator".to_owned(), "RK4".to_owned()), ("wind".to_owned(), "0 0 0".to_owned())]
    );
    assert_eq!(quiet.time_step, Some(0.004));
}

#[test]
fn what_urdf_loses_is_named() {
    let link = |inner: &str| format!("<robot name=\"r\"><link name=\"a\">{inner}</link></robot>");
    warned(
        &[
            ("<robot name=\"r\"><link name=\"a\"/><gazebo/></robot>".into(), "gazebo", "another simulator"),
            (
                "<robot name=\"r\"><link name=\"a\"/><transmission name=\"t\"/></robot>".into(),
                "transmission 't'",
                "at the joint",
            ),
            ("<robot name=\"r\"><link name=\"a\"/><drake/></robot>".into(), "drake", "extension"),
            (link("<self_collision/>"), "self_collision", "extension"),
            (
                "<robot name=\"r\"><link name=\"a\" bogus=\"1\"/></robot>".into(),
                "link 'a' bogus=1",
                "not part of the format",
            ),
            (
                link("<visual><geometry><mesh filename=\"no.blend\"/></geometry></visual>"),
                "mesh filename=no.blend",
                "only obj, stl, ply, glb, gltf, dae and msh",
            ),
        ],
        |text| pliant_import::from_urdf(text, env!("CARGO_TARGET_TMPDIR")),
    );
}

/// Meshes: OBJ and STL, with a scale; in URDF a warning where the hull has more volume; includes;
/// the file and line of a fault in them.
#[test]
fn files_are_found_and_named() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("import_files");
    let meshes = directory.join("pack").join("meshes");
    std::fs::create_dir_all(&meshes).unwrap();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(meshes.join("t.obj"), tetrahedron).unwrap();
    let facet = |p: [[i32; 3]; 3]| {
        let vertices: String = p.iter().map(|[x, y, z]| format!("vertex {x} {y} {z}\n")).collect();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    let (o, x, y, z) = ([0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]);
    let facets: String = [[o, y, x], [o, x, z], [o, z, y], [x, y, z]].into_iter().map(facet).collect();
    std::fs::write(meshes.join("t.stl"), format!("solid t\n{facets}endsolid t\n")).unwrap();
    // Two tetrahedra with one common corner: their hull has more volume.
    let second: String =
        tetrahedron.lines().filter(|l| l.starts_with('v')).map(|l| l.replace('1', "-1") + "\n").collect();
    let hollow = format!("{tetrahedron}{second}f 5 6 7\nf 5 8 6\nf 5 7 8\nf 6 8 7\n");
    std::fs::write(meshes.join("hollow.obj"), hollow).unwrap();
    for file in ["t.obj", "t.stl"] {
        let text = format!(
            "<mujoco><compiler meshdir=\"pack/meshes\"/><asset><mesh file=\"{file}\" scale=\"2 -1 3\"/></asset>
             <worldbody><body><freejoint/><geom type=\"mesh\" mesh=\"t\"/></body></worldbody></mujoco>"
        );
        let m = pliant_import::from_mjcf(&text, &directory).unwrap();
        // A sixth of the product of the edges, of density 1000.
        let mass = m.system.model.links()[0].inertia.mass;
        assert!((mass - 1000.0).abs() < 1e-9, "{file}: {mass}");
        assert!(m.warnings.is_empty());
    }
    let urdf = |file: &str| {
        let text = format!(
            "<robot name=\"r\"><link name=\"a\"><collision><geometry><mesh filename=\"{file}\"/></geometry></collision></link></robot>"
        );
        pliant_import::from_urdf(&text, directory.join("pack")).unwrap()
    };
    for file in ["package://pack/meshes/t.stl", "meshes/t.obj"] {
        assert!(urdf(file).warnings.is_empty());
    }
    assert!(urdf("meshes/hollow.obj").warnings[0].to_string().contains("convex hull"));

    std::fs::write(
        directory.join("part.xml"),
        "<mujoco>\n<body name=\"p\">\n<geom size=\"-1\"/>\n</body></mujoco>",
    )
    .unwrap();
    std::fs::write(
        directory.join("whole.xml"),
        "<mujoco><worldbody><include file=\"part.xml\"/></worldbody></mujoco>",
    )
    .unwrap();
    let told = pliant_import::load(directory.join("whole.xml")).unwrap_err().to_string();
    assert!(told.contains("part.xml:3: <geom> size=\"-1\""), "{told}");
    std::fs::write(directory.join("self.xml"), "<mujoco><include file=\"self.xml\"/></mujoco>").unwrap();
    let error = pliant_import::load(directory.join("self.xml")).unwrap_err();
    assert!(matches!(*error.problem, ImportProblem::Cycle(_)), "{error}");
    let missing = pliant_import::load(directory.join("none.xml")).unwrap_err();
    assert!(matches!(*missing.problem, ImportProblem::Unreadable(_)), "{missing}");
    std::fs::write(directory.join("other.xml"), "<svg/>").unwrap();
    let other = pliant_import::load(directory.join("other.xml")).unwrap_err();
    assert_eq!(*other.problem, ImportProblem::UnknownFormat);
}

/// The documentation has the tables that the code walks over every file.
#[test]
fn the_documentation_has_the_tables() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/import.md");
    let text = std::fs::read_to_string(path).unwrap();
    for format in [Format::Mjcf, Format::Urdf] {
        let table = pliant_import::support_table(format);
        assert!(text.contains(&table), "docs/import.md does not have this table:\n{table}");
    }
}

/// Text that was cut or garbled anywhere gives a model or an error, never a panic.
#[test]
fn garbled_files_do_not_panic() {
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/models");
    let mut seed = 1_u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let garble = ["\"", "<", ">", "-", "1e400", "nan", "0", " ", "/", "", "999999999999", "&#0;"];
    for name in ["panda.xml", "parallel_gripper.xml", "iiwa7.urdf"] {
        let text = std::fs::read_to_string(models.join(name)).unwrap();
        assert!(text.is_ascii());
        for _ in 0..300 {
            let at = random(text.len());
            let to = (at + random(4)).min(text.len());
            let garbled = format!("{}{}{}", &text[..at], garble[random(garble.len())], &text[to..]);
            let _ = pliant_import::from_mjcf(&garbled, &models);
            let _ = pliant_import::from_urdf(&garbled, &models);
        }
    }
}
