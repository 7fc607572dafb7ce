//! A small run, a server on it, and requests written byte by byte.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(dead_code, reason = "each test file uses some of them")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use pliant_runner::run::{RunOptions, Status, run};
use pliant_scenes::format::parse_scene;
use pliant_scenes::scenario::Scenario;
use pliant_viewer::{ViewerError, serve};
use serde_json::json;
use tempfile::TempDir;

/// A run of soft boxes that touch each other, of which some have the same material: their number, places
/// and sizes follow the seed. Returns the folder that it is in, its directory, and its soft bodies.
pub fn random_run(seed: u64) -> (TempDir, PathBuf, usize) {
    let mut state = seed;
    let mut draw = |below: u64| {
        // Numerical Recipes' generator: its high bits are random enough for sizes.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let bodies = 1 + draw(4) as usize;
    let mut left = 0.0;
    let soft: Vec<_> = (0..bodies)
        .map(|body| {
            let half = 0.02 + 0.01 * draw(3) as f64;
            let x = left + half;
            left = x + half;
            json!({
                "name": format!("soft-{body}"), "material": if draw(2) == 0 { "dough" } else { "rubber" },
                "shape": { "type": "box", "half_extents": [half, 0.03, 0.02] },
                "pose": { "position": [x, 0, 0.02] }
            })
        })
        .collect();
    let fields: &[&str] = if draw(2) == 0 { &["plastic-strain"] } else { &["j", "stress-norm"] };
    let elastic =
        json!({ "model": "neo-hookean", "density": 1000, "youngs_modulus": 2e4, "poissons_ratio": 0.3 });
    let scene = json!({
        "name": format!("random-{seed}"), "duration": 0.004, "dt": 0.002, "grid_spacing": 0.01,
        "boundaries": [{ "point": [0, 0, 0], "normal": [0, 0, 1], "kind": { "type": "sticky" } }],
        "materials": { "dough": {
            "model": "von-mises", "density": 1000, "youngs_modulus": 2e4, "poissons_ratio": 0.4,
            "yield_stress": 1e3
        }, "rubber": elastic },
        "soft": soft,
        "output": { "frame_interval": 0.002, "fields": fields }
    });
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let scene = parse_scene(&scene.to_string()).unwrap();
    let options = RunOptions { pictures: false, threads: Some(1), ..RunOptions::new(&out) };
    let manifest = run(Scenario::new(&scene).unwrap(), options).unwrap().manifest;
    assert_eq!((manifest.status, manifest.error), (Status::Completed, None));
    (folder, out, bodies)
}

/// A piece of dough under a falling ball, on a floor: a few hundred particles, eleven frames.
fn small_scene() -> String {
    json!({
        "name": "viewer-test", "duration": 0.02, "dt": 0.002, "grid_spacing": 0.02,
        "boundaries": [{ "point": [0, 0, 0], "normal": [0, 0, 1], "kind": { "type": "sticky" } }],
        "materials": { "dough": {
            "model": "von-mises", "density": 1000, "youngs_modulus": 2e4, "poissons_ratio": 0.4,
            "yield_stress": 1e3
        } },
        "soft": [{
            "name": "dough", "material": "dough",
            "shape": { "type": "box", "half_extents": [0.04, 0.04, 0.02] },
            "pose": { "position": [0, 0, 0.02] }
        }],
        "bodies": [{
            "name": "ball",
            "motion": { "type": "dynamic", "joint": { "type": "free" }, "pose": { "position": [0, 0, 0.061] },
                "mass": 0.1, "velocity": [0, 0, -0.5] },
            "geometries": [{ "shape": { "type": "sphere", "radius": 0.02 } }]
        }],
        "output": { "frame_interval": 0.002, "fields": ["plastic-strain"] }
    })
    .to_string()
}

/// The run, made once for a test program.
fn original() -> &'static Path {
    static MADE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, run_directory) = MADE.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("original");
        let scene = parse_scene(&small_scene()).unwrap();
        let options = RunOptions { pictures: false, threads: Some(1), ..RunOptions::new(&out) };
        let manifest = run(Scenario::new(&scene).unwrap(), options).unwrap().manifest;
        assert_eq!((manifest.status, manifest.error), (Status::Completed, None));
        (folder, out)
    });
    run_directory
}

/// A copy of the run that a test may damage, and the folder that it is in.
pub fn run_directory() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("run");
    copy(original(), &run);
    (folder, run)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Where a run is until it ends.
pub fn partial(run: &Path) -> PathBuf {
    let name = run.file_name().unwrap().to_str().unwrap();
    run.with_file_name(format!(".{name}.partial"))
}

/// What the server answered.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends these bytes and reads the answer to its end. A connection that is closed without an answer,
/// as after bytes that are no HTTP, counts as a bad request.
pub fn raw(port: u16, request: &str) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    if bytes.is_empty() {
        return Answer { status: 400, head: String::new(), body: bytes };
    }
    let end =
        bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or_else(|| panic!("{request:?}: no head"));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head, body: bytes.split_off(end + 4) }
}

/// A server that runs until it is ended.
pub struct Serving {
    pub port: u16,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), ViewerError>>,
}

impl Serving {
    pub fn begin(runs: &[PathBuf]) -> Self {
        let (runs, stop) = (runs.to_vec(), Arc::new(AtomicBool::new(false)));
        let (tell, told) = mpsc::channel();
        let flag = stop.clone();
        let thread =
            std::thread::spawn(move || serve(&runs, None, |url| tell.send(url.to_owned()).unwrap(), &flag));
        let url = told.recv_timeout(Duration::from_secs(20)).unwrap();
        let port = url.trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        Self { port, stop, thread }
    }

    pub fn request(&self, method: &str, target: &str) -> String {
        format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port)
    }

    pub fn get(&self, target: &str) -> Answer {
        raw(self.port, &self.request("GET", target))
    }

    /// Asks until what is being made is made.
    pub fn get_made(&self, target: &str) -> Answer {
        for _ in 0..600 {
            let answer = self.get(target);
            if answer.status != 202 {
                return answer;
            }
        }
        panic!("{target}: not made within 90 s");
    }

    /// Law of every test: the server ends when it is told to, without an error.
    pub fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap().unwrap();
    }
}
