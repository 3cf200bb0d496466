// Colours: sRGB (IEC 61966-2-1), luminance, and colours of maps.

import { clamp } from './numbers.js';

function encode(x) {
  return x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
}

export function decode(x) {
  return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
}

export function luminance(r, g, b) {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Linear to "#rrggbb".
export function toHex(rgb) {
  const bytes = rgb.map((x) => Math.round(255 * encode(clamp(x, 0, 1))));
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

export function fromHex(hex) {
  return [1, 3, 5].map((at) => decode(parseInt(hex.slice(at, at + 2), 16) / 255));
}

export function isHex(text) {
  return typeof text === 'string' && /^#[0-9a-f]{6}$/i.test(text);
}

// The channels of a map's stops, from 0 to 1.
export function stopsOf(map) {
  return map.map((hex) => [hex >> 16, (hex >> 8) & 255, hex & 255].map((byte) => byte / 255));
}

// The colour of `t` in [0, 1], as CSS.
export function colorAt(map, t) {
  const at = clamp(t, 0, 1) * (map.length - 1);
  const i = Math.min(Math.floor(at), map.length - 2);
  const [from, to] = stopsOf(map.slice(i, i + 2));
  return `rgb(${from.map((x, c) => Math.round(255 * (x + (at - i) * (to[c] - x))))})`;
}
