//! Files within files.

use std::path::{Path, PathBuf};

use super::super::element::{self, Element};
use super::super::error::{ImportError, ImportProblem};

/// Replaces every `<include>` by the contents of its file. Files are found relative to the
/// directory of the main file. One file is included once, as MuJoCo demands.
pub(super) fn expand(mut root: Element, directory: &Path) -> Result<Element, ImportError> {
    let mut substep_states = vec![PathBuf::from(&*root.file)];
    expand_children(&mut root, directory, &mut substep_states)?;
    Ok(root)
}

fn expand_children(
    element: &mut Element,
    directory: &Path,
    substep_states: &mut Vec<PathBuf>,
) -> Result<(), ImportError> {
    let mut children = Vec::with_capacity(element.children.len());
    for mut child in std::mem::take(&mut element.children) {
        if child.tag != "include" {
            expand_children(&mut child, directory, substep_states)?;
            children.push(child);
            continue;
        }
        let path = directory.join(child.required("file")?);
        if substep_states.contains(&path) {
            let reason = "a file is included twice".to_owned();
            return Err(child.fail_at("file", ImportProblem::Cycle(reason)));
        }
        let text = element::read_text(&path).map_err(|problem| child.fail_at("file", problem))?;
        substep_states.push(path.clone());
        let mut included = element::parse(&text, &path.display().to_string())?;
        expand_children(&mut included, directory, substep_states)?;
        children.append(&mut included.children);
    }
    element.children = children;
    Ok(())
}
