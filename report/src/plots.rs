//! Plots of a run as SVG.

use pliant_render::plot::{Plot, PlotError, Series, Style};
use pliant_runner::recording::Recording;
use pliant_runner::report::DiagnosticsTable;

/// Points of a curve that are drawn; of more the least and greatest of equal spans of time are.
const MOST_POINTS: usize = 1200;

/// Bodies with the largest forces that are plotted.
const MOST_BODIES: usize = 6;

/// Title, label of the axis, columns of `diagnostics.csv`.
const PLOTS: [(&str, &str, &[&str]); 6] = [
    (
        "energy",
        "energy [J]",
        &["kinetic_energy", "elastic_energy", "gravitational_energy", "dissipation", "rigid_kinetic_energy"],
    ),
    ("energy balance", "energy [J]", &["imbalance", "energy_gained", "energy_put_in"]),
    (
        "linear momentum of the particles",
        "momentum [N s]",
        &["linear_momentum_x", "linear_momentum_y", "linear_momentum_z"],
    ),
    (
        "angular momentum of the particles about the origin",
        "angular momentum [N m s]",
        &["angular_momentum_x", "angular_momentum_y", "angular_momentum_z"],
    ),
    ("contacts and iterations", "number [-]", &["contacts", "rigid_contacts", "iterations"]),
    ("wall time of a step", "wall time [ms]", &["wall_ms"]),
];

/// The plots of a run's diagnostics; those without a figure are left out.
///
/// # Errors
/// A plot cannot be drawn.
pub fn of_diagnostics(table: &DiagnosticsTable) -> Result<Vec<String>, PlotError> {
    let plot = |(title, label, columns): &(&str, &str, &[&str])| {
        let curve = |column: &&str| Series {
            name: column.replace('_', " "),
            points: thinned(&table.points(column)),
            style: Style::Line,
        };
        // What is zero throughout, such as bodies that are not there, would only hide the rest.
        let is_seen = |series: &Series| series.points.iter().any(|(_, y)| y.is_finite() && *y != 0.0);
        drawn(title, label, columns.iter().map(curve).filter(is_seen).collect())
    };
    PLOTS.iter().filter_map(|described| plot(described).transpose()).collect()
}

/// The forces of particles and of contacts on the bodies with the largest, at the frames.
///
/// # Errors
/// The plot cannot be drawn.
pub fn of_forces(recording: &Recording) -> Result<Option<String>, PlotError> {
    let curve = |body: usize| {
        let point = |frame: usize| {
            let row = recording.body_rows(frame).get(body)?;
            let forces = [&row.particles, &row.contacts].into_iter().flatten();
            let sum = forces.map(|wrench| wrench.force).reduce(|a, b| a + b)?;
            Some((row.time, sum.norm()))
        };
        let points: Vec<(f64, f64)> = (0..recording.frame_count()).filter_map(point).collect();
        let most = points.iter().map(|(_, force)| *force).fold(0.0, f64::max);
        (most, Series { name: recording.bodies()[body].name.clone(), points, style: Style::Line })
    };
    let mut curves: Vec<(f64, Series)> = (0..recording.bodies().len()).map(curve).collect();
    curves.retain(|(most, _)| *most > 0.0);
    curves.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let series = curves.into_iter().take(MOST_BODIES).map(|(_, series)| series).collect();
    drawn("force of particles and contacts on bodies, mean between frames", "force [N]", series)
}

fn drawn(title: &str, label: &str, series: Vec<Series>) -> Result<Option<String>, PlotError> {
    if series.is_empty() {
        return Ok(None);
    }
    let plot = Plot {
        title: title.to_owned(),
        x_label: "time [s]".to_owned(),
        y_label: label.to_owned(),
        series,
        ..Plot::default()
    };
    match plot.to_svg() {
        Ok(svg) => Ok(Some(svg)),
        Err(PlotError::Empty { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A curve with fewer points, its peaks among them.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let span = points.len().div_ceil(MOST_POINTS / 2);
    let ends = |part: &[(f64, f64)]| {
        let finite = || (0..part.len()).filter(|i| part[*i].1.is_finite());
        let least = finite().min_by(|a, b| part[*a].1.total_cmp(&part[*b].1));
        let most = finite().max_by(|a, b| part[*a].1.total_cmp(&part[*b].1));
        let (Some(least), Some(most)) = (least, most) else { return vec![part[0]] };
        let mut kept = vec![least.min(most), least.max(most)];
        kept.dedup();
        kept.into_iter().map(|i| part[i]).collect()
    };
    points.chunks(span).flat_map(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: at most the number of points, in the order of time, with the extremes of all.
    #[test]
    fn thinned_curves_keep_their_peaks() {
        for count in [1, 1199, 1200, 1201, 5000, 123_457] {
            let mut points: Vec<(f64, f64)> =
                (0..count).map(|i| (f64::from(i), (f64::from(i) * 0.37).sin())).collect();
            points[count as usize / 2].1 = 9.0;
            points[count as usize / 3].1 = if count > 2 { -7.0 } else { 9.0 };
            let thin = thinned(&points);
            assert!(thin.len() <= MOST_POINTS, "{count}");
            assert!(thin.windows(2).all(|pair| pair[0].0 < pair[1].0), "{count}");
            let least = |p: &[(f64, f64)]| p.iter().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
            let most = |p: &[(f64, f64)]| p.iter().map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!((least(&thin), most(&thin)), (least(&points), most(&points)), "{count}");
        }
    }
}
