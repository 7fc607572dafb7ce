//! What a request asks for. No text of a request ever becomes part of a path: names are compared with
//! those that are built in, and numbers are looked up.

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// The page.
    Index,
    /// A file of the page, by its name.
    Page(&'a str),
    /// How the runs stand.
    Runs,
    /// The scene of a run.
    Scene(usize),
    /// The diagnostics of a run.
    Diagnostics(usize),
    /// A frame of a run.
    Frame(usize, usize),
    /// The surfaces of the soft bodies in a frame of a run.
    Surface(usize, usize),
}

/// Longest target that is looked at \[bytes\].
const LONGEST: usize = 128;

/// The route of a request target; none for everything that is no route.
pub(crate) fn route(target: &str) -> Option<Route<'_>> {
    if target.len() > LONGEST {
        return None;
    }
    let parts: Vec<&str> = target.strip_prefix('/')?.split('/').collect();
    match parts.as_slice() {
        [""] => Some(Route::Index),
        ["page", name] => Some(Route::Page(name)),
        ["api", "runs"] => Some(Route::Runs),
        ["api", "runs", run, "scene"] => Some(Route::Scene(number(run)?)),
        ["api", "runs", run, "diagnostics"] => Some(Route::Diagnostics(number(run)?)),
        ["api", "runs", run, "frame", frame] => Some(Route::Frame(number(run)?, number(frame)?)),
        ["api", "runs", run, "surface", frame] => Some(Route::Surface(number(run)?, number(frame)?)),
        _ => None,
    }
}

/// A number without a sign, spaces or zeros before it, so that each has one spelling.
fn number(text: &str) -> Option<usize> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let has_one_spelling = text == "0" || !text.starts_with('0');
    if is_plain && has_one_spelling { text.parse().ok() } else { None }
}

/// Whether a `Host` header names this machine's loopback address and the port that was opened. Pages
/// of other sites, also those whose name resolves to 127.0.0.1, send their own name.
pub(crate) fn is_own_host(host: &str, port: u16) -> bool {
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
        let rest = host.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name));
        rest.is_some() && host.get(name.len()..) == Some(format!(":{port}").as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Law: each route has exactly one spelling, and a number outside the machine's range is no route.
    #[test]
    fn routes_have_one_spelling() {
        assert_eq!(route("/"), Some(Route::Index));
        assert_eq!(route("/page/main.js"), Some(Route::Page("main.js")));
        assert_eq!(route("/api/runs"), Some(Route::Runs));
        assert_eq!(route("/api/runs/12/scene"), Some(Route::Scene(12)));
        assert_eq!(route("/api/runs/0/diagnostics"), Some(Route::Diagnostics(0)));
        assert_eq!(route("/api/runs/3/frame/1000000"), Some(Route::Frame(3, 1_000_000)));
        assert_eq!(route("/api/runs/3/surface/0"), Some(Route::Surface(3, 0)));
        let others =
            ["", "x", "/api/runs/00/scene", "/api/runs/+1/scene", "/api/runs/-1/scene", "/api/runs//scene"];
        for target in others {
            assert_eq!(route(target), None, "{target}");
        }
        assert_eq!(route(&format!("/api/runs/{}0/scene", usize::MAX)), None);
    }

    /// Law: only loopback names with the very port are this server's.
    #[test]
    fn hosts_are_loopback_names_with_the_port() {
        for host in ["127.0.0.1:80", "localhost:80", "LocalHost:80", "[::1]:80"] {
            assert!(is_own_host(host, 80), "{host}");
        }
        for host in
            ["127.0.0.1", "127.0.0.1:8", "127.0.0.1:800", "evil:80", "localhost.:80", "", ":80", "é:80"]
        {
            assert!(!is_own_host(host, 80), "{host}");
        }
    }
}
