use super::*;
use crate::chart::{Color, Mark};

fn side(name: &str, labels: impl IntoIterator<Item = impl ToString>) -> Side {
    Side { name: name.to_owned(), labels: labels.into_iter().map(|label| label.to_string()).collect() }
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64 / (n.max(2) - 1) as f64).collect()
}

fn plot<'a>(axes: &'a [Side], positions: Option<&'a [f64]>, values: &'a [f64]) -> SweepPlot<'a> {
    let statistic = "mean";
    SweepPlot {
        title: "furnace.toml",
        axes,
        positions,
        statistic,
        values,
        errors: None,
        theme: ThemeName::Light,
    }
}

fn texts(drawing: &Drawing) -> Vec<&str> {
    let marks = drawing.marks.iter();
    marks
        .filter_map(|mark| if let Mark::Text { text, .. } = mark { Some(text.as_str()) } else { None })
        .collect()
}

/// Centres of dots of a colour, in the order in which they are drawn.
fn dots(drawing: &Drawing, of: Color) -> Vec<[f64; 2]> {
    let dot = |mark: &Mark| match mark {
        Mark::Dot { center, color, .. } if *color == of => Some(*center),
        _ => None,
    };
    drawing.marks.iter().filter_map(dot).collect()
}

/// Solid lines of a colour.
fn lines(drawing: &Drawing, of: Color) -> Vec<Vec<[f64; 2]>> {
    let line = |mark: &Mark| match mark {
        Mark::Line { points, color, .. } if *color == of => Some(points.clone()),
        _ => None,
    };
    drawing.marks.iter().filter_map(line).collect()
}

/// Boxes around texts.
fn boxes(drawing: &Drawing) -> Vec<(String, Rect)> {
    let of = |mark: &Mark| {
        let Mark::Text { text, at: [x, y], anchor, upwards, font } = mark else { return None };
        let (w, ascent, descent) = (text_width(text, *font), 0.76 * font.size, 0.2 * font.size);
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * w,
            Anchor::End => w,
        };
        let h = ascent + descent;
        let rect = match upwards {
            false => Rect { x: x - before, y: y - ascent, w, h },
            true => Rect { x: x - ascent, y: y + before - w, w: h, h: w },
        };
        (!text.is_empty()).then(|| (text.clone(), rect))
    };
    drawing.marks.iter().filter_map(of).collect()
}

/// The first two texts that touch, or a text that is not wholly on the drawing.
fn misplaced(drawing: &Drawing) -> Option<String> {
    let boxes = boxes(drawing);
    let touch =
        |a: &Rect, b: &Rect| a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
    let is_outside = |r: &Rect| {
        r.x < 1.0 || r.y < 1.0 || r.right() > drawing.width - 1.0 || r.bottom() > drawing.height - 1.0
    };
    boxes.iter().enumerate().find_map(|(i, (text, a))| {
        let other = boxes[..i].iter().find(|(_, b)| touch(a, b)).map(|(other, _)| other.as_str());
        let other = other.or(is_outside(a).then_some("the margin"));
        other.map(|other| format!("{text:?} at {a:?} and {other:?}"))
    })
}

#[test]
fn values_are_where_they_should_be() {
    // Unsorted, without the value at 0.75.
    let axes = [side("roughness", ["1", "0", "0.5", "0.75", "0.25"])];
    let (positions, values) = ([1.0, 0.0, 0.5, 0.75, 0.25], [0.4, 1.0, 0.7, f64::NAN, 0.9]);
    let drawing = plot(&axes, Some(&positions), &values).draw();
    let color = ThemeName::Light.theme().series(0);
    let dots = dots(&drawing, color);
    assert_eq!(dots.len(), 4);
    let line = lines(&drawing, color);
    assert_eq!(line, [dots[..3].to_vec()], "from left to right, and not over what is missing");
    // 0, 0.25, 0.5 and 1; 1, 0.9, 0.7 and 0.4.
    let [dx, dy] = [0, 1].map(|c| dots[1][c] - dots[0][c]);
    for (dot, [right, down]) in dots.iter().zip([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0], [4.0, 6.0]]) {
        let off = [dot[0] - dots[0][0] - right * dx, dot[1] - dots[0][1] - down * dy];
        assert!(dx > 0.0 && dy > 0.0 && off.iter().all(|x| x.abs() < 1e-9), "{dot:?}: {off:?}");
    }
    let shown = texts(&drawing);
    assert!(["furnace.toml", "roughness", "mean"].iter().all(|text| shown.contains(text)), "{shown:?}");
}

#[test]
fn errors_are_bars_of_their_length() {
    let axes = [side("x", ["0", "1", "2"])];
    let (positions, values, errors) = ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [0.25, 1e-6, f64::NAN]);
    let plain = plot(&axes, Some(&positions), &values);
    let with_bars = SweepPlot { errors: Some(&errors), ..plain };
    let color = ThemeName::Light.theme().series(0);
    let drawing = with_bars.draw();
    let dots = dots(&drawing, color);
    let unit = dots[0][1] - dots[1][1];
    let bars: Vec<_> = lines(&drawing, color).into_iter().filter(|line| line[0][0] == line[1][0]).collect();
    let [[[x, high], [_, low]]] = bars.iter().map(|bar| [bar[0], bar[1]]).collect::<Vec<_>>()[..] else {
        panic!("{bars:?}")
    };
    assert!(x == dots[0][0] && (low - high - 0.5 * unit).abs() < 1e-9);
    assert!((0.5 * (low + high) - dots[0][1]).abs() < 1e-9);
    let remark = |plot: SweepPlot<'_>| {
        texts(&plot.draw()).contains(&"bars: ± one standard error, where larger than a dot")
    };
    assert!(remark(with_bars) && !remark(plain));
}

#[test]
fn one_value_is_a_dot_and_none_is_said() {
    let color = ThemeName::Light.theme().series(0);
    for axes in [&[][..], &[side("roughness", ["0.5"])]] {
        for positions in [None, Some(&[0.5][..])] {
            let drawing = plot(axes, positions, &[0.7]).draw();
            assert_eq!((dots(&drawing, color).len(), lines(&drawing, color).len()), (1, 0));
            assert_eq!(misplaced(&drawing), None);
        }
    }
    let axes = [side("roughness", ["0", "1"]), side("scattering", ["none", "random_walk"])];
    for values in [&[f64::NAN, f64::INFINITY, f64::NAN, f64::NAN][..], &[]] {
        let drawing = plot(&axes, Some(&[0.0, 1.0]), values).draw();
        assert!(texts(&drawing).contains(&"no values of mean"));
        assert_eq!(misplaced(&drawing), None);
    }
    let some = plot(&axes, Some(&[0.0, 1.0]), &[f64::NAN, f64::NAN, 1.0, f64::NAN]).draw();
    assert!(!texts(&some).contains(&"no values of mean"));
}

/// From 0 to 255.
fn brightness(Color([r, g, b]): Color) -> f64 {
    0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b)
}

#[test]
fn curves_are_told_apart() {
    for (labels, n) in [("", 1), ("", 6), ("", 12), ("", 18), ("", 40), ("0.", 7), ("0.", 40)] {
        let axes = [side("x", ["0", "1"]), side("c", (10..10 + n).map(|i| format!("{labels}{i}")))];
        // Names that are no numbers, too.
        let named = [axes[0].clone(), side("c", (0..n).map(|i| format!("c{i}")))];
        for axes in [&axes, &named] {
            for theme in [ThemeName::Light, ThemeName::Dark] {
                let plot = SweepPlot { theme, ..plot(axes, None, &[]) };
                let looks: Vec<_> = (0..n).map(|i| plot.look(i)).collect();
                for (i, look) in looks.iter().enumerate() {
                    assert!(!looks[..i].contains(look), "{labels}, {i} of {n}");
                    let off = brightness(look.color) - brightness(theme.theme().background);
                    assert!(off.abs() > 50.0, "{labels}, {i} of {n}: {off}");
                }
            }
        }
    }
}

#[test]
fn curves_have_their_names_and_values() {
    let axes = [side("roughness", ["0", "1"]), side("scattering", ["none", "compensated", "random_walk"])];
    let values = [0.9, 0.3, 0.8, 0.5, 1.0, 1.0];
    let drawing = plot(&axes, Some(&[0.0, 1.0]), &values).draw();
    let shown = texts(&drawing);
    let theme = ThemeName::Light.theme();
    for (name, i) in axes[1].labels.iter().zip(0..) {
        assert_eq!(shown.iter().filter(|text| *text == name).count(), 1);
        // Two values, and one in the legend, at the height of the name.
        let dots = dots(&drawing, theme.series(i));
        assert_eq!(dots.len(), 3);
        let (_, at) = boxes(&drawing).into_iter().find(|(text, _)| text == name).unwrap();
        assert!(dots[2][0] < at.x && (at.y..at.bottom()).contains(&dots[2][1]), "{name}");
        let down = dots[1][1] - dots[0][1];
        let expected = values[2 * i] - values[2 * i + 1];
        let first = dots_of_first(&drawing) / 0.6;
        assert!((down / first - expected).abs() < 1e-9, "{name}: {down}");
    }
}

/// How far down the first curve goes.
fn dots_of_first(drawing: &Drawing) -> f64 {
    let dots = dots(drawing, ThemeName::Light.theme().series(0));
    dots[1][1] - dots[0][1]
}

#[test]
fn what_later_curves_hide_is_wider() {
    let axes = [side("x", ["0", "1"]), side("c", ["a", "b", "c"])];
    let radii = |values: &[f64]| {
        let drawing = plot(&axes, Some(&[0.0, 1.0]), values).draw();
        let radii = |i| {
            let of = ThemeName::Light.theme().series(i);
            let dot = |mark: &Mark| match mark {
                Mark::Dot { radius, color, .. } if *color == of => Some(*radius),
                _ => None,
            };
            // The last is in the legend.
            drawing.marks.iter().filter_map(dot).take(2).collect::<Vec<_>>()
        };
        [0, 1, 2].map(radii)
    };
    assert_eq!(radii(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), [[RADIUS; 2]; 3]);
    let [a, b, c] = radii(&[1.0, 1.0, 1.0, 3.0, 1.0, 5.0]);
    assert!(a[0] > b[0] && b[0] > c[0] && c[0] == RADIUS);
    assert_eq!([a[1], b[1], c[1]], [RADIUS; 3]);
}

#[test]
fn further_parameters_are_panels() {
    let axes =
        [side("x", ["0", "1"]), side("c", ["a", "b"]), side("p", ["u", "v", "w"]), side("q", ["0", "1"])];
    let values: Vec<f64> = (0..24).map(f64::from).collect();
    let drawing = plot(&axes, Some(&[0.0, 1.0]), &values).draw();
    let shown = texts(&drawing);
    let headings: Vec<_> = shown.iter().filter(|text| text.starts_with("p = ")).copied().collect();
    let all =
        ["p = u, q = 0", "p = v, q = 0", "p = w, q = 0", "p = u, q = 1", "p = v, q = 1", "p = w, q = 1"];
    assert_eq!(headings, all);
    // All panels have the same axes, so a value that is larger by four from one to the next is further up.
    let theme = ThemeName::Light.theme();
    let of_first = dots(&drawing, theme.series(0));
    let place = |heading: &str| boxes(&drawing).into_iter().find(|(text, _)| text == heading).unwrap().1;
    let down = |i: usize| of_first[2 * i][1] - place(all[i]).y;
    let steps: Vec<_> = (1..6).map(|i| down(i - 1) - down(i)).collect();
    assert!(steps.iter().all(|step| *step > 1.0 && (step - steps[0]).abs() < 1e-9), "{steps:?}");
    let many = [side("x", ["0"]), side("c", ["a"]), side("p", 0..50)];
    let drawing = plot(&many, None, &[]).draw();
    assert!(texts(&drawing).contains(&"the first 36 of 50 panels"));
    assert!(texts(&drawing).contains(&"p = 35") && !texts(&drawing).contains(&"p = 36"));
}

#[test]
fn labels_do_not_touch() {
    let long = |n: usize| (0..n).map(|i| format!("a name of a value that is long, {i}")).collect::<Vec<_>>();
    let scales: [fn(f64) -> f64; 6] =
        [|x| x, |x| 1e-7 * (1.0 + x), |x| 10f64.powf(12.0 * x - 6.0), |x| 1e9 + x, |x| -3e6 * x, |_| 1.0];
    for n in [1, 9, 40, 200] {
        for (m, panels) in [(0, 1), (3, 1), (80, 1), (3, 2), (2, 6), (2, 40)] {
            for scale in scales {
                let numbers: Vec<f64> = numbers(n).into_iter().map(scale).collect();
                let mut axes = vec![side("materials.a.roughness", &numbers)];
                let mut named = vec![side("a parameter with a name that does not end soon", long(n))];
                if m > 0 {
                    axes.push(side("scattering", (0..m).map(|i| format!("curve {i}"))));
                    named.push(side(&"c".repeat(90), long(m)));
                }
                if panels > 1 {
                    axes.push(side("metallic", 0..panels));
                    named.push(side("p", long(panels)));
                }
                let variants = n * m.max(1) * panels;
                let values: Vec<_> = (0..variants).map(|i| scale(i as f64 / variants as f64)).collect();
                let errors = vec![0.1; variants];
                for (axes, positions) in [(&axes, Some(&numbers[..])), (&axes, None), (&named, None)] {
                    let plot = SweepPlot { errors: Some(&errors), ..plot(axes, positions, &values) };
                    let drawing = plot.draw();
                    assert_eq!(misplaced(&drawing), None, "{n} × {m} × {panels}, {positions:?}");
                    assert!(drawing.width < 2200.0 && drawing.height < 5000.0, "{n} × {m} × {panels}");
                }
            }
        }
    }
}

/// The test itself sees labels that touch, and those that are cut.
#[test]
fn control_touching_labels_are_seen() {
    let font = Font { size: SMALL, color: Color([0; 3]), bold: false };
    let drawing = |second: [f64; 2], anchor| {
        let mut drawing = Drawing::new(200.0, 100.0, Color([255; 3]));
        drawing.text("0.25", [50.0, 50.0], Anchor::Middle, font);
        drawing.text("0.50", second, anchor, font);
        misplaced(&drawing)
    };
    assert_eq!(drawing([80.0, 50.0], Anchor::Middle), None);
    assert!(drawing([70.0, 50.0], Anchor::Middle).is_some());
    assert!(drawing([80.0, 50.0], Anchor::End).is_some());
    assert!(drawing([190.0, 50.0], Anchor::Middle).is_some());
}

/// As of differences from a baseline, which has none from itself.
#[test]
fn curves_without_values_are_not_named() {
    let axes = [side("roughness", 0..2), side("scattering", ["none", "compensated", "random_walk"])];
    let values = [f64::NAN, f64::NAN, 0.1, 0.2, 0.3, f64::NAN];
    let drawing = plot(&axes, None, &values).draw();
    let is_named = |name| texts(&drawing).contains(&name);
    assert_eq!(["none", "compensated", "random_walk"].map(is_named), [false, true, true]);
}
