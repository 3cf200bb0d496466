// Draws frames with WebGL 2.

import { stopsOf } from './color.js';
import { MAGMA, VIRIDIS } from './maps.js';
import { clamp } from './numbers.js';
import { VERTEX, fragment } from './shaders.js';

const KINDS = ['radiance', 'noise', 'display'];
const CHANNELS = ['color', 'red', 'green', 'blue', 'luminance', 'false-color'];
const TONES = ['clip', 'reinhard', 'aces', 'agx', 'neutral'];

// Texels of a picture that are averaged for one pixel of the screen, at most, along an edge.
const MOST_TAPS = 4;

export class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.frames = {};
    this.gl = canvas.getContext('webgl2', { antialias: false, depth: false, alpha: true });
    if (!this.gl) throw new Error('This browser has no WebGL 2, with which the picture is drawn.');
    this.prepare();
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => this.restore());
  }

  prepare() {
    const { gl } = this;
    this.programs = new Map();
    this.textures = { picture: gl.createTexture(), snapshot: gl.createTexture() };
  }

  restore() {
    this.prepare();
    Object.entries(this.frames).forEach(([slot, frame]) => this.upload(slot, frame));
    this.canvas.dispatchEvent(new Event('stale'));
  }

  // `slot` is "picture" or "snapshot".
  upload(slot, frame) {
    const { gl } = this;
    if (this.frames[slot] !== frame) this.frames[slot]?.bitmap?.close();
    this.frames[slot] = frame;
    gl.bindTexture(gl.TEXTURE_2D, this.textures[slot]);
    gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
    const { width, height, shared, bitmap } = frame;
    if (bitmap) gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, gl.RGB, gl.UNSIGNED_BYTE, bitmap);
    else gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB9_E5, width, height, 0, gl.RGB, gl.UNSIGNED_INT_5_9_9_9_REV, shared);
  }

  // `split` is where the snapshot ends and the picture begins, from the left, in pixels; 0 without one.
  draw(view, display, split) {
    const { gl, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(0, 0, split, canvas.height);
    if (split > 0) this.drawSlot('snapshot', view, display);
    gl.scissor(split, 0, canvas.width - split, canvas.height);
    this.drawSlot('picture', view, display);
  }

  drawSlot(slot, view, display) {
    const { gl } = this;
    const frame = this.frames[slot];
    if (!frame) return;
    gl.bindTexture(gl.TEXTURE_2D, this.textures[slot]);
    this.setFilter(frame, view);
    const places = this.use(frame, view, display);
    this.setPlace(view, places);
    gl.uniform1f(places.gain, 2 ** display.exposure);
    gl.uniform3fv(places.map, stopsOf(frame.kind === 'noise' ? MAGMA : VIRIDIS).flat());
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  // Pixels are seen as squares, but not those of the coarse pictures of a camera that moves.
  setFilter(frame, view) {
    const { gl } = this;
    const isWhole = frame.width >= view.size[0];
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, isWhole ? gl.NEAREST : gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  }

  setPlace(view, places) {
    const { gl, canvas } = this;
    const { left, top, width, height } = view.rectangle();
    const x = (at) => 2 * at / canvas.width - 1;
    const y = (at) => 1 - 2 * at / canvas.height;
    gl.uniform4f(places.rectangle, x(left), y(top + height), x(left + width), y(top));
    gl.uniform2f(places.pixel, 1 / width, 1 / height);
  }

  // Uses the program of what is chosen. Returns the places of its values.
  use(frame, view, { tone, channel }) {
    const texels = frame.width / view.rectangle().width;
    const choices = {
      LOGARITHMIC: Number(Boolean(frame.bitmap)),
      KIND: KINDS.indexOf(frame.kind),
      CHANNEL: CHANNELS.indexOf(channel),
      TONE: TONES.indexOf(tone),
      TAPS: clamp(Math.ceil(texels), 1, MOST_TAPS),
    };
    const key = Object.values(choices).join();
    if (!this.programs.has(key)) this.programs.set(key, this.made(choices));
    const { program, places } = this.programs.get(key);
    this.gl.useProgram(program);
    return places;
  }

  made(choices) {
    const program = linked(this.gl, fragment(choices));
    const place = (name) => [name, this.gl.getUniformLocation(program, name)];
    return { program, places: Object.fromEntries(['rectangle', 'pixel', 'gain', 'map'].map(place)) };
  }
}

function linked(gl, text) {
  const program = gl.createProgram();
  gl.attachShader(program, compiled(gl, gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, compiled(gl, gl.FRAGMENT_SHADER, text));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

function compiled(gl, type, source) {
  const shader = gl.createShader(type);
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
  return shader;
}
