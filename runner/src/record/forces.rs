//! `forces.csv`: forces of particles and of other bodies on the bodies listed in the scene, at every
//! step.

use std::collections::BTreeMap;
use std::path::Path;

use nalgebra::{Translation3, Vector3};
use pliant_coupling::World;
use pliant_rigid::{BodyId, SpatialImpulse};

use super::csv_table;
use super::table::{Opening, Table, quoted};
use super::wrench::{Wrench, WrenchColumns, wrench_cells};
use pliant_io::digest::{DigestError, FileDigest};
use pliant_io::files::IoError;
use pliant_scenes::format::{Output, Scene};

/// Name of the table with one row per step and body.
pub const FORCES: &str = "forces.csv";

const HEADER: &str = "time,body,fx,fy,fz,tx,ty,tz,\
    contact_fx,contact_fy,contact_fz,contact_tx,contact_ty,contact_tz";

/// The table of a run.
pub struct ForceTable {
    table: Table,
    bodies: Vec<BodyId>,
}

impl ForceTable {
    /// Begins or continues the table; none if the scene lists no forces.
    pub fn open(
        directory: &Path,
        opening: Opening,
        scene: &Scene,
        world: &World,
    ) -> Result<Option<Self>, DigestError> {
        // A name that a robot's file does not have gets no rows.
        let names = force_bodies(&scene.output);
        let bodies: Vec<_> = names.into_iter().filter_map(|name| world.bodies().find(name)).collect();
        if bodies.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { table: opening.table(directory, FORCES, HEADER)?, bodies }))
    }

    /// The rows of a step: means over it. `centers` are the centres of mass in the frames that the
    /// scene gives the bodies \[m\].
    pub fn step(&mut self, world: &World, centers: &[Vector3<f64>]) -> Result<(), IoError> {
        let (time, dt) = (world.time(), world.settings().dt);
        for &id in &self.bodies {
            let center = Translation3::from(centers[id.0]);
            let pose = world.bodies().pose(id);
            let arm = (pose * center.inverse()).translation.vector - pose.translation.vector;
            let mean = |sums: &[SpatialImpulse]| {
                let SpatialImpulse { linear, angular } = sums[id.0];
                wrench_cells(Some(Wrench { force: linear / dt, torque: angular / dt }.about(&arm)))
            };
            let name = quoted(&world.bodies().body(id).name);
            self.table.line(&format!(
                "{time:?},{name}{}{}",
                mean(world.body_impulses()),
                mean(world.contact_impulses())
            ))?;
        }
        Ok(())
    }

    /// Writes every row to disk, and the table's length and digest into `files`.
    pub fn sync(&mut self, files: &mut BTreeMap<String, FileDigest>) -> Result<(), IoError> {
        self.table.sync(files)
    }
}

/// The bodies whose forces a scene requests, in its order: those that it names and those in its
/// plots.
pub fn force_bodies(output: &Output) -> Vec<&str> {
    let curves = output.plots.iter().flat_map(|figure| &figure.panels).flat_map(|panel| &panel.curves);
    let mut names: Vec<&str> = Vec::new();
    for name in output.forces.iter().map(String::as_str).chain(curves.map(|curve| curve.body.as_str())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A row of `forces.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceRow {
    /// End of the step \[s\].
    pub time: f64,
    /// Name of the body.
    pub body: String,
    /// Force from the particles, mean over the step, world frame \[N\].
    pub force: Vector3<f64>,
    /// Torque from the particles about the body's origin, mean over the step, world frame \[N m\].
    pub torque: Vector3<f64>,
    /// Wrench of contact with other bodies, likewise; none if the table is of a version that did
    /// not measure it.
    pub contacts: Option<Wrench>,
}

/// Reads `forces.csv` of a run directory.
///
/// # Errors
/// The file is missing or a row is malformed.
pub fn read_forces(directory: &Path) -> Result<Vec<ForceRow>, IoError> {
    let table = csv_table::read(directory, FORCES)?;
    let [time, body] = table.columns(["time", "body"])?;
    let particles = WrenchColumns::of(&table, ["fx", "fy", "fz", "tx", "ty", "tz"])?;
    let contacts = WrenchColumns::contact(&table)?;
    let row = |row: csv_table::CsvRow| {
        let Wrench { force, torque } = particles.read(&row)?;
        Ok(ForceRow {
            time: row.value(time)?,
            body: row.text(body).to_owned(),
            force,
            torque,
            contacts: contacts.map(|columns| columns.read_measured(&row)).transpose()?.flatten(),
        })
    };
    table.rows().map(row).collect()
}
