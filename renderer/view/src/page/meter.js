// Metering, as in exposure.rs: the exposure at which an image is neither dark nor bright.

const KEY = 0.18;

// Which part of the pixels counts for nothing at either end.
const TRIMMED = 0.1;

// In stops; `null` if all is black.
export function metered(luminances) {
  const stops = luminances.map(Math.log2).filter(Number.isFinite).sort();
  if (stops.length === 0) return null;
  const trimmed = Math.floor(TRIMMED * stops.length);
  const kept = stops.subarray(trimmed, stops.length - trimmed);
  return Math.log2(KEY) - kept.reduce((sum, x) => sum + x, 0) / kept.length;
}
