
// The images: the chosen variant and what it is compared with.

// The scale of differences until there are any, as a power of two.
const NO_RANGE = -3;

class SweepViewer extends Views {
  constructor(root, pixels) {
    const [width, height] = pixels.stored;
    super(root, { width, height, reduction: pixels.reduction, parts: {} }, ['wipe', 'reference', 'result', 'difference']);
    // What is seen now: it follows what is chosen as soon as its pixels are decoded.
    this.now = {};
    this.range = 1;
    this.panels.forEach((panel) => {
      panel.notice = element('p', { class: 'notice' });
      panel.frame.append(panel.notice);
    });
    this.cache = new Cache(pixels, () => this.wanted(), () => this.follow());
    this.pixel = { x: Math.floor(width / 2), y: Math.floor(height / 2) };
    this.show('note', note(pixels));
    this.changed();
  }

  divider() {
    return 'Divider: baseline to its left, variant to its right';
  }

  title(kind) {
    if (!this.now?.names) return '';
    const { reference, result } = this.now.names;
    const titles = { reference: `Baseline: ${reference}`, result, wipe: `${reference} | ${result}` };
    return titles[kind] ?? `${result} − baseline`;
  }

  connect() {
    super.connect();
    this.on('click', '[data-do=whole]', () => this.zoomTo(this.images.reduction / (window.devicePixelRatio || 1)));
    this.on('click', '[data-do=fit-range]', () => this.fitRange());
    this.on('input', '[data-set=exposure]', ({ target }) => change({ exposure: Number(target.value) }));
    this.on('input', '[data-set=range]', ({ target }) => change({ range: Number(target.value) }));
    this.on('change', '[data-set=tonemap]', ({ target }) => change({ tonemap: target.value }));
    this.on('change', '.modes', ({ target }) => change({ view: target.value }));
  }

  // What is to be decoded: what is shown, what it is compared with, then its neighbours, the last axis that moved first.
  wanted() {
    const { at } = state;
    const places = [at];
    for (const distance of [1, 2, 3]) {
      for (const axis of this.axesByUse()) {
        for (const i of [at[axis] + distance, at[axis] - distance]) {
          // Playing goes round.
          places.push(at.with(axis, ((i % counts[axis]) + counts[axis]) % counts[axis]));
        }
      }
    }
    return [...new Set(places.flatMap((place) => [variantAt(place), baselineOf(place)]))];
  }

  axesByUse() {
    const all = counts.map((_, axis) => axis).filter((axis) => counts[axis] > 1);
    return all.sort((a, b) => (b === this.lastAxis) - (a === this.lastAxis));
  }

  // Something else is to be shown.
  changed() {
    const moved = state.at.findIndex((i, axis) => i !== this.lastAt?.[axis]);
    if (this.lastAt && moved >= 0) this.lastAxis = moved;
    this.lastAt = state.at;
    this.exposure = state.exposure;
    this.rangeStops = state.range ?? NO_RANGE;
    this.root.querySelector('[data-set=range]').value = this.rangeStops;
    this.root.querySelector('[data-set=exposure]').value = state.exposure;
    this.root.querySelector('[data-set=tonemap]').value = state.tonemap;
    this.root.querySelector(`.modes [value=${state.view}]`).checked = true;
    if (this.root.dataset.view !== state.view) this.arrange();
    this.follow();
    this.cache.fill();
  }

  // Shows the views that are chosen.
  arrange() {
    this.root.dataset.view = state.view;
    this.panels.forEach((panel) => { panel.figure.hidden = !VIEWS[state.view].includes(panel.kind); });
    this.resize();
  }

  // Shows what is chosen if it is decoded; until then what was.
  follow() {
    const pair = { reference: baselineOf(state.at), result: chosen() };
    const isReady = (variant) => !isThere(variant) || this.cache.get(variant);
    const isNew = pair.reference !== this.now.reference || pair.result !== this.now.result;
    if (isNew && !Object.values(pair).every(isReady)) return;
    if (isNew) this.take(pair);
    if (state.range === null) this.fitRange();
    this.repaint(['reference', 'result', 'difference']);
  }

  // Takes a pair of variants as what is shown.
  take(pair) {
    const [reference, result] = [pair.reference, pair.result].map((variant) => this.cache.get(variant));
    this.now = { ...pair, names: { reference: nameOf(pair.reference), result: nameOf(pair.result) } };
    this.images.parts = { reference: reference?.planes, result: result?.planes };
    const isWhole = reference?.planes && result?.planes;
    this.panels.forEach((panel) => {
      panel.setTitle(this.title(panel.kind));
      panel.notice.textContent = this.missing(panel.kind);
    });
    this.show('means', isWhole ? this.means(reference, result) : '');
    this.readOut();
  }

  // Of what is seen now, if both are there; found when it is asked for.
  get difference() {
    const { now, images: { parts } } = this;
    if (!parts.reference || !parts.result) return null;
    now.difference ??= largestDifference(parts.reference, parts.result);
    return now.difference;
  }

  // Why a view is empty, if it is.
  missing(kind) {
    const parts = { reference: ['reference'], result: ['result'] }[kind] ?? ['reference', 'result'];
    const reasons = parts.filter((part) => !this.images.parts[part]).map((part) => {
      const error = this.cache.get(this.now[part])?.error;
      const reason = error ? `cannot be shown: ${error.message}` : 'is missing: it was not rendered';
      return `${this.now.names[part]} ${reason}.`;
    });
    return [...new Set(reasons)].join(' ');
  }

  means(reference, result) {
    if (this.now.reference === this.now.result) return 'The baseline itself.';
    const { mean, magnitude, rms } = meanDifferences(reference.planes, result.planes);
    const part = ` (${signed(100 * mean / reference.mean, 3)} %)`;
    const relative = Number.isFinite(mean / reference.mean) ? part : '';
    return `Mean difference ${signed(mean, 3)}${relative}, mean magnitude ${digits(magnitude, 3)}, RMS ${digits(rms, 3)}`;
  }

  painting(name) {
    if (name !== 'difference') return this.cache.painting(this.now[name]);
    const isSeen = VIEWS[state.view].includes('difference');
    return isSeen && this.difference ? paintMap(this.images, this.difference, 'signed', this.fullRange()) : undefined;
  }

  // The scale of differences to what most of them are below, in half steps: highlights would leave nothing to see.
  fitRange() {
    const most = this.difference ? quantile(this.difference, 0.95) : 0;
    if (most > 0) change({ range: Math.max(-16, Math.min(8, Math.ceil(2 * Math.log2(most)) / 2)) });
  }

  // As large as all of the image can be seen, in whole pixels of the screen where that wastes little.
  fittingZoom() {
    const ratio = window.devicePixelRatio || 1;
    const zoom = super.fittingZoom() * ratio;
    const whole = Math.floor(zoom + 1e-6);
    return (whole >= 1 && whole > 0.8 * zoom ? whole : zoom) / ratio;
  }
}

// How the pixels are not those that were rendered.
function note({ size: [width, height], reduction, isExact }) {
  if (reduction > 1) {
    const what = `means of ${reduction} × ${reduction} pixels${isExact ? '' : ' to two digits'}`;
    return `Reduced ${reduction}×, from ${width} × ${height} pixels, to keep this page small: ${what}.`;
  }
  return isExact ? '' : 'To keep this page small, values have two digits: steps of 1.6 %.';
}

function signed(x, n) {
  return `${x > 0 ? '+' : ''}${digits(x, n)}`;
}
