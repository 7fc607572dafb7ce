//! Shows run directories in a browser, or writes one as a page.
//!
//! `cargo run --release -p pliant-viewer --example view -- RUN...`
//! `cargo run --release -p pliant-viewer --example view -- --page FILE RUN`

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use pliant_viewer::{PageOptions, ViewerError, serve, write_page};

fn main() -> Result<(), ViewerError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [option, file, run] = arguments.as_slice()
        && option == "--page"
    {
        let written = write_page(Path::new(run), Path::new(file), &PageOptions::default())?;
        println!("{} of {} frames, {} bytes", written.frames, written.of, written.bytes);
        return Ok(());
    }
    let runs: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    // Ends with the process.
    let stop = AtomicBool::new(false);
    serve(&runs, None, |url| println!("{url}"), &stop)
}
