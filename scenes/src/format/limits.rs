//! Limits of every count, size, list and name of a scene: one table, from which the JSON Schema has
//! its `maximum`, `maxItems` and `maxLength`. Validation reads them from the schema.

use serde_json::{Map, Value, json};

/// Most particles of a scene; vertices and faces of cloth and vertices of ropes count.
pub use pliant_coupling::sample::MOST_PARTICLES;
/// Most bodies of a scene, with all copies.
pub const MOST_BODIES: u32 = 20_000;
/// Most frames of a run.
pub const MOST_FRAMES: u32 = 1_000_000;
/// Most bins of all tactile pads together.
pub const MOST_BINS: u32 = 4_000_000;
/// Most heights of a height field.
pub const MOST_HEIGHTS: u32 = 4_000_000;

/// Most samples of the path of a task, which are 1 to 10 ms apart.
pub const MOST_SAMPLES: u32 = 1_000_000;

/// Largest magnitude of a number whose field says nothing else: its cube is far below the largest
/// that there is.
const LARGEST_NUMBER: f64 = 1e30;
/// Longest list whose field says nothing else.
const LONGEST_LIST: u64 = 10_000;
/// Longest name, in characters, and most names of a list by name.
const LONGEST_NAME: u64 = 256;

/// No control characters, separators of lines or changes of the writing direction.
const NO_CONTROL: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$";
/// The same, but for tabs and line feeds.
const NO_CONTROL_BUT_LINES: &str =
    "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$";

/// The limit of a field.
#[derive(Clone, Copy)]
enum Limit {
    /// Of a whole number, or of each in a list.
    AtMost(u64),
    /// Of a list.
    Items(u64),
    /// Of the lists in a list.
    ItemsOfItems(u64),
    /// Of a text, in characters.
    Characters(u64),
    /// Of a text that may have several lines, in characters.
    Lines(u64),
}

use Limit::{AtMost, Characters, Items, ItemsOfItems, Lines};

/// Fields with a limit of their own: the type in the schema, the field, the limit.
const LIMITS: &[(&str, &str, Limit)] = &[
    ("Scene", "schema_version", AtMost(u32::MAX as u64)),
    ("Scene", "description", Lines(100_000)),
    ("Scene", "substeps", AtMost(pliant_coupling::MOST_SUBSTEPS as u64)),
    ("Scene", "bodies", Items(MOST_BODIES as u64)),
    ("Scene", "seed", AtMost(u64::MAX)),
    ("Solver", "max_iterations", AtMost(1_000_000)),
    ("Solver", "max_inner_iterations", AtMost(1_000_000)),
    ("ComFreeSettings", "facets", AtMost(1024)),
    ("Limits", "memory", AtMost(1 << 50)),
    ("Limits", "steps", AtMost(1 << 50)),
    ("Limits", "substeps", AtMost(1 << 50)),
    ("Limits", "rigid_steps", AtMost(1 << 50)),
    ("Sampling", "counts", AtMost(100_000)),
    ("Copies", "count", AtMost(MOST_BODIES as u64)),
    ("ClothShape", "parts", AtMost(20_000)),
    ("ClothShape", "rings", AtMost(10_000)),
    ("PinPlace", "vertex", AtMost(MOST_PARTICLES as u64)),
    ("ClothPoint", "vertex", AtMost(MOST_PARTICLES as u64)),
    ("RopeSpec", "segments", AtMost(MOST_PARTICLES as u64)),
    ("RopePlace", "vertex", AtMost(MOST_PARTICLES as u64)),
    ("Geometry", "group", AtMost(u32::MAX as u64)),
    ("Geometry", "mask", AtMost(u32::MAX as u64)),
    ("RigidShape", "heights", Items(10_000)),
    ("RigidShape", "heights", ItemsOfItems(10_000)),
    ("Actuator", "dof", AtMost(5)),
    ("Sensor", "bins", AtMost(1024)),
    ("Output", "picture_size", AtMost(8192)),
    ("Output", "fields", Items(16)),
    ("Figure", "panels", Items(100)),
    ("Panel", "curves", Items(100)),
    ("Panel", "lines", Items(100)),
    ("Motion", "keyframes", Items(100_000)),
    ("Varying", "keyframes", Items(100_000)),
    ("ClothPin", "keyframes", Items(100_000)),
    ("RopePin", "keyframes", Items(100_000)),
    ("RopePin", "turns", Items(100_000)),
    ("RopeShape", "points", Items(100_000)),
    ("Controller", "targets", Items(100_000)),
    ("SoftShape", "file", Characters(4096)),
    ("ClothShape", "file", Characters(4096)),
    ("RigidShape", "file", Characters(4096)),
    ("Robot", "file", Characters(4096)),
];

/// Writes the limits into the schema of a scene.
pub(super) fn write(schema: &mut Value) {
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        for (name, definition) in definitions {
            write_type(name, definition);
        }
    }
    // The definitions have got theirs.
    let definitions = schema.as_object_mut().and_then(|fields| fields.remove("$defs"));
    write_type("Scene", schema);
    if let (Some(definitions), Some(fields)) = (definitions, schema.as_object_mut()) {
        fields.insert("$defs".to_owned(), definitions);
    }
}

/// Writes the limits of a type: those of its fields, in all its variants, then the usual ones.
fn write_type(name: &str, schema: &mut Value) {
    each_field(schema, &mut |field, member| {
        for (_, _, limit) in LIMITS.iter().filter(|(of, named, _)| *of == name && *named == field) {
            apply(*limit, member);
        }
    });
    usual(schema);
}

/// Visits the properties of a type and of its variants.
fn each_field(schema: &mut Value, visit: &mut impl FnMut(&str, &mut Value)) {
    let Value::Object(fields) = schema else { return };
    if let Some(Value::Object(members)) = fields.get_mut("properties") {
        for (name, member) in members {
            visit(name, member);
        }
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(Value::Array(variants)) = fields.get_mut(key) {
            variants.iter_mut().for_each(|variant| each_field(variant, visit));
        }
    }
}

/// Writes a limit into the schema of a field, wherever it applies.
fn apply(limit: Limit, schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    match limit {
        AtMost(most) if is(fields, "integer") => insert(fields, "maximum", json!(most)),
        Items(most) if is(fields, "array") => return insert(fields, "maxItems", json!(most)),
        ItemsOfItems(most) => {
            if let Some(items) = fields.get_mut("items") {
                apply(Items(most), items);
            }
            return;
        }
        Characters(most) if is(fields, "string") => insert(fields, "maxLength", json!(most)),
        Lines(most) if is(fields, "string") => {
            insert(fields, "maxLength", json!(most));
            insert(fields, "pattern", json!(NO_CONTROL_BUT_LINES));
        }
        _ => {}
    }
    if let Some(items) = fields.get_mut("items") {
        apply(limit, items);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(variants)) = fields.get_mut(key) {
            variants.iter_mut().for_each(|variant| apply(limit, variant));
        }
    }
}

/// Writes the usual limits where there are no others yet.
fn usual(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if is(fields, "number") {
                insert(fields, "minimum", json!(-LARGEST_NUMBER));
                insert(fields, "maximum", json!(LARGEST_NUMBER));
            }
            if is(fields, "array") {
                insert(fields, "maxItems", json!(LONGEST_LIST));
            }
            if is(fields, "string") && !fields.contains_key("const") && !fields.contains_key("enum") {
                insert(fields, "maxLength", json!(LONGEST_NAME));
                insert(fields, "pattern", json!(NO_CONTROL));
            }
            if fields.get("additionalProperties").is_some_and(Value::is_object) {
                insert(fields, "maxProperties", json!(LONGEST_LIST));
                insert(fields, "propertyNames", json!({ "maxLength": LONGEST_NAME, "pattern": NO_CONTROL }));
            }
            for (key, value) in fields {
                if key != "default" && key != "propertyNames" {
                    usual(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(usual),
        _ => {}
    }
}

fn insert(fields: &mut Map<String, Value>, key: &str, value: Value) {
    fields.entry(key).or_insert(value);
}

/// Whether a schema is of this type, or of it and null.
fn is(fields: &Map<String, Value>, name: &str) -> bool {
    match fields.get("type") {
        Some(Value::String(found)) => found == name,
        Some(Value::Array(all)) => all.iter().any(|found| found == name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::schema;

    /// Visits every schema within one.
    fn each(schema: &Value, place: &str, visit: &mut impl FnMut(&str, &Map<String, Value>)) {
        match schema {
            Value::Object(fields) => {
                visit(place, fields);
                for (key, value) in fields.iter().filter(|(key, _)| *key != "default") {
                    each(value, &format!("{place}/{key}"), visit);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| each(item, place, visit)),
            _ => {}
        }
    }

    // The law: no count, size, list or text of a scene is without a limit.
    #[test]
    fn the_schema_limits_every_number_list_and_text() {
        let (mut limited, mut missing) = (0, Vec::new());
        each(&schema(), "", &mut |place, fields| {
            if fields.contains_key("const") || fields.contains_key("enum") {
                return;
            }
            let rules = [
                ("integer", "maximum"),
                ("number", "maximum"),
                ("number", "minimum"),
                ("array", "maxItems"),
                ("string", "maxLength"),
            ];
            for (kind, keyword) in rules.into_iter().filter(|(kind, _)| is(fields, kind)) {
                limited += 1;
                if !fields.contains_key(keyword) {
                    missing.push(format!("{place}: {kind} without {keyword}"));
                }
            }
        });
        assert!(missing.is_empty(), "{missing:#?}");
        assert!(limited > 200, "only {limited} were found");
    }

    // The law: every row of the table is a field of the schema.
    #[test]
    fn every_limit_has_its_field() {
        let mut schema = schema();
        for (of, field, _) in LIMITS {
            let definition = if *of == "Scene" { &mut schema } else { &mut schema["$defs"][*of] };
            let mut found = false;
            each_field(definition, &mut |name, _| found |= name == *field);
            assert!(found, "{of}.{field} is not in the schema");
        }
    }
}
