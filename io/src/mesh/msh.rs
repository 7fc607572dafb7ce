//! MuJoCo's legacy binary meshes.
//!
//! The layout is that of MuJoCo's documentation (XML reference, asset/mesh, "MSH"), little-endian:
//! four integers of 32 bits, the numbers of vertices, normals, texture coordinates and faces; then
//! three f32 a vertex, three a normal, two a texture coordinate, and three integers a face.

use crate::ply::IndexedTriangles;

/// Size of the four counts \[bytes\].
const HEADER: usize = 16;

pub(super) fn parse(bytes: &[u8]) -> Result<IndexedTriangles, String> {
    let (words, rest) = bytes.as_chunks::<4>();
    let Some(header) = words.first_chunk::<4>() else {
        return Err(format!("{} bytes are less than its header of {HEADER}", bytes.len()));
    };
    let counts = header.map(i32::from_le_bytes);
    let [vertices, normals, coordinates, faces] = counts.map(i64::from);
    if counts.iter().any(|count| *count < 0) {
        return Err(format!("its header has a negative count: {counts:?}"));
    }
    let size = 3 * (vertices + normals + faces) + 2 * coordinates + 4;
    if !rest.is_empty() || size != words.len() as i64 {
        return Err(format!(
            "{} bytes, but {vertices} vertices, {normals} normals, {coordinates} texture coordinates and \
             {faces} faces need {}",
            bytes.len(),
            4 * size
        ));
    }
    // Within the file, as was checked.
    let positions = &words[4..4 + 3 * vertices as usize];
    let corners = &words[words.len() - 3 * faces as usize..];
    let positions = positions.as_chunks::<3>().0.iter().map(|v| v.map(|x| f64::from(f32::from_le_bytes(x))));
    let mut triangles = Vec::with_capacity(faces as usize);
    for corner in corners.as_chunks::<3>().0 {
        let corners = corner.map(i32::from_le_bytes);
        if let Some(bad) = corners.iter().find(|i| **i < 0 || i64::from(**i) >= vertices) {
            return Err(format!("face {}: vertex {bad} of {vertices}", triangles.len()));
        }
        triangles.push(corners.map(|i| i as u32));
    }
    Ok((positions.collect(), triangles))
}
