// The selected material: its chart and its parameters.

import { byId, element, replaceRows, setText } from './dom.js';
import { isWithin } from './path.js';
import { isDark } from './theme.js';

const PAUSE = 250;

export class Material {
  constructor(scene, edits, send, parameters) {
    Object.assign(this, { scene, send, parameters });
    byId('chart').addEventListener('click', () => byId('large-chart').showModal());
    byId('large-chart').addEventListener('click', () => byId('large-chart').close());
    document.addEventListener('theme', () => this.ask());
    scene.addEventListener('scene', () => edits.whenIdle(() => this.build()));
    scene.addEventListener('values', ({ detail }) => {
      if (detail.some((path) => isWithin(path, this.path))) this.askLater();
    });
  }

  select(path, name) {
    if (path !== this.path) this.begin(path, name);
    byId('material').scrollIntoView({ block: 'start' });
  }

  // The chart has its room from now on, so that nothing moves when it comes.
  begin(path, name) {
    this.path = path;
    setText(byId('material-name'), name);
    this.explain('');
    Object.assign(byId('chart'), { textContent: 'Its chart is being made …', disabled: true, hidden: false });
    this.build();
  }

  get isThere() {
    return this.path && this.scene.hasWithin(this.path);
  }

  build() {
    if (!this.isThere) this.clear();
    replaceRows(byId('material-rows'), this.isThere ? this.parameters.rowsWithin(this.path) : []);
    this.ask();
  }

  ask() {
    if (this.isThere) this.send('chart', { path: this.path, dark: isDark() });
  }

  clear() {
    this.path = null;
    setText(byId('material-name'), '');
    byId('chart').hidden = true;
    this.explain('Click on something in the picture to select its material.');
  }

  // When values have come to rest.
  askLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  async take({ path, svg, error }) {
    if (path !== this.path) return;
    this.explain(error ?? '');
    if (svg) await this.show(svg);
    else byId('chart').hidden = true;
  }

  // Not before it can be seen, so that nothing flickers.
  async show(svg) {
    const { path, address } = this;
    this.address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
    const image = element('img', { src: this.address, alt: `Chart of ${path}` });
    await image.decode().catch(() => this.explain('Its chart cannot be shown.'));
    if (path === this.path) this.put(image);
    if (address) URL.revokeObjectURL(address);
  }

  put(image) {
    byId('chart').replaceChildren(image);
    Object.assign(byId('chart'), { disabled: false, hidden: false });
    byId('large-chart').replaceChildren(image.cloneNode());
  }

  explain(text) {
    setText(byId('material-note'), text);
    byId('material-note').hidden = text === '';
  }
}
