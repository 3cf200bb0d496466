
// Images out of the text they are stored as, decoded when they are wanted, and a bounded number of them kept.

// Pixels of all images that are kept: 16 bytes each, with their paintings.
const MOST_PIXELS = 12e6;

class Cache {
  // `wanted` lists variants, those first that are wanted soonest; `changed` is called when another one is there.
  constructor({ stored: [width, height], part }, wanted, changed) {
    Object.assign(this, { width, height, part, wanted, changed });
    this.most = Math.max(4, Math.floor(MOST_PIXELS / (width * height)));
    // From the one that was not asked for the longest time.
    this.images = new Map();
  }

  // An image, if it is there: `planes` and `means`, or the `error` that it could not be read for.
  get(variant) {
    const image = this.images.get(variant);
    if (image) {
      this.images.delete(variant);
      this.images.set(variant, image);
    }
    return image;
  }

  // Decodes what is wanted, one after the other, until all is there. What is shown meanwhile goes first.
  async fill() {
    if (this.isFilling) return;
    this.isFilling = true;
    await parsed;
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const image = await this.decode(next);
      this.images.set(next, image);
      this.forget();
      this.changed(next);
      // Others have their turn: the page stays alive.
      await new Promise((resolve) => { setTimeout(resolve); });
    }
    this.isFilling = false;
  }

  next() {
    return this.wanted().slice(0, this.most).find((variant) => isThere(variant) && !this.images.has(variant));
  }

  async decode(variant) {
    try {
      const text = document.getElementById(`pixels-${variant}`).textContent;
      const planes = await decodePart(text, this.part, this.width, this.height);
      return { planes, mean: meanLuminance(planes) };
    } catch (error) {
      return { error };
    }
  }

  forget() {
    const wanted = new Set(this.wanted().slice(0, this.most));
    for (const variant of this.images.keys()) {
      if (this.images.size <= this.most) return;
      if (!wanted.has(variant)) this.images.delete(variant);
    }
  }

  // An image as it is shown, painted once for each exposure and curve.
  painting(variant) {
    const image = this.get(variant);
    if (!image?.planes) return undefined;
    const how = `${state.exposure} ${state.tonemap}`;
    if (image.how !== how) {
      image.painting = paintRadiance(this, image.planes, state.exposure, state.tonemap, sweep.whiteBalance);
      image.how = how;
    }
    return image.painting;
  }
}

// Of the pixels that are finite.
function meanLuminance([red, green, blue]) {
  let sum = 0;
  let n = 0;
  for (let i = 0; i < red.length; i++) {
    const l = 0.2126 * red[i] + 0.7152 * green[i] + 0.0722 * blue[i];
    if (!Number.isFinite(l)) continue;
    sum += l;
    n++;
  }
  return sum / n;
}

// How two images differ: the means of luminance's difference, of its magnitude and of its square, over pixels that are
// finite in both.
function meanDifferences(reference, result) {
  let [n, sum, magnitudes, squares] = [0, 0, 0, 0];
  const luminance = (planes, i) => 0.2126 * planes[0][i] + 0.7152 * planes[1][i] + 0.0722 * planes[2][i];
  for (let i = 0; i < result[0].length; i++) {
    const d = luminance(result, i) - luminance(reference, i);
    if (!Number.isFinite(d)) continue;
    n++;
    sum += d;
    magnitudes += Math.abs(d);
    squares += d * d;
  }
  return { mean: sum / n, magnitude: magnitudes / n, rms: Math.sqrt(squares / n) };
}
