//! The server from outside: what it answers, what it refuses, and that it only reads.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod support;

use std::fs;

use pliant_io::digest::Hasher;
use pliant_runner::recording::Recording;
use support::{Answer, Serving, raw, run_directory};

/// Digests of all files under a directory, by path.
fn digests(directory: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let digest = Hasher::of_reader(fs::File::open(&path).unwrap()).unwrap().digest();
                found.push((path.display().to_string(), digest.sha256));
            }
        }
    }
    found.sort();
    found
}

/// Targets that are no route, of every kind that is known to fool servers.
fn hostile_targets() -> Vec<String> {
    let files = ["manifest.json", "etc/passwd", "frames/000000.ply", "src/lib.rs"];
    let climbs = [
        "../",
        "..%2f",
        "%2e%2e/",
        "%2e%2e%2f",
        "..\\",
        "..%5c",
        "....//",
        "%252e%252e%252f",
        "..;/",
        "..%c0%af",
    ];
    let mut targets = Vec::new();
    for file in files {
        for climb in climbs {
            targets.push(format!("/page/{}{file}", climb.repeat(3)));
            targets.push(format!("/{}{file}", climb.repeat(2)));
        }
    }
    let numbers = [
        "-1",
        "+0",
        "00",
        "01",
        "1",
        "0x0",
        "1e0",
        "0.0",
        "%30",
        "0%00",
        "0%20",
        "NaN",
        "٠",
        "",
        "18446744073709551616",
        "99999999999999999999999999999999",
        "0/..",
        "0;1",
        "0,1",
        "0?x",
        "0#x",
        "*",
    ];
    for number in numbers {
        targets.push(format!("/api/runs/{number}/scene"));
        for what in ["frame", "surface"] {
            targets.push(format!("/api/runs/0/{what}/{number}x"));
            if number != "1" {
                targets.push(format!("/api/runs/0/{what}/{number}"));
            }
        }
    }
    let others = [
        "//",
        "/page",
        "/page/",
        "/page//main.js",
        "/page/main.js/",
        "/page/./main.js",
        "/page/main.js%00",
        "/page/MAIN.JS",
        "/page/main.js?x",
        "/page/three/LICENSE",
        "/api",
        "/api/",
        "/api/runs/",
        "/api/runs/0",
        "/api/runs/0/",
        "/api/runs/0/frame",
        "/api/runs/0/frame/",
        "/api/runs/0/surface",
        "/api/runs/0/surface/",
        "/api/runs/0/scene/",
        "/api/runs/0/scene/0",
        "/api/runs/0/diagnostics.csv",
        "/api/runs/0/manifest.json",
        "/API/runs",
        "/etc/passwd",
        "/file:///etc/passwd",
        "/index.html",
        "/.git/config",
        "/favicon.ico",
        "/<script>",
        "/%3Cscript%3E",
        "/c:/windows/win.ini",
    ];
    targets.extend(others.map(str::to_owned));
    targets.push(format!("/{}", "a".repeat(5000)));
    targets
}

/// Law: whatever is asked, in whatever way, nothing but the fixed routes answers, and no file of the
/// run changes.
#[test]
fn hostile_requests_are_refused_and_change_nothing() {
    let (_keep, run) = run_directory();
    let before = digests(&run);
    let serving = Serving::begin(std::slice::from_ref(&run));
    let mut kinds = 0;
    for target in hostile_targets() {
        let answer = serving.get(&target);
        assert!((400..500).contains(&answer.status), "{target}: {}", answer.status);
        assert!(!answer.text().contains("root:"), "{target}");
        kinds += 1;
    }
    let port = serving.port;
    let hosts = [
        String::new(),
        "evil.example".into(),
        format!("evil.example:{port}"),
        "127.0.0.1".into(),
        "localhost".into(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1:{port}.evil.example"),
        format!("user@127.0.0.1:{port}"),
        format!("0.0.0.0:{port}"),
        format!("127.1:{port}"),
        format!("2130706433:{port}"),
        format!("localhost:{port}:{port}"),
        format!("[::]:{port}"),
        format!("127.0.0.1:0{port}"),
        format!("xlocalhost:{port}"),
    ];
    for host in hosts {
        for target in ["/", "/api/runs", "/api/runs/0/frame/0"] {
            let answer =
                raw(port, &format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
            assert_eq!(answer.status, 403, "{host}");
        }
        kinds += 1;
    }
    for none_or_two in ["", "Host: 127.0.0.1:PORT\r\nHost: evil.example\r\n"] {
        let hosts = none_or_two.replace("PORT", &port.to_string());
        let answer = raw(port, &format!("GET / HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n"));
        assert_eq!(answer.status, 403);
        kinds += 1;
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "GETT"]
    {
        for target in ["/", "/api/runs", "/api/runs/0/scene"] {
            let request = format!(
                "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
                 Content-Length: 0\r\nConnection: close\r\n\r\n"
            );
            assert_eq!(raw(port, &request).status, 405, "{method} {target}");
        }
        kinds += 1;
    }
    println!("{kinds} kinds of hostile requests");
    assert!(kinds >= 100);
    // It still answers, with the headers that keep other sites out.
    let answer = serving.get("/");
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("nosniff") && answer.head.contains("default-src 'none'"), "{}", answer.head);
    serving.end();
    assert_eq!(digests(&run), before);
}

/// Law: the arrays of an encoded frame are the numbers of its PLY file, bit for bit.
#[test]
fn a_frame_has_the_numbers_of_its_file() {
    let (_keep, run) = run_directory();
    let recording = Recording::open(&run).unwrap();
    let serving = Serving::begin(&[run]);
    for number in [0, recording.frame_count() - 1] {
        let frame = recording.frame(number).unwrap();
        let answer = serving.get(&format!("/api/runs/0/frame/{number}"));
        let bytes = &answer.body;
        assert_eq!((answer.status, &bytes[..4]), (200, b"PLVF".as_slice()));
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let particles = frame.particles.len();
        assert_eq!(
            [4, 8, 12, 16].map(word),
            [1, number as u32, particles as u32, frame.triangles.len() as u32]
        );
        let radii = 64 + 16 * particles;
        assert_eq!(word(24) & 7, 2, "the scene records the plastic strain only");
        for (i, p) in frame.particles.iter().enumerate() {
            for c in 0..3 {
                assert_eq!(word(64 + 12 * i + 4 * c), p.position[c].to_bits());
            }
            assert_eq!(word(radii + 4 * i), p.radius.to_bits());
            assert_eq!(word(radii + 4 * (particles + i)), p.plastic_strain.to_bits());
            let colour = radii + 8 * particles + 4 * i;
            assert_eq!(bytes[colour..colour + 3], p.color);
            assert_eq!(word(colour + 4 * particles), u32::from(p.material));
        }
        for (body, pose) in recording.poses(number).enumerate() {
            let at = radii + 16 * particles + 28 * body;
            assert_eq!(word(at + 8), (pose.translation.z as f32).to_bits());
            assert_eq!(word(at + 12), (pose.rotation.w as f32).to_bits());
        }
        let bodies = recording.bodies().len();
        assert_eq!(bytes.len(), radii + 16 * particles + 76 * bodies);
    }
    let head = raw(serving.port, &serving.request("HEAD", "/api/runs/0/frame/0"));
    assert_eq!((head.status, head.body.len()), (200, 0));
    serving.end();
}

/// What a damaged run must say: the name of what is wrong.
fn says(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    let value: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let message = value["error"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
}

/// Law: each damage is told in words that name the file, other frames still come, nothing crashes.
#[test]
fn damage_is_told_in_words() {
    let (_keep, run) = run_directory();
    let serving = Serving::begin(std::slice::from_ref(&run));
    let frame = run.join("frames/000001.ply");
    let bytes = fs::read(&frame).unwrap();
    for cut in [0, 10, 200, bytes.len() - 1] {
        fs::write(&frame, &bytes[..cut]).unwrap();
        says(&serving.get("/api/runs/0/frame/1"), 500, "000001.ply");
    }
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&frame, changed).unwrap();
    says(&serving.get("/api/runs/0/frame/1"), 500, "000001.ply");
    fs::remove_file(&frame).unwrap();
    says(&serving.get("/api/runs/0/frame/1"), 500, "000001.ply");
    assert_eq!(serving.get("/api/runs/0/frame/0").status, 200);
    says(&serving.get("/api/runs/0/frame/4000000000"), 404, "no frame 4000000000");
    fs::remove_file(run.join("diagnostics.csv")).unwrap();
    says(&serving.get("/api/runs/0/diagnostics"), 500, "diagnostics.csv");
    serving.end();
    fs::remove_file(run.join("frames.csv")).unwrap();
    let serving = Serving::begin(std::slice::from_ref(&run));
    says(&serving.get("/api/runs/0/scene"), 500, "frames.csv");
    assert!(serving.get("/api/runs").text().contains("frames.csv"));
    serving.end();
}

/// Law: a directory without a run, an empty one and none at all are told in words, and a run that
/// cannot be read does not hide the others.
#[test]
fn what_is_no_run_is_told_in_words() {
    let (keep, run) = run_directory();
    let empty = keep.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let headless = keep.path().join("headless");
    fs::create_dir(&headless).unwrap();
    fs::copy(run.join("diagnostics.csv"), headless.join("diagnostics.csv")).unwrap();
    let broken = keep.path().join("broken");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("manifest.json"), "{\"schema_version\": 2").unwrap();
    let absent = keep.path().join("absent");
    let serving = Serving::begin(&[run, empty, headless, broken, absent]);
    assert_eq!(serving.get("/api/runs/0/scene").status, 200);
    for (number, words) in
        [(1, "no run found"), (2, "no run found"), (3, "manifest.json"), (4, "no run found")]
    {
        for what in ["scene", "diagnostics", "frame/0"] {
            says(&serving.get(&format!("/api/runs/{number}/{what}")), 500, words);
        }
    }
    let status: serde_json::Value = serde_json::from_slice(&serving.get("/api/runs").body).unwrap();
    assert!(status["runs"][0]["error"].is_null() && status["runs"][1]["error"].is_string());
    serving.end();
}

/// Law: of a run that goes on, frames are seen as they are written, and its end is seen.
#[test]
fn a_growing_run_is_seen() {
    let (keep, run) = run_directory();
    let growing = keep.path().join("growing");
    let partial = support::partial(&growing);
    fs::create_dir_all(partial.join("frames")).unwrap();
    let checkpoints = run.join("checkpoint");
    fs::create_dir(partial.join("checkpoint")).unwrap();
    for entry in fs::read_dir(checkpoints).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, partial.join("checkpoint").join(path.file_name().unwrap())).unwrap();
    }
    let bodies = Recording::open(&run).unwrap().bodies().len();
    let lines = |name: &str| -> Vec<String> {
        fs::read_to_string(run.join(name)).unwrap().split_inclusive('\n').map(str::to_owned).collect()
    };
    let (frames, rows) = (lines("frames.csv"), lines("bodies.csv"));
    let serving = Serving::begin(std::slice::from_ref(&growing));
    for count in 1..=3 {
        let file = format!("frames/{:06}.ply", count - 1);
        fs::copy(run.join(&file), partial.join(&file)).unwrap();
        // The next line has begun.
        fs::write(partial.join("frames.csv"), frames[..=count].concat() + &frames[count + 1][..5]).unwrap();
        fs::write(partial.join("bodies.csv"), rows[..=count * bodies].concat()).unwrap();
        let status: serde_json::Value = serde_json::from_slice(&serving.get("/api/runs").body).unwrap();
        let run = &status["runs"][0];
        assert_eq!(
            (run["frames"].as_u64(), run["status"].as_str()),
            (Some(count as u64), Some("running")),
            "{run}"
        );
        assert_eq!(serving.get(&format!("/api/runs/0/frame/{}", count - 1)).status, 200);
        assert_eq!(serving.get(&format!("/api/runs/0/frame/{count}")).status, 404);
    }
    fs::remove_dir_all(&partial).unwrap();
    fs::rename(&run, &growing).unwrap();
    let status: serde_json::Value = serde_json::from_slice(&serving.get("/api/runs").body).unwrap();
    assert_eq!(status["runs"][0]["status"], "completed", "{status}");
    serving.end();
}
