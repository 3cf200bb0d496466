//! The arrangement of variants: the values of the first parameter are columns, of the second rows, of all others pages.

use std::ops::Range;

use torrance_plot::sheet::{Headings, Side};
use torrance_scene::path_and_value;
use torrance_text::{hint, quoted};

use super::label::labels;
use super::{Axis, MOST_VARIANTS, SweepError};

/// The variants of a sweep, by number: the first parameter changes fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    axes: Vec<Axis>,
    /// Names of the values of each axis.
    labels: Vec<Vec<String>>,
    /// Columns that the values of a single axis are wrapped into.
    wrapped: Option<usize>,
}

impl Grid {
    /// The grid of some axes, as [`super::spec::parse`] reads them; without axes it is one variant. `columns` is how many
    /// the values of a single axis are wrapped into.
    ///
    /// # Errors
    /// `columns` is 0, or given for more than one axis.
    ///
    /// # Panics
    /// An axis has no values, or there are more than [`MOST_VARIANTS`].
    pub fn new(axes: Vec<Axis>, columns: Option<usize>) -> Result<Self, SweepError> {
        let variants = axes.iter().map(|axis| axis.values.len()).fold(1, usize::saturating_mul);
        assert!((1..=MOST_VARIANTS).contains(&variants), "{variants} variants");
        if columns == Some(0) {
            return Err(SweepError("--cols: a row has at least one cell".to_owned()));
        }
        if columns.is_some() && axes.len() > 1 {
            return Err(SweepError(format!(
                "--cols wraps the row of one parameter; with {}, the values of the first are the columns",
                axes.len()
            )));
        }
        let wrapped = columns.filter(|n| *n < variants);
        let labels = axes.iter().map(|axis| labels(&axis.values)).collect();
        Ok(Self { axes, labels, wrapped })
    }

    /// The parameters and their values.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Names of the values of an axis, no two the same.
    pub fn labels(&self, axis: usize) -> &[String] {
        &self.labels[axis]
    }

    /// Number of values of an axis; 1 if there is no such axis.
    fn values(&self, axis: usize) -> usize {
        self.axes.get(axis).map_or(1, |axis| axis.values.len())
    }

    /// Number of variants.
    pub fn variants(&self) -> usize {
        (0..self.axes.len()).map(|axis| self.values(axis)).product()
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        (2..self.axes.len()).map(|axis| self.values(axis)).product()
    }

    /// Number of columns of a page.
    pub fn columns(&self) -> usize {
        self.wrapped.unwrap_or(self.values(0))
    }

    /// Number of rows of a page.
    pub fn rows(&self) -> usize {
        self.wrapped.map_or(self.values(1), |columns| self.values(0).div_ceil(columns))
    }

    /// The variants of a page, row by row. All pages have the same number.
    pub fn page(&self, page: usize) -> Range<usize> {
        let n = self.values(0) * self.values(1);
        page * n..(page + 1) * n
    }

    /// Index of the value of each axis in a variant.
    pub fn indices(&self, mut variant: usize) -> Vec<usize> {
        let index = |axis| {
            let n = self.values(axis);
            let index = variant % n;
            variant /= n;
            index
        };
        (0..self.axes.len()).map(index).collect()
    }

    /// The variant with these values of some axes, and with those of `variant` of the others.
    pub fn with_values(&self, variant: usize, values: &[Option<usize>]) -> usize {
        let own = self.indices(variant).into_iter();
        let indices = own.zip(values).map(|(own, value)| value.unwrap_or(own)).collect::<Vec<_>>();
        let append = |rest: usize, (axis, i): (usize, &usize)| rest * self.values(axis) + i;
        indices.iter().enumerate().rev().fold(0, append)
    }

    /// The axis and the number of the value that a text like `roughness=0.5` names; with a single axis, `0.5` will do.
    ///
    /// # Errors
    /// There is no such parameter, or it does not take this value.
    pub fn find_value(&self, text: &str) -> Result<(usize, usize), SweepError> {
        let axis = match path_and_value(text) {
            Some((name, value)) => self.find_axis(name).map(|axis| (axis, value)),
            None if self.axes.len() == 1 => Ok((0, text)),
            // A word that only one of them takes.
            None => {
                match (0..self.axes.len()).filter(|i| self.value_of(*i, text).is_some()).collect::<Vec<_>>()[..]
                {
                    [axis] => Ok((axis, text)),
                    _ => Err(SweepError(format!(
                        "of which parameter? PARAMETER=VALUE with one of {}",
                        self.names().join(", ")
                    ))),
                }
            }
        };
        let (axis, value) = axis?;
        let labels = || self.labels[axis].iter().map(String::as_str);
        let found = self.value_of(axis, value).map(|i| (axis, i));
        let (name, hint) = (&self.axes[axis].label, || hint(value, "it is", labels()));
        found.ok_or_else(|| SweepError(format!("{name} is never {}{}", quoted(value), hint())))
    }

    fn find_axis(&self, name: &str) -> Result<usize, SweepError> {
        let found = self.axes.iter().position(|axis| axis.label == name || axis.path == name);
        let hint = || hint(name, "what does is", self.names());
        found.ok_or_else(|| SweepError(format!("{} does not vary{}", quoted(name), hint())))
    }

    /// The number of a value of an axis.
    fn value_of(&self, axis: usize, text: &str) -> Option<usize> {
        let number = |text: &str| text.parse::<f64>().ok();
        let is_it =
            |value: &String| value == text || (number(text).is_some() && number(value) == number(text));
        let by_label = || self.labels[axis].iter().position(|label| label == text);
        self.axes[axis].values.iter().position(is_it).or_else(by_label)
    }

    /// Labels of the axes.
    fn names(&self) -> Vec<&str> {
        self.axes.iter().map(|axis| axis.label.as_str()).collect()
    }

    /// Labels of the axes and of their values.
    pub fn sides(&self) -> Vec<Side> {
        let side =
            |(axis, labels): (&Axis, &Vec<String>)| Side { name: axis.label.clone(), labels: labels.clone() };
        self.axes.iter().zip(&self.labels).map(side).collect()
    }

    /// The values of the first axis, if all are numbers.
    pub fn positions(&self) -> Option<Vec<f64>> {
        self.axes.first()?.values.iter().map(|value| value.parse().ok()).collect()
    }

    /// Settings of a variant: paths and values, in the order of the axes.
    pub fn settings(&self, variant: usize) -> impl Iterator<Item = (&str, &str)> {
        let indices = self.indices(variant).into_iter();
        self.axes.iter().zip(indices).map(|(axis, i)| (axis.path.as_str(), axis.values[i].as_str()))
    }

    /// Name of a variant: `roughness = 0.5, metallic = 1`.
    pub fn name(&self, variant: usize) -> String {
        self.named(&self.indices(variant), 0)
    }

    /// The axes from `first` on, with their values.
    fn named(&self, indices: &[usize], first: usize) -> String {
        let name =
            |(axis, i): (usize, &usize)| format!("{} = {}", self.axes[axis].label, self.labels[axis][*i]);
        indices.iter().enumerate().skip(first).map(name).collect::<Vec<_>>().join(", ")
    }

    /// Row and column headings of a page's contact sheet.
    pub fn headings(&self, page: usize) -> Headings {
        let mut sides = self.sides().into_iter();
        let [mut columns, rows] = std::array::from_fn(|_| sides.next().unwrap_or_default());
        let captions = if self.wrapped.is_some() { columns.labels.clone() } else { Vec::new() };
        if self.wrapped.is_some() {
            columns.labels.clear();
        }
        Headings {
            page: self.named(&self.indices(self.page(page).start), 2),
            size: [self.columns(), self.rows()],
            columns,
            rows,
            captions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(label: &str, values: &[&str]) -> Axis {
        let values = values.iter().map(|text| (*text).to_owned()).collect();
        Axis { path: format!("materials.ball.{label}"), label: label.to_owned(), values }
    }

    fn grid(sizes: &[usize], columns: Option<usize>) -> Grid {
        let numbers: Vec<_> = (0..20).map(|i| i.to_string()).collect();
        let numbers: Vec<_> = numbers.iter().map(String::as_str).collect();
        let axes = sizes.iter().zip(["a", "b", "c", "d"]).map(|(n, label)| axis(label, &numbers[..*n]));
        Grid::new(axes.collect(), columns).unwrap()
    }

    #[test]
    fn all_variants_are_on_pages() {
        for (sizes, columns, size) in [
            (&[][..], None, [1, 1, 1]),
            (&[9], None, [9, 1, 1]),
            (&[9], Some(4), [4, 3, 1]),
            (&[9], Some(9), [9, 1, 1]),
            (&[9], Some(20), [9, 1, 1]),
            (&[9], Some(1), [1, 9, 1]),
            (&[5, 3], None, [5, 3, 1]),
            (&[4, 3, 2], None, [4, 3, 2]),
            (&[2, 3, 2, 5], None, [2, 3, 10]),
        ] {
            let grid = grid(sizes, columns);
            assert_eq!([grid.columns(), grid.rows(), grid.pages()], size, "{sizes:?}");
            assert_eq!(grid.variants(), sizes.iter().product::<usize>());
            let all: Vec<_> = (0..grid.pages()).flat_map(|page| grid.page(page)).collect();
            assert_eq!(all, (0..grid.variants()).collect::<Vec<_>>(), "{sizes:?}");
        }
    }

    #[test]
    fn values_are_found_by_number_and_by_name() {
        let axes = vec![axis("a", &["0", "0.50", "10"]), axis("b", &["none", "some"])];
        let grid = Grid::new(axes, None).unwrap();
        for (text, found) in [
            ("a=0.5", (0, 1)),
            ("a = 1e1", (0, 2)),
            ("materials.ball.a=0", (0, 0)),
            ("b=some", (1, 1)),
            ("none", (1, 0)),
            ("10.0", (0, 2)),
        ] {
            assert_eq!(grid.find_value(text), Ok(found), "{text}");
        }
        for (text, message) in [
            ("a=7", "a is never \"7\"; it is \"0\", \"0.5\" or \"10\""),
            ("c=1", "\"c\" does not vary; what does is \"a\" or \"b\""),
            ("7", "of which parameter? PARAMETER=VALUE with one of a, b"),
        ] {
            assert_eq!(grid.find_value(text).unwrap_err().to_string(), message, "{text}");
        }
        let with = |variant, values: [Option<usize>; 2]| grid.with_values(variant, &values);
        assert_eq!([with(5, [Some(0), None]), with(5, [None, Some(0)]), with(5, [None; 2])], [3, 2, 5]);
    }

    #[test]
    fn the_first_axis_changes_fastest() {
        let grid = grid(&[4, 3, 2], None);
        let indices: Vec<_> = (0..24).map(|variant| grid.indices(variant)).collect();
        let expected: Vec<_> =
            (0..2).flat_map(|c| (0..3).flat_map(move |b| (0..4).map(move |a| vec![a, b, c]))).collect();
        assert_eq!(indices, expected);
        assert_eq!(grid.name(23), "a = 3, b = 2, c = 1");
        let settings: Vec<_> = grid.settings(17).collect();
        assert_eq!(
            settings,
            [("materials.ball.a", "1"), ("materials.ball.b", "1"), ("materials.ball.c", "1")]
        );
    }

    #[test]
    fn headings_say_what_cells_have_in_common() {
        let headings = grid(&[2, 3, 2, 2], None).headings(3);
        assert_eq!((headings.page.as_str(), headings.size), ("c = 1, d = 1", [2, 3]));
        assert_eq!(
            (headings.columns.name.as_str(), &headings.columns.labels[..]),
            ("a", &["0", "1"].map(str::to_owned)[..])
        );
        assert_eq!((headings.rows.name.as_str(), headings.rows.labels.len()), ("b", 3));
        assert!(headings.captions.is_empty());

        let headings = grid(&[5], Some(2)).headings(0);
        assert_eq!((headings.size, headings.captions.len(), headings.columns.labels.len()), ([2, 3], 5, 0));
        assert_eq!((headings.columns.name.as_str(), headings.page.as_str()), ("a", ""));
        assert_eq!(grid(&[5], None).headings(0).rows, Side::default());
    }

    #[test]
    fn only_one_axis_is_wrapped() {
        let axes = || vec![axis("a", &["0", "1"]), axis("b", &["0"])];
        let error = Grid::new(axes(), Some(2)).unwrap_err().to_string();
        assert_eq!(
            error,
            "--cols wraps the row of one parameter; with 2, the values of the first are the columns"
        );
        assert_eq!(
            Grid::new(Vec::new(), Some(0)).unwrap_err().to_string(),
            "--cols: a row has at least one cell"
        );
    }
}
