// The picture of one run.

import { AmbientLight, Box3, Color, DirectionalLight, HemisphereLight, OrbitControls, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from './three.min.js';
import { Arrows } from './arrows.js';
import { Bodies } from './bodies.js';
import { Cloth } from './cloth.js';
import { FrameStore } from './frame.js';
import { Particles } from './particles.js';
import { bytesOf } from './source.js';
import { fieldsOf, paint, widen } from './colour.js';
import { RUN_COLOURS } from './plot.js';

/** Frames that each view keeps [bytes], and how many it reads ahead. */
const KEPT_BYTES = 600e6, AHEAD = 4;

const element = (name, parent) => {
  const made = document.createElement('div');
  made.className = name;
  parent.append(made);
  return made;
};

/** A view: canvas, name, error. `wake` asks for a new picture. */
export class View {
  constructor(source, run, wake) {
    Object.assign(this, { source, run, wake, status: null, scene: null, shownFrame: -1, generation: -1, ranges: {} });
    this.element = document.createElement('div');
    this.element.className = 'view';
    this.name = element('name', this.element);
    this.trouble = element('error', this.element);
    this.trouble.hidden = true;
    this.options = { field: 'file', forces: 'particles' };
    this.dirty = true;
  }

  openCanvas() {
    if (this.renderer) return;
    this.renderer = new WebGLRenderer({ antialias: true, powerPreference: 'high-performance' });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.element.prepend(this.renderer.domElement);
    this.resizes = new ResizeObserver(() => this.resize());
    this.resizes.observe(this.element);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height || !this.camera) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
    this.wake();
  }

  /** Takes how the run stands; reads the scene again when the run is another one. */
  async take(status) {
    this.status = status;
    if (status.error) { this.say(status.error); return; }
    if (status.generation !== this.generation) {
      const described = await this.source.scene(this.run);
      this.generation = status.generation;
      this.store = new FrameStore(this.source, this.run, KEPT_BYTES);
      this.scene = described;
      this.scale = bytesOf(described.colour_scale);
      this.ready = false;
      this.shownFrame = -1;
      this.ranges = {};
    } else {
      // What could not be read is tried again.
      this.store.forgetErrors();
    }
    if (status.frames === 0) this.say('the run has no frames yet'); else if (this.shownFrame < 0) this.say('');
    this.label();
  }

  label() {
    const swatch = document.createElement('span');
    swatch.className = 'swatch';
    swatch.style.background = RUN_COLOURS[this.run % RUN_COLOURS.length];
    const words = document.createElement('small');
    const { status, failure, frames } = this.status;
    const count = this.status.warnings?.length ?? 0;
    const warned = count > 0 ? `, ${count} ${count === 1 ? 'warning' : 'warnings'} (point here)` : '';
    const particles = this.frame ? `, ${this.frame.particles.toLocaleString('en')} particles` : '';
    words.textContent = `${failure ? `${status}: ${failure}` : status}, ${frames} frames${particles}${warned}`;
    this.name.replaceChildren(swatch, this.status.name, words);
  }

  say(message) {
    this.error = message;
    this.trouble.textContent = message;
    this.trouble.hidden = !message;
  }

  get times() { return this.status?.times ?? []; }

  /** Number of the frame at a time: the last that is not after it. */
  frameAt(time) {
    const times = this.times;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (times[middle] <= time + 1e-9) low = middle; else high = middle - 1;
    }
    return low;
  }

  /** Shows the frame at a time; returns whether it, or why it cannot be shown, is on the screen. */
  seek(time, ahead) {
    if (!this.store || this.times.length === 0) return true;
    const number = this.frameAt(time);
    const arrived = () => this.wake();
    this.store.want(number, arrived);
    for (let next = 1; ahead && next <= AHEAD && this.store.pending < AHEAD; next++) {
      if (number + next < this.times.length) this.store.want(number + next, arrived);
    }
    const entry = this.store.peek(number);
    if (!entry) return false;
    if (this.shownFrame === number && this.shownEntry === entry) return true;
    this.shownFrame = number;
    this.shownEntry = entry;
    try {
      if (entry.error) throw entry.error;
      this.show(entry.frame);
      this.say('');
    } catch (error) {
      // An old frame at a new time would be believed: nothing is shown instead.
      if (this.world) this.world.visible = false;
      this.say(`frame ${number}: ${error.message}`);
    }
    this.dirty = true;
    return true;
  }

  show(frame) {
    this.frame = frame;
    this.fields = fieldsOf(frame);
    if (!this.ready) this.build(frame);
    this.world.visible = true;
    this.bodies.show(frame);
    this.particles.colours(frame.particles);
    this.colour();
    this.particles.show(frame);
    this.force();
    this.label();
  }

  /** Colours the particles and the cloth of the frame shown. */
  colour() {
    const { frame } = this;
    if (!frame || !this.ready) return;
    const key = this.fields.some(field => field.key === this.options.field) ? this.options.field : 'file';
    const range = this.ranges[key] ??= [Infinity, -Infinity];
    if (key !== 'file' && key !== 'material') widen(range, frame[key]);
    const colours = this.particles.colours(frame.particles);
    paint(colours, frame, key, this.sharedRange ?? range, this.scale);
    this.particles.recolour();
    this.cloth.show(frame, colours, key !== 'file');
    this.dirty = true;
  }

  force() {
    if (!this.frame || !this.ready) return;
    const { forces, newtons } = this.options;
    const perNewton = newtons > 0 ? this.arrowSize / newtons : 0;
    this.arrows.show(this.frame, forces, perNewton, this.arrowSize, this.extent);
    this.dirty = true;
  }

  build(frame) {
    this.openCanvas();
    this.world?.traverse(part => { part.geometry?.dispose(); part.material?.dispose(); });
    this.controls?.dispose();
    const box = this.boxOf(frame, 0);
    this.extent = Math.max(box.getSize(new Vector3()).length(), 1e-3);
    this.arrowSize = 0.2 * this.extent;
    // Ten to fifty lines over the scene: 1, 10, 100 mm or more between two.
    const spacing = 10 ** Math.round(Math.log10(this.extent / 10));
    this.world = new Scene();
    this.world.background = new Color(0x16191d);
    this.bodies = new Bodies(this.scene, spacing, this.extent);
    this.particles = new Particles();
    this.cloth = new Cloth();
    this.arrows = new Arrows(this.bodies.parts);
    this.up = new Vector3(...this.scene.gravity).negate();
    if (this.up.lengthSq() === 0) this.up.set(0, 0, 1);
    this.up.normalize();
    const sky = new HemisphereLight(0xffffff, 0x8a8378, 1.1);
    sky.position.copy(this.up);
    this.camera = new PerspectiveCamera(34, 1, 0.002 * this.extent, 60 * this.extent);
    this.camera.up.copy(this.up);
    // The light goes with the eye, as in the shader of the particles.
    const key = new DirectionalLight(0xffffff, 2.2);
    key.position.set(-0.45, 0.75, 0.6);
    this.camera.add(key, key.target);
    this.world.add(this.camera, sky, new AmbientLight(0xffffff, 0.25));
    this.world.add(this.bodies.object, this.particles.object, this.cloth.object, this.arrows.object);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener('change', () => { this.dirty = true; this.wake(); });
    this.ready = true;
    this.bodies.show(frame);
    this.fit(frame);
    this.resize();
  }

  /** Box around the particles of a frame, and the bodies as they are placed now. */
  boxOf(frame) {
    const box = new Box3(), point = new Vector3();
    for (let i = 0; i < frame.particles; i++) {
      point.fromArray(frame.positions, 3 * i);
      if (Number.isFinite(point.x + point.y + point.z)) box.expandByPoint(point);
    }
    const bodies = new Bodies(this.scene, 1, 1);
    bodies.show(frame);
    bodies.addTo(box);
    bodies.object.traverse(part => { part.geometry?.dispose(); part.material?.dispose(); });
    if (box.isEmpty()) box.set(new Vector3(-0.5, -0.5, 0), new Vector3(0.5, 0.5, 1));
    return box;
  }

  /** Looks at all of the frame, or first as the scene's own camera does. */
  fit(frame = this.frame, own = this.scene?.camera) {
    if (!frame || !this.ready) return;
    if (own) {
      this.camera.fov = own.field_of_view * 180 / Math.PI;
      this.camera.position.set(...own.position);
      this.controls.target.set(...own.target);
    } else {
      const box = this.boxOf(frame), middle = box.getCenter(new Vector3());
      const half = 0.5 * box.getSize(new Vector3()).length();
      const side = new Vector3(1, 0, 0).applyAxisAngle(new Vector3(0, 0, 1), -Math.PI / 3);
      side.addScaledVector(this.up, -side.dot(this.up)).normalize();
      const far = half / Math.sin(0.5 * this.camera.fov * Math.PI / 180);
      this.camera.position.copy(middle).addScaledVector(side, 0.9 * far).addScaledVector(this.up, 0.45 * far);
      this.controls.target.copy(middle);
    }
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.dirty = true;
  }

  /** Draws if something changed; returns whether it did. */
  draw() {
    if (!this.dirty || !this.ready) return false;
    this.dirty = false;
    this.particles.aim(this.camera, this.renderer.domElement.height);
    this.renderer.render(this.world, this.camera);
    return true;
  }
}
