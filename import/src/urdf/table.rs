//! Support of every element and attribute of URDF (<https://wiki.ros.org/urdf/XML>, and urdfdom
//! 1.2).

use super::super::support::Attributes;
use super::super::support::Rule;
use super::super::support::Support::{Drawn, Foreign, Handed, Inert, Partly, Yes};

const NONE: &[Attributes] = &[];

macro_rules! element {
    ($within:expr, $tag:expr, $support:expr) => {
        Rule { within: $within, tag: $tag, support: $support, attributes: NONE }
    };
    ($within:expr, $tag:expr, $support:expr, $attributes:expr) => {
        Rule { within: $within, tag: $tag, support: $support, attributes: $attributes }
    };
}

/// The table. Other elements and attributes are extensions: left out with a warning.
pub(in super::super) const TABLE: &[Rule] = &[
    element!("robot", "link", Yes, &[(Yes, "name"), (Inert("a hint to viewers"), "type")]),
    element!("link", "inertial", Yes),
    element!("inertial visual collision joint", "origin", Yes, &[(Yes, "xyz rpy"), (Yes, "quat_xyzw")]),
    element!("inertial", "mass", Yes, &[(Yes, "value")]),
    element!(
        "inertial",
        "density",
        Partly("an extension: without a mass, that of the collision shapes at this density"),
        &[(Yes, "value")]
    ),
    element!("inertial", "inertia", Yes, &[(Yes, "ixx ixy ixz iyy iyz izz")]),
    element!("link", "visual", Yes, &[(Yes, "name")]),
    element!(
        "link",
        "collision",
        Partly("friction 0.5 and the default compliance: URDF has no contact parameters"),
        &[(Yes, "name"), (Inert("a hint to viewers"), "group")]
    ),
    element!("visual collision", "geometry", Yes),
    element!("geometry", "box", Yes, &[(Yes, "size")]),
    element!("geometry", "cylinder", Yes, &[(Yes, "radius length")]),
    element!("geometry", "capsule", Yes, &[(Yes, "radius length")]),
    element!("geometry", "sphere", Yes, &[(Yes, "radius")]),
    element!(
        "geometry",
        "plane",
        Partly("an extension: the half space behind the plane; only for contact"),
        &[(Yes, "normal")]
    ),
    element!(
        "geometry",
        "mesh",
        Partly(
            "the convex hull, with a warning where the mesh has less volume, or several hulls as an option; visuals as they are; OBJ, STL, PLY, MSH, glTF and COLLADA files; visuals that cannot be read are left out with a warning"
        ),
        &[(Yes, "filename scale")]
    ),
    element!("visual robot", "material", Yes, &[(Yes, "name")]),
    element!("material", "color", Yes, &[(Yes, "rgba")]),
    element!("material", "texture", Drawn),
    element!("robot", "joint", Yes, &[(Yes, "name type")]),
    element!("joint", "parent", Yes, &[(Yes, "link")]),
    element!("joint", "child", Yes, &[(Yes, "link")]),
    element!("joint", "axis", Yes, &[(Yes, "xyz")]),
    element!(
        "joint",
        "limit",
        Yes,
        &[
            (Yes, "lower upper"),
            (Partly("a motor of effort 0 with this limit, if it is above 0"), "effort"),
            (Handed("in `ImportedJoint`; it is not enforced"), "velocity"),
            (Foreign("motions are not planned"), "acceleration deceleration jerk"),
        ]
    ),
    element!("joint", "dynamics", Yes, &[(Yes, "damping friction")]),
    element!("joint", "mimic", Yes, &[(Yes, "joint multiplier offset")]),
    element!("joint", "calibration", Foreign("there is nothing to calibrate")),
    element!("joint", "safety_controller", Foreign("controllers are not part of the mechanism")),
    element!("robot", "transmission", Foreign("joints are actuated at the joint")),
    element!("robot", "gazebo", Foreign("settings of another simulator")),
    element!("robot", "sensor", Foreign("forces and motions are read from the simulation")),
];
