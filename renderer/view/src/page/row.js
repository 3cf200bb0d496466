// A parameter in the panel: its label, its control, and the way back to its original value.

import { controlFor, suits } from './controls.js';
import { element, revertButton } from './dom.js';
import { described } from './numbers.js';

class Row {
  constructor(parameter, label, scene, edits) {
    Object.assign(this, { parameter, label, scene, edits });
    this.name = element('span', { class: 'name' }, label);
    if (parameter.unit) this.name.append(' ', element('span', { class: 'unit' }, parameter.unit));
    const takes = parameter.takes && `takes ${parameter.takes}`;
    this.name.title = [parameter.about, takes, parameter.path].filter(Boolean).join('\n');
    this.revert = revertButton(label, () => edits.set([[parameter.path, parameter.original]]));
    this.root = element('div', { class: 'parameter', 'data-path': parameter.path }, this.name, this.revert);
    this.show();
  }

  show() {
    const value = this.scene.value(this.parameter.path);
    // The scene has changed, and this row is about to go.
    if (value === undefined) return;
    const suited = suits(this.parameter.control.kind, value);
    if (suited !== this.suited) this.makeControl(suited);
    this.control.show(value);
  }

  makeControl(suited) {
    const { path } = this.parameter;
    const edit = {
      drag: (value) => this.edits.drag(this, [[path, value]]),
      finish: () => this.edits.finish(this),
      set: (value) => this.edits.set([[path, value]]),
    };
    this.suited = suited;
    this.control?.root.remove();
    const parameter = { ...this.parameter, value: this.scene.value(path) };
    this.control = controlFor(parameter, this.label, edit);
    this.revert.before(this.control.root);
  }

  showChange() {
    const { path, original } = this.parameter;
    const isChanged = Boolean(this.scene.changeOf(path)) || this.scene.isPartOfChange(path);
    this.root.classList.toggle('changed', isChanged);
    // What the file does not say has no value to go back to.
    this.revert.hidden = !isChanged || original === null;
    this.revert.title = `Back to ${described(original)}`;
  }
}

// The rows that there are, which follow their values.
export class Rows {
  constructor(scene, edits) {
    Object.assign(this, { scene, edits });
    this.rows = new Map();
    scene.addEventListener('values', ({ detail }) => detail.forEach((path) => this.of(path).forEach((row) => row.show())));
    scene.addEventListener('changes', () => this.all().forEach((row) => row.showChange()));
  }

  make(path, label) {
    const row = new Row(this.scene.parameters.get(path), label, this.scene, this.edits);
    row.showChange();
    this.rows.set(path, [...this.of(path), row]);
    return row.root;
  }

  of(path) {
    return this.rows.get(path) ?? [];
  }

  all() {
    return [...this.rows.values()].flat();
  }

  // Forgets the rows that are no longer on the page.
  sweep() {
    for (const [path, rows] of this.rows) {
      const left = rows.filter((row) => row.root.isConnected);
      if (left.length) this.rows.set(path, left);
      else this.rows.delete(path);
    }
  }
}
