//! Gas in the cloths of scenes: what is refused and how, and what is built.

use pliant_mpm::cloth::Gas;
use pliant_scenes::estimate::cloth_particles;
use pliant_scenes::format::{Scene, parse_scene, validate};
use pliant_scenes::scenario::Scenario;
use serde_json::{Value, json};

/// A scene of one cloth with this shape and gas.
fn scene(shape: Value, gas: Value) -> Value {
    json!({
        "name": "bag",
        "duration": 0.02,
        "dt": 0.005,
        "grid_spacing": 0.05,
        "cloths": [{
            "name": "bag",
            "shape": shape,
            "material": {
                "density": 1000, "youngs_modulus": 1e5, "poissons_ratio": 0.3,
                "normal_stiffness": 1e5, "thickness": 0.001
            },
            "gas": gas
        }]
    })
}

fn parsed(scene: &Value) -> Result<Scene, String> {
    let scene = parse_scene(&scene.to_string()).map_err(|error| error.to_string())?;
    validate(&scene).map_err(|error| error.to_string())?;
    Ok(scene)
}

fn ball() -> Value {
    json!({ "type": "sphere", "radius": 0.1, "parts": 3 })
}

fn pillow() -> Value {
    json!({ "type": "pillow", "size": [0.3, 0.2], "parts": [6, 4] })
}

/// Values out of range and cloths that are never closed are refused when the scene is read, with the
/// path of the field, value and unit.
#[test]
fn bad_gas_is_refused_by_path_value_and_unit() {
    let constant = json!({ "type": "constant-pressure", "gauge_pressure": 100 });
    let law = |p: f64, ambient: f64, volume: Option<f64>| json!({ "type": "isothermal", "gauge_pressure": p, "ambient_pressure": ambient, "volume": volume });
    let rectangle = json!({ "type": "rectangle", "size": [0.3, 0.2], "parts": [6, 4] });
    for (scene, expected) in [
        (scene(rectangle, constant.clone()), "cloths[0].gas: only a closed cloth holds gas"),
        (
            scene(ball(), law(-2e5, 1e5, None)),
            "cloths[0].gas.gauge_pressure: -200000 Pa must be finite and above",
        ),
        (scene(ball(), law(0.0, -1.0, None)), "cloths[0].gas.ambient_pressure: -1 Pa must be positive"),
        (scene(ball(), law(0.0, 1e5, Some(0.0))), "cloths[0].gas.volume: 0 m^3 must be positive"),
        (scene(ball(), json!({ "type": "constant-pressure", "gauge_pressure": 1e31 })), "gauge_pressure: "),
        (scene(ball(), json!({ "type": "constant-pressure" })), "missing field `gauge_pressure`"),
        (scene(ball(), json!({ "type": "adiabatic", "gauge_pressure": 1 })), "`isothermal`"),
        (
            scene(json!({ "type": "sphere", "radius": -1, "parts": 3 }), json!(null)),
            "shape.radius: -1 m must be",
        ),
        (scene(json!({ "type": "sphere", "radius": 1, "parts": 0 }), json!(null)), "shape.parts: 0 must be"),
        (
            scene(json!({ "type": "pillow", "size": [0.3, 0.2], "parts": [6, 1] }), constant),
            "cloths[0].shape.parts[1]: 1 must be at least 2",
        ),
    ] {
        let error = parsed(&scene).unwrap_err();
        assert!(error.contains(expected), "{error}\nnot {expected}");
    }
}

/// What only the built mesh tells is refused with the name of the cloth.
#[test]
fn open_meshes_and_too_much_gas_are_refused() {
    let folder = std::env::temp_dir().join(format!("pliant-gas-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("open.obj");
    std::fs::write(&file, "v 0 0 0\nv 0.05 0 0\nv 0 0.05 0\nv 0 0 0.05\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")
        .unwrap();
    let open = json!({ "type": "mesh", "file": file });
    let too_much = json!({ "type": "isothermal", "gauge_pressure": 0, "volume": 1 });
    let refused = |scene: Value| Scenario::new(&parsed(&scene).unwrap()).err().unwrap().to_string();
    let found = refused(scene(open, json!({ "type": "constant-pressure", "gauge_pressure": 1 })));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(found.contains("cloth 'bag': gas: the sheet is open: 3 of its 6 edges"), "{found}");
    let found = refused(scene(ball(), too_much));
    assert!(found.contains("cloth 'bag': gas.volume: 1 m^3 is more than 20 times"), "{found}");
}

/// Gas comes to the world with its defaults, the cloth without gas has none, and the estimate of
/// particles is that of the built mesh.
#[test]
fn gas_comes_to_the_world() {
    let law = json!({ "type": "isothermal", "gauge_pressure": 300 });
    let expected = Gas::Isothermal { gauge_pressure: 300.0, ambient_pressure: 101_325.0, volume: None };
    for (shape, gas, expected) in [(ball(), law, Some(expected)), (pillow(), json!(null), None)] {
        let scene = parsed(&scene(shape, gas)).unwrap();
        let mut scenario = Scenario::new(&scene).unwrap();
        let sheet = &scenario.world.mpm().sheets()[0];
        assert_eq!(sheet.gas, expected);
        let particles = sheet.mesh.vertices().len() + sheet.mesh.faces().len();
        assert_eq!(cloth_particles(&scene, &scene.cloths[0]), Some(particles as f64));
        scenario.step().unwrap();
        // A scene is written as it was read.
        let written = serde_json::to_string(&scene).unwrap();
        assert_eq!(parse_scene(&written).unwrap(), scene);
    }
}
