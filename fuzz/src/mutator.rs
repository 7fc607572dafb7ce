//! A mutator of text: it exchanges, doubles, drops and replaces whole words and numbers, so that
//! most of what it makes still has the format's form. Half of the time the bytes are left to
//! libFuzzer, which also knows the dictionaries.

use std::ops::Range;

/// Numbers at the ends of ranges, and those that parsers treat in another way.
const NUMBERS: [&str; 36] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "0.5",
    "1e-3",
    "1e3",
    "1e-12",
    "1e12",
    "1e-45",
    "1e38",
    "1e39",
    "-1e38",
    "1e-320",
    "1e300",
    "1e308",
    "-1e308",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e19",
    "0.99999999999999989",
];

/// A generator of random numbers (Vigna's splitmix64) for choices alone.
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Whether a byte is part of a word or number.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_' | b'/') || byte >= 128
}

/// The words and numbers of a text, each on its own.
fn words(text: &[u8]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, byte) in text.iter().enumerate().filter(|(_, byte)| in_word(**byte)) {
        let _ = byte;
        match words.last_mut() {
            Some(word) if word.end == at => word.end += 1,
            _ => words.push(at..at + 1),
        }
    }
    words
}

/// The bracket, element or line around a place, as far as a simple look tells.
fn piece(text: &[u8], choices: &mut Choices) -> Range<usize> {
    let at = choices.below(text.len());
    let (open, close) = match choices.below(4) {
        0 => (b'{', b'}'),
        1 => (b'[', b']'),
        2 => (b'<', b'>'),
        _ => (b'\n', b'\n'),
    };
    let start = text[..at].iter().rposition(|&b| b == open).unwrap_or(0);
    let mut depth = 0_usize;
    let mut end = text.len();
    for (i, &byte) in text.iter().enumerate().skip(start + 1) {
        if byte == close {
            if depth == 0 {
                end = i + 1;
                break;
            }
            depth -= 1;
        } else if byte == open {
            depth += 1;
        }
    }
    start..end
}

/// Changes the text in `data[..size]` in place by one to four exchanges; the new length, at most
/// `limit`. None: there is nothing to exchange.
fn exchange(data: &mut [u8], size: usize, limit: usize, choices: &mut Choices) -> Option<usize> {
    let mut text = data.get(..size)?.to_vec();
    for _ in 0..=choices.below(4) {
        let found = words(&text);
        if found.is_empty() {
            return None;
        }
        let word = found[choices.below(found.len())].clone();
        let is_number = text[word.clone()].iter().any(u8::is_ascii_digit);
        match choices.below(8) {
            // A number takes an end of a range.
            0..3 if is_number => {
                text.splice(word, NUMBERS[choices.below(NUMBERS.len())].bytes());
            }
            // A word takes another's place.
            0..4 => {
                let other = text[found[choices.below(found.len())].clone()].to_vec();
                text.splice(word, other);
            }
            4 => {
                text.splice(word, []);
            }
            // A piece is doubled, dropped, or takes another's place.
            5 => {
                let source = piece(&text, choices);
                let copy = text[source.clone()].to_vec();
                text.splice(source.end..source.end, copy);
            }
            6 => {
                let dropped = piece(&text, choices);
                text.splice(dropped, []);
            }
            _ => {
                let copy = text[piece(&text, choices)].to_vec();
                let other = piece(&text, choices);
                text.splice(other, copy);
            }
        }
        if text.is_empty() || text.len() > limit.min(data.len()) {
            return None;
        }
    }
    data[..text.len()].copy_from_slice(&text);
    Some(text.len())
}

/// A mutation of `data[..size]` with at most `limit` bytes: of its words and numbers, or
/// libFuzzer's own; the new length.
pub fn mutate(data: &mut [u8], size: usize, limit: usize, seed: u32) -> usize {
    let mut choices = Choices(u64::from(seed));
    let is_text = choices.below(2) == 0;
    let exchanged = is_text.then(|| exchange(data, size, limit, &mut choices)).flatten();
    exchanged.unwrap_or_else(|| libfuzzer_sys::fuzzer_mutate(data, size, limit))
}
