// Scales of sliders: between the position of a thumb and the value it stands for.

import { clamp, rounded } from './numbers.js';

// Ranges that are as wide as this are as good as unbounded.
const HUGE = 1e6;

// From this ratio of the ends of a range a slider is logarithmic.
const WIDE = 1000;

// How far about the present value a slider goes where a range is huge.
const REACH = 10;

// Steps of a linear slider, at least.
const STEPS = 100;

// Of a range that begins with zero, what comes after it.
const SMALLEST = 1e-6;

function scaleOf({ min, max, integer }, unit, value) {
  const isBounded = min !== null && max !== null && Math.max(Math.abs(min), Math.abs(max)) < HUGE;
  if (!isBounded) return about(value, min ?? -Infinity, max ?? Infinity, integer);
  const ratio = min > 0 ? max / min : max;
  const isAngle = /^(°|deg)/.test(unit ?? '');
  if (min < 0 || ratio < WIDE || isAngle) return linear(min, max, integer || isAngle ? 1 : roundStep(max - min));
  return logarithmic(min || SMALLEST * max, max, integer, min);
}

function linear(min, max, step) {
  const places = Math.max(0, -Math.floor(Math.log10(step)));
  const nearest = (position) => Number((step * Math.round(position / step)).toFixed(places));
  return {
    min: step * Math.floor(min / step),
    max: step * Math.ceil(max / step),
    step,
    // Of the arrow keys in a field.
    small: step,
    position: (x) => x,
    value: (position) => clamp(nearest(position), min, max),
    holds: (x) => x >= min && x <= max,
  };
}

// 1, 2 or 5 of some decimal place.
function roundStep(length) {
  const most = length / STEPS;
  const place = 10 ** Math.floor(Math.log10(most));
  return place * [5, 2, 1].find((n) => n * place <= most * 1.001);
}

// `least` is what the lower end stands for.
function logarithmic(low, high, integer, least = low) {
  const min = Math.floor(rank(low, integer));
  const value = (position) => (position <= min ? least : clamp(ranked(position, integer), least, high));
  return {
    min,
    max: Math.ceil(rank(high, integer)),
    step: 1,
    small: integer ? 1 : 'any',
    position: (x) => (x < low ? min : rank(x, integer)),
    value,
    holds: (x) => x >= least && x <= high,
  };
}

// Numbers of two digits in their order, from 1 with number 0: a decade has 90 of them. Integers begin with all below ten.
function rank(x, integer) {
  if (integer && x < 10) return x + 80;
  const decade = Math.floor(Math.log10(x));
  return 90 * decade + 10 * (x / 10 ** decade - 1);
}

function ranked(position, integer) {
  if (integer && position < 90) return Math.round(position - 80);
  const decade = Math.floor(position / 90);
  return rounded((1 + (position - 90 * decade) / 10) * 10 ** decade, 2);
}

function about(value, min, max, integer) {
  if (!value) return linear(Math.max(min, -1), Math.min(max, integer ? REACH : 1), integer ? 1 : 1 / STEPS);
  if (value < 0) return mirrored(about(-value, -max, -min, integer));
  const [low, high] = [value / REACH, value * REACH].map((x) => clamp(integer ? Math.ceil(x) : rounded(x, 2), min, max));
  return logarithmic(low, high, integer);
}

function mirrored(scale) {
  return {
    ...scale,
    min: -scale.max,
    max: -scale.min,
    position: (x) => -scale.position(-x),
    value: (position) => -scale.value(-position),
    holds: (x) => scale.holds(-x),
  };
}

// A range input for a number. `drag` and `finish` are called.
export class Slider {
  constructor(control, unit, name, drag, finish) {
    Object.assign(this, { control, unit });
    this.input = document.createElement('input');
    this.input.type = 'range';
    this.input.setAttribute('aria-label', name);
    this.input.addEventListener('input', () => drag(this.scale.value(Number(this.input.value))));
    this.input.addEventListener('change', () => {
      finish();
      this.recenter();
    });
  }

  show(value) {
    this.value = value;
    if (!this.scale?.holds(value)) this.rescale();
    this.input.value = this.scale.position(value);
    this.input.setAttribute('aria-valuetext', `${rounded(value)} ${this.unit ?? ''}`.trim());
  }

  rescale() {
    this.scale = scaleOf(this.control, this.unit, this.value);
    Object.assign(this.input, { min: this.scale.min, max: this.scale.max, step: this.scale.step });
  }

  // At an end of what can be reached now, there is more.
  recenter() {
    const { min, max } = this.scale;
    const part = (Number(this.input.value) - min) / (max - min);
    if (part > 0.02 && part < 0.98) return;
    this.rescale();
    this.show(this.value);
  }
}
