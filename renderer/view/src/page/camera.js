// The camera's movements, as values of its parameters.

import { clamp, rounded } from './numbers.js';
import { isWithin } from './path.js';
import { add, cross, dot, length, normalize, perpendicular, scale, subtract } from './vector.js';

// How near the camera comes to looking along `up`, in radians.
const POLE = 0.01;

// Radius of a lens that there was not, as a part of its distance of focus.
const NEW_LENS = 0.01;

export class Camera {
  constructor(scene) {
    this.scene = scene;
  }

  get(name, otherwise) {
    return this.scene.value(`camera.${name}`, otherwise);
  }

  get isThere() {
    return Array.isArray(this.get('position')) && Array.isArray(this.get('target'));
  }

  get type() {
    return this.get('type', 'perspective');
  }

  get hasLens() {
    return this.scene.hasWithin('camera.lens');
  }

  get distance() {
    return length(subtract(this.get('target'), this.get('position')));
  }

  // From the target to the camera, or the other way round where all directions are seen: then the camera turns on the
  // spot. By parts of the height of the picture.
  turned(dx, dy) {
    const [position, target] = [this.get('position'), this.get('target')];
    const side = this.get('mirrored', false) ? -1 : 1;
    if (this.type === 'equirectangular') {
      const direction = subtract(target, position);
      return [at('target', add(position, this.rotated(direction, Math.PI * side * dx, -Math.PI * dy)))];
    }
    const offset = subtract(position, target);
    return [at('position', add(target, this.rotated(offset, -Math.PI * side * dx, -Math.PI * dy)))];
  }

  // About `up` by one angle, away from it by the other.
  rotated(offset, azimuth, inclination) {
    const up = normalize(this.get('up', [0, 1, 0]));
    const radius = length(offset);
    const before = Math.acos(clamp(dot(offset, up) / radius, -1, 1));
    const after = clamp(before + inclination, POLE, Math.PI - POLE);
    const level = subtract(offset, scale(up, dot(offset, up)));
    const heading = length(level) > 1e-6 * radius ? normalize(level) : perpendicular(up);
    const turned = add(scale(heading, Math.cos(azimuth)), scale(cross(up, heading), Math.sin(azimuth)));
    return scale(add(scale(turned, Math.sin(after)), scale(up, Math.cos(after))), radius);
  }

  // What is at the distance of the target follows the pointer.
  moved(dx, dy) {
    const [position, target] = [this.get('position'), this.get('target')];
    const forward = normalize(subtract(target, position));
    const right = normalize(cross(forward, normalize(this.get('up', [0, 1, 0]))));
    const up = cross(right, forward);
    const side = this.get('mirrored', false) ? -1 : 1;
    const height = this.height();
    const by = add(scale(right, -dx * height * side), scale(up, dy * height));
    return [at('position', add(position, by)), at('target', add(target, by))];
  }

  // Nearer to the target, or farther from it, by a factor.
  dollied(factor) {
    if (this.type === 'orthographic') return [['camera.size', rounded(this.get('size', 1) * factor)]];
    const [position, target] = [this.get('position'), this.get('target')];
    return [at('position', add(target, scale(subtract(position, target), factor)))];
  }

  // Of the image, in the scene at the distance of the target.
  height() {
    if (this.type === 'orthographic') return this.extent(this.get('size', 1), this.get('size_axis', 'y'));
    if (this.type === 'equirectangular') return this.distance;
    const whole = 2 * Math.tan(this.get('fov', 45) * Math.PI / 360) * this.distance;
    return this.extent(whole, this.get('fov_axis', 'y'));
  }

  // The height of an image of which an extent along an axis is known.
  extent(whole, axis) {
    const aspect = this.scene.size[0] / this.scene.size[1];
    const smaller = aspect > 1 ? 'y' : 'x';
    const along = { smaller, larger: smaller === 'x' ? 'y' : 'x' }[axis] ?? axis;
    return whole / { x: aspect, y: 1, diagonal: Math.hypot(aspect, 1) }[along];
  }

  focused(distance) {
    if (this.hasLens) return [['camera.lens.focus_distance', rounded(distance, 5)]];
    return [['camera.lens', { radius: rounded(NEW_LENS * distance, 3), focus_distance: rounded(distance, 5) }]];
  }

  // The changes that lead back to the file. What the file does not say cannot be set to that.
  original() {
    const own = this.scene.changes.filter(({ path, before }) => isWithin(path, 'camera') && before !== null);
    return own.map(({ path, before }) => [path, before]);
  }
}

function at(name, vector) {
  return [`camera.${name}`, vector.map((x) => rounded(x))];
}
