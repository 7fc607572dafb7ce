//! Random values of a sweep's fields.

use serde::{Deserialize, Serialize};

use super::variants::{SweepError, SweptField, Variant, variants};
use pliant_numeric::random::SplitMix64;
use pliant_scenes::format::{Assignment, Scene, SetError, apply, validate};

/// A range that one or several fields take random values from: `path=low..high`, or
/// `path,path=low..high` for fields that have the same value in each variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomAxis {
    /// Paths of the fields.
    pub paths: Vec<String>,
    /// Least value.
    pub low: f64,
    /// Greatest value, itself never taken.
    pub high: f64,
}

/// How random values are drawn: uniformly, sample by sample, in the order of the axes, by
/// SplitMix64. More samples begin with the same values as fewer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RandomPlan {
    /// The ranges.
    pub axes: Vec<RandomAxis>,
    /// Samples \[-\].
    pub samples: usize,
    /// Seed of the generator.
    pub seed: u64,
}

impl RandomAxis {
    /// Reads `path=low..high` or `path,path=low..high`.
    ///
    /// # Errors
    /// [`SetError::Syntax`], also where low is not below high.
    pub fn parse(text: &str) -> Result<Self, SetError> {
        let read = || {
            let (paths, range) = text.split_once('=')?;
            let paths: Vec<String> = paths.split(',').map(|path| path.trim().to_owned()).collect();
            let (low, high) = range.split_once("..")?;
            let (low, high): (f64, f64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            let good = low < high && (high - low).is_finite() && paths.iter().all(|path| !path.is_empty());
            good.then_some(Self { paths, low, high })
        };
        read().ok_or_else(|| SetError::Syntax(format!("{text} (path=low..high, low below high)")))
    }
}

impl RandomPlan {
    /// The values of each sample, one per axis.
    pub fn draw(&self) -> Vec<Vec<f64>> {
        let mut generator = SplitMix64::new(self.seed);
        let mut sample = || self.axes.iter().map(|axis| generator.uniform_in(axis.low, axis.high)).collect();
        (0..self.samples).map(|_| sample()).collect()
    }
}

/// Digits of a sample's number in its name: a sweep that is given more samples keeps those that it
/// has, up to 10,000.
const NUMBER_WIDTH: usize = 4;

/// As [`variants`], each combination with each of the plan's samples: all combinations get the same
/// samples.
///
/// # Errors
/// As [`variants`]; also a path that is varied twice.
pub fn random_variants(
    scene: &Scene,
    axes: &[SweptField],
    plan: &RandomPlan,
) -> Result<Vec<Variant>, SweepError> {
    if plan.axes.is_empty() || plan.samples == 0 {
        return Err(SweepError::Empty);
    }
    let mut paths: Vec<&str> = axes.iter().map(|axis| axis.path.as_str()).collect();
    for path in plan.axes.iter().flat_map(|axis| &axis.paths) {
        if paths.contains(&path.as_str()) {
            return Err(SweepError::Twice { path: path.clone() });
        }
        paths.push(path);
    }
    let fixed = if axes.is_empty() {
        vec![Variant { name: String::new(), changes: Vec::new(), scene: Ok(scene.clone()) }]
    } else {
        variants(scene, axes)?
    };
    let samples = plan.draw();
    let width = NUMBER_WIDTH.max((plan.samples - 1).to_string().len());
    let mut all = Vec::with_capacity(fixed.len() * samples.len());
    for combination in &fixed {
        for (at, values) in samples.iter().enumerate() {
            let mut changes = combination.changes.clone();
            for (axis, value) in plan.axes.iter().zip(values) {
                let change = |path: &String| Assignment { path: path.clone(), value: (*value).into() };
                changes.extend(axis.paths.iter().map(change));
            }
            let sample = format!("sample-{at:0width$}");
            let name = match combination.name.as_str() {
                "" => sample,
                combination => format!("{combination}+{sample}"),
            };
            let changed = apply(scene, &changes)?;
            validate(&changed).map_err(|source| SweepError::Invalid { name: name.clone(), source })?;
            all.push(Variant { name, changes, scene: Ok(changed) });
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_scenes::builtin;

    fn axes(texts: &[&str]) -> Vec<SweptField> {
        texts.iter().map(|text| SweptField::parse(text).unwrap()).collect()
    }

    fn plan(axes: &[&str], samples: usize, seed: u64) -> RandomPlan {
        let axes = axes.iter().map(|text| RandomAxis::parse(text).unwrap()).collect();
        RandomPlan { axes, samples, seed }
    }

    // Checks: values lie in their range, depend on the seed alone, fewer samples are the beginning
    // of more and have the same names, paths of one axis have the same value, and every combination of
    // the other axes gets the same samples.
    #[test]
    fn random_values_are_seeded_and_shared() {
        let scene = builtin::scene("elastic-drop").unwrap().unwrap();
        let axes = axes(&["dt=0.001,0.002"]);
        let ranges = [
            "materials.rubber.density=500..1500",
            "soft[0].pose.position[0],soft[0].pose.position[1]=-.1...2",
        ];
        let all = random_variants(&scene, &axes, &plan(&ranges, 11, 5)).unwrap();
        assert_eq!((all.len(), all[10].name.as_str()), (22, "dt=0.001+sample-0010"));
        for (first, second) in all[..11].iter().zip(&all[11..]) {
            assert_eq!(first.changes[1..], second.changes[1..]);
            let density = first.scene.as_ref().unwrap().materials["rubber"].particle_material().density;
            let [x, y, _] = first.scene.as_ref().unwrap().soft[0].pose.position;
            assert!((500.0..1500.0).contains(&density) && (-0.1..0.2).contains(&x) && x == y, "{first:?}");
        }
        let fewer = random_variants(&scene, &[], &plan(&ranges, 3, 5)).unwrap();
        assert_eq!((fewer[2].name.as_str(), &fewer[2].changes[..]), ("sample-0002", &all[2].changes[1..]));
        assert_ne!(plan(&ranges, 3, 6).draw(), plan(&ranges, 3, 5).draw());
    }

    #[test]
    fn bad_ranges_are_refused() {
        for text in
            ["dt", "dt=1", "dt=1..1", "dt=2..1", "dt=a..b", "=0..1", "dt,=0..1", "dt=0..inf", "dt=NaN..1"]
        {
            assert!(RandomAxis::parse(text).is_err(), "{text}");
        }
        let scene = builtin::scene("elastic-drop").unwrap().unwrap();
        let all = |vary: &[&str], ranges: &[&str], samples| {
            random_variants(&scene, &axes(vary), &plan(ranges, samples, 0))
        };
        assert!(matches!(all(&[], &["dt=0.001..0.002"], 0), Err(SweepError::Empty)));
        assert!(matches!(all(&["dt=0.001"], &["dt=0.001..0.002"], 1), Err(SweepError::Twice { .. })));
        assert!(matches!(all(&[], &["dt,dt=0.001..0.002"], 1), Err(SweepError::Twice { .. })));
        assert!(matches!(all(&[], &["dt=-2..-1"], 1), Err(SweepError::Invalid { .. })));
    }
}
