
// A slider for every parameter, with the value that the baseline has.

class Slider {
  constructor(axis) {
    this.axis = axis;
    const { name, labels } = axes[axis];
    const id = `axis-${axis}`;
    this.value = element('output', { for: id, class: 'value' });
    const head = element('div', { class: 'row' }, element('label', { for: id }, name || 'parameter'), this.value);
    this.root = element('div', { class: 'axis' }, head);
    if (labels.length < 2) {
      this.value.textContent = labels[0];
      return;
    }
    this.addInput(id);
    this.ticks = element('div', { class: 'ticks', 'aria-hidden': 'true' });
    this.root.append(element('div', { class: 'range' }, this.play, this.input), this.ticks);
    this.addBaseline();
    new ResizeObserver(() => this.layTicks()).observe(this.root);
    this.show();
  }

  addInput(id) {
    const { name, labels } = axes[this.axis];
    this.input = element('input', { type: 'range', id, min: 0, max: labels.length - 1, step: 1 });
    this.input.addEventListener('input', () => {
      stopPlaying();
      moveTo(this.axis, Number(this.input.value));
    });
    this.play = element('button', { type: 'button', class: 'play', 'aria-label': `Play ${name}`, 'aria-pressed': 'false' }, '▶');
    this.play.addEventListener('click', () => (player.axis === this.axis ? stopPlaying() : startPlaying(this.axis)));
  }

  addBaseline() {
    const { name, labels } = axes[this.axis];
    this.baseline = element('select', { 'aria-label': `Baseline of ${name}` });
    if (counts.length > 1) this.baseline.append(element('option', { value: '*' }, 'the same'));
    this.baseline.append(...labels.map((label, i) => element('option', { value: i }, label)));
    this.baseline.addEventListener('change', () => {
      const i = this.baseline.value === '*' ? null : Number(this.baseline.value);
      change({ baseline: state.baseline.with(this.axis, i) });
    });
    this.root.append(element('label', { class: 'control baseline' }, element('span', {}, 'Baseline'), this.baseline));
  }

  // Labels below the slider, as many as there is room for.
  layTicks() {
    const { labels } = axes[this.axis];
    const width = this.ticks.clientWidth;
    this.ticks.replaceChildren(...labels.map((label, i) => {
      const tick = element('span', {}, label);
      tick.style.setProperty('--part', i / (labels.length - 1));
      tick.addEventListener('click', () => moveTo(this.axis, i));
      return tick;
    }));
    const widest = Math.max(...[...this.ticks.children].map((tick) => tick.offsetWidth)) + 8;
    const step = Math.max(1, Math.ceil(widest / ((width - 16) / (labels.length - 1))));
    [...this.ticks.children].forEach((tick, i) => tick.classList.toggle('bare', !isNamed(i, labels.length, step)));
    this.show();
  }

  show() {
    if (!this.input) return;
    const i = state.at[this.axis];
    const label = axes[this.axis].labels[i];
    this.input.value = i;
    this.input.setAttribute('aria-valuetext', label);
    this.value.textContent = label;
    this.baseline.value = state.baseline[this.axis] ?? '*';
    const isPlaying = player.axis === this.axis;
    this.play.textContent = isPlaying ? '⏸' : '▶';
    this.play.setAttribute('aria-pressed', isPlaying);
    [...this.ticks.children].forEach((tick, k) => {
      tick.classList.toggle('current', k === i);
      tick.classList.toggle('missing', !isThere(variantAt(state.at.with(this.axis, k))));
    });
  }
}

// What goes on by itself: from value to value of an axis, round and round.
const player = { axis: null, timer: null };

function startPlaying(axis) {
  stopPlaying();
  player.axis = axis;
  scheduleStep();
  change({});
}

function stopPlaying() {
  clearTimeout(player.timer);
  if (player.axis === null) return;
  player.axis = null;
  change({});
}

function scheduleStep() {
  const speed = Number(document.querySelector('#speed select').value);
  player.timer = setTimeout(playStep, 1000 / speed);
}

// Values without images are passed over, and none is left before it was seen.
function playStep() {
  const { axis } = player;
  if (!viewer || viewer.now.result === chosen()) {
    const count = counts[axis];
    const steps = Array.from({ length: count }, (_, k) => (state.at[axis] + 1 + k) % count);
    moveTo(axis, steps.find((i) => isThere(variantAt(state.at.with(axis, i)))) ?? state.at[axis]);
  }
  scheduleStep();
}
