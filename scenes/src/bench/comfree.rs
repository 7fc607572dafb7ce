//! Contact in closed form beside the convex solver: time of a step against the number of contacts (ComFree-Sim, figure 7), and how deep the
//! contacts of a pile are (figure 3).

use std::time::Instant;

use nalgebra::{Isometry3, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, ContactMaterial, Scene};
use pliant_rigid::comfree::{ComFreeSettings, RigidSolver};
use pliant_rigid::multibody::{JointKind, Link, LinkId, ModelBuilder, RigidInertia};
use pliant_rigid::simulation::{Collisions, Integrator, Simulation, System};
use serde_json::json;

use super::rigid::shipped;
use super::{BenchError, BenchOptions, Part, Row, Sample};
use crate::format::{ComFreeForm, ComFreeGains, RigidSolver as Chosen};
use crate::machine::Machine;
use crate::prepare::prepare;

/// Time against contacts.
pub const CONTACTS: Part = Part {
    name: "contacts",
    about: "little piles side by side, 10 to 100,000 contacts: wall time of a step, closed form and convex",
    run: contacts,
};

/// Depth of a pile.
pub const PILE: Part = Part {
    name: "pile",
    about: "primitive-pile with the published settings, ours and the convex solver: penetration after 1000 steps",
    run: pile,
};

/// Numbers of piles; each has some forty contacts, the first but one.
const PILES: [usize; 5] = [1, 10, 50, 250, 2500];

/// The step (s).
const STEP: f64 = 0.002;

fn solvers() -> [(&'static str, RigidSolver); 3] {
    [
        ("published", RigidSolver::ComFree(ComFreeSettings::published(0.1, 0.001))),
        ("predicted", RigidSolver::ComFree(ComFreeSettings::default())),
        ("icf", RigidSolver::Icf),
    ]
}

/// Piles of three layers of two by two solids (cubes, capsules, spheres; of one, a single cube), each apart from the others, thrown a little.
fn piles(count: usize, solver: RigidSolver) -> Result<Simulation<Collisions>, String> {
    let material = ContactMaterial::with_friction(0.5);
    let solid = |link: Option<LinkId>, shape: Shape| CollisionGeometry {
        name: String::new(),
        link,
        pose: Isometry3::identity(),
        shape,
        material,
        group: 1,
        mask: 1,
        color: [0; 3],
    };
    let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -9.81));
    let mut geometries = vec![solid(None, Shape::HalfSpace)];
    let mut places = Vec::new();
    let across = (count as f64).sqrt().ceil() as usize;
    for pile in 0..count {
        let corner = Vector3::new((pile % across) as f64, (pile / across) as f64, 0.0) * 0.5;
        let members = if count == 1 { 1 } else { 12 };
        for k in 0..members {
            let shape = match k / 4 {
                0 => Shape::Box { half_extents: Vector3::repeat(0.025) },
                1 => Shape::Capsule { radius: 0.02, half_length: 0.015 },
                _ => Shape::Sphere { radius: 0.025 },
            };
            let place = corner
                + Vector3::new(
                    (k % 2) as f64 * 0.052,
                    (k / 2 % 2) as f64 * 0.052,
                    0.025 + (k / 4) as f64 * 0.06,
                );
            let (mass, center, inertia) = shape.mass_properties(1000.0).ok_or("a shape without mass")?;
            let link = Link {
                name: format!("{pile} {k}"),
                parent: None,
                joint: JointKind::Free,
                frame: Isometry3::identity(),
                inertia: RigidInertia::at_center(mass, center.coords, inertia),
                gravity: true,
                dofs: Vec::new(),
            };
            let link = builder.add(link).map_err(|e| e.to_string())?;
            geometries.push(solid(Some(link), shape));
            places.push(place);
        }
    }
    let model = builder.build().map_err(|e| e.to_string())?;
    let mut state = model.rest();
    for (i, place) in places.iter().enumerate() {
        state.q[7 * i + 4..7 * i + 7].copy_from_slice(place.as_slice());
        // Some centimetres a second, never the same.
        let wave = |phase: f64| 0.03 * (7.3 * i as f64 + phase).sin();
        state.v[6 * i + 3..6 * i + 6].copy_from_slice(&[wave(0.0), wave(2.0), 0.0]);
    }
    let scene = Scene::new(geometries, &model, &[]).map_err(|e| e.to_string())?;
    let mut system = System::new(model);
    system.solver = solver;
    Simulation::new(system, Collisions::new(scene, 1e-4), Integrator::Fixed { step: STEP }, state)
        .map_err(|e| e.to_string())
}

fn contacts(_: &BenchOptions, give: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let fail = |reason: String| BenchError { bench: CONTACTS.name, reason };
    for count in PILES {
        for (name, solver) in solvers() {
            let mut simulation = piles(count, solver).map_err(fail)?;
            let step = |simulation: &mut Simulation<Collisions>| {
                let time = simulation.state().time + STEP;
                simulation.advance_to(time).map_err(|e| fail(e.to_string()))
            };
            // Past the first impacts.
            for _ in 0..50 {
                step(&mut simulation)?;
            }
            let (mut times, mut contacts) = (Vec::new(), 0);
            let clock = Instant::now();
            while times.len() < 10 || (clock.elapsed().as_secs_f64() < 0.5 && times.len() < 400) {
                let start = Instant::now();
                contacts += step(&mut simulation)?.solver.contacts;
                times.push(1e3 * start.elapsed().as_secs_f64());
            }
            let mean = contacts as f64 / times.len() as f64;
            let sample = Sample {
                machine: &Machine::processor(),
                part: CONTACTS.name,
                case: format!("{name}, {count} piles"),
                threads: 1,
                precision: "f64",
                unit: "ms/step",
            };
            give(sample.row(times, json!({ "contacts_mean": mean, "step_s": STEP })));
        }
    }
    Ok(())
}

fn pile(_: &BenchOptions, give: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let fail = |reason: String| BenchError { bench: PILE.name, reason };
    let per_step = |stiffness, damping| ComFreeGains::PerStep { stiffness, damping };
    let published = [(0.1, 0.001), (0.1, 0.005), (0.3, 0.001), (0.3, 0.005), (0.5, 0.001), (0.5, 0.005)];
    let mut cases: Vec<_> =
        published.iter().map(|(k, d)| (format!("published {k} {d}"), Some(per_step(*k, *d)))).collect();
    cases.extend([("predicted".to_owned(), None), ("icf".to_owned(), None)]);
    for (case, gains) in cases {
        let mut scene = shipped(PILE.name, "primitive-pile")?;
        if let Some(gains) = gains {
            let comfree = &mut scene.rigid.comfree;
            (comfree.form, comfree.gains, comfree.facets) = (ComFreeForm::Published, gains, 4);
        }
        if case == "icf" {
            scene.rigid_solver = Chosen::Icf;
        }
        let mut prepared = prepare(&scene).map_err(|e| fail(e.to_string()))?;
        let clock = Instant::now();
        let mut contacts = 0;
        for _ in 0..1000 {
            contacts += prepared.world.step().map_err(|e| fail(e.to_string()))?.rigid.solver.contacts;
        }
        let wall = clock.elapsed().as_secs_f64();
        let simulation = prepared.world.bodies().simulation();
        let depths = simulation.contact_forces().map(|c| -1e3 * c.touch.distance);
        let depths: Vec<f64> = depths.filter(|d| *d > 0.0).collect();
        let n = depths.len() as f64;
        let mean = depths.iter().sum::<f64>() / n;
        let deviation = (depths.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n).sqrt();
        let deepest = depths.iter().fold(0.0_f64, |a, d| a.max(*d));
        let machine = &Machine::processor();
        let (part, threads, precision, unit) = (PILE.name, 1, "f64", "mm");
        let details = json!({
            "deviation_mm": deviation,
            "deepest_mm": deepest,
            "overlapping": depths.len(),
            "contacts_mean": contacts as f64 / 1000.0,
            "ms_per_step": wall,
        });
        give(Sample { machine, part, case, threads, precision, unit }.row(vec![mean], details));
    }
    Ok(())
}
