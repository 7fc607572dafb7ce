//! `diagnostics.csv` and `bodies.csv`.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use nalgebra::{Isometry3, Translation3, Vector3};
use pliant_coupling::{Diagnostics, StepReport};
use pliant_rigid::{Bodies, SpatialImpulse};

use super::energy;
use pliant_io::files::IoError;

/// Name of the table with one row per step.
pub const DIAGNOSTICS: &str = "diagnostics.csv";

/// Name of the table with one row per frame and body.
pub const BODIES: &str = "bodies.csv";

const DIAGNOSTICS_HEADER: &str = "time,substeps,mass,com_x,com_y,com_z,linear_momentum_x,linear_momentum_y,\
    linear_momentum_z,angular_momentum_x,angular_momentum_y,angular_momentum_z,kinetic_energy,elastic_energy,\
    gravitational_energy,dissipation,contacts,iterations,residual,rigid_steps,rigid_rejected,rigid_contacts,\
    rigid_solves,rigid_iterations,rigid_factorisations,rigid_refreshed,rigid_kinetic_energy,coupling_steps,\
    coupling_excess";

const BODIES_HEADER: &str = "time,body,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz";

/// A CSV file that grows by rows. Numbers have as many digits as they need to be read back exactly.
pub struct Table {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
}

impl Table {
    /// Begins the table with its header.
    pub(crate) fn create(path: PathBuf, header: &str) -> Result<Self, IoError> {
        let file = File::create_new(&path).map_err(|e| IoError::file("create", &path, e))?;
        let mut table = Self { path, file: BufWriter::new(file), bytes: 0 };
        table.line(header)?;
        Ok(table)
    }

    /// Opens the table to continue after its first `bytes` bytes; the rest is cut off.
    pub fn reopen(path: PathBuf, bytes: u64) -> Result<Self, IoError> {
        let open = || {
            let mut file = OpenOptions::new().read(true).write(true).open(&path)?;
            if file.metadata()?.len() < bytes {
                return Err(std::io::Error::new(
                    std::io::ErrorKind::UnexpectedEof,
                    "shorter than at the checkpoint",
                ));
            }
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|e| IoError::file("reopen", &path, e))?;
        Ok(Self { path, file: BufWriter::new(file), bytes })
    }

    /// `diagnostics.csv` in a run directory; with `cloth` it has one more column.
    pub fn diagnostics(directory: &Path, cloth: bool) -> Result<Self, IoError> {
        let column = if cloth { ",crossings" } else { "" };
        let header = format!("{DIAGNOSTICS_HEADER}{},wall_ms{column}", energy::columns());
        Self::create(directory.join(DIAGNOSTICS), &header)
    }

    /// `bodies.csv` in a run directory.
    pub fn bodies(directory: &Path) -> Result<Self, IoError> {
        Self::create(directory.join(BODIES), BODIES_HEADER)
    }

    pub(crate) fn line(&mut self, line: &str) -> Result<(), IoError> {
        self.bytes += line.len() as u64 + 1;
        writeln!(self.file, "{line}").map_err(|e| IoError::file("write", &self.path, e))
    }

    /// Writes every row to disk; returns the table's length \[bytes\].
    pub fn sync(&mut self) -> Result<u64, IoError> {
        let error = |e| IoError::file("write", &self.path, e);
        self.file.flush().map_err(error)?;
        self.file.get_ref().sync_all().map_err(error)?;
        Ok(self.bytes)
    }

    /// A row of `diagnostics.csv`; `wall_ms` is the step's wall time \[ms\], `rigid_energy` the
    /// bodies' kinetic energy \[J\], `crossings` those of cloth at the last frame, if there is
    /// cloth.
    pub fn step(
        &mut self,
        diagnostics: &Diagnostics,
        report: &StepReport,
        wall_ms: f64,
        rigid_energy: f64,
        crossings: Option<usize>,
    ) -> Result<(), IoError> {
        let d = diagnostics;
        let (rigid, solver) = (&report.rigid, &report.rigid.solver);
        let (p, l) = (d.linear_momentum, d.angular_momentum);
        // Without material there is no centre.
        let c = d.center_of_mass.map(|x| if d.mass > 0.0 { format!("{x:?}") } else { String::new() });
        let cloth = crossings.map(|count| format!(",{count}")).unwrap_or_default();
        self.line(&format!(
            "{:?},{},{:?},{},{},{},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{},{:?},{},{},{},{},{},{},{},{:?},{},{:?}{},{:.3}{cloth}",
            d.time,
            report.substeps,
            d.mass,
            c.x,
            c.y,
            c.z,
            p.x,
            p.y,
            p.z,
            l.x,
            l.y,
            l.z,
            d.kinetic_energy,
            d.elastic_energy,
            d.gravitational_energy,
            d.dissipation,
            report.contacts_mean,
            report.iterations,
            report.residual,
            rigid.steps,
            rigid.rejected,
            solver.contacts,
            solver.solves,
            solver.iterations,
            solver.factorisations,
            solver.refreshed,
            rigid_energy,
            report.coupling_steps,
            report.coupling_excess,
            energy::cells(&d.energy),
            wall_ms
        ))
    }

    /// The rows of `bodies.csv` at a frame.
    ///
    /// `impulses` are those of the particles on each body since the last frame, about the body's
    /// centre of mass, over `interval` \[s\]; `centers` are the centres in the frames that the
    /// scene gives the bodies \[m\].
    pub fn frame(
        &mut self,
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
            self.line(&format!(
                "{time:?},{name},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?}",
                p.x, p.y, p.z, q.w, q.i, q.j, q.k, v.x, v.y, v.z, w.x, w.y, w.z, f.x, f.y, f.z, t.x, t.y, t.z
            ))?;
        }
        Ok(())
    }
}

/// A name as a CSV field (RFC 4180).
pub(crate) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
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
