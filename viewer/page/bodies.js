// Bodies and robots from their shapes; half-spaces and boundary planes as floors with a grid.

import { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, DoubleSide, FrontSide, Group, Mesh, MeshStandardMaterial, PlaneGeometry, Quaternion, SRGBColorSpace, ShaderMaterial, ShadowMaterial, SphereGeometry, Vector3 } from './three.min.js';
import { bytesOf } from './source.js';

/** Extent of the drawn part of an endless floor [m]; the grid fades long before. */
const FLOOR = 40;

const FLOOR_VERTEX = `
  varying vec2 at;
  varying vec3 seen;
  void main() {
    at = position.xy;
    vec4 placed = modelViewMatrix * vec4(position, 1.0);
    seen = placed.xyz;
    gl_Position = projectionMatrix * placed;
  }`;

const FLOOR_FRAGMENT = `
  varying vec2 at;
  varying vec3 seen; // its length, unlike itself, is not linear over the plane
  uniform float spacing;
  uniform float fade;
  uniform float filled;
  float lines(float step, float width) {
    vec2 cell = at / step;
    vec2 perPixel = max(fwidth(cell), vec2(1e-6));
    vec2 away = abs(fract(cell - 0.5) - 0.5) / perPixel;
    // Lines closer than two pixels would flicker.
    float far = clamp(2.0 - 4.0 * max(perPixel.x, perPixel.y), 0.0, 1.0);
    return far * (1.0 - clamp(min(away.x, away.y) - width + 0.5, 0.0, 1.0));
  }
  void main() {
    float line = max(0.35 * lines(spacing, 0.5), 0.75 * lines(10.0 * spacing, 1.0));
    float near = exp(-length(seen) / fade);
    vec3 ground = mix(vec3(0.030, 0.035, 0.042), vec3(0.30, 0.33, 0.37), line);
    gl_FragColor = vec4(ground, near * mix(line, 1.0, filled));
    #include <colorspace_fragment>
  }`;

/** A grid in the x-y plane of its frame; `spacing` between lines [m], every tenth is stronger. */
export function floorGrid(spacing, extent, filled = true) {
  const material = new ShaderMaterial({
    vertexShader: FLOOR_VERTEX,
    fragmentShader: FLOOR_FRAGMENT,
    uniforms: { spacing: { value: spacing }, fade: { value: 3 * extent }, filled: { value: filled ? 1 : 0 } },
    transparent: true,
    side: filled ? FrontSide : DoubleSide,
    depthWrite: filled,
    // Things that lie on the floor are to be seen, not to flicker with it.
    polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 2,
  });
  const size = Math.max(FLOOR, 20 * extent);
  const mesh = new Mesh(new PlaneGeometry(size, size), material);
  mesh.renderOrder = -1;
  // The shade of what is over the floor, between the floor and all else; `Bodies.shade` places it.
  const shade = new Mesh(new PlaneGeometry(2, 2), new ShadowMaterial({ opacity: 0.55, depthWrite: false, side: material.side }));
  shade.renderOrder = -0.5;
  shade.receiveShadow = true;
  shade.isShade = true;
  mesh.add(shade);
  return mesh;
}

function meshGeometry(shape) {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(bytesOf(shape.vertices).buffer), 3));
  geometry.setIndex(new BufferAttribute(new Uint32Array(bytesOf(shape.triangles).buffer), 1));
  geometry.computeVertexNormals();
  return geometry;
}

function geometryOf(shape) {
  switch (shape.kind) {
    case 'sphere': return new SphereGeometry(shape.radius, 40, 24);
    case 'box': return new BoxGeometry(...shape.half.map(half => 2 * half));
    // three.js has their axis along y; here it is z.
    case 'capsule': return new CapsuleGeometry(shape.radius, 2 * shape.half_length, 12, 32).rotateX(Math.PI / 2);
    case 'cylinder': return new CylinderGeometry(shape.radius, shape.radius, 2 * shape.half_length, 48).rotateX(Math.PI / 2);
    case 'ellipsoid': return new SphereGeometry(1, 40, 24).scale(...shape.half);
    case 'mesh': return meshGeometry(shape);
    default: throw new Error(`a body has a shape that this page does not know: ${shape.kind}`);
  }
}

/** Shades the octants of a round shape by turns, so that its rotation is seen. */
function markOctants(material) {
  material.onBeforeCompile = shader => {
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec3 octant;')
      .replace('#include <begin_vertex>', '#include <begin_vertex>\noctant = position;');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', '#include <common>\nvarying vec3 octant;')
      .replace('#include <color_fragment>', '#include <color_fragment>\nif (octant.x * octant.y * octant.z > 0.0) diffuseColor.rgb *= 0.85;');
  };
  material.customProgramCacheKey = () => 'octants';
}

function shapeMesh(shape, spacing, extent) {
  const round = shape.marked && ['sphere', 'capsule', 'cylinder', 'ellipsoid'].includes(shape.kind);
  let made;
  if (shape.kind === 'half-space') {
    made = floorGrid(spacing, extent);
  } else {
    const colour = new Color().setRGB(...shape.colour.map(byte => byte / 255), SRGBColorSpace);
    const isFlat = shape.kind === 'mesh' && !shape.smooth;
    const material = new MeshStandardMaterial({
      color: colour, roughness: 0.75, metalness: 0, flatShading: isFlat,
      side: shape.kind === 'mesh' ? DoubleSide : FrontSide,
    });
    if (round) markOctants(material);
    made = new Mesh(geometryOf(shape), material);
    made.castShadow = made.receiveShadow = true;
  }
  place(made, shape.pose, 0);
  return made;
}

/** Puts an object at the pose that starts at `at` in an array of x y z, w x y z. */
export function place(object, poses, at) {
  object.position.set(poses[at], poses[at + 1], poses[at + 2]);
  object.quaternion.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
}

/** The bodies of a run. */
export class Bodies {
  constructor(scene, spacing, extent) {
    this.object = new Group();
    this.parts = scene.bodies.map(body => {
      const part = new Group();
      part.name = body.name;
      part.isFloor = body.shapes.some(shape => shape.kind === 'half-space');
      for (const shape of body.shapes) part.add(shapeMesh(shape, spacing, extent));
      this.object.add(part);
      return part;
    });
    const up = new Vector3(...scene.gravity).negate();
    const hasFloor = this.parts.some(part => part.isFloor);
    for (const plane of scene.planes) {
      const normal = new Vector3(...plane.normal);
      const carries = up.lengthSq() === 0 ? false : normal.dot(up) > 0.05 * up.length();
      // Walls of a box would hide what is in it: only those that carry are drawn.
      if (!carries || (hasFloor && normal.dot(up) > 0.999 * up.length())) continue;
      const grid = floorGrid(spacing, extent);
      grid.position.set(...plane.point);
      grid.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), normal));
      this.object.add(grid);
    }
  }

  /** Places the bodies as in a frame. */
  show(frame) {
    if (frame.bodies !== this.parts.length) {
      throw new Error(`a frame has poses of ${frame.bodies} bodies; the scene has ${this.parts.length}`);
    }
    this.parts.forEach((part, number) => place(part, frame.poses, 7 * number));
  }

  /** Puts the shade where shadows can be: on each floor, `half` to each side of what lies under a point [m]. */
  shade(point, half) {
    this.object.updateWorldMatrix(true, true);
    this.object.traverse(part => {
      if (!part.isShade) return;
      const under = part.parent.worldToLocal(point.clone());
      part.position.set(under.x, under.y, 0);
      part.scale.setScalar(1.6 * half);
    });
  }

  /** Smallest box around the shapes that have an end. */
  addTo(box) {
    for (const part of this.parts) {
      if (part.isFloor) continue;
      part.updateWorldMatrix(true, true);
      box.expandByObject(part);
    }
  }
}
