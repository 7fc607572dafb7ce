//! `doctor` reports the machine, and a machine without a GPU passes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use cli_support::Place;
use serde_json::Value;

#[test]
fn a_machine_without_a_gpu_is_healthy() {
    let place = Place::new();
    let said = place.pliant(&["doctor"]).exits(0).out;
    for topic in ["processor", "threads", "cuda driver", "gpu", "PTX 8.0 for sm_80", "cuda emulation"] {
        assert!(said.contains(topic), "{topic}: {said}");
    }
    assert!(said.contains("built from the kernel sources of this version"), "{said}");
}

#[test]
fn json_has_the_same() {
    let said = Place::new().pliant(&["doctor", "--json"]).exits(0).out;
    let json: Value = serde_json::from_str(&said).unwrap();
    assert!(json["threads"].as_u64().unwrap() >= 1);
    assert_eq!(json["ptx"]["current"], true);
    assert_ne!(
        json["cuda_driver"].is_null(),
        json["cuda_driver_error"].is_null(),
        "a driver, or why there is none"
    );
    let gpus = json["gpus"].as_array().unwrap();
    assert!(gpus.iter().all(|gpu| gpu["kernels"] == "work"), "{said}");
    let emulation = if cfg!(feature = "emulation") { "work" } else { "not built" };
    assert_eq!(json["cuda_emulation"], emulation);
}
