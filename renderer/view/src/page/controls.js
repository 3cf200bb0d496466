// Controls of parameters: each has a `root`, and shows a value. What is done with it is told to `edit`, with `drag`
// while it goes on, `finish` at its end, and `set` for both at once.

import { fromHex, isHex, toHex } from './color.js';
import { element, isBeingEdited, setField } from './dom.js';
import { toast } from './notices.js';
import { described, isSame, rounded, written } from './numbers.js';
import { Slider } from './slider.js';

export function controlFor({ control, value, takes, unit }, name, edit) {
  if (!suits(control.kind, value)) return new TextControl(name, edit, control.kind);
  switch (control.kind) {
    case 'number': return new NumberControl(control, name, unit, edit, snapOf(takes));
    case 'color': return new ColorControl(control, name, edit);
    case 'vector': return new VectorControl(name, edit);
    case 'choice': return new ChoiceControl(control, name, edit);
    case 'switch': return new SwitchControl(name, edit);
    default: return new TextControl(name, edit, control.kind);
  }
}

// Which control a value has: a texture's name where a colour could be is text.
export function suits(kind, value) {
  const isNumber = typeof value === 'number';
  const isTriple = Array.isArray(value) && value.length === 3 && value.every((x) => typeof x === 'number');
  switch (kind) {
    case 'number': return isNumber;
    case 'color': return isNumber || isTriple || isHex(value);
    case 'vector': return isTriple;
    case 'switch': return typeof value === 'boolean';
    default: return typeof value === 'string';
  }
}

// "0, or from 0.01 to 1": a slider does not stop in between.
function snapOf(takes) {
  const least = Number(/^0, or from ([\d.e-]+) to/.exec(takes)?.[1] ?? 0);
  return (x) => (x > 0 && x < least ? (x < least / 2 ? 0 : least) : x);
}

function numberField(name, changed) {
  const field = element('input', { type: 'number', step: 'any', 'aria-label': name });
  field.addEventListener('change', () => {
    if (!Number.isFinite(field.valueAsNumber)) field.value = field.defaultValue;
    else if (isBeingEdited(field)) changed(accepted(field).valueAsNumber);
  });
  return field;
}

// An sRGB colour as "#rrggbb".
function hexField(name, changed) {
  const field = element('input', { type: 'text', 'aria-label': name, title: 'sRGB, #rrggbb', spellcheck: 'false', autocomplete: 'off' });
  field.addEventListener('change', () => {
    const hex = `#${field.value.trim().replace('#', '')}`;
    if (!isHex(hex)) {
      toast('refused', `${name}: “${field.value}” is no sRGB colour such as #ff8000`);
      field.value = field.defaultValue;
    } else if (isBeingEdited(field)) {
      accepted(field);
      changed(fromHex(hex));
    }
  });
  return field;
}

// What is typed into some fields is one gesture, from coming to them to leaving them.
function joined(fields, edit) {
  fields.forEach((field) => field.addEventListener('focusout', ({ relatedTarget }) => {
    if (!fields.includes(relatedTarget)) edit.finish();
  }));
}

// What was typed is no longer being edited.
function accepted(field) {
  field.defaultValue = field.value;
  return field;
}

class NumberControl {
  constructor(control, name, unit, edit, snap) {
    this.slider = new Slider(control, unit, name, (value) => edit.drag(snap(value)), () => edit.finish());
    this.field = numberField(name, (value) => edit.set(control.integer ? Math.round(value) : value));
    this.root = element('div', { class: 'number' }, this.slider.input, this.field);
  }

  show(value) {
    this.slider.show(value);
    this.field.step = this.slider.scale.small;
    setField(this.field, written(value));
  }
}

// The colour that a value has, linear.
function linearOf(value) {
  if (typeof value === 'number') return [value, value, value];
  return isHex(value) ? fromHex(value) : value;
}

class ColorControl {
  constructor({ max }, name, edit) {
    this.edit = edit;
    this.swatch = element('input', { type: 'color', 'aria-label': `${name}, colour` });
    this.swatch.addEventListener('input', () => edit.drag(this.colored(fromHex(this.swatch.value))));
    this.swatch.addEventListener('change', () => edit.finish());
    this.hex = hexField(`${name}, sRGB`, (rgb) => edit.drag(this.colored(rgb)));
    this.fields = ['red', 'green', 'blue'].map((channel, i) => (
      numberField(`${name}, linear ${channel}`, (x) => edit.drag(this.color.with(i, x)))
    ));
    this.fields.forEach((field) => { field.title = 'Linear red, green and blue, not sRGB'; });
    joined([this.hex, ...this.fields], edit);
    const display = element('div', { class: 'display' }, this.swatch, this.hex, element('span', { class: 'label' }, 'sRGB'));
    this.root = element('div', { class: 'color' }, display, element('div', { class: 'vector' }, ...this.fields));
    this.isBounded = max !== null && max <= 1;
    if (!this.isBounded) this.addIntensity(name, max);
  }

  addIntensity(name, max) {
    const control = { min: 0, max, integer: false };
    const drag = (x) => this.edit.drag(this.brightened(x));
    this.intensity = new Slider(control, '', `${name}, intensity`, drag, () => this.edit.finish());
    this.field = numberField(`${name}, intensity`, (x) => this.edit.set(this.brightened(x)));
    const label = element('span', { class: 'label', title: 'Intensity' }, '×');
    this.root.append(element('div', { class: 'number' }, label, this.intensity.input, this.field));
  }

  brightened(intensity) {
    return this.hue.map((part) => rounded(part * intensity));
  }

  // What a colour of the swatch stands for at the present intensity.
  colored(rgb) {
    const largest = Math.max(...rgb);
    if (this.isBounded || largest === 0) return rgb.map((x) => rounded(x, 4));
    const gain = Math.max(...this.color) || 1;
    return rgb.map((x) => rounded(x / largest * gain, 4));
  }

  show(value) {
    this.color = linearOf(value);
    const largest = Math.max(...this.color);
    // Black has no hue: it keeps the one that it had.
    if (largest > 0 || !this.hue) this.hue = largest > 0 ? this.color.map((x) => x / largest) : [1, 1, 1];
    const swatch = this.isBounded || largest === 0 ? this.color : this.hue;
    this.swatch.value = toHex(swatch);
    setField(this.hex, this.swatch.value);
    this.fields.forEach((field, i) => setField(field, String(rounded(this.color[i], 4))));
    if (!this.intensity) return;
    this.intensity.show(largest);
    setField(this.field, written(largest));
  }
}

class VectorControl {
  constructor(name, edit) {
    this.fields = ['x', 'y', 'z'].map((axis, i) => numberField(`${name}, ${axis}`, (x) => edit.drag(this.value.with(i, x))));
    joined(this.fields, edit);
    this.root = element('div', { class: 'vector' }, ...this.fields);
  }

  show(value) {
    this.value = value;
    this.fields.forEach((field, i) => setField(field, written(value[i])));
  }
}

class ChoiceControl {
  constructor({ choices }, name, edit) {
    this.select = element('select', { 'aria-label': name });
    this.select.append(...choices.map((choice) => element('option', {}, choice)));
    this.select.addEventListener('change', () => edit.set(this.select.value));
    this.root = this.select;
  }

  // A value that is none of the choices is one nevertheless.
  show(value) {
    const isKnown = [...this.select.options].some((option) => option.value === value);
    if (!isKnown) this.select.append(element('option', {}, value));
    this.select.value = value;
  }
}

class SwitchControl {
  constructor(name, edit) {
    this.box = element('input', { type: 'checkbox', 'aria-label': name });
    this.box.addEventListener('change', () => edit.set(this.box.checked));
    this.root = this.box;
  }

  show(value) {
    this.box.checked = value;
  }
}

class TextControl {
  constructor(name, edit, kind) {
    this.field = element('input', { type: 'text', 'aria-label': name, spellcheck: 'false', autocomplete: 'off' });
    this.field.addEventListener('change', () => {
      const text = accepted(this.field).value;
      const value = kind === 'text' || kind === 'file' ? text : parsed(text);
      if (!isSame(value, this.value)) edit.set(value);
    });
    this.root = this.field;
  }

  show(value) {
    this.value = value;
    const text = described(value);
    setField(this.field, text);
    this.field.title = text;
  }
}

// Numbers and arrays of them; all else is text.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
