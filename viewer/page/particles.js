// Particles in one draw call, a square each: up to a number of them the shader draws a lit ball in it,
// beyond that it stays a lit square, which costs a fraction.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Points, ShaderMaterial } from './three.min.js';

/** Above this many particles they are squares. */
const MOST_BALLS = 200000;

const PLACED = `
    // Particles of cloth have no radius; what is not a number is not drawn.
    if (!(radius > 0.0) || !(abs(position.x + position.y + position.z) < 1e30)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);`;

const VERTEX = `
  attribute float radius;
  attribute vec4 tint;
  uniform float pixelsPerMetre; // at a distance of 1 m
  uniform float growth; // of the radius
  varying vec3 colour;
  varying float depth; // along the view
  varying float ball;
  void main() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;
    ball = growth * radius;
    gl_PointSize = max(1.0, 2.0 * ball * pixelsPerMetre / max(-seen.z, 1e-6));
    ${PLACED}
    #ifdef BALLS
      colour = pow(tint.rgb, vec3(2.2));
    #else
      colour = tint.rgb;
    #endif
    depth = seen.z;
  }`;

const FRAGMENT = `
  varying vec3 colour;
  varying float depth;
  varying float ball;
  uniform mat4 seenToScreen;
  void main() {
    #ifdef BALLS
      vec2 at = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
      float inside = 1.0 - dot(at, at);
      if (inside < 0.0) discard;
      vec3 normal = vec3(at, sqrt(inside));
      float key = max(dot(normal, normalize(vec3(-0.45, 0.75, 0.6))), 0.0);
      float rim = 0.75 + 0.25 * normal.z;
      gl_FragColor = vec4(colour * (0.42 + 0.75 * key) * rim, 1.0);
      float z = depth + normal.z * ball;
      float clipZ = seenToScreen[2][2] * z + seenToScreen[3][2];
      gl_FragDepth = clamp(0.5 + 0.5 * clipZ / -z, 0.0, 1.0);
      #include <colorspace_fragment>
    #else
      // Already as the screen has it. Lit from above, as balls are.
      gl_FragColor = vec4(colour * (1.0 - 0.4 * gl_PointCoord.y), 1.0);
    #endif
  }`;

/** In the map of shadows, whose camera sees in parallel. */
const SHADOW_VERTEX = `
  attribute float radius;
  uniform float pixelsPerMetre;
  void main() {
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    gl_PointSize = max(1.0, 2.0 * radius * pixelsPerMetre);
    ${PLACED}
  }`;

const SHADOW_FRAGMENT = `
  void main() {
    vec2 at = 2.0 * (gl_PointCoord - 0.5);
    if (dot(at, at) > 1.0) discard;
    gl_FragColor = vec4(1.0);
  }`;

/** Particles with buffers of their own, which are made anew only when their number changes. */
class PointSet {
  constructor(material, shadow) {
    this.object = new Points(new BufferGeometry(), material);
    this.object.customDepthMaterial = shadow;
    // The camera is nearly always on them, and a bounding sphere would cost a pass over all.
    this.object.frustumCulled = false;
    this.object.visible = false;
    this.count = -1;
  }

  show(particles, tint) {
    if (particles.particles !== this.count) this.allocate(particles, tint);
    // The frame's own arrays: nothing is copied but to the graphics card.
    this.position.array = particles.positions;
    this.radius.array = particles.radius;
    this.tint.array = tint;
    this.position.needsUpdate = this.radius.needsUpdate = this.tint.needsUpdate = true;
    this.object.visible = this.count > 0;
    this.object.castShadow = this.count <= MOST_BALLS;
  }

  allocate({ particles, positions, radius }, tint) {
    this.object.geometry.dispose();
    const geometry = new BufferGeometry();
    const attribute = (name, array, size, normalised) => {
      const made = new BufferAttribute(array, size, normalised);
      made.setUsage(DynamicDrawUsage);
      geometry.setAttribute(name, made);
      return made;
    };
    this.position = attribute('position', positions, 3);
    this.radius = attribute('radius', radius, 1);
    this.tint = attribute('tint', tint, 4, true);
    this.object.geometry = geometry;
    this.count = particles;
  }
}

/** Numbers of one particle in `every`, each from another place in its group: stripes would be seen. */
export function sample(count, every) {
  const numbers = new Uint32Array(Math.ceil(count / every));
  for (let i = 0; i < numbers.length; i++) {
    numbers[i] = Math.min(count - 1, i * every + (Math.imul(i, 2654435761) >>> 8) % every);
  }
  return numbers;
}

/** Some particles of a frame, with what the field `key` needs. */
export function pick(frame, numbers, key) {
  const gather = (from, size) => {
    const to = new from.constructor(size * numbers.length);
    for (let i = 0, at = 0; i < numbers.length; i++) {
      for (let first = size * numbers[i], c = 0; c < size; c++) to[at++] = from[first + c];
    }
    return to;
  };
  const picked = { particles: numbers.length, positions: gather(frame.positions, 3), radius: gather(frame.radius, 1) };
  if (key === 'file') picked.colours = gather(frame.colours, 4); else picked[key] = gather(frame[key], 1);
  return picked;
}

/** The particles of a view: all of a frame, or some. */
export class Particles {
  constructor() {
    const uniforms = { pixelsPerMetre: { value: 1 }, growth: { value: 1 }, seenToScreen: { value: null } };
    this.material = new ShaderMaterial({ vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms });
    this.shadow = new ShaderMaterial({
      vertexShader: SHADOW_VERTEX, fragmentShader: SHADOW_FRAGMENT, uniforms: { pixelsPerMetre: { value: 1 } },
    });
    this.all = new PointSet(this.material, this.shadow);
    this.some = new PointSet(this.material, this.shadow);
  }

  get objects() { return [this.all.object, this.some.object]; }

  /**
   * Shows a frame, or some particles of it, with their colours (u8 x 4). Of one in `every` particles
   * each is larger, so that they fill the same room.
   */
  show(frame, shown, tint, every) {
    const [set, other] = shown === frame ? [this.all, this.some] : [this.some, this.all];
    other.object.visible = false;
    set.show(shown, tint);
    this.material.uniforms.growth.value = Math.min(2, Math.cbrt(every));
    const balls = frame.particles <= MOST_BALLS;
    if (balls !== 'BALLS' in this.material.defines) {
      if (balls) this.material.defines.BALLS = ''; else delete this.material.defines.BALLS;
      this.material.needsUpdate = true;
    }
  }

  /** Before it is drawn. `shadowPixelsPerMetre`: of the map of shadows. */
  aim(camera, heightInPixels, shadowPixelsPerMetre) {
    const { pixelsPerMetre, seenToScreen } = this.material.uniforms;
    pixelsPerMetre.value = 0.5 * heightInPixels * camera.projectionMatrix.elements[5];
    seenToScreen.value = camera.projectionMatrix;
    this.shadow.uniforms.pixelsPerMetre.value = shadowPixelsPerMetre;
  }
}
