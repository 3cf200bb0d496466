// The page of `torrance view`: its parts, and what connects them.

import { Camera } from './camera.js';
import { CameraPanel } from './camera_panel.js';
import { Compare } from './compare.js';
import { Display } from './display.js';
import { byId, element, isTextField, setText } from './dom.js';
import { Edits } from './edits.js';
import { Gestures } from './gestures.js';
import { History } from './history.js';
import { Marks } from './marks.js';
import { Material } from './material.js';
import { returnFocusTo } from './menus.js';
import { Mode } from './mode.js';
import { showProblem, toast } from './notices.js';
import { Parameters } from './parameters.js';
import { Picking } from './picking.js';
import { Picture } from './picture.js';
import { Pixel } from './pixel.js';
import { Rows } from './row.js';
import { Scene } from './scene.js';
import { Screen } from './screen.js';
import { Connection } from './socket.js';
import { showConnecting, showProgress } from './status.js';
import { listenToTheme } from './theme.js';
import { Verdict } from './verdict.js';
import { Viewport } from './viewport.js';

let connection = null;
let screen = null;
const send = (type, values) => connection?.send(type, values);
const redraw = () => screen?.redraw();

const scene = new Scene();
const edits = new Edits(scene, send);
const camera = new Camera(scene);
const rows = new Rows(scene, edits);
new CameraPanel(scene, camera, rows, edits);
const parameters = new Parameters(scene, rows, edits);
const material = new Material(scene, edits, send, parameters);
const history = new History(scene, edits, send);
const pixel = new Pixel(send);
const mode = new Mode();
const view = new Viewport();
const marks = new Marks(view);
const picking = new Picking(send, edits, camera, material, marks);
const display = new Display(redraw);
const verdict = new Verdict(scene, marks);
const compare = new Compare(view, verdict, send, redraw);

const messages = {
  scene: (message) => {
    view.setSize(message.size);
    // Clicks of a connection that was lost have no answers.
    marks.remove('ring');
    scene.take(message);
  },
  values: (message) => scene.update(message),
  progress: (message) => {
    showProgress(message);
    pixel.refresh();
  },
  problem: ({ text }) => showProblem(text),
  refused: ({ text, paths }) => {
    scene.forget(paths ?? []);
    verdict.refuse();
    marks.remove('ring');
    toast('refused', text);
  },
  note: ({ text }) => toast('note', text),
  probe: (message) => pixel.take(message),
  pick: (message) => picking.take(message),
  verdict: (message) => verdict.take(message),
  chart: (message) => material.take(message),
  export: (message) => history.takeExport(message),
};

// A picture may come before the scene, and says the number of its layer only.
const layers = new Promise((known) => {
  scene.addEventListener('scene', () => known(scene.layers), { once: true });
});

scene.addEventListener('scene', () => {
  document.title = `${scene.name} – torrance view`;
  setText(byId('name'), scene.name);
  setText(byId('device'), scene.device);
  byId('device').title = `torrance ${scene.version}`;
  showLayers();
});

function showLayers() {
  const layer = byId('layer');
  const before = layer.value;
  layer.replaceChildren(...scene.layers.map((name) => element('option', { value: name }, name.replaceAll('_', ' '))));
  if (scene.layers.includes(before)) layer.value = before;
}

// A new connection begins with radiance.
function showLayer() {
  if (byId('layer').value) send('show', { layer: byId('layer').value });
}

// Parts of the height of the picture as it is on the screen.
function dragCamera(change, dx, dy) {
  if (!camera.isThere) return;
  const { height } = view.rectangle();
  edits.drag('camera', camera[change](dx / height, dy / height));
}

const actions = {
  turn: (dx, dy) => dragCamera('turned', dx, dy),
  move: (dx, dy) => dragCamera('moved', dx, dy),
  dolly: (factor) => { if (camera.isThere) edits.drag('camera', camera.dollied(factor)); },
  end: () => edits.finish('camera'),
  shift: (dx, dy) => {
    view.moveBy(dx, dy);
    redraw();
  },
  zoom: (factor, at) => zoomTo(view.scale * factor, at),
  hover: (at) => pixel.point(view.pixelAt(at)),
  leave: () => pixel.point(null),
  click: (at) => {
    const place = view.pixelAt(at);
    if (!place || mode.current === 'hand') return;
    pixel.point(place);
    picking.ask(place, mode.current === 'focus' ? 'focus' : 'select');
    mode.set('turn');
  },
};

function zoomTo(scale, at) {
  view.zoomTo(scale, at);
  redraw();
}

function fit() {
  view.fit();
  redraw();
}

const shortcuts = {
  f: () => mode.toggle('focus'),
  h: () => mode.toggle('hand'),
  k: () => compare.keep(),
  w: () => compare.turn(!compare.isOn),
  0: fit,
  1: () => zoomTo(1),
  '/': () => byId('search').focus(),
  Escape: () => mode.set('turn'),
};

function onKey(event) {
  const isModified = event.ctrlKey || event.metaKey || event.altKey || event.repeat;
  if (isModified || isTextField(event.target) || event.target.closest?.('select, dialog')) return;
  const action = shortcuts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

// Without WebGL 2 there is everything but the picture.
function makeScreen() {
  try {
    return new Screen(send, { picture: new Picture(byId('picture')), view, display, compare, marks });
  } catch (error) {
    setText(byId('unable'), error.message);
    byId('unable').hidden = false;
    return null;
  }
}

screen = makeScreen();
new Gestures(byId('picture'), actions, () => mode.current);
byId('fit').addEventListener('click', fit);
byId('whole').addEventListener('click', () => zoomTo(1));
byId('meter').addEventListener('click', () => display.meter(screen?.picture.frames.picture));
byId('layer').addEventListener('change', showLayer);
document.addEventListener('keydown', onKey);
listenToTheme();
returnFocusTo(byId('picture'));

showConnecting();
connection = new Connection({
  opened: showLayer,
  closed: (reason) => showConnecting(reason || 'Connection lost'),
  message: (message) => messages[message.type]?.(message),
  frame: (buffer) => screen?.receive(buffer, layers),
});
