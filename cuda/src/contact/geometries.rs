//! The geometries of bodies in device memory.

use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use pliant_rigid::{Bodies, ConvexHull, Geometry, Shape, TriangleMesh};

use super::error::ContactError;
use super::triangles::Triangles;
use crate::kernels::{
    ContactGeometry, ContactNode, ContactShapes, SHAPE_BOX, SHAPE_CAPSULE, SHAPE_CYLINDER, SHAPE_ELLIPSOID,
    SHAPE_HALF_SPACE, SHAPE_HULL, SHAPE_MESH, SHAPE_SPHERE,
};
use crate::{Buffer, Device};

/// The least and the largest size of a shape [m]: squares of their ratio, and their product with
/// the tiniest part, are numbers.
const SIZES: [f64; 2] = [1e-9, 1e9];

/// The most triangles of all bodies: numbers of nodes and triangles are below 2^32.
const MOST_TRIANGLES: usize = 1 << 30;

/// The geometries of all bodies, uploaded once.
#[derive(Debug)]
pub struct DeviceGeometries {
    geometries: Buffer<ContactGeometry>,
    /// The same on the host.
    listed: Vec<ContactGeometry>,
    nodes: Buffer<ContactNode>,
    triangles: Buffer<[f32; 12]>,
    edge_normals: Buffer<[f32; 18]>,
    features: Buffer<u32>,
    slots: Buffer<u32>,
    planes: Buffer<[f32; 4]>,
    middles: Vec<Vector3<f64>>,
    bodies: usize,
    range: f64,
}

/// What is uploaded.
#[derive(Default)]
struct Lists {
    geometries: Vec<ContactGeometry>,
    nodes: Vec<ContactNode>,
    triangles: Vec<[f32; 12]>,
    edge_normals: Vec<[f32; 18]>,
    features: Vec<u32>,
    slots: Vec<u32>,
    planes: Vec<[f32; 4]>,
    middles: Vec<Vector3<f64>>,
}

impl DeviceGeometries {
    /// The geometries of these bodies, in the order of the bodies.
    ///
    /// # Errors
    /// [`ContactError::Size`] where a shape is too small or large for single precision,
    /// [`ContactError::Triangles`], and those of the device.
    pub fn new(device: &Device, bodies: &Bodies) -> Result<Self, ContactError> {
        let mut lists = Lists::default();
        let mut range = 0.0_f64;
        for (id, body) in bodies.iter() {
            for (index, geometry) in body.geometries.iter().enumerate() {
                lists.add(id.0 as u32, &body.name, index, geometry)?;
                range = range.max(geometry.adhesion.map_or(0.0, |adhesion| adhesion.range));
            }
        }
        Ok(Self {
            geometries: device.upload(&lists.geometries)?,
            listed: lists.geometries,
            nodes: device.upload(&lists.nodes)?,
            triangles: device.upload(&lists.triangles)?,
            edge_normals: device.upload(&lists.edge_normals)?,
            features: device.upload(&lists.features)?,
            slots: device.upload(&lists.slots)?,
            planes: device.upload(&lists.planes)?,
            middles: lists.middles,
            bodies: bodies.len(),
            range,
        })
    }

    /// Takes the friction of these bodies, which are those that it was made of.
    ///
    /// # Errors
    /// Those of the device.
    pub fn take_friction(&mut self, bodies: &Bodies) -> Result<(), ContactError> {
        let geometries = bodies.iter().flat_map(|(_, body)| &body.geometries);
        for (listed, geometry) in self.listed.iter_mut().zip(geometries) {
            listed.friction = geometry.material.dynamic_friction as f32;
        }
        Ok(self.geometries.upload(&self.listed)?)
    }

    /// As kernels get them.
    pub fn shapes(&self) -> ContactShapes {
        ContactShapes {
            geometries: self.geometries.span(),
            nodes: self.nodes.span(),
            triangles: self.triangles.span(),
            edge_normals: self.edge_normals.span(),
            features: self.features.span(),
            slots: self.slots.span(),
            planes: self.planes.span(),
        }
    }

    /// Number of geometries.
    pub fn len(&self) -> usize {
        self.middles.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.middles.is_empty()
    }

    /// Number of bodies.
    pub fn bodies(&self) -> usize {
        self.bodies
    }

    /// The origin of a geometry's frame on the device, in the shape's frame \[m\]: the middle of a
    /// hull's, mesh's or height field's bounding box, zero for others. `None` where there is no
    /// such geometry.
    pub fn center(&self, geometry: usize) -> Option<Vector3<f64>> {
        self.middles.get(geometry).copied()
    }

    /// The largest gap at which bonds to any geometry break \[m\]; 0 where nothing adheres.
    pub fn adhesion_range(&self) -> f64 {
        self.range
    }
}

impl Lists {
    fn add(&mut self, body: u32, name: &str, index: usize, geometry: &Geometry) -> Result<(), ContactError> {
        let single = |v: &Vector3<f64>| [v.x as f32, v.y as f32, v.z as f32];
        let refuse = |value| ContactError::Size {
            body: name.to_owned(),
            geometry: index,
            shape: geometry.shape.name(),
            value,
        };
        let check = |size: Vector3<f64>| {
            let wrong = size.iter().copied().find(|s| !(SIZES[0]..=SIZES[1]).contains(s));
            wrong.map_or(Ok(single(&size)), |value| Err(refuse(value)))
        };
        let first = [self.nodes.len(), self.triangles.len(), self.planes.len()].map(|n| n as u32);
        let (mut center, mut radius, mut features) = (Vector3::zeros(), 0.0, 1);
        let (kind, size) = match &geometry.shape {
            Shape::HalfSpace => (SHAPE_HALF_SPACE, [0.0; 3]),
            Shape::Box { half_extents } => (SHAPE_BOX, check(*half_extents)?),
            Shape::Sphere { radius } => (SHAPE_SPHERE, check(Vector3::repeat(*radius))?),
            Shape::Capsule { radius, half_length } => {
                // The cylindrical part may have no length.
                check(Vector3::new(*radius, *radius, radius + half_length))?;
                (SHAPE_CAPSULE, single(&Vector3::new(*radius, *half_length, 0.0)))
            }
            Shape::Cylinder { radius, half_length } => {
                (SHAPE_CYLINDER, check(Vector3::new(*radius, *half_length, *radius))?)
            }
            Shape::Ellipsoid { semi_axes } => (SHAPE_ELLIPSOID, check(*semi_axes)?),
            Shape::ConvexHull(hull) => {
                let (half, ball) = self.add_mesh(hull.mesh(), &mut center);
                features = self.add_planes(hull, &center, first[1] as usize);
                radius = ball;
                (SHAPE_HULL, check(half)?)
            }
            Shape::Mesh(mesh) => {
                let (half, ball) = self.add_mesh(mesh, &mut center);
                (features, radius) = (mesh.triangles().len() as u32, ball);
                (SHAPE_MESH, check(half)?)
            }
            Shape::HeightField(field) => {
                let (half, ball) = self.add_mesh(field.mesh(), &mut center);
                (features, radius) = (field.mesh().triangles().len() as u32, ball);
                (SHAPE_MESH, check(half)?)
            }
        };
        if self.triangles.len() > MOST_TRIANGLES {
            return Err(ContactError::Triangles {
                body: name.to_owned(),
                geometry: index,
                shape: geometry.shape.name(),
                triangles: self.triangles.len(),
                most: MOST_TRIANGLES,
            });
        }
        let pose: Isometry3<f64> = geometry.pose * Translation3::from(center);
        let rotation = pose.rotation.quaternion();
        self.middles.push(center);
        self.geometries.push(ContactGeometry {
            kind,
            body,
            features,
            adhesive: u32::from(geometry.adhesion.is_some()),
            size,
            radius: radius as f32,
            friction: geometry.material.dynamic_friction as f32,
            adhesion_stress: geometry.adhesion.map_or(0.0, |a| a.stress as f32),
            adhesion_range: geometry.adhesion.map_or(0.0, |a| a.range as f32),
            first_node: first[0],
            first_triangle: first[1],
            first_plane: first[2],
            rotation: [rotation.w, rotation.i, rotation.j, rotation.k],
            translation: pose.translation.vector.into(),
        });
        Ok(())
    }

    /// Adds triangles relative to the middle of their bounding box, and gives half of that box,
    /// rounded up, and the radius of its bounding sphere \[m\].
    fn add_mesh(&mut self, mesh: &TriangleMesh, center: &mut Vector3<f64>) -> (Vector3<f64>, f64) {
        let used = || mesh.triangles().iter().flatten().map(|i| mesh.vertices()[*i as usize]);
        let start = (Point3::from(Vector3::repeat(f64::MAX)), Point3::from(Vector3::repeat(f64::MIN)));
        let (low, high) = used().fold(start, |(low, high), p| (low.inf(&p), high.sup(&p)));
        *center = 0.5 * (low.coords + high.coords);
        let normals: Vec<Vector3<f64>> = mesh.face_normals().iter().map(|n| n.into_inner()).collect();
        let mut triangles = Triangles::new(mesh.vertices(), mesh.triangles(), &normals, center);
        let first = self.triangles.len() as u32;
        let mut slots = vec![0; triangles.numbers.len()];
        for (slot, &number) in triangles.numbers.iter().enumerate() {
            slots[number as usize] = first + slot as u32;
        }
        // The box on the device must hold the rounded corners too.
        let half = (high.coords - *center).map(|x| f64::from((x as f32).next_up()));
        self.nodes.append(&mut triangles.nodes);
        self.triangles.append(&mut triangles.triangles);
        self.edge_normals.append(&mut triangles.edge_normals);
        self.features.append(&mut triangles.numbers);
        self.slots.append(&mut slots);
        (half, half.norm())
    }

    /// Adds the faces of a hull whose triangles are those from `first` on, and gives their number.
    fn add_planes(&mut self, hull: &ConvexHull, center: &Vector3<f64>, first: usize) -> u32 {
        let planes = self.planes.len();
        self.planes.extend((0..hull.face_count() as u32).filter_map(|face| hull.face(face)).map(
            |(normal, offset)| {
                let offset = offset - normal.dot(center);
                [normal.x as f32, normal.y as f32, normal.z as f32, offset as f32]
            },
        ));
        for feature in &mut self.features[first..] {
            *feature = face_of(hull, *feature);
        }
        (self.planes.len() - planes) as u32
    }
}

/// The face of a hull's triangle: the one whose plane is nearest to all of its corners, of those
/// that face its way.
fn face_of(hull: &ConvexHull, triangle: u32) -> u32 {
    let mesh = hull.mesh();
    let corners = mesh.triangles()[triangle as usize].map(|i| mesh.vertices()[i as usize].coords);
    let own = mesh.face_normals()[triangle as usize];
    let faces = (0..hull.face_count() as u32).filter_map(|face| hull.face(face).map(|plane| (face, plane)));
    let off = faces.filter(|(_, (normal, _))| normal.dot(&own) > 0.0).map(|(face, (normal, offset))| {
        let off = corners.iter().map(|corner| (normal.dot(corner) - offset).abs()).fold(0.0, f64::max);
        (face, off)
    });
    off.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(face, _)| face)
}
