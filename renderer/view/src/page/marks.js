// Marks over the picture, which follow its zoom: a ring where was clicked, the outline of what is selected, and the
// region of a verdict. They are black and white, so that they do not tint what is judged beside them.

import { byId } from './dom.js';

// Of the ring, in pixels of the page.
const RADIUS = 7;

export class Marks {
  constructor(view) {
    this.view = view;
    this.root = byId('marks');
    this.layer = this.root.firstElementChild;
  }

  // Where the picture is now.
  place() {
    const { view, root } = this;
    const { left, top } = view.rectangle();
    root.setAttribute('viewBox', `0 0 ${view.box.join(' ')}`);
    this.layer.setAttribute('transform', `translate(${left} ${top}) scale(${view.scale})`);
    const radius = RADIUS * view.box[0] / Math.max(1, root.clientWidth) / view.scale;
    this.layer.querySelectorAll('circle').forEach((circle) => circle.setAttribute('r', radius));
  }

  // Until there is an answer to a click.
  showRing([x, y]) {
    this.show('ring', 'circle', { cx: x + 0.5, cy: y + 0.5 });
  }

  // For a moment. `cover` has a row, the first column and the one after the last of each run of pixels.
  flash(cover) {
    this.show('flash', 'path', { d: outlineOf(cover) });
    const flash = this.layer.lastElementChild;
    flash.addEventListener('animationend', () => flash.remove());
  }

  showRegion({ x, y, width, height }) {
    this.show('region', 'rect', { x, y, width, height });
  }

  // White on black is seen on everything.
  show(kind, name, attributes) {
    this.remove(kind);
    const group = shape('g', { class: kind });
    group.append(shape(name, { ...attributes, class: 'under' }), shape(name, { ...attributes, class: 'over' }));
    this.layer.append(group);
    this.place();
  }

  remove(kind) {
    this.layer.querySelector(`.${kind}`)?.remove();
  }
}

function shape(name, attributes) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

function outlineOf(cover) {
  const rows = rowsOf(cover);
  const sides = [...rows].flatMap(([y, ends]) => ends.map((x) => `M${x} ${y}v1`));
  const heights = new Set([...rows.keys()].flatMap((y) => [y, y + 1]));
  return [...sides, ...[...heights].flatMap((y) => borders(y, rows.get(y - 1), rows.get(y)))].join('');
}

// The columns at which runs begin and end, by row.
function rowsOf(cover) {
  const rows = new Map();
  for (let i = 0; i < cover.length; i += 3) {
    const [y, from, to] = cover.slice(i, i + 3);
    if (rows.has(y)) rows.get(y).push(from, to);
    else rows.set(y, [from, to]);
  }
  return rows;
}

// Between two rows, where only one of them is covered: from every other end of their runs to the next.
function borders(y, above = [], below = []) {
  const ends = [...above, ...below].sort((a, b) => a - b);
  const lines = [];
  for (let i = 0; i < ends.length; i += 2) {
    if (ends[i] < ends[i + 1]) lines.push(`M${ends[i]} ${y}H${ends[i + 1]}`);
  }
  return lines;
}
