//! The other test programs once more, with kernels and emulation under the address and undefined-behaviour sanitizers.
//!
//! The C++ is compiled again, as a shared library with sanitizers, and each program runs in a process of its own with the
//! sanitizer's runtime loaded before it; `support` then takes that library for its emulated devices. Where the compiler
//! has no sanitizers (or is none), this is told and nothing is tested.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![cfg(all(target_os = "linux", feature = "emulated"))]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pliant_cuda::kernels::ProbeMisuseParameters;
use pliant_cuda::{Device, Launch};

/// Set in a process that is to write where it may not.
const STRAY: &str = "PLIANT_STRAY_WRITE";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned())
}

/// The compiler's runtime for addresses, none where it has none.
fn runtime() -> Option<PathBuf> {
    let said = Command::new(compiler()).arg("-print-file-name=libasan.so").output().ok()?;
    let path = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    path.is_absolute().then_some(path)
}

/// Compiles the emulation with sanitizers, once for each state of its sources.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("emulation-{}", std::process::id()));
    let _ = std::fs::create_dir_all(&out);
    let library = out.join("libpliant_emulation.so");
    let done = Command::new(compiler())
        .current_dir(folder)
        .args(["-std=c++17", "-O1", "-g", "-fPIC", "-shared", "-fno-exceptions", "-fvisibility=hidden"])
        .args(["-Wno-unknown-pragmas", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        // Run-time type information is what one of the checks would need.
        .args(["-fno-rtti", "-fno-sanitize=vptr", "-fno-omit-frame-pointer", "-Wl,-Bsymbolic"])
        .args([
            "emulation/engine.cpp",
            "emulation/fibre.cpp",
            "emulation/kernels.cpp",
            "emulation/warp.cpp",
            "-o",
        ])
        .arg(&library)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", text(&done));
    library
}

/// A program under the sanitizers.
fn sanitized(program: &Path, runtime: &Path, library: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("LD_PRELOAD", runtime)
        // The standard library of Rust keeps some memory to the end.
        .env("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")
        .env("UBSAN_OPTIONS", "print_stacktrace=1")
        .env(support::LIBRARY, library);
    command
}

/// The newest test program of this name beside this one.
fn program(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().unwrap();
    let entries = std::fs::read_dir(own.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let programs = entries.filter(|path| {
        path.extension().is_none()
            && path
                .file_name()
                .and_then(|name| name.to_str())
                .and_then(|name| name.rsplit_once('-'))
                .map(|s| s.0)
                == Some(name)
    });
    programs.max_by_key(|path| path.metadata().and_then(|data| data.modified()).unwrap())
}

#[test]
fn the_tests_pass_under_sanitizers() {
    if std::env::var_os(support::LIBRARY).is_some() {
        return;
    }
    let Some(runtime) = runtime() else {
        eprintln!("skipped: '{}' has no address sanitizer", compiler());
        return;
    };
    let library = library();

    // First that it finds anything: a write behind the end of a buffer, past the span's check.
    let own = std::env::current_exe().unwrap();
    let stray = sanitized(&own, &runtime, &library)
        .args(["--exact", "writes_astray"])
        .env(STRAY, "1")
        .output()
        .unwrap();
    assert!(!stray.status.success() && text(&stray).contains("heap-buffer-overflow"), "{}", text(&stray));

    for name in ["warp", "block", "misuse", "algorithms", "device"] {
        let program = program(name).unwrap();
        let done = sanitized(&program, &runtime, &library).output().unwrap();
        assert!(done.status.success(), "{name}: {}", text(&done));
    }
    let _ = std::fs::remove_dir_all(library.parent().unwrap());
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
