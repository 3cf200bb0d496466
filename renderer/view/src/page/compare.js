// The kept picture, and the wipe between it and the present one.

import { byId, setText } from './dom.js';
import { toast } from './notices.js';
import { clamp, counted } from './numbers.js';

export class Compare {
  constructor(view, verdict, send, changed) {
    Object.assign(this, { view, verdict, send, changed });
    this.part = 0.5;
    this.isOn = false;
    this.handle = byId('wipe');
    byId('keep').addEventListener('click', () => this.keep());
    byId('split').addEventListener('click', () => this.turn(!this.isOn));
    byId('compare').addEventListener('click', () => this.compare());
    this.listen();
  }

  listen() {
    const { handle } = this;
    handle.addEventListener('pointerdown', (event) => handle.setPointerCapture(event.pointerId));
    handle.addEventListener('pointermove', (event) => {
      if (handle.hasPointerCapture(event.pointerId)) this.moveTo(this.partAt(event.clientX));
    });
    handle.addEventListener('keydown', (event) => this.onKey(event));
    byId('frame').addEventListener('pointermove', ({ clientX }) => { this.pointer = clientX; });
    byId('frame').addEventListener('pointerleave', () => { this.pointer = null; });
  }

  onKey(event) {
    const step = event.shiftKey ? 0.1 : 0.01;
    const to = {
      ArrowLeft: this.part - step, ArrowDown: this.part - step,
      ArrowRight: this.part + step, ArrowUp: this.part + step,
      Home: 0, End: 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.moveTo(to);
  }

  partAt(clientX) {
    const box = byId('picture').getBoundingClientRect();
    const [left, right] = this.view.span();
    return ((clientX - box.left) / box.width * this.view.box[0] - left) / Math.max(1, right - left);
  }

  moveTo(part) {
    this.part = clamp(part, 0, 1);
    this.handle.setAttribute('aria-valuenow', Math.round(100 * this.part));
    this.changed();
  }

  keep() {
    this.isWanted = true;
    this.send('snapshot');
  }

  compare() {
    this.verdict.expect();
    this.send('compare');
  }

  // The kept picture has come: asked for by this page, or by another.
  take(frame) {
    this.spp = frame.spp;
    this.verdict.hide();
    byId('split').disabled = byId('compare').disabled = false;
    setText(byId('kept'), `Kept radiance · ${counted(frame.spp, 'sample')} per pixel`);
    if (this.isWanted) toast('note', 'The picture is kept. Wipe (W) shows it beside the present one.');
    this.isWanted = false;
  }

  turn(isOn) {
    this.isOn = isOn && !byId('split').disabled;
    if (this.isOn) this.moveTo(this.start());
    byId('split').setAttribute('aria-pressed', this.isOn);
    for (const id of ['wipe', 'kept', 'now']) byId(id).hidden = !this.isOn;
    this.changed();
  }

  // At the pointer, if it is on the picture.
  start() {
    const part = Number.isFinite(this.pointer) ? this.partAt(this.pointer) : 0.5;
    return part >= 0 && part <= 1 ? part : 0.5;
  }

  // Where the kept picture ends, in pixels of the screen.
  place() {
    if (!this.isOn) return 0;
    const [left, right] = this.view.span();
    const x = Math.round(left + this.part * (right - left));
    this.handle.style.left = `${100 * x / this.view.box[0]}%`;
    return x;
  }
}
