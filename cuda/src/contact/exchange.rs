//! Results of the contact solve for the grid and the bodies.

use nalgebra::Vector3;
use pliant_coupling::ReferencePointPath;
use pliant_rigid::SpatialImpulse;

use super::detector::DeviceContactDetector;
use super::error::ContactError;
use super::geometries::DeviceGeometries;
use crate::kernels::{
    CONTACT_SUMS, CONTACT_THREADS, ContactExchangeParameters, ContactReference, ContactSolution,
    ContactSumBodiesParameters, ConvexIncidence,
};
use crate::layout::Span;
use crate::mpm::grown_capacity;
use crate::staging::{StagedResult, Staging};
use crate::{Buffer, Commands, Device, DeviceError, Launch};

/// Angular impulse, linear impulse, work.
type Sums = [f64; CONTACT_SUMS as usize];

/// Applies the solutions of contact solves, and sums them over a step.
#[derive(Debug)]
pub struct DeviceExchange {
    device: Device,
    sums: Buffer<Sums>,
    totals: Buffer<Sums>,
    references: Buffer<ContactReference>,
    bodies: u32,
    contact_tiles: u32,
    node_tiles: u32,
}

/// Tiles of so many contacts or nodes.
fn tiles(items: usize) -> usize {
    items.div_ceil(CONTACT_THREADS as usize).max(1)
}

/// What the particles gave a body over the substeps of a step, world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyExchange {
    /// Impulse on the body, in each substep about its point then ([`DeviceExchange::begin_step`]).
    pub impulse: SpatialImpulse,
    /// Moment that the displacement of that point adds about its position in the first substep \[N
    /// m s\].
    pub moment_of_travel: Vector3<f64>,
    /// Work of the body on the particles \[J\].
    pub work: f64,
}

/// At the start of a step; without a path the point stays.
fn reference(substep: f64, path: Option<&ReferencePointPath>) -> ContactReference {
    ContactReference {
        velocity: path.map_or([0.0; 3], |path| path.velocity.into()),
        acceleration: path.map_or([0.0; 3], |path| path.acceleration.into()),
        mass: path.map_or(f64::INFINITY, |path| path.mass),
        substep,
        moment_of_travel: [0.0; 3],
        substep_index: 0,
        unused: 0,
    }
}

/// What a step leaves of the exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StagedExchange {
    totals: StagedResult<Sums>,
    references: StagedResult<ContactReference>,
}

/// What the bodies got, and last the boundary constraints, which have no reference.
fn exchanged(totals: &[Sums], references: &[ContactReference]) -> impl Iterator<Item = BodyExchange> {
    let moments = references.iter().map(|r| Vector3::from(r.moment_of_travel)).chain([Vector3::zeros()]);
    totals.iter().zip(moments).map(|(t, moment_of_travel)| BodyExchange {
        impulse: SpatialImpulse {
            angular: Vector3::new(t[0], t[1], t[2]),
            linear: Vector3::new(t[3], t[4], t[5]),
        },
        moment_of_travel,
        work: t[6],
    })
}

impl DeviceExchange {
    /// Memory for substeps of up to `contacts` contacts, with grid boundary constraints, and
    /// `nodes` touched nodes.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        device: &Device,
        geometries: &DeviceGeometries,
        contacts: usize,
        nodes: usize,
    ) -> Result<Self, ContactError> {
        let all = geometries.bodies() + 1;
        Ok(Self {
            device: device.clone(),
            sums: device.allocate((tiles(contacts) + tiles(nodes)) * all)?,
            totals: device.upload(&vec![[0.0; CONTACT_SUMS as usize]; all])?,
            references: device.upload(&vec![reference(0.0, None); geometries.bodies()])?,
            bodies: geometries.bodies() as u32,
            contact_tiles: tiles(contacts) as u32,
            node_tiles: tiles(nodes) as u32,
        })
    }

    /// What [`DeviceExchange::new`] allocates for so many bodies, in bytes.
    pub fn bytes_needed(bodies: usize, contacts: usize, nodes: usize) -> u64 {
        let sums = (tiles(contacts) + tiles(nodes) + 1) * (bodies + 1) * size_of::<Sums>();
        (sums + bodies * size_of::<ContactReference>()) as u64
    }

    /// Grows the capacity for `contacts` contacts and `nodes` touched nodes and half as many more,
    /// where there is too little; it is to have as much as detector and solver. The step's sums
    /// stay. Commands are to be recorded anew.
    ///
    /// # Errors
    /// [`DeviceError::CannotGrow`], with everything as it was.
    pub fn grow(&mut self, contacts: u32, nodes: u32) -> Result<(), ContactError> {
        let tile = |items: u32, tiles: u32| grown_capacity(items.div_ceil(CONTACT_THREADS), tiles);
        let (contact_tiles, node_tiles) = (tile(contacts, self.contact_tiles), tile(nodes, self.node_tiles));
        let (from, to) = (self.contact_tiles + self.node_tiles, contact_tiles + node_tiles);
        if to == from {
            return Ok(());
        }
        let sums = self.device.allocate(to as usize * (self.bodies as usize + 1));
        self.sums = sums.map_err(DeviceError::cannot_grow("tiles of contacts and nodes", from, to))?;
        (self.contact_tiles, self.node_tiles) = (contact_tiles, node_tiles);
        tracing::info!(from, to, "room for more tiles of the exchange on the device");
        Ok(())
    }

    /// Stages the beginning of a step of substeps of `substep` \[s\]: bodies got nothing yet. The points that the
    /// impulses on them are about, which the detector has for the first substep, go on by
    /// `references`, one a body; those of bodies without stay.
    ///
    /// # Errors
    /// Those of the device.
    pub fn begin_step(
        &mut self,
        staging: &mut Staging,
        substep: f64,
        references: &[ReferencePointPath],
    ) -> Result<(), ContactError> {
        let paths = references.iter().map(Some).chain(core::iter::repeat(None));
        let all: Vec<_> = paths.take(self.bodies as usize).map(|path| reference(substep, path)).collect();
        staging.clear(self.totals.span());
        Ok(staging.upload(self.references.span(), &all)?)
    }

    /// Appends the launches that apply the solution of the substep that the detector found last:
    /// velocities to the `nodes` of the grid (velocity \[m/s\], mass \[kg\]), impulses to the
    /// bodies, and the contacts to the detector, which caches them and begins the next substep:
    /// from then on this one cannot be stopped. Nothing happens where it has been.
    pub fn issue(
        &self,
        commands: &mut Commands,
        geometries: &DeviceGeometries,
        detector: &DeviceContactDetector,
        incidence: ConvexIncidence,
        solution: ContactSolution,
        nodes: Span<[f32; 4]>,
    ) {
        let (clock, bodies, sums) = (detector.clock(), detector.bodies(), self.sums.span());
        let (body_count, first_tile) = (self.bodies, self.contact_tiles);
        let tiles = self.contact_tiles + self.node_tiles;
        commands
            .launch(
                Launch::new(tiles, CONTACT_THREADS),
                &ContactExchangeParameters {
                    contacts: detector.contacts(),
                    shapes: geometries.shapes(),
                    incidence,
                    nodes,
                    contact_cache: detector.contact_cache(),
                    solution,
                    bodies,
                    clock,
                    sums,
                    grid_spacing: detector.grid_spacing(),
                    body_count,
                    first_tile,
                },
            )
            .launch(
                Launch::new(body_count + 1, CONTACT_THREADS),
                &ContactSumBodiesParameters {
                    sums,
                    totals: self.totals.span(),
                    bodies,
                    placement: detector.placement(geometries),
                    references: self.references.span(),
                    clock,
                    state: detector.state(),
                    tiles,
                    first_tile,
                    body_count,
                    unused: 0,
                },
            );
    }

    /// For each body and, last, the grid boundary constraints (about the world's origin): angular
    /// impulse on it \[N m s\], linear impulse \[N s\], work on the particles \[J\], over the step
    /// so far.
    pub fn totals(&self) -> Span<Sums> {
        self.totals.span()
    }

    /// The same on the host: waits for the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self) -> Result<Vec<BodyExchange>, ContactError> {
        Ok(exchanged(&self.totals.download()?, &self.references.download()?).collect())
    }

    /// Asks for what the step left, for [`DeviceExchange::results`].
    pub(crate) fn stage_results(&self, staging: &mut Staging) -> StagedExchange {
        StagedExchange {
            totals: staging.download(self.totals.span()),
            references: staging.download(self.references.span()),
        }
    }

    /// As [`DeviceExchange::download`], of a run that was received.
    pub(crate) fn results(staging: &Staging, staged: &StagedExchange) -> impl Iterator<Item = BodyExchange> {
        exchanged(staging.result(&staged.totals), staging.result(&staged.references))
    }
}
