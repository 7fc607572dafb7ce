//! The other test programs once more, with kernels and emulation under the address and
//! undefined-behaviour sanitizers.
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

use pliant_cuda::kernels::ProbeMisuseParameters;
use pliant_cuda::{Device, Launch};
use support::build::{Library, compiler, program, text};

/// Set in a process that is to write where it may not.
const STRAY: &str = "PLIANT_STRAY_WRITE";

/// The compiler's runtime for addresses; none where it has none.
fn runtime() -> Option<PathBuf> {
    let said = Command::new(compiler()).arg("-print-file-name=libasan.so").output().ok()?;
    let path = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    path.is_absolute().then_some(path)
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
    let Some(runtime) = runtime() else {
        eprintln!("skipped: '{}' has no address sanitizer", compiler());
        return;
    };
    let Some(library) = library() else {
        return;
    };

    // First that it finds anything: a write behind the end of a buffer, past the span's check.
    let own = std::env::current_exe().unwrap();
    let stray = sanitized(&own, &runtime, &library)
        .args(["--exact", "writes_astray"])
        .env(STRAY, "1")
        .output()
        .unwrap();
    assert!(!stray.status.success() && text(&stray).contains("heap-buffer-overflow"), "{}", text(&stray));

    let programs = [
        "warp",
        "block",
        "misuse",
        "algorithms",
        "device",
        "convex_number",
        "convex_limits",
        "contact_distance",
        "contact_detection",
        "contact_exchange",
        "contact_boundary_constraints",
        "mpm_transfers",
        "mpm_constitutive",
        "mpm_steps",
        "mpm_totals",
        "mpm_cloth",
        "mpm_granular",
        "stop_and_grow",
        "worlds",
    ];
    for name in programs {
        let done = sanitized(&program(name), &runtime, &library).output().unwrap();
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
