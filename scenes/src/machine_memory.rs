//! How much memory this machine lets a program have.

use std::path::Path;

/// Memory that programs may use here \[bytes\]: what the machine has, or less where a control group
/// allows less, as batch systems and containers do. None where it is not known.
pub fn machine_memory() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let machine = read(Path::new("/proc/meminfo")).and_then(|text| total_of(&text));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let mut bounds: Vec<u64> = machine.into_iter().collect();
    for (root, file, group) in groups.lines().filter_map(control_group) {
        // A group is bounded by those around it; in a container the path may be that of the host.
        for folder in Path::new(group).ancestors() {
            let folder = root.join(folder.strip_prefix("/").unwrap_or(folder));
            bounds.extend(read(&folder.join(file)).and_then(|text| text.trim().parse::<u64>().ok()));
        }
    }
    bounds.into_iter().filter(|bytes| *bytes > 0).min()
}

/// The line `MemTotal` of Linux, in bytes.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Root, file of the bound and path of a control group, from a line of Linux: of version 2
/// `0::/path`, of version 1 `5:memory:/path`.
fn control_group(line: &str) -> Option<(&'static Path, &'static str, &str)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    if controllers.is_empty() {
        Some((Path::new("/sys/fs/cgroup"), "memory.max", path))
    } else if controllers.split(',').any(|controller| controller == "memory") {
        Some((Path::new("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", path))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_of_linux_are_read() {
        let text = "MemFree:  12 kB\nMemTotal:       24567890 kB\n";
        assert_eq!(total_of(text), Some(24_567_890 * 1024));
        assert_eq!(total_of("MemTotal: many kB"), None);
        let (root, file, path) = control_group("0::/system.slice/job").unwrap();
        assert_eq!((root, file, path), (Path::new("/sys/fs/cgroup"), "memory.max", "/system.slice/job"));
        assert_eq!(control_group("5:cpu,memory:/a:b").unwrap().2, "/a:b");
        assert_eq!(control_group("4:cpuset:/a"), None);
    }
}
