//! Errors of inverse kinematics.

use nalgebra::Point3;

/// Why no configuration was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InverseKinematicsError {
    /// A joint between base and tool does not have exactly one coordinate.
    #[error("the joint of '{link}' is {kind}; joints between base and tool must be revolute or prismatic")]
    Joint {
        /// The link whose joint it is.
        link: String,
        /// Kind of the joint.
        kind: &'static str,
    },
    /// No joint moves the tool.
    #[error("no joint moves link {tip} relative to the base")]
    NoJoints {
        /// The link that carries the tool.
        tip: usize,
    },
    /// A configuration whose number of coordinates is not that of the joints of the chain, or one
    /// that is not finite.
    #[error("{found} coordinates given; finite coordinates of {target} joints are needed")]
    Configuration {
        /// Number given.
        found: usize,
        /// Number of joints.
        target: usize,
    },
    /// No configuration within the limits puts the tool there.
    #[error(transparent)]
    Unreachable(#[from] Box<Unreachable>),
}

/// Residual of the best configuration found.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreachable {
    /// Target of the tool in the frame of the base \[m\].
    pub target: Point3<f64>,
    /// Remaining distance with the orientation taken into account \[m\].
    pub position_error: f64,
    /// Remaining angle \[rad\].
    pub orientation_error: f64,
    /// Smallest remaining distance in any orientation \[m\].
    pub distance: f64,
    /// Joints at a limit there: name of the link that it moves, and the limit \[rad, m\].
    pub at_limits: Vec<(String, f64)>,
    /// The configuration \[rad, m\].
    pub configuration: Vec<f64>,
}

impl std::error::Error for Unreachable {}

impl core::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let [x, y, z] = [self.target.x, self.target.y, self.target.z];
        write!(f, "the tool cannot reach ({x:.4}, {y:.4}, {z:.4}) m")?;
        if self.distance > 1e-6 {
            write!(f, ": the smallest distance in any orientation is {:.6} m", self.distance)?;
        } else {
            write!(
                f,
                " in this orientation: {:.6} m and {:.6} rad remain",
                self.position_error, self.orientation_error
            )?;
        }
        if !self.at_limits.is_empty() {
            let joints: Vec<String> =
                self.at_limits.iter().map(|(name, limit)| format!("{name} at {limit:.4}")).collect();
            write!(f, "; joints at a limit: {}", joints.join(", "))?;
        }
        Ok(())
    }
}
