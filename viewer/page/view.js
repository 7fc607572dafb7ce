// The picture of one run.

import { AmbientLight, Box3, Color, DirectionalLight, HemisphereLight, OrbitControls, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from './three.min.js';
import { Arrows } from './arrows.js';
import { Bodies } from './bodies.js';
import { Cloth } from './cloth.js';
import { Detail, REST } from './detail.js';
import { FrameStore, decode, decodeSurface } from './frame.js';
import { Particles, pick, sample } from './particles.js';
import { Sun } from './shadow.js';
import { bytesOf } from './source.js';
import { Surfaces } from './surfaces.js';
import { fieldsOf, painted, widen } from './colour.js';
import { RUN_COLOURS } from './plot.js';

/** Frames that each view keeps [bytes], and how many it reads ahead. */
const KEPT_BYTES = 600e6, AHEAD = 4;

/** The same of surfaces. */
const KEPT_SURFACES = 200e6, SURFACES_AHEAD = 4;

/** Up to this many particles surfaces are shown without being asked for. */
const MOST_AUTOMATIC = 200000;

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
    this.remark = element('detail', this.element);
    this.options = { field: 'file', soft: 'automatic', forces: 'particles' };
    this.detail = new Detail();
    this.tints = {};
    this.pixels = 1;
    this.dirty = true;
  }

  /** Many particles are drawn without smooth edges, which would cost four times as much. */
  openCanvas(frame) {
    if (this.renderer) return;
    this.renderer = new WebGLRenderer({ antialias: frame.particles <= MOST_AUTOMATIC, powerPreference: 'high-performance' });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.autoUpdate = false;
    this.element.prepend(this.renderer.domElement);
    this.resizes = new ResizeObserver(() => this.resize());
    this.resizes.observe(this.element);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height || !this.camera) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2) * this.pixels);
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
      this.store = new FrameStore(async number => decode(await this.source.frame(this.run, number)), KEPT_BYTES);
      this.surfaceStore?.giveUpBut([]);
      this.surfaceStore = new FrameStore(
        async (number, signal) => decodeSurface(await this.source.surface(this.run, number, signal)), KEPT_SURFACES);
      this.scene = described;
      this.scale = bytesOf(described.colour_scale);
      this.ready = false;
      this.shownFrame = -1;
      this.ranges = {};
    } else {
      // What could not be read is tried again.
      this.store.forgetErrors();
      this.surfaceStore.forgetErrors();
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

  /**
   * Shows the frame at a time; returns whether it, or why it cannot be shown, is on the screen. Until
   * its surfaces are here its particles are shown, but not in between two frames that are played.
   */
  seek(time, playing) {
    if (!this.store || this.times.length === 0) return true;
    const number = this.frameAt(time);
    const arrived = () => this.wake();
    this.store.want(number, arrived);
    for (let next = 1; next <= AHEAD && this.store.pending < AHEAD; next++) {
      if (number + next < this.times.length) this.store.want(number + next, arrived);
    }
    const entry = this.store.peek(number);
    if (!entry) return false;
    const surfaces = this.surfacesOf(number, entry.frame, arrived);
    if (surfaces === undefined && playing && this.shownFrame >= 0) return false;
    if (this.shownFrame === number && this.shownEntry === entry && this.shownSurfaces === surfaces) return true;
    this.shownFrame = number;
    this.shownEntry = entry;
    this.shownSurfaces = surfaces;
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

  /** Surfaces of a frame: null if they are not wanted, undefined if they are to come. */
  surfacesOf(number, frame, arrived) {
    const { soft } = this.options;
    frame && (frame.isSoft ??= frame.radius.some(radius => radius > 0));
    this.hasSurfaces = this.source.hasSurfaces && Boolean(frame?.isSoft)
      && (soft === 'surfaces' || (soft === 'automatic' && frame.particles <= MOST_AUTOMATIC));
    const wanted = this.hasSurfaces ? Array.from({ length: SURFACES_AHEAD + 1 }, (_, next) => number + next) : [];
    this.surfaceStore.giveUpBut(wanted);
    for (const each of wanted) if (each < this.times.length) this.surfaceStore.want(each, arrived);
    return this.hasSurfaces ? this.surfaceStore.peek(number) : null;
  }

  show(frame) {
    this.frame = frame;
    this.fields = fieldsOf(frame);
    if (!this.ready) this.build(frame);
    this.world.visible = true;
    this.bodies.show(frame);
    this.colour();
    this.force();
    this.light(frame);
    this.label();
  }

  /** What is shown otherwise than one might think, in words. */
  explain() {
    const { frame, shownSurfaces: surfaces, shownEvery: every } = this;
    const words = [];
    if (this.hasSurfaces && !surfaces) words.push('surfaces are being made; particles are shown');
    if (surfaces?.error) words.push(`particles are shown: ${surfaces.error.message}`);
    const failures = surfaces?.frame?.failures ?? 0;
    if (failures > 0) words.push(`${failures} soft bodies as particles: ${surfaces.frame.reason}`);
    if (this.options.soft === 'automatic' && !this.hasSurfaces && this.source.hasSurfaces && frame?.isSoft) words.push('many particles: surfaces on request (S)');
    if (every > 1) words.push(`showing 1 of ${every} particles while it moves`);
    if (this.pixels < 1) words.push('coarse and without shadows while it moves');
    this.remark.textContent = words.join('; ');
  }

  /** Colours the particles and the cloth of the frame shown. */
  colour() {
    const { frame } = this;
    if (!frame || !this.ready) return;
    const key = this.fields.some(field => field.key === this.options.field) ? this.options.field : 'file';
    const range = this.ranges[key] ??= [Infinity, -Infinity];
    if (key !== 'file' && key !== 'material') widen(range, frame[key]);
    this.stock(key);
    const hasCloth = frame.triangles.length > 0;
    this.cloth.show(frame, hasCloth ? this.tint('cloth', frame, key) : null, key !== 'file');
    this.dirty = true;
  }

  /** Colours of particles or vertices by a field. */
  tint(role, things, key) {
    const range = this.sharedRange ?? this.ranges[key];
    this.tints[role] = painted(things, key, range ?? [0, 1], this.scale, this.tints[role]);
    return this.tints[role];
  }

  /** The soft bodies: surfaces with what belongs to none, or particles, all or one of some. */
  stock(key) {
    const { frame } = this, surface = this.shownSurfaces?.frame;
    const every = this.moving && !surface ? this.detail.every : 1;
    this.shownEvery = every;
    this.stockedKey = key;
    this.surfaces.show(surface, surface && this.tint('surface', surface, key));
    let particles = frame;
    if (surface) particles = pick(frame, surface.lone, key);
    else if (every > 1) particles = pick(frame, sample(frame.particles, every), key);
    this.particles.show(frame, particles, this.tint(particles === frame ? 'all' : 'some', particles, key), every);
    this.explain();
  }

  /** Directs the light at a frame; the shadow is drawn anew. */
  light(frame) {
    const box = this.boxOf(frame, this.bodies);
    this.sun.aim(box.getCenter(new Vector3()), Math.max(0.6 * box.getSize(new Vector3()).length(), 1e-3));
    this.bodies.shade(this.sun.light.target.position, this.sun.half);
    this.renderer.shadowMap.needsUpdate = this.pixels === 1;
  }

  force() {
    if (!this.frame || !this.ready) return;
    const { forces, newtons } = this.options;
    const perNewton = newtons > 0 ? this.arrowSize / newtons : 0;
    this.arrows.show(this.frame, forces, perNewton, this.arrowSize, this.extent);
    this.dirty = true;
  }

  build(frame) {
    this.openCanvas(frame);
    this.world?.traverse(part => { part.geometry?.dispose(); part.material?.dispose(); });
    this.controls?.dispose();
    const placed = new Bodies(this.scene, 1, 1);
    placed.show(frame);
    const box = this.boxOf(frame, placed);
    placed.object.traverse(part => { part.geometry?.dispose(); part.material?.dispose(); });
    this.extent = Math.max(box.getSize(new Vector3()).length(), 1e-3);
    this.arrowSize = 0.2 * this.extent;
    // Ten to fifty lines over the scene: 1, 10, 100 mm or more between two.
    const spacing = 10 ** Math.round(Math.log10(this.extent / 10));
    this.world = new Scene();
    this.world.background = new Color(0x16191d);
    this.bodies = new Bodies(this.scene, spacing, this.extent);
    this.up = new Vector3(...this.scene.gravity).negate();
    if (this.up.lengthSq() === 0) this.up.set(0, 0, 1);
    this.up.normalize();
    this.particles = new Particles();
    this.surfaces = new Surfaces();
    this.sun = new Sun(this.up);
    this.cloth = new Cloth();
    this.arrows = new Arrows(this.bodies.parts);
    const sky = new HemisphereLight(0xffffff, 0x8a8378, 1.1);
    sky.position.copy(this.up);
    this.camera = new PerspectiveCamera(34, 1, 0.002 * this.extent, 60 * this.extent);
    this.camera.up.copy(this.up);
    // The light goes with the eye, as in the shader of the particles.
    const key = new DirectionalLight(0xffffff, 1.2);
    key.position.set(-0.45, 0.75, 0.6);
    this.camera.add(key, key.target);
    this.world.add(this.camera, sky, new AmbientLight(0xffffff, 0.25));
    this.world.add(this.sun.light, this.sun.light.target, this.bodies.object, ...this.particles.objects);
    this.world.add(this.surfaces.object, this.cloth.object, this.arrows.object);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener('change', () => this.turned());
    this.ready = true;
    this.bodies.show(frame);
    this.fit(frame);
    this.resize();
  }

  /** Box around the particles of a frame, of many around some of them, and around the bodies. */
  boxOf(frame, bodies = this.bodies) {
    const box = new Box3(), point = new Vector3();
    for (let i = 0, step = Math.ceil(frame.particles / 20000); i < frame.particles; i += step) {
      point.fromArray(frame.positions, 3 * i);
      if (Number.isFinite(point.x + point.y + point.z)) box.expandByPoint(point);
    }
    bodies.addTo(box);
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

  /** The camera moved. */
  turned() {
    this.detail.moved(performance.now());
    this.dirty = true;
    this.wake();
  }

  /** Draws if something changed; returns whether it did. */
  draw(now, playing) {
    if (!this.ready) return false;
    if (playing) this.detail.moved(now);
    this.moving = this.detail.isMoving(now);
    const every = this.moving && !this.shownSurfaces?.frame ? this.detail.every : 1;
    if (every !== this.shownEvery && this.stockedKey) { this.stock(this.stockedKey); this.dirty = true; }
    const pixels = this.moving ? this.detail.pixels : 1;
    if (pixels !== this.pixels) this.setPixels(pixels);
    if (!this.dirty) return false;
    this.dirty = false;
    this.particles.aim(this.camera, this.renderer.domElement.height, this.sun.pixelsPerMetre);
    this.renderer.render(this.world, this.camera);
    if (this.moving) this.follow(now, every);
    return true;
  }

  /** Share of the pixels along a side; where they are few there are no shadows either, which cost as much. */
  setPixels(pixels) {
    this.pixels = pixels;
    this.sun.light.shadow.intensity = pixels < 1 ? 0 : 1;
    this.bodies.object.traverse(part => { if (part.isShade) part.visible = pixels === 1; });
    this.renderer.shadowMap.needsUpdate = pixels === 1;
    this.resize();
    this.explain();
  }

  /** Measures how long a picture of motion takes, and draws all when it rests. */
  follow(now, every) {
    // The browser asks for the next picture when the graphics card has room for it.
    const { pixels } = this;
    const count = this.shownSurfaces?.frame ? 0 : this.frame.particles;
    requestAnimationFrame(next => {
      if (every === this.detail.every && pixels === this.detail.pixels) this.detail.measure(next - now, count);
    });
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.wake(), REST + 50);
  }
}
