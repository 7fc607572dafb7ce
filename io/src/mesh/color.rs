//! Colours of meshes: of materials, and the mean of textures.

use std::io::Cursor;
use std::path::{Component, Path, PathBuf};

/// Widest and highest texture \[pixels\].
const LARGEST: u32 = 16384;

/// Most memory for a texture \[bytes\].
const MEMORY: u64 = 1 << 28;

/// Red, green, blue from 0 to 1 as bytes.
pub(super) fn bytes(color: [f64; 3]) -> [u8; 3] {
    color.map(|x| (x.clamp(0.0, 1.0) * 255.0).round() as u8)
}

/// Linear light from 0 to 1 as a value of sRGB (IEC 61966-2-1).
pub(super) fn encoded(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// Where a file that a mesh names is: in the folder of the mesh, or below. A mesh has no business
/// elsewhere.
pub(super) fn beside(folder: &Path, name: &str) -> Option<PathBuf> {
    let name = name.strip_prefix("file://").unwrap_or(name).replace('\\', "/");
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    (!name.is_empty() && Path::new(&name).components().all(inside)).then(|| folder.join(&name))
}

/// The mean colour of a PNG or JPEG (sRGB), each pixel as far as it is opaque; `None` if it cannot
/// be read, is larger than 16384 pixels a side or 256 MiB, or is nowhere opaque.
pub fn mean_color(picture: &[u8]) -> Option<[u8; 3]> {
    // By the first bytes: names of textures do not always tell.
    let format = image::guess_format(picture).ok()?;
    if !matches!(format, image::ImageFormat::Png | image::ImageFormat::Jpeg) {
        return None;
    }
    let mut reader = image::ImageReader::with_format(Cursor::new(picture), format);
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(LARGEST);
    limits.max_image_height = Some(LARGEST);
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let picture = reader.decode().ok()?.into_rgba8();
    let mut sums = [0_u64; 4];
    for pixel in picture.pixels() {
        let alpha = u64::from(pixel[3]);
        for channel in 0..3 {
            sums[channel] += u64::from(pixel[channel]) * alpha;
        }
        sums[3] += alpha;
    }
    let [r, g, b, weight] = sums;
    (weight > 0).then(|| [r, g, b].map(|sum| ((sum + weight / 2) / weight) as u8))
}
