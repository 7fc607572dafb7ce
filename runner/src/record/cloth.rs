//! Crossings of cloth during a run: counted when a frame is written, not at every step, because
//! that takes milliseconds.

use std::ops::Range;

use pliant_mpm::cloth::SheetParticles;
use serde::{Deserialize, Serialize};

use pliant_garment::crossings::{CrossingDetector, Crossings};

/// Crossings of cloth in a run. It is part of the manifest, and of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl ClothSummary {
    /// The warning of ropes that pass through cloth.
    pub(crate) fn warning(&self) -> Option<String> {
        (self.rope_crossings_max > 0).then(|| {
            format!(
                "ropes: they pass through cloth in up to {} places at a frame: ropes and cloth meet in the grid \
                 alone; use a smaller grid spacing or slower motion",
                self.rope_crossings_max
            )
        })
    }
}

/// Counts crossings of cloth at every frame.
pub struct ClothWatch {
    check: CrossingDetector,
    /// Number of faces that had torn when `check` was made.
    torn_faces: usize,
    summary: Option<ClothSummary>,
}

impl ClothWatch {
    /// A counter for cloth, and for ropes that pass through it; none without cloth.
    pub fn new(patches: &[SheetParticles], ropes: &[Range<usize>]) -> Option<Self> {
        let check = CrossingDetector::new(patches).with_ropes(ropes);
        (!check.is_empty()).then_some(Self { check, torn_faces: 0, summary: None })
    }

    /// Takes note of how many faces have torn, which cross nothing; `patches` has the faces that are left.
    pub fn follow(&mut self, torn_faces: usize, patches: &[SheetParticles], ropes: &[Range<usize>]) {
        if torn_faces != self.torn_faces {
            self.torn_faces = torn_faces;
            self.check = CrossingDetector::new(patches).with_ropes(ropes);
        }
    }

    /// Continues from a checkpoint.
    pub fn restore(&mut self, summary: Option<ClothSummary>) {
        self.summary = summary;
    }

    /// Counts the crossings of a frame's particles, `positions` \[m\] by their ids; the first frame
    /// is the start.
    pub fn look(&mut self, positions: &[[f64; 3]]) {
        let Crossings { count, of_ropes, .. } = self.crossings(positions);
        let first = ClothSummary { crossings_at_start: count, ..ClothSummary::default() };
        let before = self.summary.unwrap_or(first);
        self.summary = Some(ClothSummary {
            crossings_at_end: count,
            crossings_max: before.crossings_max.max(count),
            rope_crossings_max: before.rope_crossings_max.max(of_ropes),
            torn_faces: self.torn_faces,
            ..before
        });
    }

    /// Crossings with particles at `positions` \[m\].
    pub fn crossings(&self, positions: &[[f64; 3]]) -> Crossings {
        self.check.count(positions)
    }

    /// The summary up to the last frame; none before the first.
    pub fn summary(&self) -> Option<ClothSummary> {
        self.summary
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use nalgebra::{Point3, Vector3};
    use pliant_coupling::{ParticleSet, Settings, World};
    use pliant_mpm::Material;

    use super::*;

    /// Two sheets of one triangle each, with their centroids.
    pub(crate) fn two_triangles() -> [SheetParticles; 2] {
        [0u32, 4].map(|k| SheetParticles {
            vertices: k as usize..k as usize + 3,
            centroids: k as usize + 3..k as usize + 4,
            faces: vec![[k, k + 1, k + 2]],
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
        assert_eq!(watch.summary().unwrap().warning(), None);
        watch.look(&zigzag(0.0));
        watch.look(&zigzag(1.0));
        let summary = watch.summary().unwrap();
        assert_eq!((summary.crossings_at_end, summary.crossings_max, summary.rope_crossings_max), (0, 3, 3));
        assert!(summary.warning().unwrap().contains("in up to 3 places at a frame"));
    }
}
