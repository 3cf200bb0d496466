
// One of the statistics over the first parameter, a line for each value of the second.

const SVG = 'http://www.w3.org/2000/svg';
const MOST_COLORS = 6;

function drawn(name, attributes = {}, text = '') {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.textContent = text;
  return made;
}

// Where the values of an axis are, from 0 to 1: as numbers, by their logarithms if they rise by equal factors, or else
// at equal distances.
function positions(labels) {
  const numbers = labels.map((label) => (label.trim() ? Number(label.replace('−', '-')) : NaN));
  const equal = labels.map((_, i) => (labels.length > 1 ? i / (labels.length - 1) : 0.5));
  const isRising = numbers.every((x, i) => Number.isFinite(x) && (i === 0 || x > numbers[i - 1]));
  if (!isRising || labels.length < 3) return equal;
  const factors = numbers.slice(1).map((x, i) => x / numbers[i]);
  const isLog = numbers[0] > 0 && Math.max(...factors) < 1.05 * Math.min(...factors) && numbers.at(-1) > 4 * numbers[0];
  const [from, to] = [numbers[0], numbers.at(-1)];
  return isLog ? equal : numbers.map((x) => (x - from) / (to - from));
}

// Round numbers that cut a range into about four.
function roundSteps(low, high) {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
}

class Chart {
  constructor(root, legend, select) {
    Object.assign(this, { root, legend, select });
    select.append(...columns.map((name, i) => element('option', { value: i }, name)));
    select.addEventListener('change', () => change({ statistic: Number(select.value) }));
    root.addEventListener('click', (event) => this.onClick(event));
    this.observer = new ResizeObserver(() => this.show());
    this.observer.observe(root);
  }

  // The number of a variant, or null.
  value(variant) {
    return variants[variant].statistics[state.statistic] ?? null;
  }

  // Lowest and highest of all variants, so that the scale stays as it is while others are chosen.
  extent() {
    const values = variants.map((_, i) => this.value(i)).filter((x) => x !== null);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (values.length === 0) return [0, 1];
    const margin = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    return [low - margin, high + margin];
  }

  show() {
    this.select.value = state.statistic;
    this.width = Math.max(220, this.root.clientWidth);
    this.height = 210;
    const [low, high] = this.extent();
    const steps = roundSteps(low, high);
    // As many digits as tell the steps apart.
    const most = Math.max(...steps.map(Math.abs));
    const places = Math.max(2, Math.ceil(Math.log10(most / (steps[1] - steps[0]) || 1) + 1e-9) + 1);
    const texts = steps.map((y) => (y === 0 ? '0' : trimmed(digits(y, Math.min(8, places)))));
    const left = 12 + 6.6 * Math.max(...texts.map((text) => text.length));
    this.frame = { left, right: this.width - 12, top: 10, bottom: this.height - 26 };
    this.scale = { low, high };
    const label = `${columns[state.statistic]} over ${axes[0]?.name ?? 'the scene'}`;
    this.svg = drawn('svg', { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height, role: 'img', 'aria-label': label });
    steps.forEach((y, i) => this.drawStep(this.y(y), texts[i]));
    this.drawValues();
    this.drawLines();
    this.root.replaceChildren(this.svg);
  }

  x(i) {
    const { left, right } = this.frame;
    this.at ??= positions(axes[0]?.labels ?? ['']);
    return left + 6 + this.at[i] * (right - left - 12);
  }

  y(value) {
    const { top, bottom } = this.frame;
    return bottom - (value - this.scale.low) / (this.scale.high - this.scale.low) * (bottom - top);
  }

  drawStep(y, text) {
    const { left, right } = this.frame;
    this.svg.append(drawn('line', { class: 'step', x1: left, x2: right, y1: y, y2: y }));
    this.svg.append(drawn('text', { x: left - 6, y: y + 4, 'text-anchor': 'end' }, text));
  }

  // Names of values along the bottom, where there is room.
  drawValues() {
    const labels = axes[0]?.labels ?? [];
    const { bottom, left, right } = this.frame;
    const width = Math.max(...labels.map((label) => 6.6 * label.length)) + 10;
    const step = Math.ceil(width * Math.max(1, labels.length - 1) / (right - left - 12));
    let free = 0;
    labels.forEach((label, i) => {
      const half = 3.3 * label.length;
      const x = Math.max(left - 6 + half, Math.min(right + 8 - half, this.x(i)));
      this.svg.append(drawn('line', { class: 'tick', x1: this.x(i), x2: this.x(i), y1: bottom, y2: bottom + 4 }));
      // Values that are no even steps apart may be nearer.
      if (!isNamed(i, labels.length, step) || x - half < free) return;
      free = x + half + 8;
      this.svg.append(drawn('text', { x, y: bottom + 18, 'text-anchor': 'middle' }, label));
    });
  }

  // The variants that are shown, by line: each is a value of the second axis.
  lines() {
    const [length, others] = [counts[0] ?? 1, state.at.slice(2)];
    return Array.from({ length: counts[1] ?? 1 }, (_, row) => {
      return Array.from({ length }, (_, i) => variantAt([i, row, ...others].slice(0, counts.length)));
    });
  }

  color(row) {
    const isOne = (counts[1] ?? 1) > MOST_COLORS;
    if (isOne) return row === state.at[1] ? 'var(--accent)' : 'var(--faint)';
    return `var(--series-${row})`;
  }

  drawLines() {
    const lines = this.lines();
    const order = lines.map((_, row) => row).filter((row) => row !== (state.at[1] ?? 0));
    this.points = [];
    // What is chosen is on top.
    [...order, state.at[1] ?? 0].forEach((row) => this.drawLine(lines[row], row));
    this.drawMark(baselineOf(state.at), 'baseline');
    this.drawMark(chosen(), 'current');
    this.showLegend(lines);
  }

  drawLine(line, row) {
    const isChosen = row === (state.at[1] ?? 0);
    const values = line.map((variant) => this.value(variant));
    // A line ends where a value is missing.
    const path = values.map((value, i) => value === null ? '' : `${values[i - 1] == null ? 'M' : 'L'}${this.x(i)} ${this.y(value)}`).join('');
    const style = `stroke: ${this.color(row)}; fill: ${this.color(row)}`;
    this.svg.append(drawn('path', { class: isChosen ? 'line chosen' : 'line', d: path, style }));
    values.forEach((value, i) => {
      if (value === null) return;
      const point = drawn('circle', { class: 'point', cx: this.x(i), cy: this.y(value), r: isChosen ? 3 : 2, style });
      point.append(drawn('title', {}, `${nameOf(line[i])}: ${digits(value)}`));
      this.svg.append(point);
      this.points.push({ variant: line[i], x: this.x(i), y: this.y(value) });
    });
  }

  drawMark(variant, name) {
    const point = this.points.find((p) => p.variant === variant);
    if (point) this.svg.append(drawn('circle', { class: `mark ${name}`, cx: point.x, cy: point.y, r: 6 }));
  }

  showLegend(lines) {
    this.legend.replaceChildren();
    if (lines.length < 2) return;
    const { name, labels } = axes[1];
    const isOne = lines.length > MOST_COLORS;
    this.legend.append(element('span', {}, `${name}:`));
    labels.forEach((label, row) => {
      if (isOne && row !== state.at[1]) return;
      const line = element('span', { class: 'key' });
      line.style.background = this.color(row);
      const entry = element('span', { class: row === state.at[1] ? 'entry chosen' : 'entry' }, line, label);
      this.legend.append(entry);
    });
  }

  // Chooses the nearest point.
  onClick(event) {
    const box = this.svg.getBoundingClientRect();
    const distance = ({ x, y }) => Math.hypot(x - (event.clientX - box.left), y - (event.clientY - box.top));
    const nearest = this.points.reduce((a, b) => (a && distance(a) <= distance(b) ? a : b), null);
    if (!nearest || distance(nearest) > 60) return;
    stopPlaying();
    change({ at: placeOf(nearest.variant) });
  }
}

// Without zeros that say nothing.
function trimmed(text) {
  return text.includes('e') ? text.replace(/\.?0+e/, 'e') : text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}
