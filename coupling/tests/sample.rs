//! Solids filled with particles: their number, place and volume.

// A test fails by panicking, in its helpers too.

use std::f64::consts::PI;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_coupling::sample::{Density, Jitter, ParticleSample, SampleError, SamplingSolid, sample};
use pliant_io::mesh::MeshData;
use pliant_numeric::random::SplitMix64;
use pliant_rigid::GeometryError;

const DOUGH: Vector3<f64> = Vector3::new(0.16, 0.06, 0.05);

fn fill(solid: &SamplingSolid, density: Density) -> ParticleSample {
    sample(solid, &Isometry3::identity(), density, None).unwrap()
}

fn total_volume(sample: &ParticleSample) -> f64 {
    sample.particle_volume * sample.positions.len() as f64
}

/// A closed sphere of `rings` x 2 `rings` faces with its poles on the z axis: rays to +z hit poles
/// and edges.
fn sphere_mesh(radius: f64, rings: u32) -> MeshData {
    let around = 2 * rings;
    let mut mesh = MeshData { vertices: vec![Point3::new(0.0, 0.0, radius)], triangles: Vec::new() };
    for ring in 1..rings {
        let polar = PI * f64::from(ring) / f64::from(rings);
        for step in 0..around {
            let azimuth = 2.0 * PI * f64::from(step) / f64::from(around);
            let (s, c) = azimuth.sin_cos();
            mesh.vertices.push(Point3::new(polar.sin() * c, polar.sin() * s, polar.cos()) * radius);
        }
    }
    mesh.vertices.push(Point3::new(0.0, 0.0, -radius));
    let last = mesh.vertices.len() as u32 - 1;
    let at = |ring: u32, step: u32| 1 + (ring - 1) * around + step % around;
    for step in 0..around {
        mesh.triangles.push([0, at(1, step), at(1, step + 1)]);
        mesh.triangles.push([last, at(rings - 1, step + 1), at(rings - 1, step)]);
        for ring in 1..rings - 1 {
            mesh.triangles.push([at(ring, step), at(ring + 1, step), at(ring + 1, step + 1)]);
            mesh.triangles.push([at(ring, step), at(ring + 1, step + 1), at(ring, step + 1)]);
        }
    }
    mesh
}

// 5,920 = 37 x 16 x 10 is the factorisation with the most even spacings (8.65, 7.5, 10 mm) for 0.32
// x 0.12 x 0.10 m.
#[test]
fn a_box_takes_an_exact_total() {
    let filled = fill(&SamplingSolid::Box { half_extents: DOUGH }, Density::Total(5920));
    assert_eq!(filled.positions.len(), 5920);
    // The outer layers lie half a particle's edge deep, the others evenly between them.
    let edge = (0.32 * 0.12 * 0.10 / 5920.0_f64).cbrt();
    let spacing = Vector3::new((0.32 - edge) / 36.0, (0.12 - edge) / 15.0, (0.10 - edge) / 9.0);
    assert!((filled.spacing - spacing).norm() < 1e-15);
    assert!((total_volume(&filled) / (0.32 * 0.12 * 0.10) - 1.0).abs() < 1e-14);
    // A prime number of particles would be a single row.
    let prime = sample(
        &SamplingSolid::Box { half_extents: DOUGH },
        &Isometry3::identity(),
        Density::Total(5923),
        None,
    );
    assert!(matches!(prime, Err(SampleError::TotalDoesNotDivide { total: 5923, .. })));
}

// Cell centres: the first is half a cell from the corner, and the mean is the centre of the box,
// turned and moved.
#[test]
fn particles_sit_at_cell_centres_of_the_posed_lattice() {
    let solid = SamplingSolid::Box { half_extents: Vector3::repeat(0.05) };
    let pose = Isometry3::new(Vector3::new(1.0, -2.0, 0.5), Vector3::new(0.0, 0.0, PI / 2.0));
    let filled = sample(&solid, &pose, Density::Counts([11, 11, 11]), None).unwrap();
    assert_eq!(filled.positions.len(), 1331);
    let half_cell = 0.1 / 22.0;
    // (-x, -y, -z) corner of the box, turned by 90 degrees about z: (+x, -y, -z).
    let expected = Point3::new(1.05 - half_cell, -2.05 + half_cell, 0.45 + half_cell);
    assert!((filled.positions[0] - expected).norm() < 1e-14);
    let sum: Vector3<f64> = filled.positions.iter().map(|p| p.coords).sum();
    assert!((sum / 1331.0 - pose.translation.vector).norm() < 1e-13);
}

// 0.1 m at 0.01 m is 10 cells, not 11, although 0.1 / 0.01 is not exact; 8 particles a cell of 0.02
// m is the same.
#[test]
fn spacing_and_particles_per_cell_agree() {
    let solid = SamplingSolid::Box { half_extents: Vector3::repeat(0.05) };
    let spaced = fill(&solid, Density::Spacing(0.01));
    assert_eq!(spaced.positions.len(), 1000);
    let per_cell = fill(&solid, Density::PerCell { particles: 8.0, cell_size: 0.02 });
    assert_eq!(per_cell.positions.len(), 1000);
}

// Each solid's volume is shared out exactly; the count is volume / spacing^3 but for the rounding
// of the numbers of rings or shells, n, and layers: half of one, so 3/2n or 1/n + 1/2n_z of the
// count.
#[test]
fn curved_solids_share_their_exact_volume() {
    let spacing = 0.004;
    let (radius, half_length) = (0.05, 0.07);
    let cases = [
        (SamplingSolid::Sphere { radius }, 4.0 / 3.0 * PI * radius.powi(3)),
        (SamplingSolid::Cylinder { radius, half_length }, 2.0 * PI * radius * radius * half_length),
    ];
    for (solid, exact) in cases {
        let filled = fill(&solid, Density::Spacing(spacing));
        assert!((total_volume(&filled) / exact - 1.0).abs() < 1e-13, "{solid:?}");
        let ideal = exact / spacing.powi(3);
        assert!(
            (filled.positions.len() as f64 / ideal - 1.0).abs() < 0.12,
            "{solid:?}: {}",
            filled.positions.len()
        );
        assert!(filled.positions.iter().all(|p| p.coords.norm() <= 0.0861));
    }
}

// Rays through poles, meridians and shared edges still count once: every lattice point well inside
// is kept, none outside is. The mesh is inscribed, between the sphere and 0.98 of it for 32 rings.
#[test]
fn a_mesh_is_filled_robustly() {
    let radius = 0.1;
    let mesh = SamplingSolid::Mesh(sphere_mesh(radius, 32));
    // Odd counts put a column of particles on the axis through both poles.
    let filled = fill(&mesh, Density::Counts([21, 21, 21]));
    let spacing = 2.0 * radius / 21.0;
    let mut expected = 0;
    for i in 0..21 * 21 * 21 {
        let index = [i % 21, i / 21 % 21, i / 441].map(|n| (f64::from(n) - 10.0) * spacing);
        expected += usize::from(Vector3::from(index).norm() < 0.98 * radius);
    }
    let count = filled.positions.len();
    assert!(filled.positions.iter().all(|p| p.coords.norm() <= radius));
    let ball = (0..21 * 21 * 21)
        .map(|i| Vector3::from([i % 21, i / 21 % 21, i / 441].map(|n| (f64::from(n) - 10.0) * spacing)))
        .filter(|x| x.norm() <= radius)
        .count();
    assert!((expected..=ball).contains(&count), "{expected} <= {count} <= {ball}");
    assert!(filled.positions.iter().any(|p| p.coords.norm() < 1e-12), "the centre, on the axis of the poles");
}

#[test]
fn jitter_is_seeded_and_stays_in_its_cell() {
    let solid = SamplingSolid::Box { half_extents: DOUGH };
    let density = Density::Spacing(0.01);
    let jittered = |seed| {
        sample(&solid, &Isometry3::identity(), density, Some(Jitter { fraction: 0.5, seed }))
            .unwrap()
            .positions
    };
    let (regular, moved) = (fill(&solid, density).positions, jittered(1));
    assert_eq!(moved, jittered(1));
    assert_ne!(moved, jittered(2));
    let largest = regular.iter().zip(&moved).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max);
    // Uniform in +-0.25 of 10 mm over 10^4 draws: the largest is within 1 % of the bound, never
    // beyond it.
    assert!(largest <= 0.0025 + 1e-12 && largest > 0.0024, "{largest}");
}

#[test]
fn every_bad_input_is_a_typed_error() {
    let identity = Isometry3::identity();
    let small = SamplingSolid::Sphere { radius: 0.01 };
    let fails = |solid: &SamplingSolid, density| sample(solid, &identity, density, None).unwrap_err();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let spacing = fails(&small, Density::Spacing(bad));
        assert!(matches!(spacing, SampleError::NotPositive { field: "spacing", .. }), "{spacing}");
        let radius = fails(&SamplingSolid::Sphere { radius: bad }, Density::Spacing(0.01));
        assert!(matches!(radius, SampleError::NotPositive { field: "radius", .. }), "{radius}");
        let half = SamplingSolid::Box { half_extents: Vector3::new(1.0, bad, 1.0) };
        assert!(matches!(fails(&half, Density::Spacing(0.1)), SampleError::NotPositive { .. }));
    }
    assert!(matches!(fails(&small, Density::Total(8)), SampleError::TotalNeedsBox(8)));
    assert!(matches!(fails(&small, Density::Spacing(1e-9)), SampleError::TooMany { .. }));
    assert!(matches!(
        fails(&small, Density::Counts([2, 2, 0])),
        SampleError::NotPositive { field: "counts", .. }
    ));
    let thin = SamplingSolid::Mesh(sphere_mesh(0.01, 4));
    assert!(sample(&thin, &identity, Density::Spacing(0.02), None).is_ok());
    let jitter = Some(Jitter { fraction: 1.5, seed: 0 });
    assert!(matches!(
        sample(&small, &identity, Density::Spacing(0.001), jitter),
        Err(SampleError::Jitter(_))
    ));
    let lost = Isometry3::translation(f64::NAN, 0.0, 0.0);
    let posed = sample(&small, &lost, Density::Spacing(0.001), None);
    assert!(matches!(posed, Err(SampleError::PoseNotFinite { .. })));
    let mut inside_out = sphere_mesh(0.1, 6);
    inside_out.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    assert!(matches!(
        fails(&SamplingSolid::Mesh(inside_out), Density::Spacing(0.01)),
        SampleError::Surface(GeometryError::InsideOut { .. })
    ));
    let mut open = sphere_mesh(0.1, 6);
    open.triangles.pop();
    assert!(matches!(
        fails(&SamplingSolid::Mesh(open), Density::Spacing(0.01)),
        SampleError::Surface(GeometryError::OpenEdge { .. })
    ));
}

// A ring (a square with a square hole) has a lattice centre in the hole when coarse: no particle
// there is an error.
#[test]
fn an_empty_sample_is_an_error() {
    let mut random = SplitMix64::new(3);
    let offset = random.uniform_in(0.0, 1.0);
    let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let mut mesh = MeshData::default();
    for scale in [1.0, 0.8] {
        for z in [-0.1, 0.1] {
            mesh.vertices.extend(square.iter().map(|(x, y)| Point3::new(x * scale + offset, y * scale, z)));
        }
    }
    for i in 0..4u32 {
        let j = (i + 1) % 4;
        for [a, b, c, d] in [
            [i, j, j + 4, i + 4],
            [i + 8, i + 12, j + 12, j + 8],
            [i + 4, j + 4, j + 12, i + 12],
            [j, i, i + 8, j + 8],
        ] {
            mesh.triangles.push([a, b, c]);
            mesh.triangles.push([a, c, d]);
        }
    }
    let solid = SamplingSolid::Mesh(mesh);
    let none = sample(&solid, &Isometry3::identity(), Density::Counts([1, 1, 1]), None);
    assert!(matches!(none, Err(SampleError::NoParticles { .. })), "{none:?}");
    // 10 x 10 cells of 0.2 m: 36 lie in the ring of width 0.2.
    assert_eq!(fill(&solid, Density::Counts([10, 10, 1])).positions.len(), 36);
}
