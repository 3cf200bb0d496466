// The scene's parameters as the server has them, and as this page is about to change them.
//
// Events: "scene" when the parameters are others, "values" (with the paths) when values are, "changes" when what
// differs from the file does.

import { isSame } from './numbers.js';
import { isWithin } from './path.js';

// For how long after its next news the server may take to confirm a value, in ms; then its own is shown.
const PATIENCE = 3000;

export class Scene extends EventTarget {
  constructor() {
    super();
    this.parameters = new Map();
    this.layers = [];
    this.size = [1, 1];
    this.changes = [];
    // Values that have been sent, or will be, and that the server has not confirmed.
    this.own = new Map();
    // Those of gestures that have ended since the last news.
    this.settled = [];
  }

  take({ parameters, layers, size, name, device, version, ...rest }) {
    Object.assign(this, { layers, size, name, device, version });
    this.parameters = new Map(parameters.map((parameter) => [parameter.path, parameter]));
    this.own.clear();
    this.dispatchEvent(new Event('scene'));
    this.takeChanges(rest);
  }

  update({ values, ...rest }) {
    values.forEach(([path, value]) => this.confirm(path, value));
    this.announce(values.map(([path]) => path));
    this.takeChanges(rest);
    this.settled.splice(0).forEach((own) => setTimeout(() => this.giveUp(own), PATIENCE));
  }

  takeChanges({ revision, changes, undo, redo }) {
    this.revision = revision;
    this.changes = changes;
    this.canUndo = undo;
    this.canRedo = redo;
    this.dispatchEvent(new Event('changes'));
  }

  confirm(path, value) {
    const parameter = this.parameters.get(path);
    if (parameter) parameter.value = value;
    if (this.own.has(path) && isSame(this.own.get(path), value)) this.own.delete(path);
  }

  // Shows values before the server has them.
  anticipate(values) {
    values.forEach(([path, value]) => this.own.set(path, value));
    this.announce(values.map(([path]) => path));
  }

  // After the last of some changes.
  settle(values) {
    this.settled.push([...values]);
  }

  giveUp(values) {
    this.forget(values.filter(([path, value]) => this.own.get(path) === value).map(([path]) => path));
  }

  // What the server has at these paths is shown.
  forget(paths) {
    paths.forEach((path) => this.own.delete(path));
    this.announce(paths);
  }

  announce(paths) {
    if (paths.length) this.dispatchEvent(new CustomEvent('values', { detail: paths }));
  }

  value(path, otherwise) {
    if (this.own.has(path)) return this.own.get(path);
    return this.parameters.get(path)?.value ?? otherwise;
  }

  changeOf(path) {
    return this.changes.find((change) => isWithin(change.path, path));
  }

  isPartOfChange(path) {
    return this.changes.some((change) => isWithin(path, change.path));
  }

  hasWithin(root) {
    return [...this.parameters.keys()].some((path) => isWithin(path, root));
  }
}
