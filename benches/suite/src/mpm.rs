//! Throughput of the particle path: an elastic block falls on a floor.
//!
//! The block (compressible neo-Hookean, 0.5 m, 8 particles a cell) starts at rest two cells above a
//! slippery floor in a box with slippery walls. The first 100 substeps are free fall and are
//! checked against the closed form; then nine chunks are timed. One substep is P2G, grid and G2P,
//! with whatever sorting falls into it. Memory is taken after one more sort and substep, because a
//! short run of a large block may not sort on its own, and the buffers of the sort count. A device
//! is measured with both transfers to the grid.

use std::time::Instant;

use nalgebra::{Point3, Unit, Vector3};
use pliant_cuda::Device;
use pliant_cuda::mpm::{BlockCapacities, DeviceMpm, Transfer};
use pliant_mpm::material::{Elastic, Model};
use pliant_mpm::{Boundary, BoundaryKind, InstructionSet, Material, Mpm, ParticleState};
use serde_json::{Value, json};

use super::part::{BenchError, BenchOptions, BenchPart, Measurement, RowContext, in_pool};
use pliant_runner::machine::OpenBackend;

/// The part.
pub const PART: BenchPart = BenchPart {
    name: "mpm",
    about: "elastic block of 6k to 4m particles falls on a floor: ns per particle and substep, bytes per particle",
    run,
};

/// Standard gravity \[m/s^2\].
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
/// Edge of the block \[m\].
const SIDE: f64 = 0.5;
/// Nodes of the walls.
const WALL: usize = 3;
/// Cells between floor and block.
const GAP: usize = 2;
/// Substeps of free fall before the timing.
const CHECK: usize = 100;
/// Timed chunks.
const CHUNKS: usize = 9;
/// Substeps that count as one step: the particles may be sorted between steps.
const STEP: usize = 10;

/// A size of the block.
struct Size {
    name: &'static str,
    /// Cells along the block's edge.
    cells: usize,
    /// Nodes along the box's edge.
    nodes: usize,
    /// Substep \[s\].
    substep: f64,
    /// Substeps in a timed chunk.
    chunk: usize,
}

const SIZES: [Size; 4] = [
    Size { name: "6k", cells: 9, nodes: 32, substep: 8e-4, chunk: 300 },
    Size { name: "47k", cells: 18, nodes: 64, substep: 4e-4, chunk: 60 },
    Size { name: "405k", cells: 37, nodes: 128, substep: 2e-4, chunk: 30 },
    Size { name: "4m", cells: 79, nodes: 256, substep: 1e-4, chunk: 5 },
];

/// Transfers to the grid, of which a device has all and the processor the first, and what the
/// case's name ends with.
const TRANSFERS: [(Transfer, &str); 2] = [(Transfer::Ordered, ""), (Transfer::Atomic, "-atomic")];

fn run(options: &BenchOptions, row: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let device = options.machine.device();
    // An emulated device is for checks: it takes a tenth of a second for what a GPU does in
    // microseconds.
    let sizes =
        if device.is_some_and(Device::is_emulated) { &[Size { chunk: 2, ..SIZES[0] }] } else { &SIZES[..] };
    for size in sizes {
        for &threads in &options.threads {
            let (precision, unit) = ("f32", "ns/particle/substep");
            for &(transfer, suffix) in &TRANSFERS[..if device.is_some() { 2 } else { 1 }] {
                let measured = in_pool(PART.name, threads, || match device {
                    None => measure(&mut OnProcessor(build(size)?), size),
                    Some(device) => measure(&mut OnDevice::new(device, build(size)?, transfer)?, size),
                })??;
                let case = format!("{}{suffix}", size.name);
                let sample =
                    RowContext { machine: &options.machine, part: PART.name, case, threads, precision, unit };
                row(sample.row(measured.times, measured.details));
            }
        }
    }
    Ok(())
}

/// When the particles are sorted.
#[derive(Clone, Copy, Debug)]
enum Sorting {
    /// As in the engine: at the start of a step, if their order has gone stale.
    Stale,
    /// At the start of every step.
    Step,
    /// Before every substep.
    Substep,
}

/// Substeps of the smaller blocks under each way of sorting, as rows of `part`: in turns, so that other
/// load of the machine slows all of them. On the processor.
pub(super) fn sorting(
    part: &'static str,
    threads: usize,
    row: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    let ways = [
        (Sorting::Stale, "sorted when the order is stale"),
        (Sorting::Step, "sorted every step"),
        (Sorting::Substep, "sorted every substep"),
    ];
    for size in &SIZES[..2] {
        let measured = in_pool(part, threads, || -> Result<_, BenchError> {
            let mut blocks =
                ways.iter().map(|_| Ok(build(size)?.0)).collect::<Result<Vec<_>, BenchError>>()?;
            let mut times = ways.map(|_| Vec::with_capacity(CHUNKS));
            // The first chunk warms up.
            for chunk in 0..=CHUNKS {
                for ((block, (sorting, _)), times) in blocks.iter_mut().zip(ways).zip(&mut times) {
                    let clock = Instant::now();
                    advance_sorted(block, size, sorting)?;
                    let ns = clock.elapsed().as_secs_f64() * 1e9 / (size.chunk * block.len()) as f64;
                    if chunk > 0 {
                        times.push(ns);
                    }
                }
            }
            Ok(times)
        })??;
        for ((_, way), times) in ways.iter().zip(measured) {
            let (case, unit) = (format!("block of {}, {way}", size.name), "ns/particle/substep");
            let machine = &OpenBackend::processor();
            let details = json!({ "substeps_of_a_step": STEP, "chunk": size.chunk });
            row(RowContext { machine, part, case, threads, precision: "f32", unit }.row(times, details));
        }
    }
    Ok(())
}

/// Takes a chunk of substeps.
fn advance_sorted(mpm: &mut Mpm, size: &Size, sorting: Sorting) -> Result<(), BenchError> {
    for k in 0..size.chunk {
        match sorting {
            Sorting::Stale if k % STEP == 0 => mpm.begin_step(),
            Sorting::Step if k % STEP == 0 => mpm.sort(),
            Sorting::Substep => mpm.sort(),
            _ => {}
        }
        mpm.particles_to_grid(size.substep, GRAVITY);
        mpm.grid_to_particles(size.substep).map_err(fail)?;
    }
    Ok(())
}

fn fail(reason: impl ToString) -> BenchError {
    BenchError { bench: PART.name, reason: reason.to_string() }
}

fn build(size: &Size) -> Result<(Mpm, Vec<Boundary>), BenchError> {
    let dx = SIDE / size.cells as f64;
    let corner = (size.nodes - size.cells) / 2;
    let origin = [corner, corner, WALL + GAP];
    let per_edge = 2 * size.cells;
    let mut particles = Vec::with_capacity(per_edge.pow(3));
    for index in 0..per_edge.pow(3) {
        let cell = [index / (per_edge * per_edge), index / per_edge % per_edge, index % per_edge];
        let x = Vector3::from_fn(|d, _| (origin[d] as f64 + 0.5 * cell[d] as f64 + 0.25) * dx);
        particles.push(ParticleState::new(Point3::from(x), Vector3::zeros(), dx.powi(3) / 8.0, 0));
    }
    let elastic = Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 };
    let material = Material { density: 1000.0, model: Model::NeoHookean(elastic) };
    let (low, high) = (WALL as f64 * dx, (size.nodes - WALL) as f64 * dx);
    let walls = [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()].into_iter().flat_map(|axis| {
        let wall = |at: f64, normal: Unit<Vector3<f64>>| Boundary {
            point: Point3::from(axis.into_inner() * at),
            normal,
            kind: BoundaryKind::Slip,
        };
        [wall(low, axis), wall(high, -axis)]
    });
    let walls: Vec<Boundary> = walls.collect();
    let mpm = Mpm::new(dx, vec![material], &particles, &walls, InstructionSet::detect()).map_err(fail)?;
    Ok((mpm, walls))
}

/// The block on any backend.
trait Block {
    /// Takes substeps of `substep` \[s\].
    fn advance(&mut self, substeps: usize, substep: f64) -> Result<(), BenchError>;

    /// Height of the centre of mass \[m\].
    fn height(&mut self) -> Result<f64, BenchError>;

    /// Number of particles.
    fn particles(&self) -> usize;

    /// Bytes held for particles and grid after the run, and a remark for the row.
    fn memory(&mut self, substep: f64) -> Result<(u64, &'static str), BenchError>;
}

struct OnProcessor((Mpm, Vec<Boundary>));

impl Block for OnProcessor {
    fn advance(&mut self, substeps: usize, substep: f64) -> Result<(), BenchError> {
        let mpm = &mut self.0.0;
        for k in 0..substeps {
            if k % STEP == 0 {
                mpm.begin_step();
            }
            mpm.particles_to_grid(substep, GRAVITY);
            mpm.grid_to_particles(substep).map_err(fail)?;
        }
        Ok(())
    }

    fn height(&mut self) -> Result<f64, BenchError> {
        let totals = self.0.0.totals(&mut Vec::new());
        Ok(totals.first_moment.z / totals.mass)
    }

    fn particles(&self) -> usize {
        self.0.0.len()
    }

    fn memory(&mut self, substep: f64) -> Result<(u64, &'static str), BenchError> {
        self.0.0.sort();
        self.advance(1, substep)?;
        Ok((self.0.0.memory() as u64, self.0.0.level().name()))
    }
}

struct OnDevice {
    mpm: DeviceMpm,
    bytes: u64,
}

impl OnDevice {
    fn new(
        device: &Device,
        (mpm, walls): (Mpm, Vec<Boundary>),
        transfer: Transfer,
    ) -> Result<Self, BenchError> {
        let capacities = BlockCapacities::for_model(&mpm);
        let bytes = DeviceMpm::bytes_needed(&mpm, &walls, capacities);
        let mut mpm = DeviceMpm::new(device, &mpm, &walls, capacities).map_err(fail)?;
        mpm.set_transfer(transfer);
        Ok(Self { mpm, bytes })
    }
}

impl Block for OnDevice {
    fn advance(&mut self, substeps: usize, substep: f64) -> Result<(), BenchError> {
        let mut left = substeps;
        while left > 0 {
            let step = left.min(STEP);
            self.mpm.advance(step as u32, substep, GRAVITY).map_err(fail)?;
            left -= step;
        }
        Ok(())
    }

    fn height(&mut self) -> Result<f64, BenchError> {
        let totals = self.mpm.totals().map_err(fail)?;
        Ok(totals.first_moment.z / totals.mass)
    }

    fn particles(&self) -> usize {
        self.mpm.particles().len()
    }

    fn memory(&mut self, _: f64) -> Result<(u64, &'static str), BenchError> {
        Ok((self.bytes, "cuda"))
    }
}

/// Measurements of a size.
struct Measured {
    /// ns per particle and substep, of each chunk.
    times: Vec<f64>,
    details: Value,
}

fn measure(block: &mut impl Block, size: &Size) -> Result<Measured, BenchError> {
    let start = block.height()?;
    block.advance(CHECK, size.substep)?;
    let exact = 0.5 * GRAVITY.z * size.substep * size.substep * (CHECK * (CHECK + 1)) as f64;
    let fall_error = (block.height()? - start) / exact - 1.0;
    if fall_error.abs() > 1e-3 {
        return Err(fail(format!(
            "{}: the free fall is off by {fall_error:.2e} of the closed form",
            size.name
        )));
    }
    let mut times = Vec::with_capacity(CHUNKS);
    for _ in 0..CHUNKS {
        let clock = Instant::now();
        block.advance(size.chunk, size.substep)?;
        times.push(clock.elapsed().as_secs_f64() * 1e9 / (size.chunk * block.particles()) as f64);
    }
    let (bytes, instruction_set) = block.memory(size.substep)?;
    let details = json!({
        "particles": block.particles(),
        "grid_spacing_m": SIDE / size.cells as f64,
        "dt_s": size.substep,
        "substeps": size.chunk,
        "instruction_set": instruction_set,
        "bytes_per_particle": bytes as f64 / block.particles() as f64,
        "free_fall_error": fall_error,
    });
    Ok(Measured { times, details })
}
