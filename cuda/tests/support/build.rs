//! The emulation compiled otherwise than by build.rs, for tests that run other tests with it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// The C++ compiler.
pub fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned())
}

/// All that a program said.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
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
        // Tests of one process that compile the same library do not share its folder.
        static COMPILED: AtomicU32 = AtomicU32::new(0);
        let unique = format!("{name}-{}-{}", std::process::id(), COMPILED.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique);
        std::fs::create_dir_all(&folder).unwrap();
        let library = Self { folder, name: name.to_owned() };
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/emulation");
        let emulation = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let emulation = emulation.filter(|path| path.extension().is_some_and(|end| end == "cpp"));
        let done = Command::new(compiler())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args([
                "-std=c++17",
                "-fPIC",
                "-shared",
                "-fvisibility=hidden",
                "-Wno-unknown-pragmas",
                "-Wl,-Bsymbolic",
            ])
            .args(flags)
            .args(emulation)
            .args(sources)
            .arg("-o")
            .arg(library.path())
            .output();
        match done {
            Ok(done) => assert!(done.status.success(), "{}", text(&done)),
            Err(error) => {
                eprintln!("skipped: '{}' does not run: {error}", compiler());
                return None;
            }
        }
        Some(library)
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
