//! The programs of `examples/` run, and print what they should.

#![allow(clippy::unwrap_used, clippy::panic)] // everything here runs in tests

use std::process::Command;

/// What an example prints. `cargo test` builds the examples beside the folder of the tests.
fn printed(example: &str) -> String {
    printed_with(example, &[])
}

fn printed_with(example: &str, arguments: &[&std::path::Path]) -> String {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(std::path::Path::parent).unwrap().join("examples").join(example);
    let program = built.with_extension(std::env::consts::EXE_EXTENSION);
    let output = Command::new(&program)
        .args(arguments)
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
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

/// Checks: without the dough the flange follows its path of 50 mm; under the dough's force the
/// controller, a spring of the mass matrix times 400/s^2, yields, and both stay in contact.
#[test]
fn a_torque_controller_presses_the_dough() {
    let text = printed("torque_controller");
    let down = number(&text, "flange ");
    assert!(down > 20.0 && down < 50.0, "{text}");
    assert!(number(&text, "hand up with ") > 1.0, "{text}");
}

/// Checks: the gripper stops at the first step with 2 N or more. Until then a finger moves 20 um a
/// step against a cube of less than 2e4 Pa * 48 mm = 1 kN/m: the force grows by 0.02 N a step, and
/// by what the cube swings. The motor brings the finger to its target meanwhile.
#[test]
fn a_gripper_stops_on_force() {
    let text = printed("stop_on_force");
    let force = number(&text, "s: ");
    assert!((2.0..2.2).contains(&force), "{text}");
    let held = number(&text, "later: ");
    assert!((1.5..3.0).contains(&held), "{text}");
}

/// Checks: the pad bears the weight of the napkin, 0.2 kg/m^2 * 0.04 m^2 * 9.81 m/s^2, once it
/// hangs still, to 1 %: it still swings.
#[test]
fn a_pad_lifts_a_cloth() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("cloth.png");
    let text = printed_with("lift_cloth", &[&picture]);
    let weight = 0.2 * 0.04 * 9.81;
    assert!((number(&text, "bears ") / weight - 1.0).abs() < 0.01, "{text}");
    assert!(number(&text, "lowest point ") > 0.1, "{text}");
    assert!(picture.exists());
}

/// Checks: Coulomb. Below tan(20 deg) = 0.364 the block slides as a rigid one, g (sin a - mu cos a)
/// t^2/2, to 2 mm: it is soft, and settles meanwhile. Above it stays.
#[test]
fn a_block_slides_below_the_critical_friction() {
    let text = printed("friction_sweep");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 12, "{text}");
    for (i, line) in lines.iter().enumerate() {
        let friction = 0.05 * i as f64;
        assert_eq!(number(line, "friction "), (friction * 100.0).round() / 100.0, "{line}");
        let angle = 20.0_f64.to_radians();
        let free = 500.0 * 9.81 * (angle.sin() - friction * angle.cos()).max(0.0) * 0.16;
        let slid = number(line.split_once(": ").unwrap().1, "");
        assert!((slid - free).abs() < 2.0, "{line}, law {free} mm");
    }
}

/// Checks: what is read is what the scene is: 1000 particles, a block of 0.98 kg that the table
/// bears, which swings by less than 2 N, and is lower than 0.1 m.
#[test]
fn results_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = printed_with("read_results", &[&folder.path().join("run")]);
    assert!(text.contains("1000 particles, 100 steps") && text.contains("goal lies: Some(true)"), "{text}");
    assert!((number(&text, "force on table ") + 9.81).abs() < 2.0, "{text}");
    assert!((0.08..0.1).contains(&number(&text, "last frame ")), "{text}");
}

/// Checks: users read the programs in one look.
#[test]
fn the_six_programs_are_short() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for name in
        ["stop_on_force", "torque_controller", "lift_cloth", "branch", "friction_sweep", "read_results"]
    {
        let text = std::fs::read_to_string(folder.join(name).with_extension("rs")).unwrap();
        assert!(text.lines().count() < 50, "{name}: {} lines", text.lines().count());
    }
}
