//! The other test programs once more, with kernels and emulation under the address and
//! undefined-behaviour sanitizers, and with the kernels under the thread sanitizer.
//!
//! The C++ is compiled again, as a shared library with sanitizers, and each program runs in a
//! process of its own with the sanitizer's runtime loaded before it; `support` then takes that
//! library for its emulated devices. Where the compiler has no sanitizers (or is none), this is
//! told and nothing is tested.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![cfg(all(target_os = "linux", feature = "emulated"))]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use pliant_cuda::kernels::{ProbeMisuseParameters, ProbeRacesParameters};
use pliant_cuda::{Device, Launch};
use support::build::{Library, PROGRAMS, compiler, program, text};

/// Set in a process that is to write where it may not.
const STRAY: &str = "PLIANT_STRAY_WRITE";

/// Set in a process that is to race: its value is where.
const RACE: &str = "PLIANT_RACE";

/// The compiler's runtime of a sanitizer; says so and gives none where it has none.
fn runtime(file: &str) -> Option<PathBuf> {
    let said = Command::new(compiler()).arg(format!("-print-file-name={file}")).output().ok();
    let path = said.map(|said| PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()));
    let path = path.filter(|path| path.is_absolute());
    if path.is_none() {
        eprintln!("skipped: '{}' has no {file}", compiler());
    }
    path
}

/// The emulation with sanitizers.
fn library() -> Option<Library> {
    // Run-time type information, which is off, is what the check of virtual calls would need.
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=all"];
    let others = ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-exceptions", "-fno-rtti"];
    Library::compile("libpliant_emulation.so", &[&sanitizers[..], &others].concat(), &[])
}

/// A program under the sanitizers.
fn sanitized(program: &Path, runtime: &Path, library: &Library) -> Command {
    let mut command = Command::new(program);
    command
        .env("LD_PRELOAD", runtime)
        // The standard library of Rust keeps some memory to the end.
        .env("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")
        .env("UBSAN_OPTIONS", "print_stacktrace=1")
        .env(support::LIBRARY, library.path());
    command
}

#[test]
#[ignore = "slow tier"]
fn the_tests_pass_under_sanitizers() {
    if std::env::var_os(support::LIBRARY).is_some() {
        return;
    }
    let Some(runtime) = runtime("libasan.so") else { return };
    let Some(library) = library() else { return };

    // First that it finds anything: a write behind the end of a buffer, past the span's check.
    let own = std::env::current_exe().unwrap();
    let stray = sanitized(&own, &runtime, &library)
        .args(["--exact", "writes_astray"])
        .env(STRAY, "1")
        .output()
        .unwrap();
    assert!(!stray.status.success() && text(&stray).contains("heap-buffer-overflow"), "{}", text(&stray));

    for name in PROGRAMS {
        let mut command = sanitized(&program(name), &runtime, &library);
        // It launches the kernels of the other tests some thousand times.
        let done = command.args(["--skip", "a_step_of_many_launches"]).output().unwrap();
        assert!(done.status.success(), "{name}: {}", text(&done));
    }
}

/// Does nothing unless it is asked to by the test above.
#[test]
fn writes_astray() {
    if std::env::var_os(STRAY).is_none() {
        return;
    }
    let device: Device = support::emulated(1);
    let cells = device.upload(&[0_u32; 64]).unwrap();
    let _ =
        device.launch(Launch::new(1, 1), &ProbeMisuseParameters { cells: cells.span(), rule: 99, unused: 0 });
}

/// The emulation with its kernels under the thread sanitizer. A volatile read is an atomic one for
/// CUDA.
fn racing_library() -> Option<Library> {
    let all =
        ["-O1", "-g", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-DPLIANT_THREAD_SANITIZER=1"];
    let of_kernels = ["-fsanitize=thread", "--param=tsan-distinguish-volatile=1"];
    Library::compile_kernels("libpliant_emulation.so", &all, &of_kernels)
}

/// A program under the thread sanitizer: one test at a time, since it knows no more than some
/// thousand threads, and each of the kernels' is one. What is not instrumented, the tests themselves
/// and the emulation, is left alone.
fn watched(program: &Path, runtime: &Path, library: &Library) -> Command {
    let mut command = Command::new(program);
    command
        .arg("--test-threads=1")
        .env("LD_PRELOAD", runtime)
        .env("TSAN_OPTIONS", "ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66")
        .env(support::LIBRARY, library.path());
    command
}

/// Programs with kernels that share memory, and which of their tests; an empty name is all of them.
/// Some take minutes.
const WATCHED: [(&str, &str); 10] = [
    ("block", "grid_barriers"),
    ("convex_number", ""),
    ("convex_limits", "the_iteration_limit_is_kept"),
    ("contact_exchange", ""),
    ("contact_boundary_constraints", ""),
    ("contact_detection", ""),
    ("mpm_totals", ""),
    ("mpm_transfers", ""),
    ("mpm_cloth", "schedules_and_growth"),
    ("worlds", ""),
];

/// No two threads of a kernel come to the same word, one of them to write, unless a barrier, a
/// release with its acquire, or atomic operations are between them (PTX ISA, "Memory Consistency
/// Model").
#[test]
#[ignore = "slow tier"]
fn kernels_do_not_race() {
    if std::env::var_os(support::LIBRARY).is_some() {
        return;
    }
    let Some(runtime) = runtime("libtsan.so") else { return };
    let Some(library) = racing_library() else { return };

    // First that it finds any.
    let own = std::env::current_exe().unwrap();
    for (race, place) in [("blocks", "probe_races"), ("shared", "probe_misuse")] {
        let mut command = watched(&own, &runtime, &library);
        let done = command.args(["--exact", "races"]).env(RACE, race).output().unwrap();
        let said = text(&done);
        assert!(
            !done.status.success() && said.contains("data race") && said.contains(place),
            "{race}: {said}"
        );
    }
    for (name, tests) in WATCHED {
        let done = watched(&program(name), &runtime, &library).arg(tests).output().unwrap();
        assert!(done.status.success(), "{name}: {}", text(&done));
    }
}

/// Does nothing unless it is asked to by the test above.
#[test]
fn races() {
    let Some(race) = std::env::var_os(RACE) else { return };
    let device = support::emulated(1);
    if race == "blocks" {
        let (last, sum) = (device.upload(&[0_u32]).unwrap(), device.upload(&[0.0_f32]).unwrap());
        let parameters = ProbeRacesParameters { last: last.span(), sum: sum.span() };
        device.launch(Launch::new(2, 32), &parameters).unwrap();
    } else {
        let cells = device.upload(&[0_u32; 32]).unwrap();
        let parameters = ProbeMisuseParameters { cells: cells.span(), rule: 15, unused: 0 };
        device.launch(Launch::new(1, 32), &parameters).unwrap();
    }
}
