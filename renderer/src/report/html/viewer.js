
// The views of a case: they show the same part of it, and the same pixel is marked in all.

const MAX_ZOOM = 64;

// Zoom from which single pixels can be told apart, and from which there is room for their values.
const GRID_ZOOM = 12;
const TEXT_ZOOM = 48;

class Viewer {
  constructor(root, images) {
    this.root = root;
    this.images = images;
    this.exposure = fittingExposure(images.parts.reference);
    this.difference = largestDifference(images.parts.reference, images.parts.result);
    this.range = quantile(this.difference, 0.995) || 1e-3;
    this.rangeStops = 0;
    this.view = { zoom: 0, x: images.width / 2, y: images.height / 2 };
    this.split = 0.5;
    this.stale = new Set();
    root.append(document.getElementById('viewer').content.cloneNode(true));
    this.panels = this.kinds().map((kind) => new Panel(this, kind));
    root.querySelector('.views').append(...this.panels.map((panel) => panel.figure));
    this.paintings = {};
    this.connect();
    this.pointAtWorst();
    this.repaint(['reference', 'result', 'difference', 'z', 'flip']);
  }

  kinds() {
    const { parts } = this.images;
    return ['wipe', 'reference', 'result', 'difference', 'z', 'flip'].filter((kind) => {
      return ['wipe', 'difference'].includes(kind) || kind in parts;
    });
  }

  connect() {
    const actions = {
      in: () => this.zoomBy(2),
      out: () => this.zoomBy(0.5),
      fit: () => this.fit(),
      worst: () => this.showWorst(),
    };
    for (const button of this.root.querySelectorAll('[data-do]')) {
      button.addEventListener('click', actions[button.dataset.do]);
    }
    this.root.querySelector('[data-do=worst]').hidden = !this.images.worst;
    const exposure = this.root.querySelector('[data-set=exposure]');
    exposure.value = this.exposure;
    exposure.addEventListener('input', () => {
      this.exposure = Number(exposure.value);
      this.repaint(['reference', 'result']);
    });
    const range = this.root.querySelector('[data-set=range]');
    range.addEventListener('input', () => {
      this.rangeStops = Number(range.value);
      this.repaint(['difference']);
    });
    this.show('facts', this.facts());
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.root);
  }

  // What has to be known of the images beside what they look like.
  facts() {
    const { size: [width, height], reduction, parts } = this.images;
    const facts = [`${width} × ${height}` + (reduction > 1 ? `, reduced ${reduction}×` : '')];
    for (const name of ['reference', 'result']) {
      const n = countNotFinite(parts[name]);
      if (n) facts.push(`${n} ${n === 1 ? 'pixel' : 'pixels'} of the ${name} not finite`);
    }
    return facts.join(' · ');
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
      this.panels.forEach((panel) => panel.draw());
      this.showSettings();
    });
  }

  painting(name) {
    const { images } = this;
    const { parts } = images;
    switch (name) {
      case 'difference': return paintMap(images, this.difference, 'signed', this.fullRange());
      case 'z': return parts.z && paintMap(images, parts.z[0], 'signed', Z_RANGE);
      case 'flip': return parts.flip && paintMap(images, parts.flip[0], 'unsigned', 1);
      default: return paintRadiance(images, parts[name], this.exposure);
    }
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

  // The zoom at which all of the image is seen.
  fittingZoom() {
    const { clientWidth, clientHeight } = this.panels[0].canvas;
    return Math.min(clientWidth / this.images.width, clientHeight / this.images.height) || 1;
  }

  isFitting() {
    return this.view.zoom <= this.fittingZoom() * 1.001;
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const fitted = !this.view.zoom || Math.abs(this.view.zoom / this.lastFit - 1) < 0.01;
    this.panels.forEach(({ canvas }) => {
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
    const { clientWidth, clientHeight } = this.panels[0].canvas;
    const clamp = (x, length, seen) => seen >= length ? length / 2 : Math.max(seen / 2, Math.min(length - seen / 2, x));
    view.x = clamp(x, images.width, clientWidth / view.zoom);
    view.y = clamp(y, images.height, clientHeight / view.zoom);
    this.root.classList.toggle('zoomed', !this.isFitting());
    this.redraw();
  }

  sees({ x, y }) {
    const { clientWidth, clientHeight } = this.panels[0].canvas;
    const { view } = this;
    return Math.abs(x - view.x) * view.zoom <= clientWidth / 2 && Math.abs(y - view.y) * view.zoom <= clientHeight / 2;
  }

  showWorst() {
    const box = this.worst();
    if (!box) return;
    const { clientWidth, clientHeight } = this.panels[0].canvas;
    this.zoomTo(0.6 * Math.min(clientWidth / box.width, clientHeight / box.height));
    this.moveTo(box.x + box.width / 2, box.y + box.height / 2);
  }

  // Until something is pointed at: the middle of the worst region, or of the image.
  pointAtWorst() {
    const { x, y, width, height } = this.worst() ?? { x: 0, y: 0, width: this.images.width, height: this.images.height };
    this.pixel = { x: 0, y: 0 };
    this.point({ x: Math.floor(x + width / 2), y: Math.floor(y + height / 2) });
  }

  // The worst region in stored pixels.
  worst() {
    if (!this.images.worst) return null;
    const [x, y, width, height] = this.images.worst.map((length) => length / this.images.reduction);
    return { x, y, width, height };
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
    const write = (name, text) => { this.root.querySelector(`[data-read=${name}]`).textContent = text; };
    write('place', `${pixel.x * reduction}, ${pixel.y * reduction}`);
    for (let c = 0; c < 3; c++) {
      const [a, b] = [parts.reference[c][i], parts.result[c][i]];
      write(`reference-${c}`, digits(a));
      write(`result-${c}`, digits(b));
      write(`difference-${c}`, digits(b - a, 3));
    }
    write('z', digits(parts.z?.[0][i], 2));
    write('flip', digits(parts.flip?.[0][i], 2));
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
