//! Builds a simulation at time 0 from the collected bodies.

use nalgebra::{DMatrix, DVector, Vector3};

use super::builder::{BodiesBuilder, InitialMotion, RigidSettings};
use super::{Bodies, Body};
use crate::collision::{CollisionGeometry, CollisionModel, ContactMaterial, PairMaterial};
use crate::error::RigidError;
use crate::multibody::{ForceVector, Kinematics, LinkId, Model, ModelBuilder, MotionVector, State};
use crate::simulation::{BodyOrigin, Collisions, Integrator, LineForce, Simulation, System};

impl BodiesBuilder {
    /// Builds the bodies under `gravity` (m/s^2, world frame), for steps of at most `max_step`
    /// \[s\] if the settings have no integrator.
    ///
    /// # Errors
    /// An invalid mechanism, motor, constraint or shape; settings out of range.
    pub fn build(
        self,
        gravity: Vector3<f64>,
        max_step: f64,
        settings: &RigidSettings,
    ) -> Result<Bodies, RigidError> {
        let Self {
            bodies,
            links,
            starts,
            files,
            excluded,
            pairs,
            actuators,
            equalities,
            tendons,
            drives,
            sites,
            sensors,
            externals,
            ..
        } = self;
        let tolerance = settings.stiction_tolerance;
        if !(tolerance.is_finite() && tolerance > 0.0) {
            let field = "stiction tolerance";
            return Err(RigidError::Setting { field, value: tolerance, unit: "m/s" });
        }
        let mut model = ModelBuilder::new(gravity);
        // Bodies that were described one by one were checked when they were added; mechanisms say
        // themselves what they accept.
        model.accept_any_moments();
        for link in links {
            model.add(link)?;
        }
        let model = model.build()?;
        let state = initial_state(&model, &bodies, &starts);
        let scene = CollisionModel::new(collision_geometries(&bodies, &files)?, &model, &excluded)?;
        let mut first = vec![0];
        first.extend(bodies.iter().scan(0, |sum, body| {
            *sum += body.geometries.len();
            Some(*sum)
        }));
        let own = |(places, contact): &([[usize; 2]; 2], ContactMaterial)| PairMaterial {
            geometries: places.map(|[body, geometry]| first[body] + geometry),
            contact: *contact,
        };
        let scene = scene.with_pairs(&pairs.iter().map(own).collect::<Vec<_>>())?;
        let mut system = System::new(model);
        system.applied = vec![ForceVector::zero(); system.model.links().len()];
        system.line_forces.resize(system.applied.len(), LineForce::zero());
        system.actuators = actuators;
        system.equalities = equalities;
        (system.tendons, system.drives) = (tendons, drives);
        for make in externals {
            let external = make(&system.model)?;
            system.externals.push(external);
        }
        system.refresh_friction = settings.refresh_friction;
        system.solver = settings.solver;
        let mut kinematics = Kinematics::new(&system.model);
        kinematics.update(&system.model, &state);
        let integrator = settings.integrator.unwrap_or(Integrator::Fixed { step: max_step });
        let mut simulation = Simulation::new(system, Collisions::new(scene, tolerance), integrator, state)?;
        let origin = |body: &Body| BodyOrigin { link: body.link, point: body.frame.translation.vector };
        let geometries =
            bodies.iter().zip(0_u32..).flat_map(|(body, b)| body.geometries.iter().map(move |_| b));
        simulation.measure_contacts(bodies.iter().map(origin).collect(), geometries.collect());
        Ok(Bodies {
            bodies,
            sites,
            sensors,
            simulation,
            kinematics,
            prepared: None,
            references: Vec::new(),
            surface_changes: 0,
        })
    }
}

/// The geometries of all bodies on their links. Groups and masks of a file apply within it; its
/// geometries may touch all others. Each file therefore gets its own bits, after those of the
/// bodies that were added one by one.
fn collision_geometries(bodies: &[Body], files: &[u32]) -> Result<Vec<CollisionGeometry>, RigidError> {
    let width = |file: u32| {
        let of_file = bodies.iter().zip(files).filter(|(_, f)| **f == file);
        let groups = of_file.flat_map(|(b, _)| &b.geometries).fold(0, |all, g| all | g.group);
        u32::BITS - u32::leading_zeros(groups)
    };
    let count = files.iter().max().map_or(0, |f| f + 1);
    let mut shifts = Vec::with_capacity(count as usize);
    let mut used = 0;
    for file in 0..count {
        shifts.push(used);
        used += width(file);
    }
    if used > u32::BITS {
        return Err(RigidError::Groups { needed: used });
    }
    let mut all = Vec::new();
    for (body, &file) in bodies.iter().zip(files) {
        let shift = shifts[file as usize];
        let window = ((1_u64 << width(file)) - 1) as u32;
        for (k, g) in body.geometries.iter().enumerate() {
            // A geometry that touches nothing in its own file touches no others.
            let candidates = g.group != 0 && g.mask != 0;
            let (group, mask) = if candidates {
                let own = window.checked_shl(shift).unwrap_or(0);
                (g.group << shift, ((g.mask & window) << shift) | !own)
            } else {
                (0, 0)
            };
            all.push(CollisionGeometry {
                name: format!("{}[{k}]", body.name),
                link: body.link,
                pose: body.frame * g.pose,
                shape: g.shape.clone(),
                material: g.material,
                group,
                mask,
                color: g.color,
            });
        }
    }
    Ok(all)
}

/// Initial state of the joints. A jointed body keeps the momentum of its given velocity along its
/// joint, whatever its parent does. A body with only an angular velocity, on a joint that turns
/// about a point, rotates about that point, and its centre of mass moves accordingly.
fn initial_state(model: &Model, bodies: &[Body], starts: &[InitialMotion]) -> State {
    let mut state = model.zero_configuration();
    for (l, start) in starts.iter().enumerate() {
        if let InitialMotion::Joint(q, v) = start {
            state.q[model.positions_of(LinkId(l))].copy_from_slice(q);
            state.v[model.velocities_of(LinkId(l))].copy_from_slice(v);
        }
    }
    let mut kinematics = Kinematics::new(model);
    for (l, start) in starts.iter().enumerate() {
        let InitialMotion::Moving(velocity) = start else { continue };
        let link = LinkId(l);
        let dofs = model.velocities_of(link);
        let Some(body) = bodies.iter().find(|body| body.link == Some(link)) else { continue };
        if dofs.is_empty() {
            continue;
        }
        kinematics.update(model, &state);
        // With its joint at rest the link moves with its parent.
        let carried = *kinematics.velocity(link);
        let lever = kinematics.pose(link).rotation * body.frame.translation.vector;
        let wanted = MotionVector::new(velocity.angular, velocity.linear).shifted(&-lever);
        let missing = wanted - carried;
        if missing == MotionVector::zero() {
            continue;
        }
        let axes = &kinematics.axes()[dofs.clone()];
        let n = axes.len();
        let about_a_point = axes.iter().all(|axis| axis.linear == Vector3::zeros());
        if about_a_point && velocity.linear == Vector3::zeros() {
            // The nearest angular velocity that the joint has.
            let turn = DMatrix::from_fn(n, n, |i, j| axes[i].angular.dot(&axes[j].angular));
            let wanted = DVector::from_fn(n, |i, _| axes[i].angular.dot(&missing.angular));
            if let Some(rates) = turn.lu().solve(&wanted) {
                state.v[dofs].copy_from_slice(rates.as_slice());
            }
            continue;
        }
        let inertia = model.links()[l].inertia.rotated(kinematics.pose(link));
        let felt = DMatrix::from_fn(n, n, |i, j| axes[i].dot(&inertia.momentum(&axes[j])));
        let gained = DVector::from_fn(n, |i, _| axes[i].dot(&inertia.momentum(&missing)));
        if let Some(rates) = felt.lu().solve(&gained) {
            state.v[dofs].copy_from_slice(rates.as_slice());
        }
    }
    state
}
