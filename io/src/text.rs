//! Text that others chose, as it may be shown: names in files may hold characters that a terminal
//! obeys, or that break a table's rows.

use std::borrow::Cow;

/// Whether a terminal or a viewer obeys a character rather than showing it: control characters, line
/// and paragraph separators, and those that turn the direction of text (Unicode, UAX 9).
pub fn is_obeyed(c: char) -> bool {
    let separates = matches!(c, '\u{2028}' | '\u{2029}');
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || separates || turns
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let hidden = |c: char| is_obeyed(c) && !is_kept(c);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hidden(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// The text on one line: characters that are obeyed rather than shown stand as `\n`, `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// As [`printable`], with the line ends.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n')
}

/// The beginning of a text that is longer than `longest` \[bytes\], with " ..." behind it.
pub fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        let starts = text.char_indices().map(|(at, _)| at);
        let end = starts.take_while(|at| *at <= longest).last().unwrap_or(0);
        text.truncate(end);
        text.push_str(" ...");
    }
    text
}

/// The beginning of a text, as [`cut`] and [`printable_lines`] give it.
pub fn shown_lines(text: &str, longest: usize) -> String {
    cut(printable_lines(text).into_owned(), longest)
}

/// Items that [`listed`] lists.
const LISTED: usize = 20;

/// The first items, one a line, and how many more there are.
pub fn listed(items: &[impl ToString]) -> String {
    let more = items.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!("and {more} more"));
    items.iter().take(LISTED).map(ToString::to_string).chain(more).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_escaped() {
        assert_eq!(printable("a b, \"c\" é 箱"), "a b, \"c\" é 箱");
        assert_eq!(printable("a\nb\r\tc\u{1b}[2J\u{7f}\u{9b}"), "a\\nb\\r\\tc\\u{1b}[2J\\u{7f}\\u{9b}");
        assert_eq!(printable("x\u{202e}y\u{2028}"), "x\\u{202e}y\\u{2028}");
        assert_eq!(printable_lines("a\nb\u{1b}"), "a\nb\\u{1b}");
        assert!(matches!(printable("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn long_lists_end_with_a_count() {
        assert_eq!(listed(&[1, 2]), "1\n2");
        let long = listed(&[7; 1000]);
        assert!(long.lines().count() == 21 && long.ends_with("and 980 more"), "{long}");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(cut("abc".to_owned(), 3), "abc");
        assert_eq!(cut("abcd".to_owned(), 3), "abc ...");
        assert_eq!(cut("aéé".to_owned(), 4), "aé ...");
    }
}
