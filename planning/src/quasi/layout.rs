//! Objects and joints of a model.

use nalgebra::{Isometry3, Matrix3, Matrix6, UnitQuaternion, Vector3, Vector6};

use super::error::QuasiError;
use super::settings::QuasiSettings;
use pliant_rigid::multibody::{JointKind, LinkId, Model, RigidInertia, quaternion};

/// A free body with everything that is welded to it.
#[derive(Clone, Debug)]
pub(super) struct ObjectBody {
    /// First position and first degree of freedom.
    pub position: usize,
    pub dof: usize,
    /// Inverse of its block of Q in the link's axes.
    inverse: Matrix6<f64>,
    /// Gravity \[m/s^2\] in the axes of the joint's frame, and mass \[kg\] and first moment (kg m,
    /// link's axes) that it acts on.
    gravity: Vector3<f64>,
    mass_and_moment: (f64, Vector3<f64>),
}

/// A body's block of the step, in the axes of the joint's frame.
#[derive(Clone, Debug)]
pub(super) struct ObjectBlock {
    pub inverse: Matrix6<f64>,
    /// b, and y_0 \[rad, m\].
    pub load: Vector6<f64>,
    pub free: Vector6<f64>,
    /// Derivative of b by rotations of the body.
    turning: Matrix3<f64>,
}

/// A joint of the robot.
#[derive(Clone, Copy, Debug)]
pub(super) struct RobotJoint {
    pub position: usize,
    pub dof: usize,
    /// K_r.
    pub stiffness: f64,
}

/// A link that can move: the degrees of freedom that move it, from the link inwards, and its
/// object.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    pub link: LinkId,
    pub body: Option<usize>,
    pub dofs: Vec<usize>,
    /// The links of those degrees of freedom.
    pub links: Vec<LinkId>,
}

/// Objects, joints and movers.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectLayout {
    pub bodies: Vec<ObjectBody>,
    pub joints: Vec<RobotJoint>,
    /// The joint of each degree of freedom.
    pub joint_of: Vec<Option<usize>>,
    pub movers: Vec<Mover>,
    /// For each link its mover, and its pose in the mover's link (of a static link: in the world).
    pub carried: Vec<(Option<usize>, Isometry3<f64>)>,
}

impl ObjectLayout {
    pub fn new(model: &Model, settings: &QuasiSettings) -> Result<Self, QuasiError> {
        let mut layout = Self { joint_of: vec![None; model.velocities()], ..Self::default() };
        for (i, link) in model.links().iter().enumerate() {
            let id = LinkId(i);
            let (carrier, place) = match link.parent {
                Some(LinkId(p)) => layout.carried[p],
                None => (None, Isometry3::identity()),
            };
            let place = place * link.frame;
            let on_body = carrier.is_some_and(|m| layout.movers[m].body.is_some());
            let carried = match link.joint {
                JointKind::Fixed => (carrier, place),
                JointKind::Free if carrier.is_none() => {
                    (Some(layout.add_body(model, id, &place)), Isometry3::identity())
                }
                JointKind::Revolute { .. } | JointKind::Prismatic { .. } if !on_body => {
                    (Some(layout.add_joint(model, id, carrier)), Isometry3::identity())
                }
                _ => {
                    let place = match (carrier, on_body) {
                        (None, _) => "on the world",
                        (_, true) => "on a free body",
                        _ => "on a joint",
                    };
                    let (link, joint) = (link.name.clone(), link.joint.name());
                    return Err(QuasiError::RobotJoint { link, joint, place });
                }
            };
            layout.carried.push(carried);
        }
        settings.validate(layout.joints.len())?;
        for (joint, stiffness) in layout.joints.iter_mut().zip(&settings.drives) {
            joint.stiffness = *stiffness;
        }
        layout.find_object_masses(model, settings)?;
        Ok(layout)
    }

    fn add_body(&mut self, model: &Model, link: LinkId, frame: &Isometry3<f64>) -> usize {
        let (position, dof) = (model.positions_of(link).start, model.velocities_of(link).start);
        let gravity = frame.inverse_transform_vector(&model.gravity);
        let mass_and_moment = (0.0, Vector3::zeros());
        self.bodies.push(ObjectBody { position, dof, inverse: Matrix6::zeros(), gravity, mass_and_moment });
        let (body, dofs) = (Some(self.bodies.len() - 1), model.velocities_of(link).collect());
        self.movers.push(Mover { link, body, dofs, links: vec![link; 6] });
        self.movers.len() - 1
    }

    fn add_joint(&mut self, model: &Model, link: LinkId, carrier: Option<usize>) -> usize {
        let (position, dof) = (model.positions_of(link).start, model.velocities_of(link).start);
        self.joint_of[dof] = Some(self.joints.len());
        self.joints.push(RobotJoint { position, dof, stiffness: 0.0 });
        let mut mover = Mover { link, body: None, dofs: vec![dof], links: vec![link] };
        if let Some(carrier) = carrier {
            mover.dofs.extend(&self.movers[carrier].dofs);
            mover.links.extend(&self.movers[carrier].links);
        }
        self.movers.push(mover);
        self.movers.len() - 1
    }

    /// Finds the masses of objects, and their blocks of Q.
    fn find_object_masses(&mut self, model: &Model, settings: &QuasiSettings) -> Result<(), QuasiError> {
        let factor = settings.regularisation / settings.step.powi(2);
        for (b, body) in self.bodies.iter_mut().enumerate() {
            let mut whole = RigidInertia::zero();
            for (link, (carrier, place)) in model.links().iter().zip(&self.carried) {
                if carrier.is_some_and(|m| self.movers[m].body == Some(b)) {
                    let part = link.inertia.moved(place);
                    whole += part;
                    if link.gravity {
                        body.mass_and_moment.0 += part.mass;
                        body.mass_and_moment.1 += part.moment;
                    }
                }
            }
            let inverse = (whole.to_matrix() * factor).cholesky().map(|factors| factors.inverse());
            body.inverse = inverse.ok_or(QuasiError::Value {
                field: "mass of a free body",
                value: whole.mass,
                unit: "kg",
                requirement: "that of a solid",
            })?;
        }
        Ok(())
    }
}

/// Both parts of a tangent vector under an infinitesimal rotation: `(t x angular, t x linear)` for
/// `t` along axis `k`.
fn turned(v: &Vector6<f64>, k: usize) -> Vector6<f64> {
    let axis = Vector3::ith(k, 1.0);
    let [a, l] = [0, 3].map(|part| axis.cross(&v.fixed_rows::<3>(part)));
    Vector6::new(a.x, a.y, a.z, l.x, l.y, l.z)
}

impl ObjectBody {
    /// Its block at the positions `q`.
    pub fn block(&self, q: &[f64]) -> ObjectBlock {
        let r = self.rotation(q).to_rotation_matrix();
        let mut t = Matrix6::zeros();
        for part in [0, 3] {
            t.fixed_view_mut::<3, 3>(part, part).copy_from(r.matrix());
        }
        let inverse = t * self.inverse * t.transpose();
        let (mass, moment) = (self.mass_and_moment.0, r * self.mass_and_moment.1);
        let (torque, force) = (moment.cross(&self.gravity), self.gravity * mass);
        let load = Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z);
        let columns = [0, 1, 2].map(|k| Vector3::ith(k, 1.0).cross(&moment).cross(&self.gravity));
        ObjectBlock { inverse, load, free: inverse * load, turning: Matrix3::from_columns(&columns) }
    }

    /// From the link's axes to those of the joint's frame.
    pub fn rotation(&self, q: &[f64]) -> UnitQuaternion<f64> {
        quaternion(&q[self.position..])
    }
}

impl ObjectBlock {
    /// Derivative of `Q^-1 f` by rotations of the body (columns), where f is b, which depends on
    /// the rotation, plus other forces, which do not.
    pub fn by_turns(&self, force: &Vector6<f64>, answer: &Vector6<f64>) -> [Vector6<f64>; 3] {
        // Q' = t x Q - Q t x: Q rotates with the body.
        [0, 1, 2].map(|k| {
            let mut change = -turned(force, k);
            for d in 0..3 {
                change[d] += self.turning[(d, k)];
            }
            self.inverse * change + turned(answer, k)
        })
    }
}
