//! Links: every body becomes one, with a link without mass before it for each further joint.

use std::sync::Arc;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::super::error::{ImportError, ImportWarning};
use super::super::imported::Mocap;
use super::body::{Freedom, MjcfBody, MjcfJoint};
use super::inertia::misbuilt;
use pliant_rigid::PoseTrajectory;
use pliant_rigid::multibody::{JointKind, Link, LinkId, Model, ModelBuilder, RigidInertia, State};

/// A joint and its link.
#[derive(Clone, Debug)]
pub(super) struct JointRecord {
    pub name: String,
    pub link: LinkId,
    pub freedom: Freedom,
    /// Coordinate in the configuration of the file \[rad, m\].
    pub reference: f64,
    pub limits: [f64; 2],
    pub effort_range: Option<[f64; 2]>,
}

impl JointRecord {
    /// Whether it has one coordinate.
    pub fn is_scalar(&self) -> bool {
        matches!(self.freedom, Freedom::Hinge(_) | Freedom::Slide(_))
    }
}

/// Builds the mechanism and records the link of every body.
pub(super) fn build(
    bodies: &mut [MjcfBody],
    gravity: Vector3<f64>,
    warnings: &mut Vec<ImportWarning>,
) -> Result<(Model, Vec<JointRecord>), ImportError> {
    let mut builder = ModelBuilder::new(gravity);
    let mut records = Vec::new();
    for i in 1..bodies.len() {
        let parent = &bodies[bodies[i].parent];
        let (mut link, mut in_link) = (parent.link, parent.in_link * bodies[i].pose);
        let body = &bodies[i];
        let count = body.joints.len();
        for (j, joint) in body.joints.iter().enumerate() {
            let last = j + 1 == count;
            let (frame, after) = match joint.freedom {
                // A free joint's position is the pose in the world.
                Freedom::Free => (Isometry3::identity(), Isometry3::identity()),
                _ => {
                    let anchor: Isometry3<f64> = Translation3::from(joint.anchor).into();
                    (in_link * anchor * back(joint), anchor.inverse())
                }
            };
            let name = if last { body.name.clone() } else { format!("{}/{}", body.name, joint.name) };
            let mut added = plain(name, link, frame, body);
            added.joint = kind(joint);
            added.dofs = vec![joint.dof; added.joint.velocities()];
            if last {
                carry(&mut added, body, &after);
            }
            let turns_freely = matches!(joint.freedom, Freedom::Ball | Freedom::Free);
            if turns_freely && joint.dof.friction_loss > 0.0 {
                let action = "approximated: acts along the axes of the parent, not of the body";
                warnings.push(joint.element.warn("frictionloss", action));
            }
            let id = builder.add(added).map_err(|e| joint.element.fail(e.into()))?;
            records.push(JointRecord {
                name: joint.name.clone(),
                link: id,
                freedom: joint.freedom,
                reference: joint.reference,
                limits: joint.dof.limits,
                effort_range: joint.effort_range,
            });
            (link, in_link) = (Some(id), after);
        }
        if count == 0 {
            let mut added = plain(body.name.clone(), link, in_link, body);
            if body.mocap {
                added.joint = JointKind::Prescribed(Arc::new(PoseTrajectory::at_rest(&in_link)));
                added.frame = Isometry3::identity();
            }
            carry(&mut added, body, &Isometry3::identity());
            let id = builder.add(added).map_err(|e| body.element.fail(e.into()))?;
            (link, in_link) = (Some(id), Isometry3::identity());
        }
        if let Some(rest) = rest(body, link, &in_link) {
            builder.add(rest).map_err(|e| body.element.fail(e.into()))?;
        }
        let body = &mut bodies[i];
        (body.link, body.in_link) = (link, in_link);
    }
    let model = builder.build().map_err(|error| misbuilt(error, bodies))?;
    Ok((model, records))
}

fn plain(name: String, parent: Option<LinkId>, frame: Isometry3<f64>, body: &MjcfBody) -> Link {
    Link {
        name,
        parent,
        joint: JointKind::Fixed,
        frame,
        inertia: RigidInertia::zero(),
        gravity: body.gravity,
        dofs: Vec::new(),
    }
}

fn kind(joint: &MjcfJoint) -> JointKind {
    match joint.freedom {
        Freedom::Free => JointKind::Free,
        Freedom::Ball => JointKind::Ball,
        Freedom::Slide(axis) => JointKind::Prismatic { axis },
        Freedom::Hinge(axis) => JointKind::Revolute { axis },
    }
}

/// The motion that takes a joint from its coordinate in the file's configuration to 0.
fn back(joint: &MjcfJoint) -> Isometry3<f64> {
    match joint.freedom {
        Freedom::Hinge(axis) => {
            let turn = UnitQuaternion::from_axis_angle(&axis, -joint.reference);
            Isometry3::from_parts(Translation3::identity(), turn)
        }
        Freedom::Slide(axis) => Translation3::from(axis.into_inner() * -joint.reference).into(),
        Freedom::Ball | Freedom::Free => Isometry3::identity(),
    }
}

/// Gives a link the inertia of its body. Of a body of which a part of the weight is compensated it
/// has the greater part: the one with weight or the one without.
fn carry(link: &mut Link, body: &MjcfBody, in_link: &Isometry3<f64>) {
    link.inertia = inertia(body, in_link, body.compensated.max(1.0 - body.compensated));
    link.gravity = body.gravity && body.compensated <= 0.5;
}

/// The other part, on a link that is fixed to the body's.
fn rest(body: &MjcfBody, link: Option<LinkId>, in_link: &Isometry3<f64>) -> Option<Link> {
    if body.compensated <= 0.0 || body.mass.is_none() {
        return None;
    }
    let name = format!("{}/gravcomp", body.name);
    let mut rest = plain(name, link, Isometry3::identity(), body);
    rest.inertia = inertia(body, in_link, body.compensated.min(1.0 - body.compensated));
    rest.gravity = body.compensated > 0.5;
    Some(rest)
}

/// A share of the inertia, about the link's origin, in the link's axes, which are parallel to the
/// body's.
fn inertia(body: &MjcfBody, in_link: &Isometry3<f64>, share: f64) -> RigidInertia {
    match &body.mass {
        Some((figures, center)) => {
            let center = in_link.translation.vector + center;
            RigidInertia::at_center(share * figures.mass, center, figures.inertia * share)
        }
        None => RigidInertia::zero(),
    }
}

/// The bodies that the user moves.
pub(super) fn mocaps(bodies: &[MjcfBody]) -> Vec<Mocap> {
    let moved = bodies.iter().filter(|body| body.mocap);
    moved.filter_map(|body| Some(Mocap { name: body.name.clone(), link: body.link? })).collect()
}

/// The configuration of the file.
pub(super) fn reference_state(model: &Model, bodies: &[MjcfBody], joints: &[JointRecord]) -> State {
    let mut state = model.zero_configuration();
    for joint in joints {
        let q = &mut state.q[model.positions_of(joint.link)];
        match joint.freedom {
            Freedom::Hinge(_) | Freedom::Slide(_) => q[0] = joint.reference,
            Freedom::Ball => {}
            Freedom::Free => {
                let body = bodies.iter().find(|body| body.link == Some(joint.link));
                if let Some(body) = body {
                    write_free(&body.pose, q);
                }
            }
        }
    }
    state
}

/// The positions of a free joint at a pose in the world.
pub(super) fn write_free(pose: &Isometry3<f64>, q: &mut [f64]) {
    let (r, x) = (pose.rotation, pose.translation.vector);
    q.copy_from_slice(&[r.w, r.i, r.j, r.k, x.x, x.y, x.z]);
}
