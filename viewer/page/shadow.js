// A light that stays where it is, and its shadow: of bodies, cloth, surfaces, and particles that are balls.

import { DirectionalLight, Vector3 } from './three.min.js';

/** Side of the map of shadows [pixels]. */
const SIDE = 1024;

/** The light of a view. */
export class Sun {
  constructor(up) {
    this.light = new DirectionalLight(0xffffff, 1.3);
    this.light.castShadow = true;
    this.light.shadow.mapSize.set(SIDE, SIDE);
    this.light.shadow.radius = 2;
    const side = new Vector3(1, 0, 0).addScaledVector(up, -up.x);
    if (side.lengthSq() < 0.01) side.set(0, 1, 0);
    side.normalize();
    this.from = up.clone().addScaledVector(side, 0.35).addScaledVector(new Vector3().crossVectors(up, side), 0.25).normalize();
    this.pixelsPerMetre = 1;
  }

  /** Lights what is in a box, and what it throws its shadow on. */
  aim(middle, half) {
    const { light } = this, { camera } = light.shadow;
    light.target.position.copy(middle);
    light.position.copy(middle).addScaledVector(this.from, 3 * half);
    light.target.updateMatrixWorld();
    Object.assign(camera, { left: -half, right: half, bottom: -half, top: half, near: 0.5 * half, far: 7 * half });
    camera.updateProjectionMatrix();
    this.half = half;
    this.pixelsPerMetre = SIDE / (2 * half);
    // Two pixels of the map: less, and a surface throws a shadow on itself.
    light.shadow.normalBias = 2 / this.pixelsPerMetre;
    light.shadow.bias = -4e-4;
  }
}
