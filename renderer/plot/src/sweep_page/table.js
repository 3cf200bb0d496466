
// What was measured of the variant and of the baseline.

class Table {
  constructor(root) {
    this.cells = columns.map((name) => {
      const cells = Array.from({ length: 3 }, () => element('td'));
      root.tBodies[0].append(element('tr', {}, element('th', { scope: 'row' }, name), ...cells));
      return cells;
    });
  }

  show() {
    const [result, reference] = [chosen(), baselineOf(state.at)].map((variant) => variants[variant].statistics);
    this.cells.forEach((cells, i) => {
      const [a, b] = [reference[i] ?? null, result[i] ?? null];
      const isCount = (x) => Number.isInteger(x) && Math.abs(x) < 1e9;
      const write = (x) => (x === null ? '–' : isCount(x) ? String(x) : trimmed(digits(x, 4)));
      cells[0].textContent = write(b);
      cells[1].textContent = write(a);
      cells[2].textContent = a === null || b === null ? '–' : this.change(a, b);
    });
  }

  change(from, to) {
    if (from === to) return '0';
    const part = 100 * (to / from - 1);
    if (from > 0 && part < 1000) return `${signed(part, 3)} %`;
    return trimmed(signed(to - from, 3));
  }
}
