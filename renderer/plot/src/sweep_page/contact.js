
// Thumbnails of the variants that differ in the first two parameters, to choose from.

class Contact {
  constructor(root) {
    this.root = root;
    root.addEventListener('keydown', (event) => this.onKey(event));
  }

  // The variants of the grid: all values of the first two axes, with those that the others have.
  cells() {
    const [columns, rows] = [counts[0] ?? 1, counts[1] ?? 1];
    const others = state.at.slice(2);
    return Array.from({ length: columns * rows }, (_, k) => variantAt([k % columns, Math.floor(k / columns), ...others].slice(0, counts.length)));
  }

  build(cells) {
    const isGrid = counts.length > 1 && counts[1] > 1;
    this.root.classList.toggle('grid', isGrid);
    this.buttons = new Map(cells.map((variant) => [variant, this.button(variant, !isGrid)]));
    const buttons = [...this.buttons.values()];
    if (!isGrid) return this.root.replaceChildren(...buttons);
    const [columns, rows] = axes;
    this.root.style.setProperty('--columns', columns.labels.length);
    const names = element('span', { class: 'names' }, `${columns.name} →  ${rows.name} ↓`);
    const corner = element('span', { class: 'side' });
    const heads = columns.labels.map((label) => element('span', { class: 'head' }, label));
    const lines = rows.labels.flatMap((label, y) => {
      return [element('span', { class: 'side' }, label), ...buttons.slice(y * counts[0], (y + 1) * counts[0])];
    });
    return this.root.replaceChildren(names, corner, ...heads, ...lines);
  }

  button(variant, isNamed) {
    const { thumbnail } = variants[variant];
    const image = thumbnail
      ? element('img', { alt: '', src: `data:image/jpeg;base64,${thumbnail}` })
      : element('span', { class: 'empty' }, thumbnail === null ? 'missing' : '');
    const name = thumbnail === null ? `${nameOf(variant)}: missing` : nameOf(variant);
    const button = element('button', { type: 'button', class: 'thumbnail', 'aria-label': name, title: name }, image);
    if (isNamed && counts.length) button.append(element('span', { class: 'name' }, axes[0].labels[placeOf(variant)[0]]));
    button.addEventListener('click', () => {
      stopPlaying();
      change({ at: placeOf(variant) });
    });
    return button;
  }

  // Arrow keys move as the sliders do.
  onKey(event) {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1] }[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey || !(move[0] in counts)) return;
    event.preventDefault();
    stopPlaying();
    moveTo(move[0], state.at[move[0]] + move[1]);
    this.buttons.get(chosen()).focus();
  }

  show() {
    const cells = this.cells();
    if (cells[0] !== this.first) this.build(cells);
    [this.first] = cells;
    const baseline = baselineOf(state.at);
    for (const [variant, button] of this.buttons) {
      const isChosen = variant === chosen();
      button.setAttribute('aria-current', isChosen);
      button.tabIndex = isChosen ? 0 : -1;
      button.classList.toggle('baseline', variant === baseline);
    }
    this.bringIntoSight(this.buttons.get(chosen()));
  }

  // Scrolls a wide grid, but never the page.
  bringIntoSight(button) {
    const [seen, wanted] = [this.root, button].map((e) => e.getBoundingClientRect());
    const isHidden = wanted.left < seen.left + 60 || wanted.right > seen.right;
    if (isHidden) this.root.scrollLeft += wanted.left + wanted.width / 2 - seen.left - seen.width / 2;
  }
}
