//! The server: HTTP on the loopback address, read-only, fixed routes.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tiny_http::{ConfigListenAddr, Method, Request, Server, ServerConfig, StatusCode};

use crate::error::ViewerError;
use crate::library::Library;
use crate::page;
use crate::routes::{Route, is_own_host, route};
use crate::surface;
use crate::surfaces::{Ended, Key, Reply, Surfaces};

/// Threads that answer: some can read a large frame or wait for a surface while others answer short
/// questions.
const WORKERS: usize = 4;

/// How often a waiting thread looks whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// Nothing but the page's own files, and no other site may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const JSON: &str = "application/json; charset=utf-8";
const BINARY: &str = "application/octet-stream";

/// The bytes of an answer.
enum Body {
    Text(&'static str),
    Own(Vec<u8>),
    Shared(Arc<Vec<u8>>),
}

impl Body {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// An answer: status, media type, body.
struct Answer(u16, &'static str, Body);

impl Answer {
    fn json(status: u16, value: &Value) -> Self {
        Self(status, JSON, Body::Own(value.to_string().into_bytes()))
    }

    fn error(status: u16, message: impl ToString) -> Self {
        Self::json(status, &json!({ "error": message.to_string() }))
    }

    fn not_found() -> Self {
        Self::error(404, "there is nothing at this address")
    }
}

/// Serves the page of `runs` on 127.0.0.1 until `stop` is set; `port` none: any free port. When it
/// listens, `on_ready` gets the address of the page, such as `http://127.0.0.1:41234/`.
///
/// A run that cannot be read is no error here: the page shows why, and it is tried again, so that a
/// run may also begin later. Run directories are only read. Requests are answered only if their
/// `Host` is a loopback name with the port, and their method `GET` or `HEAD`.
///
/// # Errors
/// [`ViewerError`]: no run was given, or the port cannot be opened.
pub fn serve(
    runs: &[PathBuf],
    port: Option<u16>,
    on_ready: impl FnOnce(&str),
    stop: &AtomicBool,
) -> Result<(), ViewerError> {
    if runs.is_empty() {
        return Err(ViewerError::NoRuns);
    }
    let port = port.unwrap_or(0);
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| ViewerError::Listen {
        port,
        source: io::Error::other(source.to_string()),
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let config = ServerConfig {
        addr: ConfigListenAddr::from_socket_addrs(address).map_err(|e| failed(e.into()))?,
        ssl: None,
    };
    let server = Server::new(config).map_err(failed)?;
    let port = server.server_addr().to_ip().map_or(port, |address| address.port());
    let library = Library::new(runs);
    on_ready(&format!("http://127.0.0.1:{port}/"));
    let surfaces = Surfaces::new();
    std::thread::scope(|scope| {
        scope.spawn(|| surfaces.work(stop, |key, is_wanted| make(&library, key, is_wanted)));
        for _ in 0..WORKERS {
            scope.spawn(|| work(&server, &library, &surfaces, port, stop));
        }
    });
    Ok(())
}

/// Answers requests until it is to stop.
fn work(server: &Server, library: &Library, surfaces: &Surfaces, port: u16, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match server.recv_timeout(STOP_INTERVAL) {
            Ok(Some(request)) => {
                let answer = answer(&request, library, surfaces, port);
                // A browser that has gone away is nobody to tell.
                let _ = respond(request, &answer);
            }
            Ok(None) => {}
            // A connection failed; others go on.
            Err(_) => std::thread::sleep(STOP_INTERVAL),
        }
    }
}

fn answer(request: &Request, library: &Library, surfaces: &Surfaces, port: u16) -> Answer {
    let hosts: Vec<&str> = request
        .headers()
        .iter()
        .filter(|header| header.field.equiv("Host"))
        .map(|header| header.value.as_str())
        .collect();
    if !matches!(hosts.as_slice(), [host] if is_own_host(host, port)) {
        return Answer::error(403, "the Host header is not this machine's loopback address and port");
    }
    if !matches!(request.method(), Method::Get | Method::Head) {
        return Answer::error(405, "only GET and HEAD are answered");
    }
    match route(request.url()) {
        Some(Route::Index) => Answer(200, "text/html; charset=utf-8", Body::Text(page::INDEX)),
        Some(Route::Page(name)) => page::file(name)
            .map_or_else(Answer::not_found, |file| Answer(200, file.kind, Body::Text(file.text))),
        Some(Route::Runs) => Answer::json(200, &library.status()),
        Some(Route::Scene(run)) => data(library.scene(run), |value| Answer::json(200, &value)),
        Some(Route::Diagnostics(run)) => data(library.diagnostics(run), |value| Answer::json(200, &value)),
        Some(Route::Frame(run, frame)) => {
            data(library.frame(run, frame), |bytes| Answer(200, BINARY, Body::Own(bytes)))
        }
        Some(Route::Surface(run, frame)) => {
            let asked = library.key(run, frame).map(|key| key.and_then(|key| surfaces.ask(key)));
            data(asked, |reply| match reply {
                Reply::Made(bytes) => Answer(200, BINARY, Body::Shared(bytes)),
                Reply::Pending => Answer::json(202, &json!({ "pending": true })),
            })
        }
        None => Answer::not_found(),
    }
}

/// Makes the surfaces of a frame; none if they are not wanted any more.
fn make(library: &Library, key: Key, is_wanted: &dyn Fn() -> bool) -> Ended {
    let Some(input) = library.surface_input(key)? else { return Ok(None) };
    surface::encode(&input, is_wanted)
}

/// The answer to a question about a run: what was found, or in words why it cannot be shown.
fn data<T>(found: Option<Result<T, ViewerError>>, show: impl FnOnce(T) -> Answer) -> Answer {
    match found {
        None => Answer::not_found(),
        Some(Ok(found)) => show(found),
        Some(Err(ViewerError::Run(error @ pliant_runner::recording::RecordingError::NoFrame { .. }))) => {
            Answer::error(404, error)
        }
        Some(Err(error)) => Answer::error(500, error),
    }
}

/// Writes an answer, and asks the browser to close the connection. The library gives a thread to each
/// connection, and one that waits for a thread waits until another ends: browsers keep theirs open.
fn respond(request: Request, Answer(status, kind, body): &Answer) -> io::Result<()> {
    let (with_body, body) = (*request.method() != Method::Head, body.bytes());
    let reason = StatusCode(*status).default_reason_phrase();
    let mut out = request.into_writer();
    write!(
        out,
        "HTTP/1.1 {status} {reason}\r\nContent-Length: {}\r\nContent-Type: {kind}\r\n\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    if with_body {
        out.write_all(body)?;
    }
    out.flush()
}
