//! What of bodies can change between steps, after they were built.

use nalgebra::{Isometry3, Vector3};

use super::Bodies;
use crate::error::RigidError;
use crate::id::BodyId;
use crate::multibody::{ForceVector, LinkId, PathSide};

impl Bodies {
    /// Gives all shapes of a body one coefficient of friction \[-\], at rest and in motion, against
    /// particles and bodies. Pairs of shapes with a contact of their own keep that of the pair, and
    /// granular material with rough walls its own.
    ///
    /// # Errors
    /// A coefficient that is not finite or negative; nothing is changed then.
    pub fn set_friction(&mut self, id: BodyId, coefficient: f64) -> Result<(), RigidError> {
        let body = &mut self.bodies[id.0];
        if !(coefficient.is_finite() && coefficient >= 0.0) {
            let must = "finite and not negative";
            return Err(RigidError::value(&body.name, "friction", coefficient, "", must));
        }
        let count = body.geometries.len();
        for geometry in &mut body.geometries {
            geometry.material.static_friction = coefficient;
            geometry.material.dynamic_friction = coefficient;
        }
        // Bodies were given to the collision model in their order.
        let first = self.bodies[..id.0].iter().map(|body| body.geometries.len()).sum::<usize>();
        self.simulation.source_mut().set_friction(first..first + count, coefficient);
        self.surface_changes += 1;
        Ok(())
    }

    /// How often the surfaces of bodies were changed: who keeps a copy of them compares this number.
    pub fn surface_changes(&self) -> u64 {
        self.surface_changes
    }

    /// Sets the constant force \[N\] and torque \[N m\] on a body at its origin, world frame, that
    /// act until they are set again. They do nothing on bodies that are fixed or prescribed.
    ///
    /// # Errors
    /// A component that is not finite; nothing is changed then.
    pub fn set_load(
        &mut self,
        id: BodyId,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
    ) -> Result<(), RigidError> {
        let body = &mut self.bodies[id.0];
        for (field, vector, unit) in [("force", force, "N"), ("torque", torque, "N m")] {
            if let Some(x) = vector.iter().find(|x| !x.is_finite()) {
                return Err(RigidError::value(&body.name, field, *x, unit, "finite"));
            }
        }
        body.load = ForceVector::new(*torque, *force);
        Ok(())
    }

    /// Gives the link of a body another mass \[kg\], and its inertia the same factor; the centre of
    /// mass stays. What that changes of the energy counts as work on the bodies. Whether the body
    /// is coupled to particles strongly or weakly was decided with the first mass.
    ///
    /// # Errors
    /// A mass that is not finite and positive, a body that has no mass of its own, and a mechanism
    /// whose mass matrix would be singular; nothing is changed then.
    pub fn set_mass(&mut self, id: BodyId, mass: f64) -> Result<(), RigidError> {
        let body = &self.bodies[id.0];
        let refuse = |must| Err(RigidError::value(&body.name, "mass", mass, "kg", must));
        if !(mass.is_finite() && mass > 0.0) {
            return refuse("finite and positive");
        }
        let model = &self.simulation.system().model;
        let old = body.link.map_or(0.0, |link| model.links()[link.0].inertia.mass);
        let Some(link) = body.link.filter(|_| old > 0.0) else {
            return refuse("that of a body that has a mass");
        };
        self.prepared = None;
        self.find_kinematics(PathSide::After);
        let before = self.energy();
        self.simulation.scale_inertia(link, mass / old)?;
        let after = self.energy();
        let work = after.kinetic - before.kinetic + after.gravitational - before.gravitational;
        self.simulation.count_work(work);
        Ok(())
    }

    /// Moves a prescribed body to a pose in the world within a time \[s\]:
    /// [`Simulation::move_link`](crate::simulation::Simulation::move_link).
    ///
    /// # Errors
    /// As there, and a fixed body; nothing is changed then.
    pub fn move_body(&mut self, id: BodyId, to: &Isometry3<f64>, within: f64) -> Result<(), RigidError> {
        let body = &self.bodies[id.0];
        let Some(link) = body.link else {
            let requirement = "that of a body that was built on a path; this one is fixed";
            return Err(RigidError::Invalid { body: body.name.clone(), field: "pose", requirement });
        };
        let to = to * body.frame.inverse();
        self.move_link(link, &to, within)
    }

    /// Moves a prescribed link to a pose in the world within a time:
    /// [`Simulation::move_link`](crate::simulation::Simulation::move_link).
    ///
    /// # Errors
    /// As there; nothing is changed then.
    pub fn move_link(&mut self, link: LinkId, to: &Isometry3<f64>, within: f64) -> Result<(), RigidError> {
        let joint = self.simulation.system().model.links().get(link.0);
        let (parent, frame) = joint.map_or((None, Isometry3::identity()), |l| (l.parent, l.frame));
        let parent = parent.map_or_else(Isometry3::identity, |parent| *self.kinematics.pose(parent));
        self.simulation.move_link(link, &((parent * frame).inverse() * to), within)?;
        self.prepared = None;
        self.find_kinematics(PathSide::After);
        Ok(())
    }
}
