//! The command `pliant`.
//!
//! Exit codes: 0 when everything ran, 1 when at least one run failed and the others finished, 2 for
//! wrong usage or an invalid scene, with nothing written, 3 when a signal stopped it.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
