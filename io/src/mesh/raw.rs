//! What the readers of the formats have in common.

/// A part as the readers of the formats give it: indices are in range, positions may be anything.
#[derive(Default)]
pub(super) struct RawPart {
    /// In units of the file.
    pub positions: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
    pub color: Option<[u8; 3]>,
}

/// Reads a file that a mesh names, by its name relative to the mesh; `None` if it cannot be read.
pub(super) type Beside<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// Vertices and triangles that a file may still place. Formats with instances can name more than
/// they hold.
pub(super) struct Budget(usize);

impl Budget {
    /// Vertices and triangles that instances may add to what a file holds.
    const INSTANCES: usize = 1 << 20;

    pub fn of(bytes: &[u8]) -> Self {
        Self(bytes.len() + Self::INSTANCES)
    }

    pub fn spend(&mut self, count: usize) -> Result<(), String> {
        self.0 = self.0.checked_sub(count).ok_or("its instances have too many vertices and triangles")?;
        Ok(())
    }
}
