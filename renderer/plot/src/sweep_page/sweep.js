
// The variants, and what is shown of them.

const sweep = JSON.parse(document.getElementById('data').textContent);
const { axes, variants, columns } = sweep;
const counts = axes.map((axis) => axis.labels.length);

// The number of the variant in which each axis has one of its values: the first axis changes fastest.
function variantAt(at) {
  return counts.reduceRight((variant, count, axis) => variant * count + at[axis], 0);
}

function placeOf(variant) {
  return counts.map((count) => {
    const i = variant % count;
    variant = (variant - i) / count;
    return i;
  });
}

function isThere(variant) {
  return variants[variant].thumbnail !== null;
}

// Which of some values in a row are named where there is room for every `step`th: the ends, and what is not too near to
// the last.
function isNamed(i, count, step) {
  return i === 0 || i === count - 1 || (i % step === 0 && count - 1 - i >= step);
}

// What a variant is called; a sweep of nothing has one without a name.
function nameOf(variant) {
  return variants[variant].name || 'the scene';
}

// The middle of the sweep, or what there is.
function firstShown() {
  const middle = counts.map((count) => Math.floor(count / 2));
  if (isThere(variantAt(middle))) return middle;
  return placeOf(Math.max(0, variants.findIndex((_, i) => isThere(i))));
}

// `at` is a value of each axis; `baseline` too, where null is the value that `at` has. Differences have their last
// colour at 2 to the power `range`; null until there are any.
const state = {
  at: firstShown(),
  baseline: [...sweep.baseline],
  view: 'side',
  exposure: sweep.exposure,
  tonemap: sweep.tonemap,
  range: null,
  statistic: 0,
};

const watchers = [];

// Changes what is shown; everything that shows it follows.
function change(values) {
  Object.assign(state, values);
  watchers.forEach((watcher) => watcher());
}

function moveTo(axis, i) {
  change({ at: state.at.with(axis, Math.max(0, Math.min(counts[axis] - 1, i))) });
}

function chosen() {
  return variantAt(state.at);
}

// What the variant at some place is compared with.
function baselineOf(at) {
  return variantAt(state.baseline.map((i, axis) => i ?? at[axis]));
}
