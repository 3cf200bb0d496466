// Frames of pictures as they arrive.

import { luminance } from './color.js';

const HEADER = 8;
const RGB9E5 = 0;
const JPEG = 1;
const SNAPSHOT = 0xffffffff;

// Layers whose values are not made for display.
const RADIANCE = ['radiance', 'emission', 'direct', 'indirect'];

// Pixels by which a picture is metered, at most.
const METERED = 200000;

export async function readFrame(buffer, layers) {
  const header = new Uint32Array(buffer, 0, HEADER);
  const [, encoding, number, revision, width, height, spp, layer] = header;
  const isSnapshot = layer === SNAPSHOT;
  const kind = isSnapshot ? 'radiance' : kindOf(layers[layer]);
  return { number, revision, width, height, spp, isSnapshot, kind, ...await readPixels(encoding, buffer) };
}

// The number of a frame that could not be read, too.
export function frameNumber(buffer) {
  return new Uint32Array(buffer, 0, HEADER)[2];
}

function kindOf(layer) {
  if (layer === 'noise') return 'noise';
  return RADIANCE.includes(layer) ? 'radiance' : 'display';
}

async function readPixels(encoding, buffer) {
  const start = HEADER * Uint32Array.BYTES_PER_ELEMENT;
  if (encoding === RGB9E5) return { shared: new Uint32Array(buffer, start) };
  if (encoding !== JPEG) throw new Error(`the picture has an unknown encoding, ${encoding}`);
  const file = new Blob([new Uint8Array(buffer, start)], { type: 'image/jpeg' });
  return { bitmap: await createImageBitmap(file, { colorSpaceConversion: 'none' }) };
}

// Luminance of some pixels of a frame.
export function someLuminances(frame) {
  const count = frame.width * frame.height;
  const step = Math.max(1, Math.floor(count / METERED));
  const at = frame.shared ? sharedReader(frame.shared) : bitmapReader(frame);
  return Float32Array.from({ length: Math.floor(count / step) }, (_, i) => at(i * step));
}

// Three significands of 9 bits have one exponent.
function sharedReader(shared) {
  return (i) => {
    const word = shared[i];
    return luminance(word & 511, (word >>> 9) & 511, (word >>> 18) & 511) * 2 ** ((word >>> 27) - 24);
  };
}

function bitmapReader({ bitmap, width, height }) {
  const context = new OffscreenCanvas(width, height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const radiance = (byte) => (byte ? 2 ** (byte / 255 * 20 - 12) : 0);
  return (i) => luminance(radiance(data[4 * i]), radiance(data[4 * i + 1]), radiance(data[4 * i + 2]));
}
