//! Height fields, whose heights the file gives, or the red channel of a picture.

use std::path::{Path, PathBuf};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem};
use super::compiler::Compiler;
use super::include::locate;
use pliant_geometry::{HeightField, Shape};
use pliant_io::input::read_input;

/// Most heights of a field that the file does not list.
const MOST: usize = 1 << 24;

/// Columns and heights, the row of least y first.
struct Heights {
    columns: usize,
    values: Vec<f64>,
}

/// Reads an `<hfield>`: heights are scaled to the range from 0 to 1, then to `size`.
pub(super) fn read(
    element: &Element,
    directory: &Path,
    compiler: &Compiler,
    files: &mut Vec<PathBuf>,
) -> Result<Shape, ImportError> {
    let Some(size) = element.array::<4>("size")? else {
        return Err(element.fail(ImportProblem::Missing("size")));
    };
    if size.iter().any(|s| *s <= 0.0) {
        return Err(
            element.bad("size", "four positive lengths: half widths along x and y, height, depth (m)")
        );
    }
    let Heights { columns, values } = match element.text("file") {
        Some(file) => {
            let path = locate(element, &directory.join(&compiler.mesh_directory), Path::new(file));
            let heights = picture(element, &path)?;
            files.push(path);
            heights
        }
        None => listed(element)?,
    };
    let rows = values.len() / columns;
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), h| (low.min(*h), high.max(*h)));
    let span = if high > low { high - low } else { 1.0 };
    let scaled: Vec<f64> = values.iter().map(|h| (h - low) / span * size[2]).collect();
    let spacing = [2.0 * size[0] / (columns - 1) as f64, 2.0 * size[1] / (rows - 1) as f64];
    let field = HeightField::new(&scaled, columns, spacing, size[3]).map_err(|e| element.fail(e.into()))?;
    Ok(Shape::HeightField(field))
}

/// Heights in the file; without any, all are 0.
fn listed(element: &Element) -> Result<Heights, ImportError> {
    let count = |attribute| match element.integer(attribute)? {
        Some(n) if n >= 2 => Ok(n as usize),
        _ => Err(element.bad(attribute, "a whole number of at least 2")),
    };
    let (rows, columns) = (count("nrow")?, count("ncol")?);
    let of_size = || element.bad("elevation", &format!("{rows} rows of {columns} heights"));
    let Some(heights) = element.numbers("elevation", 4..=usize::MAX)? else {
        let all = rows.checked_mul(columns).filter(|all| *all <= MOST);
        let all = all.ok_or_else(|| element.bad("nrow", &format!("at most {MOST} heights in all")))?;
        return Ok(Heights { columns, values: vec![0.0; all] });
    };
    if rows.checked_mul(columns) != Some(heights.len()) {
        return Err(of_size());
    }
    // The file has the row of greatest y first.
    let values = heights.chunks_exact(columns).rev().flatten().copied().collect();
    Ok(Heights { columns, values })
}

/// Heights of a PNG: the upper eight bits of the red or grey channel, as MuJoCo takes them. The
/// first row is that of greatest y.
fn picture(element: &Element, path: &Path) -> Result<Heights, ImportError> {
    let unreadable = |reason: String| element.fail_at("file", ImportProblem::Unreadable(reason));
    let bytes = read_input(path).map_err(|error| unreadable(error.to_string()))?;
    let image = image::load_from_memory_with_format(&bytes, image::ImageFormat::Png).map_err(|error| {
        unreadable(format!("{}: {error}; height fields are read from PNG", path.display()))
    })?;
    let (columns, rows) = (image.width() as usize, image.height() as usize);
    if columns < 2 || rows < 2 {
        return Err(unreadable(format!("{}: a picture of {columns} by {rows} points", path.display())));
    }
    let channels = usize::from(image.color().channel_count());
    // Both 8 and 16 bits: the upper byte of the first channel.
    let red: Vec<f64> = match image {
        image::DynamicImage::ImageLuma8(_)
        | image::DynamicImage::ImageLumaA8(_)
        | image::DynamicImage::ImageRgb8(_)
        | image::DynamicImage::ImageRgba8(_) => {
            image.as_bytes().iter().step_by(channels).map(|byte| f64::from(*byte)).collect()
        }
        other => other.to_rgb16().pixels().map(|pixel| f64::from(pixel.0[0] >> 8)).collect(),
    };
    let values = red.chunks_exact(columns).rev().flatten().copied().collect();
    Ok(Heights { columns, values })
}
