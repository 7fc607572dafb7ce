//! What a run ran on: processor, threads, version, backends.

use serde::{Deserialize, Serialize};

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit this library was built from, or `unknown` outside a checkout.
pub const GIT_COMMIT: &str = env!("PLIANT_GIT_COMMIT");

/// Where particles are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The best one that is here.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// A backend that cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// This version has no CUDA backend.
    #[error("backend 'cuda': {CUDA_STATUS}; use --backend cpu")]
    CudaNotBuilt,
}

/// What there is to say about the CUDA backend.
pub const CUDA_STATUS: &str = "CUDA backend: not built in this version";

impl Backend {
    /// The name of the backend that serves this choice.
    ///
    /// # Errors
    /// [`BackendError`] where the choice cannot be served.
    pub fn resolve(self) -> Result<&'static str, BackendError> {
        match self {
            Self::Auto | Self::Cpu => Ok("cpu"),
            Self::Cuda => Err(BackendError::CudaNotBuilt),
        }
    }
}

/// Name of the processor as the operating system tells it, or the architecture.
pub fn device() -> String {
    let from_linux = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':').map(|(_, name)| name.trim().to_owned())
    });
    from_linux.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// Threads that the machine runs at once.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Instruction sets of this processor that Pliant can use or that matter to its speed.
pub fn cpu_features() -> Vec<&'static str> {
    let mut found = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! look_for {
            ($($name:tt),*) => { $(if std::arch::is_x86_feature_detected!($name) { found.push($name); })* };
        }
        look_for!("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl");
    }
    #[cfg(target_arch = "aarch64")]
    {
        found.push("neon");
    }
    found
}
