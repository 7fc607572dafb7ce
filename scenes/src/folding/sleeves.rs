//! A shirt with long sleeves: both are laid onto the body, then its lower edge beyond its upper one.
//!
//! A sleeve lies on the body and not beyond it. To undo it, the lower blade goes below the cuff on the
//! body's cloth, which the other hand holds down.

use nalgebra::Vector2;

use super::carriages::{DEPTH, FOLDED_IN, Reach, SMOOTHED};
use super::hands::{CLEARANCE, Carriage, Columns, Hold, SLIDING, STAND_OFF, Side};
use super::pattern::{AT_CORNER, EDGE_BEYOND, key, named};
use super::plan::{Carried, Folds, Held, Plan, Stage};
use crate::format::{ClothPoint, ClothShape, TShirtMeasures};

/// Height above the table of the end of a blade that goes below a cuff that lies on the body, over the
/// grid's spacing \[-\]: between the body, whose upper layer is at 1.4 spacings, and the cuff, whose lower
/// layer is at 2.1 to 2.9. Lower, it pushes the body along, and the cuff with it.
const ON_BODY: f64 = 2.05;

/// How far blades go below a cuff that lies on the body \[m\].
const CUFF_DEPTH: f64 = 0.03;

/// How far before a cuff that lies on the body a hand comes down \[m\]: not onto the other cuff.
const BEFORE_CUFF: f64 = 0.02;

/// How long blades slide below a cuff that lies on the body \[s\]. Layers that share cells of the grid drag
/// each other along in proportion to their speed.
const SLIDING_ON_BODY: f64 = 0.9;

/// Least distance from the middle line to the middle of a cuff that lies on the body \[m\]: between the two
/// cuffs a hand has to come down on the body alone.
const FROM_MIDDLE: f64 = 0.05;

/// How much less far a sleeve is carried back than onto the body, where it lies that much short \[m\]: drawn
/// farther, it takes the body along.
const SHORT: f64 = 0.01;

/// How much farther the lower edge is carried than it comes to lie \[m\]: the fold of four to six layers is
/// round and takes that of its length.
const IN_THE_FOLD: f64 = 0.013;

/// How far below the middle of the cuffs the body is held down \[m\]. The two hands keep 2.7 cm apart.
const BELOW_CUFFS: f64 = 0.08;

/// How far from the middle line the body is held down, away from the cuff that is laid back: where the blades
/// come from \[m\].
const BESIDE_MIDDLE: f64 = 0.02;

/// Height above the table of what holds the body down, over the grid's spacing \[-\]: its two layers lie at
/// 0.5 and 1.4 spacings, and blades touch them half a spacing off.
const PRESSED: f64 = 1.3;

/// The shirt, as the hands have to know it.
pub struct Sleeves {
    measures: TShirtMeasures,
    /// Right corners of the pattern: hem, upper and lower end of the cuff \[m\].
    hem: Vector2<f64>,
    cuff: [Vector2<f64>; 2],
    /// Height of the shoulder in the pattern where the hem is taken \[m\].
    shoulder: f64,
    /// Distance of front and back \[m\].
    gap: f64,
    /// Of the grid \[m\].
    grid_spacing: f64,
}

/// Left is -x.
const SIDES: [(Side, &str); 2] = [(Side::Left, "left"), (Side::Right, "right")];

impl Sleeves {
    pub fn new(measures: TShirtMeasures, grid_spacing: f64) -> Self {
        let shirt = measures.shirt(grid_spacing);
        let place = |name| named(&shirt.key_points(), name);
        let [hem, upper, lower, neck] =
            ["hem-right", "cuff-upper-right", "cuff-lower-right", "neck-right"].map(place);
        let inside = hem.x - AT_CORNER;
        let shoulder = (neck + (upper - neck) * ((inside - neck.x) / (upper.x - neck.x))).y;
        Self { measures, hem, cuff: [upper, lower], shoulder, gap: shirt.gap, grid_spacing }
    }

    pub fn plan(&self) -> Plan {
        let one = |carriage, wrist| Carried { carriage, wrist };
        let [left, right] = SIDES;
        // A hand that holds the body down is nearer to the lower edge than the one that carries a cuff.
        let lay_back = |of: (Side, &str)| Stage {
            carried: vec![one(Carriage { side: Side::Right, ..self.unfold_sleeve(of) }, -1.6)],
            held: Some(Held { place: self.hold_body(of), wrist: -1.6 }),
        };
        // Where the wrists wait: half-way to where they have to be next.
        let both = |carry: &dyn Fn((Side, &str)) -> Carriage, wrist: f64| {
            SIDES.map(|side| one(carry(side), wrist)).into_iter().collect::<Vec<_>>()
        };
        Plan {
            shape: ClothShape::TShirt(self.measures),
            columns: Columns::Between,
            stages: vec![
                Stage::of(vec![one(self.fold_sleeve(left), -0.8)]),
                Stage::of(vec![one(self.fold_sleeve(right), -0.8)]),
                Stage::of(both(&|side| self.fold_hem(side), 0.0)),
                Stage::of(both(&|side| self.unfold_hem(side), -0.8)),
                lay_back(right),
                lay_back(left),
            ],
            folded: [2, 3],
            folds: Folds::Sleeves { crease: self.crease() },
        }
    }

    /// The middle of a cuff, from the middle line \[m\].
    fn cuff_at(&self) -> f64 {
        0.5 * (self.cuff[0].x + self.cuff[1].x)
    }

    /// Distance of the creases from the middle line \[m\].
    fn crease(&self) -> f64 {
        self.hem.x.max(0.5 * (self.cuff_at() + FROM_MIDDLE))
    }

    /// Angle from a cuff to the direction of the shirt's length \[rad\].
    fn slope(&self) -> f64 {
        let along = self.cuff[0] - self.cuff[1];
        along.x.atan2(along.y)
    }

    fn fold_sleeve(&self, (side, name): (Side, &str)) -> Carriage {
        let [upper, lower] = ["upper", "lower"].map(|end| key(&format!("cuff-{end}-{name}")));
        let left = side == Side::Left;
        let along = if left { [upper.clone(), lower.clone()] } else { [lower.clone(), upper.clone()] };
        Carriage {
            side,
            name: format!("{name} cuff"),
            origin: vec![upper, lower],
            along: along.map(|end| vec![end]),
            turn: if left { -self.slope() } else { self.slope() },
            at: 0.0,
            depth: DEPTH,
            stand_off: STAND_OFF,
            sliding: SLIDING,
            opening: 0.06,
            clearance: CLEARANCE,
            distance: 2.0 * (self.cuff_at() - self.crease()),
            lasting: FOLDED_IN,
            drop: 0.012,
            swapped: left,
        }
    }

    fn unfold_sleeve(&self, (side, name): (Side, &str)) -> Carriage {
        let folded = self.fold_sleeve((side, name));
        let [from, toward] = folded.along;
        Carriage {
            name: format!("{name} cuff on the body"),
            along: [toward, from],
            // It lies as in a mirror.
            turn: -folded.turn,
            depth: CUFF_DEPTH,
            stand_off: BEFORE_CUFF,
            sliding: SLIDING_ON_BODY,
            clearance: ON_BODY * self.grid_spacing,
            distance: folded.distance - SHORT,
            lasting: 2.0,
            drop: 0.004,
            swapped: !folded.swapped,
            ..folded
        }
    }

    /// Below the cuffs, where blades come from that go below one of them.
    fn hold_body(&self, (side, name): (Side, &str)) -> Hold {
        let x = if side == Side::Left { BESIDE_MIDDLE } else { -BESIDE_MIDDLE };
        let y = 0.5 * (self.cuff[0].y + self.cuff[1].y) - BELOW_CUFFS;
        Hold {
            side: Side::Left,
            name: format!("body below the {name} cuff"),
            origin: self.layers(x, y, self.gap),
            along: ["left", "right"].map(|end| vec![key(&format!("hem-{end}"))]),
            height: PRESSED * self.grid_spacing,
        }
    }

    /// The places of front and back at a distance from the middle, in the pattern \[m\].
    fn layers(&self, x: f64, y: f64, gap: f64) -> Vec<ClothPoint> {
        [0.5 * gap, -0.5 * gap].map(|z| ClothPoint::Nearest { point: [x, y, z] }).to_vec()
    }

    /// A place of the lower edge, and its sign: left is negative.
    fn hem_at(&self, side: Side) -> f64 {
        let x = self.hem.x - AT_CORNER;
        if side == Side::Left { -x } else { x }
    }

    fn fold_hem(&self, (side, name): (Side, &str)) -> Carriage {
        Carriage {
            side,
            name: format!("{name} end of the hem"),
            origin: self.layers(self.hem_at(side), self.hem.y, self.gap),
            along: ["left", "right"].map(|end| vec![key(&format!("hem-{end}"))]),
            turn: 0.0,
            at: 0.0,
            depth: DEPTH,
            stand_off: STAND_OFF,
            sliding: SLIDING,
            opening: 0.07,
            clearance: CLEARANCE,
            distance: self.measures.length + EDGE_BEYOND + IN_THE_FOLD,
            lasting: FOLDED_IN,
            drop: 0.016,
            swapped: false,
        }
    }

    fn unfold_hem(&self, (side, name): (Side, &str)) -> Carriage {
        let folded = self.fold_hem((side, name));
        let [from, toward] = folded.along;
        let below = self.layers(self.hem_at(side), self.shoulder, 0.0);
        Carriage {
            name: format!("{name} end of the folded hem"),
            origin: Reach::TWO_THIRDS.origin(&folded.origin, &below),
            along: [toward, from],
            depth: Reach::TWO_THIRDS.depth,
            stand_off: Reach::TWO_THIRDS.stand_off,
            distance: self.shoulder - self.hem.y + SMOOTHED,
            drop: 0.004,
            swapped: true,
            ..folded
        }
    }
}
