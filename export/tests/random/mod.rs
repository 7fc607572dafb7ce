//! Random recordings from a seed.

use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};
use pliant_export::{ExportError, Paint, Source, Table};
use pliant_io::ply::{Frame, FrameFields, FrameParticle};
use pliant_render::{BodyShape, Image, RenderBody};
use pliant_runner::recording::RecordedBody;

/// Random numbers: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From -1 to 1.
    pub fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pose(&mut self) -> Isometry3<f64> {
        let [x, y, z, a, b, c, d] = std::array::from_fn(|_| self.real());
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(a, b, c, d));
        Isometry3::from_parts(Vector3::new(x, y, z).into(), turn)
    }
}

/// Bodies and frames in memory.
pub struct RandomRun {
    pub bodies: Vec<RecordedBody>,
    pub times: Vec<f64>,
    pub poses: Vec<Vec<Isometry3<f64>>>,
    pub frames: Vec<Frame>,
}

fn shapes(random: &mut Random) -> Vec<BodyShape> {
    let mut size = || 0.1 + 0.05 * random.real();
    vec![
        BodyShape::Sphere { radius: size() },
        BodyShape::Box { half_extents: Vector3::new(size(), size(), size()) },
        BodyShape::Capsule { radius: size(), half_length: size() },
        BodyShape::Cylinder { radius: size(), half_length: size() },
        BodyShape::Ellipsoid { half_axes: Vector3::new(size(), size(), size()) },
        BodyShape::HalfSpace,
        BodyShape::Mesh {
            vertices: (0..4).map(|_| Point3::new(size(), -size(), size())).collect(),
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            smooth: false,
        },
    ]
}

impl RandomRun {
    /// Seven bodies, each of one shape and one more; balls of three materials, some cloth among
    /// them; two to five frames at uneven times.
    pub fn new(seed: u64) -> Self {
        let random = &mut Random(seed);
        let (count, sheet) = (5 + random.below(40), 4 + random.below(9));
        Self::of(random, count, sheet, true)
    }

    /// With so many balls and vertices of cloth.
    pub fn of(random: &mut Random, balls: usize, sheet: usize, with_bodies: bool) -> Self {
        let steps = 2 + random.below(4);
        let mut bodies = Vec::new();
        for (at, shape) in shapes(random).into_iter().enumerate().filter(|_| with_bodies) {
            let mut seen = |shape| RenderBody {
                shape,
                pose: random.pose(),
                color: [10 * at as u8, 250, 7],
                marked: false,
            };
            let shapes = vec![seen(shape), seen(BodyShape::Sphere { radius: 0.01 })];
            bodies.push(RecordedBody { name: format!("arm {}/\"link\" {at}", at % 2), shapes });
        }
        let mut time = random.real();
        let mut times = Vec::new();
        for _ in 0..steps {
            times.push(time);
            time += 0.04 + 0.03 * random.real();
        }
        let poses = times.iter().map(|_| bodies.iter().map(|_| random.pose()).collect()).collect();
        let materials: Vec<u16> = (0..balls).map(|_| [0, 3, 300][random.below(3)]).collect();
        let corners: Vec<[u32; 3]> =
            (2..sheet).map(|last| [0, last as u32 - 1, last as u32].map(|c| c + balls as u32)).collect();
        let backs: Vec<[u8; 3]> = corners.iter().map(|t| [200, (t[2] % 2) as u8, 3]).collect();
        let fields = FrameFields::ALL;
        let mut frames = Vec::new();
        for &time in &times {
            let mut particles = Vec::new();
            for index in 0..balls + sheet {
                let mut real = || random.real() as f32;
                particles.push(FrameParticle {
                    position: std::array::from_fn(|_| real()),
                    velocity: std::array::from_fn(|_| 1e3 * real()),
                    radius: if index < balls { 0.02 + 0.01 * real() } else { 0.0 },
                    color: std::array::from_fn(|_| (127.0 + 128.0 * real()) as u8),
                    material: materials.get(index).copied().unwrap_or(4),
                    j: 1.0 + 0.1 * real(),
                    plastic_strain: 1e-7 * real(),
                    stress_norm: 1e9 * real(),
                    mass: real(),
                    volume: 1e-12 * real(),
                    affine: std::array::from_fn(|_| real()),
                });
            }
            let (triangles, back_colors) = (corners.clone(), backs.clone());
            frames.push(Frame { particles, triangles, back_colors, fields, time: Some(time) });
        }
        Self { bodies, times, poses, frames }
    }
}

impl Source for RandomRun {
    fn bodies(&self) -> &[RecordedBody] {
        &self.bodies
    }

    fn times(&self) -> Vec<f64> {
        self.times.clone()
    }

    fn poses(&self, frame: usize) -> Vec<Isometry3<f64>> {
        self.poses[frame].clone()
    }

    fn frame(&self, frame: usize) -> Result<Frame, ExportError> {
        Ok(self.frames[frame].clone())
    }

    fn diagnostics(&self) -> Result<Table, ExportError> {
        Ok(Table {
            columns: vec!["time".to_owned(), "mass".to_owned()],
            values: vec![0.5, f64::NAN, 1.5, 2.0],
        })
    }

    fn picture_size(&self) -> [u32; 2] {
        [96, 64]
    }

    fn painter(&self) -> Result<Box<dyn Paint + '_>, ExportError> {
        Ok(Box::new(Painter))
    }
}

/// Draws without looking at the frame.
struct Painter;

impl Paint for Painter {
    fn paint(&self, frame: usize, width: u32, height: u32) -> Result<Image, ExportError> {
        Ok(paint(frame, width, height))
    }
}

/// The picture of a frame: slopes of saturated colours, and a soft shadow that moves. It has no sharp
/// edges of colour, which video does not keep.
pub fn paint(frame: usize, width: u32, height: u32) -> Image {
    let mut pixels = Vec::new();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let [along, down] = [(x, width), (y, height)].map(|(at, side)| f64::from(at) / f64::from(side - 1));
        let middle = 0.2 * (frame % 6) as f64;
        let shadow = (1.0 - ((along - middle) / 0.2).powi(2) - ((down - 0.5) / 0.4).powi(2)).max(0.0);
        pixels.extend([along, down, 1.0 - along].map(|v| (255.0 * v * (1.0 - 0.6 * shadow)) as u8));
    }
    Image { width, height, pixels }
}
