// Vectors of three numbers.

export const add = (a, b) => a.map((x, i) => x + b[i]);
export const subtract = (a, b) => a.map((x, i) => x - b[i]);
export const scale = (a, s) => a.map((x) => x * s);
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a) => Math.hypot(...a);
export const normalize = (a) => scale(a, 1 / length(a));

export function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

// Some direction that is perpendicular to `a`.
export function perpendicular(a) {
  const axis = Math.abs(a[0]) < 0.6 * length(a) ? [1, 0, 0] : [0, 1, 0];
  return normalize(cross(a, axis));
}
