// Frames as they come from the server (layout: README.md), and a store that reads ahead.

const HEADER = 64;
const MAGIC = 0x46564c50; // 'PLVF', little-endian
const WRENCH = 12;

/** The arrays of an encoded frame, as views into its buffer. */
export function decode(buffer) {
  const head = new DataView(buffer);
  if (buffer.byteLength < HEADER || head.getUint32(0, true) !== MAGIC) {
    throw new Error(`a frame has ${buffer.byteLength} bytes and no header`);
  }
  const version = head.getUint32(4, true);
  if (version !== 1) throw new Error(`a frame has layout ${version}; this page reads layout 1`);
  const [particles, triangles, bodies, flags] = [12, 16, 20, 24].map(at => head.getUint32(at, true));
  let at = HEADER;
  const take = (Type, count) => {
    const bytes = count * Type.BYTES_PER_ELEMENT;
    if (at + bytes > buffer.byteLength) {
      throw new Error(`a frame is cut short: it has ${buffer.byteLength} bytes and needs ${at + bytes} or more`);
    }
    const view = new Type(buffer, at, count);
    at += bytes;
    return view;
  };
  const optional = bit => (flags & bit ? take(Float32Array, particles) : null);
  const frame = { particles, bodies, bytes: buffer.byteLength, time: head.getFloat64(32, true) };
  frame.positions = take(Float32Array, 3 * particles);
  frame.speed = take(Float32Array, particles);
  frame.radius = take(Float32Array, particles);
  frame.j = optional(1);
  frame.plastic_strain = optional(2);
  frame.stress_norm = optional(4);
  frame.colours = take(Uint8Array, 4 * particles);
  frame.material = take(Uint32Array, particles);
  frame.triangles = take(Uint32Array, 3 * triangles);
  frame.backs = flags & 8 ? take(Uint8Array, 4 * triangles) : null;
  frame.poses = take(Float32Array, 7 * bodies);
  frame.wrenches = take(Float32Array, WRENCH * bodies);
  if (at !== buffer.byteLength) {
    throw new Error(`a frame has ${buffer.byteLength} bytes; ${at} belong to it`);
  }
  return frame;
}

/** Frames of a run that were read or are being read; the ones used longest ago go first. */
export class FrameStore {
  constructor(source, run, limit) {
    Object.assign(this, { source, run, limit, held: new Map(), bytes: 0 });
  }

  /** The frame if it is here: `{frame}` or `{error}`; undefined if it is still to come. */
  peek(number) {
    const entry = this.held.get(number);
    if (!entry) return undefined;
    this.held.delete(number);
    this.held.set(number, entry);
    return entry.frame || entry.error ? entry : undefined;
  }

  /** Asks for a frame; `done` is called when it is here. */
  want(number, done) {
    if (this.held.has(number)) return;
    const entry = {};
    this.held.set(number, entry);
    this.source.frame(this.run, number)
      .then(buffer => { entry.frame = decode(buffer); this.bytes += entry.frame.bytes; })
      .catch(error => { entry.error = error; })
      .finally(() => { this.trim(number); done(); });
  }

  /** Number of frames that are on their way. */
  get pending() {
    let count = 0;
    for (const entry of this.held.values()) if (!entry.frame && !entry.error) count++;
    return count;
  }

  trim(newest) {
    for (const [number, entry] of this.held) {
      if (this.bytes <= this.limit) return;
      if (number === newest || !entry.frame) continue;
      this.bytes -= entry.frame.bytes;
      this.held.delete(number);
    }
  }

  /** Forgets frames that could not be read, so that they are asked for again. */
  forgetErrors() {
    for (const [number, entry] of this.held) if (entry.error) this.held.delete(number);
  }
}
