//! VTK's XML files of polygons (`.vtp`) and their collection over time (`.pvd`).
//!
//! Written by hand: vtkio reads and writes all of VTK, but its version 0.6 is of 2021 and 0.7 a
//! release candidate; a polygon file is a header and blocks of bytes. Blocks are compressed by zlib,
//! as VTK itself does.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pliant_io::ply::FrameParticle;

use crate::arrays::f32_bytes;
use crate::error::{ExportError, failed};
use crate::solid::{Triangles, tessellate};
use crate::take::{Column, Moment, Progress, Take};

/// The file to open.
pub const COLLECTION: &str = "run.pvd";

/// A file of polygons as it grows.
#[derive(Default)]
struct Polygons {
    header: String,
    data: Vec<u8>,
}

impl Polygons {
    fn open(&mut self, tag: &str) {
        self.header.push_str(tag);
        self.header.push('\n');
    }

    fn array(&mut self, name: &str, kind: &str, width: usize, bytes: &[u8]) -> std::io::Result<()> {
        let offset = self.data.len();
        // Writing to a text does not fail.
        let _ = writeln!(
            self.header,
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{width}\" format=\"appended\" \
             offset=\"{offset}\"/>"
        );
        // Number of blocks, their size, size of the last if it is shorter, compressed sizes.
        if bytes.is_empty() {
            self.data.extend([0_u64; 3].iter().flat_map(|n| n.to_le_bytes()));
            return Ok(());
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes)?;
        let packed = encoder.finish()?;
        let sizes = [1, bytes.len() as u64, 0, packed.len() as u64];
        self.data.extend(sizes.iter().flat_map(|n| n.to_le_bytes()));
        self.data.extend(packed);
        Ok(())
    }

    fn cells(&mut self, tag: &str, corners: impl Iterator<Item = i64>, each: i64) -> std::io::Result<()> {
        let list: Vec<i64> = corners.collect();
        let bytes: Vec<u8> = list.iter().flat_map(|n| n.to_le_bytes()).collect();
        let ends: Vec<u8> = (1..=list.len() as i64 / each).flat_map(|n| (n * each).to_le_bytes()).collect();
        self.open(&format!("<{tag}>"));
        self.array("connectivity", "Int64", 1, &bytes)?;
        self.array("offsets", "Int64", 1, &ends)?;
        self.open(&format!("</{tag}>"));
        Ok(())
    }

    fn write(&self, path: &Path, points: usize, dots: usize, polygons: usize) -> Result<(), ExportError> {
        let mut file = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" \
             header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<PolyData>\n<Piece \
             NumberOfPoints=\"{points}\" NumberOfVerts=\"{dots}\" NumberOfLines=\"0\" NumberOfStrips=\"0\" \
             NumberOfPolys=\"{polygons}\">\n{}</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_",
            self.header
        )
        .into_bytes();
        file.extend(&self.data);
        file.extend(b"\n</AppendedData>\n</VTKFile>\n");
        fs::write(path, file).map_err(failed("write", path))
    }
}

/// Positions and properties of some particles.
fn particle_arrays(
    file: &mut Polygons,
    list: &[FrameParticle],
    chosen: &[usize],
    columns: &[Column],
) -> std::io::Result<()> {
    let some = || chosen.iter().map(|&index| &list[index]);
    file.open("<Points>");
    file.array("Points", "Float32", 3, &f32_bytes(some().flat_map(|p| p.position)))?;
    file.open("</Points>");
    file.open("<PointData>");
    for column in columns {
        let mut values = Vec::new();
        some().for_each(|particle| (column.push)(particle, &mut values));
        file.array(column.name, "Float32", column.width, &f32_bytes(values))?;
    }
    file.array("color", "UInt8", 3, &some().flat_map(|p| p.color).collect::<Vec<_>>())?;
    let material: Vec<u8> = some().flat_map(|p| p.material.to_le_bytes()).collect();
    file.array("material", "UInt16", 1, &material)?;
    let index: Vec<u8> = chosen.iter().flat_map(|&index| (index as i64).to_le_bytes()).collect();
    file.array("particle", "Int64", 1, &index)?;
    file.open("</PointData>");
    Ok(())
}

/// Writes the run into the empty `folder`.
pub fn write(take: &Take, folder: &Path, progress: &mut Progress) -> Result<(), ExportError> {
    let columns = take.columns();
    let balls: Vec<usize> = {
        let mut all: Vec<usize> = take.balls.values().flatten().copied().collect();
        all.sort_unstable();
        all
    };
    let mut listed = String::new();
    let bodies: Vec<Solids> = solids(take);
    take.each(progress, |moment| {
        let mut list = |part: usize, name: &str| {
            let file = format!("{name}_{:06}.vtp", moment.step);
            let _ = writeln!(
                listed,
                "<DataSet timestep=\"{:?}\" part=\"{part}\" name=\"{name}\" file=\"{file}\"/>",
                moment.time
            );
            folder.join(file)
        };
        if !balls.is_empty() {
            write_balls(moment, &balls, &columns, &list(0, "particles"))?;
        }
        if !take.cloth.is_empty() {
            write_cloth(take, moment, &columns, &list(1, "cloth"))?;
        }
        if !bodies.is_empty() {
            write_bodies(&bodies, moment, &list(2, "bodies"))?;
        }
        Ok(())
    })?;
    let names: String = take.bodies().iter().map(|body| format!("{}\n", body.name)).collect();
    let path = folder.join("body_names.txt");
    fs::write(&path, names).map_err(failed("write", path))?;
    let text = format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" \
         byte_order=\"LittleEndian\">\n<Collection>\n{listed}</Collection>\n</VTKFile>\n"
    );
    let path = folder.join(COLLECTION);
    fs::write(&path, text).map_err(failed("write", path))
}

fn write_balls(moment: &Moment, balls: &[usize], columns: &[Column], path: &Path) -> Result<(), ExportError> {
    let mut file = Polygons::default();
    particle_arrays(&mut file, &moment.frame.particles, balls, columns)
        .and_then(|()| file.cells("Verts", 0..balls.len() as i64, 1))
        .map_err(failed("write", path))?;
    file.write(path, balls.len(), balls.len(), 0)
}

fn write_cloth(take: &Take, moment: &Moment, columns: &[Column], path: &Path) -> Result<(), ExportError> {
    let mut file = Polygons::default();
    let triangles = &take.triangles;
    let backs: Vec<u8> = moment.frame.back_colors.iter().flatten().copied().collect();
    let mut fill = || {
        particle_arrays(&mut file, &moment.frame.particles, &take.cloth, columns)?;
        if !backs.is_empty() {
            file.open("<CellData>");
            file.array("back_color", "UInt8", 3, &backs)?;
            file.open("</CellData>");
        }
        file.cells("Polys", triangles.iter().flatten().map(|&corner| corner as i64), 3)
    };
    fill().map_err(failed("write", path))?;
    file.write(path, take.cloth.len(), 0, triangles.len())
}

/// Triangles of a body of one number in its frame, and the colour of each.
struct Solids {
    body: usize,
    mesh: Triangles,
    colors: Vec<u8>,
}

fn solids(take: &Take) -> Vec<Solids> {
    let solid = |(number, body): (usize, &pliant_runner::recording::RecordedBody)| {
        let mut made = Solids { body: number, mesh: Triangles::default(), colors: Vec::new() };
        for shape in &body.shapes {
            let before = made.mesh.corners.len();
            made.mesh.append(&tessellate(&shape.shape), &shape.pose);
            (before..made.mesh.corners.len()).for_each(|_| made.colors.extend(shape.color));
        }
        made
    };
    take.bodies().iter().enumerate().map(solid).filter(|s| !s.mesh.corners.is_empty()).collect()
}

fn write_bodies(bodies: &[Solids], moment: &Moment, path: &Path) -> Result<(), ExportError> {
    let (mut all, mut colors, mut owner) = (Triangles::default(), Vec::new(), Vec::new());
    for solid in bodies {
        all.append(&solid.mesh, &moment.poses[solid.body]);
        colors.extend(&solid.colors);
        owner.resize(all.corners.len(), solid.body as u32);
    }
    let mut file = Polygons::default();
    let mut fill = || {
        file.open("<Points>");
        let points = f32_bytes(all.vertices.iter().flat_map(|v| [v.x as f32, v.y as f32, v.z as f32]));
        file.array("Points", "Float32", 3, &points)?;
        file.open("</Points>");
        file.open("<CellData>");
        file.array("color", "UInt8", 3, &colors)?;
        let owners: Vec<u8> = owner.iter().flat_map(|n| n.to_le_bytes()).collect();
        file.array("body", "UInt32", 1, &owners)?;
        file.open("</CellData>");
        file.cells("Polys", all.corners.iter().flatten().map(|&corner| i64::from(corner)), 3)
    };
    fill().map_err(failed("write", path))?;
    file.write(path, all.vertices.len(), 0, all.corners.len())
}
