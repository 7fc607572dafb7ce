//! Meshes decomposed into convex hulls, and the folder in which these are kept.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use nalgebra::Point3;
use pliant_geometry::{ConvexHull, Fineness, Shape, convex_parts as parts_of, signed_volume};
use pliant_io::digest::Hasher;
use pliant_io::files::{IoError, atomic_write};
use pliant_io::input::read_input;
use pliant_io::mesh::MeshData;

use super::error::shown;
use super::options::{Decompose, LoadOptions};

/// The first bytes of a file of hulls: its layout, and the library whose results it has.
const KIND: &[u8] = b"pliant hulls 1, parry3d-f64 0.31\n";
/// Bytes of the digest at the end.
const DIGEST: usize = 32;

/// A decomposed mesh.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Its convex hulls, in its frame.
    pub solids: Vec<Shape>,
    /// How well they fit, and what became of the file that keeps them.
    pub notes: Vec<String>,
}

/// The convex hulls into which the options decompose a mesh, if they do. Notes call it `name`.
pub(super) fn convex_parts(
    name: &str,
    mesh: &MeshData,
    options: &LoadOptions,
) -> Result<Option<Parts>, String> {
    let Some(settings) = &options.decompose else { return Ok(None) };
    check(settings)?;
    let mut notes = Vec::new();
    let hulls = match &options.cache {
        Some(folder) => kept(folder, mesh, settings, &mut notes)?,
        None => compute(mesh, settings)?,
    };
    notes.push(fit(name, mesh, &hulls)?);
    Ok(Some(Parts { solids: hulls.into_iter().map(Shape::ConvexHull).collect(), notes }))
}

/// The hulls from the folder; they are computed and put there if it does not have them.
fn kept(
    folder: &Path,
    mesh: &MeshData,
    settings: &Decompose,
    notes: &mut Vec<String>,
) -> Result<Vec<ConvexHull>, String> {
    let path = folder.join(format!("{}.hulls", key(mesh, settings)));
    match read_input(&path) {
        Ok(bytes) => match decode(&bytes) {
            Some(hulls) => return Ok(hulls),
            None => notes.push(format!("{}: damaged; its hulls are computed anew", path.display())),
        },
        Err(IoError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {}
        Err(error) => notes.push(format!("{error}; its hulls are computed anew")),
    }
    let hulls = compute(mesh, settings)?;
    // Without the file the next reading is slower, no more.
    if let Err(error) = store(folder, &path, &hulls) {
        notes.push(format!("the hulls are not kept: {error}"));
    }
    Ok(hulls)
}

/// How the volume of the hulls together compares with that of the mesh and of its one hull.
fn fit(name: &str, mesh: &MeshData, hulls: &[ConvexHull]) -> Result<String, String> {
    let volume = |hull: &ConvexHull| signed_volume(hull.mesh().vertices(), hull.mesh().triangles());
    let whole = volume(&ConvexHull::new(&mesh.vertices).map_err(|e| e.to_string())?);
    let parts: f64 = hulls.iter().map(volume).sum();
    let solid = signed_volume(&mesh.vertices, &mesh.triangles).abs();
    let of_hull = format!("{:.3} of that of its convex hull", parts / whole);
    let hollow = "; one part is its convex hull: its surface has gaps, or the concavity allows it";
    let (of_mesh, hollow) = match hulls.len() {
        1 => (String::new(), hollow),
        _ => (format!("{:.3} of the volume of the mesh, ", parts / solid), ""),
    };
    Ok(format!("mesh '{}': convex parts: {}, with {of_mesh}{of_hull}{hollow}", shown(name), hulls.len()))
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
