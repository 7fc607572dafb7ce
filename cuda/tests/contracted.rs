//! The other test programs once more, with a compiler that fuses products with sums where it likes,
//! as a GPU's does: within the same bounds, and with the same bits where the kernels ask for them.
//!
//! Where the processor has no fused operations, or there is no compiler, this is told and nothing is
//! tested.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![cfg(all(target_os = "linux", feature = "emulated"))]

mod support;

use std::process::Command;

use pliant_cuda::kernels::{NUMBER_RESULTS, ProbeNumberParameters};
use pliant_cuda::{Device, Launch};
use support::Random;
use support::build::{LONG_PROGRAMS, Library, PROGRAMS, program, text};

/// Flags that let the compiler fuse; none where the processor could not run what it makes.
fn flags() -> Option<&'static [&'static str]> {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("fma").then_some(&["-O2", "-mfma", "-ffp-contract=fast"]);
    #[cfg(target_arch = "aarch64")]
    return Some(&["-O2", "-ffp-contract=fast"]);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return None;
}

/// How many of some products with sums the device fuses, of those where it shows.
fn fused(device: &Device) -> (usize, usize) {
    let mut random = Random(5);
    let pairs: Vec<[f64; 2]> = (0..100).map(|_| [random.signed(), 1.0 + random.unit()]).collect();
    let input = device.upload(&pairs).unwrap();
    let doubles = device.allocate::<[f64; NUMBER_RESULTS as usize]>(pairs.len()).unwrap();
    let singles = device.allocate::<[f32; NUMBER_RESULTS as usize]>(pairs.len()).unwrap();
    let parameters =
        ProbeNumberParameters { input: input.span(), doubles: doubles.span(), singles: singles.span() };
    device.launch(Launch::over(pairs.len() as u32, 32, 32), &parameters).unwrap();
    let doubles = doubles.download().unwrap();
    // The last of the results: `(a + b) b + a`, fused or not.
    let shown = pairs.iter().zip(&doubles).filter(|([a, b], _)| (a + b).mul_add(*b, *a) != (a + b) * b + a);
    let found: Vec<bool> = shown.map(|([a, b], found)| found[16] == (a + b).mul_add(*b, *a)).collect();
    (found.iter().filter(|is_fused| **is_fused).count(), found.len())
}

#[test]
#[ignore = "slow tier"]
fn the_tests_pass_with_fused_operations() {
    if std::env::var_os(support::LIBRARY).is_some() {
        return;
    }
    let Some(flags) = flags() else {
        eprintln!("skipped: the processor has no fused operations");
        return;
    };
    let others = ["-fno-exceptions", "-fno-rtti"];
    let Some(library) = Library::compile("libpliant_emulation.so", &[flags, &others].concat(), &[]) else {
        return;
    };
    let (is_fused, shown) = fused(&support::emulated_by(&library.path(), 1));
    assert!(shown > 10 && is_fused == shown, "{is_fused} of {shown} are fused");
    for name in PROGRAMS.iter().chain(&LONG_PROGRAMS) {
        let mut command = Command::new(program(name));
        command.env(support::LIBRARY, library.path()).env(support::FUSES, "1");
        let done = command.output().unwrap();
        assert!(done.status.success(), "{name}: {}", text(&done));
    }
}
