//! The joints between a base and a tool.

use nalgebra::{DMatrix, Isometry3, Unit, Vector3};

use super::error::InverseKinematicsError;
use pliant_rigid::multibody::{JointKind, Link, LinkId};

/// Kind of motion of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
enum JointAxis {
    Turns(Unit<Vector3<f64>>),
    Slides(Unit<Vector3<f64>>),
}

#[derive(Clone, Debug, PartialEq)]
struct ChainJoint {
    link: LinkId,
    name: String,
    /// The joint's frame F in the frame M of the joint before, or in the base.
    frame: Isometry3<f64>,
    axis: JointAxis,
    limits: [f64; 2],
}

/// The joints from a base to a tool, each with one coordinate. A configuration has one number per
/// joint, in the order from the base [rad; m for a prismatic joint].
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    joints: Vec<ChainJoint>,
    /// The tool's frame in the frame of the last joint.
    tool: Isometry3<f64>,
}

impl Chain {
    /// The joints that move `tip` against `base` (`None`: the world) among `links`, parents first;
    /// the tool's frame is `tool` in that of `tip`. Poses are in the frame of `base`.
    ///
    /// # Errors
    /// [`InverseKinematicsError::Joint`] if one of the joints does not have exactly one coordinate,
    /// or follows a path; [`InverseKinematicsError::NoJoints`] if no joint moves the tip, or the
    /// tip does not depend on the base.
    pub fn new(
        links: &[Link],
        base: Option<LinkId>,
        tip: LinkId,
        tool: &Isometry3<f64>,
    ) -> Result<Self, InverseKinematicsError> {
        let residual = || InverseKinematicsError::NoJoints { tip: tip.0 };
        let (mut joints, mut after) = (Vec::new(), Isometry3::identity());
        let mut tool_in_last = None;
        let mut at = Some(tip);
        while at != base {
            let id = at.ok_or_else(residual)?;
            let link = links.get(id.0).ok_or_else(residual)?;
            let axis = match link.joint {
                JointKind::Fixed => None,
                JointKind::Revolute { axis } => Some(JointAxis::Turns(axis)),
                JointKind::Prismatic { axis } => Some(JointAxis::Slides(axis)),
                ref other => {
                    let (link, kind) = (link.name.clone(), other.name());
                    return Err(InverseKinematicsError::Joint { link, kind });
                }
            };
            match axis {
                None => after = link.frame * after,
                Some(axis) => {
                    // The links so far are children of this joint.
                    match joints.last_mut() {
                        None => tool_in_last = Some(after),
                        Some(ChainJoint { frame, .. }) => *frame = after * *frame,
                    }
                    after = Isometry3::identity();
                    let limits = link.dofs.first().map_or([f64::NEG_INFINITY, f64::INFINITY], |d| d.limits);
                    joints.push(ChainJoint {
                        link: id,
                        name: link.name.clone(),
                        frame: link.frame,
                        axis,
                        limits,
                    });
                }
            }
            at = link.parent;
        }
        let Some(first) = joints.last_mut() else { return Err(residual()) };
        first.frame = after * first.frame;
        joints.reverse();
        Ok(Self { joints, tool: tool_in_last.unwrap_or_else(Isometry3::identity) * tool })
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Always false: a chain has a joint.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The link that a joint moves.
    pub fn link(&self, joint: usize) -> LinkId {
        self.joints[joint].link
    }

    /// Name of the link that a joint moves.
    pub fn name(&self, joint: usize) -> &str {
        &self.joints[joint].name
    }

    /// Whether a joint is revolute; else it is prismatic.
    pub fn turns(&self, joint: usize) -> bool {
        matches!(self.joints[joint].axis, JointAxis::Turns(_))
    }

    /// Least and greatest coordinate of a joint \[rad, m\]; infinite where there is no limit.
    pub fn limits(&self, joint: usize) -> [f64; 2] {
        self.joints[joint].limits
    }

    /// Pose of the tool in the base at a configuration \[rad, m\].
    pub fn pose(&self, configuration: &[f64]) -> Isometry3<f64> {
        let mut at = Isometry3::identity();
        for (joint, &q) in self.joints.iter().zip(configuration) {
            at = at * joint.frame * moved(&joint.axis, q);
        }
        at * self.tool
    }

    /// Pose of the tool, and its Jacobian: angular velocity (rows 0 to 2) and velocity of its
    /// origin (rows 3 to 5) in the axes of the base, one column per joint.
    pub fn jacobian(&self, configuration: &[f64]) -> (Isometry3<f64>, DMatrix<f64>) {
        let mut jacobian = DMatrix::zeros(6, self.len());
        let mut origins = Vec::with_capacity(self.len());
        let mut at = Isometry3::identity();
        for (j, (joint, &q)) in self.joints.iter().zip(configuration).enumerate() {
            let frame = at * joint.frame;
            let (row, axis) = match joint.axis {
                JointAxis::Turns(axis) => (0, axis),
                JointAxis::Slides(axis) => (3, axis),
            };
            jacobian.fixed_view_mut::<3, 1>(row, j).copy_from(&(frame.rotation * axis.into_inner()));
            origins.push(frame.translation.vector);
            at = frame * moved(&joint.axis, q);
        }
        let pose = at * self.tool;
        for (j, origin) in origins.iter().enumerate() {
            if self.turns(j) {
                let axis: Vector3<f64> = jacobian.fixed_view::<3, 1>(0, j).into_owned();
                let lever = pose.translation.vector - origin;
                jacobian.fixed_view_mut::<3, 1>(3, j).copy_from(&axis.cross(&lever));
            }
        }
        (pose, jacobian)
    }

    /// A quarter of the stretched chain's length [m]: the lever that converts an error of
    /// orientation to one of position.
    pub(super) fn lever(&self) -> f64 {
        let bars = self.joints.iter().skip(1).map(|joint| joint.frame.translation.vector.norm());
        let length = bars.sum::<f64>() + self.tool.translation.vector.norm();
        if length > 0.0 { 0.25 * length } else { 1.0 }
    }

    /// Clamps each coordinate to its limits.
    pub(super) fn clamp(&self, configuration: &mut [f64]) {
        for (q, joint) in configuration.iter_mut().zip(&self.joints) {
            *q = q.max(joint.limits[0]).min(joint.limits[1]);
        }
    }
}

fn moved(axis: &JointAxis, q: f64) -> Isometry3<f64> {
    match axis {
        JointAxis::Turns(axis) => Isometry3::rotation(axis.into_inner() * q),
        JointAxis::Slides(axis) => {
            let shift = axis.into_inner() * q;
            Isometry3::translation(shift.x, shift.y, shift.z)
        }
    }
}
