// Clicks on the picture: they select a material, or what the camera focuses on.

import { toast } from './notices.js';

export class Picking {
  constructor(send, edits, camera, material, marks) {
    Object.assign(this, { send, edits, camera, material, marks });
    this.purposes = new Map();
  }

  ask(pixel, purpose) {
    this.purposes.set(pixel.join(), purpose);
    this.marks.showRing(pixel);
    this.send('pick', { x: pixel[0], y: pixel[1] });
  }

  take(pick) {
    const key = [pick.x, pick.y].join();
    const purpose = this.purposes.get(key);
    this.purposes.delete(key);
    this.marks.remove('ring');
    if (purpose === 'focus') this.focus(pick);
    else if (pick.material_path) this.select(pick);
    else toast('note', pick.shape ? `${pick.shape} has no material of its own.` : 'Nothing is there.');
  }

  select({ material_path: path, material, cover }) {
    this.material.select(path, material);
    if (cover) this.marks.flash(cover);
  }

  focus({ depth }) {
    if (depth > 0) this.edits.set(this.camera.focused(depth));
    else toast('note', 'Nothing is there to focus on.');
  }
}
