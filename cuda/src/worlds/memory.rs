//! The device memory of worlds.

use pliant_batch::FlatBatch;

use super::error::WorldsError;
use super::number::{Numbers, WorldsNumber};
use super::upload::{Constants, Rows, Upload};
use crate::kernels::{
    WorldsBody, WorldsDof, WorldsGeometry, WorldsMotor, WorldsPair, WorldsPlan, WorldsTree,
};
use crate::layout::DeviceType;
use crate::{Buffer, Device, DeviceError, Recording};

/// All of it.
#[derive(Debug)]
pub struct WorldsMemory<T: DeviceType> {
    bodies: Buffer<WorldsBody>,
    trees: Buffer<WorldsTree>,
    chains: Buffer<[u32; 2]>,
    geometries: Buffer<WorldsGeometry>,
    pairs: Buffer<WorldsPair>,
    motors: Buffer<WorldsMotor>,
    dofs: Buffer<WorldsDof>,
    entries: Buffer<[u32; 2]>,
    touching: Buffer<u32>,
    clock: Buffer<u32>,
    rows: Rows,
    largest: u32,
    /// For each world, 1 where it has stopped.
    pub(super) stopped: Buffer<u32>,
    /// For each world, steps since it was put into its state.
    pub(super) steps: Buffer<u32>,
    pub(super) constants: Buffer<T>,
    pub(super) states: Buffer<T>,
    pub(super) targets: Buffer<T>,
    pub(super) parameters: Buffer<T>,
    pub(super) scratch: Buffer<T>,
    pub(super) contacts: Buffer<T>,
}

fn narrowed<T: WorldsNumber>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|x| T::narrow(*x)).collect()
}

impl<T: WorldsNumber> WorldsMemory<T> {
    /// What [`WorldsMemory::new`] allocates, in bytes.
    pub(super) fn bytes_needed(flat: &FlatBatch, steps: usize) -> u64 {
        let upload = Upload::new(flat);
        let rows = Rows::new(flat, upload.largest);
        let plan = size_of_val(&upload.bodies[..])
            + size_of_val(&upload.trees[..])
            + size_of_val(&flat.chains[..])
            + size_of_val(&upload.geometries[..])
            + size_of_val(&upload.pairs[..])
            + size_of_val(&upload.motors[..])
            + size_of_val(&upload.dofs[..])
            + size_of_val(&upload.entries[..]);
        let words = flat.worlds * (upload.pairs.len() + 2) + 2;
        let own = rows.scratch as usize
            + rows.contacts as usize
            + flat.positions
            + flat.velocities
            + flat.rows.rows as usize
            + steps.max(1) * flat.motors.len();
        (plan + words * size_of::<u32>() + (upload.constants.len() + own * flat.worlds) * size_of::<T>())
            as u64
    }

    pub(super) fn new(device: &Device, flat: &FlatBatch, steps: usize) -> Result<Self, DeviceError> {
        let upload = Upload::new(flat);
        let rows = Rows::new(flat, upload.largest);
        let of_worlds = |rows: u32| rows as usize * flat.worlds;
        let stopped: Vec<u32> = flat.stopped.iter().map(|stopped| u32::from(*stopped)).collect();
        let mut targets = device.allocate(steps.max(1) * flat.targets.len())?;
        targets.upload(&narrowed::<T>(&flat.targets))?;
        Ok(Self {
            bodies: device.upload(&upload.bodies)?,
            trees: device.upload(&upload.trees)?,
            chains: device.upload(&flat.chains)?,
            geometries: device.upload(&upload.geometries)?,
            pairs: device.upload(&upload.pairs)?,
            motors: device.upload(&upload.motors)?,
            dofs: device.upload(&upload.dofs)?,
            entries: device.upload(&upload.entries)?,
            touching: device.allocate(upload.pairs.len() * flat.worlds)?,
            clock: device.upload(&[0; 2])?,
            largest: upload.largest,
            stopped: device.upload(&stopped)?,
            steps: device.upload(&vec![0; flat.worlds])?,
            constants: device.upload(&narrowed::<T>(&upload.constants))?,
            states: device.upload(&narrowed::<T>(&flat.states))?,
            targets,
            parameters: device.upload(&narrowed::<T>(&flat.parameters))?,
            scratch: device.allocate(of_worlds(rows.scratch))?,
            contacts: device.allocate(of_worlds(rows.contacts))?,
            rows,
        })
    }

    fn plan(&self, flat: &FlatBatch) -> WorldsPlan {
        let (constants, rows, parameters) = (Constants::new(flat), &self.rows, &flat.rows);
        WorldsPlan {
            bodies: self.bodies.span(),
            trees: self.trees.span(),
            chains: self.chains.span(),
            geometries: self.geometries.span(),
            pairs: self.pairs.span(),
            motors: self.motors.span(),
            dofs: self.dofs.span(),
            entries: self.entries.span(),
            stopped: self.stopped.span(),
            steps: self.steps.span(),
            clock: self.clock.span(),
            touching: self.touching.span(),
            worlds: flat.worlds as u32,
            facets: flat.facets.len() as u32,
            velocities: flat.positions as u32,
            largest: self.largest,
            gravity: parameters.gravity,
            mass: parameters.mass,
            sizes: parameters.sizes,
            friction: parameters.friction,
            motor_figures: parameters.motors,
            poses: rows.poses,
            motions: rows.motions,
            inertias: rows.inertias,
            forces: rows.forces,
            axes: rows.axes,
            bare: rows.bare,
            blocks: rows.blocks,
            momenta: rows.momenta,
            smooth: rows.smooth,
            loads: rows.loads,
            saturated: rows.saturated,
            columns: rows.columns,
            body_numbers: constants.bodies,
            geometry_numbers: constants.geometries,
            pair_numbers: constants.pairs,
            motor_numbers: constants.motors,
            dof_numbers: constants.dofs,
            facet_numbers: constants.facets,
            unused: 0,
        }
    }

    fn numbers(&self) -> Numbers<T> {
        Numbers {
            constants: self.constants.span(),
            states: self.states.span(),
            targets: self.targets.span(),
            parameters: self.parameters.span(),
            scratch: self.scratch.span(),
            contacts: self.contacts.span(),
        }
    }

    /// A step, ready to be run many times.
    pub(super) fn record(&self, device: &Device, flat: &FlatBatch) -> Result<Recording, DeviceError> {
        let plan = self.plan(flat);
        device.record(|commands| T::issue(commands, plan, self.numbers()))
    }

    /// Room for so many targets. Whether there was too little: recordings are to be made anew then.
    pub(super) fn grow_blocks(&mut self, targets: usize) -> Result<bool, DeviceError> {
        self.targets.grow(targets)
    }

    /// Targets of each of the next steps; the last ones stay.
    pub(super) fn set_targets(&mut self, targets: &[f64], steps: usize) -> Result<(), DeviceError> {
        self.targets.upload(&narrowed::<T>(targets))?;
        self.clock.upload(&[0, steps as u32 - 1])
    }

    /// Targets of all further steps.
    pub(super) fn hold_targets(&mut self, targets: &[f64]) -> Result<(), WorldsError> {
        self.targets.upload(&narrowed::<T>(targets))?;
        Ok(self.clock.upload(&[0, 0])?)
    }

    /// One of the numbers of the states.
    pub(super) fn state(&self, at: usize) -> Result<f64, DeviceError> {
        let mut number = [T::narrow(0.0)];
        self.states.download_at(at, &mut number)?;
        Ok(number[0].wide())
    }

    /// One of a list of words.
    pub(super) fn word(of: &Buffer<u32>, at: usize) -> Result<u32, DeviceError> {
        let mut word = [0];
        of.download_at(at, &mut word)?;
        Ok(word[0])
    }
}
