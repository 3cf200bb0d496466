//! Pages in a headless browser, where there is one.

mod browser;
mod html_report;
mod sweep_page;
