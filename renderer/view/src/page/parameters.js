// The tree of all parameters, and the search in it.

import { byId, element, replaceRows, setText } from './dom.js';
import { counted } from './numbers.js';
import { isWithin, labelOf, nameOf, segments } from './path.js';

// What has parts of the scene by name or number; the others have parameters themselves.
const COLLECTIONS = ['materials', 'shapes', 'lights', 'groups', 'instances', 'textures'];
const ORDER = ['camera', 'render', 'environment', ...COLLECTIONS];

// Rows, or things, that are shown at once, at most.
const MOST = 300;

const SEARCH_PAUSE = 120;

export class Parameters {
  constructor(scene, rows, edits) {
    Object.assign(this, { scene, rows });
    this.opened = new Set();
    this.search = byId('search');
    this.search.addEventListener('input', () => this.searchLater());
    this.search.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.clearSearch(); });
    scene.addEventListener('scene', () => edits.whenIdle(() => this.build()));
    scene.addEventListener('changes', () => this.markBranches());
  }

  build() {
    this.sections = grouped(this.scene.parameters.keys(), sectionOf);
    this.branches = new Map();
    const names = [...this.sections.keys()].sort((a, b) => rank(a) - rank(b));
    replaceRows(byId('tree'), names.map((name) => this.section(name)));
    setText(byId('count'), counted(this.scene.parameters.size, 'parameter'));
    this.rows.sweep();
    this.showFound();
    this.markBranches();
  }

  section(name) {
    const paths = this.sections.get(name);
    if (!COLLECTIONS.includes(name)) return this.branch(name, labelOf([name]), null, () => this.rowsOf(paths, 1));
    const items = grouped(paths, itemOf);
    return this.branch(name, labelOf([name]), items.size, () => this.items(items));
  }

  items(items) {
    const made = [...items].slice(0, MOST).map(([item]) => this.item(item));
    return items.size > MOST ? [...made, more(items.size - MOST)] : made;
  }

  item(item) {
    return this.branch(item, nameOf(segments(item).slice(1)), null, () => this.rowsWithin(item));
  }

  // Those of a thing of the scene.
  rowsWithin(item) {
    const paths = [...this.scene.parameters.keys()].filter((path) => isWithin(path, item));
    return this.rowsOf(paths, segments(item).length);
  }

  // `depth`: how many parts of the paths are already said.
  rowsOf(paths, depth) {
    const rows = paths.slice(0, MOST).map((path) => this.rows.make(path, labelBelow(path, depth)));
    return paths.length > MOST ? [...rows, more(paths.length - MOST)] : rows;
  }

  // What can be opened; what is in it is made then.
  branch(key, label, count, contents) {
    const summary = element('summary', {}, element('span', { class: 'name' }, label));
    if (count !== null) summary.append(element('output', {}, String(count)));
    const body = element('div', { class: 'body' });
    const branch = element('details', { 'data-item': key }, summary, body);
    const fill = () => { if (!body.hasChildNodes()) body.append(...contents()); };
    branch.addEventListener('toggle', () => {
      this.opened[branch.open ? 'add' : 'delete'](key);
      if (branch.open) fill();
      this.markBranches();
    });
    this.branches.set(key, branch);
    if (this.opened.has(key)) {
      fill();
      branch.open = true;
    }
    return branch;
  }

  markBranches() {
    this.branches?.forEach((branch, key) => branch.classList.toggle('changed', Boolean(this.scene.changeOf(key))));
  }

  searchLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.showFound(), SEARCH_PAUSE);
  }

  clearSearch() {
    this.search.value = '';
    this.showFound();
  }

  // All words are to be in the path or in what is said about it.
  showFound() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = byId('found');
    found.hidden = words.length === 0;
    byId('tree').hidden = !found.hidden;
    found.replaceChildren(...(found.hidden ? [] : this.matches(words)));
    this.rows.sweep();
  }

  matches(words) {
    const isMatch = ({ path, about }) => {
      const text = `${path} ${path.replaceAll('_', ' ')} ${about ?? ''}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const paths = [...this.scene.parameters.values()].filter(isMatch).map(({ path }) => path);
    if (paths.length === 0) return [element('p', { class: 'note' }, 'Nothing has these words.')];
    const things = grouped(paths.slice(0, MOST), thingOf);
    const shown = [...things].flatMap(([thing, own]) => this.match(thing, own));
    return paths.length > MOST ? [...shown, more(paths.length - MOST)] : shown;
  }

  match(thing, paths) {
    const parts = segments(thing);
    return [element('h3', {}, nameOf(parts)), ...this.rowsOf(paths, parts.length)];
  }
}

function sectionOf(path) {
  return segments(path)[0];
}

function itemOf(path) {
  return segments(path).slice(0, 2).join('.');
}

function thingOf(path) {
  return COLLECTIONS.includes(sectionOf(path)) ? itemOf(path) : sectionOf(path);
}

// A section may be a value itself.
function labelBelow(path, depth) {
  const parts = segments(path);
  return labelOf(parts.length > depth ? parts.slice(depth) : parts);
}

function rank(section) {
  const at = ORDER.indexOf(section);
  return at < 0 ? ORDER.length : at;
}

function grouped(paths, keyOf) {
  const groups = new Map();
  for (const path of paths) {
    const key = keyOf(path);
    if (groups.has(key)) groups.get(key).push(path);
    else groups.set(key, [path]);
  }
  return groups;
}

function more(count) {
  return element('p', { class: 'note' }, `${count.toLocaleString('en')} more: search for ${count === 1 ? 'it' : 'them'}.`);
}
