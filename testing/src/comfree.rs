//! Small systems for the closed-form solver.

use nalgebra::{Isometry3, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;

pub const G: f64 = 9.81;

pub fn down() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -G)
}

pub fn simulation<S: ContactSource>(
    model: Model,
    source: S,
    state: State,
    dt: f64,
    settings: ComFreeSettings,
) -> Simulation<S> {
    let mut system = System::new(model);
    system.solver = RigidSolver::ComFree(settings);
    Simulation::new(system, source, Integrator::Fixed { step: dt }, state).unwrap()
}

/// A solid of density 1000 kg/m^3 on a free joint.
pub fn body(name: &str, shape: &Shape) -> Link {
    let (mass, center, inertia) = shape.mass_properties(1000.0).unwrap();
    Link {
        name: name.into(),
        parent: None,
        joint: JointKind::Free,
        frame: Isometry3::identity(),
        inertia: RigidInertia::at_center(mass, center.coords, inertia),
        gravity: true,
        dofs: Vec::new(),
    }
}

pub fn geometry(
    name: &str,
    link: Option<LinkId>,
    shape: Shape,
    material: ContactMaterial,
) -> CollisionGeometry {
    CollisionGeometry {
        name: name.into(),
        link,
        pose: Isometry3::identity(),
        shape,
        material,
        group: 1,
        mask: u32::MAX,
        color: [0; 3],
    }
}

/// Solids over the floor z = 0, at the given poses.
pub fn on_floor(
    gravity: Vector3<f64>,
    solids: &[(Shape, Isometry3<f64>)],
    material: ContactMaterial,
) -> (Model, State, Collisions) {
    let mut builder = ModelBuilder::new(gravity);
    let mut geometries = vec![geometry("floor", None, Shape::HalfSpace, material)];
    for (i, (shape, _)) in solids.iter().enumerate() {
        let name = format!("solid {i}");
        let link = builder.add(body(&name, shape)).unwrap();
        geometries.push(geometry(&name, Some(link), shape.clone(), material));
    }
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    for (i, (_, pose)) in solids.iter().enumerate() {
        let r = pose.rotation;
        let t = pose.translation;
        state.q[7 * i..7 * (i + 1)].copy_from_slice(&[r.w, r.i, r.j, r.k, t.x, t.y, t.z]);
    }
    let scene = CollisionModel::new(geometries, &model, &[]).unwrap();
    (model, state, Collisions::new(scene, 1e-4))
}

/// A cube of side `side` at `z` of its centre.
pub fn cube(side: f64, z: f64) -> (Shape, Isometry3<f64>) {
    (Shape::Box { half_extents: Vector3::repeat(0.5 * side) }, Isometry3::translation(0.0, 0.0, z))
}
