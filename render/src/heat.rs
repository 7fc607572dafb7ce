//! Maps of a scalar over a rectangle, with their scale.

use super::color::viridis;
use super::font::{GLYPH_HEIGHT, draw_text, text_width};
use super::pixels::Image;

/// A scalar over the bins of a rectangle.
#[derive(Debug, Clone, Copy)]
pub struct HeatMap<'a> {
    /// Values by rows from below, each from the left; not negative.
    pub values: &'a [f64],
    /// Values in a row; at least one.
    pub columns: usize,
    /// Width of the rectangle over its height.
    pub aspect: f64,
    /// The brightest value; larger ones are as bright.
    pub most: f64,
    /// Unit of the scale.
    pub unit: &'a str,
    /// Below the map.
    pub caption: &'a str,
}

/// Longer edge of the map \[pixels\].
const EDGE: f64 = 360.0;
/// Around everything \[pixels\].
const MARGIN: usize = 16;
/// Width of the scale and of its labels \[pixels\].
const BAR: usize = 16;
const NUMBERS: usize = 96;
/// Pixels of a dot of the letters.
const DOT: usize = 2;
const PAPER: u8 = 255;
/// Numbers beside the scale.
const TICKS: usize = 4;

/// Draws a map.
pub fn heat_map(map: &HeatMap) -> Image {
    let columns = map.columns.max(1);
    let rows = map.values.len().div_ceil(columns).max(1);
    // Even a very thin rectangle stays visible.
    let aspect = if map.aspect.is_finite() { map.aspect.clamp(0.1, 10.0) } else { 1.0 };
    let width = (EDGE * aspect.min(1.0)).max(columns as f64) as usize;
    let height = (EDGE / aspect.max(1.0)).max(rows as f64) as usize;
    let text = GLYPH_HEIGHT * DOT;
    let size = [
        (3 * MARGIN + width + BAR + NUMBERS).max(2 * MARGIN + text_width(map.caption, DOT)),
        3 * MARGIN + height + text,
    ];
    let pixels = vec![PAPER; 3 * size[0] * size[1]];
    let mut image = Image { width: size[0] as u32, height: size[1] as u32, pixels };
    let color = |value: f64| viridis(if map.most > 0.0 { (value / map.most) as f32 } else { 0.0 });
    for y in 0..height {
        let row = rows - 1 - y * rows / height;
        for x in 0..width {
            let value = map.values.get(row * columns + x * columns / width).copied().unwrap_or(0.0);
            put(&mut image, MARGIN + x, MARGIN + y, color(value));
        }
        let bar = color(map.most * (height - 1 - y) as f64 / (height - 1).max(1) as f64);
        for x in 0..BAR {
            put(&mut image, 2 * MARGIN + width + x, MARGIN + y, bar);
        }
    }
    for tick in 0..=TICKS {
        let part = tick as f64 / TICKS as f64;
        let unit = if tick == TICKS { map.unit } else { "" };
        let middle = MARGIN as f64 + (1.0 - part) * (height - 1) as f64;
        let top = (middle as usize).saturating_sub(text / 2);
        let left = 2 * MARGIN + width + BAR + 6;
        draw_text(&mut image, left, top, DOT, format!("{} {unit}", short(part * map.most)).trim_end());
    }
    draw_text(&mut image, MARGIN, 2 * MARGIN + height, DOT, map.caption);
    image
}

fn put(image: &mut Image, x: usize, y: usize, color: [u8; 3]) {
    let place = 3 * (y * image.width as usize + x);
    image.pixels[place..place + 3].copy_from_slice(&color);
}

/// A number of three digits.
fn short(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.01..1e5).contains(&value.abs()) {
        let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 4.0);
        format!("{value:.*}", decimals as usize)
    } else {
        format!("{value:.1e}")
    }
}
