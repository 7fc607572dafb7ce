//! Panels in space, sewn along pieces of their outlines to one mesh.

use nalgebra::{Vector2, Vector3};
use pliant_mpm::cloth::{ClothMesh, MeshError};

use super::triangulate::PanelMesh;

/// Why panels cannot be sewn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SewError {
    /// Two panels have the same name.
    #[error("panel '{panel}': the name is used by another panel")]
    PanelName {
        /// The name.
        panel: String,
    },
    /// A seam refers to a panel that does not exist.
    #[error("seams[{seam}]: there is no panel '{panel}'")]
    NoSuchPanel {
        /// Index of the seam.
        seam: usize,
        /// The name given.
        panel: String,
    },
    /// A seam refers to a piece that its panel does not have.
    #[error("seams[{seam}]: panel '{panel}' has no piece '{piece}'; it has {known:?}")]
    NoSuchPiece {
        /// Index of the seam.
        seam: usize,
        /// Name of the panel.
        panel: String,
        /// The name given.
        piece: String,
        /// The pieces that it has.
        known: Vec<String>,
    },
    /// A piece is sewn twice, or to itself.
    #[error("seams[{seam}]: piece '{piece}' of panel '{panel}' is sewn already")]
    SewnTwice {
        /// Index of the seam.
        seam: usize,
        /// Name of the panel.
        panel: String,
        /// Name of the piece.
        piece: String,
    },
    /// The two pieces have different numbers of parts.
    #[error(
        "seams[{seam}]: piece '{}' of panel '{}' has {} parts, but piece '{}' of panel '{}' has {}",
        .pieces[0], .panels[0], .parts[0], .pieces[1], .panels[1], .parts[1]
    )]
    Counts {
        /// Index of the seam.
        seam: usize,
        /// Names of the panels.
        panels: [String; 2],
        /// Names of the pieces.
        pieces: [String; 2],
        /// Their numbers of parts.
        parts: [usize; 2],
    },
    /// The seams join panels to a surface with one side only.
    #[error(
        "seams[{seam}]: panels '{}' and '{}' cannot both be turned so that one side of the garment is its outside",
        .panels[0], .panels[1]
    )]
    OneSided {
        /// Index of the first such seam.
        seam: usize,
        /// Names of the panels.
        panels: [String; 2],
    },
    /// The sewn mesh is not a surface.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// A panel placed in space.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    name: String,
    sheet: &'a PanelMesh,
    positions: Vec<Vector3<f64>>,
}

impl<'a> Panel<'a> {
    /// Places a panel: `place` maps each point of the pattern \[m\] to space \[m\].
    pub fn new(name: &str, sheet: &'a PanelMesh, place: impl Fn(Vector2<f64>) -> Vector3<f64>) -> Self {
        Self { name: name.to_owned(), sheet, positions: sheet.points.iter().map(|x| place(*x)).collect() }
    }
}

/// Relative direction of two pieces of a seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeamDirection {
    /// Start at start, as for two panels on top of each other: one of them is flipped.
    Same,
    /// Start at end, as for two panels side by side.
    Opposite,
}

/// Two pieces whose vertices are merged in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seam {
    /// Names of the panels; a panel may be sewn to itself.
    pub panels: [String; 2],
    /// Names of their pieces.
    pub pieces: [String; 2],
    /// Their relative direction.
    pub direction: SeamDirection,
}

impl Seam {
    /// A seam between piece `a.1` of panel `a.0` and piece `b.1` of panel `b.0`.
    pub fn new(a: (&str, &str), b: (&str, &str), direction: SeamDirection) -> Self {
        let names = |x: &str, y: &str| [x.to_owned(), y.to_owned()];
        Self { panels: names(a.0, b.0), pieces: names(a.1, b.1), direction }
    }
}

/// Panels sewn to one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Sewn {
    /// The mesh.
    pub mesh: ClothMesh,
    /// For every panel, the vertex of the mesh for each of its vertices.
    pub vertices: Vec<Vec<usize>>,
    /// For every panel, its faces in the mesh, in their order.
    pub faces: Vec<core::ops::Range<usize>>,
}

/// Sews panels. A merged vertex is at the mean of its vertices. The first panel keeps its side;
/// others are flipped if `SeamDirection::Same` requires it, so that the normals of the whole mesh
/// are on one side. Vertices and faces have the order of the panels.
///
/// # Errors
/// [`SewError`], with the names of panels and pieces, and their counts.
pub fn sew(panels: &[Panel], seams: &[Seam]) -> Result<Sewn, SewError> {
    for (at, panel) in panels.iter().enumerate() {
        if panels[..at].iter().any(|other| other.name == panel.name) {
            return Err(SewError::PanelName { panel: panel.name.clone() });
        }
    }
    let joints = find_joints(panels, seams)?;
    let turned = turn(panels.len(), seams, &joints)?;
    let (vertices, positions) = merge(panels, &joints);
    let mut faces = Vec::new();
    let mut ranges = Vec::with_capacity(panels.len());
    for (at, panel) in panels.iter().enumerate() {
        let first = faces.len();
        faces.extend(panel.sheet.faces.iter().map(|face| {
            let [a, b, c] = face.map(|vertex| vertices[at][vertex]);
            if turned[at] { [a, c, b] } else { [a, b, c] }
        }));
        ranges.push(first..faces.len());
    }
    Ok(Sewn { mesh: ClothMesh::new(positions, faces)?, vertices, faces: ranges })
}

/// A seam by indices: two panels, and the vertices of one and the other that are merged.
struct SeamVertices {
    panels: [usize; 2],
    pairs: Vec<[usize; 2]>,
}

fn find_joints(panels: &[Panel], seams: &[Seam]) -> Result<Vec<SeamVertices>, SewError> {
    let mut taken: Vec<(usize, &str)> = Vec::new();
    let mut joints = Vec::with_capacity(seams.len());
    for (seam, described) in seams.iter().enumerate() {
        let mut found = Vec::with_capacity(2);
        for (name, piece) in described.panels.iter().zip(&described.pieces) {
            let no_panel = || SewError::NoSuchPanel { seam, panel: name.clone() };
            let at = panels.iter().position(|panel| panel.name == *name).ok_or_else(no_panel)?;
            let (sheet, panel) = (panels[at].sheet, name.clone());
            let Some(along) = sheet.along(piece) else {
                let known = sheet.pieces.iter().map(|known| known.name.clone()).collect();
                return Err(SewError::NoSuchPiece { seam, panel, piece: piece.clone(), known });
            };
            if taken.contains(&(at, piece)) {
                return Err(SewError::SewnTwice { seam, panel, piece: piece.clone() });
            }
            taken.push((at, piece));
            found.push((at, along));
        }
        let [(first, a), (second, mut b)]: [(usize, Vec<usize>); 2] = match found.try_into() {
            Ok(pair) => pair,
            // Two names make two entries.
            Err(_) => continue,
        };
        if a.len() != b.len() {
            let (panels, pieces) = (described.panels.clone(), described.pieces.clone());
            return Err(SewError::Counts { seam, panels, pieces, parts: [a.len() - 1, b.len() - 1] });
        }
        if described.direction == SeamDirection::Opposite {
            b.reverse();
        }
        let pairs = a.into_iter().zip(b).map(|(a, b)| [a, b]).collect();
        joints.push(SeamVertices { panels: [first, second], pairs });
    }
    Ok(joints)
}

/// Which panels are flipped: panels with the same direction along a seam have their outsides on
/// different sides of the pattern.
fn turn(panels: usize, seams: &[Seam], joints: &[SeamVertices]) -> Result<Vec<bool>, SewError> {
    let mut turned: Vec<Option<bool>> = vec![None; panels];
    for first in 0..panels {
        if turned[first].is_some() {
            continue;
        }
        turned[first] = Some(false);
        let mut again = true;
        while again {
            again = false;
            for (joint, seam) in joints.iter().zip(seams) {
                let [a, b] = joint.panels;
                let across = |side: bool| side != (seam.direction == SeamDirection::Same);
                match (turned[a], turned[b]) {
                    (Some(side), None) => (turned[b], again) = (Some(across(side)), true),
                    (None, Some(side)) => (turned[a], again) = (Some(across(side)), true),
                    _ => {}
                }
            }
        }
    }
    let turned: Vec<bool> = turned.into_iter().map(|side| side == Some(true)).collect();
    for (at, (joint, seam)) in joints.iter().zip(seams).enumerate() {
        let [a, b] = joint.panels;
        if (turned[a] != turned[b]) != (seam.direction == SeamDirection::Same) {
            return Err(SewError::OneSided { seam: at, panels: seam.panels.clone() });
        }
    }
    Ok(turned)
}

/// The mesh's vertex of every panel's vertices, and where the mesh's vertices lie \[m\].
fn merge(panels: &[Panel], joints: &[SeamVertices]) -> (Vec<Vec<usize>>, Vec<Vector3<f64>>) {
    let mut firsts = Vec::with_capacity(panels.len());
    let mut count = 0;
    for panel in panels {
        firsts.push(count);
        count += panel.positions.len();
    }
    // Sets of merged vertices, each identified by its first.
    let mut parent: Vec<usize> = (0..count).collect();
    let root = |parent: &[usize], mut vertex: usize| {
        while parent[vertex] != vertex {
            vertex = parent[vertex];
        }
        vertex
    };
    for joint in joints {
        for pair in &joint.pairs {
            let a = root(&parent, firsts[joint.panels[0]] + pair[0]);
            let b = root(&parent, firsts[joint.panels[1]] + pair[1]);
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut number: Vec<usize> = Vec::with_capacity(count);
    let mut sums: Vec<(Vector3<f64>, f64)> = Vec::new();
    for (vertex, x) in panels.iter().flat_map(|panel| &panel.positions).enumerate() {
        let first = root(&parent, vertex);
        if first == vertex {
            number.push(sums.len());
            sums.push((*x, 1.0));
        } else {
            number.push(number[first]);
            let (sum, members) = &mut sums[number[first]];
            *sum += x;
            *members += 1.0;
        }
    }
    let mut numbers = number.into_iter();
    let vertices =
        panels.iter().map(|panel| numbers.by_ref().take(panel.positions.len()).collect()).collect();
    (vertices, sums.into_iter().map(|(sum, members)| sum / members).collect())
}
