
// From numbers to colours.

const NOT_FINITE = [255, 0, 255];

// The z that has the last colour.
const Z_RANGE = 6;

// 8-bit sRGB (IEC 61966-2-1) of linear values in [0, 1], by 16-bit steps.
const SRGB = Uint8Array.from({ length: 65536 }, (_, i) => {
  const x = i / 65535;
  return Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
});

// 256 colours of each map, between the stops that the page has.
const COLORS = Object.fromEntries(
  Object.entries(JSON.parse(document.getElementById('colors').textContent))
    .map(([name, stops]) => [name, Array.from({ length: 256 }, (_, i) => between(stops, i / 255))]),
);

function between(stops, t) {
  const at = t * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return stops[i].map((from, c) => Math.round(from + (at - i) * (stops[i + 1][c] - from)));
}

// A canvas of the image's own size, with the colour that `color(i, to)` returns for every pixel; it may write into
// `to` and return that.
function paint({ width, height }, color) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const image = context.createImageData(width, height);
  const { data } = image;
  const own = [0, 0, 0];
  for (let i = 0, at = 0; i < width * height; i++, at += 4) {
    const rgb = color(i, own);
    data[at] = rgb[0];
    data[at + 1] = rgb[1];
    data[at + 2] = rgb[2];
    data[at + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// How exposed radiance is brought into [0, 1], in place; what is above is clipped afterwards. As in tone.rs.
const TONEMAPS = { clip: null, reinhard, aces, agx, neutral };

// Reinhard, Stark, Shirley and Ferwerda 2002, eq. 4, on luminance, white at 4.
function reinhard(rgb) {
  const l = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  const scale = (1 + l / 16) / (1 + l);
  for (let c = 0; c < 3; c++) rgb[c] *= scale;
}

// Hill's fit of the ACES reference rendering transform and the sRGB output transform.
function aces(rgb) {
  const curve = (x) => (x * (x + 0.0245786) - 0.000090537) / (x * (0.983729 * x + 0.4329510) + 0.238081);
  const [r, g, b] = rgb;
  const x = curve(0.59719 * r + 0.35458 * g + 0.04823 * b);
  const y = curve(0.07600 * r + 0.90834 * g + 0.01566 * b);
  const z = curve(0.02840 * r + 0.13383 * g + 0.83777 * b);
  rgb[0] = 1.60475 * x - 0.53108 * y - 0.07367 * z;
  rgb[1] = -0.10208 * x + 1.10813 * y - 0.00605 * z;
  rgb[2] = -0.00327 * x - 0.07276 * y + 1.07602 * z;
}

// AgX: middle grey is 10 of 16.5 stops from black, where the slope is 2; then a display of gamma 2.2.
function agx(rgb) {
  const [r, g, b] = rgb;
  const code = (light) => agxSigmoid(Math.max(0, Math.min(1, (Math.log2(light / 0.18) + 10) / 16.5)));
  const x = code(0.842479062253094 * r + 0.0784335999999992 * g + 0.0792237451477643 * b);
  const y = code(0.0423282422610123 * r + 0.878468636469772 * g + 0.0791661274605434 * b);
  const z = code(0.0423756549057051 * r + 0.0784336 * g + 0.879142973793104 * b);
  rgb[0] = Math.max(0, 1.19687900512017 * x - 0.0980208811401368 * y - 0.0990297440797205 * z) ** 2.2;
  rgb[1] = Math.max(0, -0.0528968517574562 * x + 1.15190312990417 * y - 0.0989611768448433 * z) ** 2.2;
  rgb[2] = Math.max(0, -0.0529716355144438 * x - 0.0980434501171241 * y + 1.15107367264116 * z) ** 2.2;
}

function agxSigmoid(x) {
  const arc = (t, width, p) => {
    const scale = 2 * width / ((4 * width) ** p - 1) ** (1 / p);
    const at = 2 * t / scale;
    return scale * at / (1 + at ** p) ** (1 / p);
  };
  const grey = 10 / 16.5;
  return x < grey ? 0.5 - arc(grey - x, grey, 3) : 0.5 + arc(x - grey, 1 - grey, 3.25);
}

// Khronos PBR Neutral.
function neutral(rgb) {
  const least = Math.min(...rgb);
  const offset = least < 0.08 ? least - 6.25 * least * least : 0.04;
  for (let c = 0; c < 3; c++) rgb[c] -= offset;
  const peak = Math.max(...rgb);
  if (peak < 0.76) return;
  const compressed = 1 - 0.24 ** 2 / (peak - 0.52);
  const white = 1 - 1 / (0.15 * (peak - compressed) + 1);
  for (let c = 0; c < 3; c++) {
    const x = rgb[c] * compressed / peak;
    rgb[c] = x + white * (compressed - x);
  }
}

function multiply(matrix, rgb) {
  const [r, g, b] = rgb;
  for (let c = 0; c < 3; c++) rgb[c] = Math.max(0, matrix[c][0] * r + matrix[c][1] * g + matrix[c][2] * b);
}

// Radiance as a display shows it: exposed by some stops, white balanced, tone mapped, clipped, in sRGB.
function paintRadiance(size, [red, green, blue], stops, tonemap = 'clip', whiteBalance = null) {
  const gain = 2 ** stops;
  const map = TONEMAPS[tonemap];
  return paint(size, (i, to) => {
    const [r, g, b] = [red[i], green[i], blue[i]];
    if (!Number.isFinite(r) || !Number.isFinite(g) || !Number.isFinite(b)) return NOT_FINITE;
    to[0] = Math.max(0, r * gain);
    to[1] = Math.max(0, g * gain);
    to[2] = Math.max(0, b * gain);
    if (whiteBalance) multiply(whiteBalance, to);
    if (map) map(to);
    for (let c = 0; c < 3; c++) to[c] = SRGB[Math.round(65535 * Math.max(0, Math.min(1, to[c])))];
    return to;
  });
}

// Numbers from −range to range, or from 0 to range if the map is for those.
function paintMap(size, values, map, range) {
  const colors = COLORS[map];
  const [offset, scale] = map === 'signed' ? [127.5, 127.5 / range] : [0, 255 / range];
  return paint(size, (i) => {
    const x = values[i];
    // An infinite z is as clear as can be, and is shown so; what is no number is not.
    return Number.isNaN(x) ? NOT_FINITE : colors[Math.max(0, Math.min(255, Math.round(offset + scale * x)))];
  });
}

// The signed difference of the channel in which it is largest; NaN where one is not finite.
function largestDifference(reference, result) {
  return reference[0].map((_, i) => {
    let largest = 0;
    for (let c = 0; c < 3; c++) {
      const d = result[c][i] - reference[c][i];
      if (!Number.isFinite(d)) return NaN;
      if (Math.abs(d) > Math.abs(largest)) largest = d;
    }
    return largest;
  });
}

// What a part of the finite magnitudes among some ten thousand of the values are below.
function quantile(values, part) {
  const step = Math.max(1, Math.floor(values.length / 10007));
  const some = values.filter((x, i) => i % step === 0 && Number.isFinite(x)).map(Math.abs).sort();
  return some.length ? some[Math.min(some.length - 1, Math.floor(part * some.length))] : 0;
}

// Whole stops that bring the bright parts of an image to a display's range, or 0 if they are there.
function fittingExposure(planes) {
  const bright = Math.max(...planes.map((plane) => quantile(plane, 0.95)));
  return bright === 0 || (bright >= 0.25 && bright <= 2) ? 0 : Math.max(-12, Math.min(12, -Math.round(Math.log2(bright))));
}

function countNotFinite(planes) {
  let n = 0;
  for (let i = 0; i < planes[0].length; i++) if (!planes.every((p) => Number.isFinite(p[i]))) n++;
  return n;
}

// A number to read, with `n` digits.
function digits(x, n = 5) {
  if (x === undefined) return '–';
  if (!Number.isFinite(x)) return String(x).replace('Infinity', '∞');
  const tiny = x !== 0 && Math.abs(x) < 1e-4;
  return (tiny || Math.abs(x) >= 1e6 ? x.toExponential(n - 2) : x.toPrecision(n)).replaceAll('-', '−');
}
