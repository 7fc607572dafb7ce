//! Changes to a file, as a fuzz input says them. A corpus of changes outlives the versions of a
//! format; one of files does not.

use std::ops::Range;

/// A change: some bytes go, others come in their place.
pub struct Change<'a> {
    place: usize,
    drop: usize,
    /// The bytes that come.
    pub new: &'a [u8],
    /// Whether no change follows.
    pub is_last: bool,
}

impl Change<'_> {
    /// The bytes that go, of a file of this length.
    pub fn range(&self, length: usize) -> Range<usize> {
        let start = self.place % length.max(1);
        start..length.min(start + self.drop)
    }
}

/// The changes in an input, each: a place (two bytes, little endian, modulo the file's length), the
/// number of bytes that go, the number of those that come (one byte each), and these.
pub fn changes(mut input: &[u8]) -> impl Iterator<Item = Change<'_>> {
    std::iter::from_fn(move || {
        let [low, high, drop, add, after @ ..] = input else { return None };
        let place = usize::from(u16::from_le_bytes([*low, *high]));
        let (new, next) = after.split_at(after.len().min(usize::from(*add)));
        input = next;
        Some(Change { place, drop: usize::from(*drop), new, is_last: next.is_empty() })
    })
}
