// Elements of the page.

export function byId(id) {
  return document.getElementById(id);
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children);
  return made;
}

function icon(name) {
  const space = 'http://www.w3.org/2000/svg';
  const use = document.createElementNS(space, 'use');
  use.setAttribute('href', `#icon-${name}`);
  const svg = document.createElementNS(space, 'svg');
  svg.append(use);
  return svg;
}

export function revertButton(name, action) {
  const label = `${name}: back to the original`;
  const attributes = { type: 'button', class: 'revert', 'aria-label': label, title: 'Back to the original' };
  const button = element('button', attributes, icon('revert'));
  button.addEventListener('click', action);
  return button;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Shows a value in a field, unless something else is being typed into it.
export function setField(field, text) {
  if (isBeingEdited(field) && document.activeElement === field) return;
  field.value = text;
  field.defaultValue = text;
}

export function isBeingEdited(field) {
  return field.value !== field.defaultValue;
}

// Replaces what is in a part of the panel. The row that had the focus has it again.
export function replaceRows(part, rows) {
  const focused = part.contains(document.activeElement) && document.activeElement.closest('[data-path]')?.dataset.path;
  part.replaceChildren(...rows);
  if (focused) part.querySelector(`[data-path="${CSS.escape(focused)}"] :is(input, select)`)?.focus();
}

export function isTextField(node) {
  return node instanceof HTMLInputElement && ['text', 'search', 'number'].includes(node.type);
}
