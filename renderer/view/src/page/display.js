// How the picture is shown: exposure, tone curve, channels, zoom.

import { colorAt } from './color.js';
import { MAGMA, VIRIDIS } from './maps.js';
import { byId, element, setText } from './dom.js';
import { someLuminances } from './frame.js';
import { metered } from './meter.js';
import { clamp, signed } from './numbers.js';

// Stops that a false colour can be, from middle grey.
const STOPS = Array.from({ length: 12 }, (_, i) => i - 6);

const NOISE = ['0.1 %', '1 %', '10 %', '100 %'];

export class Display {
  constructor(changed) {
    this.changed = changed;
    this.kind = 'radiance';
    for (const id of ['exposure', 'tone', 'channel']) byId(id).addEventListener('input', () => this.show());
    byId('exposure').addEventListener('dblclick', () => this.expose(0));
    this.show();
  }

  get exposure() { return Number(byId('exposure').value); }

  get tone() { return byId('tone').value; }

  get channel() { return byId('channel').value; }

  expose(stops) {
    byId('exposure').value = clamp(Math.round(10 * stops) / 10, -12, 12);
    this.show();
  }

  meter(frame) {
    const stops = frame && metered(someLuminances(frame));
    if (Number.isFinite(stops)) this.expose(stops);
  }

  // Whether the layer is made for display already, or what else it is.
  setKind(kind) {
    if (kind === this.kind) return;
    this.kind = kind;
    for (const id of ['exposure', 'meter', 'tone']) byId(id).disabled = kind !== 'radiance';
    byId('channel').querySelector('[value=false-color]').disabled = kind !== 'radiance';
    this.show();
  }

  show() {
    const stops = signed(this.exposure, 1);
    setText(byId('stops'), stops);
    byId('exposure').setAttribute('aria-valuetext', `${stops} stops`);
    this.showLegend();
    this.changed();
  }

  showLegend() {
    const isFalse = this.kind === 'radiance' && this.channel === 'false-color';
    const legend = byId('legend');
    legend.hidden = !isFalse && this.kind !== 'noise';
    if (isFalse) legend.replaceChildren(caption('stops from middle grey'), bands());
    else if (!legend.hidden) legend.replaceChildren(caption('relative standard error'), ramp());
  }
}

function caption(text) {
  return element('figcaption', {}, text);
}

function bands() {
  const made = STOPS.map((stop, i) => {
    const key = element('span', { class: 'key' });
    key.style.background = colorAt(VIRIDIS, i / (STOPS.length - 1));
    return element('span', { class: 'band' }, key, String(stop).replace('-', '−'));
  });
  return element('div', { class: 'bands' }, ...made);
}

function ramp() {
  const key = element('div', { class: 'ramp' });
  const colors = Array.from({ length: 17 }, (_, i) => colorAt(MAGMA, i / 16));
  key.style.background = `linear-gradient(to right, ${colors})`;
  return element('div', {}, key, element('div', { class: 'ends' }, ...NOISE.map((text) => element('span', {}, text))));
}
