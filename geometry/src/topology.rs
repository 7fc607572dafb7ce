//! Checks that a triangle mesh is a closed, oriented, two-sided surface.

use super::{GeometryError, LARGEST_SIZE};
use nalgebra::Point3;

/// Smallest area of a triangle in proportion to the square of its longest edge: below, the
/// direction of the normal consists of rounding errors.
const MIN_AREA_RATIO: f64 = 1e-12;

/// The half-edges of a closed surface: half-edge `3 t + k` runs from corner `k` of triangle `t` to
/// the next corner.
pub(super) struct HalfEdges {
    /// The half-edge of the neighbour that runs the other way.
    pub(super) twin: Vec<u32>,
}

/// Checks all conditions for the sign of a distance, and returns the neighbours of the triangles.
pub(super) fn check(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> Result<HalfEdges, GeometryError> {
    if triangles.is_empty() {
        return Err(GeometryError::Empty { shape: "mesh", what: "triangles" });
    }
    check_vertices("mesh", vertices)?;
    check_triangles(vertices, triangles)?;
    let twin = pair_edges(triangles)?;
    check_fans(vertices.len(), triangles, &twin)?;
    Ok(HalfEdges { twin })
}

/// Refuses coordinates that are not finite, or too large.
pub(super) fn check_vertices(shape: &'static str, vertices: &[Point3<f64>]) -> Result<(), GeometryError> {
    let mut bad = vertices.iter().enumerate().filter(|(_, v)| !v.iter().all(|x| x.abs() <= LARGEST_SIZE));
    match bad.next() {
        None => Ok(()),
        Some((vertex, p)) => {
            let position = [p.x, p.y, p.z];
            Err(GeometryError::NonFiniteVertex { shape, count: 1 + bad.count(), vertex, position })
        }
    }
}

/// Refuses indices of vertices that do not exist.
pub(super) fn check_indices(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> Result<(), GeometryError> {
    let missing = |i: u32| i as usize >= vertices.len();
    let mut bad =
        triangles.iter().enumerate().filter_map(|(t, v)| v.iter().find(|i| missing(**i)).map(|i| (t, *i)));
    if let Some((triangle, index)) = bad.next() {
        let count = 1 + bad.count();
        return Err(GeometryError::IndexOutOfRange { count, triangle, index, vertices: vertices.len() });
    }
    Ok(())
}

fn check_triangles(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> Result<(), GeometryError> {
    check_indices(vertices, triangles)?;
    let mut bad =
        triangles.iter().enumerate().filter(|(_, v)| is_degenerate(&v.map(|i| vertices[i as usize])));
    if let Some((triangle, indices)) = bad.next() {
        return Err(GeometryError::DegenerateTriangle {
            count: 1 + bad.count(),
            triangle,
            indices: *indices,
        });
    }
    Ok(())
}

fn is_degenerate([a, b, c]: &[Point3<f64>; 3]) -> bool {
    let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
    let twice_area = (b - a).cross(&(c - a)).norm();
    twice_area <= 2.0 * MIN_AREA_RATIO * longest || !twice_area.is_finite()
}

/// Of every degenerate triangle, the vertex opposite its longest side.
pub(super) fn middle_vertices(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> Vec<Point3<f64>> {
    let corners = triangles.iter().map(|triangle| triangle.map(|i| vertices[i as usize]));
    let middle = |[a, b, c]: [Point3<f64>; 3]| {
        let sides = [(b - c).norm_squared(), (c - a).norm_squared(), (a - b).norm_squared()];
        let longest = sides.iter().fold(0.0, |longest, side| f64::max(longest, *side));
        [a, b, c].into_iter().zip(sides).find(|(_, side)| *side == longest).map(|(vertex, _)| vertex)
    };
    corners.filter(is_degenerate).filter_map(middle).collect()
}

/// Vertices of half-edge `h`, in its direction.
fn ends(triangles: &[[u32; 3]], h: u32) -> [u32; 2] {
    let t = triangles[(h / 3) as usize];
    [t[(h % 3) as usize], t[((h + 1) % 3) as usize]]
}

/// The twin of every half-edge; every edge must join exactly two triangles that run through it in
/// opposite directions.
pub(super) fn pair_edges(triangles: &[[u32; 3]]) -> Result<Vec<u32>, GeometryError> {
    let mut edges: Vec<(u32, u32, u32)> = (0..3 * triangles.len() as u32)
        .map(|h| {
            let [i, j] = ends(triangles, h);
            (i.min(j), i.max(j), h)
        })
        .collect();
    edges.sort_unstable();
    let runs = || edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let same_way =
        |run: &&[(u32, u32, u32)]| run.len() == 2 && ends(triangles, run[0].2) == ends(triangles, run[1].2);

    if let Some(run) = runs().find(|r| r.len() > 2) {
        let count = runs().filter(|r| r.len() > 2).count();
        let edge = [run[0].0, run[0].1];
        return Err(GeometryError::NonManifoldEdge { count, edge, triangles: run.len() });
    }
    if let Some(run) = runs().find(|r| r.len() == 1) {
        let count = runs().filter(|r| r.len() == 1).count();
        let triangle = (run[0].2 / 3) as usize;
        return Err(GeometryError::OpenEdge { count, edge: [run[0].0, run[0].1], triangle });
    }
    if let Some(run) = runs().find(same_way) {
        let count = runs().filter(same_way).count();
        let between = [(run[0].2 / 3) as usize, (run[1].2 / 3) as usize];
        let edge = [run[0].0, run[0].1];
        return Err(GeometryError::InconsistentOrientation { count, edge, triangles: between });
    }

    let mut twin = vec![0; edges.len()];
    for run in runs() {
        let (h, g) = (run[0].2, run[1].2);
        twin[h as usize] = g;
        twin[g as usize] = h;
    }
    Ok(twin)
}

/// The triangles around every vertex must be one fan: else its normal mixes surfaces that only
/// touch there.
fn check_fans(vertices: usize, triangles: &[[u32; 3]], twin: &[u32]) -> Result<(), GeometryError> {
    let mut corners = vec![0_u32; vertices];
    let mut any_half_edge = vec![u32::MAX; vertices];
    for h in 0..twin.len() as u32 {
        let v = ends(triangles, h)[0] as usize;
        corners[v] += 1;
        any_half_edge[v] = h;
    }
    let is_split = |v: usize| {
        if corners[v] == 0 {
            return false;
        }
        let (start, mut h, mut fan) = (any_half_edge[v], any_half_edge[v], 0);
        loop {
            fan += 1;
            // The edge before this one in its triangle ends at the vertex; its twin leaves the
            // vertex.
            h = twin[(3 * (h / 3) + (h + 2) % 3) as usize];
            if h == start || fan > corners[v] {
                return fan != corners[v];
            }
        }
    };
    let mut bad = (0..vertices).filter(|v| is_split(*v));
    match bad.next() {
        None => Ok(()),
        Some(vertex) => Err(GeometryError::NonManifoldVertex { count: 1 + bad.count(), vertex }),
    }
}
