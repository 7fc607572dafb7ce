//! Messages of errors.

/// Longest message \[characters\]: a message that repeats a whole file hides what is wrong.
const LONGEST: usize = 2000;

/// A message says something, is not endless, and holds nothing that changes a terminal.
pub fn check(message: &str) {
    assert!(!message.trim().is_empty(), "an error without a message");
    let length = message.chars().count();
    assert!(
        length <= LONGEST,
        "a message of {length} characters: {}",
        &message.escape_debug().to_string()[..300]
    );
    let control = message.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert!(control.is_none(), "{control:?} in a message: {message:?}");
}

/// As [`check`], of a message that lists several errors, one a line.
pub fn lines(message: &str) {
    assert!(!message.trim().is_empty(), "an error without a message");
    message.lines().filter(|line| !line.is_empty()).for_each(check);
}
