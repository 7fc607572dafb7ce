//! Two hands over a table: what they look at, where they go and what they grip, in order of time.
//!
//! A hand takes an edge of cloth as one takes a sheet of paper from a table: it comes from beyond the
//! edge, nearly level, slides its lower blade below the cloth and closes the upper one on it. Carried
//! over in an arc it turns over, so that the edge comes to lie flat, and the hand leaves the way that
//! it now points away from.

use nalgebra::{UnitQuaternion, Vector3};

use crate::format::{
    ClothPoint, Gripper, GripperCommand, Pose, Sighting, TargetPositions, Task, TaskControl, Timing, Tool,
    ToolPose, Waypoint, WaypointPath,
};

/// From a hand's origin to the ends of its blades \[m\].
const BLADE_END: f64 = 0.18;
/// Thickness of a blade \[m\].
const BLADE: f64 = 0.0015;
/// Angle by which a hand is tilted from straight down: its blades are 25 degrees from level \[rad\].
const TILT: f64 = 65.0 / 180.0 * std::f64::consts::PI;
/// Height of the lower blade's end above a bare table \[m\].
pub const CLEARANCE: f64 = 0.001;
/// Opening of a hand whose blades press on cloth \[m\].
const CLOSED: f64 = 0.004;
/// Effort of a finger that pinches \[N\].
const PINCH: f64 = 5.0;
/// How far before an edge a hand comes down \[m\].
pub const STAND_OFF: f64 = 0.03;
/// How far a hand draws back after it let go \[m\].
const DRAW_BACK: f64 = 0.08;

/// Durations of a hand's motions \[s\].
mod duration {
    /// To above the place where it comes down.
    pub const APPROACH: f64 = 0.6;
    pub const DOWN: f64 = 0.2;
    pub const CLOSE: f64 = 0.3;
    pub const OPEN: f64 = 0.35;
    pub const DRAW_BACK: f64 = 0.3;
    pub const UP: f64 = 0.2;
    /// To where it waits.
    pub const PARK: f64 = 0.3;
}

/// How long blades slide below an edge \[s\].
pub const SLIDING: f64 = 0.3;

/// From the sighting of an edge to the end of its carriage, but for the times in which the blades slide below
/// it and it is carried \[s\].
pub const BESIDE_CARRYING: f64 = duration::APPROACH
    + duration::DOWN
    + duration::CLOSE
    + duration::OPEN
    + duration::DRAW_BACK
    + duration::UP
    + duration::PARK;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that waits at -y.
    Left,
    /// The one that waits at +y.
    Right,
}

/// Where the columns of the two gantries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Below their bridges.
    Below,
    /// Beside them, each on the side of the other gantry, so that both hands reach the same y: the right
    /// gantry is turned by half a turn.
    Between,
}

impl Columns {
    /// Whether a gantry is turned by half a turn about the vertical.
    pub fn turned(self, side: Side) -> bool {
        (self, side) == (Self::Between, Side::Right)
    }

    /// Position of a gantry's bridge where it waits, beyond the table, from the gantry's origin \[m\].
    pub fn beside(self, side: Side) -> f64 {
        if side == Side::Left || self.turned(side) { -0.8 } else { 0.8 }
    }
}

/// An edge of cloth that a hand takes, and where it lays it.
#[derive(Clone, Debug)]
pub struct Carriage {
    pub side: Side,
    /// Name of the sighting.
    pub name: String,
    /// Where on the edge the sighting's origin is.
    pub origin: Vec<ClothPoint>,
    /// The edge's direction, from these points to those; the cloth is on its left.
    pub along: [Vec<ClothPoint>; 2],
    /// Angle from that direction to the edge's, about the vertical \[rad\].
    pub turn: f64,
    /// From the origin along the edge to the middle of the hand \[m\].
    pub at: f64,
    /// How far the blades reach beyond the origin \[m\].
    pub depth: f64,
    /// How far before the origin it comes down \[m\].
    pub stand_off: f64,
    /// How long the blades slide below the edge \[s\].
    pub sliding: f64,
    /// Opening with which it comes \[m\].
    pub opening: f64,
    /// Height of the lower blade's end above the table where it goes below the edge \[m\].
    pub clearance: f64,
    /// How far the edge is carried, at right angles to its direction \[m\].
    pub distance: f64,
    /// How long \[s\].
    pub lasting: f64,
    /// Height of the lower blade above the table where the hand opens \[m\].
    pub drop: f64,
    /// Whether the blades change places: a hand turned about its own axis by half a turn is the same,
    /// and one of the two is nearer to where its wrist is.
    pub swapped: bool,
}

/// A place of the cloth that a hand presses onto the table while the other hand carries an edge.
#[derive(Clone, Debug)]
pub struct Hold {
    pub side: Side,
    /// Name of the sighting.
    pub name: String,
    /// Where the ends of the blades press.
    pub origin: Vec<ClothPoint>,
    /// A direction, from these points to those; the blades' width is at right angles to it.
    pub along: [Vec<ClothPoint>; 2],
    /// Height of the ends of the blades above the table \[m\].
    pub height: f64,
}

#[derive(Clone, Debug, Default)]
struct Hand {
    waypoints: Vec<Waypoint>,
    commands: Vec<GripperCommand>,
}

/// What the hands do, from their carriages.
#[derive(Clone, Debug)]
pub struct Hands {
    cloth: String,
    /// Height of the table \[m\].
    table: f64,
    columns: Columns,
    hands: [Hand; 2],
    sightings: Vec<Sighting>,
}

impl Hands {
    pub fn new(cloth: &str, table: f64, columns: Columns) -> Self {
        let ready = GripperCommand { time: 0.1, opening: 0.06, duration: 0.3, effort: None };
        let hand = Hand { waypoints: Vec::new(), commands: vec![ready] };
        Self { cloth: cloth.to_owned(), table, columns, hands: [hand.clone(), hand], sightings: Vec::new() }
    }

    /// Takes and lays an edge that is seen at this time \[s\]; the hand has to be at a stop then. It
    /// ends [`BESIDE_CARRYING`] and the times of sliding and carrying later, where it waits with its wrist
    /// turned to `wrist` \[rad\].
    pub fn carry(&mut self, time: f64, edge: &Carriage, wrist: f64) {
        let Carriage { name, origin, along, turn, at, side, swapped, .. } = edge;
        let mut moves = self.look(time, (name, origin, along), (*side, *swapped));
        (moves.turn, moves.at) = (*turn, *at);
        moves.wait();
        moves.take(edge);
        moves.lay(edge);
        moves.park(wrist);
    }

    /// Presses a place that is seen at this time \[s\], while the other hand slides below an edge and carries
    /// it, in so much time, and lays it. It ends with that hand, where it waits with its wrist turned to
    /// `wrist` \[rad\].
    pub fn hold(&mut self, time: f64, place: &Hold, carrying: f64, wrist: f64) {
        let Hold { name, origin, along, side, .. } = place;
        let mut moves = self.look(time, (name, origin, along), (*side, false));
        moves.turn = std::f64::consts::FRAC_PI_2;
        moves.wait();
        moves.press(place.height, carrying);
        moves.park(wrist);
    }

    /// Adds a sighting, by its name, origin and direction. Returns the moves of a hand from there on.
    fn look<'a>(
        &'a mut self,
        time: f64,
        (name, origin, along): (&'a str, &[ClothPoint], &[Vec<ClothPoint>; 2]),
        (side, swapped): (Side, bool),
    ) -> Moves<'a> {
        let [from, toward] = along.clone();
        self.sightings.push(Sighting {
            name: name.to_owned(),
            cloth: self.cloth.clone(),
            time: rounded(time),
            origin: origin.to_vec(),
            toward,
            from,
            height: Some(self.table),
        });
        let (columns, hand) = (self.columns, &mut self.hands[side as usize]);
        Moves { frame: name, side, turn: 0.0, at: 0.0, swapped, columns, time, hand }
    }

    /// The sightings, in order of time, and the tasks of the hands that have any.
    pub fn tasks(self) -> (Vec<Sighting>, Vec<Task>) {
        let task = |(hand, robot): (Hand, &str)| Task {
            robot: robot.to_owned(),
            tool: Tool {
                link: format!("{robot}-hand/hand"),
                pose: Pose { position: [0.0, 0.0, BLADE_END], ..Pose::default() },
            },
            control: TaskControl::default(),
            rate_limit: None,
            waypoints: hand.waypoints,
            grippers: vec![Gripper { robot: format!("{robot}-hand"), commands: hand.commands }],
        };
        let hands = self.hands.into_iter().zip(["left", "right"]);
        let tasks = hands.filter(|(hand, _)| !hand.waypoints.is_empty()).map(task).collect();
        (self.sightings, tasks)
    }
}

/// The moves of a hand about what it has seen.
struct Moves<'a> {
    /// Name of the sighting.
    frame: &'a str,
    side: Side,
    /// As in a [`Carriage`].
    turn: f64,
    at: f64,
    swapped: bool,
    columns: Columns,
    /// End of the last move \[s\].
    time: f64,
    hand: &'a mut Hand,
}

impl Moves<'_> {
    /// Slides a blade below the edge and pinches.
    fn take(&mut self, edge: &Carriage) {
        let Carriage { opening, depth, stand_off, sliding, clearance, .. } = *edge;
        // Of an open hand the blades are beside the middle, the lower one behind it.
        let behind = 0.5 * opening * TILT.cos();
        let low = height_above(clearance, opening);
        let before = behind - stand_off;
        self.go(duration::APPROACH, WaypointPath::Joint, before, low + 0.08, TILT);
        self.go(duration::DOWN, WaypointPath::Straight, before, low, TILT);
        self.go(sliding, WaypointPath::Straight, depth + behind, low, TILT);
        self.grip(self.time, CLOSED, duration::CLOSE, PINCH);
        self.go(
            duration::CLOSE,
            WaypointPath::Straight,
            depth,
            height_above(clearance + 0.002, CLOSED),
            TILT,
        );
    }

    /// Carries the edge over, lays it down and leaves.
    fn lay(&mut self, edge: &Carriage) {
        let Carriage { opening, depth, distance, lasting, drop, .. } = *edge;
        let (to, height) = (distance - depth, height_above(drop, opening));
        self.go(lasting, WaypointPath::Arc, to, height, -TILT);
        self.grip(self.time + 0.05, opening, 0.25, PINCH);
        self.go(duration::OPEN, WaypointPath::Straight, to, height, -TILT);
        let (back, up) = (to + DRAW_BACK * TILT.sin(), height + DRAW_BACK * TILT.cos());
        self.go(duration::DRAW_BACK, WaypointPath::Straight, back, up, -TILT);
        self.go(duration::UP, WaypointPath::Straight, back + 0.02, height + 0.15, -TILT);
    }

    /// Comes down with closed blades, stays until the other hand lets go, and leaves.
    fn press(&mut self, height: f64, carrying: f64) {
        self.grip(self.time + 0.1, CLOSED, duration::CLOSE, PINCH);
        self.go(duration::APPROACH, WaypointPath::Joint, 0.0, height + 0.08, 0.0);
        self.go(duration::DOWN, WaypointPath::Straight, 0.0, height, 0.0);
        self.go(duration::CLOSE + carrying, WaypointPath::Straight, 0.0, height, 0.0);
        self.go(duration::OPEN, WaypointPath::Straight, 0.0, height + 0.08, 0.0);
        self.go(duration::DRAW_BACK + duration::UP, WaypointPath::Straight, 0.0, height + 0.15, 0.0);
    }

    /// Stays where it is until the edge is seen.
    fn wait(&mut self) {
        self.joints(&[("along_y", self.columns.beside(self.side))]);
    }

    /// Goes beyond the table, the wrist turned \[rad\].
    fn park(&mut self, wrist: f64) {
        self.time += duration::PARK;
        let beside = self.columns.beside(self.side);
        self.joints(&[("along_y", beside), ("up", -0.25), ("turn", wrist), ("tilt", 0.0)]);
    }

    fn joints(&mut self, joints: &[(&str, f64)]) {
        let named = joints.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        self.hand.waypoints.push(waypoint(self.time, Some(TargetPositions::Named(named)), None, None));
    }

    /// Moves the ends of the blades to `across` beyond the edge and `height` above the table \[m\],
    /// tilted by an angle \[rad\], in so much time \[s\].
    fn go(&mut self, duration: f64, path: WaypointPath, across: f64, height: f64, tilt: f64) {
        self.time += duration;
        let (turn, at, swapped) = (self.turn, self.at, self.swapped);
        let turned = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn);
        let position = turned * Vector3::new(at, across, height);
        // The wrist of a turned gantry does what that of the other one does.
        let swapped = swapped != self.columns.turned(self.side);
        let (about, tilt) = if swapped { (std::f64::consts::PI, -tilt) } else { (0.0, tilt) };
        let orientation = turned
            * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), about)
            * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), tilt)
            * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
        let pose = ToolPose {
            frame: Some(self.frame.to_owned()),
            position: position.map(rounded).into(),
            orientation: Some([orientation.w, orientation.i, orientation.j, orientation.k]),
            axis: None,
        };
        self.hand.waypoints.push(waypoint(self.time, None, Some(pose), Some(path)));
    }

    fn grip(&mut self, time: f64, opening: f64, duration: f64, effort: f64) {
        let command = GripperCommand { time: rounded(time), opening, duration, effort: Some(effort) };
        self.hand.commands.push(command);
    }
}

/// Height of the middle between the ends of the blades where the end of the lower one is `low` above
/// the table \[m\].
fn height_above(low: f64, opening: f64) -> f64 {
    low + (0.5 * opening + BLADE) * TILT.sin()
}

fn waypoint(
    time: f64,
    joints: Option<TargetPositions>,
    pose: Option<ToolPose>,
    path: Option<WaypointPath>,
) -> Waypoint {
    // Half of the distance between the hand's start and end, less a tenth: a sheet that is folded
    // in half stays slack.
    let rise = if path == Some(WaypointPath::Arc) { 0.9 } else { 1.0 };
    let (path, timing) = (path.unwrap_or_default(), Timing::Stop);
    Waypoint { name: None, time: rounded(time), joints, pose, path, timing, rise }
}

/// To a tenth of a millisecond or millimetre, which is what one wants to read in a scene.
pub fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
