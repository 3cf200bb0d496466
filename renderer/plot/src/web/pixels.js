'use strict';

// Pixels out of the text they are stored as: the inverse of pixels.rs.

// Pixels stand at the end of the page.
const parsed = new Promise((resolve) => {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', resolve);
  else resolve();
});

// The planes of one image or map.
async function decodePart(text, { bits, channels }, width, height) {
  const codes = joinBytes(await inflate(fromBase64(text)));
  const plane = (c) => codes.subarray(c * width * height, (c + 1) * width * height);
  if (channels === 1) return [toFloats(plane(0), bits)];
  const [green, red, blue] = [0, 1, 2].map((c) => addPrediction(plane(c), width));
  // Red and blue are relative to green.
  for (let i = 0; i < green.length; i++) { red[i] += green[i]; blue[i] += green[i]; }
  return [red, green, blue].map((codes) => toFloats(codes, bits));
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Integers of three bytes, of which all the lowest come first.
function joinBytes(bytes) {
  const n = bytes.length / 3;
  const values = new Int32Array(n);
  for (let i = 0; i < n; i++) values[i] = bytes[i] | (bytes[i + n] << 8) | (bytes[i + 2 * n] << 16);
  return values;
}

// A plane out of what could not be predicted of it: the mean of left and above could.
function addPrediction(plane, width) {
  const residual = (i) => (plane[i] >>> 1) ^ -(plane[i] & 1);
  for (let i = 0; i < plane.length; i += width) {
    plane[i] = residual(i) + (i ? plane[i - width] : 0);
    for (let k = i + 1; k < i + width; k++) {
      plane[k] = residual(k) + (i ? (plane[k - 1] + plane[k - width]) >> 1 : plane[k - 1]);
    }
  }
  return plane;
}

// Floats out of their sign, exponent and upper `bits` of significand.
function toFloats(codes, bits) {
  const shifted = new Int32Array(codes.length);
  for (let i = 0; i < codes.length; i++) shifted[i] = codes[i] << (23 - bits);
  return new Float32Array(shifted.buffer);
}
