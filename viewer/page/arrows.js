// Forces on bodies as arrows: of particles and of contacts with other bodies.

import { ConeGeometry, CylinderGeometry, Group, Mesh, MeshBasicMaterial, Vector3 } from './three.min.js';

const KINDS = [
  { key: 'particles', at: 0, colour: 0xff9d2e },
  { key: 'contacts', at: 6, colour: 0x4db8ff },
];

const Z = new Vector3(0, 0, 1);

/** The arrows of a view. `perNewton`: length of an arrow [m/N]. */
export class Arrows {
  constructor(bodies) {
    this.object = new Group();
    const shaft = new CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const head = new ConeGeometry(1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, -0.5);
    this.arrows = [];
    for (let body = 0; body < bodies.length; body++) {
      for (const kind of KINDS) {
        const material = new MeshBasicMaterial({ color: kind.colour, depthTest: false, transparent: true, opacity: 0.9 });
        const arrow = new Group();
        arrow.add(new Mesh(shaft, material), new Mesh(head, material));
        arrow.children.forEach(part => { part.renderOrder = 10; });
        arrow.visible = false;
        this.object.add(arrow);
        this.arrows.push({ arrow, body, kind, part: bodies[body] });
      }
    }
  }

  /** Draws the forces of a frame; `reach`: how far from a body's origin its force may be put [m]. */
  show(frame, wanted, perNewton, size, reach) {
    const force = new Vector3(), torque = new Vector3(), at = new Vector3();
    for (const { arrow, body, kind, part } of this.arrows) {
      const first = 12 * body + kind.at;
      force.fromArray(frame.wrenches, first);
      torque.fromArray(frame.wrenches, first + 3);
      const newtons = force.length();
      const length = newtons * perNewton;
      // Not a number: not measured, as in the first frame.
      arrow.visible = (wanted === kind.key || wanted === 'both') && length > 0.02 * size && length < Infinity;
      if (!arrow.visible) continue;
      // The line of the force is where its torque says, not at the origin of the body's frame.
      at.crossVectors(force, torque).divideScalar(newtons * newtons);
      if (!part.isFloor && at.length() > reach) at.set(0, 0, 0);
      arrow.position.copy(part.position).add(at);
      arrow.quaternion.setFromUnitVectors(Z, force.divideScalar(newtons));
      const [shaft, head] = arrow.children;
      const tip = Math.min(0.12 * size, 0.5 * length), thick = 0.014 * size;
      shaft.scale.set(thick, thick, length - tip);
      head.position.z = length;
      head.scale.set(2.6 * thick, 2.6 * thick, tip);
    }
  }
}
