//! `--set path=value`: changes to a scene before it is validated.

use serde_json::Value;

use super::{ParseError, Scene, parse_scene};

/// One change: a path into the scene and its new value.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Path such as `materials.dough.youngs_modulus`, `soft[0].pose.position[2]` or
    /// `bodies[pin].motion.mass`; an element of a list may also follow a dot,
    /// `bodies.pin.motion.mass`.
    pub path: String,
    /// The new value.
    pub value: Value,
}

/// A change could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetError {
    /// The text is not `path=value`.
    #[error("'{0}' is not path=value")]
    Syntax(String),
    /// The scene has nothing at this path.
    #[error("--set {path}: no field '{part}' in {place}; there is {known}")]
    UnknownPath {
        /// The whole path.
        path: String,
        /// The part of it that was not found.
        part: String,
        /// Where it was searched.
        place: String,
        /// Known alternatives.
        known: String,
    },
    /// The changed scene is not valid.
    #[error("--set {assignments}: {}{message}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
    Value {
        /// The changes.
        assignments: String,
        /// Path of the field at fault.
        path: String,
        /// What is wrong.
        message: String,
    },
}

impl Assignment {
    /// Reads `path=value`. The value is JSON; other text is taken as a string, so names need no
    /// quotes.
    ///
    /// # Errors
    /// [`SetError::Syntax`] where there is no `=` or no path.
    pub fn parse(text: &str) -> Result<Self, SetError> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok(Self { path: path.trim().to_owned(), value: parse_value(value) })
            }
            _ => Err(SetError::Syntax(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Assignment {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match &self.value {
            Value::String(text) => write!(f, "{}={text}", self.path),
            other => write!(f, "{}={other}", self.path),
        }
    }
}

fn parse_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.trim().to_owned()))
}

/// Splits `a,b,c` at commas that are not inside brackets or quotes, so that `[1,2],[3,4]` are two
/// values.
pub fn split_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let (mut depth, mut quoted, mut start) = (0i32, false, 0);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                values.push(parse_value(&text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    values.push(parse_value(&text[start..]));
    values
}

/// The scene with the changes made, in order.
///
/// # Errors
/// An unknown path, or a scene that no longer reads as one (a string where a number belongs, for
/// instance).
pub fn apply(scene: &Scene, assignments: &[Assignment]) -> Result<Scene, SetError> {
    if assignments.is_empty() {
        return Ok(scene.clone());
    }
    let all = || assignments.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let fail =
        |error: ParseError| SetError::Value { assignments: all(), path: error.path, message: error.message };
    let not_json = |error: serde_json::Error| SetError::Value {
        assignments: all(),
        path: String::new(),
        message: error.to_string(),
    };
    let mut json = serde_json::to_value(scene).map_err(not_json)?;
    for assignment in assignments {
        *find(&mut json, &assignment.path)? = assignment.value.clone();
    }
    // By way of text, whose positions give the path of a field at fault.
    parse_scene(&json.to_string()).map_err(fail)
}

/// One part of a path: `.key`, or `[3]` and `[name]`.
enum PathSegment<'a> {
    Key(&'a str),
    Index(&'a str),
}

fn parts(path: &str) -> Vec<PathSegment<'_>> {
    let mut parts = Vec::new();
    for piece in path.split('.') {
        let mut rest = piece;
        if let Some(open) = piece.find('[') {
            if open > 0 {
                parts.push(PathSegment::Key(&piece[..open]));
            }
            rest = &piece[open..];
            while let Some(inner) = rest.strip_prefix('[') {
                let close = inner.find(']').unwrap_or(inner.len());
                parts.push(PathSegment::Index(&inner[..close]));
                rest = inner.get(close + 1..).unwrap_or("");
            }
            if rest.is_empty() {
                continue;
            }
        }
        parts.push(PathSegment::Key(rest));
    }
    parts
}

/// The value at `path`. An index is a number, or the `name` of an element.
fn find<'v>(json: &'v mut Value, path: &str) -> Result<&'v mut Value, SetError> {
    let mut value = json;
    let mut place = String::from("the scene");
    // These fields hold names from the robots' files, so a name that does not exist yet is a new
    // entry.
    let mut named = false;
    for part in parts(path) {
        let (text, index) = match part {
            PathSegment::Key(text) => (text, false),
            PathSegment::Index(text) => (text, true),
        };
        let known = known_parts(value);
        let here = place.clone();
        place = format!("'{text}'");
        let next = match value {
            Value::Object(fields) if !index => {
                if named && !fields.contains_key(text) {
                    fields.insert(text.to_owned(), Value::Null);
                }
                fields.get_mut(text)
            }
            Value::Array(items) => {
                let position = text
                    .parse::<usize>()
                    .ok()
                    .or_else(|| items.iter().position(|i| i.get("name").is_some_and(|n| n == text)));
                position.and_then(|position| items.get_mut(position))
            }
            _ => None,
        };
        value = next.ok_or_else(|| SetError::UnknownPath {
            path: path.to_owned(),
            part: text.to_owned(),
            place: here,
            known,
        })?;
        named = matches!(text, "positions" | "controls");
    }
    Ok(value)
}

/// Possible continuations of a path, for error messages.
fn known_parts(value: &Value) -> String {
    let names: Vec<String> = match value {
        Value::Object(fields) => fields.keys().cloned().collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, item)| match item.get("name").and_then(Value::as_str) {
                Some(name) => format!("[{name}]"),
                None => format!("[{at}]"),
            })
            .collect(),
        _ => return "a single value".to_owned(),
    };
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::MaterialRef;

    fn scene() -> Scene {
        parse_scene(
            r#"{ "name": "a", "duration": 1, "dt": 0.01, "grid_spacing": 0.02,
                 "materials": { "m": { "model": "neo-hookean", "density": 1, "youngs_modulus": 1, "poissons_ratio": 0 } },
                 "soft": [{ "name": "b", "shape": { "type": "sphere", "radius": 1 }, "material": "m" }] }"#,
        )
        .unwrap()
    }

    fn set(texts: &[&str]) -> Result<Scene, SetError> {
        let assignments: Vec<_> = texts.iter().map(|t| Assignment::parse(t).unwrap()).collect();
        apply(&scene(), &assignments)
    }

    #[test]
    fn fields_elements_and_named_elements_are_set() {
        let changed = set(&[
            "materials.m.density=7.5",
            "soft[0].pose.position[2]=3",
            "soft[b].name=c",
            "solver.direction=lbfgs",
            "gravity=[0,0,0]",
            "substeps=auto",
            "transfer=atomic",
        ])
        .unwrap();
        assert_eq!(changed.materials["m"].particle_material().density, 7.5);
        assert_eq!(changed.soft[0].pose.position, [0.0, 0.0, 3.0]);
        assert_eq!(changed.soft[0].name, "c");
        assert_eq!(changed.gravity, [0.0; 3]);
        assert_eq!(changed.transfer, pliant_coupling::Transfer::Atomic);
        assert_eq!(changed.soft[0].material, MaterialRef::Named("m".into()));
    }

    // Checks: a field that has its default can be set, though the file does not mention it; an
    // unknown one is an error that lists what is there.
    #[test]
    fn an_unknown_path_is_an_error_that_names_it() {
        for (text, part) in
            [("materials.m.densty=1", "densty"), ("soft[1].name=c", "1"), ("dt.x=1", "x"), ("soft.z=1", "z")]
        {
            match set(&[text]) {
                Err(SetError::UnknownPath { part: found, .. }) => assert_eq!(found, part, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(set(&["materials.m.densty=1"]).unwrap_err().to_string().contains("density"));
    }

    #[test]
    fn a_wrong_value_names_the_field() {
        let error = set(&["materials.m.density=heavy"]).unwrap_err().to_string();
        assert!(error.contains("materials.m") && error.contains("heavy"), "{error}");
        assert!(Assignment::parse("dt").is_err());
        assert!(Assignment::parse("=1").is_err());
    }

    #[test]
    fn values_split_at_outer_commas() {
        assert_eq!(split_values("1,2.5,auto").len(), 3);
        assert_eq!(split_values("[1,2],[3,4]").len(), 2);
    }
}
