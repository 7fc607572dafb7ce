//! `view`, `export` and `report --html`, as a user calls them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use cli_support::{Place, SMALL};

/// A small run in `out`.
fn place_with_run() -> Place {
    let place = Place::new();
    let mut arguments = vec!["run", "elastic-drop", "--out", "out", "--threads", "1"];
    arguments.extend(SMALL);
    arguments.extend(["--set", "output.picture_size=[64,48]"]);
    assert_eq!(place.pliant(&arguments).code, 0);
    place
}

/// What the server at an address answers to a request line.
fn ask(address: &str, request: &str) -> String {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

// The contract of `view`: the first line of standard output is the address of the page, which has the
// runs and those scenes that are run meanwhile; nothing outside of them is answered.
#[test]
fn view_serves_runs_and_scenes_that_it_runs() {
    let place = place_with_run();
    let written = place.read("out/manifest.json");
    let mut child = place.start_piped(&["view", "out", "ball-drop"]);
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    assert!(ask(address, "GET /").contains("<html"));
    let runs = ask(address, "GET /api/runs");
    assert!(runs.contains("elastic-drop") && runs.contains("ball-drop"), "{runs}");
    for outside in
        ["GET /../Cargo.toml", "GET /%2e%2e/out/manifest.json", "GET //etc/passwd", "POST /api/runs"]
    {
        let answer = ask(address, outside);
        assert!(answer.starts_with("HTTP/1.1 4"), "{outside}: {answer}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.read("out/manifest.json"), written);
}

// What is neither a run nor a scene is refused before anything is served or written.
#[test]
fn view_and_export_name_what_is_no_run() {
    let place = Place::new();
    for arguments in [&["view", "nothing"][..], &["view", "nothing", "--html", "page.html"]] {
        let said = place.pliant(arguments);
        assert!(said.code == 2 && said.err.contains("nothing"), "{said:?}");
    }
    let said = place.pliant(&["export", "nothing", "--format", "npz"]);
    assert!(said.code == 1 && said.err.contains("nothing"), "{said:?}");
    let said = place.pliant(&["export", "nothing", "--format", "npz", "--out", "exports"]);
    assert!(said.code == 1 && said.err.contains("nothing"), "{said:?}");
    let said = place.pliant(&["export", "nothing", "--format", "obj"]);
    assert!(said.code == 2 && said.err.contains("obj"), "{said:?}");
    assert!(place.names().is_empty());
}

// A page, a report and every export appear beside the run, which stays as it was; a second export is
// refused.
#[test]
fn pages_and_exports_leave_the_run_as_it_is() {
    let place = place_with_run();
    let said = place.pliant(&["view", "out", "--html", "page.html"]);
    assert!(said.code == 0 && said.out.contains("page.html"), "{said:?}");
    let said = place.pliant(&["report", "out", "--html", "report.html"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(place.read("report.html").contains("pliant report out --html report.html"));
    let export = ["export", "out", "--format", "usd,vtk,gltf,npz,zarr"];
    let said = place.pliant(&export);
    assert!(said.code == 0 && said.out.lines().count() == 5, "{said:?}");
    let said = place.pliant(&export);
    assert!(said.code == 1 && said.err.matches("exists").count() == 5, "{said:?}");
    assert_eq!(place.pliant(&["verify", "out"]).code, 0);
}

// A video has the size that is asked for, as its sample entry says (ISO/IEC 14496-12, 12.1.3: width and
// height follow 24 bytes after the name); sizes that are none leave nothing behind.
#[test]
fn a_video_has_the_size_that_is_asked_for() {
    let place = place_with_run();
    for (size, code) in [("96", 2), ("0x64", 2), ("-8x64", 2), ("95x64", 1), ("96x8", 1), ("9600x64", 1)] {
        let said = place.pliant(&["export", "out", "--format", "mp4", &format!("--size={size}")]);
        assert!(said.code == code && !said.err.is_empty() && !said.err.contains("panic"), "{size}: {said:?}");
        assert_eq!(place.names(), ["out"], "{size}");
    }
    for (more, sides) in [(&[][..], [64, 48]), (&["--size", "96x64"], [96, 64])] {
        let folder = format!("videos-{}", sides[0]);
        let mut export = vec!["export", "out", "--format", "mp4", "--out", &folder];
        export.extend(more);
        let said = place.pliant(&export);
        assert_eq!(said.code, 0, "{said:?}");
        let file = std::fs::read(place.path(&folder).join("out.mp4")).unwrap();
        // The last: a brand of this name comes first.
        let entry = file.windows(4).rposition(|name| name == b"avc1" || name == b"avc3").unwrap();
        let side = |at: usize| u16::from_be_bytes([file[entry + at], file[entry + at + 1]]);
        assert_eq!([side(28), side(30)], sides);
    }
}
