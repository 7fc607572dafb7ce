//! What the header of a PLY file must say before the rest is read.

use ply_rs_bw::ply::{Encoding, Header, PropertyDef, PropertyType, ScalarType};

/// Least size of a property in a file \[bytes\].
fn least_bytes(property: &PropertyDef, encoding: Encoding) -> u64 {
    let (PropertyType::Scalar(kind) | PropertyType::List(kind, _)) = &property.data_type;
    match (encoding, kind) {
        // A digit, and a space or the end of the line.
        (Encoding::Ascii, _) => 2,
        (_, ScalarType::Char | ScalarType::UChar) => 1,
        (_, ScalarType::Short | ScalarType::UShort) => 2,
        (_, ScalarType::Int | ScalarType::UInt | ScalarType::Float) => 4,
        (_, ScalarType::Double) => 8,
    }
}

/// The file must hold as many elements as its header announces, before memory and time are spent on
/// them: `left` bytes follow the header.
pub fn check_counts(header: &Header, left: usize) -> Result<(), String> {
    // The last line of a text may have no end.
    let mut room = left as u64 + 1;
    for element in header.elements.values().filter(|element| element.count > 0) {
        let bytes: u64 = element.properties.values().map(|p| least_bytes(p, header.encoding)).sum();
        if bytes == 0 {
            return Err(format!("its element `{}` has no properties", element.name));
        }
        let needed = bytes.checked_mul(element.count as u64).filter(|needed| *needed <= room);
        room -= needed.ok_or_else(|| {
            format!(
                "it announces {} elements `{}` of at least {bytes} bytes each, but ends before; {left} bytes \
                 follow the header",
                element.count, element.name
            )
        })?;
    }
    Ok(())
}

/// The `vertex` element must have `x`, `y` and `z`: a file without them would be read as zeros.
pub fn require_positions(header: &Header) -> Result<(), String> {
    let vertex = header.elements.get("vertex").ok_or("it has no element `vertex`")?;
    if ["x", "y", "z"].iter().any(|name| !vertex.properties.contains_key(*name)) {
        return Err("its vertices have no `x y z`".to_owned());
    }
    Ok(())
}

/// Words and types of a property.
type Types = (&'static [&'static str], &'static [ScalarType]);

/// Those of a real number.
const REAL: Types = (&["float", "double"], &[ScalarType::Float, ScalarType::Double]);

/// The properties of a frame must have their types: others would be read as zeros.
pub fn require_types(header: &Header) -> Result<(), String> {
    let Some(vertex) = header.elements.get("vertex") else { return Ok(()) };
    for property in vertex.properties.values() {
        let (known, types): Types = match property.name.as_str() {
            "red" | "green" | "blue" => (&["uchar"], &[ScalarType::UChar]),
            "material" => (&["uchar", "ushort"], &[ScalarType::UChar, ScalarType::UShort]),
            "x" | "y" | "z" | "vx" | "vy" | "vz" | "radius" | "J" | "plastic_strain" | "stress_norm"
            | "mass" | "volume" => REAL,
            name if name.starts_with("affine_") => REAL,
            _ => continue,
        };
        if !types.iter().any(|kind| property.data_type == PropertyType::Scalar(kind.clone())) {
            return Err(format!(
                "the property `{}` of its particles must be {}",
                property.name,
                known.join(" or ")
            ));
        }
    }
    Ok(())
}
