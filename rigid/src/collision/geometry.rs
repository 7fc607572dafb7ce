//! A shape on a link.

use super::material::ContactMaterial;
use crate::multibody::LinkId;
use nalgebra::Isometry3;
use pliant_geometry::Shape;

/// What two geometries are to each other, whatever their own materials, groups and masks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMaterial {
    /// Their numbers.
    pub geometries: [usize; 2],
    /// Compliance and friction of their contact, not of either surface.
    pub contact: ContactMaterial,
}

/// A shape on a link that other geometries can touch.
#[derive(Clone, Debug)]
pub struct CollisionGeometry {
    /// Name, for messages.
    pub name: String,
    /// The link it is on; `None` is the world.
    pub link: Option<LinkId>,
    /// Its frame in the link's \[m\].
    pub pose: Isometry3<f64>,
    /// The solid.
    pub shape: Shape,
    /// Compliance and friction.
    pub material: ContactMaterial,
    /// Its groups, one per bit.
    pub group: u32,
    /// Groups that it can touch, one per bit: a pair can touch if each is in a group of the other's
    /// mask.
    pub mask: u32,
    /// Red, green, blue for pictures.
    pub color: [u8; 3],
}
