//! Pictures as PNG files.

use std::io::{self, Write};
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

use super::pixels::Image;
use pliant_io::files::{IoError, atomic_write};

/// Writes `image` as a PNG (8-bit RGB, sRGB) to `out`.
///
/// # Errors
/// What `out` gives, or `InvalidInput` when the pixels are not width x height x 3 bytes.
pub fn encode_png(image: &Image, out: &mut impl Write) -> io::Result<()> {
    let expected = 3 * image.width as usize * image.height as usize;
    if image.pixels.len() != expected {
        let reason = format!("{} bytes of pixels, expected {expected}", image.pixels.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    PngEncoder::new_with_quality(out, CompressionType::Default, FilterType::Adaptive)
        .write_image(&image.pixels, image.width, image.height, ExtendedColorType::Rgb8)
        .map_err(io::Error::other)
}

/// Writes `image` to the PNG file `path`, complete or not at all.
///
/// # Errors
/// [`IoError`] naming `path`.
pub fn write_png(path: impl AsRef<Path>, image: &Image) -> Result<(), IoError> {
    atomic_write(path, |out| encode_png(image, out))
}
