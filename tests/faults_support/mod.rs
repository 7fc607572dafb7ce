//! Scenes for tests of faults, damage to run directories, and their comparison.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;
use std::path::Path;

use pliant::numeric::random::SplitMix64;

/// The number of cases of a slow test.
pub fn cases(usual: u64) -> u64 {
    std::env::var("PLIANT_FAULTS").ok().map_or(usual, |text| text.parse().unwrap())
}

/// The seeds of a test.
pub fn seeds(count: u64) -> std::ops::Range<u64> {
    let first = std::env::var("PLIANT_SEED").ok().map_or(1, |text| text.parse().unwrap());
    first..first + count
}

/// A small scene, drawn at random, with all kinds of tables and pictures.
pub struct Case {
    pub scene: String,
    /// [s]
    pub duration: f64,
    threads: &'static str,
    checkpoint_steps: String,
}

impl Case {
    /// A soft cube of 8 to 64 particles, or none, that falls past a spinning box onto a plate with a
    /// tactile pad, for 20 to 100 steps.
    pub fn draw(random: &mut SplitMix64) -> Self {
        let steps = 20 + random.next_u64() % 81;
        let dt = random.uniform_in(1e-3, 5e-3);
        let duration = steps as f64 * dt;
        let count = 2 + random.next_u64() % 3;
        let interval = dt * (1 + random.next_u64() % 7) as f64;
        let height = random.uniform_in(0.075, 0.1);
        let spin = random.uniform_in(-20.0, 20.0);
        let (width, tall) = (48 + random.next_u64() % 48, 32 + random.next_u64() % 48);
        let is_rigid = random.next_u64().is_multiple_of(4);
        let soft = format!(
            r#""grid_spacing": 0.025,
            "materials": {{ "rubber": {{ "model": "fixed-corotated", "density": 1000, "youngs_modulus": 2e4, "poissons_ratio": 0.3 }} }},
            "soft": [{{ "name": "cube", "shape": {{ "type": "box", "half_extents": [0.025, 0.025, 0.025] }}, "material": "rubber",
                "pose": {{ "position": [0, 0, {height}] }}, "sampling": {{ "counts": [{count}, {count}, {count}] }} }}],
            "sensors": [{{ "type": "tactile-pad", "name": "skin", "body": "plate", "half_extents": [0.05, 0.05], "bins": [4, 3],
                "pose": {{ "position": [0, 0, 0.02] }} }}],"#
        );
        let scene = format!(
            r#"{{ "name": "faults", "duration": {duration:?}, "dt": {dt:?}, {}
            "bodies": [
                {{ "name": "plate", "motion": {{ "type": "fixed" }},
                    "geometries": [{{ "shape": {{ "type": "box", "half_extents": [0.5, 0.5, 0.02] }}, "friction": 0.5 }}] }},
                {{ "name": "block", "motion": {{ "type": "dynamic", "joint": {{ "type": "free" }}, "density": 500,
                    "pose": {{ "position": [0.2, 0, 0.09] }}, "angular_velocity": [{spin:?}, 1, 0] }},
                    "geometries": [{{ "shape": {{ "type": "box", "half_extents": [0.03, 0.04, 0.05] }}, "friction": 0.4 }}] }}],
            "output": {{ "frame_interval": {interval:?}, "picture_size": [{width}, {tall}], "forces": ["plate"] }} }}"#,
            if is_rigid { "" } else { &soft }
        );
        let threads = if random.next_u64().is_multiple_of(2) { "1" } else { "2" };
        let checkpoint_steps = (1 + random.next_u64() % steps).to_string();
        Self { scene, duration, threads, checkpoint_steps }
    }

    /// The arguments that run `scene.json` into `out`.
    pub fn run<'a>(&'a self, out: &'a str) -> Vec<&'a str> {
        let steps = self.checkpoint_steps.as_str();
        vec!["run", "scene.json", "--out", out, "--threads", self.threads, "--checkpoint-steps", steps]
    }
}

/// Every file below a folder, by its path in it.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                all.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

/// Files in which two runs differ, but for wall times and checkpoints.
pub fn difference(a: &Path, b: &Path) -> Vec<String> {
    let comparable = |folder: &Path| {
        let mut files = contents(folder);
        files.retain(|name, _| !name.starts_with("checkpoint/"));
        for (name, bytes) in &mut files {
            match name.as_str() {
                "diagnostics.csv" => *bytes = without_wall_time(bytes),
                "manifest.json" => *bytes = without_wall_times(bytes),
                _ => {}
            }
        }
        files
    };
    let (a, b) = (comparable(a), comparable(b));
    let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).cloned().collect();
    let differ = |name: &String| a.get(name) != b.get(name);
    names
        .into_iter()
        .filter(differ)
        .map(|name| {
            let state = |files: &BTreeMap<String, Vec<u8>>| match files.get(&name) {
                Some(bytes) if name.ends_with(".json") => String::from_utf8_lossy(bytes).into_owned(),
                Some(bytes) => format!("{} bytes", bytes.len()),
                None => "none".to_owned(),
            };
            format!("{name}: {} and {}", state(&a), state(&b))
        })
        .collect()
}

fn without_wall_time(bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap();
    let at = text.lines().next().unwrap().split(',').position(|name| name == "wall_ms").unwrap();
    let line = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(cell, _)| *cell != at).map(|(_, cell)| cell);
        cells.collect::<Vec<_>>().join(",")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n").into_bytes()
}

fn without_wall_times(bytes: &[u8]) -> Vec<u8> {
    let mut manifest: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    let fields = manifest.as_object_mut().unwrap();
    for name in ["wall_s", "real_time_rate", "ms_per_step", "checkpoints", "manifest_sha256"] {
        fields.remove(name);
    }
    // Its wall times differ.
    fields["digests"].as_object_mut().unwrap().remove("diagnostics.csv");
    manifest.to_string().into_bytes()
}

/// Damages a file: which, and how.
pub fn damage(folder: &Path, files: &BTreeMap<String, Vec<u8>>, random: &mut SplitMix64) -> (String, String) {
    let mut pick = |count: usize| random.next_u64() as usize % count;
    // Each kind of file as often as the others.
    let kinds = ["checkpoint/", "frames/", "csv", "manifest.json", "preview"];
    let kind = kinds[pick(kinds.len())];
    let of_kind: Vec<&String> = files.keys().filter(|name| name.contains(kind)).collect();
    let file = of_kind[pick(of_kind.len())].clone();
    let mut bytes = files[&file].clone();
    let path = folder.join(&file);
    let what = match pick(5) {
        0 => {
            let (at, bit) = (pick(bytes.len()), pick(8));
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} is flipped")
        }
        1 => {
            let length = pick(bytes.len());
            bytes.truncate(length);
            format!("cut to {length} bytes")
        }
        2 => {
            let from = pick(bytes.len());
            let to = (from + 1 + pick(4096)).min(bytes.len());
            if bytes[from..to].iter().all(|byte| *byte == 0) {
                bytes[from] = 1;
            } else {
                bytes[from..to].fill(0);
            }
            format!("bytes {from} to {to} are zeroed")
        }
        3 => {
            bytes.extend_from_slice(b"0,0,0\n");
            "a row is appended".to_owned()
        }
        _ => {
            std::fs::remove_file(&path).unwrap();
            return (file, "it is removed".to_owned());
        }
    };
    std::fs::write(&path, bytes).unwrap();
    (file, what)
}
