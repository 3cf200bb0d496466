// What is most often wanted of the camera, on top of the panel.

import { byId, replaceRows } from './dom.js';

const ROWS = {
  'camera.fov': 'field of view',
  'camera.size': 'height of view',
  'camera.lens.radius': 'aperture radius',
  'camera.lens.focus_distance': 'focus distance',
};

export class CameraPanel {
  constructor(scene, camera, rows, edits) {
    Object.assign(this, { scene, camera, rows });
    scene.addEventListener('scene', () => edits.whenIdle(() => this.build()));
    scene.addEventListener('changes', () => { byId('reset-camera').disabled = camera.original().length === 0; });
    byId('reset-camera').addEventListener('click', () => edits.set(camera.original()));
    byId('add-lens').addEventListener('click', () => edits.set(camera.focused(camera.distance)));
  }

  build() {
    const { scene, camera } = this;
    const isLensless = camera.isThere && camera.type === 'perspective' && !camera.hasLens;
    const paths = Object.keys(ROWS).filter((path) => scene.parameters.has(path));
    replaceRows(byId('camera-rows'), paths.map((path) => this.rows.make(path, ROWS[path])));
    byId('add-lens').hidden = !isLensless;
    byId('focus').disabled = camera.type !== 'perspective';
  }
}
