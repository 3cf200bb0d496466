// Clicks on the picture: they select a material, or what the camera focuses on.

import { toast } from './notices.js';

export class Picking {
  constructor(send, edits, camera, material) {
    Object.assign(this, { send, edits, camera, material });
    this.purposes = new Map();
  }

  ask(pixel, purpose) {
    this.purposes.set(pixel.join(), purpose);
    this.send('pick', { x: pixel[0], y: pixel[1] });
  }

  take(pick) {
    const key = [pick.x, pick.y].join();
    const purpose = this.purposes.get(key);
    this.purposes.delete(key);
    if (purpose === 'focus') this.focus(pick);
    else if (pick.material_path) this.material.select(pick.material_path, pick.material ?? pick.material_path);
    else toast('note', pick.shape ? `${pick.shape} has no material of its own.` : 'Nothing is there.');
  }

  focus({ depth }) {
    if (depth > 0) this.edits.set(this.camera.focused(depth));
    else toast('note', 'Nothing is there to focus on.');
  }
}
