//! Objects, pushers and fingers for the quasi-dynamic model.

#![allow(dead_code, clippy::unwrap_used)] // every test file uses a part

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_planning::quasi::{QuasiDynamics, QuasiSettings};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::multibody::*;

use pliant_testing::Random;

/// Links and geometries on them.
pub struct Bench {
    pub builder: ModelBuilder,
    pub geometries: Vec<CollisionGeometry>,
    pub friction: f64,
}

impl Bench {
    pub fn new(gravity: Vector3<f64>, friction: f64) -> Self {
        Self { builder: ModelBuilder::new(gravity), geometries: Vec::new(), friction }
    }

    pub fn with_floor(gravity: Vector3<f64>, friction: f64) -> Self {
        let mut bench = Self::new(gravity, friction);
        bench.shape("floor", None, Isometry3::identity(), Shape::HalfSpace);
        bench
    }

    pub fn shape(&mut self, name: &str, link: Option<LinkId>, pose: Isometry3<f64>, shape: Shape) {
        self.geometries.push(CollisionGeometry {
            name: name.into(),
            link,
            pose,
            shape,
            material: ContactMaterial::with_friction(self.friction),
            group: 1,
            mask: 1,
            color: [0; 3],
        });
    }

    pub fn link(
        &mut self,
        name: &str,
        parent: Option<LinkId>,
        joint: JointKind,
        frame: Isometry3<f64>,
    ) -> LinkId {
        let inertia = RigidInertia::at_center(0.1, Vector3::zeros(), Matrix3::identity() * 1e-4);
        let link = Link { name: name.into(), parent, joint, frame, inertia, gravity: true, dofs: Vec::new() };
        self.builder.add(link).unwrap()
    }

    /// A free body of this mass (kg) with a shape, filled evenly but for its centre of mass.
    pub fn object(&mut self, name: &str, shape: Shape, mass: f64, center: Vector3<f64>) -> LinkId {
        let (one, _, inertia) =
            shape.mass_properties(1.0).unwrap_or((1.0, Point3::origin(), Matrix3::identity()));
        let inertia = RigidInertia::at_center(mass, center, inertia * (mass / one));
        let (joint, frame) = (JointKind::Free, Isometry3::identity());
        let link =
            Link { name: name.into(), parent: None, joint, frame, inertia, gravity: true, dofs: Vec::new() };
        let link = self.builder.add(link).unwrap();
        self.shape(name, Some(link), Isometry3::identity(), shape);
        link
    }

    /// Links that slide along x, y and z, the last with this shape.
    pub fn pusher(&mut self, shape: Shape) -> LinkId {
        let mut link = None;
        for (name, axis) in
            [("along x", Vector3::x_axis()), ("along y", Vector3::y_axis()), ("along z", Vector3::z_axis())]
        {
            link = Some(self.link(name, link, JointKind::Prismatic { axis }, Isometry3::identity()));
        }
        self.shape("pusher", link, Isometry3::identity(), shape);
        link.unwrap()
    }

    /// Joints that turn about skew axes, 0.1 m from each other, the last link with a capsule.
    pub fn finger(
        &mut self,
        name: &str,
        parent: Option<LinkId>,
        base: Isometry3<f64>,
        joints: usize,
    ) -> LinkId {
        let (mut link, mut frame) = (parent, base);
        for k in 0..joints {
            let axis = Unit::new_normalize(Vector3::new(0.3 * k as f64, 1.0, 0.2));
            link = Some(self.link(&format!("{name} {k}"), link, JointKind::Revolute { axis }, frame));
            let bend = UnitQuaternion::from_scaled_axis(Vector3::new(0.2, 0.1, 0.3));
            frame = Isometry3::from_parts(Translation3::new(0.0, 0.01, 0.1), bend);
        }
        // The tip is welded on.
        let tip =
            self.link(&format!("{name} tip"), link, JointKind::Fixed, Isometry3::translation(0.0, 0.0, 0.01));
        let shape = Shape::Capsule { radius: 0.02, half_length: 0.04 };
        self.shape(&format!("{name} tip"), Some(tip), Isometry3::translation(0.0, 0.0, 0.04), shape);
        tip
    }

    /// A ball welded to an object, which gravity does not act on.
    pub fn weightless_knob(&mut self, object: LinkId, frame: Isometry3<f64>) {
        let inertia = RigidInertia::at_center(0.1, Vector3::zeros(), Matrix3::identity() * 1e-4);
        let (name, joint) = ("knob".to_owned(), JointKind::Fixed);
        let link =
            Link { name, parent: Some(object), joint, frame, inertia, gravity: false, dofs: Vec::new() };
        let link = self.builder.add(link).unwrap();
        self.shape("knob", Some(link), Isometry3::identity(), Shape::Sphere { radius: 0.02 });
    }

    pub fn build(self) -> (Model, CollisionModel) {
        let model = self.builder.build().unwrap();
        let scene = CollisionModel::new(self.geometries, &model, &[]).unwrap();
        (model, scene)
    }

    pub fn dynamics(self, settings: &QuasiSettings) -> (Model, QuasiDynamics) {
        let (model, scene) = self.build();
        let dynamics = QuasiDynamics::new(&model, &scene, settings).unwrap();
        (model, dynamics)
    }
}

/// Puts a free body of a model somewhere.
pub fn place(model: &Model, q: &mut [f64], link: &str, pose: &Isometry3<f64>) {
    let at = model.positions_of(model.link(link).unwrap()).start;
    let (r, p) = (pose.rotation, pose.translation);
    q[at..at + 7].copy_from_slice(&[r.w, r.i, r.j, r.k, p.x, p.y, p.z]);
}

/// A small turn and shift.
pub fn shaken(random: &mut Random, turn: f64, shift: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(random.vector() * turn);
    Isometry3::from_parts(Translation3::from(random.vector() * shift), turn)
}
