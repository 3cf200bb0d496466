
// One view of images.

// The wheel scrolls the page until it rests; then it zooms.
let lastScroll = -Infinity;
document.addEventListener('scroll', () => { lastScroll = performance.now(); }, { passive: true });

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children);
  return made;
}

class Panel {
  constructor(viewer, kind) {
    this.viewer = viewer;
    this.kind = kind;
    this.pointers = new Map();
    this.canvas = element('canvas', { 'data-view': kind, tabindex: 0, role: 'application' });
    const { width, height } = viewer.images;
    this.canvas.style.aspectRatio = Math.max(0.5, Math.min(2.5, width / height));
    this.frame = element('div', { class: 'frame' }, this.canvas);
    this.legend = element('span', { class: 'legend' });
    this.title = element('span');
    this.figure = element('figure', {}, this.frame, element('figcaption', {}, this.title, this.legend));
    if (kind === 'wipe') this.addHandle();
    this.setTitle(viewer.title(kind));
    this.addLegend();
    this.listen();
  }

  setTitle(title) {
    if (this.title.textContent === title) return;
    this.title.textContent = title;
    this.canvas.setAttribute('aria-label', `${title}. Arrow keys move from pixel to pixel, plus and minus zoom.`);
  }

  addHandle() {
    this.handle = element('div', {
      class: 'handle', role: 'slider', tabindex: 0, 'aria-label': this.viewer.divider(),
      'aria-valuemin': 0, 'aria-valuemax': 100,
    });
    this.frame.append(this.handle);
    this.handle.addEventListener('pointerdown', (event) => this.handle.setPointerCapture(event.pointerId));
    this.handle.addEventListener('pointermove', (event) => {
      if (this.handle.hasPointerCapture(event.pointerId)) this.splitAt(event);
    });
    this.handle.addEventListener('keydown', (event) => {
      const step = event.shiftKey ? 0.1 : 0.01;
      const to = {
        ArrowLeft: this.viewer.split - step, ArrowDown: this.viewer.split - step,
        ArrowRight: this.viewer.split + step, ArrowUp: this.viewer.split + step,
        Home: 0, End: 1,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.viewer.splitAt(to);
    });
  }

  splitAt(event) {
    const box = this.canvas.getBoundingClientRect();
    this.viewer.splitAt((event.clientX - box.left) / box.width);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener('pointerdown', (event) => this.onDown(event));
    canvas.addEventListener('pointermove', (event) => this.onMove(event));
    for (const end of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener('keydown', (event) => this.onKey(event));
  }

  // Where in the image an event is.
  locate({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const { view } = this.viewer;
    return {
      x: view.x + (clientX - box.left - box.width / 2) / view.zoom,
      y: view.y + (clientY - box.top - box.height / 2) / view.zoom,
    };
  }

  onWheel(event) {
    const scrolling = performance.now() - lastScroll < 250;
    const leaving = event.deltaY > 0 && this.viewer.isFitting();
    if (!event.ctrlKey && (scrolling || leaving)) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    this.viewer.zoomTo(this.viewer.view.zoom * 2 ** (-event.deltaY * lines / 200), this.locate(event));
  }

  onDown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
    this.onMove(event);
  }

  // One pointer pans, or moves the divider where there is nothing to pan to; two pinch.
  onMove(event) {
    const { viewer, pointers } = this;
    const before = pointers.get(event.pointerId);
    if (before) {
      pointers.set(event.pointerId, event);
      const other = [...pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
      if (other) this.pinch(before, event, other);
      else if (!viewer.isFitting()) this.pan(before, event);
      else if (this.handle) this.splitAt(event);
    }
    const { x, y } = this.locate(event);
    viewer.point({ x: Math.floor(x), y: Math.floor(y) });
  }

  pan(from, to) {
    const { view } = this.viewer;
    this.viewer.moveTo(view.x - (to.clientX - from.clientX) / view.zoom, view.y - (to.clientY - from.clientY) / view.zoom);
  }

  pinch(from, to, other) {
    const distance = (a) => Math.hypot(a.clientX - other.clientX, a.clientY - other.clientY);
    const middle = { clientX: (to.clientX + other.clientX) / 2, clientY: (to.clientY + other.clientY) / 2 };
    this.viewer.zoomTo(this.viewer.view.zoom * distance(to) / Math.max(1, distance(from)), this.locate(middle));
  }

  onKey(event) {
    const { viewer } = this;
    const step = event.shiftKey ? 10 : 1;
    const actions = {
      ArrowLeft: () => viewer.stepBy(-step, 0),
      ArrowRight: () => viewer.stepBy(step, 0),
      ArrowUp: () => viewer.stepBy(0, -step),
      ArrowDown: () => viewer.stepBy(0, step),
      '+': () => viewer.zoomBy(2), '=': () => viewer.zoomBy(2), '-': () => viewer.zoomBy(0.5),
      0: () => viewer.fit(), w: () => viewer.showWorst(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  addLegend() {
    const map = { difference: 'signed', z: 'signed', flip: 'unsigned' }[this.kind];
    if (!map) return;
    this.ends = [element('span'), element('span')];
    const colors = COLORS[map].filter((_, i) => i % 15 === 0).map((rgb) => `rgb(${rgb})`);
    const ramp = element('span', { class: 'ramp' });
    ramp.style.background = `linear-gradient(to right, ${colors})`;
    this.legend.append(this.ends[0], ramp, this.ends[1]);
  }

  showLegend() {
    if (!this.ends) return;
    const range = { difference: this.viewer.fullRange(), z: Z_RANGE, flip: 1 }[this.kind];
    const high = digits(range, this.kind === 'difference' ? 2 : 1);
    this.ends[0].textContent = this.kind === 'flip' ? '0' : `−${high}`;
    this.ends[1].textContent = this.kind === 'flip' ? high : `+${high}`;
  }

  draw() {
    const { canvas, viewer, kind } = this;
    const ratio = canvas.width / canvas.clientWidth || 1;
    const context = canvas.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (kind === 'wipe') {
      const at = Math.round(viewer.split * canvas.width);
      this.drawPainting(context, viewer.paintings.reference, ratio, 0, at);
      this.drawPainting(context, viewer.paintings.result, ratio, at, canvas.width);
      this.handle.style.left = `${100 * viewer.split}%`;
      this.handle.setAttribute('aria-valuenow', Math.round(100 * viewer.split));
    } else {
      this.drawPainting(context, viewer.paintings[kind], ratio, 0, canvas.width);
    }
    this.drawMarks(context, ratio);
  }

  // From image to canvas.
  place(context, ratio) {
    const { view } = this.viewer;
    const scale = view.zoom * ratio;
    const { width, height } = this.canvas;
    context.setTransform(scale, 0, 0, scale, width / 2 - view.x * scale, height / 2 - view.y * scale);
    return scale;
  }

  // A painting between two columns of the canvas; larger than life, pixels are squares.
  drawPainting(context, painting, ratio, from, to) {
    if (!painting || to <= from) return;
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.beginPath();
    context.rect(from, 0, to - from, this.canvas.height);
    context.clip();
    context.imageSmoothingEnabled = this.place(context, ratio) < 1;
    context.imageSmoothingQuality = 'high';
    context.drawImage(painting, 0, 0);
    context.restore();
    if (this.viewer.view.zoom >= TEXT_ZOOM && this.kind !== 'wipe') this.drawValues(context, painting, ratio);
  }

  // The worst region, and the pixel whose values are shown.
  drawMarks(context, ratio) {
    const { viewer } = this;
    const scale = this.place(context, ratio);
    const worst = viewer.worst?.();
    if (worst) this.drawBox(context, worst, 1.5 * ratio / scale, '#ffd400');
    if (viewer.view.zoom >= GRID_ZOOM) {
      this.drawBox(context, { ...viewer.pixel, width: 1, height: 1 }, ratio / scale, '#ffffff');
    }
  }

  // Two lines, one of them dark, so that it is seen on anything.
  drawBox(context, { x, y, width, height }, line, color) {
    context.lineWidth = line;
    context.strokeStyle = '#000000';
    context.strokeRect(x - 1.5 * line, y - 1.5 * line, width + 3 * line, height + 3 * line);
    context.strokeStyle = color;
    context.strokeRect(x - line / 2, y - line / 2, width + line, height + line);
  }

  // The values of every pixel, in it.
  drawValues(context, painting, ratio) {
    const { viewer, canvas } = this;
    const { width, height } = viewer.images;
    const scale = this.place(context, ratio);
    const { e: left, f: top } = context.getTransform();
    const first = (offset) => Math.max(0, Math.floor(-offset / scale));
    const last = (offset, seen, length) => Math.min(length, Math.ceil((seen - offset) / scale));
    const [x0, x1] = [first(left), last(left, canvas.width, width)];
    const [y0, y1] = [first(top), last(top, canvas.height, height)];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.font = `${Math.round(scale / 5.4)}px ui-monospace, monospace`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const colors = painting.getContext('2d').getImageData(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0)).data;
    for (let y = y0, k = 0; y < y1; y++) {
      for (let x = x0; x < x1; x++, k += 4) {
        const luma = 0.299 * colors[k] + 0.587 * colors[k + 1] + 0.114 * colors[k + 2];
        context.fillStyle = luma > 140 ? '#000000' : '#ffffff';
        const lines = this.values(y * width + x);
        lines.forEach((text, line) => {
          const offset = (line - (lines.length - 1) / 2) * 0.24;
          context.fillText(text, left + (x + 0.5) * scale, top + (y + 0.5 + offset) * scale);
        });
      }
    }
  }

  values(i) {
    const { parts } = this.viewer.images;
    switch (this.kind) {
      case 'z': case 'flip': return [digits(parts[this.kind][0][i], 2)];
      case 'difference': return [digits(this.viewer.difference[i], 2)];
      default: return parts[this.kind].map((plane) => digits(plane[i], 3));
    }
  }
}
