
// What is shown, in the part of the address after #: it can be kept, sent and gone back to.

const VIEWS = {
  variant: ['result'],
  side: ['reference', 'result'],
  wipe: ['wipe'],
  difference: ['difference'],
  all: ['reference', 'result', 'difference'],
};

function toAddress() {
  const { at, baseline, view, exposure, tonemap, range, statistic } = state;
  const pairs = {
    at: at.join(','), baseline: baseline.map((i) => i ?? '*').join(','), view, exposure, tonemap, range: range ?? '',
    statistic,
  };
  return `#${Object.entries(pairs).map((pair) => pair.join('=')).join('&')}`;
}

// What an address says; what makes no sense is left out.
function fromAddress(address) {
  const pairs = new Map(address.replace(/^#/, '').split('&').map((pair) => pair.split('=')));
  const values = {};
  const keep = (name, value, isValid) => { if (isValid) values[name] = value; };
  const places = (text) => (text ? text.split(',') : []).map((i) => (i === '*' ? null : Number(i)));
  const isPlace = (i, axis) => Number.isInteger(i) && i >= 0 && i < counts[axis];
  const at = places(pairs.get('at'));
  keep('at', at, at.length === counts.length && at.every(isPlace));
  const baseline = places(pairs.get('baseline'));
  keep('baseline', baseline, baseline.length === counts.length && baseline.every((i, axis) => i === null || isPlace(i, axis)));
  keep('view', pairs.get('view'), Object.hasOwn(VIEWS, pairs.get('view') ?? ''));
  keep('tonemap', pairs.get('tonemap'), Object.hasOwn(TONEMAPS, pairs.get('tonemap') ?? ''));
  const number = (name, low, high) => {
    const x = pairs.get(name) ? Number(pairs.get(name)) : NaN;
    keep(name, x, x >= low && x <= high);
  };
  number('exposure', -12, 12);
  number('range', -16, 8);
  const statistic = Number(pairs.get('statistic'));
  keep('statistic', statistic, Number.isInteger(statistic) && statistic >= 0 && statistic < columns.length);
  return values;
}

// Browsers refuse an address that changes too often.
let addressTimer = null;
watchers.push(() => {
  addressTimer ??= setTimeout(() => {
    addressTimer = null;
    if (location.hash !== toAddress()) history.replaceState(null, '', toAddress());
  }, 300);
});

addEventListener('hashchange', () => change(fromAddress(location.hash)));
