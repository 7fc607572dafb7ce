//! Primitives for ray casting: all in the world frame and f32.

use nalgebra::Matrix3;

use super::cloth::RenderCloth;
use super::error::RenderError;
use super::picture::{BodyShape, Picture, RenderBody};
use super::ray::{Ray, V3};
use super::surface::RenderSurface;
use super::weave::{is_faded, tone};
use super::{color, triangle};

/// A solid or a triangle.
pub(super) enum Shape {
    Sphere {
        center: V3,
        radius: f32,
    },
    Posed {
        solid: ConvexSolid,
        rotation: Matrix3<f32>,
        center: V3,
    },
    /// `sides` is the index of its two colours, if it is of cloth.
    Triangle {
        corners: [V3; 3],
        normals: [V3; 3],
        sides: Option<u32>,
    },
}

/// A convex solid in its own frame.
pub(super) enum ConvexSolid {
    Box(V3),
    Capsule {
        radius: f32,
        half_length: f32,
    },
    Cylinder {
        radius: f32,
        half_length: f32,
    },
    /// Half of the axes.
    Ellipsoid(V3),
}

/// A shape with its colours.
pub(super) struct Primitive {
    pub shape: Shape,
    /// Linear albedo.
    pub albedo: [f32; 3],
    /// Strength of the highlight.
    pub gloss: f32,
    /// Whether the octants of a posed solid differ in tone.
    pub marked: bool,
}

/// An endless floor.
#[derive(Clone, PartialEq)]
pub(super) struct Plane {
    pub point: V3,
    pub normal: V3,
    /// Two unit vectors along the grid lines.
    pub axes: [V3; 2],
    pub albedo: [f32; 3],
}

/// Colours of a triangle of cloth: linear albedo of the front at its corners, and of the back.
pub(super) struct Sides {
    pub front: [[f32; 3]; 3],
    pub back: Option<[f32; 3]>,
    /// Coordinates of the corners in the material, if it looks woven \[m\].
    pub weave: Option<[[f32; 2]; 3]>,
}

/// All of the picture's content.
pub(super) struct RenderScene {
    pub primitives: Vec<Primitive>,
    pub planes: Vec<Plane>,
    /// Colours of the triangles of cloth.
    pub sides: Vec<Sides>,
}

/// Highlights: weak on bodies, hardly any on particles and cloth.
const GLOSS_BODY: f32 = 0.22;
const GLOSS_PARTICLE: f32 = 0.05;
const GLOSS_CLOTH: f32 = 0.01;
const GLOSS_SOFT: f32 = 0.06;

/// Tone of the darker octants of a marked solid over that of the lighter ones: enough to see, not
/// to mistake for a shadow.
const MARK: f32 = 0.62;

/// sRGB of the floor under `Picture::ground`.
const GROUND: [u8; 3] = [222, 224, 228];

impl RenderScene {
    pub fn new(picture: &Picture) -> Result<Self, RenderError> {
        let primitives = Vec::with_capacity(picture.particles.len());
        let mut scene = Self { primitives, planes: Vec::new(), sides: Vec::new() };
        for (number, body) in picture.bodies.iter().enumerate() {
            scene.add_body(number, body)?;
        }
        for (number, cloth) in picture.cloths.iter().enumerate() {
            scene.add_cloth(number, cloth)?;
        }
        for (number, surface) in picture.surfaces.iter().enumerate() {
            scene.add_surface(number, surface)?;
        }
        for ball in picture.particles {
            let center = V3::from(ball.center);
            if center.iter().all(|x| x.is_finite()) && ball.radius > 0.0 && ball.radius.is_finite() {
                let albedo = color::linear(ball.color);
                let shape = Shape::Sphere { center, radius: ball.radius };
                scene.primitives.push(Primitive { shape, albedo, gloss: GLOSS_PARTICLE, marked: false });
            }
        }
        if let Some(height) = picture.ground {
            scene.planes.push(Plane {
                point: V3::new(0.0, 0.0, height as f32),
                normal: V3::z(),
                axes: [V3::x(), V3::y()],
                albedo: color::linear(GROUND),
            });
        }
        Ok(scene)
    }

    /// Adds the triangles of cloth number `number`.
    fn add_cloth(&mut self, number: usize, cloth: &RenderCloth) -> Result<(), RenderError> {
        let (known, triangles) = (cloth.positions.len().min(cloth.colors.len()), cloth.triangles);
        let missing = triangles.iter().position(|t| t.iter().any(|&v| v as usize >= known));
        if let Some(triangle) = missing {
            return Err(RenderError::RenderCloth { cloth: number, triangle });
        }
        let backs = cloth.back_colors.len();
        if backs != 0 && backs != triangles.len() {
            return Err(RenderError::Backs { cloth: number, triangles: triangles.len(), backs });
        }
        self.add_sheet(cloth, GLOSS_CLOTH);
        Ok(())
    }

    /// Adds surface number `number`: seen from outside alone, so that its back needs no colour.
    fn add_surface(&mut self, number: usize, surface: &RenderSurface) -> Result<(), RenderError> {
        let RenderSurface { positions, colors, triangles } = surface;
        let known = positions.len().min(colors.len());
        let missing = triangles.iter().position(|t| t.iter().any(|&v| v as usize >= known));
        if let Some(triangle) = missing {
            return Err(RenderError::Surface { surface: number, triangle });
        }
        self.add_sheet(
            &RenderCloth { positions, colors, triangles, back_colors: &[], weave: &[] },
            GLOSS_SOFT,
        );
        Ok(())
    }

    /// Adds triangles whose indices exist.
    fn add_sheet(&mut self, cloth: &RenderCloth, gloss: f32) {
        let triangles = cloth.triangles;
        let points: Vec<V3> = cloth.positions.iter().map(|p| V3::from(*p)).collect();
        let normals = triangle::vertex_normals(&points, triangles);
        let is_woven = !points.is_empty() && cloth.weave.len() >= points.len();
        self.primitives.reserve(triangles.len());
        self.sides.reserve(triangles.len());
        for (at, t) in triangles.iter().enumerate() {
            let corners = t.map(|v| points[v as usize]);
            let Some(flat) = triangle::facet(&corners).try_normalize(0.0) else { continue };
            if !flat.iter().all(|x| x.is_finite()) {
                continue;
            }
            let normals = t.map(|v| normals[v as usize].try_normalize(0.0).unwrap_or(flat));
            let front = t.map(|v| color::linear(cloth.colors[v as usize]));
            let shape = Shape::Triangle { corners, normals, sides: Some(self.sides.len() as u32) };
            self.primitives.push(Primitive { shape, albedo: front[0], gloss, marked: false });
            let back = cloth.back_colors.get(at).map(|c| color::linear(*c));
            let weave = is_woven.then(|| t.map(|v| cloth.weave[v as usize]));
            self.sides.push(Sides { front, back, weave });
        }
    }

    fn add_body(&mut self, number: usize, body: &RenderBody) -> Result<(), RenderError> {
        let rotation: Matrix3<f32> = body.pose.rotation.to_rotation_matrix().matrix().cast();
        let center: V3 = body.pose.translation.vector.cast();
        let albedo = color::linear(body.color);
        let posed = |solid| Shape::Posed { solid, rotation, center };
        let shape = match &body.shape {
            // Marks rotate with the solid; a plain sphere needs no frame.
            BodyShape::Sphere { radius } if body.marked => {
                posed(ConvexSolid::Ellipsoid(V3::repeat(*radius as f32)))
            }
            BodyShape::Sphere { radius } => Shape::Sphere { center, radius: *radius as f32 },
            BodyShape::Box { half_extents } => posed(ConvexSolid::Box(half_extents.cast())),
            BodyShape::Capsule { radius, half_length } => {
                posed(ConvexSolid::Capsule { radius: *radius as f32, half_length: *half_length as f32 })
            }
            BodyShape::Cylinder { radius, half_length } => {
                posed(ConvexSolid::Cylinder { radius: *radius as f32, half_length: *half_length as f32 })
            }
            BodyShape::Ellipsoid { half_axes } => posed(ConvexSolid::Ellipsoid(half_axes.cast())),
            BodyShape::HalfSpace => {
                let axis = |i: usize| rotation.column(i).into_owned();
                let axes = [axis(0), axis(1)];
                self.planes.push(Plane { point: center, normal: axis(2), axes, albedo });
                return Ok(());
            }
            BodyShape::Mesh { vertices, triangles, smooth } => {
                let points: Vec<V3> = vertices.iter().map(|v| (body.pose * v).coords.cast()).collect();
                return self.add_mesh(number, &points, triangles, *smooth, albedo);
            }
        };
        let marked = body.marked && !matches!(body.shape, BodyShape::Box { .. });
        self.primitives.push(Primitive { shape, albedo, gloss: GLOSS_BODY, marked });
        Ok(())
    }

    fn add_mesh(
        &mut self,
        body: usize,
        points: &[V3],
        triangles: &[[u32; 3]],
        smooth: bool,
        albedo: [f32; 3],
    ) -> Result<(), RenderError> {
        let missing = triangles.iter().position(|t| t.iter().any(|&v| v as usize >= points.len()));
        if let Some(triangle) = missing {
            return Err(RenderError::Mesh { body, triangle });
        }
        let vertex_normals = if smooth { triangle::vertex_normals(points, triangles) } else { Vec::new() };
        for t in triangles {
            let corners = t.map(|v| points[v as usize]);
            let Some(flat) = triangle::facet(&corners).try_normalize(0.0) else { continue };
            if corners.iter().any(|c| c.iter().any(|x| !x.is_finite())) {
                continue;
            }
            let normals = t.map(|v| {
                vertex_normals.get(v as usize).map_or(flat, |n| n.try_normalize(0.0).unwrap_or(flat))
            });
            let shape = Shape::Triangle { corners, normals, sides: None };
            self.primitives.push(Primitive { shape, albedo, gloss: GLOSS_BODY * 0.5, marked: false });
        }
        Ok(())
    }

    /// Linear albedo at a surface `point` of a primitive, averaged over a footprint of `width`
    /// \[m\].
    pub fn albedo(&self, primitive: &Primitive, ray: &Ray, point: &V3, width: f32) -> [f32; 3] {
        let Shape::Triangle { corners, sides: Some(sides), .. } = &primitive.shape else {
            return primitive.albedo_at(point, width);
        };
        let Sides { front, back, weave } = &self.sides[*sides as usize];
        let tone = match weave {
            Some(weave) if !is_faded(width) => {
                let weights = corner_weights(corners, ray);
                tone([0, 1].map(|c| (0..3).map(|i| weights[i] * weave[i][c]).sum()), width)
            }
            _ => 1.0,
        };
        let flat = match back {
            Some(back) if triangle::from_behind(corners, ray) => *back,
            _ if front[1] == front[0] && front[2] == front[0] => front[0],
            _ => {
                let weights = corner_weights(corners, ray);
                std::array::from_fn(|c| (0..3).map(|i| weights[i] * front[i][c]).sum())
            }
        };
        flat.map(|c| c * tone)
    }

    /// A sphere about everything but the planes: centre and radius \[m\]; a unit one when there is
    /// nothing.
    pub fn bounding_sphere(&self) -> (V3, f32) {
        let mut low = V3::repeat(f32::INFINITY);
        let mut high = V3::repeat(f32::NEG_INFINITY);
        for primitive in &self.primitives {
            let (a, b) = primitive.shape.bounds();
            low = low.inf(&a);
            high = high.sup(&b);
        }
        if self.primitives.is_empty() {
            return (V3::zeros(), 1.0);
        }
        let center = (low + high) / 2.0;
        let farthest = |p: &Primitive| {
            let (a, b) = p.shape.bounds();
            (a - center).abs().sup(&(b - center).abs()).norm()
        };
        let radius = self.primitives.iter().map(farthest).fold(0.0, f32::max);
        (center, radius.max(1e-6))
    }
}

/// Weights of the corners where the ray meets a triangle.
fn corner_weights(corners: &[V3; 3], ray: &Ray) -> [f32; 3] {
    triangle::intersect(corners, ray).map_or([1.0 / 3.0; 3], |(_, weights)| weights)
}

impl Primitive {
    /// Linear albedo at a surface point, averaged over a footprint of `width` \[m\].
    fn albedo_at(&self, point: &V3, width: f32) -> [f32; 3] {
        let Shape::Posed { rotation, center, .. } = &self.shape else { return self.albedo };
        if !self.marked {
            return self.albedo;
        }
        // The product of the three signs, each smoothed over the footprint: +1 and -1 in turn from
        // octant to octant.
        let local = rotation.tr_mul(&(point - center));
        let parity: f32 = local.iter().map(|x| (2.0 * x / width.max(1e-9)).clamp(-1.0, 1.0)).product();
        let tone = 0.5 * (1.0 + MARK) + 0.5 * (1.0 - MARK) * parity;
        self.albedo.map(|a| a * tone)
    }
}

impl Shape {
    /// Axis-aligned bounds.
    fn bounds(&self) -> (V3, V3) {
        match self {
            Self::Sphere { center, radius } => (center.add_scalar(-radius), center.add_scalar(*radius)),
            Self::Posed { solid, rotation, center } => {
                let reach = rotation.abs() * solid.half_extents();
                (center - reach, center + reach)
            }
            Self::Triangle { corners: [a, b, c], .. } => (a.inf(b).inf(c), a.sup(b).sup(c)),
        }
    }

    /// First crossing t of the ray with the surface, if any.
    pub fn intersect(&self, ray: &Ray) -> Option<f32> {
        match self {
            Self::Sphere { center, radius } => sphere(&(center - ray.origin), *radius, &ray.direction),
            Self::Posed { solid, rotation, center } => {
                let origin = rotation.tr_mul(&(ray.origin - center));
                solid.intersect(&origin, &rotation.tr_mul(&ray.direction))
            }
            Self::Triangle { corners, .. } => triangle::intersect(corners, ray).map(|(t, _)| t),
        }
    }

    /// Unit normal at the crossing `t`, on the side the ray comes from.
    pub fn normal(&self, ray: &Ray, t: f32) -> V3 {
        let point = ray.origin + ray.direction * t;
        let outward = match self {
            Self::Sphere { center, .. } => point - center,
            Self::Posed { solid, rotation, center } => {
                rotation * solid.normal(&rotation.tr_mul(&(point - center)))
            }
            Self::Triangle { corners, normals, .. } => return triangle::seen_normal(corners, normals, ray),
        };
        outward.try_normalize(0.0).unwrap_or(-ray.direction)
    }
}

/// Ray from the origin to a sphere about `center`: the half chord from the ray's nearest point,
/// which loses no digits.
fn sphere(center: &V3, radius: f32, direction: &V3) -> Option<f32> {
    let along = center.dot(direction);
    let aside = center - direction * along;
    let half_chord_squared = radius * radius - aside.norm_squared();
    if half_chord_squared < 0.0 {
        return None;
    }
    let t = along - half_chord_squared.sqrt();
    (t > 0.0).then_some(t)
}

impl ConvexSolid {
    /// Half of the sides of its box.
    pub fn half_extents(&self) -> V3 {
        match self {
            Self::Box(half) => *half,
            Self::Capsule { radius, half_length } => V3::new(*radius, *radius, half_length + radius),
            Self::Cylinder { radius, half_length } => V3::new(*radius, *radius, *half_length),
            Self::Ellipsoid(half) => *half,
        }
    }

    /// Corners of its box, posed: bit 0 of the number is the side along x, and so on.
    pub fn box_corners(&self, rotation: &Matrix3<f32>, center: &V3) -> [V3; 8] {
        let half = self.half_extents();
        std::array::from_fn(|corner| {
            let signs = [0, 1, 2].map(|axis| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 });
            center + rotation * half.component_mul(&V3::from(signs))
        })
    }

    /// First crossing t of a ray in the solid's frame, if any.
    pub fn intersect(&self, origin: &V3, direction: &V3) -> Option<f32> {
        match self {
            Self::Box(half) => {
                let (enter, leave) = slab(origin, direction, half, &[0, 1, 2]);
                (enter <= leave && enter > 0.0).then_some(enter)
            }
            Self::Cylinder { radius, half_length } => {
                let (enter, leave) = round_wall(origin, direction, *radius)?;
                let (bottom, top) = slab(origin, direction, &V3::new(0.0, 0.0, *half_length), &[2]);
                let (enter, leave) = (enter.max(bottom), leave.min(top));
                (enter <= leave && enter > 0.0).then_some(enter)
            }
            Self::Capsule { radius, half_length } => {
                let wall = round_wall(origin, direction, *radius)
                    .map(|(enter, _)| enter)
                    .filter(|t| *t > 0.0 && (origin.z + direction.z * t).abs() <= *half_length);
                let end = |z: f32| sphere(&(V3::new(0.0, 0.0, z) - origin), *radius, direction);
                let ends = [wall, end(*half_length), end(-half_length)];
                ends.into_iter().flatten().reduce(f32::min)
            }
            Self::Ellipsoid(half) => {
                // The unit sphere in stretched space: half chord from the nearest point, as for the
                // sphere.
                let (from, along) = (origin.component_div(half), direction.component_div(half));
                let a = along.norm_squared();
                let nearest = -from.dot(&along) / a;
                let half_chord_squared = (1.0 - (from + along * nearest).norm_squared()) / a;
                if half_chord_squared < 0.0 {
                    return None;
                }
                let t = nearest - half_chord_squared.sqrt();
                (t > 0.0).then_some(t)
            }
        }
    }

    /// Outward normal at a surface point, any length.
    fn normal(&self, p: &V3) -> V3 {
        match self {
            Self::Box(half) => {
                let depth = p.component_div(half);
                let axis = depth.iamax();
                V3::ith(axis, depth[axis].signum())
            }
            Self::Capsule { half_length, .. } => {
                V3::new(p.x, p.y, p.z - p.z.clamp(-half_length, *half_length))
            }
            Self::Ellipsoid(half) => p.component_div(&half.component_mul(half)),
            Self::Cylinder { radius, half_length } => {
                // The nearer surface, each relative to its own size.
                let beyond_end = p.z.abs() - half_length;
                let beyond_wall = p.x.hypot(p.y) - radius;
                if beyond_end > beyond_wall { V3::z() * p.z.signum() } else { V3::new(p.x, p.y, 0.0) }
            }
        }
    }
}

/// The part of the ray within |x_axis| <= half_axis for the given axes: entry and exit.
fn slab(origin: &V3, direction: &V3, half: &V3, axes: &[usize]) -> (f32, f32) {
    let mut range = (f32::NEG_INFINITY, f32::INFINITY);
    for &axis in axes {
        // Division by zero gives infinities of the right sign; 0/0 (a ray in the face) fails both
        // comparisons.
        let a = (-half[axis] - origin[axis]) / direction[axis];
        let b = (half[axis] - origin[axis]) / direction[axis];
        range = (range.0.max(a.min(b)), range.1.min(a.max(b)));
    }
    range
}

/// The part of the ray within the endless cylinder of `radius` about z: entry and exit.
fn round_wall(origin: &V3, direction: &V3, radius: f32) -> Option<(f32, f32)> {
    let across = nalgebra::Vector2::new(direction.x, direction.y);
    let from = nalgebra::Vector2::new(origin.x, origin.y);
    let a = across.norm_squared();
    if a < 1e-12 {
        return (from.norm() <= radius).then_some((f32::NEG_INFINITY, f32::INFINITY));
    }
    // Nearest point to the axis first, then the half chord, as for the sphere.
    let nearest = -from.dot(&across) / a;
    let half_chord_squared = (radius * radius - (from + across * nearest).norm_squared()) / a;
    if half_chord_squared < 0.0 {
        return None;
    }
    let half_chord = half_chord_squared.sqrt();
    Some((nearest - half_chord, nearest + half_chord))
}
