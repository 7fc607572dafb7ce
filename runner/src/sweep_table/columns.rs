//! The columns of a sweep's table.

use std::collections::BTreeSet;

use serde_json::Value;

use super::row::SweepRow;
use crate::record::{GoalResult, Manifest};

/// Cells of a column, all of one type; missing ones are none.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Text.
    Text(Vec<Option<String>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Yes or no.
    YesNo(Vec<Option<bool>>),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub cells: Cells,
}

impl Column {
    /// A cell as text; empty if missing. Numbers have as many digits as they need to be read back
    /// exactly.
    pub fn cell(&self, row: usize) -> String {
        fn text<T>(cells: &[Option<T>], row: usize, of: impl Fn(&T) -> String) -> String {
            cells[row].as_ref().map(of).unwrap_or_default()
        }
        match &self.cells {
            Cells::Text(cells) => text(cells, row, String::clone),
            Cells::Number(cells) => text(cells, row, |number| format!("{number:?}")),
            Cells::Whole(cells) => text(cells, row, i64::to_string),
            Cells::YesNo(cells) => text(cells, row, bool::to_string),
        }
    }
}

/// Collects columns with distinct names.
struct Table<'a> {
    rows: &'a [SweepRow],
    columns: Vec<Column>,
}

impl Table<'_> {
    fn add(&mut self, name: &str, cells: Cells) {
        let mut name = name.to_owned();
        // A goal may have the name of a field.
        while self.columns.iter().any(|column| column.name == name) {
            name.push('_');
        }
        self.columns.push(Column { name, cells });
    }

    fn text(&mut self, name: &str, of: impl Fn(&SweepRow) -> Option<String>) {
        let cells = self.rows.iter().map(of).collect();
        self.add(name, Cells::Text(cells));
    }

    /// Numbers of the manifests; what is not finite was not measured.
    fn number(&mut self, name: &str, of: impl Fn(&Manifest) -> Option<f64>) {
        let cells = self.rows.iter().map(|row| row.manifest.as_ref().and_then(&of).filter(|x| x.is_finite()));
        let cells = cells.collect();
        self.add(name, Cells::Number(cells));
    }

    fn whole(&mut self, name: &str, of: impl Fn(&Manifest) -> u64) {
        let cells = self.rows.iter().map(|row| i64::try_from(of(row.manifest.as_ref()?)).ok());
        let cells = cells.collect();
        self.add(name, Cells::Whole(cells));
    }

    fn yes_no(&mut self, name: &str, of: impl Fn(&Manifest) -> Option<bool>) {
        let cells = self.rows.iter().map(|row| row.manifest.as_ref().and_then(&of)).collect();
        self.add(name, Cells::YesNo(cells));
    }
}

/// The columns of a table.
pub fn columns(rows: &[SweepRow]) -> Vec<Column> {
    let mut table = Table { rows, columns: Vec::new() };
    table.text("variant", |row| Some(row.name.clone()));
    let paths: BTreeSet<&String> = rows.iter().flat_map(|row| row.changes.keys()).collect();
    for path in paths {
        table.add(path, varied(rows.iter().map(|row| row.changes.get(path).filter(|v| !v.is_null()))));
    }
    table.text("status", |row| row.status.map(|status| status.to_string()));
    table.text("error", |row| row.error.clone());
    table.number("wall_s", |m| Some(m.wall_s.0));
    table.number("simulated_s", |m| Some(m.sim_s.0));
    table.number("real_time_rate", |m| Some(m.real_time_rate.0));
    table.number("ms_per_step_median", |m| (m.steps > 0).then_some(m.ms_per_step.median.0));
    table.whole("steps", |m| m.steps);
    table.whole("frames", |m| m.frames as u64);
    table.whole("particles", |m| m.particles as u64);
    table.whole("goals", |m| m.goals.len() as u64);
    table.whole("goals_met", |m| m.goals_met().0 as u64);
    let mut goals: Vec<&str> = Vec::new();
    for goal in rows.iter().filter_map(|row| row.manifest.as_ref()).flat_map(|m| &m.goals) {
        if !goals.contains(&&goal.name[..]) {
            goals.push(&goal.name);
        }
    }
    for name in goals {
        let of = |m: &Manifest| m.goals.iter().find(|goal| goal.name == name).cloned();
        table.yes_no(&format!("goal.{name}.met"), |m| of(m)?.met);
        table.number(&format!("goal.{name}.worst"), |m| of(m).map(|GoalResult { worst, .. }| worst.0));
    }
    table.number("mass_error", |m| Some(m.conservation.mass.0));
    table.number("linear_momentum_error", |m| Some(m.conservation.linear_momentum.0));
    table.number("angular_momentum_error", |m| Some(m.conservation.angular_momentum.0));
    table.number("energy_gain", |m| Some(m.conservation.energy.0));
    table.whole("not_converged", |m| m.solver.not_converged);
    table.whole("warnings", |m| m.warnings.len() as u64);
    table.text("backend", |row| row.manifest.as_ref().map(|m| m.backend.clone()));
    table.text("version", |row| row.manifest.as_ref().map(|m| m.version.clone()));
    table.columns
}

/// Values of a varied field, in the narrowest type that holds all of them.
fn varied<'a>(values: impl Iterator<Item = Option<&'a Value>> + Clone) -> Cells {
    let all = |is: fn(&Value) -> bool| values.clone().flatten().all(is);
    if all(Value::is_boolean) {
        Cells::YesNo(values.map(|value| value.and_then(Value::as_bool)).collect())
    } else if all(Value::is_i64) {
        Cells::Whole(values.map(|value| value.and_then(Value::as_i64)).collect())
    } else if all(|value| value.is_f64() || value.as_i64().is_some_and(|whole| whole.abs() < 1 << 53)) {
        Cells::Number(values.map(|value| value.and_then(Value::as_f64)).collect())
    } else {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Cells::Text(values.map(|value| value.map(text)).collect())
    }
}
