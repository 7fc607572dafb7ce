//! `bench`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use pliant::bench::{BenchOptions, BenchPart, Figures, Measurement, PARTS, TrialOptions, part};
use pliant::report::{BenchFigure, BenchRow, read_peers, write_bench};
use pliant::runner::machine;
use serde_json::json;

use super::args::BenchArguments;
use super::output::{Failure, command_line, print, print_json};
use super::table;

pub fn bench(arguments: &BenchArguments) -> Result<(), Failure> {
    if arguments.list && arguments.output.json {
        let parts = PARTS.iter().map(|part| json!({ "name": part.name, "about": part.about }));
        return print_json(Ok(parts.collect()));
    }
    if arguments.list {
        let lines: String = PARTS.iter().map(|part| format!("{:14}{}\n", part.name, part.about)).collect();
        return Ok(print(&lines)?);
    }
    let backend = arguments.backend.choice().map_err(Failure::Usage)?;
    let machine = backend.open().map_err(Failure::usage)?;
    let parts: Vec<&BenchPart> = if arguments.names.is_empty() {
        PARTS.iter().collect()
    } else {
        let find = |name: &String| {
            let known: Vec<_> = PARTS.iter().map(|part| part.name).collect();
            part(name).ok_or_else(|| {
                Failure::Usage(anyhow!("there is no benchmark '{name}'; there are [{}]", known.join(", ")))
            })
        };
        arguments.names.iter().map(find).collect::<Result<_, _>>()?
    };
    let device = machine.name();
    let threads = if arguments.threads.is_empty() {
        vec![machine::available_threads()]
    } else {
        arguments.threads.clone()
    };
    // A page has its plots within it, wherever else they are kept.
    let kept = arguments.report.as_ref().filter(|_| arguments.plots.is_none()).map(|page| beside(page));
    let plots = arguments.plots.clone().or_else(|| kept.clone());
    if let Some(folder) = &plots {
        // Before the parts, which take minutes.
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))
            .map_err(Failure::failed)?;
    }
    // Before the parts too.
    let peers = arguments.peers.as_deref().map(read_peers).transpose().map_err(Failure::usage)?;
    let trials = TrialOptions {
        seed: arguments.seed,
        count: arguments.count,
        seconds: arguments.seconds,
        families: arguments.families.clone(),
        first: arguments.first,
        grid_spacing: arguments.grid_spacing,
        out: arguments.out.clone(),
    };
    let progress = |line: &str| eprintln!("{line}");
    let options = BenchOptions { threads, machine, plots, figures: Figures::default(), trials, progress };
    let mut rows: Vec<Measurement> = Vec::new();
    let mut failures = Vec::new();
    for part in parts {
        let result = (part.run)(&options, &mut |row| {
            eprintln!("{}", line(&row).join("  "));
            rows.push(row);
        });
        if let Err(error) = result {
            eprintln!("error: {error}");
            failures.push(format!("{}: {error}", part.name));
        }
    }
    if arguments.output.json {
        print_json(serde_json::to_value(&rows))?;
    } else {
        let head = ["bench", "case", "backend or scheme", "threads", "value", "unit", "min", "max"]
            .map(str::to_owned);
        let lines: Vec<_> = std::iter::once(head).chain(rows.iter().map(line)).collect();
        print(&table::align(&lines))?;
    }
    if let Some(file) = &arguments.report {
        let rows: Vec<BenchRow> = rows.iter().map(bench_row).chain(peers.into_iter().flatten()).collect();
        let figures: Vec<BenchFigure> = options
            .figures
            .all()
            .into_iter()
            .map(|figure| BenchFigure { caption: figure.caption, file: figure.file })
            .collect();
        write_bench(&rows, &figures, &facts(&device), &failures, &command_line(), file)
            .map_err(Failure::failed)?;
        if let Some(folder) = &kept {
            std::fs::remove_dir_all(folder)
                .with_context(|| format!("cannot remove {}", folder.display()))
                .map_err(Failure::failed)?;
        }
        eprintln!("{}", file.display());
    }
    if failures.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// A folder beside a page for its plots, until they are within it.
fn beside(page: &Path) -> PathBuf {
    let mut name = page.file_name().unwrap_or_default().to_owned();
    name.push(format!(".plots-{}", std::process::id()));
    page.with_file_name(name)
}

/// What the figures depend on, a line each.
fn facts(device: &str) -> Vec<String> {
    vec![
        format!("pliant {} ({})", machine::VERSION, machine::GIT_COMMIT),
        format!(
            "{device}; {} hardware threads; {}",
            machine::available_threads(),
            machine::cpu_features().join(" ")
        ),
    ]
}

fn bench_row(row: &Measurement) -> BenchRow {
    BenchRow {
        bench: row.bench.clone(),
        case: row.case.clone(),
        who: match &row.who {
            None => format!("Pliant, {}", row.backend),
            Some(who) if row.rival => who.clone(),
            Some(who) => format!("Pliant, {who}"),
        },
        threads: row.threads,
        value: row.value,
        unit: row.unit.clone(),
        min: Some(row.min),
        max: Some(row.max),
        rival: row.rival,
    }
}

fn line(row: &Measurement) -> [String; 8] {
    // Small errors must not be printed as 0.
    let figure = |value: f64| {
        if value.abs() < 1e-2 && value != 0.0 { format!("{value:.2e}") } else { format!("{value:.4}") }
    };
    [
        row.bench.clone(),
        row.case.clone(),
        row.who.clone().unwrap_or_else(|| row.backend.clone()),
        row.threads.to_string(),
        figure(row.value),
        row.unit.clone(),
        figure(row.min),
        figure(row.max),
    ]
}
