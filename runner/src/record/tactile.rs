//! `sensors.csv` and `tactile/NAME.csv`: readings of the tactile pads, mean over each frame.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use pliant_coupling::{TactilePad, World};
use serde::{Deserialize, Serialize};

use super::table::{Opening, Table, quoted};
use pliant_io::digest::{DigestError, FileDigest};
use pliant_io::files::IoError;

/// Name of the table with one row per frame and sensor.
pub const SENSORS: &str = "sensors.csv";

/// Folder of the pads' tables and pictures.
pub const TACTILE: &str = "tactile";

const SENSORS_HEADER: &str = "time,sensor,fx,fy,fz,cx,cy,max_pressure";

const PAD_HEADER: &str = "time,i,j,x,y,pressure,shear_x,shear_y";

/// The table of a pad, as a path in the run directory.
fn pad_name(name: &str) -> String {
    format!("{TACTILE}/{name}.csv")
}

/// The table of a pad in a run directory.
pub fn pad_path(directory: &Path, name: &str) -> PathBuf {
    directory.join(pad_name(name))
}

/// Sums of a pad since the last frame, in the pad's frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TactileSum {
    /// Impulse in each bin \[N s\].
    bins: Vec<Vector3<f64>>,
    /// Impulse on the pad \[N s\].
    impulse: Vector3<f64>,
    /// Moment of the normal impulse \[N m s\].
    moment: [f64; 2],
}

/// The tables of the tactile pads of a run.
pub struct TactileTables {
    table: Table,
    pads: Vec<Table>,
    sums: Vec<TactileSum>,
}

impl TactileTables {
    /// Begins or continues the tables; none for a world without pads.
    pub fn open(directory: &Path, opening: Opening, world: &World) -> Result<Option<Self>, DigestError> {
        let pads = world.tactile_pads();
        if pads.is_empty() {
            return Ok(None);
        }
        if matches!(opening, Opening::New) {
            let folder = directory.join(TACTILE);
            fs::create_dir(&folder).map_err(|e| IoError::file("create", &folder, e))?;
        }
        let table = |pad: &TactilePad| opening.table(directory, &pad_name(&pad.name), PAD_HEADER);
        Ok(Some(Self {
            table: opening.table(directory, SENSORS, SENSORS_HEADER)?,
            pads: pads.iter().map(table).collect::<Result<_, _>>()?,
            sums: pads.iter().map(nothing).collect(),
        }))
    }

    /// Continues the sums of a checkpoint.
    pub fn restore(&mut self, sums: Vec<TactileSum>) {
        self.sums = sums;
    }

    /// Counts a step of `dt` \[s\].
    pub fn step(&mut self, world: &World, dt: f64) {
        for (number, sum) in self.sums.iter_mut().enumerate() {
            let reading = world.tactile(number);
            for (bin, force) in sum.bins.iter_mut().zip(&reading.forces) {
                *bin += force * dt;
            }
            sum.impulse += reading.force * dt;
            for (total, moment) in sum.moment.iter_mut().zip(reading.moment) {
                *total += moment * dt;
            }
        }
    }

    /// Writes the rows of a frame: means over the `interval` \[s\] since the last one.
    pub fn frame(&mut self, world: &World, interval: f64) -> Result<(), IoError> {
        let rate = if interval > 0.0 { 1.0 / interval } else { 0.0 };
        let time = world.time();
        for ((pad, sum), table) in world.tactile_pads().iter().zip(&mut self.sums).zip(&mut self.pads) {
            let traction = rate / pad.bin_area();
            let mut most = 0.0_f64;
            for (at, bin) in sum.bins.iter().enumerate() {
                let (i, j) = (at % pad.bins[0], at / pad.bins[0]);
                let [x, y] = pad.bin_center(i, j);
                // Zero without a sign where there is no contact.
                let [shear_x, shear_y, pressure] = [bin.x, bin.y, -bin.z].map(|f| f * traction + 0.0);
                most = most.max(pressure);
                table.line(&format!("{time:?},{i},{j},{x:?},{y:?},{pressure:?},{shear_x:?},{shear_y:?}"))?;
            }
            let force = sum.impulse * rate;
            let [cx, cy] = sum.moment.map(|m| -m / sum.impulse.z);
            self.table.line(&format!(
                "{time:?},{},{:?},{:?},{:?},{cx:?},{cy:?},{most:?}",
                quoted(&pad.name),
                force.x,
                force.y,
                force.z
            ))?;
            *sum = nothing(pad);
        }
        Ok(())
    }

    /// Writes every row to disk, and the tables' lengths and digests into `files`; returns the sums
    /// since the last frame.
    pub fn sync(&mut self, files: &mut BTreeMap<String, FileDigest>) -> Result<Vec<TactileSum>, IoError> {
        self.table.sync(files)?;
        self.pads.iter_mut().try_for_each(|pad| pad.sync(files))?;
        Ok(self.sums.clone())
    }
}

fn nothing(pad: &TactilePad) -> TactileSum {
    TactileSum { bins: vec![Vector3::zeros(); pad.bins[0] * pad.bins[1]], ..TactileSum::default() }
}

/// Reading of a pad in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PadFrame {
    /// End of the frame \[s\].
    pub time: f64,
    /// Mean pressure in each bin \[Pa\]; bin (i, j) is number `i + bins[0] * j`.
    pub pressure: Vec<f64>,
}

/// Reads `tactile/NAME.csv` of a run directory, of a pad of `bins` bins.
///
/// # Errors
/// The file is missing or a row is malformed.
pub fn read_pad(directory: &Path, name: &str, bins: usize) -> Result<Vec<PadFrame>, IoError> {
    let path = pad_path(directory, name);
    let text = fs::read_to_string(&path).map_err(|e| IoError::file("read", &path, e))?;
    let mut frames: Vec<PadFrame> = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1) {
        let malformed =
            || IoError::Malformed { path: path.clone(), reason: format!("line {}: '{line}'", at + 1) };
        let mut fields = line.split(',').map(str::parse::<f64>);
        let mut field = |n: usize| fields.nth(n).and_then(Result::ok).ok_or_else(malformed);
        let (time, pressure) = (field(0)?, field(4)?);
        match frames.last_mut() {
            Some(frame) if frame.pressure.len() < bins => frame.pressure.push(pressure),
            _ => frames.push(PadFrame { time, pressure: vec![pressure] }),
        }
    }
    Ok(frames)
}
