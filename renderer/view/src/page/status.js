// How far the picture is, and whether there is a connection.

import { byId, setText } from './dom.js';
import { counted, digits } from './numbers.js';

const STATES = { rendering: 'Rendering', done: 'Done', paused: 'Paused', failed: 'Not rendering' };

export function showProgress({ spp, target, paths_per_second: speed, seconds, state, noise }) {
  showState(STATES[state] ?? state, state);
  byId('progress').value = target ? spp / target : 0;
  if (state === 'failed') {
    setText(byId('facts'), 'The picture is the last good one');
    return;
  }
  const samples = `${spp.toLocaleString('en')} of ${counted(target, 'sample')} per pixel`;
  const facts = [samples, `${digits(speed / 1e6, 3)} Mpaths/s`, `${seconds.toFixed(1)} s`];
  if (noise !== null) facts.push(`noise ${noise < 1 ? digits(100 * noise, 2) : Math.round(100 * noise)} %`);
  setText(byId('facts'), facts.join(' · '));
}

// `loss`: why there is no connection any more, if there was one.
export function showConnecting(loss) {
  showState(loss ? `${loss}; trying again …` : 'Connecting …', 'lost');
}

function showState(text, state) {
  setText(byId('state'), text);
  byId('status').dataset.state = state;
}
