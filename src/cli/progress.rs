//! Progress on standard error: a bar on a terminal, a line every few seconds elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use pliant::coupling::StepProgress;
use pliant::io::text::printable;
use pliant::runner::run::{Progress, Stage};

/// Time between lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Shows the progress of a run.
pub struct Reporter {
    name: String,
    bar: Option<ProgressBar>,
    stage: Option<Stage>,
    last_line: Instant,
}

impl Reporter {
    /// A reporter for the run of this name.
    pub fn new(name: &str) -> Self {
        let name = printable(name);
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(1).with_prefix(name.clone().into_owned());
            // The template is fixed; an invalid one would give the plain bar.
            if let Ok(style) =
                ProgressStyle::with_template("{prefix} {bar:32} {pos}/{len} {msg} ({eta} left)")
            {
                bar.set_style(style);
            }
            bar
        });
        Self { name: name.into_owned(), bar, stage: None, last_line: Instant::now() }
    }

    /// Shows a step.
    pub fn show(&mut self, progress: &Progress) {
        let message = || match progress.stage {
            Stage::Simulating => match progress.within {
                Some(within) => format!("t = {:.2} s, {}", progress.time, within_step(&within)),
                None => format!("t = {:.2} s, {:.0} contacts", progress.time, progress.contacts),
            },
            Stage::Drawing => "pictures".to_owned(),
        };
        match &self.bar {
            Some(bar) => {
                if self.stage != Some(progress.stage) {
                    self.stage = Some(progress.stage);
                    bar.reset();
                    bar.set_length(progress.total);
                }
                bar.set_position(progress.done);
                bar.set_message(message());
            }
            None if self.last_line.elapsed() >= LINE_INTERVAL => {
                self.last_line = Instant::now();
                // Standard error may be closed; the run continues.
                let _ = writeln!(
                    io::stderr(),
                    "{}: {} of {} ({:.0} %), {}",
                    self.name,
                    progress.done,
                    progress.total,
                    100.0 * progress.done as f64 / progress.total.max(1) as f64,
                    message()
                );
            }
            None => {}
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How far a long step is: substeps of the particles, then steps of the bodies.
fn within_step(within: &StepProgress) -> String {
    if within.substeps < within.expected {
        format!("substep {} of {} of the step", within.substeps, within.expected)
    } else {
        format!("{} steps of the bodies, {:.1} % of the step", within.rigid_steps, 100.0 * within.rigid_share)
    }
}
