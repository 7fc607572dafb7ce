//! Random particles among moving bodies, on the device and as plain numbers.

use bytemuck::Zeroable;
use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use pliant_coupling::ReferencePointPath;
use pliant_cuda::contact::{
    ContactDetectionOptions, ContactError, DetectorCapacity, DeviceContactDetector, DeviceExchange,
    DeviceGeometries,
};
use pliant_cuda::kernels::{ClothFaces, ContactBody, ContactSolution, ConvexIncidence, ParticleRows};
use pliant_cuda::layout::Span;
use pliant_cuda::staging::Staging;
use pliant_cuda::{Buffer, Commands, Device};
use pliant_rigid::{Bodies, BodyId, SpatialVelocity};

use super::Random;
use super::shapes::{bodies, geometry, pose, shapes, vector};

/// Grid spacing [m].
pub const H: f64 = 0.01;
/// Substep [s].
pub const DELTA: f64 = 4e-4;
/// Rows of particles.
const ROWS: usize = 34;

/// A particle as the device has it.
#[derive(Clone, Copy, Debug)]
pub struct Particle {
    pub id: u32,
    /// Key of its block.
    pub key: [i32; 3],
    /// Place from the corner of its block [cells].
    pub cells: [f32; 3],
    /// [m/s]
    pub velocity: [f32; 3],
    /// [kg]
    pub mass: f32,
    /// [m^3]
    pub volume: f32,
}

impl Particle {
    /// World position [m].
    pub fn position(&self) -> Point3<f64> {
        Vector3::from_fn(|d, _| (f64::from(4 * self.key[d]) + f64::from(self.cells[d])) * H).into()
    }

    pub fn at(id: u32, position: Vector3<f64>, velocity: Vector3<f64>) -> Self {
        let cells = position / H;
        let key = cells.map(|x| (x / 4.0).floor() as i32);
        Self {
            id,
            key: key.into(),
            cells: Vector3::from_fn(|d, _| (cells[d] - f64::from(4 * key[d])) as f32).into(),
            velocity: velocity.map(|x| x as f32).into(),
            mass: 1e-3,
            volume: (0.5 * H).powi(3) as f32,
        }
    }

    /// Goes on with its velocity for a substep, in the same block's frame.
    pub fn advance(&mut self) {
        for d in 0..3 {
            self.cells[d] += (f64::from(self.velocity[d]) * DELTA / H) as f32;
        }
    }
}

/// A body as contact sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub origin: Point3<f64>,
    pub pose: Isometry3<f64>,
    pub velocity: SpatialVelocity,
}

impl Seen {
    pub fn advance(&mut self) {
        self.pose = self.velocity.advance(&self.pose, DELTA);
    }

    pub fn body(&self) -> ContactBody {
        ContactBody::new(&self.origin, &self.pose, &self.velocity)
    }
}

/// Particles among bodies.
pub struct Scene {
    pub particles: Vec<Particle>,
    pub bodies: Bodies,
    /// One a body, at the start of the step.
    pub substep_states: Vec<Seen>,
}

impl Scene {
    /// All shapes on four bodies, every third one adhesive, around a place that is `away` [blocks].
    pub fn random(away: [i32; 3], particles: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let mut geometries = vec![Vec::new(); 4];
        for (k, shape) in shapes().into_iter().enumerate() {
            // Meshes need not be about their frame's origin.
            let middle = shape.bounding_sphere().map_or(Vector3::zeros(), |(middle, _)| middle.coords);
            let pose = pose(&mut random, 0.1) * Translation3::from(-middle);
            geometries[k % 4].push(geometry(shape, pose, k % 3 == 0));
        }
        let there = Vector3::from(away).map(|k| f64::from(4 * k) * H);
        let substep_states = geometries.iter().map(|_| {
            let pose = Translation3::from(there) * pose(&mut random, 0.1);
            let velocity =
                SpatialVelocity { angular: vector(&mut random) * 5.0, linear: vector(&mut random) };
            Seen { origin: pose.translation.vector.into(), pose, velocity }
        });
        let substep_states = substep_states.collect();
        let mut particles: Vec<Particle> = (0..particles as u32)
            .map(|id| {
                let (place, velocity) = (vector(&mut random) * 0.22, vector(&mut random) * 3.0);
                let mut particle = Particle::at(id, place, velocity);
                particle.mass = (1e-3 * (1.5 + random.signed())) as f32;
                particle.volume = ((0.5 * H).powi(3) * (1.5 + random.signed())) as f32;
                (0..3).for_each(|d| particle.key[d] += away[d]);
                particle
            })
            .collect();
        particles.sort_by_key(|p| p.key);
        Self { particles, bodies: bodies(geometries), substep_states }
    }

    /// Bodies of `substeps` substeps.
    pub fn poses(&self, substeps: usize) -> Vec<ContactBody> {
        let mut substep_states = self.substep_states.clone();
        let mut poses = Vec::new();
        for _ in 0..substeps {
            poses.extend(substep_states.iter().map(Seen::body));
            substep_states.iter_mut().for_each(Seen::advance);
        }
        poses
    }

    /// All geometries with their bodies, as the device numbers them.
    pub fn geometries(&self) -> Vec<(BodyId, &pliant_rigid::Geometry)> {
        self.bodies.iter().flat_map(|(id, body)| body.geometries.iter().map(move |g| (id, g))).collect()
    }
}

/// Device memory of particles.
pub struct Rows {
    rows: Buffer<f32>,
    ids: Buffer<u32>,
    materials: Buffer<u32>,
    blocks: Buffer<u32>,
    keys: Buffer<[i32; 3]>,
    count: usize,
}

impl Rows {
    pub fn new(device: &Device, particles: &[Particle]) -> Self {
        let count = particles.len();
        let mut keys: Vec<[i32; 3]> = particles.iter().map(|p| p.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let blocks: Vec<u32> = particles.iter().map(|p| keys.binary_search(&p.key).unwrap() as u32).collect();
        let mut rows = Self {
            rows: device.allocate(ROWS * count).unwrap(),
            ids: device.upload(&particles.iter().map(|p| p.id).collect::<Vec<_>>()).unwrap(),
            materials: device.upload(&vec![0; count]).unwrap(),
            blocks: device.upload(&blocks).unwrap(),
            keys: device.upload(&keys).unwrap(),
            count,
        };
        rows.write(particles);
        rows
    }

    pub fn write(&mut self, particles: &[Particle]) {
        let n = self.count;
        let mut rows = vec![0.0; ROWS * n];
        for (i, p) in particles.iter().enumerate() {
            for d in 0..3 {
                (rows[d * n + i], rows[(3 + d) * n + i]) = (p.cells[d], p.velocity[d]);
            }
            (rows[25 * n + i], rows[26 * n + i], rows[33 * n + i]) = (p.mass, p.volume, p.volume.cbrt());
        }
        self.rows.upload(&rows).unwrap();
    }

    pub fn spans(&self) -> ParticleRows {
        ParticleRows {
            rows: self.rows.span(),
            ids: self.ids.span(),
            materials: self.materials.span(),
            blocks: self.blocks.span(),
            block_keys: self.keys.span(),
            count: self.count as u32,
            stride: self.count as u32,
        }
    }
}

/// A device with a scene's detector and exchange.
pub struct OnDevice {
    pub device: Device,
    pub geometries: DeviceGeometries,
    pub rows: Rows,
    /// Of the cloth among the particles; none at first.
    pub faces: ClothFaces,
    pub detector: DeviceContactDetector,
    pub exchange: DeviceExchange,
    staging: Staging,
}

pub fn options() -> ContactDetectionOptions {
    ContactDetectionOptions { grid_spacing: H, radius: None, stiffness: None, dissipation: 5.0 }
}

impl OnDevice {
    pub fn new(device: Device, scene: &Scene, contacts: usize, nodes: usize, substeps: usize) -> Self {
        let geometries = DeviceGeometries::new(&device, &scene.bodies).unwrap();
        let particles = scene.particles.len();
        let capacity = DetectorCapacity { particles, contacts, substeps };
        Self {
            rows: Rows::new(&device, &scene.particles),
            faces: ClothFaces::zeroed(),
            detector: DeviceContactDetector::new(&device, &geometries, &options(), capacity).unwrap(),
            exchange: DeviceExchange::new(&device, &geometries, contacts, nodes).unwrap(),
            geometries,
            staging: Staging::new(&device).unwrap(),
            device,
        }
    }

    /// Begins a step of substeps of `DELTA`, with all bodies in each of them, whose geometries are
    /// placed for the first.
    pub fn begin_step(&mut self, bodies: &[ContactBody]) -> Result<(), ContactError> {
        self.detector.begin_step(&mut self.staging, DELTA, bodies)?;
        self.staging.send()?;
        let mut commands = Commands::new();
        self.detector.issue_place(&mut commands, &self.geometries);
        Ok(self.device.submit(&commands)?)
    }

    /// Begins a step of the exchange.
    pub fn begin_exchange(&mut self, references: &[ReferencePointPath]) {
        self.exchange.begin_step(&mut self.staging, DELTA, references).unwrap();
        self.staging.send().unwrap();
    }

    pub fn register(&self) {
        self.register_within(Span::EMPTY);
    }

    pub fn register_within(&self, limit: Span<u32>) {
        let mut commands = Commands::new();
        self.detector.issue(&mut commands, &self.geometries, self.rows.spans(), self.faces, limit);
        self.device.submit(&commands).unwrap();
    }

    /// Gives back a solution with these impulses [N s] and no touched nodes.
    pub fn remember(&self, impulses: &[[f64; 3]]) {
        let device = &self.device;
        let none = device.upload(&[0_u32; 4]).unwrap();
        let spans = none.span();
        let incidence = ConvexIncidence {
            counts: spans,
            contact_groups: spans,
            group_begin: spans,
            group_nodes: spans,
            node_begin: spans,
            incidences: spans,
            entry_begin: spans,
            entries: spans,
            entry_weights: Span::EMPTY,
            slots: spans,
        };
        let impulses = device.upload(impulses).unwrap();
        let solution = ContactSolution {
            impulses: impulses.span(),
            velocities: Span::EMPTY,
            nodes: Span::EMPTY,
            body_velocity_changes: Span::EMPTY,
            node_stride: 0,
            mass_row: 0,
            free_row: 0,
            unused: 0,
        };
        let mut commands = Commands::new();
        let (geometries, detector) = (&self.geometries, &self.detector);
        self.exchange.issue(&mut commands, geometries, detector, incidence, solution, Span::EMPTY);
        device.submit(&commands).unwrap();
    }
}

/// Impulses for contacts with these normals: a third are zero, the others press and rub [N s].
pub fn impulses(normals: &[[f32; 3]], random: &mut Random) -> Vec<[f64; 3]> {
    let one = |normal: &[f32; 3]| {
        if random.word().is_multiple_of(3) {
            return [0.0; 3];
        }
        let normal = Vector3::from(normal.map(f64::from));
        (normal * (1e-3 * (1.2 + random.signed())) + vector(random) * 2e-4).into()
    };
    normals.iter().map(one).collect()
}
