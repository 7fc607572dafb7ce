//! The limits of the schema, held against a scene before anything else is read or built.

use std::sync::LazyLock;

use pliant_io::text::{is_obeyed, printable};
use serde_json::{Map, Value};

use super::problem::Problem;
use crate::format::{Scene, schema};

/// The schema with its limits.
static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

/// Most problems that are collected; a list may have as many wrong numbers as it is long.
const MOST_PROBLEMS: usize = 100;

/// Where a value is in a scene.
#[derive(Clone, Copy)]
struct Place<'a> {
    parent: Option<&'a Self>,
    segment: Segment<'a>,
}

#[derive(Clone, Copy)]
enum Segment<'a> {
    Top,
    Key(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    const TOP: Self = Self { parent: None, segment: Segment::Top };

    fn then(&'a self, segment: Segment<'a>) -> Self {
        Self { parent: Some(self), segment }
    }

    fn path(&self) -> String {
        let mut path = self.parent.map_or_else(String::new, Self::path);
        match self.segment {
            Segment::Top => {}
            Segment::Index(index) => path.push_str(&format!("[{index}]")),
            Segment::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&printable(key));
            }
        }
        path
    }
}

/// A value of a scene with the schema of it, at its path and with the unit of its field.
type Visit<'v> = &'v mut dyn FnMut(&Place<'_>, &Value, &Map<String, Value>, &str);

/// What breaks a limit of the schema, and names with characters that a terminal or a table would
/// obey instead of showing them.
pub(super) fn problems(scene: &Scene) -> Vec<Problem> {
    let mut problems = Vec::new();
    // What cannot be written as JSON is not a scene; parsing would have refused it.
    let Ok(json) = serde_json::to_value(scene) else { return problems };
    walk(&json, &SCHEMA, &Place::TOP, "", &mut |place, value, schema, unit| {
        if problems.len() < MOST_PROBLEMS
            && let Some(message) =
                broken(value, schema, unit, matches!(place.segment, Segment::Key("description")))
        {
            problems.push(Problem { path: place.path(), message });
        }
    });
    problems
}

/// The value at a path of a scene and its unit, as far as they are known.
pub(super) fn value_and_unit(scene: &Scene, path: &str) -> (Option<Value>, Option<String>) {
    let (mut found, mut unit_found) = (None, None);
    let Ok(json) = serde_json::to_value(scene) else { return (None, None) };
    walk(&json, &SCHEMA, &Place::TOP, "", &mut |place, value, _, unit| {
        // Whole parts of a scene are no value of a field.
        let is_plain = !matches!(value, Value::Object(_));
        if is_plain && place.path() == path {
            found = Some(value.clone());
            unit_found = (!unit.is_empty()).then(|| unit.to_owned());
        }
    });
    (found, unit_found)
}

/// Visits every value with every schema that applies to it.
fn walk(value: &Value, schema: &Value, place: &Place<'_>, unit: &str, visit: Visit<'_>) {
    let Value::Object(fields) = schema else { return };
    let own = fields.get("description").and_then(Value::as_str).and_then(unit_of);
    let unit = own.unwrap_or(unit);
    visit(place, value, fields, unit);
    if let Some(target) = fields.get("$ref").and_then(Value::as_str).and_then(definition) {
        walk(value, target, place, unit, visit);
    }
    for key in ["oneOf", "anyOf"] {
        let variants = fields.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if let Some(variant) = variants.iter().find(|variant| fits(value, variant)) {
            walk(value, variant, place, unit, visit);
        }
    }
    for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        walk(value, part, place, unit, visit);
    }
    match value {
        Value::Array(items) => {
            let Some(of_items) = fields.get("items") else { return };
            let most = fields.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
            if items.len() as u64 <= most {
                for (at, item) in items.iter().enumerate() {
                    walk(item, of_items, &place.then(Segment::Index(at)), unit, visit);
                }
            }
        }
        Value::Object(members) => {
            let known = fields.get("properties").and_then(Value::as_object);
            let others = fields.get("additionalProperties").filter(|others| others.is_object());
            for (name, member) in members {
                if let Some(schema) = known.and_then(|known| known.get(name)).or(others) {
                    walk(member, schema, &place.then(Segment::Key(name)), unit, visit);
                }
            }
        }
        _ => {}
    }
}

fn definition(reference: &str) -> Option<&'static Value> {
    SCHEMA.get("$defs")?.get(reference.strip_prefix("#/$defs/")?)
}

/// Whether a value is of the kind that a variant describes: its type, and the tag of its object.
fn fits(value: &Value, schema: &Value) -> bool {
    let Value::Object(fields) = schema else { return true };
    if let Some(constant) = fields.get("const") {
        return constant == value;
    }
    if let Some(Value::Array(all)) = fields.get("enum") {
        return all.contains(value);
    }
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer" | "number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    let of_type = match fields.get("type") {
        Some(Value::Array(names)) => names.iter().any(is),
        Some(name) => is(name),
        None => true,
    };
    let tags = fields.get("properties").and_then(Value::as_object).into_iter().flatten();
    let tagged = tags
        .filter_map(|(name, member)| Some((name, member.get("const")?)))
        .all(|(name, constant)| value.get(name) == Some(constant));
    let reference = fields.get("$ref").and_then(Value::as_str).and_then(definition);
    let variants = fields.get("oneOf").or_else(|| fields.get("anyOf")).and_then(Value::as_array);
    of_type
        && tagged
        && reference.is_none_or(|target| fits(value, target))
        && variants.is_none_or(|variants| variants.iter().any(|variant| fits(value, variant)))
}

/// What is wrong with a value by one schema, if anything.
fn broken(value: &Value, schema: &Map<String, Value>, unit: &str, is_text: bool) -> Option<String> {
    let space = if unit.is_empty() { "" } else { " " };
    let limit = |keyword: &str| schema.get(keyword).filter(|limit| limit.is_number());
    let most = |keyword: &str| limit(keyword).and_then(Value::as_u64).unwrap_or(u64::MAX);
    match value {
        Value::Number(number) => {
            let beyond = |keyword, is_beyond: fn(&f64, &f64) -> bool| {
                limit(keyword).filter(|limit| {
                    let [x, limit] = [value.as_f64(), limit.as_f64()].map(Option::unwrap_or_default);
                    is_beyond(&x, &limit)
                })
            };
            let (least, greatest) = (beyond("minimum", f64::lt), beyond("maximum", f64::gt));
            let at_least = least.map(|limit| format!("{number}{space}{unit} must be at least {limit}"));
            at_least
                .or_else(|| greatest.map(|limit| format!("{number}{space}{unit} must be at most {limit}")))
        }
        Value::Array(items) => {
            let most = most("maxItems");
            let count = items.len();
            (count as u64 > most).then(|| format!("{count} entries; at most {most} are allowed"))
        }
        Value::String(text) => bad_text(text, most("maxLength"), is_text),
        Value::Object(members) => {
            let most = most("maxProperties");
            let count = members.len();
            if count as u64 > most {
                return Some(format!("{count} entries; at most {most} are allowed"));
            }
            let names = schema.get("propertyNames")?;
            let longest = names.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
            members.keys().find_map(|name| bad_text(name, longest, false))
        }
        _ => None,
    }
}

/// What is wrong with a name, or with a text that may have several lines.
fn bad_text(text: &str, longest: u64, is_text: bool) -> Option<String> {
    let count = text.chars().count();
    if count as u64 > longest {
        let start: String = text.chars().take(40).collect();
        return Some(format!(
            "'{}...' has {count} characters; at most {longest} are allowed",
            printable(&start)
        ));
    }
    let bad = |c: &char| is_obeyed(*c) && !(is_text && matches!(c, '\n' | '\t'));
    let found = text.chars().find(bad)?;
    Some(format!("'{}' must not hold the control character '{}'", printable(text), found.escape_default()))
}

/// The unit in a description: its last brackets that hold no range.
fn unit_of(description: &str) -> Option<&str> {
    let mut groups = description.match_indices('[').filter_map(|(at, _)| {
        let inner = &description[at + 1..];
        inner.find(']').map(|end| &inner[..end])
    });
    let is_unit = |text: &&str| !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit());
    groups.rfind(is_unit).map(|unit| if unit == "-" { "" } else { unit })
}
