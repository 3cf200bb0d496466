//! Names and messages in pages: whatever they are, the page has the tags that it has with others.
#![no_main]

use libfuzzer_sys::fuzz_target;
use torrance_plot::html::{BUDGET, Entry, Page, Status, write};

/// The page with a text wherever a page has one.
fn page(text: &str) -> Vec<u8> {
    let text = text.to_owned();
    let entry = Entry {
        name: text.clone(),
        status: Status::Failed,
        verdict: vec![text.clone(), text.clone()],
        numbers: vec![(text.clone(), text.clone())],
        seconds: 1.0,
        log: text.clone(),
        images: None,
    };
    let mut bytes = Vec::new();
    write(&Page { title: text.clone(), subtitle: text, entries: vec![entry] }, BUDGET, &mut bytes)
        .expect("memory takes it");
    bytes
}

/// What a browser tells tags and attributes by.
fn marks(page: &[u8]) -> [usize; 3] {
    [b'<', b'>', b'"'].map(|mark| page.iter().filter(|byte| **byte == mark).count())
}

fuzz_target!(|data: &[u8]| {
    // An empty text may leave a part out.
    if let Some(text) = std::str::from_utf8(data).ok().filter(|text| !text.trim().is_empty()) {
        assert_eq!(marks(&page(text)), marks(&page("a")), "{text:?}");
    }
});
