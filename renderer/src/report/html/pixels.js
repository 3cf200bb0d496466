'use strict';

// Pixels out of the text they are stored as: the inverse of pixels.rs.

// Everything there is of a case: `reference` and `result` as three planes of floats each, and what maps it has.
async function decodeImages(index, info) {
  const [width, height] = info.stored;
  const names = Object.keys(info.parts);
  const planes = await Promise.all(names.map((name) => {
    const text = document.getElementById(`pixels-${index}-${name}`).textContent;
    return decodePart(text, info.parts[name], width, height);
  }));
  const parts = Object.fromEntries(names.map((name, i) => [name, planes[i]]));
  return { ...info, width, height, parts };
}

// The planes of one image or map.
async function decodePart(text, { bits, channels }, width, height) {
  const codes = joinBytes(await inflate(fromBase64(text)));
  const plane = (c) => codes.subarray(c * width * height, (c + 1) * width * height);
  if (channels === 1) return [toFloats(plane(0), bits)];
  const [green, red, blue] = [0, 1, 2].map((c) => addPrediction(plane(c), width));
  // Red and blue are relative to green.
  green.forEach((g, i) => { red[i] += g; blue[i] += g; });
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
  for (let i = 0; i < plane.length; i++) {
    const left = i % width ? plane[i - 1] : null;
    const above = i >= width ? plane[i - width] : null;
    const predicted = left === null ? above ?? 0 : above === null ? left : (left + above) >> 1;
    plane[i] = predicted + ((plane[i] >>> 1) ^ -(plane[i] & 1));
  }
  return plane;
}

// Floats out of their sign, exponent and upper `bits` of significand.
function toFloats(codes, bits) {
  const shifted = codes.map((code) => code << (23 - bits));
  return new Float32Array(shifted.buffer);
}
