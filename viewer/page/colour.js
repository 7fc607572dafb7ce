// Colours of particles by a field, and the legend's numbers.

/** Fields that can colour particles: key, words, unit. */
export const FIELDS = [
  { key: 'file', words: 'as recorded', unit: null },
  { key: 'speed', words: 'speed', unit: 'm/s' },
  { key: 'material', words: 'material', unit: null },
  { key: 'j', words: 'volume ratio J', unit: '-' },
  { key: 'plastic_strain', words: 'plastic strain', unit: '-' },
  { key: 'stress_norm', words: 'stress norm (Kirchhoff)', unit: 'Pa' },
];

// Eight colours that are told apart also without red and green.
const MATERIALS = [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167], [160, 160, 160]];

/** The colour of a material as CSS. */
export const materialColour = index => `rgb(${MATERIALS[index % MATERIALS.length].join(' ')})`;

/** The fields that a frame has. */
export const fieldsOf = frame => FIELDS.filter(({ key }) => key === 'file' || key === 'material' || frame[key]);

/** Widens `range` ([low, high], mutated) by the finite values of a field; cloth has no radius but counts. */
export function widen(range, values) {
  let [low, high] = range;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value < low && value > -Infinity) low = value;
    if (value > high && value < Infinity) high = value;
  }
  range[0] = low;
  range[1] = high;
}

/** Linear light of an sRGB byte. */
const LINEAR = Float32Array.from({ length: 256 }, (_, byte) => {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
});

/** Fills `out` (f32 x 3 each) with the linear light of colours (u8 x 4, sRGB). */
export function linear(out, colours) {
  for (let from = 0, to = 0; to < out.length; from++) {
    out[to++] = LINEAR[colours[from++]]; out[to++] = LINEAR[colours[from++]]; out[to++] = LINEAR[colours[from++]];
  }
}

/** The linear light of a byte. */
export const linearOf = byte => LINEAR[byte];

/**
 * Colours (u8 x 4 each) of the particles of a frame, or of the vertices of surfaces, by a field: their
 * own as recorded, or `old`, filled, if it has the right length. Values that are not finite are magenta.
 */
export function painted(frame, key, [low, high], scale, old) {
  if (key === 'file') return frame.colours;
  const values = frame[key];
  const out = old?.length === 4 * values.length && old !== frame.colours ? old : new Uint8Array(4 * values.length);
  const span = high > low ? 255 / (high - low) : 0;
  for (let i = 0; i < values.length; i++) {
    let red, green, blue;
    if (key === 'material') {
      [red, green, blue] = MATERIALS[values[i] % MATERIALS.length];
    } else {
      const value = values[i];
      if (value - value !== 0) {
        red = 255; green = 0; blue = 255;
      } else {
        const step = 3 * Math.max(0, Math.min(255, Math.round((value - low) * span)));
        red = scale[step]; green = scale[step + 1]; blue = scale[step + 2];
      }
    }
    out[4 * i] = red; out[4 * i + 1] = green; out[4 * i + 2] = blue; out[4 * i + 3] = 255;
  }
  return out;
}

/** A number with four digits, in the notation of engineers. */
export function shown(value) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2).replace('e+', 'e');
  return String(Number(value.toPrecision(4)));
}
