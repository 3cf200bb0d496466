// What the server has to say: problems of the scene stay, the rest goes away by itself.

import { byId, element, setText } from './dom.js';

const DURATION = { note: 5000, refused: 9000 };

// Toasts at once, at most.
const MOST = 4;

export function showProblem(text) {
  const pane = byId('problem');
  setText(pane.querySelector('pre'), text ?? '');
  if (text && pane.hidden) pane.open = true;
  pane.hidden = !text;
}

// `kind` is "note" or "refused". What is said again is not said twice.
export function toast(kind, text) {
  const toasts = byId('toasts');
  [...toasts.children].filter((old) => old.dataset.text === text).forEach((old) => old.remove());
  const close = element('button', { type: 'button', class: 'close', 'aria-label': 'Close' }, '×');
  const made = element('div', { class: 'toast', 'data-kind': kind }, element('p', {}, text), close);
  made.dataset.text = text;
  close.addEventListener('click', () => made.remove());
  setTimeout(() => made.remove(), DURATION[kind]);
  toasts.append(made);
  if (toasts.children.length > MOST) toasts.firstElementChild.remove();
}
