//! Setting the state of particles.
//!
//! Everything is checked before anything is changed.

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_coupling::ALLOWED_OVERLAP;
use pliant_mpm::{Mpm, ParticleRecord, ParticleState};
use pliant_scenes::Scenario;
use pyo3::prelude::*;

use crate::choice::{Rows, chosen, rows};
use crate::errors::{BackendError, OrRaise, StateError, ValueError, refused};
use crate::world::{Held, World};

/// What a caller gives, a row for each chosen particle; none is left as it is.
struct Given {
    positions: Option<Rows<3>>,
    velocities: Option<Rows<3>>,
    velocity_gradients: Option<Rows<9>>,
    deformation_gradients: Option<Rows<9>>,
    histories: Option<Rows<1>>,
}

impl Given {
    /// Whether the stress follows anew.
    fn strains(&self) -> bool {
        self.deformation_gradients.is_some() || self.histories.is_some()
    }

    /// The state of the particle of row `k`, which was `old`.
    fn state(&self, k: usize, old: &ParticleState) -> ParticleState {
        let mut new = *old;
        if let Some(rows) = &self.positions {
            new.position = Point3::from(rows[k]);
        }
        if let Some(rows) = &self.velocities {
            new.velocity = Vector3::from(rows[k]);
            // A gradient of the motion that was there would be none of the motion that is set.
            new.affine = Matrix3::zeros();
        }
        if let Some(rows) = &self.velocity_gradients {
            new.affine = Matrix3::from_row_slice(&rows[k]);
        }
        if let Some(rows) = &self.deformation_gradients {
            new.deformation_gradient = Matrix3::from_row_slice(&rows[k]);
        }
        if let Some(rows) = &self.histories {
            [new.state] = rows[k];
        }
        new
    }

    /// Moves what is given from one stored particle to another.
    fn put(&self, from: &ParticleRecord, to: &mut ParticleRecord) {
        if self.positions.is_some() {
            (to.block, to.position, to.position_low) = (from.block, from.position, from.position_low);
        }
        if self.velocities.is_some() {
            to.velocity = from.velocity;
        }
        if self.velocities.is_some() || self.velocity_gradients.is_some() {
            to.affine = from.affine;
        }
        if self.strains() {
            to.deformation_gradient = from.deformation_gradient;
            to.stress_volume = from.stress_volume;
            to.history = from.history;
        }
    }
}

#[pymethods]
impl World {
    /// See `_pliant.pyi`.
    #[pyo3(signature = (particles = None, *, positions = None, velocities = None,
                        velocity_gradients = None, deformation_gradients = None, histories = None))]
    fn set_particles(
        &self,
        py: Python<'_>,
        particles: Option<&Bound<'_, PyAny>>,
        positions: Option<&Bound<'_, PyAny>>,
        velocities: Option<&Bound<'_, PyAny>>,
        velocity_gradients: Option<&Bound<'_, PyAny>>,
        deformation_gradients: Option<&Bound<'_, PyAny>>,
        histories: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut held = self.lock()?;
        let chosen = chosen(particles, held.scenario.world.particle_count())?;
        let n = chosen.len();
        let given = Given {
            positions: rows("positions", "m", &[3], n, positions)?,
            velocities: rows("velocities", "m/s", &[3], n, velocities)?,
            velocity_gradients: rows("velocity_gradients", "1/s", &[3, 3], n, velocity_gradients)?,
            deformation_gradients: rows("deformation_gradients", "-", &[3, 3], n, deformation_gradients)?,
            histories: rows("histories", "-", &[], n, histories)?,
        };
        let (pool, inner) = (held.pool()?, &mut *held);
        py.detach(|| pool.install(|| set(inner, &chosen, &given)))
    }
}

/// Changes the chosen particles of a world, or nothing.
fn set(held: &mut Held, chosen: &[usize], given: &Given) -> PyResult<()> {
    let scenario = &mut held.scenario;
    scenario.world.refresh().or_raise::<BackendError>()?;
    if chosen.is_empty() {
        return Ok(());
    }
    let before = scenario.world.mpm();
    let old = before.particles();
    check_materials(before, chosen, &old)?;
    check_volumes(chosen, given)?;
    let new: Vec<ParticleState> =
        chosen.iter().enumerate().map(|(k, &id)| given.state(k, &old[id])).collect();
    if given.positions.is_some() {
        check_places(scenario, chosen, &old, &new)?;
    }
    let after = changed(before, chosen, given, new)?;
    held.state += 1;
    held.scenario.world.set_particles(&after).or_raise::<StateError>()
}

/// All particles, with the new states of those that are chosen.
fn changed(
    before: &Mpm,
    chosen: &[usize],
    given: &Given,
    mut new: Vec<ParticleState>,
) -> PyResult<Vec<ParticleRecord>> {
    // The chosen ones alone, as a model of their own: it checks, places, and computes stresses. Its
    // grid has its origin at the world's.
    let origin = before.grid_origin();
    new.iter_mut().for_each(|particle| particle.position -= origin);
    let (spacing, materials) = (before.grid_spacing(), before.materials().to_vec());
    let placed = Mpm::new(spacing, materials, &new, &[], before.level()).or_raise::<ValueError>()?;
    let mut row_of = vec![None; before.len()];
    for (k, &id) in chosen.iter().enumerate() {
        row_of[id] = Some(k);
    }
    let placed: Vec<ParticleRecord> = placed.stored_particles().collect();
    let mut from = vec![0; chosen.len()];
    placed.iter().enumerate().for_each(|(at, record)| from[record.id as usize] = at);
    // A block takes its particles in the order given. Those that move come after the others, by
    // cells; without a move the order stays.
    let moves = given.positions.is_some();
    let mut records = Vec::with_capacity(before.len());
    let mut moved: Vec<Option<ParticleRecord>> = vec![None; chosen.len()];
    for mut record in before.stored_particles() {
        let Some(k) = row_of[record.id as usize] else {
            records.push(record);
            continue;
        };
        given.put(&placed[from[k]], &mut record);
        if moves {
            moved[from[k]] = Some(record);
        } else {
            records.push(record);
        }
    }
    records.extend(moved.into_iter().flatten());
    Ok(records)
}

/// Refuses particles of cloth and ropes: their strain is in triangles and frames.
fn check_materials(mpm: &Mpm, chosen: &[usize], old: &[ParticleState]) -> PyResult<()> {
    match chosen.iter().find(|&&id| old[id].material >= mpm.materials().len()) {
        None => Ok(()),
        Some(id) => Err(refused(format!(
            "particles: {id} is of a cloth or rope, whose particles cannot be set; choose those of soft bodies"
        ))),
    }
}

/// Refuses matter that has no volume, or is turned inside out.
fn check_volumes(chosen: &[usize], given: &Given) -> PyResult<()> {
    let Some(rows) = &given.deformation_gradients else { return Ok(()) };
    for (k, row) in rows.iter().enumerate() {
        let volume = Matrix3::from_row_slice(row).determinant();
        if !(volume > 0.0 && volume.is_finite()) {
            return Err(refused(format!(
                "deformation_gradients[{k}]: its determinant is {volume}; it must be positive (particle {})",
                chosen[k]
            )));
        }
    }
    Ok(())
}

/// Refuses places behind a plane that bounds the grid, or in a body, deeper than the particle was
/// before. What the scene allows to overlap may be anywhere.
fn check_places(
    scenario: &Scenario,
    chosen: &[usize],
    old: &[ParticleState],
    new: &[ParticleState],
) -> PyResult<()> {
    let (scene, world) = (&scenario.scene, &scenario.world);
    let limit = ALLOWED_OVERLAP * world.mpm().grid_spacing();
    let allowed = |name: &str| {
        let of =
            |a: &String| name == a || name.strip_prefix(&a[..]).is_some_and(|rest| rest.starts_with('/'));
        scene.allow_overlap.iter().any(of)
    };
    let parts = scene.soft.iter().zip(&scenario.parts);
    let free: Vec<_> = parts.filter(|(spec, _)| allowed(&spec.name)).map(|(_, part)| part.clone()).collect();
    let checked = chosen.iter().enumerate().filter(|(_, id)| !free.iter().any(|part| part.contains(id)));
    let checked: Vec<(usize, usize)> = checked.map(|(k, id)| (k, *id)).collect();
    let tell = |where_: &str, depth: &dyn Fn(&Point3<f64>) -> f64| {
        for &(k, id) in &checked {
            let deep = depth(&new[k].position);
            if deep > limit && deep > depth(&old[id].position) {
                let [x, y, z]: [f64; 3] = new[k].position.coords.into();
                return Err(refused(format!(
                    "positions[{k}]: ({x}, {y}, {z}) m is {deep} m {where_} (particle {id})"
                )));
            }
        }
        Ok(())
    };
    for (at, plane) in world.settings().boundaries.iter().enumerate() {
        tell(&format!("behind the plane boundaries[{at}]"), &|x| -plane.normal.dot(&(x - plane.point)))?;
    }
    let bodies = world.bodies();
    for (id, body) in bodies.iter().filter(|(_, body)| !allowed(&body.name)) {
        for geometry in &body.geometries {
            let pose = bodies.pose(id) * geometry.pose;
            tell(&format!("inside of the body '{}'", body.name), &|x| {
                let local = pose.inverse_transform_point(x);
                match geometry.shape.lower_bound(&local) {
                    bound if bound > 0.0 => -bound,
                    _ => -geometry.shape.surface_point(&local).distance,
                }
            })?;
        }
    }
    Ok(())
}
