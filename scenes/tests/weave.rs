//! Woven cloths of scenes: what is refused and how, and what is built.

use nalgebra::{UnitQuaternion, Vector3};
use pliant_scenes::format::{Scene, parse_scene, validate};
use pliant_scenes::scenario::Scenario;
use serde_json::{Value, json};

/// A scene of one cloth with this shape and weave, turned by 90 degrees about x.
fn scene(shape: Value, weave: Value) -> Value {
    json!({
        "name": "towel",
        "duration": 0.02,
        "dt": 0.005,
        "grid_spacing": 0.05,
        "cloths": [{
            "name": "towel",
            "shape": shape,
            "pose": { "orientation": [0.5_f64.sqrt(), 0.5_f64.sqrt(), 0, 0] },
            "material": {
                "density": 300, "youngs_modulus": 1e5, "poissons_ratio": 0.1, "bending_stiffness": 4e-5,
                "normal_stiffness": 1e5, "thickness": 0.001, "weave": weave
            }
        }]
    })
}

fn parsed(scene: &Value) -> Result<Scene, String> {
    let scene = parse_scene(&scene.to_string()).map_err(|error| error.to_string())?;
    validate(&scene).map_err(|error| error.to_string())?;
    Ok(scene)
}

fn rectangle() -> Value {
    json!({ "type": "rectangle", "size": [0.3, 0.2], "parts": [6, 4] })
}

fn weave(warp: [f64; 3], weft: f64, shear: f64) -> Value {
    json!({ "warp": warp, "weft_youngs_modulus": weft, "shear_modulus": shear })
}

/// Values out of range and shapes that cannot be woven are refused when the scene is read, with the
/// path of the field, value and unit.
#[test]
fn bad_weaves_are_refused_by_path_value_and_unit() {
    let along = [1.0, 0.0, 0.0];
    let with = |field: &str, value: f64| {
        let mut fabric = weave(along, 2e5, 1e3);
        fabric[field] = json!(value);
        scene(rectangle(), fabric)
    };
    let mut stretchy = scene(rectangle(), weave(along, 2e5, 1e3));
    stretchy["cloths"][0]["material"]["poissons_ratio"] = json!(-0.1);
    let sphere = json!({ "type": "sphere", "radius": 0.1, "parts": 3 });
    for (scene, expected) in [
        (
            with("weft_youngs_modulus", 0.0),
            "cloths[0].material.weave.weft_youngs_modulus: 0 Pa must be positive",
        ),
        (with("shear_modulus", -1.0), "cloths[0].material.weave.shear_modulus: -1 Pa must be positive"),
        (with("shear_modulus", 5e4), "cloths[0].material.weave.shear_modulus: 50000 Pa must be at most E1"),
        (
            with("weft_bending_stiffness", -1.0),
            "cloths[0].material.weave.weft_bending_stiffness: -1 N m must be finite and not negative",
        ),
        (with("twist_stiffness", -1.0), "cloths[0].material.weave.twist_stiffness: -1 N m must be"),
        (with("weft_youngs_modulus", 2e6), "cloths[0].material.poissons_ratio: 0.1 must be in [0, youngs"),
        (
            stretchy,
            "cloths[0].material.poissons_ratio: -0.1 must be in [0, youngs_modulus / weave.weft_young",
        ),
        (
            scene(rectangle(), weave([0.0; 3], 1e5, 1e3)),
            "cloths[0].material.weave.warp: 0 must be the length",
        ),
        (scene(sphere, weave(along, 1e5, 1e3)), "cloths[0].material.weave: a sphere is not woven"),
        (scene(rectangle(), json!({ "warp": along })), "missing field `weft_youngs_modulus`"),
        (with("angle", 1.0), "unknown field `angle`"),
    ] {
        let error = parsed(&scene).unwrap_err();
        assert!(error.contains(expected), "{error}\nnot {expected}");
        assert_eq!(error.lines().count(), expected.lines().count(), "{error}");
    }
    // What only the built mesh tells is refused with the name of the cloth.
    let across = parsed(&scene(rectangle(), weave([0.1, 0.0, 1.0], 1e5, 1e3))).unwrap();
    let error = Scenario::new(&across).err().unwrap().to_string();
    let expected = "cloth 'towel': material.weave: the warp is 5.7 degrees from the normal of faces[0]";
    assert!(error.contains(expected), "{error}");
}

/// A weave comes to the world with its defaults and turns with the cloth; a garment, which lies
/// flat, is woven along one direction in front and behind.
#[test]
fn weaves_come_to_the_world() {
    let shirt = json!({ "type": "t-shirt" });
    for shape in [rectangle(), shirt] {
        let mut given = scene(shape, weave([1.0, 1.0, 0.0], 2e5, 1e3));
        if given["cloths"][0]["shape"]["type"] == "t-shirt" {
            given["grid_spacing"] = json!(0.015625);
        }
        let read = parsed(&given).unwrap();
        let mut scenario = Scenario::new(&read).unwrap();
        let sheet = &scenario.world.mpm().sheets()[0];
        let found = sheet.material.weave.unwrap();
        let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::FRAC_PI_2);
        let expected = turn * Vector3::new(1.0, 1.0, 0.0);
        assert!((Vector3::from(found.warp) - expected).norm() < 1e-12, "{:?}", found.warp);
        assert_eq!((found.weft_youngs_modulus, found.shear_modulus), (2e5, 1e3));
        assert_eq!((found.weft_bending_stiffness, found.twist_stiffness), (4e-5, 4e-5));
        let warps = sheet.warps().unwrap().unwrap();
        assert_eq!(warps.len(), sheet.mesh.faces().len());
        scenario.step().unwrap();
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(parse_scene(&written).unwrap(), read);
    }
}
