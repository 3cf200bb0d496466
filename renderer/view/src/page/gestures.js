// What the pointer and the keys do on the picture.

// How far a pointer moves before it drags, in pixels of the page.
const THRESHOLD = 4;

// For how long the wheel rests before its gesture has ended, in ms.
const WHEEL_REST = 250;

const KEY_STEP = 1 / 60;

export class Gestures {
  // `actions`: turn, move, dolly, shift (of the picture), zoom, click, hover, leave, end; lengths are in pixels of the
  // screen. `mode()` is "turn", "focus" or "hand".
  constructor(canvas, actions, mode) {
    Object.assign(this, { canvas, actions, mode });
    this.pointers = new Map();
    canvas.addEventListener('pointerdown', (event) => this.onDown(event));
    canvas.addEventListener('pointermove', (event) => this.onMove(event));
    canvas.addEventListener('pointerup', (event) => this.onUp(event, true));
    canvas.addEventListener('pointercancel', (event) => this.onUp(event, false));
    canvas.addEventListener('pointerleave', ({ pointerType }) => { if (pointerType !== 'touch') actions.leave(); });
    canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener('keydown', (event) => this.onKey(event));
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    // The middle button would scroll.
    canvas.addEventListener('mousedown', (event) => { if (event.button === 1) event.preventDefault(); });
  }

  locate({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const ratio = this.canvas.width / box.width;
    return [(clientX - box.left) * ratio, (clientY - box.top) * ratio];
  }

  onDown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.locate(event);
    this.pointers.set(event.pointerId, { at, start: [event.clientX, event.clientY] });
    this.isDragging = this.pointers.size > 1;
    this.drag = this.dragOf(event);
    this.actions.leave();
  }

  dragOf({ button, shiftKey }) {
    if (button === 1 || this.mode() === 'hand') return 'shift';
    return button === 2 || shiftKey ? 'move' : 'turn';
  }

  onMove(event) {
    const pointer = this.pointers.get(event.pointerId);
    const at = this.locate(event);
    if (!pointer) {
      this.actions.hover(at);
      return;
    }
    this.isDragging ||= Math.hypot(event.clientX - pointer.start[0], event.clientY - pointer.start[1]) >= THRESHOLD;
    if (!this.isDragging) return;
    const before = pointer.at;
    pointer.at = at;
    const other = [...this.pointers.values()].find((it) => it !== pointer);
    if (other) this.pinch(before, at, other.at);
    else this.actions[this.drag](at[0] - before[0], at[1] - before[1]);
  }

  // Of two pointers each moves the middle by half of its own way.
  pinch(before, at, other) {
    const distance = (point) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
    const factor = distance(at) / distance(before);
    const [dx, dy] = [0, 1].map((i) => (at[i] - before[i]) / 2);
    if (this.mode() === 'hand') {
      this.actions.shift(dx, dy);
      this.actions.zoom(factor, at.map((x, i) => (x + other[i]) / 2));
    } else {
      this.actions.move(dx, dy);
      this.actions.dolly(1 / factor);
    }
  }

  onUp(event, isWhole) {
    if (!this.pointers.delete(event.pointerId) || this.pointers.size) return;
    if (this.isDragging) this.actions.end();
    else if (isWhole && event.button === 0) this.actions.click(this.locate(event));
  }

  onWheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    const amount = event.deltaY * lines;
    if (event.ctrlKey || event.altKey || this.mode() === 'hand') {
      this.actions.zoom(2 ** (-amount / 200), this.locate(event));
      return;
    }
    this.actions.dolly(2 ** (amount / 500));
    this.endLater();
  }

  endLater() {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { if (this.pointers.size === 0) this.actions.end(); }, WHEEL_REST);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { actions, canvas } = this;
    const step = KEY_STEP * canvas.height;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const factor = { '+': 1 / 1.1, '=': 1 / 1.1, '-': 1.1 }[event.key];
    if (arrow) actions[event.shiftKey ? 'move' : 'turn'](arrow[0] * step, arrow[1] * step);
    else if (factor) actions.dolly(factor);
    else if (event.key === 'Enter') actions.click([canvas.width / 2, canvas.height / 2]);
    else return;
    event.preventDefault();
    this.endLater();
  }
}
