//! Paths of source files that documents and comments name in backticks.

use std::path::Path;

/// Endings of the files that count.
const EXTENSIONS: [&str; 9] = ["rs", "cu", "cuh", "cpp", "hpp", "py", "md", "toml", "json"];

/// The paths that a document names, with the numbers of their lines. In a source file only comments
/// count.
pub fn named_paths(document: &str, text: &str) -> Vec<(usize, String)> {
    let is_markdown = document.ends_with(".md");
    let mut in_code = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if !is_markdown && !trimmed.starts_with("//") {
            continue;
        }
        if trimmed.trim_start_matches(['/', '!', ' ']).starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        // Between backticks is every second part.
        for span in line.split('`').skip(1).step_by(2) {
            for part in span.split([' ', '(', ')', '"']).filter(|part| is_path(part)) {
                found.extend(expand(part).into_iter().map(|path| (number, path)));
            }
        }
    }
    found
}

/// Whether it is a relative path with a folder and an ending that counts.
fn is_path(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./{},*".contains(c);
    let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
    EXTENSIONS.contains(&ending) && text.contains('/') && !text.starts_with('/') && text.chars().all(allowed)
}

/// Writes out what stands in braces, one path for each part.
fn expand(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((inside, after)) = rest.split_once('}') else { return vec![path.to_owned()] };
    inside.split(',').flat_map(|part| expand(&format!("{before}{part}{after}"))).collect()
}

/// Whether a path below a folder exists; `*` stands for any part of a name.
pub fn exists(folder: &Path, path: &str) -> bool {
    let (name, rest) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let below = |folder: &Path| rest.map_or_else(|| folder.exists(), |rest| exists(folder, rest));
    if !name.contains('*') {
        return below(&folder.join(name));
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        entry.file_name().to_str().is_some_and(|found| matches(name, found)) && below(&entry.path())
    })
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.is_char_boundary(at) && matches(after, &rest[at..]))
        }),
    }
}
