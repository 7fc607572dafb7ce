//! Pages of templates.

use std::io::Write;
use std::path::Path;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use pliant_io::files::atomic_write;
use serde::Serialize;

use crate::error::ReportError;

const BASE: &str = include_str!("templates/base.html");
const RUNS: &str = include_str!("templates/runs.html");
const BENCH: &str = include_str!("templates/bench.html");

/// Writes the page that a template makes of its data; it is complete or absent.
///
/// # Errors
/// The template does not fit the data, or the file cannot be written.
pub fn write(template: &str, data: &impl Serialize, out: &Path) -> Result<(), ReportError> {
    let text = text(template, data)?;
    Ok(atomic_write(out, |file| file.write_all(text.as_bytes()))?)
}

fn text(template: &str, data: &impl Serialize) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    for (name, source) in [("base.html", BASE), ("runs.html", RUNS), ("bench.html", BENCH)] {
        environment.add_template(name, source)?;
    }
    environment.get_template(template)?.render(Serde(data))
}
