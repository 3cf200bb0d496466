//! Results for people: the page.

use std::io;

use torrance_image::compare::words::percent;
use torrance_plot::html::{self, BUDGET, Entry, Page};

use super::report::{Report, Status};
use super::suite::Suite;

/// The page's bytes. What the images of `reports` hold is moved into it. `when` and `device` are for its head.
///
/// # Errors
/// An image cannot be written into it.
pub fn page(suite: &Suite, reports: Vec<Report>, device: &str, when: &str) -> io::Result<Vec<u8>> {
    let count = |status| reports.iter().filter(|r| r.status == status).count();
    let failed = count(Status::Failed) + count(Status::Error);
    let not_run = match count(Status::NotRun) {
        0 => String::new(),
        n => format!(", interrupted with {n} not run"),
    };
    let page = Page {
        title: match failed {
            0 => format!("{}: no case failed{not_run}", suite.path.display()),
            n => format!("{}: {n} of {} cases failed{not_run}", suite.path.display(), reports.len()),
        },
        subtitle: format!(
            "torrance {}, {device}, {when}; false alarms in the whole suite: {} at most",
            env!("CARGO_PKG_VERSION"),
            percent(suite.level)
        ),
        entries: reports.into_iter().map(entry).collect(),
    };
    let mut bytes = Vec::new();
    html::write(&page, BUDGET, &mut bytes)?;
    Ok(bytes)
}

fn entry(report: Report) -> Entry {
    let numbers = report.numbers();
    let Report { name, status, words, seconds, log, measured } = report;
    let images = measured.and_then(|m| {
        let kept = m.images?;
        let (z, worst) = m.judgement.map(|j| (j.z, j.worst.region)).unzip();
        let worst = worst.filter(|r| r.width > 0 && r.height > 0);
        let flip = m.flip.map(|f| f.map);
        Some(html::Images { reference: kept.reference, result: kept.result, z, flip, worst })
    });
    Entry { name, status, verdict: words, numbers, seconds, log, images }
}
