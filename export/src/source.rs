//! What an export reads: a recorded run, or anything else with bodies and frames.

use std::fs;

use nalgebra::Isometry3;
use pliant_io::digest;
use pliant_io::files::IoError;
use pliant_io::ply::Frame;
use pliant_render::Image;
use pliant_runner::picture::FrameRenderer;
use pliant_runner::recording::{RecordedBody, Recording, RecordingError};

use crate::error::ExportError;

/// The table with a row a step.
const DIAGNOSTICS: &str = "diagnostics.csv";

/// A table of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns, with units as in the formats' page.
    pub columns: Vec<String>,
    /// Values, a row after the other; NaN where a cell is empty.
    pub values: Vec<f64>,
}

/// Draws frames, several at a time.
pub trait Paint: Sync {
    /// The picture of a frame, `width` x `height` pixels.
    ///
    /// # Errors
    /// [`ExportError`]: it cannot be read or drawn.
    fn paint(&self, frame: usize, width: u32, height: u32) -> Result<Image, ExportError>;
}

impl Paint for FrameRenderer<'_> {
    fn paint(&self, frame: usize, width: u32, height: u32) -> Result<Image, ExportError> {
        Ok(self.draw(frame, width, height)?)
    }
}

/// Bodies and frames to export. World frame, SI units, z up.
pub trait Source {
    /// What the bodies look like, in the order of the poses.
    fn bodies(&self) -> &[RecordedBody];

    /// Time of each frame \[s\].
    fn times(&self) -> Vec<f64>;

    /// Pose of each body in the world at a frame.
    fn poses(&self, frame: usize) -> Vec<Isometry3<f64>>;

    /// Particles and cloth of a frame.
    ///
    /// # Errors
    /// [`ExportError`]: it cannot be read.
    fn frame(&self, frame: usize) -> Result<Frame, ExportError>;

    /// The diagnostics, a row a step.
    ///
    /// # Errors
    /// [`ExportError`]: they cannot be read.
    fn diagnostics(&self) -> Result<Table, ExportError>;

    /// Width and height of the run's pictures \[pixels\].
    fn picture_size(&self) -> [u32; 2];

    /// What draws the frames.
    ///
    /// # Errors
    /// [`ExportError`]: a frame that it needs beforehand cannot be read.
    fn painter(&self) -> Result<Box<dyn Paint + '_>, ExportError>;
}

impl Source for Recording {
    fn bodies(&self) -> &[RecordedBody] {
        self.bodies()
    }

    fn times(&self) -> Vec<f64> {
        self.frames().iter().map(|row| row.time).collect()
    }

    fn poses(&self, frame: usize) -> Vec<Isometry3<f64>> {
        self.poses(frame).collect()
    }

    fn frame(&self, frame: usize) -> Result<Frame, ExportError> {
        Ok(self.frame(frame)?)
    }

    fn diagnostics(&self) -> Result<Table, ExportError> {
        let path = self.directory().join(DIAGNOSTICS);
        if let Some(expected) = self.manifest().and_then(|manifest| manifest.digests.get(DIAGNOSTICS)) {
            digest::verify(&path, expected).map_err(RecordingError::from)?;
        }
        let text = fs::read_to_string(&path).map_err(|e| IoError::file("read", &path, e))?;
        // The last line of a run that goes on may be half written.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        parse_table(whole).map_err(|reason| IoError::malformed(&path, reason).into())
    }

    fn picture_size(&self) -> [u32; 2] {
        self.scene().output.picture_size
    }

    fn painter(&self) -> Result<Box<dyn Paint + '_>, ExportError> {
        Ok(Box::new(FrameRenderer::new(self)?))
    }
}

/// A table of numbers from CSV text.
fn parse_table(text: &str) -> Result<Table, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns: Vec<String> =
        reader.headers().map_err(|e| e.to_string())?.iter().map(str::to_owned).collect();
    let mut values = Vec::new();
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(|e| e.to_string())?;
        for (cell, column) in record.iter().zip(&columns) {
            let value = if cell.is_empty() { Ok(f64::NAN) } else { cell.parse() };
            values.push(value.map_err(|_| format!("row {}: `{column}` is `{cell}`, not a number", row + 1))?);
        }
    }
    Ok(Table { columns, values })
}
