//! Filter of the pairs of geometries that can touch.

use super::geometry::CollisionGeometry;
use crate::multibody::{LinkId, Model};

/// Links that are welded together make one part; the world and what is welded to it is part 0.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    /// The part of every geometry.
    part: Vec<u32>,
    /// The part that this one is joined to by a joint; its own number if that is the world.
    holder: Vec<u32>,
    /// Excluded pairs of geometries' links, smaller first, sorted; `usize::MAX` is the world.
    excluded: Vec<(usize, usize)>,
    /// Link of every geometry, `usize::MAX` for the world.
    link: Vec<usize>,
    /// The parent of every geometry's link, where that is a link.
    parent: Vec<usize>,
    /// Groups of every geometry, and the groups that it touches.
    groups: Vec<[u32; 2]>,
    /// Pairs of geometries that touch whatever else applies, smaller first, sorted.
    always: Vec<[usize; 2]>,
}

/// The world among link numbers.
const WORLD: usize = usize::MAX;
/// A parent that no geometry is on.
const NO_PARENT: usize = usize::MAX - 1;

impl Filter {
    pub(super) fn new(
        geometries: &[CollisionGeometry],
        model: &Model,
        excluded: &[(LinkId, LinkId)],
    ) -> Self {
        let links = model.links();
        let mut part_of: Vec<u32> = Vec::with_capacity(links.len());
        let mut holder = vec![0];
        for link in links {
            let parent = link.parent.map_or(0, |p| part_of[p.0]);
            if link.joint.velocities() == 0 {
                part_of.push(parent);
            } else {
                let part = holder.len() as u32;
                part_of.push(part);
                // A part that is joined to the world may still touch it.
                holder.push(if parent == 0 { part } else { parent });
            }
        }
        let mut excluded: Vec<(usize, usize)> =
            excluded.iter().map(|(a, b)| (a.0.min(b.0), a.0.max(b.0))).collect();
        excluded.sort_unstable();
        let of_link = |g: &CollisionGeometry| g.link.map_or(WORLD, |l| l.0);
        let parent =
            |g: &CollisionGeometry| g.link.and_then(|l| links[l.0].parent).map_or(NO_PARENT, |p| p.0);
        Self {
            part: geometries.iter().map(|g| g.link.map_or(0, |l| part_of[l.0])).collect(),
            holder,
            excluded,
            link: geometries.iter().map(of_link).collect(),
            parent: geometries.iter().map(parent).collect(),
            groups: geometries.iter().map(|g| [g.group, g.mask]).collect(),
            always: Vec::new(),
        }
    }

    /// Lets pairs of geometries touch that are not on one part, smaller first and sorted.
    pub(super) fn allow(&mut self, pairs: Vec<[usize; 2]>) {
        self.always = pairs;
    }

    /// Whether geometries `a` and `b` may touch.
    pub(super) fn allows(&self, a: usize, b: usize) -> bool {
        let ([group_a, mask_a], [group_b, mask_b]) = (self.groups[a], self.groups[b]);
        let (part_a, part_b) = (self.part[a], self.part[b]);
        let (link_a, link_b) = (self.link[a], self.link[b]);
        let by_rules = || {
            group_a & mask_b != 0
                && group_b & mask_a != 0
                && self.holder[part_a as usize] != part_b
                && self.holder[part_b as usize] != part_a
                && self.parent[a] != link_b
                && self.parent[b] != link_a
                && (self.excluded.is_empty()
                    || self.excluded.binary_search(&(link_a.min(link_b), link_a.max(link_b))).is_err())
        };
        let named = || !self.always.is_empty() && self.always.binary_search(&[a.min(b), a.max(b)]).is_ok();
        part_a != part_b && (by_rules() || named())
    }
}
