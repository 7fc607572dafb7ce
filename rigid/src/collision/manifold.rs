//! Several contacts of two faces: their common part in the projection along the normal.

use nalgebra::{Rotation3, Unit, Vector3};

/// Lengths below this fraction of the smaller solid's size count as zero: corners that coincide,
/// collinear lines.
const COINCIDENT: f64 = 1e-9;
/// Contacts closer together than this fraction of the smaller solid's size are merged.
const MERGE: f64 = 0.02;
/// Sine of the angle up to which two segments share a line.
const PARALLEL: f64 = 0.05;
/// Most contacts of a pair of convex solids.
pub(super) const MAX_POINTS: usize = 8;

/// The name of the contact at the nearest points, if it is at no corner.
pub(super) const NEAREST: u64 = u64::MAX;

/// A contact in the frame of the first solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalContact {
    /// On the surface of the first solid \[m\].
    pub(super) point: Vector3<f64>,
    /// From the first solid to the second.
    pub(super) normal: Unit<Vector3<f64>>,
    /// Signed distance \[m\].
    pub(super) distance: f64,
    pub(super) feature: u64,
}

/// A convex polygon, a segment or a point of the core of a solid.
#[derive(Clone, Debug, Default)]
pub(super) struct SupportFace {
    /// Corners \[m\], counter-clockwise seen from outside.
    corners: Vec<Vector3<f64>>,
    /// Outward normal of a polygon.
    normal: Option<Unit<Vector3<f64>>>,
    /// Number of the face in its solid.
    name: u32,
}

impl SupportFace {
    pub(super) fn clear(&mut self) {
        self.corners.clear();
        self.normal = None;
        self.name = 0;
    }

    pub(super) fn push(&mut self, corner: Vector3<f64>) {
        self.corners.push(corner);
    }

    pub(super) fn set_normal(&mut self, normal: Unit<Vector3<f64>>, name: u32) {
        self.normal = Some(normal);
        self.name = name;
    }

    pub(super) fn corners(&self) -> &[Vector3<f64>] {
        &self.corners
    }

    pub(super) fn normal(&self) -> Option<Unit<Vector3<f64>>> {
        self.normal
    }

    /// Moves it into another frame.
    pub(super) fn transform(&mut self, rotation: &Rotation3<f64>, translation: &Vector3<f64>) {
        for corner in &mut self.corners {
            *corner = rotation * *corner + translation;
        }
        if let Some(normal) = &mut self.normal {
            *normal = rotation * *normal;
        }
    }

    /// Name of edge `k` of the first (0) or second (1) solid.
    fn edge(&self, solid: u32, k: usize) -> u32 {
        (solid << 31) | ((self.name & 0x7_ffff) << 12) | (k as u32 & 0xfff)
    }
}

/// A corner of a clipped polygon in the plane across the normal \[m\], between two named edges.
#[derive(Clone, Copy, Debug)]
struct ClippedCorner {
    u: f64,
    v: f64,
    arriving: u32,
    leaving: u32,
}

/// Heights along the normal: `level + gu u + gv v`.
#[derive(Clone, Copy, Debug)]
struct Height {
    level: f64,
    gu: f64,
    gv: f64,
}

impl Height {
    fn at(&self, u: f64, v: f64) -> f64 {
        self.level + self.gu * u + self.gv * v
    }
}

/// Buffers for clipping.
#[derive(Clone, Debug, Default)]
pub(super) struct Clipper {
    first: Vec<ClippedCorner>,
    second: Vec<ClippedCorner>,
    clipped: Vec<ClippedCorner>,
}

/// Two directions across `n`, in a fixed way.
pub(super) fn across(n: &Vector3<f64>) -> [Vector3<f64>; 2] {
    // The axis with the smallest component of n (the last of equal ones, so that n along z keeps x
    // and y).
    let k = if n.x.abs() < n.y.abs() && n.x.abs() < n.z.abs() {
        0
    } else if n.y.abs() < n.z.abs() {
        1
    } else {
        2
    };
    let mut e = Vector3::zeros();
    e[k] = 1.0;
    let t = (e - n * n[k]).normalize();
    [t, n.cross(&t)]
}

impl Clipper {
    /// Appends the contacts of `faces` (of the cores, in one frame) along `n`, from the first to
    /// the second. `radii` \[m\] are added to the cores along `n`; `size` \[m\] is the least extent
    /// of the two. Points give none.
    pub(super) fn contacts(
        &mut self,
        n: &Unit<Vector3<f64>>,
        faces: [&SupportFace; 2],
        radii: [f64; 2],
        size: f64,
        out: &mut Vec<LocalContact>,
    ) {
        let start = out.len();
        let axes = across(n);
        let heights = faces.map(|face| height(face, n, &axes));
        let tolerance = COINCIDENT * size;
        self.clipped.clear();
        let mut emit = |u: f64, v: f64, names: [u32; 2], h: [f64; 2]| {
            let (low, high) = (names[0].min(names[1]), names[0].max(names[1]));
            out.push(LocalContact {
                point: axes[0] * u + axes[1] * v + n.as_ref() * (h[0] + radii[0]),
                normal: *n,
                distance: h[1] - h[0] - radii[0] - radii[1],
                feature: (u64::from(low) << 32) | u64::from(high),
            });
        };
        match heights {
            [Some(a), Some(b)] => {
                project(faces[0], 0, &axes, false, &mut self.first);
                project(faces[1], 1, &axes, true, &mut self.second);
                self.intersect(tolerance);
                for c in &self.first {
                    emit(c.u, c.v, [c.arriving, c.leaving], [a.at(c.u, c.v), b.at(c.u, c.v)]);
                }
            }
            [Some(_), None] | [None, Some(_)] => {
                let flat = usize::from(heights[0].is_none());
                let (polygon, segment) = (faces[flat], faces[1 - flat]);
                let (Some(plane), &[p, q]) = (heights[flat], segment.corners()) else { return };
                project(polygon, flat as u32, &axes, flat == 1, &mut self.first);
                let ends = [p, q].map(|x| [x.dot(&axes[0]), x.dot(&axes[1]), x.dot(n)]);
                let Some(range) = clip_segment(&ends, segment, 1 - flat as u32, &self.first, tolerance)
                else {
                    return;
                };
                for (t, names) in range {
                    let [u, v, h] = core::array::from_fn(|k| ends[0][k] + t * (ends[1][k] - ends[0][k]));
                    let on_plane = plane.at(u, v);
                    emit(u, v, names, if flat == 0 { [on_plane, h] } else { [h, on_plane] });
                }
            }
            [None, None] => {
                let (&[p, q], &[r, s]) = (faces[0].corners(), faces[1].corners()) else { return };
                let names = [0, 1].map(|k| [0, 1].map(|end| faces[k].edge(k as u32, end)));
                shared_segment([p, q], [r, s], n, names, |[first, second], names| {
                    let middle = (first + second) * 0.5;
                    let heights = [first.dot(n), second.dot(n)];
                    emit(middle.dot(&axes[0]), middle.dot(&axes[1]), names, heights);
                });
            }
        }
        merge(out, start, MERGE * size);
    }

    /// Clips `first` with the edges of `second` (Sutherland and Hodgman 1974). Both run
    /// counter-clockwise.
    fn intersect(&mut self, tolerance: f64) {
        // The two buffers are swapped at every edge: both get the capacity for most corners, so
        // that their growth does not depend on the order.
        let most = self.first.len() + self.second.len();
        self.first.reserve(self.second.len());
        self.clipped.clear();
        self.clipped.reserve(most);
        for k in 0..self.second.len() {
            let (from, to) = (self.second[k], self.second[(k + 1) % self.second.len()]);
            let (du, dv) = (to.u - from.u, to.v - from.v);
            let length = (du * du + dv * dv).sqrt();
            if length <= tolerance {
                continue;
            }
            let inside = |c: &ClippedCorner| (du * (c.v - from.v) - dv * (c.u - from.u)) / length;
            self.clipped.clear();
            for i in 0..self.first.len() {
                let (here, next) = (self.first[i], self.first[(i + 1) % self.first.len()]);
                let (s, s_next) = (inside(&here), inside(&next));
                let (keep, keep_next) = (s >= -tolerance, s_next >= -tolerance);
                if keep {
                    self.clipped.push(here);
                }
                if keep != keep_next {
                    // For an edge along the line, within the tolerance, the crossing is
                    // undetermined: it is clamped to the ends.
                    let t = (s / (s - s_next)).clamp(0.0, 1.0);
                    let (u, v) = (here.u + t * (next.u - here.u), here.v + t * (next.v - here.v));
                    let (arriving, leaving) =
                        if keep { (here.leaving, from.leaving) } else { (from.leaving, here.leaving) };
                    self.clipped.push(ClippedCorner { u, v, arriving, leaving });
                }
            }
            core::mem::swap(&mut self.first, &mut self.clipped);
        }
    }
}

/// The height of a polygon's plane; `None` for segments and points, and for a plane along the
/// normal.
fn height(face: &SupportFace, n: &Unit<Vector3<f64>>, axes: &[Vector3<f64>; 2]) -> Option<Height> {
    let normal = face.normal?;
    let along = normal.dot(n);
    let corner = face.corners.first()?;
    if along.abs() < 1e-3 {
        return None;
    }
    let (gu, gv) = (-normal.dot(&axes[0]) / along, -normal.dot(&axes[1]) / along);
    Some(Height { level: corner.dot(n) - gu * corner.dot(&axes[0]) - gv * corner.dot(&axes[1]), gu, gv })
}

/// The corners of a face across the normal, counter-clockwise: `reverse` for one that faces against
/// it.
fn project(
    face: &SupportFace,
    solid: u32,
    axes: &[Vector3<f64>; 2],
    reverse: bool,
    out: &mut Vec<ClippedCorner>,
) {
    out.clear();
    let m = face.corners.len();
    for k in 0..m {
        let i = if reverse { m - 1 - k } else { k };
        let (before, after) = (face.edge(solid, (i + m - 1) % m), face.edge(solid, i));
        let (arriving, leaving) = if reverse { (after, before) } else { (before, after) };
        let p = &face.corners[i];
        out.push(ClippedCorner { u: p.dot(&axes[0]), v: p.dot(&axes[1]), arriving, leaving });
    }
}

/// The part of a segment over a polygon: its two ends as fractions, each with the names of the
/// bounding edges.
fn clip_segment(
    ends: &[[f64; 3]; 2],
    segment: &SupportFace,
    solid: u32,
    polygon: &[ClippedCorner],
    tolerance: f64,
) -> Option<[(f64, [u32; 2]); 2]> {
    let name = segment.edge(solid, 0);
    let mut range = [(0.0, [name, segment.edge(solid, 1)]), (1.0, [name, segment.edge(solid, 2)])];
    for k in 0..polygon.len() {
        let (from, to) = (polygon[k], polygon[(k + 1) % polygon.len()]);
        let (du, dv) = (to.u - from.u, to.v - from.v);
        let length = (du * du + dv * dv).sqrt();
        if length <= tolerance {
            continue;
        }
        let [s0, s1] = ends.map(|e| (du * (e[1] - from.v) - dv * (e[0] - from.u)) / length);
        match (s0 >= -tolerance, s1 >= -tolerance) {
            (true, true) => {}
            (false, false) => return None,
            (first, _) => {
                let t = (s0 / (s0 - s1)).clamp(0.0, 1.0);
                let end = usize::from(first);
                let shrinks = if first { t < range[1].0 } else { t > range[0].0 };
                if shrinks {
                    range[end] = (t, [name, from.leaving]);
                }
            }
        }
    }
    (range[0].0 <= range[1].0).then_some(range)
}

/// The two ends of the common part of nearly parallel segments; nothing for others. `emit` gets a
/// point of each and names.
fn shared_segment(
    [p, q]: [Vector3<f64>; 2],
    [r, s]: [Vector3<f64>; 2],
    n: &Unit<Vector3<f64>>,
    names: [[u32; 2]; 2],
    mut emit: impl FnMut([Vector3<f64>; 2], [u32; 2]),
) {
    let flat = |x: Vector3<f64>| x - n.as_ref() * x.dot(n);
    let (d, e) = (flat(q - p), flat(s - r));
    let (dd, ee) = (d.norm(), e.norm());
    // Segments along the normal have no direction across it.
    if d.cross(&e).norm() >= PARALLEL * dd * ee {
        return;
    }
    // Positions along the mean of both directions, which is the same for either order of the
    // segments.
    let along = d / dd + e * (1.0_f64.copysign(d.dot(&e)) / ee);
    let at = |x: Vector3<f64>| (x - p).dot(&along);
    let first = (at(p), at(q));
    let second = (at(r), at(s));
    let low_of_second = if second.0 < second.1 { (second.0, names[1][0]) } else { (second.1, names[1][1]) };
    let high_of_second = if second.0 < second.1 { (second.1, names[1][1]) } else { (second.0, names[1][0]) };
    let low = if low_of_second.0 > first.0 { low_of_second } else { (first.0, names[0][0]) };
    let high = if high_of_second.0 < first.1 { high_of_second } else { (first.1, names[0][1]) };
    if low.0 > high.0 {
        return;
    }
    for (place, name) in [low, high] {
        let on_first = p + (q - p) * ((place - first.0) / (first.1 - first.0));
        let on_second = r + (s - r) * ((place - second.0) / (second.1 - second.0));
        emit([on_first, on_second], [name, name]);
    }
}

/// Merges contacts from `start` on that are closer together than `distance` \[m\]: keeps the
/// deeper, of equally deep ones the first.
pub(super) fn merge(contacts: &mut Vec<LocalContact>, start: usize, distance: f64) {
    let mut kept = start;
    'next: for i in start..contacts.len() {
        let candidate = contacts[i];
        for k in start..kept {
            if (contacts[k].point - candidate.point).norm_squared() < distance * distance {
                if candidate.distance < contacts[k].distance {
                    contacts[k] = candidate;
                }
                continue 'next;
            }
        }
        contacts[kept] = candidate;
        kept += 1;
    }
    contacts.truncate(kept);
}

/// Keeps at most `most` contacts from `start` on: the deepest, then repeatedly the one farthest
/// from those kept (the first of equal ones), so that they are well spread.
pub(super) fn reduce(contacts: &mut Vec<LocalContact>, start: usize, most: usize) {
    if contacts.len() - start <= most {
        return;
    }
    let mut deepest = start;
    for i in start + 1..contacts.len() {
        if contacts[i].distance < contacts[deepest].distance {
            deepest = i;
        }
    }
    contacts.swap(start, deepest);
    for kept in start + 1..start + most {
        let mut best = (kept, f64::NEG_INFINITY);
        for i in kept..contacts.len() {
            let away = |k: usize| (contacts[k].point - contacts[i].point).norm_squared();
            let nearest = (start..kept).map(away).fold(f64::INFINITY, f64::min);
            if nearest > best.1 {
                best = (i, nearest);
            }
        }
        contacts.swap(kept, best.0);
    }
    contacts.truncate(start + most);
}
