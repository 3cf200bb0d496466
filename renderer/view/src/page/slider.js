// Scales of sliders: between the position of a thumb and the value it stands for.

import { clamp, rounded } from './numbers.js';

// Ranges that are as wide as this are as good as unbounded.
const HUGE = 1e6;

// From this ratio of the ends of a range a slider is logarithmic.
const WIDE = 1000;

// How far about the present value a slider goes where a range is huge.
const REACH = 10;

const STEPS = 1000;

// Of a range that begins with zero, what comes after it.
const SMALLEST = 1e-6;

function scaleOf({ min, max, integer }, unit, value) {
  const isBounded = min !== null && max !== null && Math.max(Math.abs(min), Math.abs(max)) < HUGE;
  if (!isBounded) return about(value, min ?? -Infinity, max ?? Infinity, integer);
  const ratio = min > 0 ? max / min : max;
  const isAngle = /^(°|deg)/.test(unit ?? '');
  if (min < 0 || ratio < WIDE || isAngle) return linear(min, max, integer);
  return logarithmic(min || SMALLEST * max, max, integer, min);
}

// Values as exact as a slider is.
function linear(min, max, integer) {
  const places = clamp(Math.ceil(Math.log10(STEPS / (max - min))), 0, 20);
  const nearest = (position) => (integer ? Math.round(position) : Number(position.toFixed(places)));
  return {
    min,
    max,
    step: integer ? 1 : 'any',
    // Of the arrow keys in a field.
    small: integer ? 1 : 10 ** (1 - places),
    position: (x) => x,
    value: (position) => clamp(nearest(position), min, max),
    holds: (x) => x >= min && x <= max,
  };
}

// `least` is what the lower end stands for.
function logarithmic(low, high, integer, least = low) {
  const length = Math.log(high / low);
  return {
    min: 0,
    max: STEPS,
    step: 1,
    small: integer ? 1 : 'any',
    position: (x) => (x <= low ? 0 : STEPS * Math.log(x / low) / length),
    value: (position) => {
      if (position <= 0) return least;
      const x = low * Math.exp(length * position / STEPS);
      return integer ? clamp(Math.round(x), least, high) : clamp(rounded(x, 3), least, high);
    },
    holds: (x) => x >= least && x <= high,
  };
}

function about(value, min, max, integer) {
  if (!value) return linear(Math.max(min, -1), Math.min(max, integer ? REACH : 1), integer);
  if (value < 0) return mirrored(about(-value, -max, -min, integer));
  const [low, high] = [value / REACH, value * REACH].map((x) => clamp(integer ? Math.ceil(x) : x, min, max));
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
