//! Wavefront OBJ and the colours of its materials.

use std::path::Path;

use super::color;
use super::error::MeshError;
use super::raw::{Beside, RawPart};
use crate::files::IoError;

/// Every object of an OBJ; `tobj` fans its polygons into triangles and divides it by material.
pub(super) fn parse(bytes: &[u8], path: &Path, beside: Beside<'_>) -> Result<Vec<RawPart>, MeshError> {
    let options =
        tobj::LoadOptions { triangulate: true, ignore_points: true, ignore_lines: true, single_index: false };
    let text = str::from_utf8(bytes).map_err(|e| IoError::malformed(path, e))?;
    check_obj_indices(text).map_err(|reason| IoError::malformed(path, reason))?;
    // Materials are only seen, so a missing .mtl is no error.
    let materials = |name: &Path| {
        let read = name.to_str().and_then(beside).map(|bytes| diffuse_lines(&bytes));
        Ok(read.and_then(|text| tobj::load_mtl_buf(&mut text.as_bytes()).ok()).unwrap_or_default())
    };
    // A change of material ends a part, which then lacks the vertices that follow its faces.
    let (models, materials) = tobj::load_obj_buf(&mut &bytes[..], &options, materials)
        .or_else(|_| tobj::load_obj_buf(&mut &bytes[..], &options, |_| Ok(Default::default())))
        .map_err(|e| IoError::malformed(path, e))?;
    let colors: Vec<_> = materials.unwrap_or_default().iter().map(|m| material_color(m, beside)).collect();
    let part = |model: &tobj::Model| {
        let (points, _) = model.mesh.positions.as_chunks::<3>();
        let (corners, _) = model.mesh.indices.as_chunks::<3>();
        RawPart {
            positions: points.iter().map(|p| p.map(f64::from)).collect(),
            triangles: corners.to_vec(),
            color: model.mesh.material_id.and_then(|id| colors.get(id).copied().flatten()),
        }
    };
    Ok(models.iter().map(part).collect())
}

/// The lines of an MTL that give diffuse colours, without those that are malformed: `tobj` panics on
/// colours of fewer than three numbers, and refuses the whole file for others.
fn diffuse_lines(bytes: &[u8]) -> String {
    let is_color = |numbers: &str| {
        let mut numbers = numbers.split_whitespace().map(|x| x.parse::<f32>().is_ok_and(f32::is_finite));
        (0..3).all(|_| numbers.next() == Some(true))
    };
    let is_read = |line: &&str| match line.trim().split_once(char::is_whitespace) {
        Some(("newmtl" | "map_Kd", name)) => !name.trim().is_empty(),
        Some(("Kd", numbers)) => is_color(numbers),
        _ => false,
    };
    String::from_utf8_lossy(bytes).lines().filter(is_read).flat_map(|line| [line, "\n"]).collect()
}

/// The mean of the texture (`map_Kd`), or the diffuse colour (`Kd`).
fn material_color(material: &tobj::Material, beside: Beside<'_>) -> Option<[u8; 3]> {
    let texture = material.diffuse_texture.as_deref().and_then(beside);
    let mean = texture.and_then(|bytes| color::mean_color(&bytes));
    mean.or_else(|| material.diffuse.map(|kd| color::bytes(kd.map(f64::from))))
}

/// The indices of an OBJ's faces and lines must lie within the vertices, texture coordinates and
/// normals of the file: `tobj` computes with those that do not, beyond the range of its integers.
fn check_obj_indices(text: &str) -> Result<(), String> {
    let kind_of = |keyword: &str| ["v", "vt", "vn"].iter().position(|known| *known == keyword);
    let mut total = [0_i64; 3];
    for kind in text.lines().filter_map(|line| kind_of(line.split_whitespace().next()?)) {
        total[kind] += 1;
    }
    let mut before = [0_i64; 3];
    for (at, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let keyword = words.next().unwrap_or_default();
        if let Some(kind) = kind_of(keyword) {
            before[kind] += 1;
        }
        if !matches!(keyword, "f" | "l") {
            continue;
        }
        for (kind, index) in words.flat_map(|word| word.split('/').take(3).enumerate()) {
            // What is no number is refused by the parser.
            let Ok(index) = index.parse::<i64>() else { continue };
            // From 1; negative ones count back from the last one before.
            if index == 0 || index < -before[kind] || index > total[kind] {
                let name = ["vertices", "texture coordinates", "normals"][kind];
                let count = if index < 0 { before[kind] } else { total[kind] };
                return Err(format!("line {}: index {index} of {count} {name}", at + 1));
            }
        }
    }
    Ok(())
}
