// Changes of values, gathered to gestures: what is dragged is one step of undo.

// Whether a value has no NaN in it, which JSON does not know.
function isDefined(value) {
  if (Array.isArray(value)) return value.every(isDefined);
  return typeof value !== 'number' || Number.isFinite(value);
}

export class Edits {
  constructor(scene, send) {
    this.scene = scene;
    this.send = send;
    this.gesture = 0;
    this.owner = null;
    this.pending = new Map();
    this.touched = new Map();
    this.waiting = [];
  }

  get isUnderWay() {
    return this.owner !== null;
  }

  // Part of the gesture of `owner`, whatever that is; the values that are the latest are sent once a frame of the screen.
  drag(owner, all) {
    // A camera at its target has no direction in which to go.
    const values = all.filter(([, value]) => isDefined(value));
    if (this.owner !== owner) this.begin(owner);
    for (const [path, value] of values) {
      this.pending.set(path, value);
      this.touched.set(path, value);
    }
    this.scene.anticipate(values);
    this.request ??= requestAnimationFrame(() => this.flush(false));
  }

  begin(owner) {
    this.finish();
    this.owner = owner;
    this.gesture += 1;
  }

  // The end of the gesture of `owner`, or of any.
  finish(owner = this.owner) {
    if (this.owner === null || this.owner !== owner) return;
    this.flush(true);
    this.scene.settle(this.touched);
    this.touched = new Map();
    this.owner = null;
    this.waiting.splice(0).forEach((action) => action());
  }

  set(values) {
    const owner = {};
    this.drag(owner, values);
    this.finish(owner);
  }

  flush(done) {
    cancelAnimationFrame(this.request);
    this.request = null;
    this.send('set', { values: [...this.pending], gesture: this.gesture, done });
    this.pending.clear();
  }

  // Calls when nothing is dragged.
  whenIdle(action) {
    if (this.isUnderWay) this.waiting.push(action);
    else action();
  }
}
