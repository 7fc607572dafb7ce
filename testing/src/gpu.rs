//! Whether the machine has a GPU that a test may not leave out.

/// Why a driver that finds no device is broken: the kernel's driver has devices, and nobody hid them.
/// None where a machine without a GPU is what it seems.
pub fn hidden_gpu() -> Option<String> {
    if std::env::var_os("CUDA_VISIBLE_DEVICES").is_some() {
        return None;
    }
    let gpus = std::fs::read_dir("/proc/driver/nvidia/gpus").ok()?.flatten();
    let names: Vec<_> = gpus.map(|gpu| gpu.file_name().to_string_lossy().into_owned()).collect();
    (!names.is_empty()).then(|| format!("the kernel's driver has the GPUs [{}]", names.join(", ")))
}
