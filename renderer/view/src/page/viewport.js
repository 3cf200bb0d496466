// Where on the canvas the picture is, in pixels of the screen.

import { clamp } from './numbers.js';

const LEAST_ZOOM = 1 / 16;
const MOST_ZOOM = 64;

export class Viewport {
  constructor() {
    this.size = [1, 1];
    this.box = [1, 1];
    this.fit();
  }

  setSize(size) {
    this.isKnown = true;
    if (size[0] === this.size[0] && size[1] === this.size[1]) return;
    this.size = size;
    this.fit();
  }

  // The whole picture, as large as there is room for.
  fit() {
    this.zoom = null;
    this.center = this.size.map((x) => x / 2);
  }

  // Pixels of the screen in one of the picture.
  get scale() {
    return this.zoom ?? Math.min(this.box[0] / this.size[0], this.box[1] / this.size[1]);
  }

  rectangle() {
    const [width, height] = this.size.map((x) => x * this.scale);
    const left = Math.round(this.box[0] / 2 - this.center[0] * this.scale);
    const top = Math.round(this.box[1] / 2 - this.center[1] * this.scale);
    return { left, top, width, height };
  }

  // The part of the canvas from left to right in which there is picture.
  span() {
    const { left, width } = this.rectangle();
    return [clamp(left, 0, this.box[0]), clamp(left + width, 0, this.box[0])];
  }

  // The place in the picture that is at a point of the canvas.
  locate([x, y]) {
    const { left, top } = this.rectangle();
    return [(x - left) / this.scale, (y - top) / this.scale];
  }

  // The pixel that is at a point of the canvas, if one is.
  pixelAt(point) {
    const pixel = this.locate(point).map(Math.floor);
    return pixel.every((x, i) => x >= 0 && x < this.size[i]) ? pixel : null;
  }

  // What is at `point` stays there.
  zoomTo(zoom, point = this.box.map((x) => x / 2)) {
    const before = this.locate(point);
    this.zoom = clamp(zoom, LEAST_ZOOM, MOST_ZOOM);
    const after = this.locate(point);
    this.moveTo(this.center.map((x, i) => x + before[i] - after[i]));
  }

  moveBy(dx, dy) {
    this.zoom = this.scale;
    this.moveTo([this.center[0] - dx / this.scale, this.center[1] - dy / this.scale]);
  }

  moveTo(center) {
    this.center = center.map((x, i) => clamp(x, 0, this.size[i]));
  }
}
