//! Memory of a device.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::error::DeviceError;
use crate::layout::{DeviceType, RawSpan, Span};
use crate::shared::Shared;

/// Elements of type `T` in the memory of a device, freed when the last handle of it goes.
///
/// Fresh elements of an emulated device are all bits one (NaN, for floats), so that reading them
/// before they are written shows; those of a GPU are whatever was there.
#[derive(Debug)]
pub struct Buffer<T> {
    device: Arc<Shared>,
    address: u64,
    length: u32,
    element: PhantomData<fn() -> T>,
}

impl<T: DeviceType> Buffer<T> {
    pub(crate) fn new(device: Arc<Shared>, length: usize) -> Result<Self, DeviceError> {
        let length = u32::try_from(length).map_err(|_| DeviceError::BufferTooLong { length })?;
        let address = device.allocate(u64::from(length) * size_of::<T>() as u64)?;
        Ok(Self { device, address, length, element: PhantomData })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The buffer as kernels get it.
    pub fn span(&self) -> Span<T> {
        Span::new(self.address, self.length)
    }

    pub(crate) fn raw(&self) -> RawSpan {
        self.span().raw()
    }

    /// Where `given` elements from element `first` on lie.
    fn range(&self, first: usize, given: usize) -> Result<RawSpan, DeviceError> {
        match first.checked_add(given) {
            Some(end) if end <= self.len() => {
                let size = size_of::<T>() as u64;
                Ok(RawSpan {
                    address: self.address + first as u64 * size,
                    bytes: given as u64 * size,
                    align: align_of::<T>() as u64,
                })
            }
            _ => Err(DeviceError::LengthMismatch { given, first, length: self.len() }),
        }
    }

    /// Copies values from the host to the elements from `first` on, after all commands given so
    /// far.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] where they go beyond the end, and those of the device.
    pub fn upload_at(&mut self, first: usize, values: &[T]) -> Result<(), DeviceError> {
        let to = self.range(first, values.len())?;
        self.device.upload(to, bytemuck::cast_slice(values))
    }

    /// Copies values from the host to the beginning; the rest stays.
    ///
    /// # Errors
    /// As [`Buffer::upload_at`].
    pub fn upload(&mut self, values: &[T]) -> Result<(), DeviceError> {
        self.upload_at(0, values)
    }

    /// Copies the elements from `first` on to the host, after all commands given so far.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] where they go beyond the end, and those of the device: what
    /// failed in earlier launches on a GPU may come out here.
    pub fn download_at(&self, first: usize, values: &mut [T]) -> Result<(), DeviceError> {
        let from = self.range(first, values.len())?;
        self.device.download(from, bytemuck::cast_slice_mut(values))
    }

    /// All elements, copied to the host.
    ///
    /// # Errors
    /// As [`Buffer::download_at`].
    pub fn download(&self) -> Result<Vec<T>, DeviceError> {
        let mut values = vec![T::zeroed(); self.len()];
        self.download_at(0, &mut values)?;
        Ok(values)
    }

    /// Sets all elements to a value, after all commands given so far.
    ///
    /// # Errors
    /// Those of the device.
    pub fn fill(&mut self, value: T) -> Result<(), DeviceError> {
        self.device.fill(self.raw(), bytemuck::bytes_of(&value))
    }

    /// Grows the capacity for at least `length` elements, and for half as many more than there
    /// were. What was in it stays; spans and recordings of the buffer from before are errors from
    /// then on. Does nothing where there is room already.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], with the buffer as it was, and those of the device.
    pub fn grow(&mut self, length: usize) -> Result<bool, DeviceError> {
        if length <= self.len() {
            return Ok(false);
        }
        let target = length.max(self.len().saturating_add(self.len() / 2)).min(u32::MAX as usize).max(length);
        let larger = Self::new(self.device.clone(), target)?;
        let (from, mut to) = (self.raw(), larger.raw());
        to.bytes = from.bytes;
        self.device.copy(from, to)?;
        tracing::info!(
            element = %T::name(),
            from = self.len(),
            to = larger.len(),
            bytes = larger.raw().bytes,
            "a device buffer grew"
        );
        *self = larger;
        Ok(true)
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.device.release(self.address);
    }
}
