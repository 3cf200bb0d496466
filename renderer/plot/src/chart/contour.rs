//! Contour lines by marching squares (Lorensen & Cline 1987, in the plane).

/// Lines along which the values of a grid, `columns` wide, are `level`: points in units of cells, (0, 0) the first value.
pub fn contours(values: &[f64], columns: usize, level: f64) -> Vec<Vec<[f64; 2]>> {
    let rows = values.len() / columns.max(1);
    let mut segments = Vec::new();
    for y in 0..rows.saturating_sub(1) {
        for x in 0..columns.saturating_sub(1) {
            let at = |dx: usize, dy: usize| values[(y + dy) * columns + x + dx] - level;
            let corners = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
            segments.extend(cell(corners).into_iter().map(|s| s.map(|[u, v]| [x as f64 + u, y as f64 + v])));
        }
    }
    joined(segments)
}

/// The segments through one cell, whose `corners` are in order around it.
fn cell(corners: [f64; 4]) -> Vec<[[f64; 2]; 2]> {
    const PLACES: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let mut crossings = Vec::with_capacity(4);
    for i in 0..4 {
        let j = (i + 1) % 4;
        let (a, b) = (corners[i], corners[j]);
        if (a > 0.0) != (b > 0.0) {
            let t = a / (a - b);
            let at = |k: usize| PLACES[i][k] + t * (PLACES[j][k] - PLACES[i][k]);
            crossings.push([at(0), at(1)]);
        }
    }
    // Where a value is the level itself, a line may do no more than touch the cell.
    crossings.chunks_exact(2).map(|p| [p[0], p[1]]).filter(|[a, b]| !near(*a, *b)).collect()
}

fn near(a: [f64; 2], b: [f64; 2]) -> bool {
    (a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-9
}

/// Joins segments that share ends into lines.
fn joined(mut segments: Vec<[[f64; 2]; 2]>) -> Vec<Vec<[f64; 2]>> {
    let mut lines = Vec::new();
    while let Some([a, b]) = segments.pop() {
        let mut line = vec![a, b];
        for _ in 0..2 {
            while let Some(end) = line.last().copied()
                && let Some(i) = segments.iter().position(|s| near(s[0], end) || near(s[1], end))
            {
                let [p, q] = segments.swap_remove(i);
                line.push(if near(p, end) { q } else { p });
            }
            line.reverse();
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_has_round_contours() {
        let n = 21;
        let values: Vec<f64> =
            (0..n * n).map(|i| ((i % n) as f64 - 10.0).hypot((i / n) as f64 - 10.0)).collect();
        let lines = contours(&values, n, 5.0);
        assert_eq!(lines.len(), 1);
        for p in &lines[0] {
            let r = (p[0] - 10.0).hypot(p[1] - 10.0);
            assert!((r - 5.0).abs() < 0.1, "{p:?}");
        }
        assert!(contours(&values, n, 50.0).is_empty());
    }
}
