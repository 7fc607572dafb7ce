//! The plan of a batch: data that all worlds share, computed once.

use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};

use super::error::BatchError;
use super::layout::{Counts, RowLayout};
use pliant_geometry::Shape;
use pliant_geometry::pairs::{PairKind, size_of};
use pliant_rigid::collision::{CollisionModel, FrictionRule};
use pliant_rigid::comfree::{ComFreeSettings, ImpedanceCurve, RigidSolver};
use pliant_rigid::multibody::{Dof, ForceVector, JointKind, Kinematics, LinkId, Model, RigidInertia};
use pliant_rigid::simulation::{Control, System};

/// The body of a link, `None` where it is fixed to the world, and its pose there.
pub(super) type Place = (Option<usize>, Isometry3<f64>);

/// A joint, its axis in its own frame F.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BatchJoint {
    Revolute(Vector3<f64>),
    Prismatic(Vector3<f64>),
    Ball,
    Free,
}

/// A link that moves relative to its parent, with all that is welded to it.
#[derive(Clone, Debug)]
pub(super) struct BatchBody {
    pub joint: BatchJoint,
    /// The body that its joint is on, `None` for the world.
    pub parent: Option<usize>,
    /// F in the parent's frame, or in the world.
    pub frame: Isometry3<f64>,
    pub mass: f64,
    /// Centre of mass in the body's frame \[m\].
    pub center: Vector3<f64>,
    /// About the centre, body's axes [kg m^2]: xx, xy, xz, yy, yz, zz.
    pub inertia: [f64; 6],
    /// Mass on which gravity acts, and its centre times that \[kg, kg m\].
    pub weight: (f64, Vector3<f64>),
    pub tree: usize,
    pub first_position: usize,
    pub first_velocity: usize,
    pub dofs: usize,
    /// Degrees of freedom that move it, with its own, ascending: `(number, number within the
    /// tree)`.
    pub chain: Vec<(usize, usize)>,
}

/// Bodies whose degrees of freedom share a block of the mass matrix.
#[derive(Clone, Debug)]
pub(super) struct BatchTree {
    /// Bodies, parents first.
    pub bodies: core::ops::Range<usize>,
    pub first_velocity: usize,
    pub size: usize,
    /// The block's first number within all blocks (lower triangles, row by row).
    pub block: usize,
    /// Of a free-floating body, whose joint's axes are the world's: inverse inertia about its
    /// centre, in its axes \[1/(kg m^2)\], and 1 if gravity acts on it, else 0.
    pub floating: Option<(Matrix3<f64>, f64)>,
}

impl BatchTree {
    /// Numbers of its block.
    pub fn entries(&self) -> usize {
        self.size * (self.size + 1) / 2
    }
}

/// A shape on a body or in the world.
#[derive(Clone, Debug)]
pub(super) struct BatchGeometry {
    pub body: Option<usize>,
    /// In the body's frame or in the world.
    pub pose: Isometry3<f64>,
    pub size: [f64; 3],
    pub shape: ShapeClass,
    /// Sliding (1), torsional, rolling \[m\].
    pub friction: [f64; 3],
}

/// Class of a shape by its sizes and bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShapeClass {
    HalfSpace,
    Radius,
    RadiusAndLength,
    Extents,
}

/// Two geometries that may touch.
#[derive(Clone, Debug)]
pub(super) struct CollisionPair {
    pub kind: PairKind,
    /// Numbers of the geometries, in the order that the kind takes them.
    pub geometries: [usize; 2],
    pub impedance: ImpedanceCurve,
    /// Whether friction is the larger of both geometries', not their harmonic mean.
    pub larger_friction: bool,
    /// Whether any world may have torsional or rolling friction here.
    pub turns: bool,
}

/// A motor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motor {
    pub dof: usize,
    /// Position that it acts on, of position control.
    pub position: Option<usize>,
    pub target_rate: f64,
    /// What its target means: 0 effort, 1 rate, 2 position.
    pub order: u8,
    pub target: f64,
    pub stiffness: f64,
    pub damping: f64,
    pub limit: f64,
}

/// Passive properties of a degree of freedom, and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passive {
    pub dof: Dof,
    pub position: Option<usize>,
    /// Whether its tree has a block.
    pub jointed: bool,
    /// Number within all blocks of its diagonal entry.
    pub diagonal: usize,
}

/// Data that all worlds share.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub settings: ComFreeSettings,
    pub dt: f64,
    pub gravity: Vector3<f64>,
    pub bodies: Vec<BatchBody>,
    pub trees: Vec<BatchTree>,
    pub geometries: Vec<BatchGeometry>,
    pub pairs: Vec<CollisionPair>,
    pub motors: Vec<Motor>,
    pub passives: Vec<Passive>,
    pub positions: usize,
    /// Of each link.
    pub links: Vec<Place>,
    /// Directions of the friction cones.
    pub facets: Vec<[f64; 2]>,
    pub layout: RowLayout,
}

fn unsupported(what: impl Into<String>, item: impl Into<String>, instead: &'static str) -> BatchError {
    BatchError::Unsupported { what: what.into(), item: item.into(), instead }
}

const ALONE: &str = "simulate it by itself";

impl Plan {
    pub fn new(system: &System, scene: &CollisionModel, dt: f64) -> Result<Self, BatchError> {
        system.validate()?;
        if !(dt.is_finite() && dt > 0.0) {
            return Err(BatchError::value("batch", "step", dt, "s", "finite and positive"));
        }
        let RigidSolver::ComFree(settings) = system.solver else {
            return Err(unsupported("the convex solver", "rigid_solver", "choose the closed-form one"));
        };
        let line_forces = system.line_forces.iter().map(|line| &line.force);
        let pushed = system.applied.iter().chain(line_forces).any(|f| *f != ForceVector::zero());
        if let Some(item) = [
            (!system.equalities.is_empty(), "equality constraints"),
            (!system.externals.is_empty(), "external systems"),
            (pushed, "applied forces"),
        ]
        .iter()
        .find_map(|(there, item)| there.then_some(*item))
        {
            return Err(unsupported(item, "system", ALONE));
        }
        let model = &system.model;
        let (bodies, links) = batch_bodies(model)?;
        let motors = motors_of(system)?;
        let mut trees = trees_of(model, &bodies, &motors);
        let mut block = 0;
        for tree in &mut trees {
            tree.block = block;
            // A free-floating body uses its inverse inertia.
            block += if tree.is_free_floating() { 0 } else { tree.size * (tree.size + 1) / 2 };
        }
        let geometries = geometries_of(scene, &links);
        let pairs = pairs_of(scene)?;
        let passives = passives_of(model, &trees);
        let mut facets = pliant_rigid::comfree::Facets::default();
        facets.reset(settings.facets);
        let layout = RowLayout::new(&Counts {
            bodies: bodies.len(),
            positions: model.positions(),
            dofs: passives.len(),
            motors: motors.len(),
            geometries: geometries.len(),
            blocks: block,
            largest: trees.iter().map(|tree| tree.size).max().unwrap_or(0),
        });
        Ok(Self {
            settings,
            dt,
            gravity: model.gravity,
            bodies,
            trees,
            geometries,
            pairs,
            motors,
            passives,
            positions: model.positions(),
            links,
            facets: facets.directions().to_vec(),
            layout,
        })
    }

    pub fn velocities(&self) -> usize {
        self.passives.len()
    }
}

/// The bodies, and of every link its body and its pose there.
fn batch_bodies(model: &Model) -> Result<(Vec<BatchBody>, Vec<Place>), BatchError> {
    let mut rest = Kinematics::new(model);
    rest.update(model, &model.zero_configuration());
    let mut links: Vec<Place> = vec![(None, Isometry3::identity()); model.links().len()];
    let mut described: Vec<(RigidInertia, RigidInertia)> = Vec::new();
    let mut bodies: Vec<BatchBody> = Vec::new();
    // By trees, so that the bodies of one follow each other.
    let fixed = (0..model.links().len()).map(LinkId).filter(|l| model.tree_of(*l).is_none());
    let moving = model.trees().iter().flat_map(|tree| tree.links.iter().copied());
    for link in fixed.chain(moving) {
        let l = &model.links()[link.0];
        if let JointKind::Prescribed(_) | JointKind::Universal { .. } | JointKind::Planar = l.joint {
            return Err(unsupported(format!("a {} joint", l.joint.name()), &l.name, ALONE));
        }
        let (parent, on) = l.parent.map_or((None, Isometry3::identity()), |p| links[p.0]);
        let frame = on * l.frame;
        let Some(tree) = model.tree_of(link) else {
            links[link.0] = (None, *rest.pose(link));
            continue;
        };
        let weight = if l.gravity { l.inertia } else { RigidInertia::zero() };
        let joint = match l.joint {
            JointKind::Revolute { axis } => BatchJoint::Revolute(axis.into_inner()),
            JointKind::Prismatic { axis } => BatchJoint::Prismatic(axis.into_inner()),
            JointKind::Ball => BatchJoint::Ball,
            JointKind::Free if parent.is_none() => BatchJoint::Free,
            JointKind::Free => return Err(unsupported("a free joint on a moving link", &l.name, ALONE)),
            _ => {
                let Some(body) = parent else { continue };
                described[body].0 += l.inertia.moved(&frame);
                described[body].1 += weight.moved(&frame);
                links[link.0] = (parent, frame);
                continue;
            }
        };
        let dofs = model.velocities_of(link);
        let first = model.trees()[tree].first_velocity;
        let mut chain = parent.map_or(Vec::new(), |p: usize| bodies[p].chain.clone());
        chain.extend(dofs.clone().map(|n| (n, n - first)));
        links[link.0] = (Some(bodies.len()), Isometry3::identity());
        described.push((l.inertia, weight));
        bodies.push(BatchBody {
            joint,
            parent,
            frame,
            mass: 0.0,
            center: Vector3::zeros(),
            inertia: [0.0; 6],
            weight: (0.0, Vector3::zeros()),
            tree,
            first_position: model.positions_of(link).start,
            first_velocity: dofs.start,
            dofs: dofs.len(),
            chain,
        });
    }
    for (body, (whole, weight)) in bodies.iter_mut().zip(described) {
        body.mass = whole.mass;
        body.center = whole.center();
        let i = whole.shifted(&body.center).inertia;
        body.inertia = [i[(0, 0)], i[(0, 1)], i[(0, 2)], i[(1, 1)], i[(1, 2)], i[(2, 2)]];
        body.weight = (weight.mass, weight.moment);
    }
    Ok((bodies, links))
}

fn dofs_of(tree: &pliant_rigid::multibody::Tree) -> core::ops::Range<usize> {
    tree.first_velocity..tree.first_velocity + tree.velocities
}

fn trees_of(model: &Model, bodies: &[BatchBody], motors: &[Motor]) -> Vec<BatchTree> {
    let tree = |(t, tree): (usize, &pliant_rigid::multibody::Tree)| {
        let first = bodies.partition_point(|b| b.tree < t);
        let end = bodies.partition_point(|b| b.tree <= t);
        let only = &bodies[first];
        let dofs = &model.dofs()[tree.first_velocity..][..tree.velocities];
        let plain = |d: &Dof| d.armature == 0.0 && d.damping == 0.0 && d.friction_loss == 0.0;
        let straight = only.frame.rotation == UnitQuaternion::identity();
        let even = only.weight.0 == 0.0 || only.weight == (only.mass, only.center * only.mass);
        let driven = motors.iter().any(|motor| dofs_of(tree).contains(&motor.dof));
        let floats = end - first == 1 && only.joint == BatchJoint::Free;
        let floats = floats && dofs.iter().all(plain) && straight && even && !driven;
        let weight = if only.weight.0 > 0.0 { 1.0 } else { 0.0 };
        let [xx, xy, xz, yy, yz, zz] = only.inertia;
        let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        BatchTree {
            bodies: first..end,
            first_velocity: tree.first_velocity,
            size: tree.velocities,
            block: 0,
            floating: inertia.try_inverse().filter(|_| floats).map(|inverse| (inverse, weight)),
        }
    };
    model.trees().iter().enumerate().map(tree).collect()
}

impl BatchTree {
    /// Whether it is a free-floating body.
    pub fn is_free_floating(&self) -> bool {
        self.floating.is_some()
    }
}

fn geometries_of(scene: &CollisionModel, links: &[Place]) -> Vec<BatchGeometry> {
    let geometry = |g: &pliant_rigid::collision::CollisionGeometry| {
        let (body, on) = g.link.map_or((None, Isometry3::identity()), |l| links[l.0]);
        let shape = match g.shape {
            Shape::Sphere { .. } => ShapeClass::Radius,
            Shape::Capsule { .. } => ShapeClass::RadiusAndLength,
            Shape::Box { .. } => ShapeClass::Extents,
            // Shapes without a closed form are in no pair.
            _ => ShapeClass::HalfSpace,
        };
        let m = &g.material;
        BatchGeometry {
            body,
            pose: on * g.pose,
            size: size_of(&g.shape).unwrap_or_default(),
            shape,
            friction: [m.dynamic_friction, m.torsional_friction, m.rolling_friction],
        }
    };
    scene.geometries().iter().map(geometry).collect()
}

pub(super) fn pairs_of(scene: &CollisionModel) -> Result<Vec<CollisionPair>, BatchError> {
    let geometries = scene.geometries();
    let mut pairs = Vec::new();
    for a in 0..geometries.len() {
        for b in a + 1..geometries.len() {
            if !scene.may_touch(a, b) {
                continue;
            }
            let (first, second) = (&geometries[a], &geometries[b]);
            let Some((kind, swapped)) = PairKind::of(&first.shape, &second.shape) else {
                return Err(unsupported(
                    format!("contact of a {} with a {}", first.shape.name(), second.shape.name()),
                    format!("geometries '{}' and '{}'", first.name, second.name),
                    "use spheres, capsules, boxes and half-spaces",
                ));
            };
            let both = first.material.combine(&second.material);
            if scene.own_contact(a, b).is_some() || first.material.priority != second.material.priority {
                return Err(unsupported(
                    "a pair with a contact of its own, or of different priorities",
                    format!("geometries '{}' and '{}'", first.name, second.name),
                    "give the geometries the material that their contact should have",
                ));
            }
            if both.margin > 0.0 {
                return Err(unsupported(
                    "a margin of contact",
                    format!("geometries '{}' and '{}'", first.name, second.name),
                    "set the margins to 0, or make the shapes larger",
                ));
            }
            pairs.push(CollisionPair {
                kind,
                geometries: if swapped { [b, a] } else { [a, b] },
                impedance: both.impedance,
                larger_friction: both.friction_rule == FrictionRule::Larger,
                turns: both.torsional_friction > 0.0 || both.rolling_friction > 0.0,
            });
        }
    }
    // Pairs of one kind follow each other, for one loop per kind.
    pairs.sort_by_key(|pair| (pair.kind, pair.geometries));
    Ok(pairs)
}

fn motors_of(system: &System) -> Result<Vec<Motor>, BatchError> {
    let model = &system.model;
    let motor = |(i, actuator): (usize, &pliant_rigid::simulation::Actuator)| {
        if actuator.gravity_compensation {
            let instead = "switch gravity off for the links beyond its joint";
            return Err(unsupported("gravity compensation", format!("actuator {i}"), instead));
        }
        let (order, target, target_rate, stiffness, damping) = match actuator.control {
            Control::Effort { effort } => (0, effort, 0.0, 0.0, 0.0),
            Control::Velocity { target, damping } => (1, target, 0.0, 0.0, damping),
            Control::Position { target, target_rate, stiffness, damping } => {
                (2, target, target_rate, stiffness, damping)
            }
        };
        let position = (order == 2).then(|| model.positions_of(actuator.link).start + actuator.dof);
        Ok(Motor {
            dof: model.velocities_of(actuator.link).start + actuator.dof,
            position,
            target_rate,
            order,
            target,
            stiffness,
            damping,
            limit: actuator.effort_limit,
        })
    };
    system.actuators.iter().enumerate().map(motor).collect()
}

fn passives_of(model: &Model, trees: &[BatchTree]) -> Vec<Passive> {
    let mut passives = Vec::with_capacity(model.velocities());
    for tree in trees {
        for within in 0..tree.size {
            let n = tree.first_velocity + within;
            let diagonal = tree.block + within * (within + 3) / 2;
            passives.push(Passive {
                dof: model.dofs()[n],
                position: None,
                jointed: !tree.is_free_floating(),
                diagonal,
            });
        }
    }
    for (l, link) in model.links().iter().enumerate() {
        if !link.joint.has_quaternion() && model.tree_of(LinkId(l)).is_some() {
            for (n, q) in model.velocities_of(LinkId(l)).zip(model.positions_of(LinkId(l))) {
                passives[n].position = Some(q);
            }
        }
    }
    passives
}
