//! Sources of contacts, and contact forces.

use nalgebra::Vector3;

use crate::collision::{CollisionGeometry, ContactMaterial};
use crate::comfree::ImpedanceCurve;
use crate::multibody::{Kinematics, LinkId, Model};

/// A contact candidate of two bodies, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactCandidate {
    /// First body; `None` is the world.
    pub first: Option<LinkId>,
    /// Second body; `None` is the world.
    pub second: Option<LinkId>,
    /// Numbers of the geometries of both bodies in the source; of a source without geometries any.
    pub geometries: [u32; 2],
    /// Contact point \[m\].
    pub point: Vector3<f64>,
    /// Unit normal from the first body to the second.
    pub normal: Vector3<f64>,
    /// Signed distance \[m\] less the margins of both surfaces: negative when they press each other.
    pub distance: f64,
    /// Stiffness of both bodies in series \[N/m\].
    pub stiffness: f64,
    /// Hunt and Crossley's dissipation \[s/m\].
    pub dissipation: f64,
    /// Coefficient of restitution of an impact within a step.
    pub restitution: f64,
    /// Static coefficient of friction.
    pub static_friction: f64,
    /// Dynamic coefficient of friction.
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
    /// Half of the thickness of the thinner of both shapes \[m\], infinite if neither is bounded:
    /// surfaces that overlap by more have passed each other's middles. With the margins.
    pub half_thickness: f64,
}

impl ContactCandidate {
    /// The contact of two geometries with these `numbers` in the source at a point, with the
    /// compliance and friction of `both`. `distance` and half of the thickness are in m,
    /// without margins.
    pub fn between(
        ([a, b], numbers): ([&CollisionGeometry; 2], [usize; 2]),
        both: &ContactMaterial,
        point: Vector3<f64>,
        normal: Vector3<f64>,
        (distance, half_thickness): (f64, f64),
        stiction_tolerance: f64,
    ) -> Self {
        Self {
            first: a.link,
            second: b.link,
            geometries: numbers.map(|number| number as u32),
            point,
            normal,
            distance: distance - both.margin,
            stiffness: both.stiffness,
            dissipation: both.dissipation,
            restitution: both.restitution,
            static_friction: both.static_friction,
            dynamic_friction: both.dynamic_friction,
            stiction_tolerance,
            torsional_friction: both.torsional_friction,
            rolling_friction: both.rolling_friction,
            impedance: both.impedance,
            half_thickness: half_thickness + both.margin,
        }
    }

    /// Whether it has torsional or rolling friction.
    pub(crate) fn resists_turning(&self) -> bool {
        self.torsional_friction > 0.0 || self.rolling_friction > 0.0
    }
}

/// Finds contacts.
pub trait ContactSource {
    /// Appends every contact closer than `margin` \[m\] at these kinematics, in an order that
    /// depends only on these.
    fn contacts(
        &mut self,
        model: &Model,
        kinematics: &Kinematics,
        margin: f64,
        out: &mut Vec<ContactCandidate>,
    );
}

/// No contacts.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContacts;

impl ContactSource for NoContacts {
    fn contacts(&mut self, _: &Model, _: &Kinematics, _: f64, _: &mut Vec<ContactCandidate>) {}
}

/// Force of a contact in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// The contact.
    pub candidate: ContactCandidate,
    /// Force on the second body, mean over the step \[N\], world axes; the first gets the opposite.
    pub force: Vector3<f64>,
    /// Moment of torsional and rolling friction on the second body about the contact point \[N m\],
    /// likewise.
    pub moment: Vector3<f64>,
    /// Velocity of the second body against the first at the end of the step \[m/s\].
    pub velocity: Vector3<f64>,
}
