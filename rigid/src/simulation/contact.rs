//! Where contacts come from, and what they pass on.

use nalgebra::Vector3;

use crate::collision::{CollisionGeometry, ContactMaterial};
use crate::comfree::ImpedanceCurve;
use crate::multibody::{Kinematics, LinkId, Model};

/// A point where two bodies touch or nearly do. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactCandidate {
    /// First body; `None` is the world.
    pub first: Option<LinkId>,
    /// Second body; `None` is the world.
    pub second: Option<LinkId>,
    /// Where \[m\].
    pub point: Vector3<f64>,
    /// Unit normal from the first body to the second.
    pub normal: Vector3<f64>,
    /// Signed distance \[m\], negative when they overlap.
    pub distance: f64,
    /// Stiffness of both bodies in series \[N/m\].
    pub stiffness: f64,
    /// Hunt and Crossley's dissipation \[s/m\].
    pub dissipation: f64,
    /// Coefficient of restitution of an impact within a step.
    pub restitution: f64,
    /// Coefficient of friction at rest.
    pub static_friction: f64,
    /// Coefficient of friction in motion.
    pub dynamic_friction: f64,
    /// Stiction tolerance \[m/s\].
    pub stiction_tolerance: f64,
    /// Length \[m\] that bounds the moment about the normal, times the normal force; of the
    /// closed-form solver.
    pub torsional_friction: f64,
    /// Length \[m\] that bounds the moment against rolling, likewise.
    pub rolling_friction: f64,
    /// Impedance of the closed-form solver.
    pub impedance: ImpedanceCurve,
    /// Half of the thickness of the thinner of both shapes \[m\], infinite where none has an end:
    /// surfaces that overlap by more have passed each other's middles.
    pub half_thickness: f64,
}

impl ContactCandidate {
    /// Of two geometries that meet at a point, with the compliance and friction of both.
    pub fn between(
        [a, b]: [&CollisionGeometry; 2],
        point: Vector3<f64>,
        normal: Vector3<f64>,
        (distance, half_thickness): (f64, f64),
        stiction_tolerance: f64,
    ) -> Self {
        let both = ContactMaterial::combine(&a.material, &b.material);
        Self {
            first: a.link,
            second: b.link,
            point,
            normal,
            distance,
            stiffness: both.stiffness,
            dissipation: both.dissipation,
            restitution: both.restitution,
            static_friction: both.static_friction,
            dynamic_friction: both.dynamic_friction,
            stiction_tolerance,
            torsional_friction: both.torsional_friction,
            rolling_friction: both.rolling_friction,
            impedance: both.impedance,
            half_thickness,
        }
    }

    /// Whether it resists turning or rolling.
    pub(crate) fn resists_turning(&self) -> bool {
        self.torsional_friction > 0.0 || self.rolling_friction > 0.0
    }
}

/// Finds contacts.
pub trait ContactSource {
    /// Appends every contact closer than `margin` \[m\] at these kinematics, in an order that
    /// depends on nothing else.
    fn contacts(
        &mut self,
        model: &Model,
        kinematics: &Kinematics,
        margin: f64,
        out: &mut Vec<ContactCandidate>,
    );
}

/// Nothing touches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContacts;

impl ContactSource for NoContacts {
    fn contacts(&mut self, _: &Model, _: &Kinematics, _: f64, _: &mut Vec<ContactCandidate>) {}
}

/// What a contact passed on in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// The contact.
    pub candidate: ContactCandidate,
    /// Force on the second body, mean over the step \[N\], world axes; the first gets the opposite.
    pub force: Vector3<f64>,
    /// Moment on the second body about the contact's point, of friction against turning and rolling
    /// \[N m\], likewise.
    pub moment: Vector3<f64>,
    /// Velocity of the second body against the first at the end of the step \[m/s\].
    pub velocity: Vector3<f64>,
}
