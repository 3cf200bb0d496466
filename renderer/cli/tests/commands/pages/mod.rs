//! Pages in a headless browser, where there is one.

pub(crate) mod browser;
mod html_report;
mod sweep_page;
