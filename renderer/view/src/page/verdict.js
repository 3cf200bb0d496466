// The verdict on the kept picture and the present one, as long as that is the picture.

import { byId, element, setText } from './dom.js';
import { counted } from './numbers.js';

// "p < 0.001" stays in one line.
function unbroken(sentence) {
  return sentence.replace(/ ([=<×]) /g, '\u00a0$1\u00a0');
}

export class Verdict {
  constructor(scene, marks) {
    Object.assign(this, { scene, marks });
    this.section = byId('verdict');
    this.section.querySelector('.close').addEventListener('click', () => this.hide());
    scene.addEventListener('changes', () => { if (scene.revision !== this.revision) this.hide(); });
  }

  expect() {
    this.hide();
    this.revision = this.scene.revision;
    this.isExpected = true;
    this.say('Comparing …', []);
  }

  // What has been edited meanwhile was not compared.
  take({ revision, different, region, sentences, spp }) {
    this.hide();
    if (revision !== this.scene.revision) return;
    this.revision = revision;
    const [title, first] = sentences[0].split(/: (.*)/s);
    const samples = `Kept: ${counted(spp[0], 'sample')} per pixel; now: ${spp[1].toLocaleString('en')}.`;
    this.say(title, [first[0].toUpperCase() + first.slice(1), ...sentences.slice(1), samples]);
    this.section.dataset.different = different;
    if (region) this.marks.showRegion(region);
  }

  // There will be none.
  refuse() {
    if (this.isExpected) this.hide();
  }

  hide() {
    this.isExpected = false;
    this.section.hidden = true;
    this.marks.remove('region');
  }

  say(title, sentences) {
    delete this.section.dataset.different;
    setText(this.section.querySelector('h2'), title);
    this.section.querySelector('.sentences').replaceChildren(...sentences.map((sentence) => element('p', {}, unbroken(sentence))));
    this.section.hidden = false;
    this.section.scrollIntoView({ block: 'nearest' });
  }
}
