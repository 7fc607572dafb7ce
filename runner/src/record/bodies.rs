//! `bodies.csv`: pose, velocity and forces of every body at every frame.

use std::path::Path;

use nalgebra::{Isometry3, Translation3, Vector3};
use pliant_io::digest::DigestError;
use pliant_io::files::IoError;
use pliant_rigid::{Bodies, SpatialImpulse};

use super::table::{Opening, Table, quoted};

/// Name of the table with one row per frame and body.
pub const BODIES: &str = "bodies.csv";

const HEADER: &str = "time,body,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz";

/// The table in a run directory.
pub fn open(directory: &Path, opening: Opening) -> Result<Table, DigestError> {
    opening.table(directory, BODIES, HEADER)
}

/// The rows of a frame.
///
/// `impulses` are those of the particles on each body since the last frame, about the body's
/// centre of mass, over `interval` \[s\]; `centers` are the centres in the frames that the
/// scene gives the bodies \[m\].
pub fn frame(
    table: &mut Table,
    time: f64,
    bodies: &Bodies,
    centers: &[Vector3<f64>],
    impulses: &[SpatialImpulse],
    interval: f64,
) -> Result<(), IoError> {
    for (((id, body), center), impulse) in bodies.iter().zip(centers).zip(impulses) {
        let pose = bodies.pose(id) * Translation3::from(-center);
        let velocity = bodies.velocity(id);
        // From the centre of mass to the origin of the scene's frame.
        let arm = pose.translation.vector - bodies.pose(id).translation.vector;
        let v = velocity.linear + velocity.angular.cross(&arm);
        let w = velocity.angular;
        let rate = if interval > 0.0 { 1.0 / interval } else { 0.0 };
        let f = impulse.linear * rate;
        let t = impulse.angular * rate - arm.cross(&f);
        let (p, q) = (pose.translation.vector, pose.rotation);
        let name = quoted(&body.name);
        table.line(&format!(
            "{time:?},{name},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?}",
            p.x, p.y, p.z, q.w, q.i, q.j, q.k, v.x, v.y, v.z, w.x, w.y, w.z, f.x, f.y, f.z, t.x, t.y, t.z
        ))?;
    }
    Ok(())
}

/// A row of `bodies.csv`.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyRow {
    /// Time \[s\].
    pub time: f64,
    /// Pose of the frame that the scene gives the body, in the world.
    pub pose: Isometry3<f64>,
    /// Force from the particles, mean over the frame, world frame \[N\].
    pub force: Vector3<f64>,
    /// Torque from the particles about the body's origin, mean over the frame, world frame \[N m\].
    pub torque: Vector3<f64>,
}

/// Reads `bodies.csv` of a run directory with `bodies` bodies: the rows of each frame, in the order
/// of the bodies.
///
/// # Errors
/// The file is missing or a row is malformed.
pub fn read_bodies(directory: &Path, bodies: usize) -> Result<Vec<Vec<BodyRow>>, IoError> {
    let path = directory.join(BODIES);
    let text = std::fs::read_to_string(&path).map_err(|e| IoError::file("read", &path, e))?;
    let mut frames: Vec<Vec<BodyRow>> = Vec::new();
    // A quoted name may hold commas, so that the numbers are counted from the end of the row.
    for (at, line) in text.lines().enumerate().skip(1) {
        let malformed =
            || IoError::Malformed { path: path.clone(), reason: format!("line {}: '{line}'", at + 1) };
        let time = line.split(',').next().and_then(|t| t.parse().ok()).ok_or_else(malformed)?;
        let mut numbers = [0.0; 19];
        let mut fields = line.rsplit(',');
        for number in numbers.iter_mut().rev() {
            *number = fields.next().and_then(|field| field.parse().ok()).ok_or_else(malformed)?;
        }
        let vector = |from: usize| Vector3::new(numbers[from], numbers[from + 1], numbers[from + 2]);
        let turn = nalgebra::Quaternion::new(numbers[3], numbers[4], numbers[5], numbers[6]);
        let pose = Isometry3::from_parts(
            Translation3::from(vector(0)),
            nalgebra::UnitQuaternion::from_quaternion(turn),
        );
        let row = BodyRow { time, pose, force: vector(13), torque: vector(16) };
        match frames.last_mut() {
            Some(frame) if frame.len() < bodies => frame.push(row),
            _ => frames.push(vec![row]),
        }
    }
    Ok(frames)
}
