//! Parts of pictures of runs and worlds: the shapes of bodies, and a camera that shows all.

use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use pliant_render::{BodyShape, Camera, RenderBody, RenderSphere};
use pliant_rigid::multibody::{JointKind, Link};
use pliant_rigid::{Body, Drawn, Shape};

/// Fraction of the particles that may lie outside the picture, so that a few outliers do not shrink
/// the rest.
const STRAYS: f64 = 0.002;

/// Default direction of the camera: from the front right \[rad\].
pub(crate) const AZIMUTH: f64 = -1.05;
/// Above the horizon \[rad\].
pub(crate) const ELEVATION: f64 = 0.42;

/// Segments round a circle of a tessellated solid.
const SEGMENTS: u32 = 48;

/// A box round what is to be seen, its third axis against gravity.
pub(crate) struct Region {
    upright: UnitQuaternion<f64>,
    low: Point3<f64>,
    high: Point3<f64>,
}

impl Region {
    /// An empty region; `upright` turns gravity along -z.
    pub fn new(upright: UnitQuaternion<f64>) -> Self {
        let low = Point3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY);
        Self { upright, low, high: -low }
    }

    /// Adds particles, without outliers.
    pub fn add_balls(&mut self, balls: &[RenderSphere]) {
        for axis in 0..3 {
            let along = self.upright.inverse_transform_vector(&Vector3::ith(axis, 1.0));
            let (least, most) = extent(balls, &along);
            self.low[axis] = self.low[axis].min(least);
            self.high[axis] = self.high[axis].max(most);
        }
    }

    /// Adds a point \[m\].
    pub fn add_point(&mut self, point: &Point3<f64>) {
        let point = self.upright * point;
        self.low = self.low.inf(&point);
        self.high = self.high.sup(&point);
    }

    /// Adds a body at a pose.
    pub fn add_body(&mut self, body: &Body, pose: &Isometry3<f64>) {
        for seen in &body.appearance {
            corners(&seen.shape).for_each(|corner| self.add_point(&(pose * seen.pose * corner)));
        }
        for geometry in &body.geometries {
            if let Some((center, radius)) = geometry.shape.bounding_sphere() {
                let center = self.upright * (pose * geometry.pose * center);
                self.low = self.low.inf(&(center - Vector3::repeat(radius)));
                self.high = self.high.sup(&(center + Vector3::repeat(radius)));
            }
        }
    }

    /// A camera that shows all of it in pictures of this width and height \[pixels\].
    pub fn camera(mut self, [width, height]: [u32; 2]) -> Camera {
        if !(self.low.iter().chain(self.high.iter()).all(|x| x.is_finite())) {
            (self.low, self.high) = (Point3::new(-0.5, -0.5, 0.0), Point3::new(0.5, 0.5, 0.5));
        }
        let ratio = f64::from(width) / f64::from(height);
        let camera = Camera::frame(self.low, self.high, AZIMUTH, ELEVATION, ratio);
        let back = self.upright.inverse();
        let up = back * Vector3::z();
        Camera { position: back * camera.position, target: back * camera.target, up, ..camera }
    }
}

/// Adds the shapes of a body that pictures show, at its pose; those that move by forces are marked.
pub(crate) fn add_shapes(body: &Body, pose: &Isometry3<f64>, links: &[Link], out: &mut Vec<RenderBody>) {
    let moves = |link: &Link| !matches!(link.joint, JointKind::Fixed | JointKind::Prescribed(_));
    let marked = body.link.is_some_and(|link| moves(&links[link.0]));
    let touched = body.geometries.iter().filter(|g| g.seen);
    let touched = touched.map(|g| (shape(&g.shape), &g.pose, g.color));
    let seen = body.appearance.iter().map(|a| (drawn(&a.shape), &a.pose, a.color));
    out.extend(touched.chain(seen).map(|(shape, at, color)| RenderBody {
        shape,
        pose: pose * at,
        color,
        marked,
    }));
}

/// The rotation after which gravity \[m/s^2\] points along -z; none without gravity.
pub(crate) fn upright(gravity: &Vector3<f64>) -> UnitQuaternion<f64> {
    let up = -gravity;
    UnitQuaternion::rotation_between(&up, &Vector3::z()).unwrap_or_default()
}

/// The range of the spheres along an axis (a unit vector), without outliers.
fn extent(balls: &[RenderSphere], axis: &Vector3<f64>) -> (f64, f64) {
    let axis = axis.cast::<f32>();
    let along = balls.iter().map(|ball| Vector3::from(ball.center).dot(&axis));
    let mut values: Vec<f32> = along.filter(|x| x.is_finite()).collect();
    values.sort_unstable_by(f32::total_cmp);
    let strays = (STRAYS * values.len() as f64) as usize;
    match (values.get(strays), values.iter().rev().nth(strays)) {
        (Some(&least), Some(&most)) => (f64::from(least), f64::from(most)),
        _ => (f64::INFINITY, f64::NEG_INFINITY),
    }
}

/// A plane that particles do not cross: a point \[m\], and the normal towards them.
pub type Plane = (Point3<f64>, Unit<Vector3<f64>>);

/// Height of the highest level plane \[m\]: it is drawn as the ground.
pub(crate) fn ground(planes: &[Plane]) -> Option<f64> {
    planes.iter().filter(|(_, normal)| is_level(normal)).map(|(point, _)| point.z).reduce(f64::max)
}

fn is_level(normal: &Unit<Vector3<f64>>) -> bool {
    normal.z > 1.0 - 1e-9
}

/// Planes that are neither level nor steep, as half-spaces; steep ones would hide the scene.
pub(crate) fn slopes(planes: &[Plane]) -> impl Iterator<Item = RenderBody> {
    planes.iter().filter(|(_, normal)| !is_level(normal) && normal.z > 0.5).map(|(point, normal)| {
        let turn = UnitQuaternion::rotation_between_axis(&Vector3::z_axis(), normal);
        let pose = Isometry3::from_parts(Translation3::from(*point), turn.unwrap_or_default());
        RenderBody { shape: BodyShape::HalfSpace, pose, color: [190, 190, 185], marked: false }
    })
}

/// The corners of the box round a shape that is only seen; none of one without bounds.
fn corners(drawn: &Drawn) -> impl Iterator<Item = Point3<f64>> {
    let range = match drawn {
        Drawn::Solid(solid) => solid
            .bounding_sphere()
            .map(|(center, radius)| (center - Vector3::repeat(radius), center + Vector3::repeat(radius))),
        Drawn::Surface(surface) => surface.vertices().first().map(|first| {
            surface.vertices().iter().fold((*first, *first), |(low, high), v| (low.inf(v), high.sup(v)))
        }),
    };
    range.into_iter().flat_map(|(low, high)| {
        (0..8).map(move |corner| {
            Point3::from(Vector3::from_fn(
                |axis, _| if corner >> axis & 1 == 0 { low[axis] } else { high[axis] },
            ))
        })
    })
}

/// The renderer's shape of what is only seen.
pub fn drawn(drawn: &Drawn) -> BodyShape {
    match drawn {
        Drawn::Solid(solid) => shape(solid),
        Drawn::Surface(surface) => BodyShape::Mesh {
            vertices: surface.vertices().to_vec(),
            triangles: surface.triangles().to_vec(),
            smooth: false,
        },
    }
}

/// The renderer's shape of a solid.
pub fn shape(shape: &Shape) -> BodyShape {
    match shape {
        Shape::HalfSpace => BodyShape::HalfSpace,
        Shape::Box { half_extents } => BodyShape::Box { half_extents: *half_extents },
        Shape::Sphere { radius } => BodyShape::Sphere { radius: *radius },
        Shape::Capsule { radius, half_length } => {
            BodyShape::Capsule { radius: *radius, half_length: *half_length }
        }
        Shape::Cylinder { radius, half_length } => {
            BodyShape::Cylinder { radius: *radius, half_length: *half_length }
        }
        Shape::ConvexHull(_) | Shape::Mesh(_) | Shape::HeightField(_) => {
            let (vertices, triangles) = shape.triangles(SEGMENTS);
            BodyShape::Mesh { vertices, triangles, smooth: false }
        }
        Shape::Ellipsoid { semi_axes } => BodyShape::Ellipsoid { half_axes: *semi_axes },
    }
}
