//! The emulation compiled otherwise than by build.rs, for tests that run other tests with it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// The test programs that run with another build in less than a minute.
pub const PROGRAMS: [&str; 21] = [
    "warp",
    "block",
    "misuse",
    "algorithms",
    "device",
    "convex_number",
    "convex_limits",
    "contact_distance",
    "contact_detection",
    "contact_faces",
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
    "worlds_number",
];
/// Those that only a fast build runs in as long.
pub const LONG_PROGRAMS: [&str; 6] =
    ["convex_mobility", "convex_solver", "world_boundary", "world_cloth", "world_granular", "world_strong"];

/// The C++ compiler.
pub fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned())
}

/// All that a program said.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// The file with the kernels.
const KERNELS: &str = "kernels.cpp";

/// Those of the emulation's sources whose names will do.
fn emulation(is_it: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/emulation");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.ends_with(".cpp") && is_it(name)
    };
    paths.filter(is_it).collect()
}

/// A shared library in a folder of its own, both gone in the end.
pub struct Library {
    folder: PathBuf,
    name: String,
}

impl Library {
    /// The emulation and other sources (paths within this crate) with flags of their own; says so
    /// and gives none where there is no compiler.
    pub fn compile(name: &str, flags: &[&str], sources: &[&str]) -> Option<Self> {
        let library = Self::in_own_folder(name);
        let emulation = emulation(|_| true);
        let sources = sources.iter().map(|source| Path::new(env!("CARGO_MANIFEST_DIR")).join(source));
        library.run(&[&["-shared"], flags].concat(), emulation.into_iter().chain(sources))?;
        Some(library)
    }

    /// The emulation with these flags for the kernels only, the others for all of it.
    pub fn compile_kernels(name: &str, flags: &[&str], of_kernels: &[&str]) -> Option<Self> {
        let library = Self::in_own_folder(name);
        library.run(&[&["-c"], flags].concat(), emulation(|file| file != KERNELS))?;
        let objects = std::fs::read_dir(&library.folder).unwrap().map(|entry| entry.unwrap().path());
        let objects: Vec<PathBuf> = objects.collect();
        let kernels = emulation(|file| file == KERNELS);
        let flags = [&["-shared"], flags, of_kernels].concat();
        library.run(&flags, kernels.into_iter().chain(objects))?;
        Some(library)
    }

    fn in_own_folder(name: &str) -> Self {
        // Tests of one process that compile the same library do not share its folder.
        static COMPILED: AtomicU32 = AtomicU32::new(0);
        let unique = format!("{name}-{}-{}", std::process::id(), COMPILED.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique);
        std::fs::create_dir_all(&folder).unwrap();
        Self { folder, name: name.to_owned() }
    }

    /// Runs the compiler in the library's folder; says so and gives none where there is none.
    fn run(&self, flags: &[&str], sources: impl IntoIterator<Item = PathBuf>) -> Option<()> {
        let mut command = Command::new(compiler());
        command.current_dir(&self.folder).args([
            "-std=c++17",
            "-fPIC",
            "-fvisibility=hidden",
            "-Wno-unknown-pragmas",
            "-Wl,-Bsymbolic",
        ]);
        command.args(flags).args(sources);
        if flags.contains(&"-shared") {
            command.arg("-o").arg(self.path());
        }
        match command.output() {
            Ok(done) => assert!(done.status.success(), "{}", text(&done)),
            Err(error) => {
                eprintln!("skipped: '{}' does not run: {error}", compiler());
                return None;
            }
        }
        Some(())
    }

    /// The library's file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// The folder it is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // What stays behind in the build's folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The newest test program of this name beside this one.
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let entries = std::fs::read_dir(own.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str()).and_then(|file| file.rsplit_once('-'));
        path.extension().is_none() && file.is_some_and(|(program, _)| program == name)
    };
    entries
        .filter(is_it)
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).unwrap())
        .unwrap()
}
