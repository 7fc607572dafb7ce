//! The tree of links and joints.

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem};

/// A joint, seen from its child.
#[derive(Clone, Copy)]
pub(super) struct JointTo<'a> {
    pub element: &'a Element,
    /// Number of the parent.
    pub parent: usize,
}

/// Links and joints, checked to be one tree.
pub(super) struct Tree<'a> {
    pub links: Vec<&'a Element>,
    /// The joint to the parent of each link; `None` for the root.
    pub joint_to: Vec<Option<JointTo<'a>>>,
    /// The links, parents first, otherwise in the order of the joints.
    pub order: Vec<usize>,
}

impl<'a> Tree<'a> {
    pub fn read(root: &'a Element) -> Result<Self, ImportError> {
        let links: Vec<&Element> = root.all("link").collect();
        for (i, link) in links.iter().enumerate() {
            let name = link.required("name")?;
            if links[..i].iter().any(|other| other.text("name") == Some(name)) {
                return Err(link.fail_at("name", ImportProblem::Duplicate("a link")));
            }
        }
        let joints: Vec<&Element> = root.all("joint").collect();
        let mut joint_to: Vec<Option<JointTo<'_>>> = vec![None; links.len()];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
        for (i, &joint) in joints.iter().enumerate() {
            let name = joint.required("name")?;
            if joints[..i].iter().any(|other| other.text("name") == Some(name)) {
                return Err(joint.fail_at("name", ImportProblem::Duplicate("a joint")));
            }
            let (parent, child) = (end(&links, joint, "parent")?, end(&links, joint, "child")?);
            if let Some(other) = joint_to[child.1] {
                let held = other.element.text("name").unwrap_or_default();
                let reason =
                    format!("the link is already the child of joint '{held}'; a link has one parent");
                return Err(child.0.fail_at("link", ImportProblem::Value(reason)));
            }
            joint_to[child.1] = Some(JointTo { element: joint, parent: parent.1 });
            children[parent.1].push(child.1);
        }
        let mut roots = (0..links.len()).filter(|i| joint_to[*i].is_none());
        let Some(first) = roots.next() else {
            return Err(match links.first() {
                Some(link) => link
                    .fail(ImportProblem::Cycle("every link has a parent; there must be one root".to_owned())),
                None => root.fail(ImportProblem::Missing("link")),
            });
        };
        if let Some(second) = roots.next() {
            let name = links[first].text("name").unwrap_or_default();
            let reason = format!("has no parent, and neither has '{name}': there must be one root");
            return Err(links[second].fail(ImportProblem::Unsupported(reason)));
        }
        let mut order = Vec::with_capacity(links.len());
        let mut open = vec![first];
        while let Some(link) = open.pop() {
            order.push(link);
            open.extend(children[link].iter().rev());
        }
        if order.len() < links.len() {
            let left = (0..links.len()).find(|i| !order.contains(i)).unwrap_or(first);
            return Err(links[left].fail(ImportProblem::Cycle("the link is its own ancestor".to_owned())));
        }
        Ok(Self { links, joint_to, order })
    }
}

/// The link at an end of a joint.
fn end<'a>(
    links: &[&Element],
    joint: &'a Element,
    which: &'static str,
) -> Result<(&'a Element, usize), ImportError> {
    let Some(end) = joint.one(which)? else { return Err(joint.fail(ImportProblem::Missing(which))) };
    let name = end.required("link")?;
    let found = links.iter().position(|link| link.text("name") == Some(name));
    found.map(|i| (end, i)).ok_or_else(|| end.fail_at("link", ImportProblem::Reference("link")))
}
