//! JSON text to [`Scene`], with errors that name the field's path, the line and the column.

use serde_json::Value;

use pliant_io::text::shown_lines;

use super::Scene;

/// Longest part of a message that repeats what was read, or lists what may stand there \[bytes\].
const LONGEST: usize = 1500;

fn shown_path(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{}: ", shown_lines(path, LONGEST)) }
}

/// A scene's JSON could not be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}line {line}, column {column}: {}", shown_path(path), shown_lines(message, LONGEST))]
pub struct ParseError {
    /// Path of the field at fault, such as `soft[0].material`; empty at the top.
    pub path: String,
    /// Line of the text, from 1.
    pub line: usize,
    /// Column of the line, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads a scene from JSON. The values are not yet validated: see [`super::validate`].
///
/// # Errors
/// Malformed JSON, an unknown or missing field, a value of the wrong type.
pub fn parse_scene(text: &str) -> Result<Scene, ParseError> {
    let scene = super::scene_serde::of_text(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        // serde_json repeats the position at the end of its message.
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(head, _)| head).to_owned();
        let mut levels = levels_at(text, line, column);
        if error.classify() == serde_json::error::Category::Data {
            narrow(&mut levels, text, &message);
        }
        ParseError { path: join(&levels), line, column, message }
    })?;
    Ok(scene)
}

/// One level of nesting on the way to a place in JSON text.
enum JsonLevel {
    Object { key: String, tagged: bool },
    Array { index: usize },
}

/// The levels around the value at `line` and `column` (from 1, in bytes, as serde_json counts) of
/// JSON `text`.
fn levels_at(text: &str, line: usize, column: usize) -> Vec<JsonLevel> {
    let line_start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    // The error's column is that of the last character read, which belongs to the value at fault.
    let end = (line_start + column).saturating_sub(1).min(text.len());
    let bytes = text.as_bytes();
    let mut levels: Vec<JsonLevel> = Vec::new();
    let mut last_string = String::new();
    let mut at = 0;
    while at < end {
        match bytes[at] {
            b'{' => levels.push(JsonLevel::Object { key: String::new(), tagged: false }),
            b'[' => levels.push(JsonLevel::Array { index: 0 }),
            b'}' | b']' => drop(levels.pop()),
            b':' => {
                // A robot's `model` is a field like any other.
                let robots = matches!(levels.first(), Some(JsonLevel::Object { key, .. }) if key == "robots");
                if let Some(JsonLevel::Object { key, tagged }) = levels.last_mut() {
                    *key = std::mem::take(&mut last_string);
                    *tagged |= key == "type" || (key == "model" && !robots);
                }
            }
            b',' => match levels.last_mut() {
                Some(JsonLevel::Array { index }) => *index += 1,
                Some(JsonLevel::Object { key, .. }) => key.clear(),
                None => {}
            },
            b'"' => {
                let start = at + 1;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                last_string = String::from_utf8_lossy(&bytes[start..at.min(bytes.len())]).into_owned();
            }
            _ => {}
        }
        at += 1;
    }
    levels
}

/// serde reads an object with a tag (`type`, `model`) to its end before it checks the fields, so
/// the position identifies only the object. The field at fault is found by its value, if only one
/// has the value that the message quotes.
fn narrow(levels: &mut Vec<JsonLevel>, text: &str, message: &str) {
    let outermost = levels.iter().position(|level| matches!(level, JsonLevel::Object { tagged: true, .. }));
    let about_object = message.starts_with("unknown field") || message.starts_with("missing field");
    if let Some(at) = outermost {
        levels.truncate(at + 1);
    }
    if let Some(JsonLevel::Object { key, .. }) = levels.last_mut()
        && (about_object || outermost.is_some())
    {
        key.clear();
    }
    if about_object || outermost.is_none() {
        return;
    }
    let Ok(json) = serde_json::from_str::<Value>(text) else { return };
    let tagged = levels.iter().try_fold(&json, |value, level| match level {
        JsonLevel::Object { key, .. } if key.is_empty() => Some(value),
        JsonLevel::Object { key, .. } => value.get(key),
        JsonLevel::Array { index } => value.get(index),
    });
    let Some(Value::Object(fields)) = tagged else { return };
    let mut quoted = fields.iter().filter(|(_, value)| {
        let shown = match value {
            Value::String(text) => format!("string {text:?},"),
            Value::Number(number) => format!("`{number}`,"),
            Value::Bool(flag) => format!("boolean `{flag}`,"),
            Value::Null => "null,".to_owned(),
            _ => return false,
        };
        message.contains(&shown)
    });
    if let (Some((found, _)), None) = (quoted.next(), quoted.next())
        && let Some(JsonLevel::Object { key, .. }) = levels.last_mut()
    {
        found.clone_into(key);
    }
}

fn join(levels: &[JsonLevel]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            JsonLevel::Object { key, .. } if key.is_empty() => {}
            JsonLevel::Object { key, .. } => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            JsonLevel::Array { index } => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = r#"{ "name": "a", "duration": 1, "dt": 0.01, "grid_spacing": 0.02 }"#;

    fn with_soft(soft: &str) -> String {
        format!(
            "{{\n  \"name\": \"a\", \"duration\": 1, \"dt\": 0.01, \"grid_spacing\": 0.02,\n  \"soft\": [{soft}]\n}}"
        )
    }

    // Checks: omitted fields have the documented defaults.
    #[test]
    fn a_minimal_scene_has_the_defaults() {
        let scene = parse_scene(MINIMAL).unwrap();
        assert_eq!(scene.gravity, [0.0, 0.0, -9.81]);
        assert_eq!(scene.solver.relative_tolerance, 1e-3);
        assert_eq!(scene.schema_version, 1);
    }

    #[test]
    fn an_unknown_field_is_named_with_its_place() {
        let error =
            parse_scene(&MINIMAL.replace("\"dt\": 0.01", "\"dt\": 0.01,\n \"timestep\": 1")).unwrap_err();
        assert!(error.message.contains("unknown field `timestep`"), "{error}");
        assert_eq!(error.line, 2);
    }

    #[test]
    fn an_unknown_field_of_a_nested_object_is_named_with_its_path() {
        let good = r#"{ "name": "b", "shape": { "type": "sphere", "radius": 1 }, "material": "m" }"#;
        assert!(parse_scene(&with_soft(good)).is_ok());
        let bad = good.replace("\"radius\": 1", "\"radius\": 1, \"radios\": 2");
        let error = parse_scene(&with_soft(&bad)).unwrap_err();
        assert!(error.message.contains("unknown field `radios`"), "{error}");
        assert_eq!(error.path, "soft[0].shape", "{error}");
        // Materials in place: serde's untagged enums would have lost the message.
        let bad = good.replace(
            "\"m\"",
            r#"{ "model": "neo-hookean", "density": 1, "youngs_modulus": 1, "poisson": 0.3 }"#,
        );
        let error = parse_scene(&with_soft(&format!("{good}, {bad}"))).unwrap_err();
        assert!(error.message.contains("unknown field `poisson`"), "{error}");
        assert_eq!(error.path, "soft[1].material", "{error}");
        // The value at fault stands before others in its object.
        let bad = good
            .replace("\"sphere\", \"radius\": 1", "\"cylinder\", \"radius\": \"big\", \"half_length\": 2");
        let error = parse_scene(&with_soft(&bad)).unwrap_err();
        assert_eq!(error.path, "soft[0].shape.radius", "{error}");
    }

    #[test]
    fn a_wrong_type_and_nan_are_refused_with_the_field() {
        let error = parse_scene(&MINIMAL.replace("0.02", "\"fine\"")).unwrap_err();
        assert_eq!(error.path, "grid_spacing", "{error}");
        let error = parse_scene(&MINIMAL.replace("0.02", "NaN")).unwrap_err();
        assert_eq!(error.path, "grid_spacing", "{error}");
        let error = parse_scene(&MINIMAL.replace("0.02", "1e999")).unwrap_err();
        assert!(error.message.contains("out of range"), "{error}");
    }

    #[test]
    fn auto_or_number_takes_both_and_nothing_else() {
        for (text, right) in
            [("\"auto\"", true), ("10", true), ("-1", false), ("1.5", false), ("\"ten\"", false)]
        {
            let scene = MINIMAL.replace("\"dt\"", &format!("\"substeps\": {text}, \"dt\""));
            assert_eq!(parse_scene(&scene).is_ok(), right, "{text}");
        }
    }
}
