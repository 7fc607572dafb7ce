//! The module tree of one crate, read from its sources with `syn`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// One path of identifiers, such as `["crate", "grid", "Grid"]`.
pub type Segments = Vec<String>;

/// What an identifier means in a module.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A child module.
    Module(Segments),
    /// A type, function, constant or macro that the module defines.
    Definition,
    /// A name that a `use` brings in, with the path of that `use`.
    Import(Segments),
}

/// One module: a file, or an inline module within a file.
#[derive(Debug)]
pub struct Module {
    /// The source file, relative to the root of the repository.
    pub file: String,
    /// Each identifier in the module's scope. A function and a module may share one.
    pub names: BTreeMap<String, Vec<Meaning>>,
    /// The paths before `::*` in its imports.
    pub globs: Vec<Segments>,
    /// All paths that its code mentions.
    pub mentions: BTreeSet<Segments>,
}

/// The modules of one crate by their paths from `crate`, without test modules.
pub type Modules = BTreeMap<Segments, Module>;

/// Reads a crate from the file of its root module, `src/lib.rs` or `src/main.rs`.
pub fn read(repository: &Path, root_file: &str) -> Modules {
    let mut modules = Modules::new();
    let folder = Path::new(root_file).parent().unwrap().to_path_buf();
    read_file(repository, root_file.to_owned(), &folder, Vec::new(), &mut modules);
    modules
}

/// `children` is the folder in which the files of child modules lie.
fn read_file(repository: &Path, file: String, children: &Path, path: Segments, modules: &mut Modules) {
    let text = std::fs::read_to_string(repository.join(&file)).unwrap();
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    read_items(repository, &file, children, path, &syntax.items, modules);
}

fn read_items(
    repository: &Path,
    file: &str,
    children: &Path,
    path: Segments,
    items: &[syn::Item],
    modules: &mut Modules,
) {
    let mut reader = Reader::default();
    for item in items {
        reader.visit_item(item);
        let syn::Item::Mod(child) = item else { continue };
        if is_test(&child.attrs) {
            continue;
        }
        let name = child.ident.to_string();
        let child_path: Segments = path.iter().cloned().chain([name.clone()]).collect();
        reader.add(&name, Meaning::Module(child_path.clone()));
        let folder = children.join(&name);
        if let Some((_, items)) = &child.content {
            read_items(repository, file, &folder, child_path, items, modules);
        } else {
            let file = child_file(repository, children, &name);
            read_file(repository, file, &folder, child_path, modules);
        }
    }
    let Reader { names, globs, mentions } = reader;
    modules.insert(path, Module { file: file.to_owned(), names, globs, mentions });
}

fn child_file(repository: &Path, folder: &Path, name: &str) -> String {
    let candidates: [PathBuf; 2] = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    let found = candidates.iter().find(|file| repository.join(file).exists());
    let found = found.unwrap_or_else(|| panic!("no file of module {name} in {}", folder.display()));
    found.to_str().unwrap().replace('\\', "/")
}

/// Collects what one module defines, imports and mentions. It does not enter child modules.
#[derive(Default)]
struct Reader {
    names: BTreeMap<String, Vec<Meaning>>,
    globs: Vec<Segments>,
    mentions: BTreeSet<Segments>,
}

impl Reader {
    fn add(&mut self, name: &str, meaning: Meaning) {
        self.names.entry(name.to_owned()).or_default().push(meaning);
    }

    fn add_use(&mut self, tree: &syn::UseTree, prefix: &Segments, private: bool) {
        let extended =
            |name: &syn::Ident| -> Segments { prefix.iter().cloned().chain([name.to_string()]).collect() };
        match tree {
            syn::UseTree::Path(part) => self.add_use(&part.tree, &extended(&part.ident), private),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(tree, prefix, private);
                }
            }
            syn::UseTree::Glob(_) => self.globs.push(prefix.clone()),
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.add_import(&prefix[prefix.len() - 1], prefix.clone(), private);
            }
            syn::UseTree::Name(name) => {
                self.add_import(&name.ident.to_string(), extended(&name.ident), private);
            }
            syn::UseTree::Rename(name) => {
                let path = if name.ident == "self" { prefix.clone() } else { extended(&name.ident) };
                self.add_import(&name.rename.to_string(), path, private);
            }
        }
    }

    /// A private `use` mentions its path. A re-export only passes the name on.
    fn add_import(&mut self, name: &str, path: Segments, private: bool) {
        if private {
            self.mentions.insert(path.clone());
        }
        self.add(name, Meaning::Import(path));
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let (attributes, name) = match item {
            syn::Item::Const(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            syn::Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            syn::Item::Static(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Type(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Union(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Impl(item) => (&item.attrs, None),
            syn::Item::Use(item) => (&item.attrs, None),
            syn::Item::Mod(_) => return,
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        if let Some(name) = name {
            self.add(&name.to_string(), Meaning::Definition);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let private = matches!(item.vis, syn::Visibility::Inherited);
        self.add_use(&item.tree, &Segments::new(), private);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.mentions.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// Documentation and other attributes are no code.
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    /// The tokens within a macro are no syntax tree: every run of `a::b::C` in them is a path.
    fn visit_macro(&mut self, call: &'a syn::Macro) {
        visit::visit_macro(self, call);
        let text = call.tokens.to_string().replace("::", " :: ").replace("$ crate", "crate");
        let mut path = Segments::new();
        let mut joined = false;
        for token in text.split_whitespace() {
            if token == "::" {
                joined = true;
                continue;
            }
            if !joined && !path.is_empty() {
                self.mentions.insert(std::mem::take(&mut path));
            }
            joined = false;
            let word: String = token.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if word.is_empty() {
                path.clear();
            } else {
                path.push(word);
            }
        }
        if !path.is_empty() {
            self.mentions.insert(path);
        }
    }
}

/// Whether the attributes leave the item to tests.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::NameValue(_) => false,
    })
}
