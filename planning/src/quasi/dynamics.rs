//! A step.

use nalgebra::{Isometry3, Unit, Vector3, Vector6};

use super::columns::DisplacementColumns;
use super::contact::{FacetContactModel, tangents};
use super::error::QuasiError;
use super::layout::{ObjectBlock, ObjectLayout};
use super::pairs::{self, CollisionPair, PlacedShape};
use super::settings::{ControlMode, QuasiSettings};
use pliant_geometry::pairs::{ContactPoint, PlacedSolid};
use pliant_numeric::linalg::Vec3;
use pliant_rigid::collision::CollisionModel;
use pliant_rigid::multibody::{ForceVector, Kinematics, Model, MotionVector, State};

/// A contact of the last step. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasiContact {
    /// Numbers of the two geometries in their scene.
    pub geometries: [usize; 2],
    /// Midway between the surfaces before the step \[m\].
    pub point: Vector3<f64>,
    /// From the first to the second.
    pub normal: Unit<Vector3<f64>>,
    /// Signed distance before the step \[m\].
    pub distance: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Force \[N\] on the second.
    pub force: Vector3<f64>,
    /// Index of its pair, and of the contact point within it.
    pub(super) pair: usize,
    pub(super) slot: usize,
}

/// Objects and a robot that move quasi-dynamically; see [`quasi`](super).
///
/// After construction nothing allocates.
#[derive(Clone, Debug)]
pub struct QuasiDynamics {
    pub(super) model: Model,
    pub(super) layout: ObjectLayout,
    pub(super) law: FacetContactModel,
    pub(super) control: ControlMode,
    margin: f64,
    pub(super) geometries: Vec<PlacedShape>,
    pub(super) pairs: Vec<CollisionPair>,
    state: State,
    pub(super) kinematics: Kinematics,
    pub(super) solids: Vec<PlacedSolid<f64>>,
    /// Of each object.
    pub(super) blocks: Vec<ObjectBlock>,
    /// y_0 and y, by degrees of freedom.
    pub(super) free: Vec<f64>,
    pub(super) displacement: Vec<f64>,
    /// b + J~^T lambda.
    pub(super) load: Vec<f64>,
    /// Of each mover, about its link's origin, world axes: y_0, and force of contacts.
    pub(super) motions: Vec<MotionVector>,
    pub(super) wrenches: Vec<ForceVector>,
    pub(super) contacts: Vec<QuasiContact>,
    pub(super) columns: DisplacementColumns,
}

/// A vector of nalgebra's.
pub(super) fn plain(v: Vec3<f64>) -> Vector3<f64> {
    v.0.into()
}

impl QuasiDynamics {
    /// The free bodies and mechanisms of `model` with the geometries of `scene`.
    ///
    /// # Errors
    /// Values out of range, joints that are not supported, pairs that may touch but have no closed
    /// form.
    pub fn new(model: &Model, scene: &CollisionModel, settings: &QuasiSettings) -> Result<Self, QuasiError> {
        let layout = ObjectLayout::new(model, settings)?;
        let (geometries, pairs) = pairs::find(scene, &layout)?;
        let identity = Isometry3::identity();
        let state = model.zero_configuration();
        let dofs = model.velocities();
        Ok(Self {
            law: FacetContactModel::new(settings),
            control: settings.control,
            margin: settings.margin,
            kinematics: Kinematics::new(model),
            solids: geometries.iter().map(|g| g.solid(&identity)).collect(),
            blocks: layout.bodies.iter().map(|body| body.block(&state.q)).collect(),
            free: vec![0.0; dofs],
            displacement: vec![0.0; dofs],
            load: vec![0.0; dofs],
            motions: vec![MotionVector::zero(); layout.movers.len()],
            wrenches: vec![ForceVector::zero(); layout.movers.len()],
            contacts: Vec::with_capacity(pairs.iter().map(|pair| pair.kind.most_points()).sum()),
            columns: DisplacementColumns::new(&layout),
            model: model.clone(),
            layout,
            geometries,
            pairs,
            state,
        })
    }

    /// Number of joints: length of a control.
    pub fn controls(&self) -> usize {
        self.layout.joints.len()
    }

    /// The contacts of the last step within the margin, in the order of pairs.
    pub fn contacts(&self) -> &[QuasiContact] {
        &self.contacts
    }

    /// The displacement of the last step, by degrees of freedom \[rad, m\].
    pub fn displacement(&self) -> &[f64] {
        &self.displacement
    }

    /// Writes the positions one step after `q` into `next`, with `control` for the joints
    /// \[rad, m\] in the order of their degrees of freedom.
    ///
    /// # Errors
    /// Lengths that do not fit, numbers that are not finite, quaternions that are not of unit
    /// length.
    pub fn step(&mut self, q: &[f64], control: &[f64], next: &mut [f64]) -> Result<(), QuasiError> {
        self.take(q, control, next.len())?;
        self.move_freely(control);
        self.touch();
        self.answer();
        next.copy_from_slice(q);
        self.model.advance(next, &self.displacement, 1.0);
        match next.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(QuasiError::NotFinite { index, value: next[index] }),
            None => Ok(()),
        }
    }

    fn take(&mut self, q: &[f64], control: &[f64], next: usize) -> Result<(), QuasiError> {
        for (field, found, expected) in [
            ("state", q.len(), self.model.positions()),
            ("next state", next, self.model.positions()),
            ("control", control.len(), self.controls()),
        ] {
            if found != expected {
                return Err(QuasiError::Length { field, found, expected });
            }
        }
        if let Some(value) = control.iter().find(|u| !u.is_finite()) {
            let (value, requirement) = (*value, "finite");
            return Err(QuasiError::Value { field: "control", value, unit: "rad or m", requirement });
        }
        self.state.q.copy_from_slice(q);
        self.state.validate(&self.model)?;
        self.kinematics.update(&self.model, &self.state);
        Ok(())
    }

    /// b and y_0, and the motion of the links.
    fn move_freely(&mut self, control: &[f64]) {
        let q = &self.state.q;
        for (body, block) in self.layout.bodies.iter().zip(&mut self.blocks) {
            *block = body.block(q);
            self.load[body.dof..body.dof + 6].copy_from_slice(block.load.as_slice());
            self.free[body.dof..body.dof + 6].copy_from_slice(block.free.as_slice());
        }
        for (joint, u) in self.layout.joints.iter().zip(control) {
            let expected = match self.control {
                ControlMode::Increments => *u,
                ControlMode::Targets => u - q[joint.position],
            };
            self.free[joint.dof] = expected;
            self.load[joint.dof] = joint.stiffness * expected;
        }
        for m in 0..self.layout.movers.len() {
            let mut motion = MotionVector::zero();
            for i in 0..self.layout.movers[m].dofs.len() {
                motion += self.axis(m, i) * self.free[self.layout.movers[m].dofs[i]];
            }
            self.motions[m] = motion;
        }
        self.wrenches.fill(ForceVector::zero());
    }

    /// Motion of a mover's link for a unit of its `i`-th degree of freedom, world axes, about its
    /// origin.
    pub(super) fn axis(&self, mover: usize, i: usize) -> MotionVector {
        let mover = &self.layout.movers[mover];
        let lever = self.origin(mover.link) - self.origin(mover.links[i]);
        self.kinematics.axes()[mover.dofs[i]].shifted(&lever)
    }

    /// Origin of a link \[m\].
    pub(super) fn origin(&self, link: pliant_rigid::multibody::LinkId) -> Vector3<f64> {
        self.kinematics.pose(link).translation.vector
    }

    /// Origin of the link of a mover; the world's without one.
    pub(super) fn origin_of(&self, mover: Option<usize>) -> Vector3<f64> {
        mover.map_or(Vector3::zeros(), |m| self.origin(self.layout.movers[m].link))
    }

    /// Motion of the link of a geometry.
    pub(super) fn motion_of(&self, mover: Option<usize>) -> MotionVector {
        mover.map_or(MotionVector::zero(), |m| self.motions[m])
    }

    /// Finds the contacts and their forces.
    fn touch(&mut self) {
        let world = Isometry3::identity();
        for (solid, g) in self.solids.iter_mut().zip(&self.geometries) {
            *solid = g.solid(g.mover.map_or(&world, |m| self.kinematics.pose(self.layout.movers[m].link)));
        }
        let mut contacts = core::mem::take(&mut self.contacts);
        contacts.clear();
        for (p, pair) in self.pairs.iter().enumerate() {
            let [a, b] = pair.geometries.map(|g| (&self.geometries[g], &self.solids[g]));
            if pairs::apart(a, b, self.margin + pair.margin) {
                continue;
            }
            pair.kind.contact_points(a.1, b.1, |slot, mut point| {
                point.distance -= pair.margin;
                if point.distance < self.margin {
                    contacts.push(self.contact(p, slot, &point));
                }
            });
        }
        for contact in &contacts {
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                let mover = self.geometries[contact.geometries[side]].mover;
                if let Some(m) = mover {
                    let lever = contact.point - self.origin_of(mover);
                    self.wrenches[m] += ForceVector::at(&lever, contact.force * sign);
                }
            }
        }
        self.contacts = contacts;
    }

    fn contact(&self, pair: usize, slot: usize, found: &ContactPoint<f64>) -> QuasiContact {
        let CollisionPair { geometries, friction, .. } = self.pairs[pair];
        let point = plain(found.point);
        let [u, v] = geometries.map(|g| {
            let mover = self.geometries[g].mover;
            self.motion_of(mover).shifted(&(point - self.origin_of(mover))).linear
        });
        let [s, t] = tangents(found.normal).map(plain);
        let axes = nalgebra::Matrix3::from_columns(&[plain(found.normal), s, t]);
        let force = axes * self.law.force(friction, found.distance, &axes.tr_mul(&(v - u)));
        QuasiContact {
            geometries,
            point,
            normal: Unit::new_unchecked(plain(found.normal)),
            distance: found.distance,
            friction,
            force,
            pair,
            slot,
        }
    }

    /// y.
    fn answer(&mut self) {
        for m in 0..self.layout.movers.len() {
            for i in 0..self.layout.movers[m].dofs.len() {
                self.load[self.layout.movers[m].dofs[i]] += self.axis(m, i).dot(&self.wrenches[m]);
            }
        }
        for (body, block) in self.layout.bodies.iter().zip(&self.blocks) {
            let dofs = body.dof..body.dof + 6;
            let answer = block.inverse * Vector6::from_column_slice(&self.load[dofs.clone()]);
            self.displacement[dofs].copy_from_slice(answer.as_slice());
        }
        for joint in &self.layout.joints {
            self.displacement[joint.dof] = self.load[joint.dof] / joint.stiffness;
        }
    }
}
