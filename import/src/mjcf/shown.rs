//! Which geoms pictures show: those that MuJoCo's viewer shows by default.

use std::collections::BTreeSet;

use super::super::imported::Visual;
use pliant_rigid::collision::CollisionGeometry;
use pliant_rigid::multibody::LinkId;

/// The last of the groups that are shown.
const LAST_GROUP: i64 = 2;

/// How a geom is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    Always,
    /// Of a higher group: only if its link has nothing else to show.
    Alone,
    /// Fully transparent.
    Never,
}

impl Show {
    /// By group and opacity.
    pub fn of(group: i64, opacity: f64) -> Self {
        match opacity > 0.0 {
            false => Self::Never,
            true if group > LAST_GROUP => Self::Alone,
            true => Self::Always,
        }
    }
}

/// What is shown of touching shapes and of those that are only seen.
#[derive(Default)]
pub(super) struct Looks {
    /// For each geometry.
    pub touching: Vec<Show>,
    /// For each visual.
    pub seen: Vec<Show>,
}

impl Looks {
    /// Removes the visuals that are not shown, and gives the numbers of the geometries that are not.
    pub fn sort(self, geometries: &[CollisionGeometry], visuals: &mut Vec<Visual>) -> BTreeSet<usize> {
        let links = |show: Show| -> BTreeSet<Option<LinkId>> {
            let touching = geometries.iter().zip(&self.touching).map(|(g, s)| (g.link, *s));
            let seen = visuals.iter().zip(&self.seen).map(|(v, s)| (v.link, *s));
            touching.chain(seen).filter(|(_, s)| *s == show).map(|(link, _)| link).collect()
        };
        let bare: BTreeSet<_> = &links(Show::Alone) - &links(Show::Always);
        let is_shown = |show: Show, link: &Option<LinkId>| {
            show == Show::Always || (show == Show::Alone && bare.contains(link))
        };
        let hidden = geometries.iter().zip(&self.touching).enumerate();
        let hidden = hidden.filter(|(_, (g, s))| !is_shown(**s, &g.link)).map(|(i, _)| i).collect();
        let mut looks = self.seen.iter();
        visuals.retain(|v| looks.next().is_none_or(|s| is_shown(*s, &v.link)));
        hidden
    }
}
