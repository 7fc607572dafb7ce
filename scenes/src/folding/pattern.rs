//! What the hands have to know of a garment: its corners, its edges, its measures.

use nalgebra::Vector2;

use crate::format::{ClothPoint, ClothShape, TShirtMeasures, TrousersMeasures};

/// From the lower corner along the side to where a hand takes it to fold \[m\]: a little more than
/// half of a blade's width, so that the corner is carried along.
pub const AT_CORNER: f64 = 0.03;
/// The same where it is taken to unfold \[m\]: above where the hem was grasped before.
const ABOVE_HEM: f64 = 0.08;
/// From a towel's middle line to where its lower edge is taken near the first fold \[m\].
const AT_FOLD: f64 = 0.04;

/// How far the first fold reaches beyond what it is laid onto, over half of the garment's width at its
/// lower edge \[-\].
const SIDE_BEYOND: f64 = 0.185;
/// How far the second fold of garments of two layers reaches beyond what it is laid onto \[m\].
pub const EDGE_BEYOND: f64 = 0.025;

/// A garment by its measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Garment {
    /// A T-shirt, with sleeves of any length.
    TShirt(TShirtMeasures),
    /// A shirt whose sleeves are laid onto its body in place of the first fold. They are at most as long as
    /// half of its chest is wide; between the two cuffs a hand has room.
    LongSleeves(TShirtMeasures),
    /// Trousers.
    Trousers(TrousersMeasures),
    /// A towel, one layer. Its lower edge is taken by two hands: the ends of a single layer's edge droop
    /// and curl where one hand takes it in the middle.
    Towel {
        /// Lengths along x and y \[m\].
        size: [f64; 2],
    },
}

/// A garment that is folded along its length, left half onto right half, and then across it, its
/// lower edge onto its upper one. Left is -x.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub shape: ClothShape,
    /// Layers of cloth where it lies flat.
    pub layers: u32,
    /// The lower corners, left and right.
    pub lower: [ClothPoint; 2],
    /// The upper corners, left and right.
    pub upper: [ClothPoint; 2],
    /// The end of the folded garment's lower edge that is not its corner.
    pub inner: Vec<ClothPoint>,
    /// Where that edge is taken for the second fold, and to undo it: by the left hand, and by the right
    /// one if there are two.
    pub lower_at: Vec<EdgePlace>,
    /// Position of the right lower and upper corners in the pattern \[m\].
    pub corners: [Vector2<f64>; 2],
    /// Length from the lower edge to the upper one \[m\].
    pub length: f64,
    /// Where the sides are taken to fold, near the lower and the upper corner.
    pub folded_at: [SidePlace; 2],
    /// Where they are taken to unfold.
    pub unfolded_at: [SidePlace; 2],
}

/// From the corner of a cuff along its side to where a hand takes it to unfold \[m\]: half of a blade's
/// width is 25 mm. The corner is what sticks out where the sleeve was dragged along.
const BELOW_CUFF: f64 = 0.02;

/// A place on the left side, and the same on the right one.
#[derive(Clone, Debug)]
pub struct SidePlace {
    pub left: Vec<ClothPoint>,
    pub right: Vec<ClothPoint>,
    /// From there along the side, upwards, to the middle of the hand \[m\].
    pub at: f64,
    /// Distance from the middle line \[m\].
    pub from_middle: f64,
}

/// A place on the lower edge.
#[derive(Clone, Debug)]
pub struct EdgePlace {
    /// Where it is taken to fold.
    pub fold: Vec<ClothPoint>,
    /// Where it is taken to unfold, and the upper edge that lies below it there.
    pub unfold: Vec<ClothPoint>,
    /// Length from the lower edge to the upper one there \[m\].
    pub length: f64,
}

impl SidePlace {
    /// Of a vertex of a seam, at its place on the right side of the pattern \[m\].
    fn on_seam(right: Vector2<f64>) -> Self {
        let point = |x: f64| vec![ClothPoint::Nearest { point: [x, right.y, 0.0] }];
        Self { left: point(-right.x), right: point(right.x), at: 0.0, from_middle: right.x }
    }
}

impl Pattern {
    /// Of a T-shirt.
    pub fn tshirt(measures: TShirtMeasures, grid_spacing: f64) -> Self {
        let shirt = measures.shirt(grid_spacing);
        let place = |name| named(&shirt.key_points(), name);
        let [hem, cuff] = ["hem-right", "cuff-upper-right"].map(place);
        // The side is straight above the hem; of a cuff the hands take the middle.
        let up = |length: f64| SidePlace::on_seam(hem + Vector2::new(0.0, length));
        let ends = |side: &str| ["upper", "lower"].map(|end| key(&format!("cuff-{end}-{side}"))).to_vec();
        let (neck, inside) = (place("neck-right"), hem.x - AT_CORNER);
        let shoulder = neck + (cuff - neck) * ((inside - neck.x) / (cuff.x - neck.x));
        let lower_cuff = place("cuff-lower-right");
        let from_middle = 0.5 * (cuff.x + lower_cuff.x);
        let cuffs = SidePlace { left: ends("left"), right: ends("right"), at: 0.0, from_middle };
        let [left, right] = pair("cuff-upper").map(|corner| vec![corner]);
        let slope = (cuff - lower_cuff).normalize();
        let from_middle = cuff.x - BELOW_CUFF * slope.x;
        let cuff_corners = SidePlace { left, right, at: -BELOW_CUFF, from_middle };
        Self {
            shape: ClothShape::TShirt(measures),
            layers: 2,
            lower: pair("hem"),
            upper: pair("cuff-upper"),
            inner: vec![key("hem-middle")],
            corners: [hem, cuff],
            length: shirt.length,
            folded_at: [up(AT_CORNER), cuffs],
            unfolded_at: [up(ABOVE_HEM), cuff_corners],
            lower_at: vec![EdgePlace {
                fold: vec![key("hem-middle"), key("hem-left")],
                unfold: [on_edge(inside, hem.y, shirt.gap), on_edge(inside, shoulder.y, 0.0)].concat(),
                length: shoulder.y - hem.y,
            }],
        }
    }

    /// Of trousers.
    pub fn trousers(measures: TrousersMeasures, grid_spacing: f64) -> Self {
        let trousers = measures.trousers(grid_spacing);
        let corners = ["hem-outer-right", "waist-right"].map(|name| named(&trousers.key_points(), name));
        let [folded_at, unfolded_at] = straight_sides(corners);
        let inside = corners.map(|corner| corner.x - AT_CORNER);
        let ends = [0, 1].map(|edge| on_edge(inside[edge], corners[edge].y, trousers.gap));
        Self {
            shape: ClothShape::Trousers(measures),
            layers: 2,
            lower_at: vec![EdgePlace {
                fold: [&pair("hem-inner")[..], &[key("hem-outer-left")]].concat(),
                unfold: ends.concat(),
                length: corners[1].y - corners[0].y,
            }],
            lower: pair("hem-outer"),
            upper: pair("waist"),
            inner: pair("hem-inner").to_vec(),
            corners,
            length: trousers.length,
            folded_at,
            unfolded_at,
        }
    }

    /// Of a towel.
    pub fn towel(size: [f64; 2], grid_spacing: f64) -> Self {
        let half = 0.5 * Vector2::from(size);
        // Edges as long as those of sewn garments; diagonals are longer.
        let parts = size.map(|side| (side / (1.1 * grid_spacing)).ceil().max(1.0) as u32);
        // The vertex that is nearest to the middle of the lower edge.
        let step = size[0] / f64::from(parts[0]);
        let middle = step * (0.5 * f64::from(parts[0])).floor() - half.x;
        let corners = [Vector2::new(half.x, -half.y), half];
        let [folded_at, unfolded_at] = straight_sides(corners);
        let place = |from_middle: f64| {
            let [fold, below] = corners.map(|corner| on_edge(from_middle, corner.y, 0.0));
            EdgePlace { unfold: [fold.clone(), below].concat(), fold, length: size[1] }
        };
        Self {
            shape: ClothShape::Rectangle { size, parts },
            layers: 1,
            lower_at: [half.x - AT_CORNER, AT_FOLD].map(place).to_vec(),
            lower: pair("lower"),
            upper: pair("upper"),
            inner: vec![ClothPoint::Nearest { point: [middle, -half.y, 0.0] }],
            corners,
            length: size[1],
            folded_at,
            unfolded_at,
        }
    }
}

/// Where straight sides between these right corners, lower and upper, are taken to fold and to unfold.
fn straight_sides([lower, upper]: [Vector2<f64>; 2]) -> [[SidePlace; 2]; 2] {
    let along = (upper - lower).normalize();
    let near_top = SidePlace::on_seam(upper - AT_CORNER * along);
    [AT_CORNER, ABOVE_HEM].map(|length| [SidePlace::on_seam(lower + length * along), near_top.clone()])
}

/// The vertices at a distance from the middle, on the left and on the right, at a height of the pattern,
/// of two layers so far apart or of a seam \[m\].
fn on_edge(from_middle: f64, y: f64, gap: f64) -> Vec<ClothPoint> {
    let z = 0.5 * gap;
    let layers: &[f64] = if gap > 0.0 { &[z, -z] } else { &[0.0] };
    let both = |z: &f64| [-from_middle, from_middle].map(|x| ClothPoint::Nearest { point: [x, y, *z] });
    layers.iter().flat_map(both).collect()
}

pub fn key(name: &str) -> ClothPoint {
    ClothPoint::KeyPoint { name: name.to_owned() }
}

/// The left and the right key point of a kind.
fn pair(kind: &str) -> [ClothPoint; 2] {
    ["left", "right"].map(|side| key(&format!("{kind}-{side}")))
}

/// Where the pattern has a key point, which it has \[m\].
pub fn named(points: &[(&'static str, Vector2<f64>)], name: &str) -> Vector2<f64> {
    points.iter().find(|(own, _)| *own == name).map_or_else(Vector2::zeros, |(_, place)| *place)
}

/// How far the first fold reaches beyond what it is laid onto \[m\].
pub fn side_beyond(pattern: &Pattern) -> f64 {
    SIDE_BEYOND * pattern.corners[0].x
}
