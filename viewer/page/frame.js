// Frames as they come from the server (layout: README.md), and a store that reads ahead.

const HEADER = 64;
const MAGIC = 0x46564c50; // 'PLVF', little-endian
const SURFACE_MAGIC = 0x53564c50; // 'PLVS', little-endian
const WRENCH = 12;

/** Reads the header of `what` and then its arrays: `head`, `take` the next array, `end` after the last. */
function reader(buffer, magic, what) {
  const head = new DataView(buffer);
  const length = buffer.byteLength;
  if (length < HEADER || head.getUint32(0, true) !== magic) throw new Error(`${what} has ${length} bytes and no header`);
  const version = head.getUint32(4, true);
  if (version !== 1) throw new Error(`${what} has layout ${version}; this page reads layout 1`);
  let at = HEADER;
  const take = (Type, count) => {
    const bytes = count * Type.BYTES_PER_ELEMENT;
    if (at + bytes > length) {
      throw new Error(`${what} is cut short: it has ${length} bytes and needs ${at + bytes} or more`);
    }
    const view = new Type(buffer, at, count);
    at += bytes;
    return view;
  };
  const end = () => { if (at !== length) throw new Error(`${what} has ${length} bytes; ${at} belong to it`); };
  return { head, take, end };
}

/** The arrays of an encoded frame, as views into its buffer. */
export function decode(buffer) {
  const { head, take, end } = reader(buffer, MAGIC, 'a frame');
  const [particles, triangles, bodies, flags] = [12, 16, 20, 24].map(at => head.getUint32(at, true));
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
  end();
  return frame;
}

/** The arrays of encoded surfaces; the fields of their vertices have the names that those of frames have. */
export function decodeSurface(buffer) {
  const { head, take, end } = reader(buffer, SURFACE_MAGIC, 'a surface');
  const [vertices, triangles, lone, flags, failures] = [12, 16, 20, 24, 28].map(at => head.getUint32(at, true));
  const optional = bit => (flags & bit ? take(Float32Array, vertices) : null);
  const surface = { vertices, failures, bytes: buffer.byteLength };
  surface.positions = take(Float32Array, 3 * vertices);
  surface.normals = take(Int16Array, 4 * vertices);
  surface.speed = take(Float32Array, vertices);
  surface.j = optional(1);
  surface.plastic_strain = optional(2);
  surface.stress_norm = optional(4);
  surface.colours = take(Uint8Array, 4 * vertices);
  surface.material = take(Uint32Array, vertices);
  surface.triangles = take(Uint32Array, 3 * triangles);
  surface.lone = take(Uint32Array, lone);
  surface.reason = new TextDecoder().decode(take(Uint8Array, head.getUint32(40, true)));
  end();
  return surface;
}

/**
 * Frames of a run, or their surfaces, that were read or are being read; the ones used longest ago go
 * first. `load(number, signal)` promises one, which has `bytes`.
 */
export class FrameStore {
  constructor(load, limit) {
    Object.assign(this, { load, limit, held: new Map(), bytes: 0 });
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
    const entry = { stop: new AbortController() };
    this.held.set(number, entry);
    this.load(number, entry.stop.signal)
      .then(frame => { if (entry.stop.signal.aborted) return; entry.frame = frame; this.bytes += frame.bytes; })
      .catch(error => { entry.error = error; })
      .finally(() => { this.trim(number); done(); });
  }

  /** Gives up all that are on their way, but those in `numbers`. */
  giveUpBut(numbers) {
    for (const [number, entry] of this.held) {
      if (entry.frame || entry.error || numbers.includes(number)) continue;
      this.held.delete(number);
      entry.stop.abort();
    }
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
