// Cloth: a mesh with the recorded colours on the front and, where there are any, others on the back.

import { BackSide, BufferAttribute, BufferGeometry, DoubleSide, DynamicDrawUsage, FrontSide, Group, Mesh, MeshStandardMaterial } from './three.min.js';
import { linear, linearOf } from './colour.js';

const LOOK = { vertexColors: true, roughness: 0.9, metalness: 0, shadowSide: DoubleSide };

/** The cloth of a view. */
export class Cloth {
  constructor() {
    this.object = new Group();
    this.front = new Mesh(new BufferGeometry(), new MeshStandardMaterial({ ...LOOK, side: DoubleSide }));
    this.back = new Mesh(new BufferGeometry(), new MeshStandardMaterial({ ...LOOK, side: BackSide, flatShading: true }));
    this.front.frustumCulled = this.back.frustumCulled = false;
    this.front.castShadow = this.front.receiveShadow = this.back.receiveShadow = true;
    this.object.add(this.front, this.back);
    this.object.visible = false;
    this.sizes = '';
  }

  allocate(frame) {
    const vertices = frame.particles, corners = frame.triangles.length;
    const dynamic = (array, size) => {
      const made = new BufferAttribute(array, size);
      made.setUsage(DynamicDrawUsage);
      return made;
    };
    this.front.geometry.dispose();
    this.back.geometry.dispose();
    this.front.geometry = new BufferGeometry();
    this.front.geometry.setAttribute('position', dynamic(new Float32Array(3 * vertices), 3));
    this.front.geometry.setAttribute('color', dynamic(new Float32Array(3 * vertices), 3));
    this.front.geometry.setIndex(dynamic(new Uint32Array(corners), 1));
    this.back.geometry = new BufferGeometry();
    this.back.geometry.setAttribute('position', dynamic(new Float32Array(frame.backs ? 3 * corners : 0), 3));
    this.back.geometry.setAttribute('color', dynamic(new Float32Array(frame.backs ? 3 * corners : 0), 3));
  }

  /** Shows a frame; `colours` are those of the particles (u8 x 4), `byField` paints both sides alike. */
  show(frame, colours, byField) {
    this.object.visible = frame.triangles.length > 0;
    if (!this.object.visible) return;
    const sizes = `${frame.particles} ${frame.triangles.length} ${Boolean(frame.backs)}`;
    if (sizes !== this.sizes) this.allocate(frame);
    this.sizes = sizes;
    const { position, color } = this.front.geometry.attributes;
    position.array = frame.positions;
    linear(color.array, colours);
    this.front.geometry.index.array = frame.triangles;
    this.front.geometry.index.needsUpdate = position.needsUpdate = color.needsUpdate = true;
    this.front.geometry.computeVertexNormals();
    const twoColours = Boolean(frame.backs) && !byField;
    this.back.visible = twoColours;
    if (this.front.material.side !== (twoColours ? FrontSide : DoubleSide)) {
      this.front.material.side = twoColours ? FrontSide : DoubleSide;
      this.front.material.needsUpdate = true;
    }
    if (twoColours) this.showBack(frame);
  }

  showBack(frame) {
    const { position, color } = this.back.geometry.attributes;
    for (let corner = 0; corner < frame.triangles.length; corner++) {
      const vertex = frame.triangles[corner], triangle = Math.floor(corner / 3);
      for (let c = 0; c < 3; c++) {
        position.array[3 * corner + c] = frame.positions[3 * vertex + c];
        color.array[3 * corner + c] = linearOf(frame.backs[4 * triangle + c]);
      }
    }
    position.needsUpdate = color.needsUpdate = true;
  }
}
