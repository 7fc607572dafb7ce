//! Solids of any shape, size, pose and spacing: their particles weigh what the solid weighs, keep
//! inside it with their contact spheres, and touch its surface from within.

use std::f64::consts::PI;

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::sample::{Density, Jitter, ParticleSample, SamplingSolid, sample};
use pliant_io::mesh::MeshData;
use pliant_numeric::random::SplitMix64;
use pliant_rigid::{ConvexHull, Shape};

/// A tessellation of a shape.
fn mesh_of(shape: &Shape, segments: u32) -> MeshData {
    let (vertices, triangles) = shape.triangles(segments);
    MeshData { vertices, triangles }
}

/// A log-uniform number.
fn log_uniform(random: &mut SplitMix64, low: f64, high: f64) -> f64 {
    random.uniform_in(low.ln(), high.ln()).exp()
}

/// A rotation, uniform over all.
fn turn(random: &mut SplitMix64) -> UnitQuaternion<f64> {
    let mut normal = || (-2.0 * (1.0 - random.uniform()).ln()).sqrt() * (2.0 * PI * random.uniform()).cos();
    UnitQuaternion::new_normalize([normal(), normal(), normal(), normal()].into())
}

/// A solid of about `size` [m], its sides up to a factor of 3 apart, and its smallest side [m].
fn solid(kind: u64, size: f64, random: &mut SplitMix64) -> (SamplingSolid, f64) {
    let mut side = || size * log_uniform(random, 3.0_f64.sqrt().recip(), 3.0_f64.sqrt());
    let sides = Vector3::new(side(), side(), side());
    let smallest = match kind {
        1 => sides.x,
        2 => sides.x.min(sides.y),
        4 | 7 => sides.x,
        _ => sides.min(),
    };
    let solid = match kind {
        0 => SamplingSolid::Box { half_extents: sides },
        1 => SamplingSolid::Sphere { radius: sides.x },
        2 => SamplingSolid::Cylinder { radius: sides.x, half_length: sides.y },
        3 => SamplingSolid::Mesh(mesh_of(&Shape::Ellipsoid { semi_axes: sides }, 24)),
        4 => SamplingSolid::Mesh(mesh_of(&Shape::Capsule { radius: sides.x, half_length: sides.y }, 24)),
        6 => Shape::Ellipsoid { semi_axes: sides }.into(),
        7 => Shape::Capsule { radius: sides.x, half_length: sides.y }.into(),
        8 => {
            // Pairs of opposite corners: the solid is symmetric about its centre, as the others are.
            let pair = |_| {
                let corner = turn(random) * sides;
                [Point3::from(corner), Point3::from(-corner)]
            };
            let corners: Vec<_> = (0..6).flat_map(pair).collect();
            Shape::ConvexHull(ConvexHull::new(&corners).unwrap()).into()
        }
        // A box whose faces lie anyhow to the lattice.
        _ => {
            let mut mesh = mesh_of(&Shape::Box { half_extents: sides }, 4);
            let rotation = turn(random);
            mesh.vertices.iter_mut().for_each(|v| *v = rotation * *v);
            SamplingSolid::Mesh(mesh)
        }
    };
    (solid, 2.0 * smallest)
}

/// Centre of mass [m] and second moments about it over the mass [m^2] of the solid, in its own
/// frame.
fn exact(solid: &SamplingSolid) -> (Point3<f64>, Matrix3<f64>) {
    let (mass, centre, inertia) = solid.shape().unwrap().mass_properties(1.0).unwrap();
    // The inertia is tr(S) 1 - S of the second moments S.
    (centre, (Matrix3::identity() * (inertia.trace() / 2.0) - inertia) / mass)
}

/// The same of particles.
fn found(sample: &ParticleSample, pose: &Isometry3<f64>) -> (Point3<f64>, Matrix3<f64>) {
    let number = sample.positions.len() as f64;
    let local: Vec<Vector3<f64>> =
        sample.positions.iter().map(|p| pose.inverse_transform_point(p).coords).collect();
    let centre = local.iter().sum::<Vector3<f64>>() / number;
    // Each is a cube of its volume, with moments of its own: edge^2 / 12.
    let own = Matrix3::identity() * ((2.0 * sample.radius()).powi(2) / 12.0);
    let moments = local.iter().fold(Matrix3::zeros(), |sum, p| sum + (p - centre) * (p - centre).transpose());
    (centre.into(), moments / number + own)
}

/// What was found of one kind of solid, the worst of all cases.
#[derive(Debug, Default)]
struct WorstMeasurement {
    cases: usize,
    /// Total volume against the exact one [-].
    volume: f64,
    /// How far a contact sphere reaches out, against its radius [-].
    out: f64,
    /// How far the nearest contact sphere is from the surface, against its radius [-].
    gap: f64,
    /// Offset of the centre of mass, against the smallest side [-].
    centre: f64,
    /// Error of the second moments against the exact ones, times (smallest side / spacing)^2 [-].
    moments: f64,
    /// Points of meshes that are left out, of all [-].
    left_out: f64,
}

// Checks: mass is the density times the exact volume; a contact sphere of the radius cbrt(V_p)/2
// keeps inside the solid, a mesh's up to a thousandth of the radius; some touch the surface, and
// both caps of a cylinder and all faces of a box are touched. By symmetry the centre of mass of
// boxes, balls and cylinders is exact. What else the finite particles change is of second order in
// the spacing: the outer layer of thickness s lies at most s/2 from where it should.
#[test]
fn particles_fill_solids_up_to_their_surface() {
    const SEED: u64 = 184;
    let mut random = SplitMix64::new(SEED);
    for kind in 0..9 {
        let mut worst = WorstMeasurement::default();
        while worst.cases < 60 {
            let size = log_uniform(&mut random, 1e-3, 10.0);
            let (solid, smallest) = solid(kind, size, &mut random);
            let across = log_uniform(&mut random, 2.0, 16.0);
            let jitter = (random.uniform() < 0.3).then(|| Jitter { fraction: random.uniform(), seed: 3 });
            let place = Vector3::from_fn(|_, _| random.uniform_in(-5.0, 5.0));
            let pose = Isometry3::from_parts(Translation3::from(place), turn(&mut random));
            let density = Density::Spacing(smallest / across);
            let filled = sample(&solid, &pose, density, jitter).unwrap();
            let case = format!("seed {SEED}: {solid:.60?} {across} across");
            let (radius, shape) = (filled.radius(), solid.shape().unwrap());
            let exact_volume = shape.mass_properties(1.0).unwrap().0;
            let total = filled.particle_volume * filled.positions.len() as f64;
            worst.volume = worst.volume.max((total / exact_volume - 1.0).abs());
            let gaps: Vec<f64> = filled
                .positions
                .iter()
                .map(|p| -shape.surface_point(&pose.inverse_transform_point(p)).distance - radius)
                .collect();
            let nearest = gaps.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(nearest > -2e-3 * radius - 1e-12, "{case}: {nearest} of {radius}");
            worst.out = worst.out.max(-nearest / radius);
            if jitter.is_none() {
                worst.gap = worst.gap.max(nearest / radius);
                let ((c, s), (c0, s0)) = (found(&filled, &pose), exact(&solid));
                worst.centre = worst.centre.max((c - c0).norm() / smallest);
                let error = (s - s0).norm() / s0.norm() * across * across;
                worst.moments = worst.moments.max(error);
            }
            let points = filled.positions.len() + filled.left_out;
            worst.left_out = worst.left_out.max(filled.left_out as f64 / points as f64);
            worst.cases += 1;
        }
        println!("kind {kind}: {worst:?}");
        let is_mesh = kind > 2;
        assert!(worst.volume < 1e-12, "{worst:?}");
        assert!(worst.out < if is_mesh { 1.001e-3 } else { 1e-9 }, "{worst:?}");
        assert!(worst.gap < if is_mesh { 1.0 } else { 1e-9 }, "{worst:?}");
        assert!(worst.centre < if is_mesh { 0.02 } else { 1e-12 }, "{worst:?}");
        assert!(worst.moments < if is_mesh { 6.0 } else { 1.5 }, "{worst:?}");
        assert!(worst.left_out < 0.1, "{worst:?}");
    }
}
