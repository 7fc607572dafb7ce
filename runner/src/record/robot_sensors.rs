//! `robot_sensors.csv`: readings of the sensors of robots at every frame.

use std::collections::BTreeMap;
use std::path::Path;

use pliant_coupling::World;
use pliant_io::digest::{DigestError, FileDigest};
use pliant_io::files::IoError;
use pliant_rigid::{Sensor, SensorReader};

use super::table::{Opening, Table, quoted};

/// Name of the table with one row per frame and one column per component of a sensor.
pub const ROBOT_SENSORS: &str = "robot_sensors.csv";

/// Whether a world has robots with sensors.
pub fn any(world: &World) -> bool {
    !world.bodies().sensors().is_empty()
}

/// Names of a sensor's columns.
fn columns(sensor: &Sensor) -> impl Iterator<Item = String> + '_ {
    sensor.quantity.row().components.iter().map(|component| match *component {
        "" => quoted(&sensor.name),
        component => quoted(&format!("{}_{component}", sensor.name)),
    })
}

/// The table of a run.
pub struct RobotSensorTable {
    table: Table,
    reader: SensorReader,
}

impl RobotSensorTable {
    /// Begins or continues the table; none for a world without sensors of robots.
    pub fn open(directory: &Path, opening: Opening, world: &World) -> Result<Option<Self>, DigestError> {
        if !any(world) {
            return Ok(None);
        }
        let names = world.bodies().sensors().iter().flat_map(columns);
        let header: Vec<String> = core::iter::once("time".to_owned()).chain(names).collect();
        let table = opening.table(directory, ROBOT_SENSORS, &header.join(","))?;
        Ok(Some(Self { table, reader: SensorReader::default() }))
    }

    /// The row of a frame: what depends on the state at its time, the rest over the last step of the
    /// rigid bodies.
    pub fn frame(&mut self, world: &World) -> Result<(), IoError> {
        let Self { table, reader } = self;
        let bodies = world.bodies();
        reader.update(bodies, bodies.sensors());
        let mut line = format!("{:?}", world.time());
        for sensor in bodies.sensors() {
            match reader.read(bodies, sensor) {
                Some(reading) => reading.values().iter().for_each(|value| line += &format!(",{value:?}")),
                None => sensor.quantity.row().components.iter().for_each(|_| line.push(',')),
            }
        }
        table.line(&line)
    }

    /// Writes every row to disk, and the table's length and digest into `files`.
    pub fn sync(&mut self, files: &mut BTreeMap<String, FileDigest>) -> Result<(), IoError> {
        self.table.sync(files)
    }
}
