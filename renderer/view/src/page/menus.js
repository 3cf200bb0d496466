// Menus keep the keys to themselves while they have the focus. Whoever chooses with the pointer wants the picture's.

export function returnFocusTo(picture) {
  let isByPointer = false;
  document.addEventListener('pointerdown', () => { isByPointer = true; }, true);
  document.addEventListener('keydown', () => { isByPointer = false; }, true);
  document.addEventListener('change', ({ target }) => {
    if (isByPointer && target instanceof HTMLSelectElement) picture.focus({ preventScroll: true });
  });
}
