//! Which file of a crate uses names that which other file defines, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Meaning, Modules, Segments};

/// The names through which one file depends on another, by the importing and the defining file.
pub type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Longer chains of re-exports than this are loops of a name with itself.
const LONGEST_CHAIN: usize = 16;

/// Resolves every path that the crate's files mention to the files that define the names.
pub fn of(modules: &Modules) -> Imports {
    let mut imports = Imports::new();
    for (path, module) in modules {
        for mention in &module.mentions {
            for (file, name) in resolve(modules, path, mention, 0) {
                if file != module.file {
                    let of_file = imports.entry(module.file.clone()).or_default();
                    of_file.entry(file).or_default().insert(name);
                }
            }
        }
    }
    imports
}

/// The files that define what a path means in a module, with the defined names. Paths to modules
/// and to other crates give none.
fn resolve(modules: &Modules, at: &Segments, path: &[String], chain: usize) -> BTreeSet<(String, String)> {
    let Some((first, rest)) = path.split_first() else { return BTreeSet::new() };
    match first.as_str() {
        "crate" => look_up(modules, &Segments::new(), rest, true, chain),
        "self" => look_up(modules, at, rest, true, chain),
        "super" => {
            let parent = at[..at.len() - 1].to_vec();
            if rest.first().is_some_and(|next| next == "super") {
                resolve(modules, &parent, rest, chain)
            } else {
                look_up(modules, &parent, rest, true, chain)
            }
        }
        _ => look_up(modules, at, path, false, chain),
    }
}

/// Follows a path from a module. `must` says that the first name has to be there: what is not
/// found was then defined by a macro in that module.
fn look_up(
    modules: &Modules,
    at: &Segments,
    path: &[String],
    must: bool,
    chain: usize,
) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let Some((first, rest)) = path.split_first() else { return found };
    let Some(module) = modules.get(at) else { return found };
    if chain > LONGEST_CHAIN {
        return found;
    }
    if let Some(meanings) = module.names.get(first) {
        // A name that something follows is a module's where a function has it too.
        let is_module = |meaning: &Meaning| matches!(meaning, Meaning::Module(_));
        let passes = !rest.is_empty() && meanings.iter().any(is_module);
        for meaning in meanings {
            match meaning {
                Meaning::Definition if passes => {}
                Meaning::Definition => {
                    found.insert((module.file.clone(), first.clone()));
                }
                Meaning::Module(child) => found.extend(look_up(modules, child, rest, true, chain + 1)),
                Meaning::Import(target) => {
                    let whole: Segments = target.iter().chain(rest).cloned().collect();
                    found.extend(resolve(modules, at, &whole, chain + 1));
                }
            }
        }
        return found;
    }
    for glob in &module.globs {
        let named: Segments = glob.iter().chain(path).cloned().collect();
        if glob_has(modules, at, glob, first) {
            found.extend(resolve(modules, at, &named, chain + 1));
        }
    }
    if must && found.is_empty() && module.globs.is_empty() {
        found.insert((module.file.clone(), first.clone()));
    }
    found
}

/// Whether the module before a `::*` has a name.
fn glob_has(modules: &Modules, at: &Segments, glob: &[String], name: &str) -> bool {
    let mut path = at.clone();
    for segment in glob {
        match segment.as_str() {
            "crate" => path.clear(),
            "self" => {}
            "super" => {
                path.pop();
            }
            child => path.push(child.to_owned()),
        }
    }
    modules.get(&path).is_some_and(|module| module.names.contains_key(name))
}

/// The strongly connected components of more than one file, each with its imports, as lines of
/// text.
pub fn cycles(imports: &Imports) -> Vec<String> {
    let reachable: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|file| (file, reachable_from(imports, file))).collect();
    let mut seen = BTreeSet::new();
    let mut cycles = Vec::new();
    for (file, targets) in &reachable {
        if !targets.contains(*file) || !seen.insert(*file) {
            continue;
        }
        let back = |other: &&String| reachable.get(*other).is_some_and(|of_other| of_other.contains(*file));
        let members: BTreeSet<&String> = targets.iter().copied().filter(|other| back(other)).collect();
        seen.extend(&members);
        cycles.push(describe(imports, &members));
    }
    cycles
}

fn reachable_from<'a>(imports: &'a Imports, start: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = imports.get(start).into_iter().flat_map(BTreeMap::keys).collect();
    while let Some(file) = open.pop() {
        if reached.insert(file) {
            open.extend(imports.get(file).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}

fn describe(imports: &Imports, members: &BTreeSet<&String>) -> String {
    let mut text = format!("{} files import each other:", members.len());
    for from in members {
        for (to, names) in imports.get(*from).into_iter().flatten().filter(|(to, _)| members.contains(to)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            text += &format!("\n  {from} -> {to}: {}", names.join(", "));
        }
    }
    text
}
