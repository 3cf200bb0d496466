// Paths of parameters: `shapes."tall box".emission`.

const SEGMENT = /"(?:[^"\\]|\\.)*"|[^.]+/g;

// The parts of a path as they are written.
export function segments(path) {
  return path.match(SEGMENT) ?? [];
}

// A part as it is read.
function unquoted(segment) {
  if (!segment.startsWith('"')) return segment;
  try {
    return JSON.parse(segment);
  } catch {
    return segment.slice(1, -1);
  }
}

// Parts of a path as a label. What stands before the last may be a name, which stays as it is.
export function labelOf(parts) {
  const names = parts.map(unquoted);
  return [...names.slice(0, -1), names.at(-1)?.replaceAll('_', ' ')].join(' › ');
}

export function nameOf(parts) {
  return parts.map(unquoted).join(' › ');
}

export function isWithin(path, root) {
  return path === root || path.startsWith(`${root}.`);
}
