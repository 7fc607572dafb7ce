//! Files within files.

use std::path::{Path, PathBuf};

use super::super::element::{self, Element};
use super::super::error::{ImportError, ImportProblem};

/// Replaces every `<include>` by the contents of its file. Files are found relative to the
/// directory of the main file, or to that of the file that names them. One file is included once, as
/// MuJoCo demands. Returns the included files too.
pub(super) fn expand(mut root: Element, directory: &Path) -> Result<(Element, Vec<PathBuf>), ImportError> {
    let mut read = vec![PathBuf::from(&*root.file)];
    expand_children(&mut root, directory, &mut read)?;
    read.remove(0);
    Ok((root, read))
}

fn expand_children(
    element: &mut Element,
    directory: &Path,
    read: &mut Vec<PathBuf>,
) -> Result<(), ImportError> {
    let mut children = Vec::with_capacity(element.children.len());
    for mut child in std::mem::take(&mut element.children) {
        if child.tag != "include" {
            expand_children(&mut child, directory, read)?;
            children.push(child);
            continue;
        }
        let path = locate(&child, directory, Path::new(child.required("file")?));
        if read.contains(&path) {
            let reason = "a file is included twice".to_owned();
            return Err(child.fail_at("file", ImportProblem::Cycle(reason)));
        }
        let text = element::read_text(&path).map_err(|problem| child.fail_at("file", problem))?;
        read.push(path.clone());
        let mut included = element::parse(&text, &path.display().to_string())?;
        expand_children(&mut included, directory, read)?;
        children.append(&mut included.children);
    }
    element.children = children;
    Ok(())
}

/// Path of a file that an element names: relative to a directory, or, where there is none, to that
/// of the file in which the element stands.
pub(super) fn locate(element: &Element, directory: &Path, name: &Path) -> PathBuf {
    let usual = directory.join(name);
    if usual.exists() {
        return usual;
    }
    let own = Path::new(&*element.file).parent().map(|folder| folder.join(name));
    own.filter(|path| path.exists()).unwrap_or(usual)
}
