// Where the data comes from: the server, or the page itself when it is a file of its own.

/** Longest wait for an answer [ms]. */
const LONGEST = 60000;

/** Pause before the server is asked again for what it is making [ms]. */
const AGAIN = 100;

/** Bytes of base64 text. */
export function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Data of the server that the page came from. Every failure is an Error with words for the user. */
class ServerSource {
  live = true;
  note = '';
  hasSurfaces = true;

  async get(path, signal) {
    let answer;
    const stops = [AbortSignal.timeout(LONGEST), ...(signal ? [signal] : [])];
    try {
      answer = await fetch(path, { cache: 'no-store', signal: AbortSignal.any(stops) });
    } catch (error) {
      if (error.name === 'TimeoutError') throw new Error(`the viewer did not answer ${path} within ${LONGEST / 1000} s`);
      throw new Error('the viewer does not answer; it may have been stopped');
    }
    if (!answer.ok) {
      const said = await answer.json().catch(() => null);
      throw new Error(said?.error ?? `the viewer answered ${answer.status} to ${path}`);
    }
    return answer;
  }

  async runs() { return (await (await this.get('/api/runs')).json()).runs; }
  async scene(run) { return (await this.get(`/api/runs/${run}/scene`)).json(); }
  async diagnostics(run) { return (await this.get(`/api/runs/${run}/diagnostics`)).json(); }
  async frame(run, frame) { return (await this.get(`/api/runs/${run}/frame/${frame}`)).arrayBuffer(); }

  /** The surfaces of a frame: the server makes them when they are asked for, and says so meanwhile. */
  async surface(run, frame, signal) {
    for (;;) {
      const answer = await this.get(`/api/runs/${run}/surface/${frame}`, signal);
      if (answer.status !== 202) return answer.arrayBuffer();
      await new Promise(done => setTimeout(done, AGAIN));
    }
  }
}

/** Data in the page itself: one run, some of its frames. */
class EmbeddedSource {
  live = false;
  hasSurfaces = false;

  constructor(data, kept) {
    this.data = data;
    this.kept = kept;
    const status = data.runs[0];
    const thinned = kept.length < status.frames
      ? `This page holds ${kept.length} of the run's ${status.frames} frames, to keep it small. ` : '';
    this.note = `${thinned}It shows particles; surfaces of soft bodies need the viewer's server.`;
    this.status = { ...status, frames: kept.length, times: kept.map(frame => status.times[frame]) };
  }

  async runs() { return [this.status]; }
  async scene() { return this.data.scenes[0]; }
  async diagnostics() {
    const table = this.data.diagnostics[0];
    if (table.error) throw new Error(table.error);
    return table;
  }
  async frame(_run, frame) {
    const element = document.getElementById(`frame-${this.kept[frame]}`);
    if (!element) throw new Error(`frame ${this.kept[frame]} is missing in this page; the file may be incomplete`);
    return bytesOf(element.textContent).buffer;
  }
}

/** The source of this page. */
export function openSource() {
  const data = document.getElementById('data');
  if (!data) return new ServerSource();
  const kept = document.getElementById('kept');
  if (!kept) throw new Error('this page is incomplete: its end is missing');
  return new EmbeddedSource(JSON.parse(data.textContent), JSON.parse(kept.textContent).kept);
}
