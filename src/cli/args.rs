//! Raw arguments, as they are typed.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use pliant::export::Format;
use pliant::import::Repair;
use pliant::runner::machine;
use pliant::runner::run::CHECKPOINT_INTERVAL;
use pliant::runner::sweep::{RandomAxis, Shard, SweptField};
use pliant::scenes::format::{Assignment, SetError};

/// Simulator of soft bodies, cloth and robots in contact.
#[derive(Parser, Debug)]
#[command(
    version,
    about,
    after_help = "Exit codes: 0 all ran; 1 at least one run failed, the others finished; \
    2 wrong usage or an invalid scene, nothing written; 3 stopped by a signal (Ctrl-C, SIGTERM, \
    SIGHUP), --resume continues; 130 stopped at once by a third signal."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run scenes and write their run directories.
    Run(RunArguments),
    /// List the built-in scenes.
    List(Output),
    /// Validate a scene, build its world without a step, and estimate what its run needs.
    Check(CheckArguments),
    /// Print a scene as JSON, with every default written out.
    Show(SceneArguments),
    /// Print the JSON Schema of a scene.
    Schema,
    /// Run variants of a scene side by side.
    Sweep(SweepArguments),
    /// Draw the pictures of finished runs again.
    Render(RenderArguments),
    /// Check that the files of runs are what was written: exit code 1 if one is not.
    Verify(VerifyArguments),
    /// Show runs in a browser: finished ones, ones that go on, or scenes, which are run.
    View(ViewArguments),
    /// Write runs in the formats of other tools: USD, VTK, glTF, NPZ, Zarr.
    Export(ExportArguments),
    /// Print a table of runs, or write a page of them.
    Report(ReportArguments),
    /// Run the benchmark suite.
    Bench(BenchArguments),
    /// Show the processor, threads, driver, GPUs, kernels and their emulation.
    Doctor(Output),
}

/// How results are printed.
#[derive(Args, Debug)]
pub struct Output {
    /// Print results as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Overrides of a scene.
#[derive(Args, Debug)]
pub struct Changes {
    /// Simulated time, instead of the scene's duration \[s\].
    #[arg(long, value_name = "S")]
    pub time: Option<f64>,
    /// Seed, instead of the scene's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a field, for instance materials.dough.youngs_modulus=3e4 or
    /// bodies[pin].motion.mass=1.
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment)]
    pub set: Vec<Assignment>,
    /// Repair of a model file that is run alone, or of a scene's first robot; the error of a file
    /// that needs one names it.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Repair::ALL.map(Repair::name)))]
    pub repair: Vec<String>,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// Bounds on a run, instead of those in the scene's limits. A scene beyond one is refused before a
/// step.
#[derive(Args, Debug)]
pub struct LimitArguments {
    /// Largest estimated memory \[bytes\]; K, M, G, T and Ki, Mi, Gi, Ti may follow [default: that of
    /// the machine].
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_memory: Option<u64>,
    /// Most steps.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// Largest predicted wall time of the steps \[s\].
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub max_wall_time: Option<f64>,
}

impl LimitArguments {
    /// They as changes of the scene's limits.
    fn assignments(&self) -> impl Iterator<Item = Assignment> {
        let limits = [
            ("memory", self.max_memory.map(Into::into)),
            ("steps", self.max_steps.map(Into::into)),
            ("wall_time", self.max_wall_time.map(Into::into)),
        ];
        limits
            .into_iter()
            .filter_map(|(field, value)| Some(Assignment { path: format!("limits.{field}"), value: value? }))
    }
}

/// A scene and its changes.
#[derive(Args, Debug)]
pub struct SceneArguments {
    /// A built-in scene or a JSON file.
    pub scene: String,
    #[command(flatten)]
    pub changes: Changes,
}

#[derive(Args, Debug)]
pub struct CheckArguments {
    #[command(flatten)]
    pub scene: SceneArguments,
    #[command(flatten)]
    pub output: Output,
}

/// What a run does when it is stopped, and before.
#[derive(Args, Debug)]
pub struct Safety {
    /// Wall time between checkpoints; one is written at the start and the end too \[s\].
    #[arg(long, value_name = "S", value_parser = seconds, default_value_t = CHECKPOINT_INTERVAL.as_secs_f64())]
    pub checkpoint_every: f64,
    /// Steps between checkpoints, beside --checkpoint-every.
    #[arg(long, value_name = "N")]
    pub checkpoint_steps: Option<NonZeroU64>,
    /// Time that a step gets to end after Ctrl-C, SIGTERM or SIGHUP. Then the run is at its last
    /// checkpoint, and its manifest says that it was interrupted \[s\].
    #[arg(long, value_name = "S", value_parser = seconds, default_value_t = 20.0)]
    pub grace: f64,
}

/// Backend that steps the particles.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum BackendChoice {
    /// The backend that supports every scene: the processor.
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// The GPU's kernels on the processor: slow, to test them where there is no GPU.
    CudaEmulated,
}

/// The backend and its device.
#[derive(Args, Clone, Copy, Debug)]
pub struct BackendArguments {
    /// Backend that steps the particles.
    #[arg(long, value_enum, default_value_t = BackendChoice::Auto)]
    backend: BackendChoice,
    /// Number of the GPU, as `doctor` lists them; only with --backend cuda [default: 0].
    #[arg(long, value_name = "N")]
    device: Option<u32>,
}

impl BackendArguments {
    /// The backend that was asked for.
    pub fn choice(self) -> anyhow::Result<machine::BackendChoice> {
        use machine::BackendChoice as Choice;
        Ok(match (self.backend, self.device) {
            (BackendChoice::Cuda, device) => Choice::Cuda { device: device.unwrap_or(0) },
            (_, Some(device)) => {
                anyhow::bail!("--device {device}: only --backend cuda has devices to choose")
            }
            (BackendChoice::Auto, None) => Choice::Auto,
            (BackendChoice::Cpu, None) => Choice::Cpu,
            (BackendChoice::CudaEmulated, None) => Choice::CudaEmulated,
        })
    }
}

#[derive(Args, Debug)]
pub struct RunArguments {
    /// Built-in scenes or JSON files.
    #[arg(required = true, value_name = "SCENE")]
    pub scenes: Vec<String>,
    /// Run directory of one scene, or the folder of the run directories of several
    /// [default: runs/NAME].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub backend: BackendArguments,
    /// Threads [default: all].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub changes: Changes,
    /// Resume the run in the output directory: an unfinished one, or a finished one with a longer
    /// --time. What is there is checked first; a complete run is left as it is.
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub safety: Safety,
    /// Make no pictures.
    #[arg(long)]
    pub no_pictures: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args, Debug)]
pub struct SweepArguments {
    /// A built-in scene or a JSON file, or several, each a variant of the name of its file.
    #[arg(required_unless_present = "status", value_name = "SCENE")]
    pub scenes: Vec<String>,
    #[command(flatten)]
    pub changes: Changes,
    /// Values of a field of a single scene; given several times, all combinations are run.
    #[arg(long, value_name = "PATH=A,B,C", value_parser = axis)]
    pub vary: Vec<SweptField>,
    /// Range of a field's random values; given several times, all are drawn in each sample. Fields
    /// separated by commas get the same value. With --vary, each combination gets the same samples.
    /// The random numbers depend on the scene's seed, or --seed.
    #[arg(long, requires = "samples", value_name = "PATH[,PATH]=LOW..HIGH", value_parser = random_axis)]
    pub random: Vec<RandomAxis>,
    /// Number of samples of the random values.
    #[arg(long, requires = "random", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub samples: Option<u32>,
    /// Folder of the variants' run directories. Several processes, on several machines, may share
    /// it: each variant is run by one of them.
    #[arg(long, required = true, value_name = "DIR")]
    pub out: PathBuf,
    /// Run only part I of N equal parts of the variants, I from 1 to N.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub shard: Option<Shard>,
    /// Run nothing: print how far the sweep in --out is.
    #[arg(long, conflicts_with_all = ["scenes", "vary", "random", "shard"])]
    pub status: bool,
    /// Variants that run at once, each on one thread [default: number of cores].
    #[arg(long, visible_alias = "jobs", value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub safety: Safety,
    #[command(flatten)]
    pub backend: BackendArguments,
    /// Make no pictures.
    #[arg(long)]
    pub no_pictures: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args, Debug)]
pub struct RenderArguments {
    /// Run directories.
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Also make a picture of every frame, in pictures/.
    #[arg(long)]
    pub all: bool,
}

#[derive(Args, Debug)]
pub struct VerifyArguments {
    /// Run directories, or folders of them.
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args, Debug)]
pub struct ViewArguments {
    /// Run directories, or scenes to run: built-in names or files.
    #[arg(required = true, value_name = "DIR|SCENE")]
    pub targets: Vec<String>,
    /// Port on the loopback address [default: a free one].
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Write the one run as one page, instead of serving it.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Most bytes of that page; of a longer run every n-th frame is in it.
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "50M", requires = "html")]
    pub max_bytes: u64,
    /// Folder for the runs of scenes.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub out: PathBuf,
}

#[derive(Args, Debug)]
pub struct ExportArguments {
    /// Run directories.
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Formats.
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', required = true,
        value_parser = PossibleValuesParser::new(Format::ALL.map(Format::name)))]
    pub format: Vec<String>,
    /// Folder for the files, which have the names of the runs [default: beside each run].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Export every n-th frame.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    pub every: usize,
    /// Width and height of a video, both even [pixels] [default: those of the scene's pictures].
    #[arg(long, value_name = "WxH", value_parser = pliant::export::parse_size)]
    pub size: Option<[u32; 2]>,
}

#[derive(Args, Debug)]
pub struct ReportArguments {
    /// Run directories, or folders of them.
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Write the runs into one table, with the values that a sweep varied: FILE.csv or FILE.parquet.
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Write plots of energies, contacts, iterations and wall time into this folder.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Write one page with pictures, plots and tables, which needs no network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args, Debug)]
pub struct BenchArguments {
    /// Parts to run [default: all].
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Name the parts.
    #[arg(long)]
    pub list: bool,
    /// Numbers of threads to measure with.
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = threads)]
    pub threads: Vec<usize>,
    #[command(flatten)]
    pub backend: BackendArguments,
    /// Write the plots and pictures of the parts `paper`, `tolerance` and `contacts` into this folder.
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Write the figures as one page with plots and pictures, which needs no network.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Show figures of rivals on that page: a JSON array of objects with bench, case, who, threads,
    /// value, unit and, if known, min and max.
    #[arg(long, value_name = "FILE", requires = "report")]
    pub peers: Option<PathBuf>,
    /// Trials: seed of the draws.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Trials: total number; the families alternate [default: 20 a family, or any number with
    /// --seconds].
    #[arg(long, value_name = "K")]
    pub count: Option<u64>,
    /// Trials: time after which no new trial starts \[s\].
    #[arg(long, value_name = "T", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Trials: a family of scenes; may be given several times [default: all].
    #[arg(long = "family", value_name = "FAMILY")]
    pub families: Vec<String>,
    /// Trials: number of the first trial of each family, to repeat one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub first: u64,

    /// Garments: spacing of the grid [m]; by default that of the scene
    #[arg(long, value_name = "M")]
    pub grid_spacing: Option<f64>,
    /// Trials: folder for the scenes that violate a law, as drawn and as reduced to the smallest that
    /// still does, and for the scene of a single trial (--count 1) in any case.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

fn assignment(text: &str) -> Result<Assignment, SetError> {
    Assignment::parse(text)
}

fn axis(text: &str) -> Result<SweptField, SetError> {
    SweptField::parse(text)
}

fn random_axis(text: &str) -> Result<RandomAxis, SetError> {
    RandomAxis::parse(text)
}

/// A time that a clock can tell.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds from 0 to 1e9".to_owned()),
    }
}

/// A number of bytes with a decimal or binary multiple.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let factor = match suffix.trim().trim_end_matches('B') {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1024.0_f64.powi(2),
        "Gi" => 1024.0_f64.powi(3),
        "Ti" => 1024.0_f64.powi(4),
        _ => f64::NAN,
    };
    match number.parse::<f64>() {
        Ok(number) if (1.0..=1e15).contains(&(number * factor)) => Ok((number * factor) as u64),
        _ => Err("must be a number of bytes from 1 to 1e15, such as 8G or 512Mi".to_owned()),
    }
}

/// More threads than any machine has are a typing error.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..) => Ok(count),
        _ => Err("must be a whole number of at least 1".to_owned()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=4096) => Ok(count),
        _ => Err("must be a whole number from 1 to 4096".to_owned()),
    }
}

impl Changes {
    /// All changes as assignments, the ones with names of their own last.
    pub fn assignments(&self) -> Vec<Assignment> {
        let mut all = self.set.clone();
        all.extend(self.limits.assignments());
        if !self.repair.is_empty() {
            all.push(Assignment { path: "robots[0].repair".to_owned(), value: self.repair.clone().into() });
        }
        if let Some(time) = self.time {
            all.push(Assignment { path: "duration".to_owned(), value: time.into() });
        }
        if let Some(seed) = self.seed {
            all.push(Assignment { path: "seed".to_owned(), value: seed.into() });
        }
        all
    }
}
