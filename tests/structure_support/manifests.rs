//! What the manifests of the workspace say.

/// The lines of a manifest's sections whose name passes, without those of tests and benchmarks.
fn sections(manifest: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
    let mut section = "";
    manifest.lines().filter(move |line| {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            return false;
        }
        wanted(section)
    })
}

/// The name of the package.
pub fn package(manifest: &str) -> Option<&str> {
    let name =
        sections(manifest, |section| section == "package").find_map(|line| line.strip_prefix("name = "));
    name.map(|name| name.trim_matches('"'))
}

/// The crates of this workspace that the package needs, tests aside.
pub fn dependencies(manifest: &str) -> Vec<&str> {
    let wanted = |section: &str| {
        let kind = section.rsplit('.').next().unwrap_or_default();
        matches!(kind, "dependencies" | "build-dependencies") && !section.starts_with("workspace")
    };
    let names = sections(manifest, wanted).filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| name.starts_with("pliant-")).collect()
}

/// The folders of the workspace's members.
pub fn members(manifest: &str) -> Vec<&str> {
    let line =
        sections(manifest, |section| section == "workspace").find_map(|line| line.strip_prefix("members = "));
    let list = line.unwrap_or_default().trim_matches(['[', ']']);
    list.split(", ").map(|member| member.trim_matches('"')).collect()
}
