//! Sensors of a robot, by name.

use crate::bodies::Bodies;
use crate::robot::{RobotError, RobotHandle, find};
use crate::sensor::{Reading, Sensor};
use crate::sensor_reader::SensorReader;

impl RobotHandle {
    /// Names of the sensors, in the order of the file.
    pub fn sensors(&self) -> impl Iterator<Item = &str> {
        self.parts.names.sensors.iter().map(|sensor| &sensor.name[..])
    }

    /// The sensor of a name, on the parts of the bodies, for a [`SensorReader`].
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn sensor_of<'a>(&self, bodies: &'a Bodies, name: &str) -> Result<&'a Sensor, RobotError> {
        let at = find(self.name(), "sensor", name, self.sensors())?;
        Ok(&bodies.sensors()[self.parts.place.first_sensor + at])
    }

    /// The reading of the sensor of a name, in the unit of its
    /// [`Quantity`](crate::Quantity); none if it was not measured: forces and accelerations before
    /// the first step. A touch sensor feels other bodies, not particles. It allocates; a
    /// [`SensorReader`] does not, and says what is measured when.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn sensor(&self, bodies: &Bodies, name: &str) -> Result<Option<Reading>, RobotError> {
        let sensor = self.sensor_of(bodies, name)?;
        let mut reader = SensorReader::default();
        reader.update(bodies, [sensor]);
        Ok(reader.read(bodies, sensor))
    }
}
