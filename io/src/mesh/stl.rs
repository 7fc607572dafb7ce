//! STL, binary or ascii.

use std::borrow::Cow;
use std::io::{Cursor, ErrorKind};
use std::path::Path;

use super::error::MeshError;
use crate::files::IoError;
use crate::ply::IndexedTriangles;

/// Header and count of a binary file, and the size of each triangle \[bytes\].
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// An STL; its stored normals are not used, the order of the corners defines the outside.
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<IndexedTriangles, MeshError> {
    let mut bytes = Cow::Borrowed(bytes);
    // Some exporters begin binary files with the word by which ascii ones are known.
    if is_binary(&bytes) && bytes.starts_with(b"solid") {
        bytes.to_mut()[..5].fill(b' ');
    }
    let mesh = stl_io::read_stl(&mut Cursor::new(&bytes[..])).map_err(|e| match e.kind() {
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::InvalidInput => {
            IoError::malformed(path, e)
        }
        _ => IoError::file("read", path, e),
    })?;
    let positions = mesh.vertices.iter().map(|v| v.0.map(f64::from)).collect();
    let triangles = mesh.faces.iter().map(|f| f.vertices.map(|i| i as u32)).collect();
    Ok((positions, triangles))
}

/// Whether the size is that of as many triangles as a binary file announces.
fn is_binary(bytes: &[u8]) -> bool {
    let count = bytes.get(80..HEADER).and_then(|count| count.first_chunk().copied());
    let size = |count| (u32::from_le_bytes(count) as usize).checked_mul(TRIANGLE)?.checked_add(HEADER);
    count.and_then(size) == Some(bytes.len())
}
