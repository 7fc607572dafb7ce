//! Runs a scene of spheres and boxes on a floor, given as JSON, and says how long it took and what
//! the solver did; with a third argument it also writes the trajectory.
//!
//! ```sh
//! cargo run --release -p pliant-rigid --example rigid_scene -- scene.json step=0.001 [trajectory.json]
//! cargo run --release -p pliant-rigid --example rigid_scene -- scene.json accuracy=1e-3
//! ```
//!
//! The file has `gravity`, `mu`, `duration`, `walls` (boxes: `half`, `pos`) and `bodies` (`shape`
//! "sphere" with `radius` or "box" with `half`; `mass`, principal `inertia`, `pos`, `quat` w x y z,
//! `vel`, `omega`), in SI units.

use std::time::Instant;

use nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, UnitQuaternion, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::multibody::{JointKind, Link, LinkId, ModelBuilder, RigidInertia};
use pliant_rigid::simulation::{Collisions, Integrator, Simulation, System};
use serde_json::{Value, json};

/// As stiff as the scenes ask for: N/m, s/m, m/s.
const STIFFNESS: f64 = 1e7;
const DISSIPATION: f64 = 10.0;
const STICTION: f64 = 1e-4;

type Failure = Box<dyn std::error::Error>;

fn numbers<const N: usize>(value: &Value) -> Result<[f64; N], Failure> {
    let list: Vec<f64> = serde_json::from_value(value.clone())?;
    list.try_into().map_err(|_| format!("{N} numbers expected").into())
}

fn geometry(
    scene: &Value,
    name: &str,
    link: Option<LinkId>,
    pose: Isometry3<f64>,
    shape: Shape,
) -> CollisionGeometry {
    let mu = scene["mu"].as_f64().unwrap_or(0.5);
    let stiffness = scene["stiffness"].as_f64().unwrap_or(STIFFNESS);
    let dissipation = if scene["stiffness"].is_null() { DISSIPATION } else { 0.0 };
    let material = ContactMaterial {
        stiffness,
        dissipation,
        static_friction: mu,
        dynamic_friction: mu,
        ..ContactMaterial::with_friction(0.0)
    };
    CollisionGeometry {
        name: name.into(),
        link,
        pose,
        shape,
        material,
        group: 1,
        mask: 1,
        color: [180, 180, 180],
    }
}

fn shape(part: &Value) -> Result<Shape, Failure> {
    Ok(match part["radius"].as_f64() {
        Some(radius) => Shape::Sphere { radius },
        None => Shape::Box { half_extents: Vector3::from(numbers::<3>(&part["half"])?) },
    })
}

fn load(scene: &Value, integrator: Integrator) -> Result<Simulation<Collisions>, Failure> {
    let mut builder = ModelBuilder::new(Vector3::from(numbers::<3>(&scene["gravity"])?));
    let mut geometries = vec![geometry(scene, "floor", None, Isometry3::identity(), Shape::HalfSpace)];
    let empty = Vec::new();
    for wall in scene["walls"].as_array().unwrap_or(&empty) {
        let pose = Translation3::from(Vector3::from(numbers::<3>(&wall["pos"])?)).into();
        geometries.push(geometry(scene, "wall", None, pose, shape(wall)?));
    }
    let mut start: Vec<([f64; 7], [f64; 6])> = Vec::new();
    for (i, body) in scene["bodies"].as_array().unwrap_or(&empty).iter().enumerate() {
        let mass = body["mass"].as_f64().ok_or("mass")?;
        let inertia = Matrix3::from_diagonal(&Vector3::from(numbers::<3>(&body["inertia"])?));
        let link = builder.add(Link {
            name: format!("body {i}"),
            parent: None,
            joint: JointKind::Free,
            frame: Isometry3::identity(),
            inertia: RigidInertia::at_center(mass, Vector3::zeros(), inertia),
            gravity: true,
            dofs: Vec::new(),
        })?;
        geometries.push(geometry(scene, "body", Some(link), Isometry3::identity(), shape(body)?));
        let ([x, y, z], [w, i, j, k]) = (numbers::<3>(&body["pos"])?, numbers::<4>(&body["quat"])?);
        let ([u, v, n], [a, b, c]) = (numbers::<3>(&body["vel"])?, numbers::<3>(&body["omega"])?);
        start.push(([w, i, j, k, x, y, z], [a, b, c, u, v, n]));
    }
    let model = builder.build()?;
    let mut state = model.zero_configuration();
    for (i, (q, v)) in start.iter().enumerate() {
        state.q[model.positions_of(LinkId(i))].copy_from_slice(q);
        state.v[model.velocities_of(LinkId(i))].copy_from_slice(v);
        let rotation = &mut state.q[model.positions_of(LinkId(i))][..4];
        let unit = UnitQuaternion::new_normalize(Quaternion::new(
            rotation[0],
            rotation[1],
            rotation[2],
            rotation[3],
        ));
        rotation.copy_from_slice(&[unit.w, unit.i, unit.j, unit.k]);
    }
    let scene = CollisionModel::new(geometries, &model, &[])?;
    Ok(Simulation::new(System::new(model), Collisions::new(scene, STICTION), integrator, state)?)
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (file, how) =
        (arguments.next().ok_or("a scene file")?, arguments.next().ok_or("step=S or accuracy=A")?);
    let scene: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    let integrator = match how.split_once('=') {
        Some(("step", step)) => Integrator::Fixed { step: step.parse()? },
        Some(("accuracy", accuracy)) => {
            Integrator::ErrorControlled { accuracy: accuracy.parse()?, max_step: 0.1 }
        }
        _ => return Err("step=S or accuracy=A".into()),
    };
    let duration = scene["duration"].as_f64().ok_or("duration")?;
    let mut simulation = load(&scene, integrator)?;
    let settle = scene["settle"].as_f64().unwrap_or(0.0);
    if settle > 0.0 {
        simulation.advance_to(settle)?;
        let mut snapshot = simulation.save();
        snapshot.state.v[3..6].copy_from_slice(&numbers::<3>(&scene["kick"])?);
        simulation.restore(&snapshot)?;
    }
    let trajectory = arguments.next();
    let clock = Instant::now();
    let Some(path) = trajectory else {
        let summary = simulation.advance_to(settle + duration)?;
        println!("wall {:.3} s", clock.elapsed().as_secs_f64());
        println!("{summary:?}");
        return Ok(());
    };
    let (mut times, mut positions, mut velocities) = (Vec::new(), Vec::new(), Vec::new());
    let every = 0.002;
    for k in 0..=(duration / every).round() as usize {
        let time = k as f64 * every;
        if k > 0 {
            simulation.advance_to(settle + time)?;
        }
        let state = simulation.state();
        times.push(time);
        // Position first, then the quaternion; linear velocity first.
        let q: Vec<[f64; 7]> =
            state.q.chunks_exact(7).map(|q| [q[4], q[5], q[6], q[0], q[1], q[2], q[3]]).collect();
        let v: Vec<[f64; 6]> =
            state.v.chunks_exact(6).map(|v| [v[3], v[4], v[5], v[0], v[1], v[2]]).collect();
        positions.push(q);
        velocities.push(v);
    }
    std::fs::write(path, json!({ "t": times, "q": positions, "v": velocities }).to_string())?;
    Ok(())
}
