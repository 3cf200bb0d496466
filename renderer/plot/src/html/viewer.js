
// The views of a case.

const TITLES = {
  wipe: 'Reference | Result',
  reference: 'Reference',
  result: 'Result',
  difference: 'Result − reference',
  z: 'z: difference in standard errors',
  flip: 'ꟻLIP',
};

// Everything there is of a case: `reference` and `result` as three planes of floats each, and what maps it has.
async function decodeImages(index, info) {
  const [width, height] = info.stored;
  const names = Object.keys(info.parts);
  const planes = await Promise.all(names.map((name) => {
    const text = document.getElementById(`pixels-${index}-${name}`).textContent;
    return decodePart(text, info.parts[name], width, height);
  }));
  const parts = Object.fromEntries(names.map((name, i) => [name, planes[i]]));
  return { ...info, width, height, parts };
}

class Viewer extends Views {
  constructor(root, images) {
    const { parts } = images;
    super(root, images, Object.keys(TITLES).filter((kind) => ['wipe', 'difference'].includes(kind) || kind in parts));
    this.exposure = fittingExposure(parts.reference);
    this.root.querySelector('[data-set=exposure]').value = this.exposure;
    this.difference = largestDifference(parts.reference, parts.result);
    this.range = quantile(this.difference, 0.995) || 1e-3;
    this.show('facts', this.facts());
    this.pointAtWorst();
    this.repaint(['reference', 'result', 'difference', 'z', 'flip']);
  }

  title(kind) {
    return TITLES[kind];
  }

  divider() {
    return 'Divider: reference to its left, result to its right';
  }

  connect() {
    super.connect();
    this.on('click', '[data-do=worst]', () => this.showWorst());
    this.root.querySelector('[data-do=worst]').hidden = !this.images.worst;
    this.on('input', '[data-set=exposure]', ({ target }) => {
      this.exposure = Number(target.value);
      this.repaint(['reference', 'result']);
    });
    this.on('input', '[data-set=range]', ({ target }) => {
      this.rangeStops = Number(target.value);
      this.repaint(['difference']);
    });
  }

  // What has to be known of the images beside what they look like.
  facts() {
    const { size: [width, height], reduction, parts } = this.images;
    const facts = [`${width} × ${height}` + (reduction > 1 ? `, reduced ${reduction}×` : '')];
    for (const name of ['reference', 'result']) {
      const n = countNotFinite(parts[name]);
      if (n) facts.push(`${n} ${n === 1 ? 'pixel' : 'pixels'} of the ${name} not finite`);
    }
    return facts.join(' · ');
  }

  painting(name) {
    const { images } = this;
    const { parts } = images;
    switch (name) {
      case 'difference': return paintMap(images, this.difference, 'signed', this.fullRange());
      case 'z': return parts.z && paintMap(images, parts.z[0], 'signed', Z_RANGE);
      case 'flip': return parts.flip && paintMap(images, parts.flip[0], 'unsigned', 1);
      default: return paintRadiance(images, parts[name], this.exposure);
    }
  }

  showWorst() {
    const box = this.worst();
    if (!box) return;
    const { clientWidth, clientHeight } = this.shown()[0].canvas;
    this.zoomTo(0.6 * Math.min(clientWidth / box.width, clientHeight / box.height));
    this.moveTo(box.x + box.width / 2, box.y + box.height / 2);
  }

  // Until something is pointed at: the middle of the worst region, or of the image.
  pointAtWorst() {
    const { x, y, width, height } = this.worst() ?? { x: 0, y: 0, width: this.images.width, height: this.images.height };
    this.pixel = { x: 0, y: 0 };
    this.point({ x: Math.floor(x + width / 2), y: Math.floor(y + height / 2) });
  }

  // The worst region in stored pixels.
  worst() {
    if (!this.images.worst) return null;
    const [x, y, width, height] = this.images.worst.map((length) => length / this.images.reduction);
    return { x, y, width, height };
  }

  readOut() {
    super.readOut();
    const { images: { parts, width }, pixel } = this;
    const i = pixel.y * width + pixel.x;
    this.write('z', digits(parts.z?.[0][i], 2));
    this.write('flip', digits(parts.flip?.[0][i], 2));
  }
}
