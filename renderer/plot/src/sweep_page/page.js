
// The page: everything that shows what is chosen.

Object.assign(state, fromAddress(location.hash));

const sliders = axes.map((_, axis) => new Slider(axis));
document.getElementById('sliders').append(...sliders.map((slider) => slider.root));
const contact = new Contact(document.getElementById('contact'));
const chart = new Chart(document.getElementById('chart'), document.getElementById('legend'), document.getElementById('statistic'));
const table = new Table(document.getElementById('table'));

// There is nothing to see of a sweep that was interrupted before its first variant.
const viewer = sweep.pixels && new SweepViewer(document.getElementById('views'), sweep.pixels);
if (!viewer) document.getElementById('views').textContent = 'No variant was rendered.';

document.querySelector('.measured').hidden = columns.length === 0;
document.querySelector('.contact').hidden = variants.length < 2;
document.querySelector('.parameters').hidden = axes.length === 0;
document.getElementById('speed').hidden = document.querySelector('.buttons').hidden = variants.length < 2;

document.getElementById('use-baseline').addEventListener('click', () => change({ baseline: [...state.at] }));
document.getElementById('show-baseline').addEventListener('click', () => change({ at: placeOf(baselineOf(state.at)) }));

// For ears: what a slider or thumbnail does not say itself.
function announce() {
  const status = isThere(chosen()) ? '' : `${nameOf(chosen())} is missing: it was not rendered.`;
  const line = document.getElementById('status');
  if (line.textContent !== status) line.textContent = status;
}

watchers.push(
  () => sliders.forEach((slider) => slider.show()),
  () => contact.show(),
  () => columns.length && chart.show(),
  () => table.show(),
  () => viewer?.changed(),
  announce,
);
change({});
