//! The plots of a scene, drawn from the tables of its run.

use std::path::Path;

use nalgebra::Vector3;

use crate::record::{ForceRow, Manifest, read_forces};
use pliant_io::files::IoError;
use pliant_render::plot::{Figure, Plot, PlotError, Series, Style};
use pliant_scenes::format::{self, CurveQuantity};

/// Folder of the plots in a run directory.
pub const PLOTS: &str = "plots";

/// Writes `plots/NAME.svg` for every plot of the run's scene.
///
/// # Errors
/// `forces.csv` cannot be read, or a plot not be written. A run without a step gets no plots.
pub fn write(directory: &Path, manifest: &Manifest) -> Result<(), PlotError> {
    let wanted = &manifest.scene.output.plots;
    if wanted.is_empty() || manifest.steps == 0 {
        return Ok(());
    }
    let rows = read_forces(directory)?;
    let folder = directory.join(PLOTS);
    std::fs::create_dir_all(&folder).map_err(|e| IoError::file("create", &folder, e))?;
    for described in wanted {
        let figure = Figure {
            title: described.title.clone().unwrap_or_else(|| described.name.clone()),
            panels: described.panels.iter().map(|panel| plot(panel, &rows)).collect(),
        };
        figure.write_svg(folder.join(format!("{}.svg", described.name)))?;
    }
    Ok(())
}

fn plot(panel: &format::Panel, rows: &[ForceRow]) -> Plot {
    let torque = panel.curves.iter().any(|curve| curve.quantity == CurveQuantity::Torque);
    let force = panel.curves.iter().any(|curve| curve.quantity == CurveQuantity::Force);
    let y_label = match (force, torque) {
        (true, true) => "force [N], torque [N m]",
        (_, true) => "torque [N m]",
        _ => "force [N]",
    };
    Plot {
        title: panel.title.clone(),
        x_label: "time [s]".to_owned(),
        y_label: y_label.to_owned(),
        y_range: panel.range.map(|[least, most]| least..most),
        series: panel.curves.iter().map(|curve| series(curve, rows)).collect(),
        hlines: panel.lines.iter().map(|line| (line.value, line.name.clone())).collect(),
        ..Plot::default()
    }
}

fn series(curve: &format::Curve, rows: &[ForceRow]) -> Series {
    let direction = Vector3::from(curve.direction).normalize();
    let component = |row: &ForceRow| match curve.quantity {
        CurveQuantity::Force => row.force.dot(&direction),
        CurveQuantity::Torque => row.torque.dot(&direction),
    };
    Series {
        name: curve.name.clone().unwrap_or_else(|| curve.body.clone()),
        points: rows
            .iter()
            .filter(|row| row.body == curve.body)
            .map(|row| (row.time, component(row)))
            .collect(),
        style: Style::Line,
    }
}
