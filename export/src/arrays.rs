//! The arrays of a run, which NPZ and Zarr hold alike.

use crate::error::ExportError;
use crate::solid::{Triangles, tessellate};
use crate::take::{Progress, Take};

/// Type of an array's numbers; all are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    U8,
    U16,
    U32,
    F32,
    F64,
}

impl Kind {
    /// Its name in NumPy's headers.
    pub const fn numpy(self) -> &'static str {
        match self {
            Self::U8 => "|u1",
            Self::U16 => "<u2",
            Self::U32 => "<u4",
            Self::F32 => "<f4",
            Self::F64 => "<f8",
        }
    }
}

/// A format that holds named arrays.
pub trait Sink {
    /// Adds a whole array.
    fn whole(&mut self, name: &str, kind: Kind, shape: &[usize], bytes: &[u8]) -> Result<(), ExportError>;

    /// Adds the part of a frame, `shape`, to an array whose first axis is the frames.
    fn part(&mut self, name: &str, kind: Kind, shape: &[usize], bytes: &[u8]) -> Result<(), ExportError>;

    /// Adds a list of names.
    fn names(&mut self, name: &str, names: &[String]) -> Result<(), ExportError>;
}

/// Little-endian bytes of 32-bit numbers.
pub fn f32_bytes(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// Little-endian bytes of 64-bit numbers.
pub fn f64_bytes(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// Little-endian bytes of indices.
pub fn u32_bytes(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Shape of `rows` of `width` numbers; plain numbers have no second axis.
fn shape(rows: usize, width: usize) -> Vec<usize> {
    match width {
        1 => vec![rows],
        9 => vec![rows, 3, 3],
        _ => vec![rows, width],
    }
}

/// Gives all arrays of the run to `sink`.
pub fn collect(take: &Take, sink: &mut impl Sink, progress: &mut Progress) -> Result<(), ExportError> {
    let particles = take.first.particles.len();
    let columns = take.columns();
    let mut values = Vec::new();
    take.each(progress, |moment| {
        let list = &moment.frame.particles;
        let positions = f32_bytes(list.iter().flat_map(|p| p.position));
        sink.part("positions", Kind::F32, &shape(particles, 3), &positions)?;
        for column in &columns {
            values.clear();
            list.iter().for_each(|particle| (column.push)(particle, &mut values));
            let bytes = f32_bytes(values.iter().copied());
            sink.part(plural(column.name), Kind::F32, &shape(particles, column.width), &bytes)?;
        }
        let colors: Vec<u8> = list.iter().flat_map(|p| p.color).collect();
        sink.part("colors", Kind::U8, &shape(particles, 3), &colors)?;
        let poses = moment.poses.iter().flat_map(|pose| {
            let (p, q) = (pose.translation.vector, pose.rotation);
            [p.x, p.y, p.z, q.w, q.i, q.j, q.k]
        });
        sink.part("body_poses", Kind::F64, &[moment.poses.len(), 7], &f64_bytes(poses))
    })?;
    sink.whole("time", Kind::F64, &[take.times.len()], &f64_bytes(take.times.iter().copied()))?;
    let material = take.first.particles.iter().flat_map(|p| p.material.to_le_bytes());
    sink.whole("material", Kind::U16, &[particles], &material.collect::<Vec<_>>())?;
    let cloth = take.first.triangles.iter().flatten().copied();
    sink.whole("cloth_triangles", Kind::U32, &[take.first.triangles.len(), 3], &u32_bytes(cloth))?;
    let backs: Vec<u8> = take.first.back_colors.iter().flatten().copied().collect();
    sink.whole("cloth_back_colors", Kind::U8, &[take.first.back_colors.len(), 3], &backs)?;
    let names: Vec<String> = take.bodies().iter().map(|body| body.name.clone()).collect();
    sink.names("body_names", &names)?;
    let table = take.diagnostics()?;
    let rows = table.values.len().checked_div(table.columns.len()).unwrap_or(0);
    sink.whole(
        "diagnostics",
        Kind::F64,
        &[rows, table.columns.len()],
        &f64_bytes(table.values.iter().copied()),
    )?;
    sink.names("diagnostics_columns", &table.columns)?;
    shapes(take, sink)
}

fn plural(name: &'static str) -> &'static str {
    if name == "velocity" { "velocities" } else { name }
}

/// The triangles of all bodies, each in its body's frame.
fn shapes(take: &Take, sink: &mut impl Sink) -> Result<(), ExportError> {
    let (mut all, mut owner) = (Triangles::default(), Vec::new());
    let mut colors = Vec::new();
    for (number, body) in take.bodies().iter().enumerate() {
        for shape in &body.shapes {
            let before = all.corners.len();
            all.append(&tessellate(&shape.shape), &shape.pose);
            owner.resize(all.corners.len(), number as u32);
            (before..all.corners.len()).for_each(|_| colors.extend(shape.color));
        }
    }
    let vertices = f32_bytes(all.vertices.iter().flat_map(|v| [v.x as f32, v.y as f32, v.z as f32]));
    sink.whole("mesh_vertices", Kind::F32, &[all.vertices.len(), 3], &vertices)?;
    let corners = u32_bytes(all.corners.iter().flatten().copied());
    sink.whole("mesh_triangles", Kind::U32, &[all.corners.len(), 3], &corners)?;
    sink.whole("mesh_body", Kind::U32, &[owner.len()], &u32_bytes(owner))?;
    sink.whole("mesh_colors", Kind::U8, &[all.corners.len(), 3], &colors)
}
