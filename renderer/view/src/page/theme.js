// Light or dark, as the system prefers until the button is pressed.

import { byId } from './dom.js';

const root = document.documentElement;

export function isDark() {
  return root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

export function listenToTheme() {
  const told = () => document.dispatchEvent(new Event('theme'));
  byId('theme').addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    told();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', told);
}
