//! Bodies that touch the floor z = 0 in given points, with closed-form distances: contact without
//! collision detection.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_rigid::comfree::ImpedanceCurve;
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::{ContactCandidate, ContactSource};

/// Spheres (of radius 0: points) fixed to links, over the floor.
#[derive(Clone, Debug)]
pub struct Floor {
    pub balls: Vec<(LinkId, Point3<f64>, f64)>,
    pub stiffness: f64,
    pub dissipation: f64,
    pub static_friction: f64,
    pub dynamic_friction: f64,
    pub stiction_tolerance: f64,
    pub torsional_friction: f64,
    pub rolling_friction: f64,
}

impl ContactSource for Floor {
    fn contacts(&mut self, _: &Model, kinematics: &Kinematics, margin: f64, out: &mut Vec<ContactCandidate>) {
        for &(link, center, radius) in &self.balls {
            let center = kinematics.pose(link) * center;
            let distance = center.z - radius;
            if distance < margin {
                out.push(ContactCandidate {
                    restitution: 0.0,
                    first: None,
                    second: Some(link),
                    geometries: [0; 2],
                    point: Vector3::new(center.x, center.y, 0.5 * distance),
                    normal: Vector3::z(),
                    distance,
                    stiffness: self.stiffness,
                    dissipation: self.dissipation,
                    static_friction: self.static_friction,
                    dynamic_friction: self.dynamic_friction,
                    stiction_tolerance: self.stiction_tolerance,
                    torsional_friction: self.torsional_friction,
                    rolling_friction: self.rolling_friction,
                    impedance: ImpedanceCurve::default(),
                    half_thickness: f64::INFINITY,
                });
            }
        }
    }
}

/// A free link with its centre of mass at its origin.
pub fn free_link(name: &str, mass: f64, inertia: Vector3<f64>) -> Link {
    Link {
        name: name.into(),
        parent: None,
        joint: JointKind::Free,
        frame: Isometry3::identity(),
        inertia: RigidInertia::at_center(mass, Vector3::zeros(), Matrix3::from_diagonal(&inertia)),
        gravity: true,
        dofs: Vec::new(),
    }
}

/// A box of 0.2 x 0.2 x 0.1 m, 1 kg, on its four corners, its lowest points at z = `height`;
/// gravity as given.
pub fn box_on_floor(gravity: Vector3<f64>, friction: f64, height: f64) -> (Model, State, Floor) {
    let mut builder = ModelBuilder::new(gravity);
    let inertia = Vector3::new(0.01 + 0.04 / 4.0, 0.02, 0.08 / 4.0) / 3.0 * 0.25;
    let link = builder.add(free_link("box", 1.0, inertia)).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q[6] = 0.05 + height;
    let mut balls = Vec::new();
    for x in [-0.1, 0.1] {
        for y in [-0.1, 0.1] {
            balls.push((link, Point3::new(x, y, -0.05), 0.0));
        }
    }
    let floor = Floor {
        balls,
        stiffness: 1e6,
        dissipation: 50.0,
        static_friction: friction,
        dynamic_friction: friction,
        stiction_tolerance: 1e-4,
        torsional_friction: 0.0,
        rolling_friction: 0.0,
    };
    (model, state, floor)
}
