//! Values as USD writes them.

use std::fmt::{Display, Write as _};

/// Text that grows by lines; writing to it does not fail.
#[derive(Default)]
pub struct Text(pub String);

impl Text {
    /// Adds a line.
    pub fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.0, "{line}");
    }
}

/// A real number as the shortest text that reads back the same.
pub fn number(value: impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

/// Tuples of `width` in square brackets; plain numbers if it is 1.
pub fn tuples(values: &[f32], width: usize) -> String {
    let mut text = String::with_capacity(values.len() * 12 + 2);
    text.push('[');
    for (at, value) in values.iter().enumerate() {
        let open = if at == 0 { "" } else { ", " };
        let (first, last) = (at % width == 0, at % width == width - 1);
        let (left, right) = if width > 1 { (first, last) } else { (false, false) };
        let _ =
            write!(text, "{open}{}{value:?}{}", if left { "(" } else { "" }, if right { ")" } else { "" });
    }
    text.push(']');
    text
}

/// A list of whole numbers.
pub fn list(values: impl IntoIterator<Item = usize>) -> String {
    format!("{:?}", values.into_iter().collect::<Vec<_>>())
}

/// A text between quotes.
pub fn quoted(text: &str) -> String {
    let mut made = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => made.extend(['\\', letter]),
            '\n' => made.push_str("\\n"),
            letter if letter.is_control() => made.push(' '),
            letter => made.push(letter),
        }
    }
    made.push('"');
    made
}
