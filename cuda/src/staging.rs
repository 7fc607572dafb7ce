//! What a step gets from the host and what it leaves to it, as one copy each way.
//!
//! A copy between host and device that the host waits for takes some ten microseconds however
//! little it moves. So a step's inputs, which go to many buffers, are staged in one image: a copy
//! and a launch at the beginning of a recording bring them all to their places, a launch and a copy
//! at its end bring all results back. The image also has the list of its pieces, so that a
//! recording fits every step until the image grows.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Zeroable;

use crate::command::{Commands, Launch};
use crate::host_memory::HostMemory;
use crate::kernels::{STAGING_THREADS, StagingGatherParameters, StagingPiece, StagingScatterParameters};
use crate::layout::{DeviceType, RawSpan, Span};
use crate::{Buffer, Device, DeviceError};

/// What images are made of: everything begins at a multiple of 16 bytes.
type Unit = [u64; 2];

/// Words of four bytes in a unit.
const WORDS: usize = size_of::<Unit>() / size_of::<u32>();
/// Units of an image at first, besides its lists.
const UNITS: usize = 1024;
/// Pieces of a list at first.
const PIECES: usize = 32;
/// Blocks of the kernels, which go through one piece after the other.
const BLOCKS: u32 = 16;

/// A result that a step leaves, to be read from [`Staging::result`].
#[derive(Debug)]
pub struct StagedResult<T> {
    first: usize,
    length: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for StagedResult<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for StagedResult<T> {}

/// The inputs and results of a step.
#[derive(Debug)]
pub struct Staging {
    device: Device,
    up: Image,
    down: Image,
    /// Pieces that a list has room for.
    pieces: usize,
    scattered: List,
    gathered: List,
    /// The values of the scattered pieces, one after the other.
    values: Vec<Unit>,
    /// What is sent.
    sent: Vec<Unit>,
    /// What came back.
    results: Vec<Unit>,
}

/// An image on both sides.
#[derive(Debug)]
struct Image {
    on_device: Buffer<Unit>,
    on_host: Arc<HostMemory>,
}

/// Pieces of an image.
#[derive(Debug, Default)]
struct List {
    pieces: Vec<StagingPiece>,
    /// Where they belong.
    spans: Vec<RawSpan>,
    /// All of them [units].
    units: usize,
}

impl List {
    fn clear(&mut self) {
        self.pieces.clear();
        self.spans.clear();
        self.units = 0;
    }

    /// Adds a piece; its first unit.
    fn add(&mut self, span: RawSpan) -> usize {
        let first = self.units;
        let words = (span.bytes / size_of::<u32>() as u64) as u32;
        self.pieces.push(StagingPiece { address: span.address, first: (first * WORDS) as u32, words });
        self.spans.push(span);
        self.units += (words as usize).div_ceil(WORDS);
        first
    }
}

impl Image {
    fn new(device: &Device, units: usize) -> Result<Self, DeviceError> {
        let on_device = device.allocate(units)?;
        let on_host = Arc::new(device.host_memory((units * size_of::<Unit>()) as u64)?);
        Ok(Self { on_device, on_host })
    }
}

impl Staging {
    /// Room for a few dozen pieces of some kilobytes.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self {
            device: device.clone(),
            up: Image::new(device, units_of(PIECES, UNITS))?,
            down: Image::new(device, UNITS)?,
            pieces: PIECES,
            scattered: List::default(),
            gathered: List::default(),
            values: Vec::new(),
            sent: Vec::new(),
            results: Vec::new(),
        })
    }

    /// What [`Staging::new`] allocates on the device, in bytes.
    pub fn bytes_needed() -> u64 {
        ((units_of(PIECES, UNITS) + UNITS) * size_of::<Unit>()) as u64
    }

    /// Has the next run begin with these values at the beginning of `to`.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] where there are more values than elements.
    pub fn upload<T: DeviceType>(&mut self, to: Span<T>, values: &[T]) -> Result<(), DeviceError> {
        const { assert!(size_of::<T>().is_multiple_of(size_of::<u32>()), "pieces are whole words") }
        if values.len() > to.len() as usize {
            let (given, length) = (values.len(), to.len() as usize);
            return Err(DeviceError::LengthMismatch { given, first: 0, length });
        }
        let first = self.scattered.add(to.first(values.len() as u32).raw());
        self.values.resize(self.scattered.units, Unit::zeroed());
        let bytes: &[u8] = bytemuck::cast_slice(values);
        bytemuck::cast_slice_mut(&mut self.values[first..])[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// Has the next run begin with zeros in `to`.
    pub fn clear<T: DeviceType>(&mut self, to: Span<T>) {
        const { assert!(size_of::<T>().is_multiple_of(size_of::<u32>()), "pieces are whole words") }
        self.scattered.add(to.raw());
        self.values.resize(self.scattered.units, Unit::zeroed());
    }

    /// Has runs end with a copy of `from`, until [`Staging::forget_results`].
    pub fn download<T: DeviceType>(&mut self, from: Span<T>) -> StagedResult<T> {
        const { assert!(size_of::<T>().is_multiple_of(size_of::<u32>()), "pieces are whole words") }
        let first = self.gathered.add(from.raw());
        StagedResult { first, length: from.len() as usize, element: PhantomData }
    }

    /// Forgets what was staged and asked for, of a step that came to nothing.
    pub fn forget(&mut self) {
        self.scattered.clear();
        self.values.clear();
        self.gathered.clear();
    }

    /// Has no results come back but those that are asked for from now on.
    pub fn forget_results(&mut self) {
        self.gathered.clear();
    }

    /// Makes the next run's image ready, which has what was staged since the last. True where
    /// commands are to be recorded anew. Waits for the last run.
    ///
    /// # Errors
    /// [`DeviceError::DanglingSpan`] where a piece belongs to memory that is gone, and those of the
    /// device; what was staged stays.
    pub fn prepare(&mut self) -> Result<bool, DeviceError> {
        self.device.check_spans("staging", &self.scattered.spans)?;
        self.device.check_spans("staging", &self.gathered.spans)?;
        let has_grown = self.grow()?;
        let lists = units_of(self.pieces, 0);
        self.sent.clear();
        self.sent.resize(lists, Unit::zeroed());
        let counts = [&self.scattered, &self.gathered].map(|list| list.pieces.len() as u32);
        bytemuck::cast_slice_mut(&mut self.sent)[..counts.len()].copy_from_slice(&counts);
        for (list, first) in [(&self.scattered, 1), (&self.gathered, 1 + self.pieces)] {
            let places = &mut self.sent[first..first + list.pieces.len()];
            bytemuck::cast_slice_mut(places).copy_from_slice(&list.pieces);
        }
        self.sent.extend_from_slice(&self.values);
        self.up.on_host.write(bytemuck::cast_slice(&self.sent))?;
        self.scattered.clear();
        self.values.clear();
        Ok(has_grown)
    }

    /// Grows the images and lists where there is too little room; true where there was.
    fn grow(&mut self) -> Result<bool, DeviceError> {
        let pieces = self.scattered.pieces.len().max(self.gathered.pieces.len());
        let mut has_grown = false;
        let lacks = |image: &Image, units: usize| image.on_device.len() < units;
        if pieces > self.pieces || lacks(&self.up, units_of(self.pieces, self.scattered.units)) {
            let pieces = if pieces > self.pieces { 2 * pieces } else { self.pieces };
            self.up = Image::new(&self.device, units_of(pieces, 2 * self.scattered.units))?;
            self.pieces = pieces;
            has_grown = true;
        }
        if lacks(&self.down, self.gathered.units) {
            self.down = Image::new(&self.device, 2 * self.gathered.units)?;
            has_grown = true;
        }
        Ok(has_grown)
    }

    /// Appends what a run begins with.
    pub fn issue_inputs(&self, commands: &mut Commands) {
        let image = self.up.on_device.span();
        let (counts, scattered, _) = self.lists();
        let first = units_of(self.pieces, 0) as u32;
        let image_words = (image.len() - first) * WORDS as u32;
        commands.copy_in(&self.up.on_host, image).launch(
            Launch::new(BLOCKS, STAGING_THREADS),
            &StagingScatterParameters {
                pieces: scattered,
                counts,
                image: image.skip(first).recast(image_words),
            },
        );
    }

    /// Appends what a run ends with.
    pub fn issue_results(&self, commands: &mut Commands) {
        let image = self.down.on_device.span();
        let (counts, _, pieces) = self.lists();
        commands
            .launch(
                Launch::new(BLOCKS, STAGING_THREADS),
                &StagingGatherParameters { pieces, counts, image: image.recast(image.len() * WORDS as u32) },
            )
            .copy_out(image, &self.down.on_host);
    }

    /// Counts, scattered pieces and gathered pieces, in the image.
    fn lists(&self) -> (Span<u32>, Span<StagingPiece>, Span<StagingPiece>) {
        let (image, pieces) = (self.up.on_device.span(), self.pieces as u32);
        (image.recast(2), image.skip(1).recast(pieces), image.skip(1 + pieces).recast(pieces))
    }

    /// Waits for the run, and takes its results.
    ///
    /// # Errors
    /// Those of the device, and those of the run.
    pub fn receive(&mut self) -> Result<(), DeviceError> {
        self.results.resize(self.gathered.units, Unit::zeroed());
        self.down.on_host.read(bytemuck::cast_slice_mut(&mut self.results))
    }

    /// A result of the run that was received last.
    pub fn result<T: DeviceType>(&self, staged: &StagedResult<T>) -> &[T] {
        let bytes = staged.length * size_of::<T>();
        bytemuck::cast_slice(&bytemuck::cast_slice::<_, u8>(&self.results[staged.first..])[..bytes])
    }

    /// Uploads what was staged, at once.
    ///
    /// # Errors
    /// As [`Staging::prepare`].
    pub fn send(&mut self) -> Result<(), DeviceError> {
        self.prepare()?;
        let mut commands = Commands::new();
        self.issue_inputs(&mut commands);
        self.device.submit(&commands)
    }
}

/// Units of an image with lists of so many pieces.
fn units_of(pieces: usize, units: usize) -> usize {
    const { assert!(size_of::<StagingPiece>() == size_of::<Unit>(), "a piece is a unit") }
    1 + 2 * pieces + units
}
