//! The machine of a run: processor, threads, version, backends.

use pliant_coupling::World;
use pliant_cuda::{Device, DeviceError};
use serde::{Deserialize, Serialize};

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit this library was built from, or `unknown` outside a checkout.
pub const GIT_COMMIT: &str = env!("PLIANT_GIT_COMMIT");

/// Backend that steps the particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendChoice {
    /// The backend that supports every scene: the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda {
        /// Its number, as the driver counts.
        device: u32,
    },
    /// The GPU's kernels on the processor: slow, to test them without a GPU.
    CudaEmulated,
}

/// A backend that is not available.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("backend '{backend}': {source}; use --backend cpu")]
pub struct BackendUnavailable {
    /// Its name.
    pub backend: &'static str,
    /// Why.
    pub source: DeviceError,
}

/// An available backend.
#[derive(Clone, Debug)]
pub struct OpenBackend {
    /// `cpu`, `cuda` or `cuda-emulated`.
    pub backend: &'static str,
    /// None for the processor.
    device: Option<Device>,
}

impl BackendChoice {
    /// The backend of this choice.
    ///
    /// # Errors
    /// [`BackendUnavailable`] if there is none. It is never replaced by another one.
    pub fn open(self) -> Result<OpenBackend, BackendUnavailable> {
        let (backend, device) = match self {
            Self::Auto | Self::Cpu => return Ok(OpenBackend::processor()),
            Self::Cuda { device } => ("cuda", Device::cuda(device)),
            Self::CudaEmulated => ("cuda-emulated", Device::emulated(EMULATION_SEED)),
        };
        let device = device.map_err(|source| BackendUnavailable { backend, source })?;
        Ok(OpenBackend { backend, device: Some(device) })
    }
}

/// Chooses the order in which threads of the emulated device run. Results do not depend on it.
const EMULATION_SEED: u64 = 0;

impl OpenBackend {
    /// The processor.
    pub const fn processor() -> Self {
        Self { backend: "cpu", device: None }
    }

    /// Makes this backend step the world's particles from now on.
    ///
    /// # Errors
    /// Something that the backend does not support, or has no memory for.
    pub fn attach(&self, world: &mut World) -> Result<(), pliant_coupling::BackendError> {
        match &self.device {
            // Rigid bodies move on the processor.
            Some(device) if world.particle_count() > 0 => pliant_cuda::backend::attach(device, world),
            Some(_) => Ok(()),
            None => world.check_processor(),
        }
    }

    /// The device that steps particles; none for the processor.
    pub fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// Name of the processor or device that steps the particles.
    pub fn name(&self) -> String {
        match &self.device {
            Some(device) if !device.is_emulated() => device.name().to_owned(),
            _ => processor_name(),
        }
    }
}

/// Name of the processor from the operating system, or the architecture.
pub fn processor_name() -> String {
    let from_linux = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':').map(|(_, name)| name.trim().to_owned())
    });
    from_linux.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// Number of hardware threads.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Processor time of the calling thread \[s\], to some milliseconds; only on Linux.
pub fn thread_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
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
