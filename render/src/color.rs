//! Colours: sRGB in and out, linear light between, and a perceptual map for scalars.

/// Linear light of an sRGB byte (IEC 61966-2-1), in [0, 1].
fn to_linear(byte: u8) -> f32 {
    let s = f32::from(byte) / 255.0;
    if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
}

/// Linear light of an sRGB colour.
pub(super) fn linear(color: [u8; 3]) -> [f32; 3] {
    color.map(to_linear)
}

/// sRGB byte of linear light (IEC 61966-2-1), clamped to [0, 1].
pub(super) fn to_srgb(value: f32) -> u8 {
    let v = value.clamp(0.0, 1.0);
    let s = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    (s * 255.0 + 0.5) as u8
}

/// The sRGB bytes of linear light, without a power for each pixel: the largest light of each byte,
/// and the byte at each of many lights, from which it is at most a few steps.
pub(super) struct SrgbBytes {
    /// Light from which on the next byte is nearer.
    ends: [f32; 255],
    guess: Vec<u8>,
}

impl SrgbBytes {
    const STEPS: usize = 4096;

    pub fn new() -> Self {
        let end = |byte: usize| {
            let s = (byte as f32 + 0.5) / 255.0;
            if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
        };
        let guess = (0..=Self::STEPS).map(|step| to_srgb(step as f32 / Self::STEPS as f32)).collect();
        Self { ends: std::array::from_fn(end), guess }
    }

    /// The byte nearest to a light, clamped to [0, 1]; NaN is black.
    pub fn of(&self, light: f32) -> u8 {
        let light = light.clamp(0.0, 1.0);
        let mut byte = usize::from(self.guess[(light * Self::STEPS as f32) as usize]);
        while byte > 0 && light < self.ends[byte - 1] {
            byte -= 1;
        }
        while byte < 255 && light >= self.ends[byte] {
            byte += 1;
        }
        byte as u8
    }
}

/// Colours of viridis at 0, 1/8, ..., 1 (van der Walt and Smith, 2015; sRGB).
const VIRIDIS: [[f32; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 45.0, 123.0],
    [59.0, 82.0, 139.0],
    [44.0, 114.0, 142.0],
    [33.0, 145.0, 140.0],
    [40.0, 174.0, 128.0],
    [94.0, 201.0, 98.0],
    [173.0, 220.0, 48.0],
    [253.0, 231.0, 37.0],
];

/// Colour of a scalar `t`, clamped to [0, 1] (NaN counts as 0): dark violet at 0 over green to
/// yellow at 1, with lightness that grows evenly. sRGB.
pub fn viridis(t: f32) -> [u8; 3] {
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
    let x = t * 8.0;
    let i = (x as usize).min(7);
    let f = x - i as f32;
    std::array::from_fn(|c| (VIRIDIS[i][c] + (VIRIDIS[i + 1][c] - VIRIDIS[i][c]) * f + 0.5) as u8)
}
