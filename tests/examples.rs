//! The programs of `examples/` run, and print what they should.

#![allow(clippy::unwrap_used, clippy::panic)] // everything here runs in tests

use std::process::Command;

/// What an example prints. `cargo test` builds the examples beside the folder of the tests.
fn printed(example: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(std::path::Path::parent).unwrap().join("examples").join(example);
    let program = built.with_extension(std::env::consts::EXE_EXTENSION);
    let output = Command::new(&program).output().unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The number that stands right after `before`.
fn number(text: &str, before: &str) -> f64 {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("'{before}' in {text}")).1;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c))).unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().unwrap_or_else(|e| panic!("{e}: after '{before}' in {text}"))
}

/// Checks: the table bears the weight of the block, 1 kg in 9.81 m/s^2 (Newton's third law), to the
/// three decimals that are printed.
#[test]
fn soft_block_bears_its_weight() {
    let text = printed("soft_block");
    assert!((number(&text, "force on the table ") + 9.81).abs() < 2e-3, "{text}");
}

/// Checks: speeds are 2.5 mm/s apart and act for half a second, so that the best of them misses by
/// at most half of 1.25 mm, and the block slides on a little.
#[test]
fn the_best_of_64_futures_is_near_the_goal() {
    let text = printed("branch");
    assert_eq!(number(&text, ""), 64.0, "{text}");
    assert!(number(&text, "m/s, ") < 1.25, "{text}");
}

/// Checks: without the block the flange follows its path of 50 mm; under the block's force the
/// controller, a spring of the mass matrix times 400/s^2, yields, and both stay in contact.
#[test]
fn a_torque_controller_presses_the_block() {
    let text = printed("torque_controller");
    let down = number(&text, "flange ");
    assert!(down > 20.0 && down < 50.0, "{text}");
    assert!(number(&text, "hand up with ") > 1.0, "{text}");
}
