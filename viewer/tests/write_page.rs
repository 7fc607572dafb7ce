//! The page in one file.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod support;

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pliant_viewer::{PageOptions, ViewerError, write_page};
use support::{Serving, run_directory};

/// The text between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// Law: the file has the bytes that it says, each frame is that of the server, and nothing in it asks
/// a network for anything.
#[test]
fn a_page_has_the_frames_of_the_run() {
    let (keep, run) = run_directory();
    let file = keep.path().join("page.html");
    let written = write_page(&run, &file, &PageOptions::default()).unwrap();
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(written.bytes, page.len() as u64);
    assert_eq!((written.frames, written.every), (written.of, 1));
    let serving = Serving::begin(&[run]);
    for frame in 0..written.of {
        let text = between(&page, &format!("id=\"frame-{frame}\">"), "</script>");
        assert_eq!(STANDARD.decode(text).unwrap(), serving.get(&format!("/api/runs/0/frame/{frame}")).body);
    }
    serving.end();
    let imports: serde_json::Value =
        serde_json::from_str(between(&page, "<script type=\"importmap\">", "</script>")).unwrap();
    for (name, url) in imports["imports"].as_object().unwrap() {
        let text = STANDARD.decode(url.as_str().unwrap().split_once(',').unwrap().1).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains("from './") && !text.contains("import('"), "{name}");
    }
    let source = imports["imports"]["pliant/source.js"].as_str().unwrap().split_once(',').unwrap().1;
    let source = String::from_utf8(STANDARD.decode(source).unwrap()).unwrap();
    assert!(source.contains("It shows particles"), "the page has no surfaces and must say so");
    assert!(!page.contains("src=\"/") && !page.contains("href=\"/"));
}

/// Law: the file is never larger than asked; frames are thinned evenly with the last kept; what cannot
/// fit is refused and leaves nothing.
#[test]
fn a_page_keeps_its_limit() {
    let (keep, run) = run_directory();
    let file = keep.path().join("page.html");
    let whole = write_page(&run, &file, &PageOptions::default()).unwrap();
    for max_bytes in (700_000..whole.bytes).step_by(40_000) {
        let options = PageOptions { max_frames: None, max_bytes };
        match write_page(&run, &file, &options) {
            Ok(written) => {
                assert!(written.bytes <= max_bytes, "{written:?}, limit {max_bytes}");
                assert_eq!(written.bytes, fs::metadata(&file).unwrap().len());
                assert!(written.frames < written.of && written.every > 1);
            }
            Err(error) => assert!(matches!(error, ViewerError::PageTooSmall { .. }), "{error}"),
        }
    }
    let three =
        write_page(&run, &file, &PageOptions { max_frames: Some(3), ..PageOptions::default() }).unwrap();
    assert_eq!((three.frames, three.every), (3, 5), "11 frames: 0, 5, 10");
    let absent = keep.path().join("absent.html");
    let refused = write_page(&run, &absent, &PageOptions { max_frames: None, max_bytes: 1000 });
    assert!(matches!(refused, Err(ViewerError::PageTooSmall { .. })));
    fs::write(run.join("frames/000004.ply"), b"ply").unwrap();
    let message = write_page(&run, &absent, &PageOptions::default()).unwrap_err().to_string();
    assert!(message.contains("000004.ply"), "{message}");
    assert!(!absent.exists() && fs::read_dir(keep.path()).unwrap().count() == 2);
}
