//! Pictures as video has them: brightness of each pixel, colour of two by two.

use openh264::formats::YUVSource;
use pliant_render::Image;

/// Parts of red and blue in brightness (ITU-R BT.709); the rest is green.
const RED: f32 = 0.2126;
const BLUE: f32 = 0.0722;
const GREEN: f32 = 1.0 - RED - BLUE;

/// Least value of brightness and its range; middle of the colours and their range ("limited range").
const BLACK: f32 = 16.0;
const LUMA_RANGE: f32 = 219.0;
const GREY: f32 = 128.0;
const CHROMA_RANGE: f32 = 224.0;

/// A picture in Y'CbCr by BT.709, 8 bits, limited range, 4:2:0.
pub struct Planes {
    width: usize,
    height: usize,
    luma: Vec<u8>,
    blue: Vec<u8>,
    red: Vec<u8>,
}

/// Brightness and the two differences of colour of a pixel, from 0 or -0.5 to 1 or 0.5.
fn parts(pixel: &[u8]) -> [f32; 3] {
    let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(|channel| f32::from(channel) / 255.0);
    let luma = RED * r + GREEN * g + BLUE * b;
    [luma, 0.5 * (b - luma) / (1.0 - BLUE), 0.5 * (r - luma) / (1.0 - RED)]
}

/// The cast saturates.
fn byte(value: f32) -> u8 {
    value.round() as u8
}

impl Planes {
    /// Black, with even sides.
    pub fn new(width: usize, height: usize) -> Self {
        let quarter = vec![0; width * height / 4];
        Self { width, height, luma: vec![0; width * height], blue: quarter.clone(), red: quarter }
    }

    /// Takes over a picture of the same size.
    pub fn fill(&mut self, image: &Image) {
        let width = self.width;
        let pixels = |y: usize| image.pixels[3 * width * y..3 * width * (y + 1)].chunks_exact(3).map(parts);
        // Columns of two rows: sums of their colours.
        let mut sums = vec![[0.0_f32; 2]; width];
        for y in (0..self.height).step_by(2) {
            for (x, (upper, lower)) in pixels(y).zip(pixels(y + 1)).enumerate() {
                self.luma[y * width + x] = byte(BLACK + LUMA_RANGE * upper[0]);
                self.luma[(y + 1) * width + x] = byte(BLACK + LUMA_RANGE * lower[0]);
                sums[x] = [upper[1] + lower[1], upper[2] + lower[2]];
            }
            // Colours of H.264 lie on the even columns, between the rows: weights 1, 2, 1.
            for x in (0..width).step_by(2) {
                let mean =
                    |i: usize| (sums[x.saturating_sub(1)][i] + 2.0 * sums[x][i] + sums[x + 1][i]) / 8.0;
                let at = y / 2 * (width / 2) + x / 2;
                self.blue[at] = byte(GREY + CHROMA_RANGE * mean(0));
                self.red[at] = byte(GREY + CHROMA_RANGE * mean(1));
            }
        }
    }
}

impl YUVSource for Planes {
    fn dimensions(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.width, self.width / 2, self.width / 2)
    }

    fn y(&self) -> &[u8] {
        &self.luma
    }

    fn u(&self) -> &[u8] {
        &self.blue
    }

    fn v(&self) -> &[u8] {
        &self.red
    }
}

#[cfg(test)]
mod tests {
    use super::Planes;
    use pliant_render::Image;

    // Law: the corners of the cube of colours have the codes of BT.709, 8 bits, limited range
    // (ITU-R BT.709-6, 3.4 and 3.5: 16 + 219 E', 128 + 224 E').
    #[test]
    fn plain_pictures_have_the_codes_of_bt709() {
        let cases = [
            ([0, 0, 0], [16, 128, 128]),
            ([255, 255, 255], [235, 128, 128]),
            ([255, 0, 0], [63, 102, 240]),
            ([0, 255, 0], [173, 42, 26]),
            ([0, 0, 255], [32, 240, 118]),
        ];
        for (color, expected) in cases {
            let mut planes = Planes::new(4, 2);
            planes.fill(&Image { width: 4, height: 2, pixels: color.repeat(8) });
            assert!(planes.luma.iter().all(|&v| v == expected[0]), "{color:?} {:?}", planes.luma);
            assert!(planes.blue.iter().all(|&v| v == expected[1]), "{color:?} {:?}", planes.blue);
            assert!(planes.red.iter().all(|&v| v == expected[2]), "{color:?} {:?}", planes.red);
        }
    }
}
