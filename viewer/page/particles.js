// Particles as spheres: one draw call, a square each, in which the shader draws a lit ball.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Points, ShaderMaterial } from './three.min.js';

/** Above this many particles balls do not write their own depth: it costs more than it shows. */
const MOST_WITH_DEPTH = 200000;

const VERTEX = `
  attribute float radius;
  attribute vec4 tint;
  uniform float pixelsPerMetre; // at a distance of 1 m
  varying vec3 colour;
  varying vec2 depths; // z and w of the projection matter for the depth of the ball's front
  varying float ball;
  void main() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;
    gl_PointSize = max(1.0, 2.0 * radius * pixelsPerMetre / max(-seen.z, 1e-6));
    // Particles of cloth have no radius; what is not a number is not drawn.
    if (!(radius > 0.0) || !(abs(position.x + position.y + position.z) < 1e30)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    colour = pow(tint.rgb, vec3(2.2));
    depths = vec2(seen.z, 0.0);
    ball = radius;
  }`;

const FRAGMENT = `
  varying vec3 colour;
  varying vec2 depths;
  varying float ball;
  uniform mat4 seenToScreen;
  void main() {
    vec2 at = vec2(2.0, -2.0) * (gl_PointCoord - 0.5);
    float inside = 1.0 - dot(at, at);
    if (inside < 0.0) discard;
    vec3 normal = vec3(at, sqrt(inside));
    float key = max(dot(normal, normalize(vec3(-0.45, 0.75, 0.6))), 0.0);
    float rim = 0.75 + 0.25 * normal.z;
    gl_FragColor = vec4(colour * (0.42 + 0.75 * key) * rim, 1.0);
    #ifdef WITH_DEPTH
      float z = depths.x + normal.z * ball;
      float clipZ = seenToScreen[2][2] * z + seenToScreen[3][2];
      gl_FragDepth = clamp(0.5 + 0.5 * clipZ / -z, 0.0, 1.0);
    #endif
    #include <colorspace_fragment>
  }`;

/** The particles of a view. */
export class Particles {
  constructor() {
    this.material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { pixelsPerMetre: { value: 1 }, seenToScreen: { value: null } },
      defines: { WITH_DEPTH: '' },
    });
    this.object = new Points(new BufferGeometry(), this.material);
    // The camera is nearly always on them, and a bounding sphere would cost a pass over all.
    this.object.frustumCulled = false;
    this.object.visible = false;
    this.count = -1;
  }

  /** Colours, to be filled before `show`. */
  colours(count) {
    if (count !== this.count) this.allocate(count);
    return this.tint.array;
  }

  allocate(count) {
    this.object.geometry.dispose();
    const geometry = new BufferGeometry();
    const attribute = (array, size, normalised) => {
      const made = new BufferAttribute(array, size, normalised);
      made.setUsage(DynamicDrawUsage);
      return made;
    };
    this.position = attribute(new Float32Array(3 * count), 3);
    this.radius = attribute(new Float32Array(count), 1);
    this.tint = attribute(new Uint8Array(4 * count), 4, true);
    geometry.setAttribute('position', this.position);
    geometry.setAttribute('radius', this.radius);
    geometry.setAttribute('tint', this.tint);
    this.object.geometry = geometry;
    this.count = count;
    const withDepth = count <= MOST_WITH_DEPTH;
    if (withDepth !== 'WITH_DEPTH' in this.material.defines) {
      if (withDepth) this.material.defines.WITH_DEPTH = ''; else delete this.material.defines.WITH_DEPTH;
      this.material.needsUpdate = true;
    }
  }

  /** Shows a frame, with the colours that were filled in. */
  show(frame) {
    // The frame's own arrays: nothing is copied but to the graphics card.
    this.position.array = frame.positions;
    this.radius.array = frame.radius;
    this.position.needsUpdate = this.radius.needsUpdate = this.tint.needsUpdate = true;
    this.object.visible = frame.particles > 0;
  }

  /** Only the colours changed. */
  recolour() { this.tint.needsUpdate = true; }

  /** Before it is drawn. */
  aim(camera, heightInPixels) {
    this.material.uniforms.pixelsPerMetre.value = 0.5 * heightInPixels * camera.projectionMatrix.elements[5];
    this.material.uniforms.seenToScreen.value = camera.projectionMatrix;
  }
}
