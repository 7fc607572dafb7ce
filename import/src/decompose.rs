//! Meshes decomposed into convex hulls, and the folder in which these are kept.

use std::io::Write as _;
use std::path::Path;

use nalgebra::Point3;
use pliant_geometry::{ConvexHull, Fineness, Shape, convex_parts as parts_of};
use pliant_io::digest::Hasher;
use pliant_io::files::{IoError, atomic_write};
use pliant_io::input::read_input;
use pliant_io::mesh::MeshData;

use super::options::{Decompose, LoadOptions};

/// The first bytes of a file of hulls: its layout, and the library whose results it has.
const KIND: &[u8] = b"pliant hulls 1, parry3d-f64 0.31\n";
/// Bytes of the digest at the end.
const DIGEST: usize = 32;

/// The convex hulls into which the options decompose a mesh, if they do.
pub(super) fn convex_parts(mesh: &MeshData, options: &LoadOptions) -> Result<Option<Vec<Shape>>, String> {
    let Some(settings) = &options.decompose else { return Ok(None) };
    check(settings)?;
    let Some(folder) = &options.cache else {
        return Ok(Some(shapes(compute(mesh, settings)?)));
    };
    let path = folder.join(format!("{}.hulls", key(mesh, settings)));
    if let Some(hulls) = read_input(&path).ok().and_then(|bytes| decode(&bytes)) {
        return Ok(Some(shapes(hulls)));
    }
    let hulls = compute(mesh, settings)?;
    store(folder, &path, &hulls).map_err(|e| e.to_string())?;
    Ok(Some(shapes(hulls)))
}

/// Refuses settings beyond what can be computed with.
fn check(settings: &Decompose) -> Result<(), String> {
    let Decompose { concavity, hulls, resolution } = settings;
    if !(0.0..=1.0).contains(concavity) {
        return Err(format!("the option decompose: concavity is {concavity}; it must be from 0 to 1"));
    }
    if !(4..=1024).contains(hulls) {
        return Err(format!("the option decompose: hulls is {hulls}; it must be from 4 to 1024"));
    }
    if !(8..=256).contains(resolution) {
        return Err(format!("the option decompose: resolution is {resolution}; it must be from 8 to 256"));
    }
    Ok(())
}

fn compute(mesh: &MeshData, settings: &Decompose) -> Result<Vec<ConvexHull>, String> {
    let Decompose { concavity, hulls, resolution } = *settings;
    let fineness = Fineness { concavity, parts: hulls, resolution };
    parts_of(&mesh.vertices, &mesh.triangles, &fineness).map_err(|e| e.to_string())
}

fn shapes(hulls: Vec<ConvexHull>) -> Vec<Shape> {
    hulls.into_iter().map(Shape::ConvexHull).collect()
}

/// SHA-256 of the mesh as it is scaled, and of the settings.
fn key(mesh: &MeshData, settings: &Decompose) -> String {
    let mut hasher = Hasher::default();
    hasher.update(KIND);
    hasher.update(&settings.concavity.to_le_bytes());
    hasher.update(&settings.hulls.to_le_bytes());
    hasher.update(&settings.resolution.to_le_bytes());
    hasher.update(&(mesh.vertices.len() as u64).to_le_bytes());
    for x in mesh.vertices.iter().flat_map(|v| [v.x, v.y, v.z]) {
        hasher.update(&x.to_le_bytes());
    }
    for corner in mesh.triangles.iter().flatten() {
        hasher.update(&corner.to_le_bytes());
    }
    hasher.digest().sha256
}

/// Writes the corners of the hulls; the file is complete or absent.
fn store(folder: &Path, path: &Path, hulls: &[ConvexHull]) -> Result<(), IoError> {
    std::fs::create_dir_all(folder).map_err(|e| IoError::file("create", folder, e))?;
    let bytes = encode(hulls);
    atomic_write(path, |out| out.write_all(&bytes))
}

fn encode(hulls: &[ConvexHull]) -> Vec<u8> {
    let mut bytes = KIND.to_vec();
    bytes.extend((hulls.len() as u32).to_le_bytes());
    for hull in hulls {
        let vertices = hull.mesh().vertices();
        bytes.extend((vertices.len() as u32).to_le_bytes());
        bytes.extend(vertices.iter().flat_map(|v| [v.x, v.y, v.z]).flat_map(f64::to_le_bytes));
    }
    let mut hasher = Hasher::default();
    hasher.update(&bytes);
    bytes.extend(hasher.sha256());
    bytes
}

/// The hulls of a file; `None` if it is damaged or of another kind, so that it is made anew.
fn decode(bytes: &[u8]) -> Option<Vec<ConvexHull>> {
    let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    let mut hasher = Hasher::default();
    hasher.update(body);
    if hasher.sha256() != digest {
        return None;
    }
    let mut rest = body.strip_prefix(KIND)?;
    let count = |rest: &mut &[u8]| -> Option<usize> {
        let (count, after) = rest.split_first_chunk::<4>()?;
        *rest = after;
        Some(u32::from_le_bytes(*count) as usize)
    };
    let hulls = count(&mut rest)?;
    let mut found = Vec::new();
    for _ in 0..hulls {
        let size = count(&mut rest)?.checked_mul(24)?;
        let (corners, after) = rest.split_at_checked(size)?;
        rest = after;
        let numbers: Vec<f64> = corners.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x)).collect();
        let points: Vec<_> = numbers.as_chunks::<3>().0.iter().map(|p| Point3::from(*p)).collect();
        found.push(ConvexHull::new(&points).ok()?);
    }
    (rest.is_empty() && !found.is_empty()).then_some(found)
}
