//! Reads the sensors of a file at given states, and prints them as JSON: one object on one line. It
//! is the side of Pliant in `benches/imports/sensors.py`, which compares it with MuJoCo. The request
//! is read from the standard input:
//!
//! ```json
//! {"file": "arm.xml", "states": [{"q": [0.3], "v": [1.0]}], "step": 1e-6}
//! ```
//!
//! Positions and velocities are Pliant's (`docs/import.md`), those of all links in their order.
//! After the readings at a state come those after a step \[s\], for what is measured over one. There
//! are no contacts, equalities, limits and dry friction, and the controls are those of the file.

use std::io::Read;

use nalgebra::{Isometry3, Vector3};
use serde::Deserialize;
use serde_json::{Value, json};

use pliant_import::Imported;
use pliant_rigid::multibody::{Dof, ModelBuilder, State};
use pliant_rigid::{Bodies, BodiesBuilder, MechanismDesc, RigidSettings, SensorReader, SpatialImpulse};

type Failure = Box<dyn std::error::Error>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    file: String,
    states: Vec<Coordinates>,
    /// \[s\]
    step: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Coordinates {
    q: Vec<f64>,
    v: Vec<f64>,
}

fn main() -> Result<(), Failure> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    println!("{}", answer(&serde_json::from_str(&text)?)?);
    Ok(())
}

fn answer(request: &Request) -> Result<Value, Failure> {
    let imported = match pliant_import::load(&request.file) {
        Ok(imported) => imported,
        Err(error) => return Ok(json!({ "ok": false, "error": error.to_string() })),
    };
    let described = |sensor: &pliant_rigid::Sensor| {
        let row = sensor.quantity.row();
        json!({ "name": sensor.name, "kind": row.name, "source": format!("{:?}", row.source) })
    };
    let sensors: Vec<Value> = imported.sensors.iter().map(described).collect();
    let warnings: Vec<String> = imported.warnings.iter().map(ToString::to_string).collect();
    let gravity = imported.system.model.gravity;
    let mut states = Vec::new();
    for given in &request.states {
        // A mechanism is used up.
        let mut desc = MechanismDesc::from(alone(pliant_import::load(&request.file)?)?);
        let state = State { q: given.q.clone(), v: given.v.clone(), ..desc.state.clone() };
        state.validate(&desc.system.model)?;
        desc.state = state;
        states.push(readings(desc, &gravity, request.step)?);
    }
    Ok(json!({ "ok": true, "sensors": sensors, "warnings": warnings, "states": states }))
}

/// The mechanism without what it may touch, and without limits, equalities and dry friction.
fn alone(mut imported: Imported) -> Result<Imported, Failure> {
    let old = &imported.system.model;
    let mut builder = ModelBuilder::new(old.gravity);
    builder.accept_any_moments();
    for link in old.links() {
        let mut link = link.clone();
        for dof in &mut link.dofs {
            (dof.limits, dof.friction_loss) = (Dof::default().limits, 0.0);
        }
        builder.add(link)?;
    }
    imported.system.model = builder.build()?;
    imported.system.equalities.clear();
    for tendon in &mut imported.system.tendons {
        (tendon.range, tendon.friction_loss) = ([f64::NEG_INFINITY, f64::INFINITY], 0.0);
        tendon.holds.clear();
    }
    imported.geometries.clear();
    imported.pairs.clear();
    Ok(imported)
}

/// The readings at the start, and those after a step.
fn readings(desc: MechanismDesc, gravity: &Vector3<f64>, step: f64) -> Result<[Value; 2], Failure> {
    let mut builder = BodiesBuilder::new();
    builder.robot("r", desc, None, &Isometry3::identity())?;
    let mut bodies = builder.build(*gravity, step, &RigidSettings::default())?;
    let before = read(&bodies);
    bodies.prepare(step);
    bodies.integrate(step, &vec![SpatialImpulse::zero(); bodies.len()])?;
    Ok([before, read(&bodies)])
}

fn read(bodies: &Bodies) -> Value {
    let mut reader = SensorReader::default();
    reader.update(bodies, bodies.sensors());
    let all = bodies.sensors().iter().map(|sensor| reader.read(bodies, sensor));
    all.map(|reading| reading.map(|reading| reading.values().to_vec())).collect()
}
