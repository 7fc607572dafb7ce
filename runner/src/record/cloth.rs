//! Crossings of cloth and how far it is stretched during a run: found when a frame is written, not at every step,
//! because that takes milliseconds.

use std::ops::Range;

use nalgebra::Point3;
use pliant_mpm::cloth::SheetParticles;
use serde::{Deserialize, Serialize};

use pliant_garment::crossings::{CrossingDetector, Crossings};

/// How many times as long as at rest an edge of cloth may be without a warning \[-\]. A choice: woven fabrics have
/// torn long before, and most knits.
const LARGEST_STRETCH: f64 = 3.0;

/// Crossings and stretch of cloth in a run. It is part of the manifest, and of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClothSummary {
    /// Pairs of an edge or a segment of a rope, and a face that it passes through, at the start \[-\].
    pub crossings_at_start: usize,
    /// The same at the last frame \[-\].
    pub crossings_at_end: usize,
    /// The largest number at a frame \[-\].
    pub crossings_max: usize,
    /// Segments of ropes that pass through faces, which are among the crossings, at most at a frame \[-\].
    #[serde(default)]
    pub rope_crossings_max: usize,
    /// Faces of cloth that had torn at the last frame \[-\].
    #[serde(default)]
    pub torn_faces: usize,
    /// The longest an edge of a face that had not torn was at a frame, over its length at rest \[-\].
    #[serde(default)]
    pub stretch_max: Option<f64>,
}

impl ClothSummary {
    /// The warnings of ropes that pass through cloth, and of cloth that is stretched beyond what fabrics bear.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let ropes = (self.rope_crossings_max > 0).then(|| {
            format!(
                "ropes: they pass through cloth in up to {} places at a frame: ropes and cloth meet in the grid \
                 alone; use a smaller grid spacing or slower motion",
                self.rope_crossings_max
            )
        });
        let stretch = self.stretch_max.filter(|stretch| *stretch > LARGEST_STRETCH).map(|stretch| {
            format!(
                "cloth: an edge was {stretch:.1} times as long as at rest at a frame (more than {LARGEST_STRETCH}, \
                 where fabrics have torn): the law of the material does not hold there; use a larger \
                 `youngs_modulus`, slower motion, or `tearing`"
            )
        });
        ropes.into_iter().chain(stretch).collect()
    }
}

/// Counts crossings of cloth at every frame.
pub struct ClothWatch {
    check: CrossingDetector,
    /// Edges of the faces that had not torn when `check` was made: particle ids and length at rest \[m\].
    edges: Vec<([u32; 2], f64)>,
    /// Number of faces that had torn then.
    torn_faces: usize,
    summary: Option<ClothSummary>,
}

impl ClothWatch {
    /// A counter for cloth, and for ropes that pass through it; none without cloth.
    pub fn new(patches: &[SheetParticles], ropes: &[Range<usize>]) -> Option<Self> {
        let check = CrossingDetector::new(patches).with_ropes(ropes);
        let edges = whole_edges(patches);
        (!check.is_empty()).then_some(Self { check, edges, torn_faces: 0, summary: None })
    }

    /// Takes note of how many faces have torn, which cross nothing; `patches` has the faces that are left.
    pub fn follow(&mut self, torn_faces: usize, patches: &[SheetParticles], ropes: &[Range<usize>]) {
        if torn_faces != self.torn_faces {
            self.torn_faces = torn_faces;
            self.check = CrossingDetector::new(patches).with_ropes(ropes);
            self.edges = whole_edges(patches);
        }
    }

    /// Continues from a checkpoint.
    pub fn restore(&mut self, summary: Option<ClothSummary>) {
        self.summary = summary;
    }

    /// Counts the crossings of a frame's particles and finds their stretch, `positions` \[m\] by their
    /// ids; the first frame is the start.
    pub fn look(&mut self, positions: &[[f64; 3]]) {
        let Crossings { count, of_ropes, .. } = self.crossings(positions);
        let first = ClothSummary { crossings_at_start: count, ..ClothSummary::default() };
        let before = self.summary.unwrap_or(first);
        self.summary = Some(ClothSummary {
            crossings_at_end: count,
            crossings_max: before.crossings_max.max(count),
            rope_crossings_max: before.rope_crossings_max.max(of_ropes),
            torn_faces: self.torn_faces,
            stretch_max: self.stretch(positions).into_iter().chain(before.stretch_max).reduce(f64::max),
            ..before
        });
    }

    /// Crossings with particles at `positions` \[m\].
    pub fn crossings(&self, positions: &[[f64; 3]]) -> Crossings {
        self.check.count(positions)
    }

    /// The longest of the edges over its length at rest, with particles at `positions` \[m\].
    fn stretch(&self, positions: &[[f64; 3]]) -> Option<f64> {
        let at = |id: u32| Point3::from(positions[id as usize]);
        let of_edge = |([from, to], rest): &([u32; 2], f64)| (at(*to) - at(*from)).norm() / rest;
        self.edges.iter().map(of_edge).reduce(f64::max)
    }

    /// The summary up to the last frame; none before the first.
    pub fn summary(&self) -> Option<ClothSummary> {
        self.summary
    }
}

/// The edges of the faces that have not torn, which have one vertex three times; those of two faces twice.
fn whole_edges(patches: &[SheetParticles]) -> Vec<([u32; 2], f64)> {
    let faces = patches.iter().flat_map(|patch| patch.faces.iter().zip(&patch.rest_edges));
    let edges = faces.flat_map(|(&[a, b, c], rest)| [[a, b], [b, c], [c, a]].into_iter().zip(*rest));
    edges.filter(|([from, to], _)| from != to).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use nalgebra::Vector3;
    use pliant_coupling::{ParticleSet, Settings, World};
    use pliant_mpm::Material;

    use super::*;

    /// Two sheets of one triangle each, with their centroids; the edges of [`standing`] with 0.1 are those at rest.
    pub(crate) fn two_triangles() -> [SheetParticles; 2] {
        let at = standing(0.1).into_iter().map(Point3::from).collect::<Vec<_>>();
        [0usize, 4].map(|k| SheetParticles {
            vertices: k..k + 3,
            centroids: k + 3..k + 4,
            faces: vec![[k as u32, k as u32 + 1, k as u32 + 2]],
            rest_edges: vec![[0, 1, 2].map(|n| (at[k + (n + 1) % 3] - at[k + n]).norm())],
        })
    }

    /// A level triangle, and another that extends `deep` \[m\] below it: two crossings, none if it
    /// is above.
    pub(crate) fn standing(deep: f64) -> Vec<[f64; 3]> {
        let floor = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.5, 0.0], [0.0; 3]];
        let spike = [[-0.1, -0.2, 0.6], [0.2, -0.1, 0.5], [0.05, -0.15, -deep], [0.0; 3]];
        [floor, spike].concat()
    }

    /// A world of particles at these positions, and one more that is not of cloth.
    pub(crate) fn world(positions: &[[f64; 3]], material: Material) -> World {
        let mut builder = World::builder(Settings::new(0.5, 1e-3));
        let material = builder.material(material);
        let count = positions.len() + 1;
        builder.particles(ParticleSet {
            positions: positions.iter().copied().chain([[2.0; 3]]).map(Point3::from).collect(),
            velocities: vec![Vector3::zeros(); count],
            volumes: vec![1e-3; count],
            material,
        });
        builder.build().unwrap()
    }

    // Checks: the start stays, the end is the last, the most is the most; and a counter restored
    // from a checkpoint gives the same.
    #[test]
    fn a_watch_remembers_start_end_and_most() {
        assert!(ClothWatch::new(&[], &[]).is_none());
        let patches = two_triangles();
        let summary = |start, end, most| {
            Some(ClothSummary {
                crossings_at_start: start,
                crossings_at_end: end,
                crossings_max: most,
                rope_crossings_max: 0,
                torn_faces: 0,
                stretch_max: Some(1.0),
            })
        };
        let mut watch = ClothWatch::new(&patches, &[]).unwrap();
        assert_eq!(watch.summary(), None);
        watch.look(&standing(-0.1));
        assert_eq!(watch.summary(), summary(0, 0, 0));
        watch.look(&standing(0.1));
        assert_eq!(watch.summary(), summary(0, 2, 2));
        let mut resumed = ClothWatch::new(&patches, &[]).unwrap();
        resumed.restore(watch.summary());
        for watch in [&mut watch, &mut resumed] {
            watch.look(&standing(-0.1));
            assert_eq!(watch.summary(), summary(0, 0, 2));
        }
    }
    // Checks: the longest of an edge over its length at rest: sqrt(0.15^2 + 0.05^2 + (0.5 + deep)^2) of the spike's,
    // with 0.1 deep at rest. It is kept, warned of, and no edge of a torn face is looked at.
    #[test]
    fn the_stretch_is_the_longest_edge_over_its_length_at_rest() {
        let mut patches = two_triangles();
        let mut watch = ClothWatch::new(&patches, &[]).unwrap();
        let length = |deep: f64| (0.025 + (0.5 + deep).powi(2)).sqrt();
        let most = length(3.9) / length(0.1);
        watch.look(&standing(3.9));
        watch.look(&standing(0.1));
        let summary = watch.summary().unwrap();
        assert!((summary.stretch_max.unwrap() - most).abs() < 1e-12, "{summary:?}, not {most}");
        let [warning] = &summary.warnings()[..] else { panic!("{:?}", summary.warnings()) };
        assert!(warning.starts_with("cloth: an edge was 7.1 times as long as at rest"), "{warning}");
        patches[1].faces[0] = [4; 3];
        let mut torn = ClothWatch::new(&two_triangles(), &[]).unwrap();
        torn.follow(1, &patches, &[]);
        torn.look(&standing(3.9));
        assert_eq!(torn.summary().unwrap().stretch_max, Some(1.0));
        assert!(torn.summary().unwrap().warnings().is_empty());
    }

    // Checks: a rope of four vertices in a zigzag through one triangle crosses it three times, which are
    // among the crossings, and the run's warning says so; the one of cloth alone does not.
    #[test]
    fn ropes_through_cloth_are_told() {
        let patch = two_triangles()[0].clone();
        let zigzag = |height: f64| {
            let rope = [[-0.1, 0.0, 0.5], [0.0, 0.0, -0.2], [0.1, 0.1, 0.3], [0.1, 0.0, -0.4]];
            let above = rope.map(|[x, y, z]| [x, y, z + height]);
            [standing(1.0)[..4].to_vec(), above.to_vec()].concat()
        };
        let mut watch = ClothWatch::new(&[patch], std::slice::from_ref(&(4..8))).unwrap();
        watch.look(&zigzag(1.0));
        assert!(watch.summary().unwrap().warnings().is_empty());
        watch.look(&zigzag(0.0));
        watch.look(&zigzag(1.0));
        let summary = watch.summary().unwrap();
        assert_eq!((summary.crossings_at_end, summary.crossings_max, summary.rope_crossings_max), (0, 3, 3));
        assert!(summary.warnings()[0].contains("in up to 3 places at a frame"));
    }
}
