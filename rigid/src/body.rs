//! Descriptions of bodies.

use std::collections::BTreeSet;

use crate::collision::{CollisionGeometry, ContactMaterial, PairMaterial};
use crate::error::RigidError;
use crate::mass::MassProperties;
use crate::motion::{DynamicMotion, Motion};
use crate::multibody::{LinkId, State};
use crate::names::MechanismNames;
use crate::out_of_range::OutOfRange;
use crate::simulation::System;
use crate::spatial::SpatialVelocity;
use crate::trajectory::{Trajectory, VelocityKey};
use nalgebra::{Isometry3, UnitQuaternion};
use pliant_geometry::{Drawn, Shape};
use serde::{Deserialize, Serialize};

/// Adhesion of particles to a geometry (Dugdale 1960): particles that were pressed onto it bear a
/// constant tensile stress until the gap exceeds the range. Its work of adhesion is `stress` times
/// `range` \[J/m^2\]. The stress counts as normal pressure in the friction bound. The range should be
/// well above the displacement of the fastest particle in a substep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Adhesion {
    /// Largest tensile stress of a bond \[Pa\].
    pub stress: f64,
    /// Gap at which it breaks \[m\].
    pub range: f64,
}

impl Adhesion {
    /// The figures that are out of range, as fields of an `adhesion`.
    pub fn out_of_range(&self) -> impl Iterator<Item = OutOfRange> {
        let stress = OutOfRange::unless_positive("adhesion.stress", self.stress, "Pa");
        stress.into_iter().chain(OutOfRange::unless_positive("adhesion.range", self.range, "m"))
    }
}

/// A shape that a body carries, and that others can touch.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// The solid.
    pub shape: Shape,
    /// Its pose in the body frame.
    pub pose: Isometry3<f64>,
    /// Compliance against other bodies, and friction. Particles slide with the dynamic coefficient.
    pub material: ContactMaterial,
    /// Adhesion of particles; none is usual. Bodies do not adhere to each other.
    pub adhesion: Option<Adhesion>,
    /// Its groups, one per bit.
    pub group: u32,
    /// Groups that it can touch, one per bit: two bodies' geometries can touch if each is in a
    /// group of the other's mask. Particles touch all.
    pub mask: u32,
    /// Whether pictures show it.
    pub seen: bool,
    /// Colour for pictures: red, green, blue (sRGB).
    pub color: [u8; 3],
}

impl Geometry {
    /// A shape at the body's origin, with the usual compliance and this coefficient of friction,
    /// grey.
    pub fn new(shape: Shape, friction: f64) -> Self {
        Self {
            shape,
            pose: Isometry3::identity(),
            material: ContactMaterial::with_friction(friction),
            adhesion: None,
            group: 1,
            mask: u32::MAX,
            seen: true,
            color: [160, 160, 165],
        }
    }

    /// The same elsewhere in the body frame.
    pub fn at(self, pose: Isometry3<f64>) -> Self {
        Self { pose, ..self }
    }
}

/// Something that is only drawn.
#[derive(Clone, Debug)]
pub struct Appearance {
    /// A solid, or a surface as it is.
    pub shape: Drawn,
    /// Its pose in the body frame.
    pub pose: Isometry3<f64>,
    /// Colour: red, green, blue (sRGB).
    pub color: [u8; 3],
}

/// Description of a body: initial pose, motion and geometries.
#[derive(Clone, Debug)]
pub struct BodyDesc {
    /// Name, unique among the bodies.
    pub name: String,
    /// Pose in the world at time 0.
    pub pose: Isometry3<f64>,
    /// How it moves.
    pub motion: Motion,
    /// Its shapes.
    pub geometries: Vec<Geometry>,
    /// Shapes without contact.
    pub appearance: Vec<Appearance>,
}

impl BodyDesc {
    /// Coefficient of friction of bodies for which none is given \[-\].
    pub const FRICTION: f64 = 0.5;

    /// A body of one shape, at the origin of the world and of its own frame, grey, with the usual
    /// compliance and [`FRICTION`](Self::FRICTION).
    pub fn new(name: impl Into<String>, shape: Shape, motion: impl Into<Motion>) -> Self {
        Self {
            name: name.into(),
            pose: Isometry3::identity(),
            motion: motion.into(),
            geometries: vec![Geometry::new(shape, Self::FRICTION)],
            appearance: Vec::new(),
        }
    }

    /// A body that stays where it is; otherwise as [`new`](Self::new).
    pub fn fixed(name: impl Into<String>, shape: Shape) -> Self {
        Self::new(name, shape, Motion::Fixed)
    }

    /// A body that follows a path, whatever acts on it; it starts where the path does at time 0 if
    /// that has poses. Otherwise as [`new`](Self::new).
    pub fn prescribed(name: impl Into<String>, shape: Shape, path: Trajectory) -> Self {
        let pose = path.start(&Isometry3::identity());
        Self { pose, ..Self::new(name, shape, Motion::Prescribed(path)) }
    }

    /// A body that a program moves ([`Bodies::move_body`](crate::Bodies::move_body)), whatever acts
    /// on it, and that rests until then. Otherwise as [`new`](Self::new).
    pub fn moved(name: impl Into<String>, shape: Shape) -> Self {
        let rest = VelocityKey { time: 0.0, velocity: SpatialVelocity::zero() };
        Self::new(name, shape, Motion::Prescribed(Trajectory::Velocities(vec![rest])))
    }

    /// The same with adhesion of particles to all its shapes.
    pub fn adhesion(mut self, adhesion: Adhesion) -> Self {
        self.geometries.iter_mut().for_each(|geometry| geometry.adhesion = Some(adhesion));
        self
    }

    /// A free, homogeneous body of this density \[kg/m^3\], at rest, under gravity. Its origin is
    /// its centre of mass, and the shape is moved so. Otherwise as [`new`](Self::new).
    ///
    /// # Errors
    /// [`RigidError`] naming the body, where the density is not positive or the shape has no volume.
    pub fn dynamic(name: impl Into<String>, shape: Shape, density: f64) -> Result<Self, RigidError> {
        let name = name.into();
        if !(density.is_finite() && density > 0.0) {
            return Err(RigidError::value(&name, "density", density, "kg/m^3", "finite and positive"));
        }
        let Some((mass, center, inertia)) = shape.mass_properties(density) else {
            return Err(RigidError::value(&name, "volume", f64::INFINITY, "m^3", "finite"));
        };
        let mass = MassProperties { mass, inertia };
        mass.validate(&name)?;
        let offset = Isometry3::from_parts((-center.coords).into(), UnitQuaternion::identity());
        Ok(Self::new(name, shape, DynamicMotion::free(mass)).shapes_at(offset))
    }

    /// The same at this pose in the world at time 0.
    pub fn at(self, pose: Isometry3<f64>) -> Self {
        Self { pose, ..self }
    }

    /// The same with one coefficient of friction of all its shapes, at rest and in motion \[-\].
    pub fn friction(mut self, coefficient: f64) -> Self {
        for geometry in &mut self.geometries {
            geometry.material.static_friction = coefficient;
            geometry.material.dynamic_friction = coefficient;
        }
        self
    }

    /// The same in one colour (red, green, blue; sRGB) in pictures.
    pub fn color(mut self, color: [u8; 3]) -> Self {
        self.geometries.iter_mut().for_each(|geometry| geometry.color = color);
        self.appearance.iter_mut().for_each(|seen| seen.color = color);
        self
    }

    /// The same with one more shape.
    pub fn with(mut self, geometry: Geometry) -> Self {
        self.geometries.push(geometry);
        self
    }

    /// The same with all shapes at this pose in the body frame.
    fn shapes_at(mut self, pose: Isometry3<f64>) -> Self {
        self.geometries.iter_mut().for_each(|geometry| geometry.pose = pose);
        self
    }
}

/// Description of a mechanism: links, motors and constraints with their shapes.
#[derive(Debug)]
pub struct MechanismDesc {
    /// Links, motors, constraints and controllers.
    pub system: System,
    /// Shapes that can touch.
    pub geometries: Vec<CollisionGeometry>,
    /// Pairs of links that do not touch, besides those that
    /// [`CollisionModel`](crate::collision::CollisionModel) always excludes.
    pub excluded: Vec<(LinkId, LinkId)>,
    /// Pairs of `geometries` with a contact of their own.
    pub pairs: Vec<PairMaterial>,
    /// Numbers of the geometries that pictures leave out.
    pub hidden: BTreeSet<usize>,
    /// Shapes that are only drawn, each with its link; `None` is the world.
    pub visuals: Vec<(Option<LinkId>, Appearance)>,
    /// The state at the start.
    pub state: State,
    /// Names for a [`RobotHandle`](crate::RobotHandle).
    pub names: MechanismNames,
}
