//! What is asked of a garment that is folded and unfolded.

use std::path::Path;

use nalgebra::Vector3;
use pliant_garment::{CoveredError, covered_area};
use pliant_mpm::cloth::ClothMesh;

use super::error::FoldingError;
use super::hands::rounded;
use super::plan::{Folds, Plan};
use crate::format::{ClothShape, ClothSpec, Goal, Pose, Quantity};

/// Most that a fold may cover, over what it covers as it is planned \[-\].
const OF_PLANNED: f64 = 1.0095;

/// Least that the flat garment may cover, over the area of its pattern \[-\].
const FLAT: f64 = 0.9496;

/// The garment covers what an ideally folded one covers, and no layer is through another. The
/// bounds are those of the T-shirt of the built-in scenes of before: within them a fold is even, and
/// what is laid flat again has no more than a corner turned in. The most that the first fold may cover
/// is a part of what it covers as it is planned, beyond the half that it is laid onto: that adds more to
/// narrow legs than to a shirt. For a towel so is the most that the second may cover: without sleeves or
/// legs beside each other, a quarter has little that the edges beyond it could hide in.
///
/// Flat again, at most half of one long sleeve is hidden, or what may be where it lies flat first: the part
/// that may be of the other garments is more than a whole sleeve that was not laid back.
///
/// The stages of the plan begin at these times and end at the last one \[s\].
pub fn goals(
    cloth: &ClothSpec,
    plan: &Plan,
    grid_spacing: f64,
    times: &[f64],
) -> Result<Vec<Goal>, FoldingError> {
    let flat = ClothSpec { pose: Pose::default(), ..cloth.clone() };
    let (sheet, ..) = flat.build(Path::new(""), grid_spacing)?;
    let [whole, once, planned, twice] = folded_areas(&sheet, plan.folds, 0.1 * grid_spacing)?;
    let [most_once, most_twice] = match (&plan.shape, plan.folds) {
        // Without the rows of faces across the folds, what a mesh covers is less than what is planned.
        (ClothShape::Rectangle { size: [width, length], .. }, Folds::Halves { beyond: [side, edge] }) => {
            let width = 0.5 * (width + side);
            [width * length, 0.5 * width * (length + edge)].map(|area| OF_PLANNED * area)
        }
        _ => [OF_PLANNED * planned, 1.081 * twice],
    };
    let goal = |name: &str, time: f64, covered: Option<[f64; 2]>| Goal {
        name: name.to_owned(),
        soft: None,
        rope: None,
        cloth: covered.is_some().then(|| cloth.name.clone()),
        body: None,
        quantity: if covered.is_some() { Quantity::CoveredArea } else { Quantity::NewCrossings },
        relative_to: None,
        from: time,
        until: Some(time),
        min: covered.map(|[min, _]| rounded(min)),
        max: covered.map_or(Some(0.0), |[_, max]| max.is_finite().then(|| rounded(max))),
    };
    let flat_again = match plan.folds {
        Folds::Halves { .. } => 0.8518 * whole,
        Folds::Sleeves { .. } => (whole - 0.25 * (whole - once)).min(FLAT * whole),
    };
    let area = |area: f64, [min, max]: [f64; 2]| Some([min * area, max * area]);
    let any = f64::INFINITY;
    let crossings = |name: &str, time| goal(&format!("{name}, no layer through another"), time, None);
    let [first, second] = plan.folded;
    let end = times[times.len() - 1];
    let name = match plan.folds {
        Folds::Halves { .. } => "folded in half",
        Folds::Sleeves { .. } => "sleeves on the body",
    };
    Ok(vec![
        goal("flat", times[0], area(whole, [FLAT, any])),
        goal(name, times[first], Some([0.8976 * once, most_once])),
        goal("folded twice", times[second], Some([0.80 * twice, most_twice])),
        crossings("folded twice", times[second]),
        crossings("second fold undone", times[second + 1]),
        goal("flat again", end, Some([flat_again, any])),
        crossings("flat again", end),
    ])
}

/// Areas that a sheet covers that lies flat, is folded once, once as it is planned, and twice \[m^2\]. Faces
/// across a fold are not cut: up to half of an edge's length is missing along it.
fn folded_areas(sheet: &ClothMesh, folds: Folds, strip: f64) -> Result<[f64; 4], CoveredError> {
    let covered = |fold: &dyn Fn(&Vector3<f64>) -> Vector3<f64>| {
        let places: Vec<_> = sheet.vertices().iter().map(fold).collect();
        covered_area(&places, sheet.faces(), strip)
    };
    let [once, planned, twice] = folds.maps();
    Ok([covered(&|x| *x)?, covered(&once)?, covered(&planned)?, covered(&twice)?])
}
