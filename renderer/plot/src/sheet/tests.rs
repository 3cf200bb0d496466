//! Cells, labels and limits of sheets.

use super::layout::frame;
use super::text::{plain, wrap};
use super::*;
use crate::chart::text_width;

fn image(seed: u32, [w, h]: [u32; 2]) -> RgbImage {
    RgbImage::from_fn(w, h, |x, y| image::Rgb([x, y, seed].map(|i| (i * 37 + seed * 11) as u8)))
}

fn owned(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|label| (*label).to_owned()).collect()
}

fn sheet(columns: &[&str], rows: &[&str]) -> Sheet {
    let side = |name: &str, labels| Side { name: name.to_owned(), labels: owned(labels) };
    Sheet {
        title: "preview.toml".into(),
        headings: Headings {
            page: "ior = 1.5".into(),
            size: [columns.len(), rows.len()],
            columns: side("roughness", columns),
            rows: side("metallic", rows),
            captions: Vec::new(),
        },
        cell: [64, 48],
        gap: 5,
        theme: ThemeName::Light,
    }
}

fn part(sheet: &RgbImage, [x, y]: [u32; 2], [w, h]: [u32; 2]) -> RgbImage {
    RgbImage::from_fn(w, h, |i, j| *sheet.get_pixel(x + i, y + j))
}

fn is_plain(sheet: &RgbImage, place: [u32; 2], size: [u32; 2]) -> bool {
    let background = ThemeName::Light.theme().background.0;
    part(sheet, place, size).pixels().all(|pixel| pixel.0 == background)
}

#[test]
fn images_are_copied_to_whole_pixels() {
    for captions in [&[][..], &["a", "b b b b b b b b b b", "c", "d", "e"]] {
        let mut sheet = sheet(&["0", "0.5", "1"], &["0", "1"]);
        sheet.headings.captions = owned(captions);
        let images: Vec<_> = (0..5).map(|i| image(i, sheet.cell)).collect();
        let drawn = sheet.draw(&images.iter().map(Picture::Image).collect::<Vec<_>>()).unwrap();
        assert_eq!(sheet.size(), Ok([drawn.width(), drawn.height()]));
        let layout = Layout::new(&sheet).unwrap();
        let places: Vec<_> = layout.places([3, 2]).collect();
        for (image, place) in images.iter().zip(&places) {
            assert_eq!(part(&drawn, *place, sheet.cell), *image);
        }
        let [x, y] = places[0];
        assert_eq!(places[1], [x + 64 + 5, y]);
        assert!(is_plain(&drawn, [x + 64, y], [5, 48]), "the gap");
        assert!(is_plain(&drawn, places[5], sheet.cell), "beyond the last");
        assert!(!is_plain(&drawn, [0, 0], [drawn.width(), y]), "the headings");
        assert!(!is_plain(&drawn, [0, y], [x, 2 * 48]), "names of rows");
        let below = is_plain(&drawn, [x, y + 48], [64, places[3][1] - y - 48]);
        assert_eq!(below, captions.is_empty());
    }
}

#[test]
fn labels_stay_above_their_columns() {
    let long = [
        "random_walk of many steps and more",
        "compensated",
        "…roughness = 0.125, alpha = 0.015625",
        "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii",
    ];
    for cell in [[24, 24], [64, 48], [512, 300]] {
        let mut sheet = Sheet { cell, title: String::new(), ..sheet(&long, &long) };
        sheet.headings.page.clear();
        sheet.headings.columns.name.clear();
        let drawn = sheet.draw(&[]).unwrap();
        let layout = Layout::new(&sheet).unwrap();
        let [x, y] = layout.first;
        for i in 1..4 {
            assert!(is_plain(&drawn, [x + i * layout.pitch[0] - 3, 0], [1, y]), "{cell:?}, column {i}");
        }
        assert!(
            is_plain(&drawn, [0, 0], [drawn.width(), 4]) && is_plain(&drawn, [0, 0], [4, drawn.height()])
        );
        assert!(is_plain(&drawn, [x - 1, 0], [1, drawn.height()]), "between names of rows and cells");
    }
}

#[test]
fn missing_images_have_a_frame_and_a_word() {
    let sheet = sheet(&["0"], &["1"]);
    let drawn = sheet.draw(&[Picture::Missing("stopped")]).unwrap();
    let [x, y] = Layout::new(&sheet).unwrap().first;
    let frame = frame(ThemeName::Light.theme()).0;
    for [dx, dy] in [[0, 0], [63, 0], [0, 47], [63, 47], [30, 0]] {
        assert_eq!(drawn.get_pixel(x + dx, y + dy).0, frame);
    }
    assert!(!is_plain(&drawn, [x + 2, y + 2], [60, 44]));
    let empty = sheet.draw(&[Picture::Missing("")]).unwrap();
    assert!(is_plain(&empty, [x + 2, y + 2], [60, 44]));
}

#[test]
fn frames_have_one_size() {
    let mut sheet = sheet(&[], &[]);
    sheet.headings = Headings {
        size: [1, 1],
        captions: owned(&["roughness = 0", "roughness = 0.25, metallic = 1"]),
        ..Headings::default()
    };
    let image = image(1, sheet.cell);
    let frames = sheet.frames(&[0, 1].map(|i| (i, Picture::Image(&image)))).unwrap();
    assert_eq!(frames[0].dimensions(), frames[1].dimensions());
    assert_ne!(frames[0], frames[1], "the captions");
    let one = sheet.draw(&[Picture::Image(&image)]).unwrap();
    assert_eq!(one, frames[0]);
}

#[test]
fn sheets_have_limits() {
    let huge = Sheet { cell: [16_384, 10], ..sheet(&["0", "1"], &["0"]) };
    let error = huge.size().unwrap_err().to_string();
    assert!(error.ends_with("pixels is too large: a side has at most 32767"), "{error}");
    let sheet = sheet(&["0"], &["0"]);
    let error = sheet.draw(&[Picture::Image(&image(0, [64, 47]))]).unwrap_err().to_string();
    assert_eq!(error, "an image of 64 × 47 pixels in a sheet of 64 × 48");
}

#[test]
fn lines_fit_and_say_when_they_are_cut() {
    let font = plain(11.0);
    for (text, width, most, lines) in [
        ("0.5", 60.0, 2, &["0.5"][..]),
        ("", 60.0, 2, &[]),
        ("random_walk", 60.0, 2, &["random_", "walk"]),
        ("random_walk", 60.0, 1, &["random_…"]),
        ("0.25, 0.5, 0.75", 60.0, 2, &["0.25, 0.5,", "0.75"]),
        ("random_walk", 1.0, 2, &["", ""]),
    ] {
        let found = wrap(text, width, most, font);
        assert_eq!(found, lines, "{text}");
        assert!(found.iter().all(|line| text_width(line, font) <= width), "{found:?}");
    }
}
