//! The meshes of all sheets, as the kernels take them.

use pliant_mpm::Mpm;
use pliant_mpm::cloth::{ClothMaterial, Hinge, Pin, Sheet};

use crate::kernels::{ClothFace, ClothHinge, ClothSheetMaterial};

/// How many there are of all that sheets have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sheets: usize,
    pub(super) vertices: usize,
    pub(super) faces: usize,
    pub(super) hinges: usize,
    pub(super) pins: usize,
}

impl Counts {
    pub(super) fn of(mpm: &Mpm) -> Self {
        let mut counts = Self { sheets: mpm.sheets().len(), ..Self::default() };
        for sheet in mpm.sheets() {
            counts.vertices += sheet.mesh.vertices().len();
            counts.faces += sheet.mesh.faces().len();
            if bends(sheet) {
                counts.hinges += sheet.mesh.edges().iter().filter(|edge| edge.other.is_some()).count();
            }
        }
        counts.pins = mpm.pins().count();
        counts
    }

    pub(super) fn elements(&self) -> usize {
        self.vertices + self.faces
    }

    /// Corners of faces and hinges.
    pub(super) fn corners(&self) -> usize {
        3 * self.faces + 4 * self.hinges
    }

    /// Vertices with a pin or without, where there are pins.
    pub(super) fn pinnable(&self) -> usize {
        if self.pins > 0 { self.vertices } else { 0 }
    }
}

fn bends(sheet: &Sheet) -> bool {
    sheet.material.bending_stiffness > 0.0
}

/// The meshes of all sheets, as the kernels take them.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) elements: Vec<u32>,
    pub(super) inverse_masses: Vec<f32>,
    pub(super) sheets_of_vertices: Vec<u32>,
    pub(super) faces: Vec<ClothFace>,
    pub(super) hinges: Vec<ClothHinge>,
    pub(super) sheets: Vec<ClothSheetMaterial>,
    pub(super) pins: Vec<Pin>,
    pub(super) pin_vertices: Vec<u32>,
}

impl Tables {
    pub(super) fn new(mpm: &Mpm) -> Self {
        let mut tables = Self::default();
        let vertices = Counts::of(mpm).vertices as u32;
        for sheet in mpm.sheets() {
            tables.add(sheet, mpm.grid_spacing(), vertices);
        }
        // As they are now: they may have been changed since the sheets were given.
        let first =
            |sheet: usize| mpm.sheets()[..sheet].iter().map(|s| s.mesh.vertices().len()).sum::<usize>();
        for (sheet, pin) in mpm.pins() {
            tables.pin_vertices.push((first(sheet) + pin.vertex()) as u32);
            tables.pins.push(pin.clone());
        }
        tables
    }

    /// Adds a sheet; faces are numbered after all `vertices`.
    fn add(&mut self, sheet: &Sheet, grid_spacing: f64, vertices: u32) {
        let (first, first_face) = (self.inverse_masses.len() as u32, self.faces.len() as u32);
        let moved = |vertex: usize| first + vertex as u32;
        let (of_vertices, _) = sheet.volumes();
        let count = of_vertices.len() as u32;
        self.elements.extend(first..first + count);
        let density = sheet.material.density;
        self.inverse_masses.extend(of_vertices.iter().map(|volume| (1.0 / (volume * density)) as f32));
        let index = self.sheets.len() as u32;
        self.sheets_of_vertices.extend(of_vertices.iter().map(|_| index));
        let face = |(number, corners): (usize, &[usize; 3])| {
            let rest = sheet.rest_face(number);
            let per_cell = rest.inverse_edges * grid_spacing;
            ClothFace {
                corners: corners.map(moved),
                sheet: index,
                inverse_edges: [per_cell.m11, per_cell.m12, per_cell.m22].map(|x| x as f32),
                volume: rest.volume as f32,
                mass: (0.25 * rest.volume * density) as f32,
                unused: [0; 3],
            }
        };
        self.faces.extend(sheet.mesh.faces().iter().enumerate().map(face));
        self.elements.extend((first_face..self.faces.len() as u32).map(|face| vertices + face));
        if bends(sheet) {
            let hinges = Hinge::all(&sheet.mesh, sheet.material.bending_stiffness);
            let first_hinge = self.hinges.len();
            self.hinges.extend(hinges.into_iter().map(|hinge| {
                let [[a, b], [c, d]] = hinge.neighbours;
                ClothHinge {
                    vertices: hinge.vertices.map(moved),
                    neighbours: [a, b, c, d].map(|n| (first_hinge + n.hinge) as u32),
                    couplings: [a, b, c, d].map(|n| n.coupling),
                    rest_angle: hinge.rest_angle,
                    length: hinge.length,
                    areas: hinge.areas,
                    stiffness: hinge.stiffness,
                }
            }));
        }
        self.sheets.push(device_sheet(&sheet.material));
    }

    /// Vertices at rest, with their inverse masses.
    pub(super) fn rest_velocities(&self) -> Vec<[f32; 4]> {
        self.inverse_masses.iter().map(|inverse| [0.0, 0.0, 0.0, *inverse]).collect()
    }

    /// For each vertex where its list of corners begins, and the lists: of faces, then of hinges,
    /// each in rising order.
    pub(super) fn around(&self) -> (Vec<u32>, Vec<u32>) {
        let of_faces = self.faces.iter().flat_map(|face| face.corners);
        let of_hinges = self.hinges.iter().flat_map(|hinge| hinge.vertices);
        let mut corners: Vec<_> = of_faces.chain(of_hinges).zip(0_u32..).collect();
        corners.sort_unstable();
        let first = |vertex: u32| corners.partition_point(|(v, _)| *v < vertex) as u32;
        let firsts = (0..=self.inverse_masses.len() as u32).map(first).collect();
        (firsts, corners.into_iter().map(|(_, corner)| corner).collect())
    }

    /// Index of each element's particle in the model's order.
    pub(super) fn places(&self, mpm: &Mpm) -> Vec<u32> {
        let first = mpm.len() - self.elements.len();
        let mut places = vec![0; self.elements.len()];
        let ids = (0..mpm.block_count()).flat_map(|b| {
            let view = mpm.block(b);
            (0..view.len()).map(move |i| view.id(i) as usize)
        });
        for (at, id) in (0..).zip(ids) {
            if let Some(number) = id.checked_sub(first) {
                places[self.elements[number] as usize] = at;
            }
        }
        places
    }
}

/// The material of a sheet, in f32.
fn device_sheet(material: &ClothMaterial) -> ClothSheetMaterial {
    ClothSheetMaterial {
        mu: material.elastic.shear_modulus() as f32,
        lambda: material.plane_lambda() as f32,
        normal_stiffness: material.normal_stiffness as f32,
        shear_stiffness: material.shear_stiffness as f32,
        friction: material.friction as f32,
        damping: material.damping as f32,
    }
}
