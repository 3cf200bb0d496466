// Undo and redo, what differs from the file, and how to write that down.

import { byId, element, isBeingEdited, isTextField, revertButton, setText } from './dom.js';
import { described } from './numbers.js';

const EXPORT_PAUSE = 300;

export class History {
  constructor(scene, edits, send) {
    Object.assign(this, { scene, edits, send });
    this.panel = byId('changes');
    scene.addEventListener('changes', () => this.show());
    for (const step of ['undo', 'redo', 'reset']) byId(step).addEventListener('click', () => this.step(step));
    document.addEventListener('keydown', (event) => this.onKey(event));
    this.panel.addEventListener('toggle', () => this.askForExport());
    byId('save').addEventListener('click', () => this.save());
    this.panel.querySelectorAll('[data-copy]').forEach((button) => {
      button.addEventListener('click', () => copy(byId(button.dataset.copy), button));
    });
  }

  // What is being dragged is a step, too.
  step(type) {
    this.edits.finish();
    this.send(type);
  }

  // A field in which something has been typed undoes that itself.
  onKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    if (isTextField(event.target) && isBeingEdited(event.target)) return;
    const key = event.key.toLowerCase();
    const type = { z: event.shiftKey ? 'redo' : 'undo', y: 'redo' }[key];
    if (!type) return;
    event.preventDefault();
    this.step(type);
  }

  show() {
    const { changes, canUndo, canRedo } = this.scene;
    byId('undo').disabled = !canUndo;
    byId('redo').disabled = !canRedo;
    byId('reset').disabled = changes.length === 0;
    setText(byId('change-count'), String(changes.length));
    this.panel.classList.toggle('changed', changes.length > 0);
    byId('unchanged').hidden = changes.length > 0;
    byId('export').hidden = changes.length === 0;
    byId('change-list').replaceChildren(...changes.map((change) => this.line(change)));
    this.askForExport();
  }

  line({ path, before, after }) {
    const revert = revertButton(path, () => this.edits.set([[path, before]]));
    // What the file does not say has no value to go back to.
    revert.hidden = before === null;
    const values = element('span', { class: 'values' }, described(before), ' → ', element('strong', {}, described(after)));
    return element('li', { 'data-change': path }, element('span', { class: 'path' }, path), values, revert);
  }

  askForExport() {
    clearTimeout(this.timer);
    if (!this.panel.open || this.scene.changes.length === 0) return;
    this.timer = setTimeout(() => this.send('export'), EXPORT_PAUSE);
  }

  save() {
    this.isSaving = true;
    this.send('export');
  }

  // A scene that refers to what is in no file is written by a command, with all of that.
  takeExport({ toml, file, arguments: words, render, convert, sweep }) {
    setText(byId('set'), words);
    setText(byId('render'), render);
    setText(byId('convert'), convert);
    byId('convert-part').hidden = toml !== null;
    byId('save').hidden = toml === null;
    byId('sweep-part').hidden = !sweep;
    setText(byId('sweep'), sweep ?? '');
    if (this.isSaving && toml !== null) download(toml, file);
    this.isSaving = false;
  }
}

function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/toml' }));
  element('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// The clipboard is only there on secure pages; what is selected can be copied everywhere.
async function copy(node, button) {
  getSelection().selectAllChildren(node);
  if (navigator.clipboard) await navigator.clipboard.writeText(node.textContent).catch(() => document.execCommand('copy'));
  else document.execCommand('copy');
  setText(button, 'Copied');
  setTimeout(() => setText(button, 'Copy'), 1500);
}
