//! A batch as plain arrays, for a device that steps it itself.

use nalgebra::{Isometry3, Matrix3, Vector3};

use super::error::BatchError;
use super::parameter::Parameter;
use super::plan::{BatchJoint, Plan, ShapeClass};
use super::{Status, WorldBatch};
use pliant_numeric::simd::F64x8;
use pliant_rigid::comfree::ImpedanceCurve;
use pliant_rigid::multibody::{Dof, State};

/// Replaces an index: none, or the world.
pub const FLAT_NONE: u32 = u32::MAX;

/// A rigid transformation as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatPose {
    /// Rotation, row by row.
    pub rotation: [f64; 9],
    /// Origin \[m\].
    pub origin: [f64; 3],
}

/// A link that moves relative to its parent, with all that is welded to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatBody {
    /// 0 revolute, 1 prismatic, 2 ball, 3 free.
    pub joint: u32,
    /// Body that the joint is on, or [`FLAT_NONE`].
    pub parent: u32,
    /// Number of its tree.
    pub tree: u32,
    /// First of its positions in `q`.
    pub first_position: u32,
    /// First of its degrees of freedom in `v`.
    pub first_velocity: u32,
    /// Their number.
    pub dofs: u32,
    /// First of its entries in [`FlatBatch::chains`].
    pub first_chain: u32,
    /// Number of degrees of freedom that move it, its own included.
    pub chain: u32,
    /// Frame of the joint in the parent's frame, or in the world.
    pub frame: FlatPose,
    /// Of a revolute or prismatic joint, in that frame.
    pub axis: [f64; 3],
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass (m, body's frame).
    pub center: [f64; 3],
    /// Inertia about the centre (kg m^2, body's axes): xx, xy, xz, yy, yz, zz.
    pub inertia: [f64; 6],
    /// Mass on which gravity acts \[kg\], and its centre times that (kg m, body's frame).
    pub weight: (f64, [f64; 3]),
}

/// Bodies whose degrees of freedom share a block of the mass matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatTree {
    /// Its first body. They are numbered by trees, parents first.
    pub first_body: u32,
    /// Their number.
    pub bodies: u32,
    /// First of its degrees of freedom.
    pub first_velocity: u32,
    /// Their number.
    pub size: u32,
    /// First number of its block within those of all trees: lower triangles, row by row. A
    /// free-floating body has none.
    pub block: u32,
    /// Of a free-floating body, whose joint's axes are the world's: inverse inertia about its
    /// centre \[1/(kg m^2\], its axes), row by row.
    pub floating: Option<[f64; 9]>,
}

/// A shape on a body or in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatGeometry {
    /// Its body, or [`FLAT_NONE`].
    pub body: u32,
    /// 0 half-space, or a shape without contact; 1 sphere; 2 capsule; 3 box.
    pub shape: u32,
    /// In the body's frame or in the world.
    pub pose: FlatPose,
}

/// Two geometries that may touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatPair {
    /// 0 sphere with half-space, 1 with sphere, 2 with capsule, 3 with box; 4 capsule with
    /// half-space, 5 with capsule, 6 with box; 7 box with half-space, 8 with box.
    pub kind: u32,
    /// The geometries, in this order.
    pub geometries: [u32; 2],
    /// Number of the first of its contact points among those of all pairs.
    pub first_point: u32,
    /// Largest number of contact points.
    pub points: u32,
    /// 1 if friction is the larger of both geometries', 0 if it is their harmonic mean.
    pub larger_friction: u32,
    /// Impedance of both materials.
    pub impedance: ImpedanceCurve,
}

/// A motor. Stiffness, damping and limit are parameters of the worlds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatMotor {
    /// Degree of freedom.
    pub dof: u32,
    /// Position that it acts on, of position control; else [`FLAT_NONE`].
    pub position: u32,
    /// What its target means: 0 effort, 1 rate, 2 position.
    pub order: u32,
    /// Rate of a position's target \[rad/s, m/s\].
    pub target_rate: f64,
}

/// Passive properties of a degree of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatDof {
    /// Its position, if it has one; else [`FLAT_NONE`].
    pub position: u32,
    /// Its tree.
    pub tree: u32,
    /// Number of its diagonal entry within all blocks.
    pub diagonal: u32,
    /// The properties.
    pub figures: Dof,
}

/// The rows of the worlds' parameters; see [`Parameter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlatParameters {
    /// Gravity \[m/s^2\], 3.
    pub gravity: u32,
    /// Factor of the mass of each body.
    pub mass: u32,
    /// Three sizes \[m\] of each geometry.
    pub sizes: u32,
    /// Sliding (1), torsional and rolling friction \[m\] of each geometry.
    pub friction: u32,
    /// Stiffness, damping and limit of each motor.
    pub motors: u32,
    /// Number of rows.
    pub rows: u32,
}

/// A batch as plain arrays, for devices that step it themselves: the data that all worlds share,
/// and the numbers of the worlds, one row per number with the worlds side by side. For the step see
/// [`batch`](crate).
#[derive(Clone, Debug)]
pub struct FlatBatch {
    /// Number of worlds.
    pub worlds: usize,
    /// Step \[s\].
    pub dt: f64,
    /// Rates of the gains for this step: kappa \[1/s^2\] and delta \[1/s\].
    pub rates: [f64; 2],
    /// Impedance of joint limits and dry friction.
    pub joints: ImpedanceCurve,
    /// Length of `q`.
    pub positions: usize,
    /// Length of `v`.
    pub velocities: usize,
    /// Bodies, by trees.
    pub bodies: Vec<FlatBody>,
    /// Trees.
    pub trees: Vec<FlatTree>,
    /// Of each body in turn the degrees of freedom that move it, ascending: number, and number
    /// within the tree.
    pub chains: Vec<[u32; 2]>,
    /// Geometries, as in the collision scene.
    pub geometries: Vec<FlatGeometry>,
    /// Pairs that may touch, by kind.
    pub pairs: Vec<FlatPair>,
    /// Motors, as in the system.
    pub motors: Vec<FlatMotor>,
    /// Degrees of freedom.
    pub dofs: Vec<FlatDof>,
    /// Directions of the friction cones, in the tangent plane.
    pub facets: Vec<[f64; 2]>,
    /// The rows of the parameters.
    pub rows: FlatParameters,
    /// Positions, then velocities: one row of `worlds` numbers for each.
    pub states: Vec<f64>,
    /// Targets of the motors, likewise.
    pub targets: Vec<f64>,
    /// Parameters, likewise.
    pub parameters: Vec<f64>,
    /// Time of each world \[s\].
    pub times: Vec<f64>,
    /// Whether each world has stopped.
    pub stopped: Vec<bool>,
    plan: Plan,
}

fn index(n: Option<usize>) -> u32 {
    n.map_or(FLAT_NONE, |n| n as u32)
}

fn row_by_row(m: &Matrix3<f64>) -> [f64; 9] {
    core::array::from_fn(|k| m[(k / 3, k % 3)])
}

fn flat_pose(pose: &Isometry3<f64>) -> FlatPose {
    FlatPose {
        rotation: row_by_row(pose.rotation.to_rotation_matrix().matrix()),
        origin: pose.translation.vector.into(),
    }
}

impl WorldBatch {
    /// The batch as plain arrays.
    pub fn flatten(&self) -> FlatBatch {
        let (plan, l) = (&self.plan, &self.plan.layout);
        let (bodies, chains) = flat_bodies(plan);
        let read = |rows: core::ops::Range<usize>, of: fn(&super::WorldBlock) -> &[F64x8]| {
            let one = |row: usize| {
                (0..self.worlds).map(move |w| of(&self.blocks[w / F64x8::LANES])[row].0[w % F64x8::LANES])
            };
            rows.flat_map(one).collect::<Vec<f64>>()
        };
        let state = |first: usize, count: usize| read(first..first + count, |block| &block.state);
        let mut states = state(l.positions, plan.positions);
        states.extend(state(l.velocities, plan.velocities()));
        let place = |w: usize| (&self.blocks[w / F64x8::LANES], w % F64x8::LANES);
        let stopped = |w: usize| {
            let (block, lane) = place(w);
            block.status(plan, lane) != Status::Running
        };
        FlatBatch {
            worlds: self.worlds,
            dt: plan.dt,
            rates: plan.settings.gains.rates(plan.dt),
            joints: plan.settings.joints,
            positions: plan.positions,
            velocities: plan.velocities(),
            bodies,
            trees: flat_trees(plan),
            chains,
            geometries: flat_geometries(plan),
            pairs: flat_pairs(plan),
            motors: flat_motors(plan),
            dofs: flat_dofs(plan),
            facets: plan.facets.clone(),
            rows: FlatParameters {
                gravity: l.gravity as u32,
                mass: l.mass as u32,
                sizes: l.sizes as u32,
                friction: l.friction as u32,
                motors: l.motors as u32,
                rows: l.parameters as u32,
            },
            states,
            targets: state(l.targets, plan.motors.len()),
            parameters: read(0..l.parameters, |block| &block.parameters),
            times: (0..self.worlds).map(|w| place(w).0.time(plan, w % F64x8::LANES)).collect(),
            stopped: (0..self.worlds).map(stopped).collect(),
            plan: plan.clone(),
        }
    }
}

impl FlatBatch {
    /// Row of a parameter.
    ///
    /// # Errors
    /// The system has no such parameter, or the value is out of its range.
    pub fn parameter_row(&self, parameter: Parameter, value: f64) -> Result<usize, BatchError> {
        let row = parameter.row(&self.plan)?;
        parameter.check(value)?;
        Ok(row)
    }

    /// Checks a state for a world.
    ///
    /// # Errors
    /// As of [`WorldBatch::set_state`].
    pub fn check_state(&self, world: usize, state: &State) -> Result<(), BatchError> {
        self.check_world(world)?;
        self.plan.check(world, state)
    }

    /// Checks that there is such a world.
    ///
    /// # Errors
    /// There is none.
    pub fn check_world(&self, world: usize) -> Result<(), BatchError> {
        if world < self.worlds {
            return Ok(());
        }
        Err(BatchError::value("batch", "world", world as f64, "", "a world of the batch"))
    }

    /// Checks a target for a motor of a world.
    ///
    /// # Errors
    /// As of [`WorldBatch::set_target`].
    pub fn check_target(&self, world: usize, motor: usize, target: f64) -> Result<(), BatchError> {
        self.check_world(world)?;
        if motor >= self.motors.len() {
            return Err(BatchError::value("target", "motor", motor as f64, "", "a motor of the system"));
        }
        if !target.is_finite() {
            return Err(BatchError::value(format!("motor {motor}"), "target", target, "SI", "finite"));
        }
        Ok(())
    }

    /// Number of contact points of all pairs.
    pub fn points(&self) -> usize {
        self.pairs.last().map_or(0, |pair| (pair.first_point + pair.points) as usize)
    }

    /// Number of entries of all blocks of the mass matrix.
    pub fn blocks(&self) -> usize {
        let jointed = self.trees.iter().filter(|tree| tree.floating.is_none());
        jointed.map(|tree| (tree.size * (tree.size + 1) / 2) as usize).sum()
    }
}

fn flat_bodies(plan: &Plan) -> (Vec<FlatBody>, Vec<[u32; 2]>) {
    let mut chains: Vec<[u32; 2]> = Vec::new();
    let mut bodies = Vec::with_capacity(plan.bodies.len());
    for body in &plan.bodies {
        let first_chain = chains.len() as u32;
        chains.extend(body.chain.iter().map(|&(n, within)| [n as u32, within as u32]));
        let (joint, axis) = match body.joint {
            BatchJoint::Revolute(axis) => (0, axis),
            BatchJoint::Prismatic(axis) => (1, axis),
            BatchJoint::Ball => (2, Vector3::zeros()),
            BatchJoint::Free => (3, Vector3::zeros()),
        };
        bodies.push(FlatBody {
            joint,
            parent: index(body.parent),
            tree: body.tree as u32,
            first_position: body.first_position as u32,
            first_velocity: body.first_velocity as u32,
            dofs: body.dofs as u32,
            first_chain,
            chain: body.chain.len() as u32,
            frame: flat_pose(&body.frame),
            axis: axis.into(),
            mass: body.mass,
            center: body.center.into(),
            inertia: body.inertia,
            weight: (body.weight.0, body.weight.1.into()),
        });
    }
    (bodies, chains)
}

fn flat_trees(plan: &Plan) -> Vec<FlatTree> {
    let tree = |tree: &super::plan::BatchTree| FlatTree {
        first_body: tree.bodies.start as u32,
        bodies: tree.bodies.len() as u32,
        first_velocity: tree.first_velocity as u32,
        size: tree.size as u32,
        block: tree.block as u32,
        floating: tree.floating.as_ref().map(|(inverse, _)| row_by_row(inverse)),
    };
    plan.trees.iter().map(tree).collect()
}

fn flat_geometries(plan: &Plan) -> Vec<FlatGeometry> {
    let geometry = |geometry: &super::plan::BatchGeometry| FlatGeometry {
        body: index(geometry.body),
        shape: match geometry.shape {
            ShapeClass::HalfSpace => 0,
            ShapeClass::Radius => 1,
            ShapeClass::RadiusAndLength => 2,
            ShapeClass::Extents => 3,
        },
        pose: flat_pose(&geometry.pose),
    };
    plan.geometries.iter().map(geometry).collect()
}

fn flat_pairs(plan: &Plan) -> Vec<FlatPair> {
    let mut next = 0;
    let pair = |pair: &super::plan::CollisionPair| {
        let (first_point, points) = (next, pair.kind.most_points() as u32);
        next += points;
        FlatPair {
            kind: pair.kind as u32,
            geometries: pair.geometries.map(|g| g as u32),
            first_point,
            points,
            larger_friction: u32::from(pair.larger_friction),
            impedance: pair.impedance,
        }
    };
    plan.pairs.iter().map(pair).collect()
}

fn flat_motors(plan: &Plan) -> Vec<FlatMotor> {
    let motor = |motor: &super::plan::Motor| FlatMotor {
        dof: motor.dof as u32,
        position: index(motor.position),
        order: u32::from(motor.order),
        target_rate: motor.target_rate,
    };
    plan.motors.iter().map(motor).collect()
}

fn flat_dofs(plan: &Plan) -> Vec<FlatDof> {
    let tree_of = |n: usize| plan.trees.partition_point(|tree| tree.first_velocity + tree.size <= n) as u32;
    let dof = |(n, passive): (usize, &super::plan::Passive)| FlatDof {
        position: index(passive.position),
        tree: tree_of(n),
        diagonal: passive.diagonal as u32,
        figures: passive.dof,
    };
    plan.passives.iter().enumerate().map(dof).collect()
}
