//! Support of every element and attribute of MJCF (the schema of MuJoCo 4.0, which has all of
//! MuJoCo 3's).

use super::super::support::Attributes;
use super::super::support::Rule;
use super::super::support::Support::{Drawn, Dropped, Foreign, Handed, Inert, Partly, Refused, Touch, Yes};

const PICTURE: &str = "for pictures only";
const DRY: &str = "dry friction here has a regularisation of its own";
const GAP: &str = "no effect, as in MuJoCo 4; older versions subtract it from the margin";
const SCRATCH: &str = "memory and bookkeeping of MuJoCo";

const ORIENTED: Attributes = (Yes, "pos quat axisangle euler xyaxes zaxis");

const JOINT: &[Attributes] = &[
    (
        Yes,
        "type pos axis range limited damping armature springref ref frictionloss actuatorfrcrange actuatorfrclimited class name",
    ),
    (Partly("left out of a ball joint: a spring needs a coordinate"), "stiffness"),
    (Yes, "solreflimit solimplimit margin"),
    (Dropped(DRY), "solreffriction solimpfriction"),
    (Partly("of a ball joint the damper alone"), "springdamper"),
    (Dropped("springs are linear"), "springyield=0"),
    (Dropped("gravity is compensated by the body's gravcomp"), "actuatorgravcomp=false"),
    (Inert(PICTURE), "group user"),
];

const GEOM: &[Attributes] = &[
    (
        Yes,
        "type size fromto mesh hfield pos quat axisangle euler xyaxes zaxis contype conaffinity density mass group class name",
    ),
    (Yes, "rgba material"),
    (
        Partly(
            "the coefficient of sliding, static and dynamic; two surfaces of such files have the larger one, with others the harmonic mean; \
             turning and rolling resistance, of condim 4 or 6, is for the closed-form solver only",
        ),
        "friction condim",
    ),
    (
        Partly(
            "as a stiffness (N/m) and Hunt and Crossley's dissipation (s/m) for the mass of its body; the closed-form solver takes `solimp` as it is, and leaves out `solref`",
        ),
        "solref solimp",
    ),
    (Touch("materials combine as springs in series"), "solmix=1"),
    (Partly("of two geoms; particles touch the surface itself"), "margin priority"),
    (Touch(GAP), "gap=0"),
    (Dropped("not modelled"), "adhesion=0 surfacevel=0 fluidshape=none fluidcoef"),
    (Refused("a primitive fitted to a mesh; write the primitive"), "fitscale=1"),
    (Partly("an error for an ellipsoid: give an <inertial>"), "shellinertia"),
    (Inert(PICTURE), "castshadow user"),
];

const MESH: &[Attributes] = &[
    (Yes, "file vertex face scale refpos refquat inertia class name"),
    (Touch("the hull has all its vertices"), "maxhullvert=-1"),
    (Dropped("the format is known by the extension"), "content_type"),
    (Refused("meshes made by MuJoCo"), "builtin params"),
    (Inert(PICTURE), "normal texcoord smoothnormal material"),
];

const MATERIAL: &[Attributes] = &[
    (Yes, "name class rgba"),
    (Partly("its mean colour"), "texture"),
    (Drawn, "texrepeat texuniform emission specular shininess reflectance metallic roughness"),
];

const EQUALITY: &[Attributes] = &[(Yes, "active class name"), (Yes, "solref solimp")];

const PAIR: &[Attributes] = &[
    (
        Partly(
            "the two touch whatever their contype; what the pair does not give is MuJoCo's default, not that of the geoms",
        ),
        "geom1 geom2",
    ),
    (Yes, "class name margin"),
    (Partly("as of geoms, for the masses of both bodies"), "solref solimp"),
    (Partly("as of geoms; the mean of both directions"), "friction condim"),
    (Touch("friction has a regularisation of its own"), "solreffriction"),
    (Touch(GAP), "gap=0"),
    (Dropped("not modelled"), "adhesion=0"),
];

const TENDON: &[Attributes] = &[
    (Yes, "name class range limited frictionloss springlength actuatorfrcrange actuatorfrclimited"),
    (Partly("the linear coefficient"), "stiffness damping"),
    (Yes, "solreflimit solimplimit margin"),
    (Dropped(DRY), "solreffriction solimpfriction"),
    (Dropped("not modelled"), "armature=0"),
    (Inert(PICTURE), "group width material rgba user"),
];

const MOTOR_RANGES: Attributes =
    (Yes, "gear ctrlrange ctrllimited forcerange forcelimited class name joint tendon site");
const MOTOR_OFF: &[Attributes] = &[
    (Partly("on joints with one coordinate it is `joint`"), "jointinparent"),
    (
        Partly("the actuator is left out with a warning: only joints, tendons and sites can be actuated"),
        "refsite body slidersite cranksite cranklength",
    ),
    (Yes, "actearly"),
    (Dropped("not modelled"), "armature=0 damping=0 delay=0 nsample=0 interp"),
    (Inert(SCRATCH), "lengthrange group user"),
];

macro_rules! motor {
    ($($more:expr),*) => {
        &[MOTOR_RANGES, MOTOR_OFF[0], MOTOR_OFF[1], MOTOR_OFF[2], MOTOR_OFF[3], MOTOR_OFF[4], $($more),*]
    };
}

const GENERAL: &[Attributes] = motor![
    (Partly("fixed and affine; muscles are left out with a warning"), "gaintype biastype gainprm biasprm"),
    (
        Partly("none, integrator, filter and filterexact, both exact; others are left out with a warning"),
        "dyntype dynprm"
    ),
    (Yes, "inheritrange actlimited actrange"),
    (Inert("of motors that are left out"), "actdim ffrange velrange input")
];
const POSITION: &[Attributes] = motor![(Yes, "kp kv dampratio timeconst inheritrange actlimited actrange")];
const VELOCITY: &[Attributes] = motor![(Yes, "kv")];
const INTVELOCITY: &[Attributes] = motor![(Yes, "kp kv dampratio inheritrange actlimited actrange")];
const CYLINDER: &[Attributes] = motor![(Yes, "timeconst area diameter bias actlimited actrange")];
const MUSCLE: &[Attributes] = &[
    MOTOR_RANGES,
    MOTOR_OFF[0],
    MOTOR_OFF[1],
    MOTOR_OFF[2],
    MOTOR_OFF[3],
    (Yes, "range force scale lmin lmax vmax fpmax fvmax actlimited actrange"),
    (Partly("steps keep the time constant of their beginning"), "timeconst tausmooth"),
    (Partly("without one the muscle is left out with a warning"), "lengthrange"),
    (Inert(SCRATCH), "group user"),
];
const NO_MOTOR: &str = "this kind of actuator is not supported; the joint is not actuated";

/// Attributes of sensors.
macro_rules! sensor {
    ($on:literal) => {
        &[
            (Yes, concat!("name cutoff ", $on)),
            (Foreign("readings are not delayed"), "delay=0 nsample=0 interval=0"),
            (Inert("not applied, as in MuJoCo"), "noise"),
            (Inert(SCRATCH), "interp user"),
        ]
    };
}
const FRAMES: &str = "not of cameras and meshes; of a body of type `body` its centre of mass, not its axes; others are left out with a warning";

macro_rules! element {
    ($within:expr, $tag:expr, $support:expr) => {
        Rule { within: $within, tag: $tag, support: $support, attributes: &[] }
    };
    ($within:expr, $tag:expr, $support:expr, $attributes:expr) => {
        Rule { within: $within, tag: $tag, support: $support, attributes: $attributes }
    };
}

/// The table.
pub(in super::super) const TABLE: &[Rule] = &[
    element!(
        "mujoco",
        "compiler",
        Yes,
        &[
            (Yes, "angle eulerseq autolimits meshdir assetdir strippath inertiafromgeom inertiagrouprange"),
            (Yes, "boundmass boundinertia balanceinertia settotalmass discardvisual"),
            (Refused("global coordinates, which MuJoCo has removed, too"), "coordinate=local"),
            (Refused("primitives are not fitted to meshes"), "fitaabb=false"),
            (Inert("bodies without joints are welded, which gives the same motion"), "fusestatic"),
            (Dropped("bodies keep the frames that the file gives them"), "alignfree=false"),
            (Yes, "texturedir"),
            (Inert(SCRATCH), "usethread savecanonical savecompiled saveinertial conflict passthrough"),
        ]
    ),
    element!("compiler", "lengthrange", Inert(SCRATCH)),
    element!(
        "mujoco",
        "option",
        Yes,
        &[
            (Yes, "timestep gravity"),
            (
                Handed("a setting of MuJoCo's solver"),
                "integrator solver cone jacobian iterations tolerance ls_iterations ls_tolerance noslip_iterations \
                 noslip_tolerance ccd_iterations ccd_tolerance sdf_iterations sdf_initpoints impratio sleep_tolerance"
            ),
            (Dropped("there is no air"), "wind=0 density=0 viscosity=0"),
            (Inert("magnetometers are left out"), "magnetic"),
            (Touch("use materials"), "o_margin=0 o_solref o_solimp o_friction"),
            (Dropped("actuators are not switched in groups"), "actuatorgroupdisable"),
        ]
    ),
    element!(
        "option",
        "flag",
        Yes,
        &[
            (Yes, "gravity contact equality frictionloss limit spring damper"),
            (Partly("`contact`, `equality`, `frictionloss` and `limit`"), "constraint"),
            (
                Dropped("it cannot be switched off"),
                "clampctrl=enable filterparent=enable actuation=enable override=disable"
            ),
            (
                Handed("a setting of MuJoCo's solver"),
                "warmstart refsafe sensor midphase eulerdamp autoreset nativeccd island energy fwdinv invdiscrete multiccd \
                 sleep speculative diagexact ipc"
            ),
        ]
    ),
    element!("mujoco", "size", Inert(SCRATCH)),
    element!("mujoco", "statistic", Inert(PICTURE)),
    element!("mujoco", "visual", Drawn),
    element!("mujoco", "custom", Foreign("user data")),
    // Sensors.
    element!("mujoco", "sensor", Yes),
    element!(
        "sensor",
        "touch",
        Partly("contacts with other bodies; those with particles are felt by tactile pads alone"),
        sensor!["site"]
    ),
    element!(
        "sensor",
        "accelerometer force torque",
        Partly("means over the last step; a force on a site of the world is left out with a warning"),
        sensor!["site"]
    ),
    element!("sensor", "velocimeter gyro", Yes, sensor!["site"]),
    element!("sensor", "jointpos jointvel ballquat ballangvel", Yes, sensor!["joint"]),
    element!("sensor", "jointactuatorfrc", Partly("means over the last step"), sensor!["joint"]),
    element!("sensor", "tendonpos tendonvel", Yes, sensor!["tendon"]),
    element!("sensor", "tendonactuatorfrc", Partly("means over the last step"), sensor!["tendon"]),
    element!("sensor", "actuatorpos actuatorvel", Yes, sensor!["actuator"]),
    element!("sensor", "actuatorfrc", Partly("means over the last step"), sensor!["actuator"]),
    element!(
        "sensor",
        "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel",
        Partly(FRAMES),
        sensor!["objtype objname reftype refname"]
    ),
    element!(
        "sensor",
        "framelinacc frameangacc",
        Partly("means over the last step; of frames as above"),
        sensor!["objtype objname"]
    ),
    element!("sensor", "subtreecom subtreelinvel subtreeangmom", Partly("not of the world"), sensor!["body"]),
    element!("sensor", "clock", Yes, sensor![""]),
    element!(
        "sensor",
        "magnetometer camprojection rangefinder jointlimitpos jointlimitvel jointlimitfrc tendonlimitpos tendonlimitvel \
         tendonlimitfrc insidesite distance normal fromto contact e_potential e_kinetic tactile user plugin",
        Foreign("not measured")
    ),
    element!("mujoco", "extension", Refused("plugins")),
    element!("mujoco", "deformable", Refused("deformable bodies are not rigid bodies")),
    // Tendons.
    element!("mujoco", "tendon", Yes),
    element!("tendon", "fixed", Yes, TENDON),
    element!("fixed", "joint", Yes, &[(Yes, "joint coef")]),
    element!("tendon", "spatial", Yes, TENDON),
    element!("spatial", "site", Yes, &[(Yes, "site")]),
    element!("spatial", "geom", Partly("spheres and cylinders"), &[(Yes, "geom sidesite")]),
    element!("spatial", "pulley", Yes, &[(Yes, "divisor")]),
    element!("mujoco", "include", Yes, &[(Yes, "file")]),
    // Defaults.
    element!("mujoco default", "default", Yes, &[(Yes, "class")]),
    element!("default", "mesh", Yes, MESH),
    element!("default", "material", Yes, MATERIAL),
    element!("default", "joint", Yes, JOINT),
    element!("default", "geom", Yes, GEOM),
    element!("default", "pair", Yes, PAIR),
    element!("default", "equality", Yes, EQUALITY),
    element!("default", "general", Yes, GENERAL),
    element!("default", "motor", Yes, motor![]),
    element!("default", "position", Yes, POSITION),
    element!("default", "velocity", Yes, VELOCITY),
    element!(
        "default",
        "site",
        Inert("its orientation counts, and the shape of a touch sensor's; the rest is for pictures only")
    ),
    element!("default", "texture", Inert(PICTURE)),
    element!("default", "camera", Inert(PICTURE)),
    element!("default", "light", Inert(PICTURE)),
    element!("default", "tendon", Yes, TENDON),
    element!("default", "intvelocity", Yes, INTVELOCITY),
    element!("default", "orientation", Inert("left out where it is used")),
    element!("default", "pid", Inert("left out where it is used")),
    element!("default", "damper", Yes, VELOCITY),
    element!("default", "cylinder", Yes, CYLINDER),
    element!("default", "muscle", Yes, MUSCLE),
    element!("default", "adhesion", Inert("left out where it is used")),
    element!("default", "dcmotor", Inert("left out where it is used")),
    // Assets.
    element!("mujoco", "asset", Yes),
    element!(
        "asset",
        "mesh",
        Partly(
            "contact uses the convex hull, as in MuJoCo, or several hulls as an option; OBJ, STL, PLY, MSH, glTF and COLLADA files; one that cannot be read is left out with a warning where it is only seen"
        ),
        MESH
    ),
    element!(
        "asset",
        "hfield",
        Yes,
        &[
            (Yes, "name nrow ncol size elevation"),
            (Partly("PNG files, of which the red channel counts"), "file"),
            (Inert("the format is known by the contents"), "content_type"),
        ]
    ),
    element!("asset", "material", Yes, MATERIAL),
    element!(
        "asset",
        "texture",
        Partly("the surface has its mean colour"),
        &[
            (Yes, "name builtin rgb1 rgb2"),
            (Partly("PNG and JPEG files; others are left out with a warning"), "file"),
            (
                Inert(PICTURE),
                "type content_type gridsize gridlayout fileright fileleft fileup filedown filefront fileback mark markrgb random width height hflip vflip colorspace nchannel class"
            ),
        ]
    ),
    element!("asset", "skin", Drawn),
    element!("asset", "model", Refused("models within models; use <include>")),
    element!("mesh", "plugin", Refused("plugins")),
    element!(
        "material",
        "layer",
        Partly("the mean colour of the first of role rgb or rgba"),
        &[(Yes, "texture role")]
    ),
    // Bodies.
    element!("mujoco", "worldbody", Yes),
    element!(
        "worldbody body frame",
        "body",
        Yes,
        &[
            (Yes, "name childclass mocap"),
            ORIENTED,
            (Partly("0 to 1"), "gravcomp"),
            (Inert(SCRATCH), "user simple sleep fuse"),
        ]
    ),
    element!("worldbody body frame", "frame", Yes, &[(Yes, "name childclass"), ORIENTED]),
    element!("body", "inertial", Yes, &[(Yes, "mass diaginertia fullinertia"), ORIENTED]),
    element!("body frame", "joint", Yes, JOINT),
    element!(
        "body frame",
        "freejoint",
        Yes,
        &[
            (Yes, "name"),
            (Dropped("bodies keep the frames that the file gives them"), "align=false"),
            (Inert(PICTURE), "group")
        ]
    ),
    element!("worldbody body frame", "geom", Yes, GEOM),
    element!("geom", "plugin", Refused("plugins")),
    element!(
        "worldbody body frame",
        "site",
        Yes,
        &[
            (Yes, "name class"),
            ORIENTED,
            (Dropped("give a place and an orientation"), "fromto"),
            (Inert("sites are places, but of touch sensors the zone"), "type size"),
            (Inert(PICTURE), "group material rgba user")
        ]
    ),
    element!("worldbody body frame", "camera", Drawn),
    element!("worldbody body frame", "light", Drawn),
    element!(
        "worldbody body frame",
        "replicate",
        Partly("replaced by its copies; actuators, sensors and constraints of what is copied are not copied"),
        &[(Yes, "count offset euler sep")]
    ),
    element!("worldbody body frame", "attach", Refused("models within models; use <include>")),
    element!("worldbody body frame", "composite", Refused("expand the bodies")),
    element!("worldbody body frame", "flexcomp", Refused("deformable bodies are not rigid bodies")),
    element!("worldbody body frame", "plugin", Refused("plugins")),
    element!(
        "worldbody body frame default asset contact equality tendon actuator sensor keyframe",
        "include",
        Yes,
        &[(Yes, "file")]
    ),
    // Contact.
    element!("mujoco", "contact", Yes),
    element!("contact", "pair", Yes, PAIR),
    element!("contact", "exclude", Yes, &[(Yes, "body1 body2 name")]),
    // Constraints.
    element!("mujoco", "equality", Yes),
    element!(
        "equality",
        "connect",
        Yes,
        &[EQUALITY[0], EQUALITY[1], (Yes, "body1 body2 anchor site1 site2")]
    ),
    element!(
        "equality",
        "weld",
        Yes,
        &[EQUALITY[0], EQUALITY[1], (Yes, "body1 body2 relpose site1 site2"), (Yes, "anchor torquescale")]
    ),
    element!("equality", "joint", Yes, &[EQUALITY[0], EQUALITY[1], (Yes, "joint1 joint2 polycoef")]),
    element!("equality", "distance", Refused("distances between geoms, which MuJoCo has removed, too")),
    element!("equality", "tendon", Yes, &[EQUALITY[0], EQUALITY[1], (Yes, "tendon1 tendon2 polycoef")]),
    element!("equality", "flex", Refused("deformable bodies are not rigid bodies")),
    element!("equality", "flexstrain", Refused("deformable bodies are not rigid bodies")),
    element!("equality", "flexvert", Refused("deformable bodies are not rigid bodies")),
    // Motors.
    element!("mujoco", "actuator", Yes),
    element!("actuator", "motor", Yes, motor![]),
    element!("actuator", "position", Yes, POSITION),
    element!("actuator", "velocity", Yes, VELOCITY),
    element!("actuator", "general", Yes, GENERAL),
    element!("actuator", "intvelocity", Yes, INTVELOCITY),
    element!("actuator", "orientation", Dropped(NO_MOTOR)),
    element!("actuator", "pid", Dropped(NO_MOTOR)),
    element!("actuator", "damper", Yes, VELOCITY),
    element!("actuator", "cylinder", Yes, CYLINDER),
    element!("actuator", "muscle", Yes, MUSCLE),
    element!("actuator", "adhesion", Dropped(NO_MOTOR)),
    element!("actuator", "dcmotor", Dropped(NO_MOTOR)),
    element!("actuator", "plugin", Refused("plugins")),
    // States.
    element!("mujoco", "keyframe", Yes),
    element!(
        "keyframe",
        "key",
        Yes,
        &[
            (Yes, "name time qpos qvel ctrl"),
            (Yes, "act"),
            (Dropped("springs do not yield"), "plastic"),
            (Yes, "mpos mquat"),
        ]
    ),
];
