//! Pictures within a page.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::ImageFormat;
use image::imageops::FilterType;

/// Width of a thumbnail \[pixels\].
const THUMBNAIL: u32 = 320;

/// Longest animation that is put into a page \[bytes\].
const LONGEST_ANIMATION: u64 = 6_000_000;

/// A picture file as a `data:` address.
///
/// # Errors
/// Why there is none, in words.
pub fn whole(file: &Path, kind: &str) -> Result<String, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let length = fs::metadata(file).map_err(|e| format!("{name}: {e}"))?.len();
    if length > LONGEST_ANIMATION {
        return Err(format!("{name}: not shown here, it has {length} bytes"));
    }
    let bytes = fs::read(file).map_err(|e| format!("{name}: {e}"))?;
    Ok(address(kind, &bytes))
}

/// A smaller copy of a PNG file as a `data:` address.
///
/// # Errors
/// As [`whole`].
pub fn thumbnail(file: &Path) -> Result<String, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = fs::read(file).map_err(|e| format!("{name}: {e}"))?;
    let failed = |e: image::ImageError| format!("{name}: {e}");
    let picture = image::load_from_memory_with_format(&bytes, ImageFormat::Png).map_err(failed)?;
    let height = u64::from(THUMBNAIL) * u64::from(picture.height()) / u64::from(picture.width().max(1));
    let height = u32::try_from(height.max(1)).unwrap_or(THUMBNAIL);
    let small = picture.resize_exact(THUMBNAIL, height, FilterType::Triangle).into_rgb8();
    let mut out = Cursor::new(Vec::new());
    small.write_to(&mut out, ImageFormat::Jpeg).map_err(failed)?;
    Ok(address("image/jpeg", out.get_ref()))
}

fn address(kind: &str, bytes: &[u8]) -> String {
    format!("data:{kind};base64,{}", STANDARD.encode(bytes))
}
