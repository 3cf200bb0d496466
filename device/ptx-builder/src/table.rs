//! Text tables.

/// Lines of cells in aligned columns, the first to the left, the others to the right. The first line is the
/// heading.
pub fn table(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |line: &'_ Vec<String>, column: usize| line.get(column).map_or(0, |text| text.chars().count());
    let widths: Vec<_> =
        (0..columns).map(|column| lines.iter().map(|line| cell(line, column)).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up() {
        let lines = [["kernel", "n"], ["a", "100"]].map(|line| line.map(str::to_owned).to_vec());
        assert_eq!(table(&lines), "kernel    n\na       100\n");
    }
}
