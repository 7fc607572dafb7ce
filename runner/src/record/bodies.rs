//! `bodies.csv`: pose, velocity and forces of every body at every frame.

use std::path::Path;

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::World;
use pliant_io::digest::DigestError;
use pliant_io::files::IoError;
use pliant_rigid::SpatialImpulse;
use serde::{Deserialize, Serialize};

use super::csv_table::{self, CsvTable};
use super::table::{Opening, Table, quoted};
use super::wrench::{Wrench, WrenchColumns, wrench_cells};

/// Name of the table with one row per frame and body.
pub const BODIES: &str = "bodies.csv";

const HEADER: &str = "time,body,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz,\
    contact_fx,contact_fy,contact_fz,contact_tx,contact_ty,contact_tz";

/// The table in a run directory.
pub fn open(directory: &Path, opening: Opening) -> Result<Table, DigestError> {
    opening.table(directory, BODIES, HEADER)
}

/// Impulses on the bodies since the last frame, each about its body's moving centre of mass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodySums {
    /// Of the particles.
    particles: Vec<SpatialImpulse>,
    /// Of contact between bodies.
    contacts: Vec<SpatialImpulse>,
}

impl BodySums {
    /// Zero for this number of bodies.
    pub fn new(bodies: usize) -> Self {
        let zero = vec![SpatialImpulse::zero(); bodies];
        Self { particles: zero.clone(), contacts: zero }
    }

    /// Adds a step.
    pub fn step(&mut self, world: &World) {
        let sums = [&mut self.particles, &mut self.contacts];
        for (sums, step) in sums.into_iter().zip([world.body_impulses(), world.contact_impulses()]) {
            for (sum, impulse) in sums.iter_mut().zip(step) {
                sum.angular += impulse.angular;
                sum.linear += impulse.linear;
            }
        }
    }

    /// Begins the next frame.
    pub fn clear(&mut self) {
        self.particles.fill(SpatialImpulse::zero());
        self.contacts.fill(SpatialImpulse::zero());
    }
}

/// The rows of a frame, with the sums of the `interval` \[s\] since the last one; `centers` are the
/// centres of mass in the frames that the scene gives the bodies \[m\].
pub fn frame(
    table: &mut Table,
    world: &World,
    centers: &[Vector3<f64>],
    sums: &BodySums,
    interval: f64,
) -> Result<(), IoError> {
    let (time, bodies) = (world.time(), world.bodies());
    let impulses = sums.particles.iter().zip(&sums.contacts);
    for (((id, body), center), (particles, contacts)) in bodies.iter().zip(centers).zip(impulses) {
        let pose = bodies.pose(id) * Translation3::from(-center);
        let velocity = bodies.velocity(id);
        // From the centre of mass to the origin of the scene's frame.
        let arm = pose.translation.vector - bodies.pose(id).translation.vector;
        let v = velocity.linear + velocity.angular.cross(&arm);
        let w = velocity.angular;
        // There is no mean over no time.
        let rate = (interval > 0.0).then(|| 1.0 / interval);
        let mean = |sum: &SpatialImpulse| {
            let wrench = |rate| Wrench { force: sum.linear * rate, torque: sum.angular * rate }.about(&arm);
            wrench_cells(rate.map(wrench))
        };
        let (p, q) = (pose.translation.vector, pose.rotation);
        let name = quoted(&body.name);
        table.line(&format!(
            "{time:?},{name},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?}{}{}",
            p.x,
            p.y,
            p.z,
            q.w,
            q.i,
            q.j,
            q.k,
            v.x,
            v.y,
            v.z,
            w.x,
            w.y,
            w.z,
            mean(particles),
            mean(contacts)
        ))?;
    }
    Ok(())
}

/// A row of `bodies.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyRow {
    /// Time \[s\].
    pub time: f64,
    /// Name of the body.
    pub body: String,
    /// Pose of the frame that the scene gives the body, in the world.
    pub pose: Isometry3<f64>,
    /// Wrench of the particles about the body's origin, mean over the frame, world frame; none at
    /// the start.
    pub particles: Option<Wrench>,
    /// Wrench of contact with other bodies, likewise; none too if the table is of a version that
    /// did not measure it.
    pub contacts: Option<Wrench>,
}

/// Reads `bodies.csv` of a run directory with `bodies` bodies: the rows of each frame, in the order
/// of the bodies.
///
/// # Errors
/// The file is missing or a row is malformed.
pub fn read_bodies(directory: &Path, bodies: usize) -> Result<Vec<Vec<BodyRow>>, IoError> {
    rows(&csv_table::read(directory, BODIES)?, bodies)
}

/// The same of a run that goes on: its whole lines. The last frame may lack bodies.
///
/// # Errors
/// As [`read_bodies`].
pub fn read_bodies_so_far(directory: &Path, bodies: usize) -> Result<Vec<Vec<BodyRow>>, IoError> {
    rows(&CsvTable::read_so_far(directory.join(BODIES))?, bodies)
}

fn rows(table: &CsvTable, bodies: usize) -> Result<Vec<Vec<BodyRow>>, IoError> {
    let [time, body] = table.columns(["time", "body"])?;
    let place = table.columns(["px", "py", "pz"])?;
    let turn = table.columns(["qw", "qx", "qy", "qz"])?;
    let particles = WrenchColumns::of(table, ["fx", "fy", "fz", "tx", "ty", "tz"])?;
    let contacts = WrenchColumns::contact(table)?;
    let mut frames: Vec<Vec<BodyRow>> = Vec::new();
    for row in table.rows() {
        let [w, i, j, k] = turn;
        let turn = Quaternion::new(row.value(w)?, row.value(i)?, row.value(j)?, row.value(k)?);
        let row = BodyRow {
            time: row.value(time)?,
            body: row.text(body).to_owned(),
            pose: Isometry3::from_parts(row.vector(place)?.into(), UnitQuaternion::from_quaternion(turn)),
            particles: particles.read_measured(&row)?,
            contacts: contacts.map(|columns| columns.read_measured(&row)).transpose()?.flatten(),
        };
        match frames.last_mut() {
            Some(frame) if frame.len() < bodies => frame.push(row),
            _ => frames.push(vec![row]),
        }
    }
    Ok(frames)
}
