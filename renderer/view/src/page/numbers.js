// Numbers to read and to write.

export function clamp(x, low, high) {
  return Math.max(low, Math.min(high, x));
}

// Without digits that single precision does not have.
export function rounded(x, digits = 7) {
  return Number(x.toPrecision(digits));
}

// A number in a field, which has room for so many digits.
export function written(x) {
  return String(Number.isInteger(x) ? x : rounded(x, 5));
}

// A number to be read, with `n` digits.
export function digits(x, n = 4) {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–';
  const tiny = x !== 0 && Math.abs(x) < 1e-4;
  return (tiny || Math.abs(x) >= 1e6 ? x.toExponential(n - 2) : x.toPrecision(n)).replaceAll('-', '−');
}

export function signed(x, places) {
  return `${x > 0 ? '+' : ''}${x.toFixed(places)}`.replace('-', '−');
}

export function counted(n, noun) {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
}

// A value of a parameter in one line, as text.
export function described(value) {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'number') return String(rounded(value));
  if (Array.isArray(value)) return `[${value.map(described).join(', ')}]`;
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

export function isSame(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b));
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => isSame(x, b[i]));
  return JSON.stringify(a) === JSON.stringify(b);
}
