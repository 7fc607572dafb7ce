//! Sensors of a mechanism: what each measures, and of what. The quantities, their signs and frames
//! are those of MuJoCo's sensors (documentation, XML reference, sensor).

use nalgebra::{Isometry3, Point3};

use crate::multibody::{Kinematics, LinkId};
use crate::sensor_zone::TouchZone;

/// What a sensor measures. Each has a row in [`Quantity::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Sum of the normal forces of those contacts with other bodies whose point is in the zone, or
    /// whose normal, outwards from the body, meets it. Contacts of particles are not in it.
    Touch,
    /// Acceleration less gravity, in the axes of the site: at rest g upwards, 0 in free fall.
    Accelerometer,
    /// Velocity of the site in its own axes.
    Velocimeter,
    /// Angular velocity in the axes of the site.
    Gyro,
    /// Force of the parent on the body, in the axes of the site: bearing and drive together.
    Force,
    /// Torque of the parent on the body about the site, in its axes.
    Torque,
    /// Coordinate of a joint that has one.
    JointPosition,
    /// Rate of that coordinate.
    JointVelocity,
    /// Length of a tendon.
    TendonPosition,
    /// Rate of that length.
    TendonVelocity,
    /// Length of what a motor drives, times its gear.
    ActuatorPosition,
    /// Rate of that length.
    ActuatorVelocity,
    /// Force of a motor along that length; the effort on a joint is the gear times it.
    ActuatorForce,
    /// Effort of all motors along a joint that has one coordinate.
    JointActuatorForce,
    /// Sum of the forces of all motors on a tendon, without their gears, as in MuJoCo.
    TendonActuatorForce,
    /// Rotation of a ball joint: a quaternion (w, x, y, z).
    BallRotation,
    /// Angular velocity of a ball joint in the axes of its body.
    BallVelocity,
    /// Place of a frame, in the axes of the reference if there is one, and from it.
    FramePosition,
    /// Rotation of a frame against the reference: a quaternion (w, x, y, z).
    FrameRotation,
    /// The x axis of a frame.
    FrameX,
    /// The y axis of a frame.
    FrameY,
    /// The z axis of a frame.
    FrameZ,
    /// Velocity of a frame as seen from the reference, which may turn.
    FrameVelocity,
    /// Angular velocity of a frame against the reference.
    FrameAngularVelocity,
    /// Acceleration of a frame less gravity, world axes.
    FrameAcceleration,
    /// Angular acceleration of a frame, world axes.
    FrameAngularAcceleration,
    /// Centre of mass of a body with all that it carries.
    SubtreeCenter,
    /// Velocity of that centre.
    SubtreeVelocity,
    /// Angular momentum about that centre.
    SubtreeAngularMomentum,
    /// Time.
    Clock,
}

/// What a quantity is measured of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A site, which has axes.
    Site,
    /// A frame of any kind, perhaps against another.
    Frame,
    /// A joint with one coordinate.
    Joint,
    /// A ball joint.
    Ball,
    /// A tendon.
    Tendon,
    /// A motor.
    Actuator,
    /// A body with all that it carries.
    Subtree,
    /// Nothing.
    None,
}

/// What a reading is found from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The state.
    State,
    /// Forces that the last step has found.
    Step,
    /// The velocities at both ends of the last step.
    Motion,
    /// The forces of the joints in the last step, and its ends.
    Reactions,
}

/// A row of the table of quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantityRow {
    /// The quantity.
    pub quantity: Quantity,
    /// Its element in MJCF.
    pub name: &'static str,
    /// Suffixes of its components; one that is empty for a single number.
    pub components: &'static [&'static str],
    /// Its unit; of joints and tendons both that may be.
    pub unit: &'static str,
    /// What it is measured of.
    pub subject: Subject,
    /// What it is found from.
    pub source: Source,
}

const ONE: &[&str] = &[""];
const XYZ: &[&str] = &["x", "y", "z"];
const WXYZ: &[&str] = &["w", "x", "y", "z"];

macro_rules! rows {
    ($($quantity:ident $name:literal $components:ident $unit:literal $subject:ident $source:ident;)*) => {
        &[$(QuantityRow {
            quantity: Quantity::$quantity, name: $name, components: $components, unit: $unit,
            subject: Subject::$subject, source: Source::$source,
        }),*]
    };
}

impl Quantity {
    /// All quantities, in the order of the type.
    pub const ALL: &'static [QuantityRow] = rows! {
        Touch "touch" ONE "N" Site Step;
        Accelerometer "accelerometer" XYZ "m/s^2" Site Motion;
        Velocimeter "velocimeter" XYZ "m/s" Site State;
        Gyro "gyro" XYZ "rad/s" Site State;
        Force "force" XYZ "N" Site Reactions;
        Torque "torque" XYZ "N m" Site Reactions;
        JointPosition "jointpos" ONE "rad, m" Joint State;
        JointVelocity "jointvel" ONE "rad/s, m/s" Joint State;
        TendonPosition "tendonpos" ONE "m, rad" Tendon State;
        TendonVelocity "tendonvel" ONE "m/s, rad/s" Tendon State;
        ActuatorPosition "actuatorpos" ONE "rad, m" Actuator State;
        ActuatorVelocity "actuatorvel" ONE "rad/s, m/s" Actuator State;
        ActuatorForce "actuatorfrc" ONE "N m, N" Actuator Step;
        JointActuatorForce "jointactuatorfrc" ONE "N m, N" Joint Step;
        TendonActuatorForce "tendonactuatorfrc" ONE "N, N m" Tendon Step;
        BallRotation "ballquat" WXYZ "-" Ball State;
        BallVelocity "ballangvel" XYZ "rad/s" Ball State;
        FramePosition "framepos" XYZ "m" Frame State;
        FrameRotation "framequat" WXYZ "-" Frame State;
        FrameX "framexaxis" XYZ "-" Frame State;
        FrameY "frameyaxis" XYZ "-" Frame State;
        FrameZ "framezaxis" XYZ "-" Frame State;
        FrameVelocity "framelinvel" XYZ "m/s" Frame State;
        FrameAngularVelocity "frameangvel" XYZ "rad/s" Frame State;
        FrameAcceleration "framelinacc" XYZ "m/s^2" Frame Motion;
        FrameAngularAcceleration "frameangacc" XYZ "rad/s^2" Frame Motion;
        SubtreeCenter "subtreecom" XYZ "m" Subtree State;
        SubtreeVelocity "subtreelinvel" XYZ "m/s" Subtree State;
        SubtreeAngularMomentum "subtreeangmom" XYZ "N m s" Subtree State;
        Clock "clock" ONE "s" None State;
    };

    /// Its row in the table.
    pub fn row(self) -> &'static QuantityRow {
        &Self::ALL[self as usize]
    }

    /// The quantity of an element of MJCF.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.name == name).map(|row| row.quantity)
    }

    /// Whether a cutoff bounds it: directions and rotations have none.
    fn is_bounded(self) -> bool {
        !matches!(self, Self::BallRotation | Self::FrameRotation | Self::FrameX | Self::FrameY | Self::FrameZ)
    }
}

/// A frame on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorFrame {
    /// The link; `None` is the world.
    pub link: Option<LinkId>,
    /// The frame in the link's, in the world's without a link \[m\].
    pub pose: Isometry3<f64>,
}

impl SensorFrame {
    /// Its pose in the world.
    pub(crate) fn placed(&self, kinematics: &Kinematics) -> Isometry3<f64> {
        self.link.map_or(self.pose, |link| kinematics.pose(link) * self.pose)
    }

    /// The same frame for links numbered from `first`, whose world is at `base` of a link, or of the
    /// world.
    fn moved(self, first: usize, carrier: Option<LinkId>, base: &Isometry3<f64>) -> Self {
        match self.link {
            Some(link) => Self { link: Some(LinkId(first + link.0)), ..self },
            None => Self { link: carrier, pose: base * self.pose },
        }
    }
}

/// What a sensor is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SensorObject {
    /// Nothing.
    None,
    /// A frame.
    Frame(SensorFrame),
    /// A zone about a frame.
    Zone(SensorFrame, TouchZone),
    /// The joint of a link.
    Joint(LinkId),
    /// A tendon, by its number in the system.
    Tendon(usize),
    /// A motor on a joint.
    Motor {
        /// Its number in the system's actuators.
        actuator: usize,
        /// Effort on the joint for one unit of its force.
        gear: f64,
    },
    /// A drive, by its number in the system.
    Drive(usize),
    /// A link with all that it carries.
    Subtree(LinkId),
}

/// A sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Name.
    pub name: String,
    /// What it measures.
    pub quantity: Quantity,
    /// What it is on.
    pub object: SensorObject,
    /// The frame against which a frame is measured; `None` is the world's.
    pub reference: Option<SensorFrame>,
    /// Largest size of a component that it shows, in the unit of the quantity; infinite without a
    /// bound.
    pub cutoff: f64,
}

/// Where the parts of a mechanism are among those of others.
pub(crate) struct Placed<'a> {
    pub link: usize,
    pub tendon: usize,
    pub actuator: usize,
    pub drive: usize,
    pub carrier: Option<LinkId>,
    pub base: &'a Isometry3<f64>,
}

impl Sensor {
    /// The same sensor of the mechanism `name` among others.
    pub(crate) fn moved(self, name: &str, to: &Placed<'_>) -> Self {
        let link = |link: LinkId| LinkId(to.link + link.0);
        let frame = |frame: SensorFrame| frame.moved(to.link, to.carrier, to.base);
        let object = match self.object {
            SensorObject::None => SensorObject::None,
            SensorObject::Frame(at) => SensorObject::Frame(frame(at)),
            SensorObject::Zone(at, zone) => SensorObject::Zone(frame(at), zone),
            SensorObject::Joint(of) => SensorObject::Joint(link(of)),
            SensorObject::Tendon(number) => SensorObject::Tendon(to.tendon + number),
            SensorObject::Motor { actuator, gear } => {
                SensorObject::Motor { actuator: to.actuator + actuator, gear }
            }
            SensorObject::Drive(number) => SensorObject::Drive(to.drive + number),
            SensorObject::Subtree(of) => SensorObject::Subtree(link(of)),
        };
        let reference = self.reference.map(frame);
        Self { name: format!("{name}/{}", self.name), object, reference, ..self }
    }

    /// A reading within the cutoff.
    pub(crate) fn clipped(&self, mut reading: Reading) -> Reading {
        if self.quantity.is_bounded() {
            reading.values.iter_mut().for_each(|x| *x = x.max(-self.cutoff).min(self.cutoff));
        }
        reading
    }
}

/// What a sensor shows: up to four numbers, in the order and unit of its [`QuantityRow`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    values: [f64; 4],
    count: usize,
}

impl Reading {
    /// The numbers.
    pub fn values(&self) -> &[f64] {
        &self.values[..self.count]
    }
}

impl From<f64> for Reading {
    fn from(value: f64) -> Self {
        Self { values: [value, 0.0, 0.0, 0.0], count: 1 }
    }
}

impl From<nalgebra::Vector3<f64>> for Reading {
    fn from(v: nalgebra::Vector3<f64>) -> Self {
        Self { values: [v.x, v.y, v.z, 0.0], count: 3 }
    }
}

impl From<Point3<f64>> for Reading {
    fn from(point: Point3<f64>) -> Self {
        point.coords.into()
    }
}

impl From<nalgebra::UnitQuaternion<f64>> for Reading {
    fn from(r: nalgebra::UnitQuaternion<f64>) -> Self {
        Self { values: [r.w, r.i, r.j, r.k], count: 4 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: the table has a row for each quantity, in the order of the type, under its own name.
    #[test]
    fn every_quantity_has_its_row() {
        for row in Quantity::ALL {
            assert_eq!(row.quantity.row(), row);
            assert_eq!(Quantity::named(row.name), Some(row.quantity));
        }
        assert_eq!(Quantity::ALL.len(), Quantity::Clock as usize + 1);
    }
}
