//! Pixels.

/// 8-bit sRGB pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Width \[pixels\].
    pub width: u32,
    /// Height \[pixels\].
    pub height: u32,
    /// Rows from the top, three bytes (red, green, blue) per pixel.
    pub pixels: Vec<u8>,
}

impl Image {
    /// Colour of the pixel in column `x` from the left and row `y` from the top; none outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let start = 3 * (y as usize * self.width as usize + x as usize);
        self.pixels.get(start..start + 3).map(|p| [p[0], p[1], p[2]])
    }
}
