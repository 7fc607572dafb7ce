//! A run as one HTML file that needs neither a server nor a network.

use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pliant_io::files::atomic_write;
use pliant_runner::recording::Recording;
use serde_json::{Value, json};

use crate::error::ViewerError;
use crate::page::{INDEX, SCRIPTS, STYLE};
use crate::{diagnostics, frame, scene};

/// How large a page may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// Most frames \[-\]; none: as many as fit.
    pub max_frames: Option<usize>,
    /// Most bytes of the file.
    pub max_bytes: u64,
}

impl Default for PageOptions {
    /// All frames that fit in 50 MB, which browsers open without trouble.
    fn default() -> Self {
        Self { max_frames: None, max_bytes: 50_000_000 }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSummary {
    /// Frames in the page \[-\].
    pub frames: usize,
    /// Frames of the run \[-\].
    pub of: usize,
    /// Every so-manyth frame of the run was taken, and the last \[-\].
    pub every: usize,
    /// Length of the file \[bytes\].
    pub bytes: u64,
}

/// Bytes of the text around a frame's data.
const FRAME_TEXT: u64 = 80;

/// Only what is in the file itself.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// Writes the run directory `run` as one HTML `file`: page, library and data. If not all frames fit,
/// every second, third and so on is taken, and the last; page and return value say so. The file is
/// complete or unchanged.
///
/// # Errors
/// [`ViewerError`]: the run cannot be read, has no frames, not even one fits, or the file cannot be
/// written.
pub fn write_page(run: &Path, file: &Path, options: &PageOptions) -> Result<PageSummary, ViewerError> {
    let recording = Recording::open(run)?;
    let of = recording.frame_count();
    if of == 0 {
        return Err(ViewerError::NoFrames { run: run.to_path_buf() });
    }
    let head = head(&recording)?;
    let budget = options.max_bytes.saturating_sub(head.len() as u64);
    let sizes = sizes(&recording)?;
    let most = options.max_frames.unwrap_or(of).max(1);
    let every = (1..=of).find(|every| {
        let chosen = chosen(of, *every);
        chosen.len() <= most && chosen.iter().map(|frame| sizes[*frame]).sum::<u64>() <= budget
    });
    let kept = match every {
        Some(every) => chosen(of, every),
        // One frame: the first and the last are too many.
        None if sizes[0] <= budget => vec![0],
        None => {
            let (needed, limit) = (head.len() as u64 + sizes[0], options.max_bytes);
            return Err(ViewerError::PageTooSmall { run: run.to_path_buf(), needed, limit });
        }
    };
    let bytes = write(&recording, file, &head, &kept)?;
    Ok(PageSummary { frames: kept.len(), of, every: every.unwrap_or(of), bytes })
}

/// Every `every`th of `of` frames, and the last.
fn chosen(of: usize, every: usize) -> Vec<usize> {
    let mut frames: Vec<usize> = (0..of).step_by(every).collect();
    if frames.last() != Some(&(of - 1)) {
        frames.push(of - 1);
    }
    frames
}

/// Bytes that each frame takes in the page. The number of particles may differ from frame to frame;
/// what else a frame has is that of the largest of them.
fn sizes(recording: &Recording) -> Result<Vec<u64>, ViewerError> {
    let frames = recording.frames();
    let largest = (0..frames.len()).max_by_key(|frame| frames[*frame].particles).unwrap_or(0);
    let bytes = frame::encode(recording, largest)?.len() as u64;
    let file = frames[largest].file.bytes.max(1);
    // By the length of the frame's own file, rounded up: both are sums over the same parts.
    let encoded = |row: &pliant_runner::run::FrameRow| {
        if row.file.bytes == file { bytes } else { (bytes * row.file.bytes).div_ceil(file) + 256 }
    };
    Ok(frames.iter().map(|row| encoded(row).div_ceil(3) * 4 + FRAME_TEXT).collect())
}

/// All before the frames: page, style, scripts, scene and diagnostics.
fn head(recording: &Recording) -> Result<String, ViewerError> {
    let mut imports = serde_json::Map::new();
    let name = |name: &str| format!("pliant/{name}");
    for script in SCRIPTS {
        let text = script.text.replace("from './", "from 'pliant/");
        let url = format!("data:text/javascript;base64,{}", STANDARD.encode(text));
        imports.insert(name(script.name), Value::String(url));
    }
    let diagnostics =
        diagnostics::diagnostics(recording).unwrap_or_else(|e| json!({ "error": e.to_string() }));
    let data = json!({
        "runs": [scene::status(recording, 1)],
        "scenes": [scene::describe(recording)],
        "diagnostics": [diagnostics],
    });
    let style = format!("<style>{}</style>", STYLE.text);
    let policy = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">");
    let page = INDEX
        .replace("<link rel=\"stylesheet\" href=\"/page/style.css\">", &format!("{policy}\n{style}"))
        .replace("<script type=\"module\" src=\"/page/main.js\"></script>", "");
    let before = page.split("</body>").next().unwrap_or_default();
    Ok(format!(
        "{before}<script type=\"importmap\">{}</script>\n\
         <script type=\"application/json\" id=\"data\">{}</script>\n",
        json!({ "imports": imports }),
        in_script(&data),
    ))
}

/// JSON in which nothing ends the script element that it stands in.
fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

fn write(recording: &Recording, file: &Path, head: &str, kept: &[usize]) -> Result<u64, ViewerError> {
    let mut bytes = 0;
    // An error of a frame is kept aside: the writer only knows those of input and output.
    let mut failed = None;
    let written = atomic_write(file, |out| {
        let mut put = |text: &str| {
            bytes += text.len() as u64;
            out.write_all(text.as_bytes())
        };
        put(head)?;
        for frame in kept {
            let encoded = frame::encode(recording, *frame).map_err(|error| {
                let message = error.to_string();
                failed = Some(error);
                io::Error::other(message)
            })?;
            put(&format!("<script type=\"text/plain\" id=\"frame-{frame}\">"))?;
            put(&STANDARD.encode(encoded))?;
            put("</script>\n")?;
        }
        let shown = json!({ "kept": kept });
        put(&format!("<script type=\"application/json\" id=\"kept\">{}</script>\n", in_script(&shown)))?;
        put("<script type=\"module\">import 'pliant/main.js';</script>\n</body></html>\n")
    });
    match (failed, written) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(error.into()),
        (None, Ok(())) => Ok(bytes),
    }
}
