// What the pointer does on the picture: it turns the camera, chooses what is sharp, or moves the picture.

import { byId, setText } from './dom.js';

const HINTS = {
  focus: 'Click on what is to be sharp. Esc leaves.',
  hand: 'Dragging moves the picture, the wheel zooms it. Esc leaves.',
};

export class Mode {
  constructor() {
    this.current = 'turn';
    for (const mode of Object.keys(HINTS)) byId(mode).addEventListener('click', () => this.toggle(mode));
  }

  toggle(mode) {
    if (!byId(mode).disabled) this.set(this.current === mode ? 'turn' : mode);
  }

  set(mode) {
    this.current = mode;
    byId('frame').dataset.mode = mode;
    for (const each of Object.keys(HINTS)) byId(each).setAttribute('aria-pressed', each === mode);
    setText(byId('hint'), HINTS[mode] ?? '');
    byId('hint').hidden = mode === 'turn';
  }
}
