//! Criterion benches of the parts that a step spends its time in: `cargo bench`. The benchmark
//! suite, whose cases can be held against other programs, is `pliant bench`.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::{Point3, Vector3};
use pliant::coupling::convex::benchmark_problem::benchmark_sequence;
use pliant::coupling::convex::{ConvexSolver, InitialGuess, SolverSettings};
use pliant::mpm::material::{Elastic, Model};
use pliant::mpm::{Boundary, BoundaryKind, InstructionSet, Material, Mpm, ParticleState};
use pliant::rigid::{Shape, TriangleMesh};

/// Grid spacing \[m\].
const SPACING: f64 = 0.02;
/// Substep [s]: c h / (c_s + |v|) is 5e-4 s for these materials.
const SUBSTEP: f64 = 2e-4;

fn models() -> [(&'static str, Model); 5] {
    let elastic = Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 };
    [
        ("neo-hookean", Model::NeoHookean(elastic)),
        ("fixed-corotated", Model::FixedCorotated(elastic)),
        ("linear-corotated", Model::LinearCorotated(elastic)),
        ("von-mises", Model::VonMises { elastic, yield_stress: 1e3 }),
        ("drucker-prager", Model::DruckerPrager { elastic, friction_angle: 0.5 }),
    ]
}

/// A block of 24^3 particles, 8 a cell, on a slippery floor, with a field of velocities that
/// deforms it.
fn block(model: Model) -> Option<Mpm> {
    const EDGE: usize = 24;
    let spacing = SPACING / 2.0;
    let particles: Vec<ParticleState> = (0..EDGE.pow(3))
        .map(|i| {
            let cell = [i / (EDGE * EDGE), i / EDGE % EDGE, i % EDGE];
            let x = Vector3::from_fn(|d, _| (cell[d] as f64 + 0.5) * spacing);
            let velocity = Vector3::new((20.0 * x.y).sin(), (20.0 * x.z).sin(), (20.0 * x.x).sin()) * 0.2;
            ParticleState::new(Point3::from(x), velocity, spacing.powi(3), 0)
        })
        .collect();
    let floor = Boundary { point: Point3::origin(), normal: Vector3::z_axis(), kind: BoundaryKind::Slip };
    Mpm::new(
        SPACING,
        vec![Material { density: 1000.0, model }],
        &particles,
        &[floor],
        InstructionSet::detect(),
    )
    .ok()
}

/// One substep of every model, ten as one step.
fn substeps(c: &mut Criterion) {
    let mut group = c.benchmark_group("substep of 13,824 particles");
    for (name, model) in models() {
        let Some(mut mpm) = block(model) else { continue };
        group.throughput(Throughput::Elements(mpm.len() as u64));
        let mut count = 0_u64;
        group.bench_function(name, |b| {
            b.iter(|| {
                if count.is_multiple_of(10) {
                    mpm.begin_step();
                }
                count += 1;
                mpm.particles_to_grid(SUBSTEP, Vector3::new(0.0, 0.0, -9.81));
                mpm.grid_to_particles(SUBSTEP)
            });
        });
    }
}

/// One solve of the contact problem, started from the last one's solution, at two stiffness
/// numbers.
fn contact_solves(c: &mut Criterion) {
    let mut group: BenchmarkGroup<WallTime> = c.benchmark_group("contact solve, 257 contacts, eps_r 1e-3");
    for number in [10.0, 1000.0] {
        let steps = benchmark_sequence(number, 257, 12, 7);
        let (last, next) = (&steps[steps.len() - 2], &steps[steps.len() - 1]);
        let settings = SolverSettings { relative_tolerance: 1e-3, ..SolverSettings::default() };
        let mut solver = ConvexSolver::new();
        solver.solve(&last.problem, &settings, InitialGuess::Free);
        let guess = next.carry_impulses(last, solver.impulses());
        let velocities = solver.velocities().to_vec();
        let guess = InitialGuess::Solution { velocities: &velocities, impulses: &guess };
        group.bench_function(format!("stiffness number {number}"), |b| {
            b.iter(|| solver.solve(&next.problem, &settings, guess));
        });
    }
}

/// Signed distances to a cylinder and to the same cylinder as a mesh, from a shell of points around
/// it.
fn signed_distances(c: &mut Criterion) {
    let cylinder = Shape::Cylinder { radius: 0.03, half_length: 0.175 };
    let (vertices, triangles) = cylinder.triangles(48);
    let mut shapes = vec![("cylinder", cylinder)];
    if let Ok(mesh) = TriangleMesh::new(vertices, triangles) {
        shapes.push(("mesh of the cylinder", Shape::Mesh(mesh)));
    }
    let points: Vec<Point3<f64>> = (0..1000)
        .map(|i| {
            let (angle, z) = (f64::from(i) * 2.399_963, f64::from(i) / 1000.0 * 0.4 - 0.2);
            Point3::new(0.032 * angle.cos(), 0.032 * angle.sin(), z)
        })
        .collect();
    let mut group = c.benchmark_group("signed distance of 1,000 points");
    group.throughput(Throughput::Elements(points.len() as u64));
    for (name, shape) in &shapes {
        group.bench_function(*name, |b| {
            b.iter(|| points.iter().map(|p| shape.surface_point(p).distance).sum::<f64>());
        });
    }
}

criterion_group!(benches, substeps, contact_solves, signed_distances);
criterion_main!(benches);
