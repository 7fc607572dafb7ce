//! Wrenches as cells of tables.

pub use pliant_coupling::Wrench;
use pliant_io::files::IoError;

use super::csv_table::{CsvRow, CsvTable};

/// Names of the cells of a wrench of contact between bodies.
pub const CONTACT_COLUMNS: [&str; 6] =
    ["contact_fx", "contact_fy", "contact_fz", "contact_tx", "contact_ty", "contact_tz"];

/// Six cells, each with a comma before it; empty if it was not measured.
pub fn wrench_cells(wrench: Option<Wrench>) -> String {
    let Some(Wrench { force: f, torque: t }) = wrench else { return ",".repeat(6) };
    format!(",{:?},{:?},{:?},{:?},{:?},{:?}", f.x, f.y, f.z, t.x, t.y, t.z)
}

/// Where the cells of a wrench are in a table.
#[derive(Clone, Copy)]
pub struct WrenchColumns([usize; 6]);

impl WrenchColumns {
    /// The columns with these names.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn of(table: &CsvTable, names: [&str; 6]) -> Result<Self, IoError> {
        table.columns(names).map(Self)
    }

    /// The columns of the wrench of contact between bodies; none in a table of an earlier version.
    ///
    /// # Errors
    /// The table has some of them.
    pub fn contact(table: &CsvTable) -> Result<Option<Self>, IoError> {
        table.find(CONTACT_COLUMNS[0]).map(|_| Self::of(table, CONTACT_COLUMNS)).transpose()
    }

    /// The wrench in a row.
    ///
    /// # Errors
    /// A cell is not a number.
    pub fn read(self, row: &CsvRow) -> Result<Wrench, IoError> {
        let [fx, fy, fz, tx, ty, tz] = self.0;
        Ok(Wrench { force: row.vector([fx, fy, fz])?, torque: row.vector([tx, ty, tz])? })
    }

    /// The wrench in a row; none if it was not measured.
    ///
    /// # Errors
    /// A cell is not a number.
    pub fn read_measured(self, row: &CsvRow) -> Result<Option<Wrench>, IoError> {
        if row.text(self.0[0]).is_empty() { Ok(None) } else { self.read(row).map(Some) }
    }
}
