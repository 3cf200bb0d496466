// What is known of the pixel under the pointer.

import { luminance } from './color.js';
import { byId, element } from './dom.js';
import { counted, digits } from './numbers.js';

// How long the pointer rests before the server is asked, and how often at most it is asked again, in ms.
const REST = 80;
const AGAIN = 500;

export class Pixel {
  constructor(send) {
    this.send = send;
    this.asked = -Infinity;
    this.clear();
  }

  // `at` is a pixel, or null.
  point(at) {
    if (at?.join() === this.at?.join()) return;
    this.at = at;
    clearTimeout(this.timer);
    if (at) this.timer = setTimeout(() => this.ask(), REST);
    else this.clear();
  }

  ask() {
    if (!this.at) return;
    this.asked = performance.now();
    this.send('probe', { x: this.at[0], y: this.at[1] });
  }

  // There are more samples.
  refresh() {
    if (performance.now() - this.asked >= AGAIN) this.ask();
  }

  take(probe) {
    if (probe.x !== this.at?.[0] || probe.y !== this.at?.[1]) return;
    byId('pixel').replaceChildren(
      part('place', `${probe.x}, ${probe.y}`),
      ...['R', 'G', 'B'].map((name, c) => channel(name, probe.radiance[c], probe.stderr?.[c])),
      channel('Y', luminance(...probe.radiance)),
      part('', counted(probe.samples, 'sample')),
      ...surface(probe).map((text) => part('', text)),
    );
  }

  clear() {
    const text = 'Rest the pointer on the picture for the values of a pixel.';
    byId('pixel').replaceChildren(element('span', { class: 'note' }, text));
  }
}

function surface({ shape, material, depth, normal, uv }) {
  if (!shape && !Number.isFinite(depth)) return [];
  const texts = [[shape, material].filter(Boolean).join(' · ')];
  if (Number.isFinite(depth)) texts.push(`${digits(depth)} m`);
  if (normal) texts.push(`n ${normal.map((x) => digits(x, 2)).join(' ')}`);
  if (uv) texts.push(`uv ${uv.map((x) => digits(x, 3)).join(' ')}`);
  return texts.filter(Boolean);
}

function channel(name, value, error) {
  const made = part('channel', digits(value));
  made.dataset.channel = name;
  made.prepend(element('b', {}, name), ' ');
  if (Number.isFinite(error)) made.append(element('span', { class: 'error' }, ` ± ${digits(error, 2)}`));
  return made;
}

function part(name, text) {
  return element('span', { class: name }, text);
}
