//! Numbers as the page gets them: little-endian.

use crate::error::ViewerError;

/// Single precision.
pub(crate) fn floats(out: &mut Vec<u8>, values: impl IntoIterator<Item = f32>) {
    values.into_iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// Words of 32 bits.
pub(crate) fn words(out: &mut Vec<u8>, values: impl IntoIterator<Item = u32>) {
    values.into_iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// sRGB colours: red, green, blue, 255.
pub(crate) fn colours(out: &mut Vec<u8>, values: impl IntoIterator<Item = [u8; 3]>) {
    values.into_iter().for_each(|[red, green, blue]| out.extend_from_slice(&[red, green, blue, 255]));
}

/// A count as a word of the header.
///
/// # Errors
/// [`ViewerError::TooMany`]: it does not fit; it names the `frame` and `what` is counted.
pub(crate) fn count(frame: usize, what: &'static str, count: usize) -> Result<u32, ViewerError> {
    let limit = u32::MAX as usize;
    u32::try_from(count).map_err(|_| ViewerError::TooMany { frame, what, count, limit })
}
