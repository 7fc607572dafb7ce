//! All tables of a run.

use std::collections::BTreeMap;
use std::path::Path;

use pliant_coupling::{Diagnostics, StepReport};
use pliant_io::digest::{DigestError, FileDigest};
use pliant_io::files::IoError;
use pliant_scenes::scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::bodies::BodySums;
use super::forces::ForceTable;
use super::frame_list::FrameRow;
use super::joints::JointTable;
use super::robot_sensors::RobotSensorTable;
use super::table::{Opening, Table};
use super::tactile::{TactileSum, TactileTables};
use super::{bodies, diagnostics, frame_list};

/// The tables of a run, with what they sum up between two frames.
pub struct RunTables {
    diagnostics: Table,
    bodies: Table,
    frames: Table,
    tactile: Option<TactileTables>,
    forces: Option<ForceTable>,
    joints: Option<JointTable>,
    robot_sensors: Option<RobotSensorTable>,
    sums: BodySums,
}

/// The tables at a step, for a checkpoint: what is on disk, and the sums since the last frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TablesState {
    /// Length and digest of each table, by its path in the run directory.
    pub files: BTreeMap<String, FileDigest>,
    bodies: BodySums,
    tactile: Vec<TactileSum>,
}

impl TablesState {
    /// Checks that every table still begins with what it held then; changes nothing.
    ///
    /// # Errors
    /// [`DigestError`] naming the first table that does not.
    pub fn verify(&self, directory: &Path) -> Result<(), DigestError> {
        self.files.iter().try_for_each(|(name, state)| Table::verify(directory, name, state))
    }
}

impl RunTables {
    /// Begins the tables of a new run.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn create(directory: &Path, scenario: &Scenario) -> Result<Self, DigestError> {
        Self::open(directory, scenario, Opening::New)
    }

    /// Opens the tables as they were at a checkpoint; rows after it are cut off. Call
    /// [`TablesState::verify`] first: here the tables before a damaged one are already cut.
    ///
    /// # Errors
    /// A table cannot be opened, or is not what the checkpoint says.
    pub fn reopen(directory: &Path, scenario: &Scenario, state: TablesState) -> Result<Self, DigestError> {
        let mut tables = Self::open(directory, scenario, Opening::Resumed(&state.files))?;
        tables.sums = state.bodies;
        if let Some(tactile) = &mut tables.tactile {
            tactile.restore(state.tactile);
        }
        Ok(tables)
    }

    fn open(directory: &Path, scenario: &Scenario, opening: Opening) -> Result<Self, DigestError> {
        let (scene, world) = (&scenario.scene, &scenario.world);
        Ok(Self {
            diagnostics: diagnostics::open(directory, opening, !world.cloths().is_empty())?,
            bodies: bodies::open(directory, opening)?,
            frames: frame_list::open(directory, opening)?,
            tactile: TactileTables::open(directory, opening, world)?,
            forces: ForceTable::open(directory, opening, scene, world)?,
            joints: JointTable::open(directory, opening, world)?,
            robot_sensors: RobotSensorTable::open(directory, opening, world)?,
            sums: BodySums::new(scenario.centers.len()),
        })
    }

    /// Adds a step to the sums of the frame, and writes the rows of `forces.csv`. It comes before
    /// the step's [`frame`](Self::frame) and [`diagnostics`](Self::diagnostics).
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn step(&mut self, scenario: &Scenario) -> Result<(), IoError> {
        self.sums.step(&scenario.world);
        if let Some(tactile) = &mut self.tactile {
            tactile.step(&scenario.world, scenario.scene.dt);
        }
        if let Some(forces) = &mut self.forces {
            forces.step(&scenario.world, &scenario.centers)?;
        }
        Ok(())
    }

    /// Writes the rows of a frame: means over the `interval` \[s\] since the last one. Of the
    /// scenario only buffers change.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn frame(&mut self, scenario: &mut Scenario, interval: f64, row: &FrameRow) -> Result<(), IoError> {
        let world = &scenario.world;
        frame_list::frame(&mut self.frames, row)?;
        bodies::frame(&mut self.bodies, world, &scenario.centers, &self.sums, interval)?;
        if let Some(tactile) = &mut self.tactile {
            tactile.frame(world, interval)?;
        }
        if let Some(sensors) = &mut self.robot_sensors {
            sensors.frame(world)?;
        }
        if let Some(joints) = &mut self.joints {
            joints.frame(scenario)?;
        }
        self.sums.clear();
        // A viewer reads them while the run goes on.
        [&mut self.diagnostics, &mut self.bodies, &mut self.frames].into_iter().try_for_each(Table::flush)
    }

    /// Writes the step's row of `diagnostics.csv`. `wall_ms` is the step's wall time \[ms\],
    /// `crossings` the number of those of cloth at the last frame, if there is cloth.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn diagnostics(
        &mut self,
        scenario: &Scenario,
        diagnostics: &Diagnostics,
        report: &StepReport,
        wall_ms: f64,
        crossings: Option<usize>,
    ) -> Result<(), IoError> {
        let rigid_energy = scenario.world.bodies().kinetic_energy();
        diagnostics::step(&mut self.diagnostics, diagnostics, report, wall_ms, rigid_energy, crossings)
    }

    /// Writes every row to disk; returns the state for a checkpoint.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn sync(&mut self) -> Result<TablesState, IoError> {
        let mut files = BTreeMap::new();
        for table in [&mut self.diagnostics, &mut self.bodies, &mut self.frames] {
            table.sync(&mut files)?;
        }
        if let Some(forces) = &mut self.forces {
            forces.sync(&mut files)?;
        }
        if let Some(joints) = &mut self.joints {
            joints.sync(&mut files)?;
        }
        if let Some(sensors) = &mut self.robot_sensors {
            sensors.sync(&mut files)?;
        }
        let tactile = match &mut self.tactile {
            Some(tactile) => tactile.sync(&mut files)?,
            None => Vec::new(),
        };
        Ok(TablesState { files, bodies: self.sums.clone(), tactile })
    }
}
