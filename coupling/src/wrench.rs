//! Forces of contact on links and at sites of robots.

use nalgebra::Vector3;
use pliant_rigid::{BodyId, RobotError, RobotHandle};

use crate::world::World;

/// A force and a torque.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force \[N\].
    pub force: Vector3<f64>,
    /// Torque about the point that the wrench is at \[N m\].
    pub torque: Vector3<f64>,
}

impl Wrench {
    /// The same about a point that is at `arm` from this one's \[m\].
    pub fn about(&self, arm: &Vector3<f64>) -> Self {
        Self { force: self.force, torque: self.torque - arm.cross(&self.force) }
    }
}

impl World {
    /// Wrench of all contact on a body, of particles and of other bodies: mean over the last step,
    /// world axes, about the body's origin, which moves meanwhile. None before the first step.
    ///
    /// # Panics
    /// There is no such body.
    pub fn contact_wrench(&self, body: BodyId) -> Option<Wrench> {
        let (soft, rigid) = (&self.body_impulses()[body.0], &self.contact_impulses()[body.0]);
        let dt = self.settings().dt;
        let sum = |soft: &Vector3<f64>, rigid: &Vector3<f64>| (soft + rigid) / dt;
        let wrench =
            Wrench { force: sum(&soft.linear, &rigid.linear), torque: sum(&soft.angular, &rigid.angular) };
        (self.step_count() > 0).then_some(wrench)
    }

    /// [`contact_wrench`](Self::contact_wrench) on a link of a robot, by name: world axes, about the
    /// link's origin. None before the first step.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn link_wrench(&self, robot: &RobotHandle, link: &str) -> Result<Option<Wrench>, RobotError> {
        Ok(self.contact_wrench(robot.body(link)?))
    }

    /// [`contact_wrench`](Self::contact_wrench) on the link that carries a site, about the site and
    /// in its axes, as a force and torque sensor there with nothing but contact beyond it. None
    /// before the first step, and on a site of the world.
    ///
    /// # Errors
    /// [`RobotError::Unknown`].
    pub fn site_wrench(&self, robot: &RobotHandle, site: &str) -> Result<Option<Wrench>, RobotError> {
        let bodies = self.bodies();
        let site = robot.site(bodies, site)?;
        let pose = bodies.site_pose(site);
        let on_link = |body: &BodyId| site.link.is_some() && bodies.body(*body).link == site.link;
        let wrenches = robot.bodies().iter().filter(|body| on_link(body)).filter_map(|&body| {
            let arm = pose.translation.vector - bodies.pose(body).translation.vector;
            Some(self.contact_wrench(body)?.about(&arm))
        });
        let turn = pose.rotation.inverse();
        let turned = |w: Wrench| Wrench { force: turn * w.force, torque: turn * w.torque };
        let sum = |a: Wrench, b: Wrench| Wrench { force: a.force + b.force, torque: a.torque + b.torque };
        Ok(wrenches.reduce(sum).map(turned))
    }
}
