//! `diagnostics.csv`: balances, solver and wall time of every step.

use std::path::Path;

use pliant_coupling::{Diagnostics, StepReport};
use pliant_io::digest::DigestError;
use pliant_io::files::IoError;

use super::energy;
use super::table::{Opening, Table};

/// Name of the table with one row per step.
pub const DIAGNOSTICS: &str = "diagnostics.csv";

const HEADER: &str = "time,substeps,mass,com_x,com_y,com_z,linear_momentum_x,linear_momentum_y,\
    linear_momentum_z,angular_momentum_x,angular_momentum_y,angular_momentum_z,kinetic_energy,elastic_energy,\
    gravitational_energy,dissipation,contacts,iterations,residual,rigid_steps,rigid_rejected,rigid_contacts,\
    rigid_solves,rigid_iterations,rigid_factorisations,rigid_refreshed,rigid_kinetic_energy,coupling_steps,\
    coupling_excess";

/// The table in a run directory; with `cloth` it has one more column.
pub fn open(directory: &Path, opening: Opening, cloth: bool) -> Result<Table, DigestError> {
    let column = if cloth { ",crossings" } else { "" };
    let header = format!("{HEADER}{},wall_ms{column}", energy::columns());
    opening.table(directory, DIAGNOSTICS, &header)
}

/// The row of a step; `wall_ms` is its wall time \[ms\], `rigid_energy` the bodies' kinetic energy
/// \[J\], `crossings` those of cloth at the last frame, if there is cloth.
pub fn step(
    table: &mut Table,
    diagnostics: &Diagnostics,
    report: &StepReport,
    wall_ms: f64,
    rigid_energy: f64,
    crossings: Option<usize>,
) -> Result<(), IoError> {
    let d = diagnostics;
    let (rigid, solver) = (&report.rigid, &report.rigid.solver);
    let (p, l) = (d.linear_momentum, d.angular_momentum);
    // Without material there is no centre.
    let c = d.center_of_mass.map(|x| if d.mass > 0.0 { format!("{x:?}") } else { String::new() });
    let cloth = crossings.map(|count| format!(",{count}")).unwrap_or_default();
    table.line(&format!(
        "{:?},{},{:?},{},{},{},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{:?},{},{:?},{},{},{},{},{},{},{},{:?},{},{:?}{},{:.3}{cloth}",
        d.time,
        report.substeps,
        d.mass,
        c.x,
        c.y,
        c.z,
        p.x,
        p.y,
        p.z,
        l.x,
        l.y,
        l.z,
        d.kinetic_energy,
        d.elastic_energy,
        d.gravitational_energy,
        d.dissipation,
        report.contacts_mean,
        report.iterations,
        report.residual,
        rigid.steps,
        rigid.rejected,
        solver.contacts,
        solver.solves,
        solver.iterations,
        solver.factorisations,
        solver.refreshed,
        rigid_energy,
        report.coupling_steps,
        report.coupling_excess,
        energy::cells(&d.energy),
        wall_ms
    ))
}
