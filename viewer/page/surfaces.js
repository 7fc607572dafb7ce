// Soft bodies as smooth surfaces.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Mesh, MeshStandardMaterial } from './three.min.js';
import { linear } from './colour.js';

/** The surfaces of a view: one mesh. */
export class Surfaces {
  constructor() {
    this.object = new Mesh(new BufferGeometry(), new MeshStandardMaterial({ vertexColors: true, roughness: 0.8, metalness: 0 }));
    this.object.frustumCulled = false;
    this.object.visible = false;
    this.object.castShadow = this.object.receiveShadow = true;
  }

  /** Shows surfaces with the colours of their vertices (u8 x 4, sRGB); none hides them. */
  show(surface, tint) {
    this.object.visible = Boolean(surface) && surface.triangles.length > 0;
    if (!this.object.visible) return;
    if (surface !== this.shown) this.place(surface);
    const { color } = this.object.geometry.attributes;
    linear(color.array, tint);
    color.needsUpdate = true;
  }

  place(surface) {
    this.shown = surface;
    this.object.geometry.dispose();
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(surface.positions, 3));
    geometry.setAttribute('normal', new BufferAttribute(surface.normals, 4, true));
    geometry.setAttribute('color', new BufferAttribute(new Float32Array(3 * surface.vertices), 3).setUsage(DynamicDrawUsage));
    geometry.setIndex(new BufferAttribute(surface.triangles, 1));
    this.object.geometry = geometry;
  }
}
