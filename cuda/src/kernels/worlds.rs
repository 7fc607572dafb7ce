//! Isolated worlds side by side, contact in closed form: `pliant_batch` on the device.

use pliant_geometry::pairs::PairKind;

use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// Threads of a block of the worlds' kernels, all of them on the same tree, pair or degree of
    /// freedom.
    pub const WORLDS_THREADS: u32 = 128;
    /// In place of an index: none, or the world.
    pub const WORLDS_NONE: u32 = pliant_batch::FLAT_NONE;
    /// A revolute joint.
    pub const WORLDS_REVOLUTE: u32 = 0;
    /// A prismatic joint.
    pub const WORLDS_PRISMATIC: u32 = 1;
    /// A ball joint.
    pub const WORLDS_BALL: u32 = 2;
    /// A free joint.
    pub const WORLDS_FREE: u32 = 3;
    /// A half-space.
    pub const WORLDS_HALF_SPACE: u32 = 0;
    /// A sphere.
    pub const WORLDS_SPHERE: u32 = 1;
    /// A capsule.
    pub const WORLDS_CAPSULE: u32 = 2;
    /// A box.
    pub const WORLDS_BOX: u32 = 3;
    /// Kinds of pairs: a sphere and a half-space.
    pub const PAIR_SPHERE_HALF_SPACE: u32 = PairKind::SphereHalfSpace as u32;
    /// A sphere and a sphere.
    pub const PAIR_SPHERE_SPHERE: u32 = PairKind::SphereSphere as u32;
    /// A sphere and a capsule.
    pub const PAIR_SPHERE_CAPSULE: u32 = PairKind::SphereCapsule as u32;
    /// A sphere and a box.
    pub const PAIR_SPHERE_BOX: u32 = PairKind::SphereBox as u32;
    /// A capsule and a half-space.
    pub const PAIR_CAPSULE_HALF_SPACE: u32 = PairKind::CapsuleHalfSpace as u32;
    /// A capsule and a capsule.
    pub const PAIR_CAPSULE_CAPSULE: u32 = PairKind::CapsuleCapsule as u32;
    /// A capsule and a box.
    pub const PAIR_CAPSULE_BOX: u32 = PairKind::CapsuleBox as u32;
    /// A box and a half-space.
    pub const PAIR_BOX_HALF_SPACE: u32 = PairKind::BoxHalfSpace as u32;
    /// A box and a box.
    pub const PAIR_BOX_BOX: u32 = PairKind::BoxBox as u32;
    /// A motor whose target is a rate.
    pub const WORLDS_RATE: u32 = 1;
    /// Most points of contact of a pair.
    pub const WORLDS_MOST_POINTS: u32 = 12;
    /// From this bit on, which points of a pair have a moment.
    pub const WORLDS_TURNING: u32 = 16;
    /// Numbers of a point of contact: where it is (m), impulse (N s) and moment (N m s).
    pub const WORLDS_POINT_NUMBERS: u32 = 9;

    /// Numbers of the settings: step (s), kappa (1/s^2), delta (1/s), weight of a facet, impedance
    /// of joints.
    pub const WORLDS_SETTINGS_NUMBERS: u32 = 9;
    /// Numbers of an impedance: minimum, maximum, width (m), midpoint, power.
    pub const WORLDS_CURVE_NUMBERS: u32 = 5;
    /// Numbers of a body: first its frame (rotation by rows, origin).
    pub const WORLDS_BODY_NUMBERS: u32 = 38;
    /// Axis of its joint.
    pub const WORLDS_BODY_AXIS: u32 = 12;
    /// Mass (kg).
    pub const WORLDS_BODY_MASS: u32 = 15;
    /// Centre of mass (m).
    pub const WORLDS_BODY_CENTER: u32 = 16;
    /// Inertia about it: xx, xy, xz, yy, yz, zz (kg m^2).
    pub const WORLDS_BODY_INERTIA: u32 = 19;
    /// Mass on which gravity acts (kg), and its centre times that (kg m).
    pub const WORLDS_BODY_WEIGHT: u32 = 25;
    /// Inverse inertia of a free-floating body, by rows.
    pub const WORLDS_BODY_INVERSE: u32 = 29;
    /// Numbers of a pose: rotation by rows, origin (m).
    pub const WORLDS_POSE_NUMBERS: u32 = 12;
    /// Numbers of a degree of freedom: damping, stiffness, reference, armature, dry friction, least
    /// and greatest position.
    pub const WORLDS_DOF_NUMBERS: u32 = 7;
}

shared_structs! {
    /// A link that moves against its parent, with all that is welded to it.
    pub struct WorldsBody {
        /// Kind of its joint.
        pub joint: u32,
        /// Body that the joint is on, or [`WORLDS_NONE`].
        pub parent: u32,
        /// First of its positions.
        pub first_position: u32,
        /// First of its degrees of freedom.
        pub first_velocity: u32,
        /// How many it has.
        pub dofs: u32,
        /// Number of its tree.
        pub tree: u32,
        /// First of its entries among the chains.
        pub first_chain: u32,
        /// Degrees of freedom that move it.
        pub chain: u32,
    }

    /// Bodies whose degrees of freedom share a block of the mass matrix.
    pub struct WorldsTree {
        /// Its first body.
        pub first_body: u32,
        /// How many.
        pub bodies: u32,
        /// First of its degrees of freedom.
        pub first_velocity: u32,
        /// How many.
        pub size: u32,
        /// First number of its block.
        pub block: u32,
        /// Whether it is a free-floating body.
        pub floating: u32,
    }

    /// A shape.
    pub struct WorldsGeometry {
        /// Its body, or [`WORLDS_NONE`].
        pub body: u32,
        /// Its kind.
        pub shape: u32,
    }

    /// Two geometries that may touch.
    pub struct WorldsPair {
        /// Its kind: [`PAIR_SPHERE_HALF_SPACE`] and those after it.
        pub kind: u32,
        /// The geometries, in this order.
        pub geometries: [u32; 2],
        /// Number of its first point of contact.
        pub first_point: u32,
        /// 1 if friction is the larger of both geometries', 0 if it is their harmonic mean.
        pub larger_friction: u32,
    }

    /// A motor.
    pub struct WorldsMotor {
        /// Its degree of freedom.
        pub dof: u32,
        /// Position that it acts on, or [`WORLDS_NONE`].
        pub position: u32,
        /// What its target means: 0 effort, 1 rate, 2 position.
        pub order: u32,
        /// The tree of its degree of freedom.
        pub tree: u32,
    }

    /// A degree of freedom.
    pub struct WorldsDof {
        /// Its position, or [`WORLDS_NONE`].
        pub position: u32,
        /// Its tree.
        pub tree: u32,
        /// Number of its diagonal entry within all blocks.
        pub diagonal: u32,
        /// First of the contacts that it takes part in, among the entries.
        pub first_entry: u32,
        /// End of them.
        pub end_entry: u32,
    }

    /// Data that all worlds share, and integers.
    pub struct WorldsPlan {
        /// Bodies, by trees, parents first.
        pub bodies: Span<WorldsBody>,
        /// Trees.
        pub trees: Span<WorldsTree>,
        /// Degrees of freedom that move each body: number, and number within the tree.
        pub chains: Span<[u32; 2]>,
        /// Shapes.
        pub geometries: Span<WorldsGeometry>,
        /// Pairs of them.
        pub pairs: Span<WorldsPair>,
        /// Motors.
        pub motors: Span<WorldsMotor>,
        /// Degrees of freedom.
        pub dofs: Span<WorldsDof>,
        /// Pairs that each degree of freedom moves one body of, ascending: the pair, and 1 where it
        /// is the second body.
        pub entries: Span<[u32; 2]>,
        /// For each world, 1 where it has stopped.
        pub stopped: Span<u32>,
        /// For each world, steps since it was put into its state.
        pub steps: Span<u32>,
        /// Steps since targets were uploaded, and number of the last of their rows.
        pub clock: Span<u32>,
        /// For each pair and world, which of its points touch, and from [`WORLDS_TURNING`] on which
        /// of them have a moment.
        pub touching: Span<u32>,
        /// Number of worlds.
        pub worlds: u32,
        /// Number of facets.
        pub facets: u32,
        /// Row of the first velocity of a state.
        pub velocities: u32,
        /// Degrees of freedom of the largest tree.
        pub largest: u32,
        /// Rows of parameters: gravity.
        pub gravity: u32,
        /// Factor of each body's mass.
        pub mass: u32,
        /// Three sizes of each geometry.
        pub sizes: u32,
        /// Three of each geometry.
        pub friction: u32,
        /// Three of each motor.
        pub motor_figures: u32,
        /// Rows of numbers of a step. Rotation and origin of each body.
        pub poses: u32,
        /// Velocity of each body, and acceleration at zero joint accelerations.
        pub motions: u32,
        /// Inertia of each body with all it carries; of one that nothing holds, inverse mass,
        /// centre and inverse inertia.
        pub inertias: u32,
        /// The force on it.
        pub forces: u32,
        /// Axis of each degree of freedom.
        pub axes: u32,
        /// Lower triangles of the mass matrix.
        pub bare: u32,
        /// Those with what is implicit, then their factors.
        pub blocks: u32,
        /// Of each degree of freedom: momentum.
        pub momenta: u32,
        /// Velocity without contact, then with it.
        pub smooth: u32,
        /// Impulse.
        pub loads: u32,
        /// Of each motor, 1 where it is at its limit, and the effort there.
        pub saturated: u32,
        /// Rows of contacts: first the points', then from here columns of each pair.
        pub columns: u32,
        /// Constants: of the bodies.
        pub body_numbers: u32,
        /// Of the geometries: poses.
        pub geometry_numbers: u32,
        /// Of the pairs: impedances.
        pub pair_numbers: u32,
        /// Of the motors: rates of their targets.
        pub motor_numbers: u32,
        /// Of the degrees of freedom.
        pub dof_numbers: u32,
        /// Of the facets: two each.
        pub facet_numbers: u32,
        /// Zero.
        pub unused: u32,
    }

    /// Worlds in single precision. Of all but the constants a row is a number of all worlds.
    pub struct WorldsF32 {
        /// Data that all share.
        pub plan: WorldsPlan,
        /// Its real constants; the settings come first.
        pub constants: Span<f32>,
        /// Positions, then velocities.
        pub states: Span<f32>,
        /// Targets of the motors, as many rows for each step that they were uploaded for.
        pub targets: Span<f32>,
        /// Parameters of each world.
        pub parameters: Span<f32>,
        /// Numbers of a step.
        pub scratch: Span<f32>,
        /// Points of contact, and the columns of pairs.
        pub contacts: Span<f32>,
    }

    /// Worlds in double precision.
    pub struct WorldsF64 {
        /// See [`WorldsF32`].
        pub plan: WorldsPlan,
        /// See [`WorldsF32`].
        pub constants: Span<f64>,
        /// See [`WorldsF32`].
        pub states: Span<f64>,
        /// See [`WorldsF32`].
        pub targets: Span<f64>,
        /// See [`WorldsF32`].
        pub parameters: Span<f64>,
        /// See [`WorldsF32`].
        pub scratch: Span<f64>,
        /// See [`WorldsF32`].
        pub contacts: Span<f64>,
    }
}

kernel_parameters! {
    /// Poses, inertias, forces, mass matrices and their factors, and the velocities without
    /// contact: a thread a tree and world.
    pub struct WorldsSmoothF32Parameters = "worlds_smooth_f32" {
        /// The worlds.
        pub worlds: WorldsF32,
    }

    /// See [`WorldsSmoothF32Parameters`].
    pub struct WorldsSmoothF64Parameters = "worlds_smooth_f64" {
        /// The worlds.
        pub worlds: WorldsF64,
    }

    /// Where pairs touch, and the impulses there: a thread a pair and world.
    pub struct WorldsContactF32Parameters = "worlds_contact_f32" {
        /// The worlds.
        pub worlds: WorldsF32,
    }

    /// See [`WorldsContactF32Parameters`].
    pub struct WorldsContactF64Parameters = "worlds_contact_f64" {
        /// The worlds.
        pub worlds: WorldsF64,
    }

    /// What the contacts' impulses add to each degree of freedom: a thread for it and a world.
    pub struct WorldsGatherF32Parameters = "worlds_gather_f32" {
        /// The worlds.
        pub worlds: WorldsF32,
    }

    /// See [`WorldsGatherF32Parameters`].
    pub struct WorldsGatherF64Parameters = "worlds_gather_f64" {
        /// The worlds.
        pub worlds: WorldsF64,
    }

    /// Joint limits, dry friction and the velocities with contact; stops worlds that diverge: a
    /// thread a tree and world.
    pub struct WorldsCorrectF32Parameters = "worlds_correct_f32" {
        /// The worlds.
        pub worlds: WorldsF32,
    }

    /// See [`WorldsCorrectF32Parameters`].
    pub struct WorldsCorrectF64Parameters = "worlds_correct_f64" {
        /// The worlds.
        pub worlds: WorldsF64,
    }

    /// The motion of the step, of worlds that have not stopped: a thread a tree and world.
    pub struct WorldsAdvanceF32Parameters = "worlds_advance_f32" {
        /// The worlds.
        pub worlds: WorldsF32,
    }

    /// See [`WorldsAdvanceF32Parameters`].
    pub struct WorldsAdvanceF64Parameters = "worlds_advance_f64" {
        /// The worlds.
        pub worlds: WorldsF64,
    }
}
