//! Symmetry transformations of a scene: moved, rotated, mirrored, boosted, renamed, reordered; and
//! perturbations of the size of rounding.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

use super::record::Record;
use pliant_numeric::random::SplitMix64;
use pliant_scenes::format::{
    BodySpec, Constraint, Dynamic, JointSpec, Motion, Pose, RigidShape, Scene, SoftBodySpec, SoftShape,
    VelocityKeyframe,
};

/// A transformation under which the physics of a scene does not change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Transformation {
    /// A translation by whole blocks of four cells, which maps grid nodes to grid nodes.
    Moved {
        /// Blocks along x, y and z; metres if the scene has no grid.
        blocks: [i32; 3],
    },
    /// A quarter turn about an axis of the world, which maps the grid to itself.
    Turned {
        /// 0, 1, 2 for x, y, z.
        axis: usize,
    },
    /// A reflection in the plane x = 0.
    Mirrored,
    /// A velocity is added to everything, floors included.
    Boosted {
        /// The velocity, world frame \[m/s\].
        velocity: [f64; 3],
    },
    /// Other names.
    Renamed,
    /// Bodies and soft bodies are listed in the opposite order.
    Reordered,
    /// Initial velocities are changed at random: not a symmetry, but a measure of the growth of
    /// differences.
    Nudged {
        /// Length of the change \[m/s\].
        speed: f64,
        /// Seed of the change.
        seed: u64,
    },
}

const PREFIX: &str = "other-";

impl Transformation {
    /// Its name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Moved { .. } => "moved",
            Self::Turned { .. } => "turned",
            Self::Mirrored => "mirrored",
            Self::Boosted { .. } => "boosted",
            Self::Renamed => "renamed",
            Self::Reordered => "reordered",
            Self::Nudged { .. } => "nudged",
        }
    }

    /// Transforms the run of the changed scene back.
    pub fn undo(&self, mut run: Record, scene: &Scene) -> Record {
        let time = run.moments.last().map_or(0.0, |m| m.time);
        match *self {
            Self::Renamed => {
                let strip = |name: &mut String| *name = name.trim_start_matches(PREFIX).to_owned();
                run.bodies.iter_mut().for_each(|body| strip(&mut body.name));
                run.parts.iter_mut().for_each(|part| strip(&mut part.name));
            }
            Self::Reordered => {
                let place = |name: &String| scene.bodies.iter().position(|body| body.name == *name);
                run.bodies.sort_by_key(|body| place(&body.name).unwrap_or(usize::MAX));
                let place = |name: &String| scene.soft.iter().position(|soft| soft.name == *name);
                run.parts.sort_by_key(|part| place(&part.name).unwrap_or(usize::MAX));
            }
            Self::Boosted { velocity } => {
                let v = Vector3::from(velocity);
                for body in run.bodies.iter_mut().filter(|body| body.dynamic) {
                    body.pose.translation.vector -= v * time;
                    body.velocity.linear -= v;
                }
                for part in &mut run.parts {
                    part.center -= v * time;
                    part.velocity -= v;
                }
            }
            Self::Moved { .. } | Self::Turned { .. } | Self::Mirrored => {
                let map = Map::of(self, scene);
                for body in &mut run.bodies {
                    let (x, q) = (body.pose.translation.vector, body.pose.rotation.quaternion());
                    let turn = map.turn_back([q.w, q.i, q.j, q.k]);
                    body.pose = isometry(map.point_back(x), turn);
                    body.velocity.linear = map.vector_back(body.velocity.linear);
                    body.velocity.angular = map.axial_back(body.velocity.angular);
                }
                for part in &mut run.parts {
                    part.center = map.point_back(part.center);
                    part.velocity = map.vector_back(part.velocity);
                }
            }
            Self::Nudged { .. } => {}
        }
        run
    }
}

fn isometry(x: Vector3<f64>, [w, i, j, k]: [f64; 4]) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::from(x), UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k)))
}

/// The changed scene; none if the scene has parts that cannot be changed so.
pub fn change(scene: &Scene, transformation: &Transformation) -> Option<Scene> {
    if scene.copies.is_some() || !scene.tasks.is_empty() {
        return None;
    }
    let mut changed = scene.clone();
    changed.goals.clear();
    match *transformation {
        Transformation::Moved { .. } | Transformation::Turned { .. } | Transformation::Mirrored => {
            Map::of(transformation, scene).scene(&mut changed)?;
        }
        Transformation::Boosted { velocity } => boost(&mut changed, &Vector3::from(velocity))?,
        Transformation::Renamed => rename(&mut changed)?,
        Transformation::Reordered => reorder(&mut changed)?,
        Transformation::Nudged { speed, seed } => perturb(&mut changed, speed, seed),
    }
    Some(changed)
}

/// A map of space: a mirror in x = 0, then a quarter turn about an axis, then a shift.
struct Map {
    mirror: bool,
    axis: Option<usize>,
    shift: Vector3<f64>,
}

impl Map {
    fn of(transformation: &Transformation, scene: &Scene) -> Self {
        let mut map = Self { mirror: false, axis: None, shift: Vector3::zeros() };
        match *transformation {
            Transformation::Moved { blocks } => {
                let block = 4.0 * scene.grid_spacing.unwrap_or(0.25);
                map.shift = Vector3::from(blocks.map(|n| f64::from(n) * block));
            }
            Transformation::Turned { axis } => map.axis = Some(axis % 3),
            Transformation::Mirrored => map.mirror = true,
            _ => {}
        }
        map
    }

    fn quarter(axis: usize, v: Vector3<f64>) -> Vector3<f64> {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut out = v;
        (out[b], out[c]) = (-v[c], v[b]);
        out
    }

    fn vector(&self, mut v: Vector3<f64>) -> Vector3<f64> {
        if self.mirror {
            v.x = -v.x;
        }
        self.axis.map_or(v, |axis| Self::quarter(axis, v))
    }

    fn vector_back(&self, v: Vector3<f64>) -> Vector3<f64> {
        // Three more quarter turns are the inverse.
        let mut v = self.axis.map_or(v, |axis| (0..3).fold(v, |v, _| Self::quarter(axis, v)));
        if self.mirror {
            v.x = -v.x;
        }
        v
    }

    fn point(&self, x: Vector3<f64>) -> Vector3<f64> {
        self.vector(x) + self.shift
    }

    fn point_back(&self, x: Vector3<f64>) -> Vector3<f64> {
        self.vector_back(x - self.shift)
    }

    /// Of angular velocities, moments and rotation axes, which a reflection reverses.
    fn axial(&self, v: Vector3<f64>) -> Vector3<f64> {
        if self.mirror { -self.vector(v) } else { self.vector(v) }
    }

    fn axial_back(&self, v: Vector3<f64>) -> Vector3<f64> {
        if self.mirror { -self.vector_back(v) } else { self.vector_back(v) }
    }

    /// The orientation of a frame: `S R` for a rotation S, `M R M` for a reflection M, with shapes
    /// mirrored in their own frames.
    fn turn(&self, [w, x, y, z]: [f64; 4]) -> [f64; 4] {
        if self.mirror {
            return [w, x, -y, -z];
        }
        self.axis.map_or([w, x, y, z], |axis| turned(axis, 1.0, [w, x, y, z]))
    }

    fn turn_back(&self, [w, x, y, z]: [f64; 4]) -> [f64; 4] {
        if self.mirror {
            return [w, x, -y, -z];
        }
        self.axis.map_or([w, x, y, z], |axis| turned(axis, -1.0, [w, x, y, z]))
    }

    fn points(&self, x: &mut [f64; 3]) {
        *x = self.point(Vector3::from(*x)).into();
    }

    fn vectors(&self, v: &mut [f64; 3]) {
        *v = self.vector(Vector3::from(*v)).into();
    }

    fn axials(&self, v: &mut [f64; 3]) {
        *v = self.axial(Vector3::from(*v)).into();
    }

    fn pose(&self, pose: &mut Pose) {
        self.points(&mut pose.position);
        pose.orientation = self.turn(pose.orientation);
    }

    fn scene(&self, scene: &mut Scene) -> Option<()> {
        let jitter = scene.soft.iter().any(|soft| soft.sampling.jitter > 0.0);
        // The spirals and rings that fill spheres and cylinders have a handedness.
        let turns =
            |soft: &SoftBodySpec| matches!(soft.shape, SoftShape::Sphere { .. } | SoftShape::Cylinder { .. });
        let turns = scene.soft.iter().any(turns);
        if self.mirror
            && (jitter
                || turns
                || !scene.cloths.is_empty()
                || !scene.ropes.is_empty()
                || !scene.robots.is_empty())
            || !scene.controllers.is_empty()
        {
            return None;
        }
        self.vectors(&mut scene.gravity);
        for boundary in &mut scene.boundaries {
            self.points(&mut boundary.point);
            self.vectors(&mut boundary.normal);
        }
        for soft in &mut scene.soft {
            self.pose(&mut soft.pose);
            self.vectors(&mut soft.velocity);
            self.axials(&mut soft.angular_velocity);
        }
        for rope in &mut scene.ropes {
            self.pose(&mut rope.pose);
            self.vectors(&mut rope.velocity);
            for key in rope.pins.iter_mut().flat_map(|pin| &mut pin.keyframes) {
                self.vectors(&mut key.displacement);
            }
        }
        for cloth in &mut scene.cloths {
            self.pose(&mut cloth.pose);
            self.vectors(&mut cloth.velocity);
            for key in cloth.pins.iter_mut().flat_map(|pin| &mut pin.keyframes) {
                self.vectors(&mut key.displacement);
            }
        }
        scene
            .robots
            .iter_mut()
            .filter(|robot| robot.parent.is_none())
            .for_each(|robot| self.pose(&mut robot.pose));
        for force in &mut scene.forces {
            self.vectors(&mut force.force);
            self.axials(&mut force.torque);
        }
        scene.constraints.iter_mut().for_each(|constraint| self.constraint(constraint));
        scene.bodies.iter_mut().try_for_each(|body| self.body(body))
    }

    fn body(&self, body: &mut BodySpec) -> Option<()> {
        match &mut body.motion {
            Motion::Fixed { pose } => self.pose(pose),
            Motion::PrescribedPoses { keyframes } => {
                for key in keyframes {
                    self.points(&mut key.position);
                    key.orientation = self.turn(key.orientation);
                }
            }
            Motion::PrescribedVelocities { pose, keyframes } => {
                self.pose(pose);
                for key in keyframes {
                    self.vectors(&mut key.linear);
                    self.axials(&mut key.angular);
                }
            }
            Motion::Dynamic(dynamic) => self.dynamic(dynamic)?,
        }
        if self.mirror {
            for geometry in &mut body.geometries {
                self.pose(&mut geometry.pose);
                mirror_shape(&mut geometry.shape)?;
            }
        }
        Some(())
    }

    fn dynamic(&self, dynamic: &mut Dynamic) -> Option<()> {
        self.pose(&mut dynamic.pose);
        for v in [&mut dynamic.velocity, &mut dynamic.applied_force] {
            self.vectors(v);
        }
        for v in [&mut dynamic.angular_velocity, &mut dynamic.applied_torque] {
            self.axials(v);
        }
        if self.mirror {
            if let Some(center) = &mut dynamic.center_of_mass {
                self.points(center);
            }
            self.mirror_joint(&mut dynamic.joint)?;
        }
        Some(())
    }

    fn mirror_joint(&self, joint: &mut JointSpec) -> Option<()> {
        let position = match joint {
            JointSpec::Free {} | JointSpec::Fixed {} => None,
            JointSpec::Revolute(joint) => {
                self.axials(&mut joint.axis);
                joint.position.as_mut()
            }
            JointSpec::Prismatic(joint) => {
                self.vectors(&mut joint.axis);
                joint.position.as_mut()
            }
            JointSpec::Universal(joint) => {
                joint.axes.iter_mut().for_each(|axis| self.axials(axis));
                joint.position.as_mut()
            }
            JointSpec::Ball(joint) => joint.position.as_mut(),
            // Its coordinates would change sign one by one.
            JointSpec::Planar(_) => return None,
        };
        if let Some(position) = position {
            self.points(position);
        }
        Some(())
    }

    /// Points on bodies are in their frames, which only a reflection changes; those of the world
    /// are transformed.
    fn constraint(&self, constraint: &mut Constraint) {
        match constraint {
            Constraint::Ball { bodies, points, .. } | Constraint::Distance { bodies, points, .. } => {
                for (body, point) in bodies.iter().zip(points) {
                    if body.is_none() || self.mirror {
                        self.points(point);
                    }
                }
            }
            Constraint::Weld { bodies, frames, .. } => {
                for (body, frame) in bodies.iter().zip(frames.iter_mut().flatten()) {
                    if body.is_none() || self.mirror {
                        self.pose(frame);
                    }
                }
            }
            Constraint::Coupler { .. } => {}
        }
    }
}

/// `S q`, of a quarter turn S about an axis, to one side or the other.
fn turned(axis: usize, side: f64, [w, x, y, z]: [f64; 4]) -> [f64; 4] {
    let mut n = [0.0; 3];
    n[axis] = side * std::f64::consts::FRAC_1_SQRT_2;
    let quarter = Quaternion::new(std::f64::consts::FRAC_1_SQRT_2, n[0], n[1], n[2]);
    let q = quarter * Quaternion::new(w, x, y, z);
    [q.w, q.i, q.j, q.k]
}

fn mirror_shape(shape: &mut RigidShape) -> Option<()> {
    match shape {
        RigidShape::ConvexHull { points } => points.iter_mut().for_each(|point| point[0] = -point[0]),
        // A height field's cells are cut along the other diagonal in a mirror.
        RigidShape::HeightField { .. } | RigidShape::Mesh { .. } => return None,
        _ => {}
    }
    Some(())
}

fn boost(scene: &mut Scene, velocity: &Vector3<f64>) -> Option<()> {
    let held = |dynamic: &Dynamic| dynamic.parent.is_none() && !matches!(dynamic.joint, JointSpec::Free {});
    let of_world = |constraint: &Constraint| match constraint {
        Constraint::Ball { bodies, .. }
        | Constraint::Distance { bodies, .. }
        | Constraint::Weld { bodies, .. } => bodies.iter().any(Option::is_none),
        Constraint::Coupler { .. } => false,
    };
    let stands = !scene.robots.is_empty()
        || !scene.boundaries.is_empty()
        || !scene.controllers.is_empty()
        || scene.cloths.iter().any(|cloth| !cloth.pins.is_empty())
        || scene.ropes.iter().any(|rope| !rope.pins.is_empty())
        || scene.constraints.iter().any(of_world);
    if stands {
        return None;
    }
    let add = |v: &mut [f64; 3]| *v = (Vector3::from(*v) + velocity).into();
    scene.soft.iter_mut().for_each(|soft| add(&mut soft.velocity));
    scene.cloths.iter_mut().for_each(|cloth| add(&mut cloth.velocity));
    scene.ropes.iter_mut().for_each(|rope| add(&mut rope.velocity));
    for body in &mut scene.bodies {
        let start = VelocityKeyframe { time: 0.0, linear: (*velocity).into(), angular: [0.0; 3] };
        match &mut body.motion {
            Motion::Fixed { pose } => {
                body.motion = Motion::PrescribedVelocities { pose: *pose, keyframes: vec![start] };
            }
            Motion::PrescribedVelocities { keyframes, .. } => {
                keyframes.iter_mut().for_each(|key| add(&mut key.linear));
                if keyframes.first().is_none_or(|key| key.time > 0.0) {
                    keyframes.insert(0, start);
                }
            }
            Motion::PrescribedPoses { .. } => return None,
            Motion::Dynamic(dynamic) if held(dynamic) => return None,
            Motion::Dynamic(dynamic) => add(&mut dynamic.velocity),
        }
    }
    Some(())
}

fn rename(scene: &mut Scene) -> Option<()> {
    // Names in other fields would have to change, too.
    let named = !scene.actuators.is_empty()
        || !scene.constraints.is_empty()
        || !scene.controllers.is_empty()
        || !scene.forces.is_empty()
        || !scene.sensors.is_empty()
        || !scene.robots.is_empty();
    if named {
        return None;
    }
    let other = |name: &mut String| *name = format!("{PREFIX}{name}");
    scene.output.forces.clear();
    scene.output.plots.clear();
    scene.soft.iter_mut().for_each(|soft| other(&mut soft.name));
    scene.cloths.iter_mut().for_each(|cloth| other(&mut cloth.name));
    scene.ropes.iter_mut().for_each(|rope| other(&mut rope.name));
    for body in &mut scene.bodies {
        other(&mut body.name);
        if let Motion::Dynamic(dynamic) = &mut body.motion
            && let Some(parent) = &mut dynamic.parent
        {
            other(parent);
        }
    }
    Some(())
}

fn reorder(scene: &mut Scene) -> Option<()> {
    let jointed =
        |body: &BodySpec| matches!(&body.motion, Motion::Dynamic(dynamic) if dynamic.parent.is_some());
    let jitter = scene.soft.iter().any(|soft| soft.sampling.jitter > 0.0);
    // A parent comes before its children, and the jitter depends on the index in the list.
    if jitter
        || scene.bodies.iter().any(jointed)
        || !scene.cloths.is_empty()
        || !scene.ropes.is_empty()
        || !scene.robots.is_empty()
    {
        return None;
    }
    scene.bodies.reverse();
    scene.soft.reverse();
    Some(())
}

fn perturb(scene: &mut Scene, speed: f64, seed: u64) {
    let mut random = SplitMix64::new(scene.seed ^ 0x006E_7564_6765 ^ (seed << 40));
    let mut add = |v: &mut [f64; 3]| {
        for x in v {
            *x += speed * random.uniform_in(-1.0, 1.0);
        }
    };
    scene.soft.iter_mut().for_each(|soft| add(&mut soft.velocity));
    scene.cloths.iter_mut().for_each(|cloth| add(&mut cloth.velocity));
    scene.ropes.iter_mut().for_each(|rope| add(&mut rope.velocity));
    for body in &mut scene.bodies {
        if let Motion::Dynamic(dynamic) = &mut body.motion {
            add(&mut dynamic.velocity);
        }
    }
}
