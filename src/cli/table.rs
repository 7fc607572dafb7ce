//! Tables of runs on standard output.

use std::path::Path;

use pliant::io::text::printable;
use pliant::runner::picture::PREVIEW_PNG;
use pliant::runner::run::{GoalResult, Manifest, Status};

/// The results of one run, one line each.
pub fn summary(directory: &Path, manifest: &Manifest) -> String {
    let m = manifest;
    let (ms, solver, kept) = (&m.ms_per_step, &m.solver, &m.conservation);
    let (rigid, coupling, soft) = (&m.rigid, &m.coupling, m.particles > 0);
    let substeps = if soft { format!(", {} substeps each", m.substeps) } else { String::new() };
    let mut lines = vec![
        ("particles", m.particles.to_string()),
        ("steps", format!("{} of {} ms{substeps}", m.steps, 1e3 * m.scene.dt)),
        (
            "time",
            format!(
                "{:.3} s simulated in {:.3} s, {:.2} x real time",
                m.sim_s.0, m.wall_s.0, m.real_time_rate.0
            ),
        ),
        ("ms per step", format!("median {:.3}, p95 {:.3}, mean {:.3}", ms.median.0, ms.p95.0, ms.mean.0)),
        ("contacts", format!("mean {:.1}, max {}", m.contacts.mean.0, m.contacts.max)),
        (
            "solver",
            format!(
                "mean {:.2} iterations per substep, max {}, {} not converged",
                solver.iterations_mean.0, solver.iterations_max, solver.not_converged
            ),
        ),
        (
            "conservation",
            format!(
                "mass {}, momentum {}, angular momentum {} (relative errors)",
                relative(kept.mass.0),
                relative(kept.linear_momentum.0),
                relative(kept.angular_momentum.0)
            ),
        ),
        (
            "coupling",
            format!(
                "{} coupling steps ({} steps split, {} too long), largest ratio to the limit {:.2}",
                coupling.steps, coupling.split, coupling.too_long, coupling.worst.0
            ),
        ),
        ("energy", energy(m)),
        (
            "rigid",
            format!(
                "{} steps ({} rejected), contacts mean {:.1}, max {}, mean {:.2} iterations per solve",
                rigid.steps,
                rigid.rejected,
                rigid.contacts.mean.0,
                rigid.contacts.max,
                rigid.iterations_mean.0
            ),
        ),
        ("frames", m.frames.to_string()),
    ];
    if let Some(cloth) = m.cloth.filter(|cloth| cloth.torn_faces > 0) {
        lines.push(("torn", format!("{} faces of cloth", cloth.torn_faces)));
    }
    lines.extend(m.goals.iter().map(|goal| ("goal", outcome(goal))));
    if !soft {
        lines.retain(|(name, _)| {
            !["particles", "contacts", "solver", "conservation", "coupling"].contains(name)
        });
    }
    if m.scene.bodies.is_empty() && m.scene.robots.is_empty() {
        lines.retain(|(name, _)| *name != "rigid");
    }
    let picture = directory.join(PREVIEW_PNG);
    if picture.exists() {
        lines.push(("picture", picture.display().to_string()));
    }
    if let Some(error) = &m.error {
        lines.push(("error", error.clone()));
    }
    let head = format!("{}: {} in {}", m.scene.name, m.status, directory.display());
    let line =
        |text: String, (name, value): &(&str, String)| text + &format!("  {name:14}{}\n", printable(value));
    lines.iter().fold(printable(&head).into_owned() + "\n", line)
}

/// A relative error; none where nothing was there to be relative to.
fn relative(error: f64) -> String {
    if error.is_finite() { format!("{error:.1e}") } else { "not measured".to_owned() }
}

/// Energy that the scheme created, and the imbalance.
fn energy(m: &Manifest) -> String {
    let part = |name: &str| m.energy.get(name).map(|part| format!("{:.2e} J", part.0));
    let gained = part("energy_gained").zip(part("energy_put_in"));
    let gained = gained.map_or_else(
        || "not measured".to_owned(),
        |(gained, put_in)| format!("{gained} created by the scheme of {put_in} energy input"),
    );
    let left = part("imbalance").map_or_else(String::new, |left| format!(", imbalance {left} at the end"));
    gained + &left
}

/// One goal in words.
fn outcome(goal: &GoalResult) -> String {
    let met = match goal.met {
        Some(true) => "met",
        Some(false) => "not met",
        None => "not judged",
    };
    if goal.worst.0.is_finite() {
        format!("{}: {met}, worst {:.4e} {} at {:.3} s", goal.name, goal.worst.0, goal.unit, goal.time.0)
    } else {
        format!("{}: {met}", goal.name)
    }
}

/// Runs side by side, one line each.
pub fn runs<'a>(entries: impl Iterator<Item = (String, &'a Manifest)>) -> String {
    let head = [
        "run",
        "status",
        "particles",
        "sim s",
        "wall s",
        "x real",
        "ms/step",
        "contacts",
        "iter",
        "unconv.",
        "energy",
        "goals",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for (name, m) in entries {
        rows.push([
            name,
            m.status.to_string(),
            m.particles.to_string(),
            format!("{:.3}", m.sim_s.0),
            format!("{:.2}", m.wall_s.0),
            format!("{:.2}", m.real_time_rate.0),
            format!("{:.3}", m.ms_per_step.median.0),
            format!("{:.1} ({})", m.contacts.mean.0, m.contacts.max),
            format!("{:.2}", m.solver.iterations_mean.0),
            m.solver.not_converged.to_string(),
            if m.status == Status::Failed {
                "-".to_owned()
            } else {
                format!("{:.1e}", m.conservation.energy.0)
            },
            match m.goals_met() {
                (_, 0) => "-".to_owned(),
                (met, all) => format!("{met}/{all}"),
            },
        ]);
    }
    align(&rows)
}

/// Columns as wide as their widest cell; the first two to the left, numbers to the right. A row is
/// one line, whatever its names hold.
pub fn align<const N: usize>(rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| core::array::from_fn(|column| printable(&row[column]).into_owned())).collect();
    let widths: Vec<usize> =
        (0..N).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(column, (cell, width))| {
                    if column < 2 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // Checks: a name with line ends and terminal commands stays in its cell.
    #[test]
    fn a_row_is_one_line() {
        let rows = [["run", "status"], ["a\nb\u{1b}[2J", "completed"]].map(|row| row.map(str::to_owned));
        assert_eq!(align(&rows), "run            status\na\\nb\\u{1b}[2J  completed\n");
    }
}
