//! Mocap bodies of a robot: those that the user moves.

use nalgebra::Isometry3;

use crate::bodies::Bodies;
use crate::robot::{RobotError, RobotHandle, find};

impl RobotHandle {
    /// Names of the mocap bodies, in the order of the file.
    pub fn mocaps(&self) -> impl Iterator<Item = &str> {
        self.parts.names.mocaps.iter().map(|mocap| &mocap.name[..])
    }

    /// Moves a mocap body to a pose in the world within a time \[s\]; with the length of the coming
    /// step it is there at its end. It moves at the constant linear and angular velocity that takes
    /// it there, so that contacts and constraints feel that velocity, and rests afterwards until it
    /// is moved again. A jump of its velocity does work on what it carries, which is counted with
    /// that of the prescribed bodies.
    ///
    /// # Errors
    /// An unknown name, a pose that is not finite, a time that is not finite and positive. Nothing
    /// is changed then.
    pub fn set_mocap(
        &self,
        bodies: &mut Bodies,
        name: &str,
        pose: &Isometry3<f64>,
        within: f64,
    ) -> Result<(), RobotError> {
        let at = find(self.name(), "mocap body", name, self.mocaps())?;
        let link = self.parts.place.link(self.parts.names.mocaps[at].link);
        bodies.move_link(link, pose, within).map_err(|error| RobotError::Mocap {
            robot: self.name().to_owned(),
            name: name.to_owned(),
            reason: error.to_string(),
        })
    }
}
