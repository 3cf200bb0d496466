// Frames to the canvas: what has arrived is drawn with the next frame of the screen, and only the latest.

import { byId, setText } from './dom.js';
import { frameNumber, readFrame } from './frame.js';

const root = document.documentElement;

export class Screen {
  // `send` acknowledges; `parts` are the picture, the viewport, the display, the comparison and the marks.
  constructor(send, parts) {
    Object.assign(this, parts, { send });
    this.waiting = [];
    this.drawn = 0;
    this.order = Promise.resolve();
    const canvas = byId('picture');
    canvas.addEventListener('stale', () => this.redraw());
    new ResizeObserver(() => this.resize(canvas)).observe(canvas);
  }

  resize(canvas) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    this.view.box = [canvas.width, canvas.height];
    // At once: a canvas that has another size is empty.
    this.paint();
  }

  // Frames stay in order, though some take time to read. `layers` promises the names of layers.
  receive(buffer, layers) {
    const reading = layers.then((names) => readFrame(buffer, names));
    this.order = Promise.allSettled([this.order, reading]).then(([, { value }]) => {
      if (value) this.waiting.push(value);
      else this.send('ack', { frame: frameNumber(buffer) });
      this.redraw();
    });
  }

  redraw() {
    this.request ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.request = null;
    const frames = this.waiting.splice(0);
    const snapshot = frames.findLast((frame) => frame.isSnapshot);
    const latest = frames.findLast((frame) => !frame.isSnapshot);
    if (snapshot) this.takeSnapshot(snapshot);
    if (latest) this.takePicture(latest);
    this.paint();
    frames.forEach(({ number }) => this.send('ack', { frame: number }));
    if (latest) this.announce(latest);
  }

  paint() {
    this.picture.draw(this.view, this.display, this.compare.place());
    this.marks.place();
    if (this.view.isKnown) setText(byId('zoom'), `${Math.round(100 * this.view.scale)} %`);
  }

  takeSnapshot(frame) {
    this.picture.upload('snapshot', frame);
    this.compare.take(frame);
  }

  takePicture(frame) {
    this.picture.upload('picture', frame);
    this.display.setKind(frame.kind);
  }

  announce({ revision, spp, width, height, shared }) {
    this.drawn += 1;
    const isExact = shared !== undefined;
    Object.assign(root.dataset, { revision, spp, size: `${width}x${height}`, exact: isExact, frames: this.drawn });
    document.dispatchEvent(new CustomEvent('torrance-frame', { detail: { revision, spp, width, height } }));
  }
}
