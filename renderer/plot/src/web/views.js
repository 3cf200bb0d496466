
// Views of images, which show the same part of them, and in all of which the same pixel is marked. Who extends this says
// what `images` there are (`parts.reference` and `parts.result` as three planes of floats each), paints them, and names
// the views.

const MAX_ZOOM = 64;

// Zoom from which single pixels can be told apart, and from which there is room for their values.
const GRID_ZOOM = 12;
const TEXT_ZOOM = 48;

class Views {
  // `images` has the size of all images that there will be.
  constructor(root, images, kinds) {
    this.root = root;
    this.images = images;
    this.rangeStops = 0;
    this.view = { zoom: 0, x: images.width / 2, y: images.height / 2 };
    this.split = 0.5;
    this.stale = new Set();
    this.paintings = {};
    root.append(document.getElementById('viewer').content.cloneNode(true));
    this.panels = kinds.map((kind) => new Panel(this, kind));
    root.querySelector('.views').append(...this.panels.map((panel) => panel.figure));
    this.connect();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
  }

  connect() {
    const actions = { in: () => this.zoomBy(2), out: () => this.zoomBy(0.5), fit: () => this.fit() };
    for (const [name, action] of Object.entries(actions)) this.on('click', `[data-do=${name}]`, action);
  }

  on(event, selector, action) {
    this.root.querySelector(selector).addEventListener(event, action);
  }

  show(name, text) {
    this.root.querySelector(`[data-show=${name}]`).textContent = text;
  }

  // Paints images anew before the next frame.
  repaint(names) {
    names.forEach((name) => this.stale.add(name));
    this.redraw();
  }

  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.stale.forEach((name) => { this.paintings[name] = this.painting(name); });
      this.stale.clear();
      this.shown().forEach((panel) => panel.draw());
      this.showSettings();
    });
  }

  // The difference that has the last colour.
  fullRange() {
    return this.range * 2 ** this.rangeStops;
  }

  showSettings() {
    const zoom = this.view.zoom / this.images.reduction;
    this.show('zoom', zoom < 1 ? `${Math.round(100 * zoom)} %` : `${Number(zoom.toPrecision(2))}×`);
    this.show('exposure', `${this.exposure > 0 ? '+' : ''}${this.exposure.toFixed(1).replace('-', '−')} stops`);
    this.show('range', `±${digits(this.fullRange(), 2)}`);
    this.panels.forEach((panel) => panel.showLegend());
  }

  // The views that are not hidden; there is always one.
  shown() {
    return this.panels.filter((panel) => !panel.figure.hidden);
  }

  // The zoom at which all of the image is seen.
  fittingZoom() {
    const { clientWidth, clientHeight } = this.shown()[0].canvas;
    return Math.min(clientWidth / this.images.width, clientHeight / this.images.height) || 1;
  }

  isFitting() {
    return this.view.zoom <= this.fittingZoom() * 1.001;
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const fitted = !this.view.zoom || Math.abs(this.view.zoom / this.lastFit - 1) < 0.01;
    this.shown().forEach(({ canvas }) => {
      canvas.width = Math.round(canvas.clientWidth * ratio);
      canvas.height = Math.round(canvas.clientHeight * ratio);
    });
    this.lastFit = this.fittingZoom();
    if (fitted) this.fit();
    else this.zoomTo(this.view.zoom);
  }

  fit() {
    this.zoomTo(0);
  }

  // Zooms about the marked pixel.
  zoomBy(factor) {
    this.zoomTo(this.view.zoom * factor, { x: this.pixel.x + 0.5, y: this.pixel.y + 0.5 });
  }

  // Zooms so that a point of the image stays where it is in the panels: their middle, if it is not seen in them.
  zoomTo(wanted, at) {
    const { view } = this;
    const least = this.fittingZoom();
    const zoom = Math.max(least, Math.min(Math.max(MAX_ZOOM, least), wanted));
    if (at && this.sees(at)) {
      view.x = at.x + (view.x - at.x) * view.zoom / zoom;
      view.y = at.y + (view.y - at.y) * view.zoom / zoom;
    }
    view.zoom = zoom;
    this.moveTo(view.x, view.y);
  }

  // Brings a point of the image to the middle, but never shows what is outside it while there is more inside.
  moveTo(x, y) {
    const { view, images } = this;
    const { clientWidth, clientHeight } = this.shown()[0].canvas;
    const clamp = (x, length, seen) => seen >= length ? length / 2 : Math.max(seen / 2, Math.min(length - seen / 2, x));
    view.x = clamp(x, images.width, clientWidth / view.zoom);
    view.y = clamp(y, images.height, clientHeight / view.zoom);
    this.root.classList.toggle('zoomed', !this.isFitting());
    this.redraw();
  }

  sees({ x, y }) {
    const { clientWidth, clientHeight } = this.shown()[0].canvas;
    const { view } = this;
    return Math.abs(x - view.x) * view.zoom <= clientWidth / 2 && Math.abs(y - view.y) * view.zoom <= clientHeight / 2;
  }

  // Marks a pixel in all views and shows its values.
  point(pixel) {
    const { width, height } = this.images;
    const inside = pixel.x >= 0 && pixel.y >= 0 && pixel.x < width && pixel.y < height;
    if (!inside) return;
    this.pixel = pixel;
    this.readOut();
    this.redraw();
  }

  stepBy(dx, dy) {
    const { width, height } = this.images;
    const clamp = (x, length) => Math.max(0, Math.min(length - 1, x));
    const to = { x: clamp(this.pixel.x + dx, width), y: clamp(this.pixel.y + dy, height) };
    this.point(to);
    if (!this.sees({ x: to.x + 0.5, y: to.y + 0.5 })) this.moveTo(to.x + 0.5, to.y + 0.5);
  }

  readOut() {
    const { images: { parts, width, reduction }, pixel } = this;
    const i = pixel.y * width + pixel.x;
    const write = (name, text) => this.write(name, text);
    write('place', `${pixel.x * reduction}, ${pixel.y * reduction}`);
    for (let c = 0; c < 3; c++) {
      const [a, b] = [parts.reference?.[c][i], parts.result?.[c][i]];
      write(`reference-${c}`, digits(a));
      write(`result-${c}`, digits(b));
      write(`difference-${c}`, a === undefined || b === undefined ? '–' : digits(b - a, 3));
    }
  }

  write(name, text) {
    this.root.querySelector(`[data-read=${name}]`).textContent = text;
  }

  splitAt(part) {
    this.split = Math.max(0, Math.min(1, part));
    this.redraw();
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.root.replaceChildren();
  }
}
