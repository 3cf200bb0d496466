
// The page around the cases: its filters, and what happens when a case is opened.

const cases = [...document.querySelectorAll('.case')];
const viewers = new Map();

function filter() {
  const wanted = document.getElementById('search').value.trim().toLowerCase();
  const pressed = [...document.querySelectorAll('.filter[aria-pressed=true]')].map((b) => b.dataset.status);
  let shown = 0;
  for (const row of cases) {
    const name = row.querySelector('.name').textContent.toLowerCase();
    row.hidden = !pressed.includes(row.dataset.status) || !name.includes(wanted);
    shown += !row.hidden;
  }
  document.getElementById('none').hidden = shown > 0 || cases.length === 0;
  document.getElementById('shown').textContent =
    shown === cases.length ? `${shown} ${shown === 1 ? 'case' : 'cases'}` : `${shown} of ${cases.length} cases`;
}

document.getElementById('search').addEventListener('input', filter);
for (const button of document.querySelectorAll('.filter')) {
  button.addEventListener('click', () => {
    button.setAttribute('aria-pressed', button.getAttribute('aria-pressed') !== 'true');
    filter();
  });
}

async function open(row) {
  const root = row.querySelector('.viewer');
  if (!root || viewers.has(row)) return;
  viewers.set(row, null);
  root.textContent = 'Reading pixels …';
  await parsed;
  try {
    const images = await decodeImages(row.id.replace('case-', ''), JSON.parse(row.dataset.images));
    root.textContent = '';
    if (row.open) viewers.set(row, new Viewer(root, images));
    else viewers.delete(row);
  } catch (error) {
    root.textContent = `The pixels cannot be shown: ${error.message}`;
    viewers.delete(row);
  }
}

// Pixels take memory: a closed row keeps none.
function close(row) {
  viewers.get(row)?.close();
  if (viewers.get(row)) viewers.delete(row);
}

for (const row of cases) {
  row.addEventListener('toggle', () => (row.open ? open(row) : close(row)));
}

filter();

// What asks for most attention is open.
if (['failed', 'error', 'unresolved'].includes(cases[0]?.dataset.status)) cases[0].open = true;
