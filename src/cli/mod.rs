//! The command line: raw arguments, their validation, and one module per group of commands.

mod args;
mod bench;
mod check;
mod doctor;
mod export;
mod interrupt;
mod output;
mod progress;
mod run;
mod runs;
mod scene;
mod sweep;
mod table;
mod view;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use output::{Failure, say};

/// Runs the command and returns its exit code.
pub fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("PLIANT_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let result = match Arguments::parse().command {
        Command::Run(arguments) => run::run(arguments),
        Command::List(output) => scene::list(output.json),
        Command::Check(arguments) => check::check(&arguments),
        Command::Show(arguments) => scene::show(&arguments),
        Command::Schema => scene::schema(),
        Command::Doctor(output) => doctor::doctor(output.json),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::Render(arguments) => runs::render(&arguments),
        Command::Verify(arguments) => runs::verify(&arguments),
        Command::View(arguments) => view::view(&arguments),
        Command::Export(arguments) => export::export_runs(&arguments),
        Command::Report(arguments) => runs::report(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Reported) => ExitCode::from(1),
        Err(Failure::Refused) => ExitCode::from(2),
        Err(Failure::Stopped) => ExitCode::from(3),
        Err(Failure::Failed(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(Failure::Failed(error)) => complain(&error, 1),
        Err(Failure::Usage(error)) => complain(&error, 2),
    }
}

fn complain(error: &anyhow::Error, code: u8) -> ExitCode {
    say(&format!("error: {}", explain(error)));
    ExitCode::from(code)
}

/// The message and its causes, each once: many messages already end with their cause.
fn explain(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// A reader such as `head` that closes the pipe is not a failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
