//! `list`, `show`, `schema`: commands that write nothing.

use pliant::scenes::{builtin, format, load};
use serde_json::json;

use super::args::SceneArguments;
use super::output::{Failure, print, print_json};

/// The first sentence of a text, without its full stop. A full stop ends a sentence only if a
/// capital letter follows: that of "Lube et al. 2004" does not.
fn first_sentence(text: &str) -> &str {
    let begins_sentence = |rest: &str| rest.starts_with(char::is_uppercase);
    let end = text.match_indices(". ").find(|(at, _)| begins_sentence(&text[at + 2..]));
    text[..end.map_or(text.len(), |(at, _)| at)].trim_end_matches('.')
}

pub fn list(json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for name in builtin::names() {
        let scene = load::read(name).map_err(Failure::failed)?;
        rows.push((name, scene.description));
    }
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, description)| json!({ "name": name, "description": description }))
            .collect();
        return print_json(Ok(rows.into()));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: String = rows
        .iter()
        .map(|(name, description)| format!("{name:width$}  {}\n", first_sentence(description)))
        .collect();
    Ok(print(&lines)?)
}

pub fn show(arguments: &SceneArguments) -> Result<(), Failure> {
    let scene = load::load(&arguments.scene, &arguments.changes.assignments()).map_err(Failure::usage)?;
    print_json(serde_json::to_value(&scene))
}

pub fn schema() -> Result<(), Failure> {
    print_json(Ok(format::schema()))
}
