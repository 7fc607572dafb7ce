//! `list`, `check`, `show`, `schema`, `doctor`: commands that write nothing.

use anyhow::Context;
use pliant::scenes::prepare::prepare;
use pliant::scenes::{builtin, format, load, machine};
use serde_json::json;

use super::args::SceneArguments;
use super::{Failure, print, print_json};

pub fn list(json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for name in builtin::names() {
        let scene = load::read(name).map_err(Failure::failed)?;
        rows.push((name, scene.description));
    }
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, description)| json!({ "name": name, "description": description }))
            .collect();
        return print_json(Ok(rows.into()));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: String = rows
        .iter()
        .map(|(name, description)| {
            let sentence = description.split(". ").next().unwrap_or_default();
            format!("{name:width$}  {}\n", sentence.trim_end_matches('.'))
        })
        .collect();
    Ok(print(&lines)?)
}

pub fn check(arguments: &SceneArguments) -> Result<(), Failure> {
    let scene = load::load(&arguments.scene, &arguments.changes.assignments()).map_err(Failure::usage)?;
    let prepared =
        prepare(&scene).with_context(|| format!("scene '{}'", arguments.scene)).map_err(Failure::Usage)?;
    let world = &prepared.world;
    Ok(print(&format!(
        "{}: valid; {} particles, {} bodies, {} substeps of a step\n",
        scene.name,
        world.particle_count(),
        scene.bodies.len(),
        world.substeps()
    ))?)
}

pub fn show(arguments: &SceneArguments) -> Result<(), Failure> {
    let scene = load::load(&arguments.scene, &arguments.changes.assignments()).map_err(Failure::usage)?;
    print_json(serde_json::to_value(&scene))
}

pub fn schema() -> Result<(), Failure> {
    print_json(Ok(format::schema()))
}

pub fn doctor(json: bool) -> Result<(), Failure> {
    // The driver tells its version here whether or not a CUDA toolkit is installed.
    let driver = std::fs::read_to_string("/proc/driver/nvidia/version")
        .ok()
        .and_then(|text| text.lines().next().map(|line| line.trim().to_owned()));
    let driver = driver.unwrap_or_else(|| "none found".to_owned());
    let features = machine::cpu_features();
    let threads = machine::available_threads();
    if json {
        return print_json(Ok(json!({
            "version": machine::VERSION,
            "git_commit": machine::GIT_COMMIT,
            "device": machine::device(),
            "cpu_features": features,
            "threads": threads,
            "nvidia_driver": driver,
            "cuda": machine::CUDA_STATUS,
        })));
    }
    Ok(print(&format!(
        "pliant          {} ({})\nprocessor       {}\ninstructions    {}\nthreads         {threads}\n\
         nvidia driver   {driver}\n{}\n",
        machine::VERSION,
        machine::GIT_COMMIT,
        machine::device(),
        features.join(" "),
        machine::CUDA_STATUS,
    ))?)
}
