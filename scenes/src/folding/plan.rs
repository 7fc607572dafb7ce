//! How a garment is folded and unfolded: which hands carry which edges, stage by stage, and what the
//! garment covers after each.

use nalgebra::Vector3;

use super::hands::{BESIDE_CARRYING, Carriage, Columns, Hands, Hold, rounded};
use super::pattern::EDGE_BEYOND;
use crate::format::ClothShape;

/// From a carriage to the next sighting, while what was let go comes to rest \[s\].
const SETTLE: f64 = 0.1;

/// An edge that a hand carries, and the angle at which its wrist waits thereafter \[rad\].
pub struct Carried {
    pub carriage: Carriage,
    pub wrist: f64,
}

/// A place that a hand holds down, and the angle at which its wrist waits thereafter \[rad\].
pub struct Held {
    pub place: Hold,
    pub wrist: f64,
}

/// What is done at the same time.
pub struct Stage {
    pub carried: Vec<Carried>,
    pub held: Option<Held>,
}

/// The plan of a garment.
pub struct Plan {
    pub shape: ClothShape,
    pub columns: Columns,
    pub stages: Vec<Stage>,
    /// The stage after which the garment is folded once, and after which it is folded twice, both
    /// counted from 1. The next one undoes the second fold.
    pub folded: [usize; 2],
    pub folds: Folds,
}

/// The two folds.
#[derive(Clone, Copy, Debug)]
pub enum Folds {
    /// The left half onto the right one, the lower half onto the upper one.
    Halves {
        /// How far the two reach beyond what they are laid onto \[m\].
        beyond: [f64; 2],
    },
    /// Both sleeves onto the body, the lower half onto the upper one.
    Sleeves {
        /// Distance of the creases from the middle line \[m\].
        crease: f64,
    },
}

/// A map from the flat garment to a folded one, in the plane.
pub type Fold = Box<dyn Fn(&Vector3<f64>) -> Vector3<f64>>;

impl Folds {
    /// The garment folded once, ideally and as it is planned, and folded twice: ideally, but for sleeves as it
    /// is planned.
    pub fn maps(self) -> [Fold; 3] {
        match self {
            Self::Halves { beyond: [beyond, _] } => [
                Box::new(|x| Vector3::new(x.x.abs(), x.y, x.z)),
                Box::new(move |x| Vector3::new(x.x.max(beyond - x.x), x.y, x.z)),
                Box::new(|x| Vector3::new(x.x.abs(), x.y.abs(), x.z)),
            ],
            Self::Sleeves { crease } => {
                let inward = move |x: f64| x.signum() * x.abs().min(2.0 * crease - x.abs());
                [
                    Box::new(move |x| Vector3::new(inward(x.x), x.y, x.z)),
                    Box::new(move |x| Vector3::new(inward(x.x), x.y, x.z)),
                    Box::new(move |x| Vector3::new(inward(x.x), x.y.max(EDGE_BEYOND - x.y), x.z)),
                ]
            }
        }
    }
}

impl Stage {
    /// Without a hand that holds anything down.
    pub fn of(carried: Vec<Carried>) -> Self {
        Self { carried, held: None }
    }

    /// How long the hand that is the slowest slides below its edge and carries it \[s\].
    fn carrying(&self) -> f64 {
        let times = self.carried.iter().map(|Carried { carriage, .. }| carriage.sliding + carriage.lasting);
        times.fold(0.0, f64::max)
    }

    /// Lets the hands do it from this time on \[s\].
    pub fn carry_out(&self, time: f64, hands: &mut Hands) {
        for carried in &self.carried {
            hands.carry(time, &carried.carriage, carried.wrist);
        }
        if let Some(held) = &self.held {
            hands.hold(time, &held.place, self.carrying(), held.wrist);
        }
    }
}

impl Plan {
    /// When each stage begins, and when the last one ends \[s\].
    pub fn times(&self, first: f64) -> Vec<f64> {
        let mut times = vec![first];
        let mut time = first;
        for stage in &self.stages {
            time = rounded(time + BESIDE_CARRYING + stage.carrying() + SETTLE);
            times.push(time);
        }
        times
    }
}
