// The selected material and its charts.

import { byId, element, setText } from './dom.js';
import { isWithin } from './path.js';
import { isDark } from './theme.js';

const PAUSE = 250;

export class Material {
  constructor(scene, edits, send, parameters) {
    Object.assign(this, { scene, edits, send, parameters });
    document.addEventListener('theme', () => this.ask());
    scene.addEventListener('scene', () => (this.isThere ? this.ask() : this.clear()));
    scene.addEventListener('values', ({ detail }) => {
      if (detail.some((path) => isWithin(path, this.path))) this.askLater();
    });
  }

  select(path, name) {
    const isOther = path !== this.path;
    this.path = path;
    setText(byId('material-name'), name);
    this.parameters.reveal(path);
    if (!isOther) return;
    byId('charts').replaceChildren();
    this.explain('Its charts are being made …');
    this.isNew = true;
    this.ask();
  }

  get isThere() {
    return this.path && this.scene.hasWithin(this.path);
  }

  ask() {
    if (this.isThere) this.send('chart', { path: this.path, dark: isDark() });
  }

  clear() {
    this.path = null;
    setText(byId('material-name'), '');
    byId('charts').replaceChildren();
    this.explain('Click on something in the picture to select its material.');
  }

  // When values have come to rest.
  askLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.edits.isUnderWay) this.askLater();
      else this.ask();
    }, PAUSE);
  }

  async take({ path, svg, error }) {
    if (path !== this.path) return;
    this.explain(error ?? '');
    if (!svg) {
      byId('charts').replaceChildren();
      return;
    }
    const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    const image = element('img', { src: address, alt: `Charts of ${path}` });
    // Not before it can be seen, so that nothing flickers.
    await image.decode().catch(() => this.explain('Its charts cannot be shown.'));
    if (path === this.path) byId('charts').replaceChildren(image);
    URL.revokeObjectURL(address);
    // The first charts have moved what is below them, which does not matter to who is searching by now.
    if (this.isNew && !byId('search').value) this.parameters.reveal(path);
    this.isNew = false;
  }

  explain(text) {
    setText(byId('material-note'), text);
    byId('material-note').hidden = text === '';
  }
}
