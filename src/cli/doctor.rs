//! `doctor`: devices and features of this machine and build, with a self-test. Missing devices are
//! not a failure.

use std::fmt::Write;

use pliant::cuda::{Device, DeviceError, DriverInfo, GpuInfo, ptx};
use pliant::runner::machine;
use serde_json::{Value, json};

use super::output::{Failure, print, print_json};

pub fn doctor(json: bool) -> Result<(), Failure> {
    let driver = DriverInfo::ask();
    let gpus: &[GpuInfo] = driver.as_ref().map_or(&[], |info| &info.devices);
    let gpu_tests: Vec<_> = (0..).zip(gpus).map(|(ordinal, _)| SelfTest::of(Device::cuda(ordinal))).collect();
    let emulation = if Device::IS_EMULATION_BUILT {
        SelfTest::of(Device::emulated(0)).result
    } else {
        "not built".to_owned()
    };
    if json {
        return print_json(Ok(as_json(&driver, gpus, &gpu_tests, &emulation)));
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:16}{value}");
    };
    line("pliant", &format!("{} ({})", machine::VERSION, machine::GIT_COMMIT));
    line("processor", &machine::processor_name());
    line("instructions", &machine::cpu_features().join(" "));
    line("threads", &machine::available_threads().to_string());
    line("cuda driver", &driver_text(&driver));
    for ((ordinal, gpu), test) in gpus.iter().enumerate().zip(&gpu_tests) {
        line(&format!("gpu {ordinal}"), &format!("{}; {}", gpu_text(gpu), test.text()));
    }
    if gpus.is_empty() {
        line("gpus", "none");
    }
    let sources = if ptx::is_current() {
        "built from the kernel sources of this version"
    } else {
        "NOT built from the kernel sources of this version: run cuda/ptx.py"
    };
    line("cuda kernels", &format!("PTX {} for {} and later, {sources}", ptx::version(), ptx::target()));
    line(
        "cuda emulation",
        &if Device::IS_EMULATION_BUILT { format!("built in; kernels {emulation}") } else { emulation },
    );
    Ok(print(&text)?)
}

/// Result of a small kernel on a device.
struct SelfTest {
    result: String,
    /// What the kernels were loaded from, on a GPU that has them.
    image: Option<String>,
}

impl SelfTest {
    fn of(device: Result<Device, DeviceError>) -> Self {
        let image = device.as_ref().ok().and_then(|device| Some(device.kernel_image()?.to_string()));
        let result = match device.and_then(|device| device.self_test()) {
            Ok(true) => "work".to_owned(),
            Ok(false) => "give wrong results".to_owned(),
            Err(error) => format!("fail: {error}"),
        };
        Self { result, image }
    }

    fn text(&self) -> String {
        let image = self.image.as_ref().map(|image| format!(", loaded from {image}"));
        format!("kernels {}{}", self.result, image.unwrap_or_default())
    }
}

fn driver_text(driver: &Result<DriverInfo, DeviceError>) -> String {
    match driver {
        Ok(DriverInfo { version: (major, minor), .. }) => format!("for CUDA {major}.{minor}"),
        Err(error) => error.to_string(),
    }
}

fn gpu_text(gpu: &GpuInfo) -> String {
    let (major, minor) = gpu.capability;
    let gibibytes = gpu.memory as f64 / f64::from(1 << 30);
    format!("{}, {gibibytes:.1} GiB, compute capability {major}.{minor}", gpu.name)
}

fn as_json(
    driver: &Result<DriverInfo, DeviceError>,
    gpus: &[GpuInfo],
    tests: &[SelfTest],
    emulation: &str,
) -> Value {
    let devices = gpus.iter().zip(tests).map(|(gpu, test)| {
        json!({
            "name": gpu.name,
            "memory_bytes": gpu.memory,
            "compute_capability": format!("{}.{}", gpu.capability.0, gpu.capability.1),
            "multiprocessors": gpu.multiprocessors,
            "kernels": test.result,
            "kernels_loaded_from": test.image,
        })
    });
    json!({
        "version": machine::VERSION,
        "git_commit": machine::GIT_COMMIT,
        "device": machine::processor_name(),
        "cpu_features": machine::cpu_features(),
        "threads": machine::available_threads(),
        "cuda_driver": driver.as_ref().ok().map(|info| format!("{}.{}", info.version.0, info.version.1)),
        "cuda_driver_error": driver.as_ref().err().map(ToString::to_string),
        "gpus": devices.collect::<Vec<_>>(),
        "ptx": { "version": ptx::version(), "target": ptx::target(), "current": ptx::is_current() },
        "cuda_emulation": emulation,
    })
}
