//! `<replicate>`: copies of what it holds, each displaced and turned from the one before.

use nalgebra::{Isometry3, UnitQuaternion};

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem};
use super::compiler::Compiler;
use super::pose::pose;

/// Most copies of one `<replicate>`, and elements that all of them may become; more would not fit
/// into memory.
const MOST: i64 = 100_000;

/// Replaces every `<replicate>` by one `<frame>` a copy, whose pose is that of the one before, moved
/// by `offset` and `euler` in that frame. Names get the number of the copy, from 0, with as many
/// digits as the count has. Says whether there were any.
pub(super) fn expand(root: &mut Element, compiler: &Compiler) -> Result<bool, ImportError> {
    let mut made = 0;
    for world in root.children.iter_mut().filter(|child| child.tag == "worldbody") {
        expand_children(world, compiler, &mut made)?;
    }
    Ok(made > 0)
}

fn expand_children(element: &mut Element, compiler: &Compiler, made: &mut i64) -> Result<(), ImportError> {
    let mut children = Vec::with_capacity(element.children.len());
    for mut child in std::mem::take(&mut element.children) {
        expand_children(&mut child, compiler, made)?;
        if child.tag == "replicate" {
            children.extend(copies(&child, compiler, made)?);
        } else {
            children.push(child);
        }
    }
    element.children = children;
    Ok(())
}

/// The copies, each in a frame.
fn copies(element: &Element, compiler: &Compiler, made: &mut i64) -> Result<Vec<Element>, ImportError> {
    let known = ["count", "offset", "euler", "sep"];
    if let Some((name, _)) = element.attributes.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        return Err(element.fail_at(name, ImportProblem::UnknownAttribute));
    }
    let count = match element.integer("count")? {
        Some(count) if (1..=MOST).contains(&count) => count,
        Some(_) => return Err(element.bad("count", &format!("from 1 to {MOST} copies"))),
        None => return Err(element.fail(ImportProblem::Missing("count"))),
    };
    *made += count * element.children.iter().map(elements).sum::<i64>();
    if *made > MOST {
        return Err(element.bad("count", &format!("so that all copies are at most {MOST} elements")));
    }
    let separator = element.text("sep").unwrap_or_default();
    let digits = count.to_string().len();
    // Offset and angles are those of a frame.
    let as_frame = |(name, value): &(String, String)| match name.as_str() {
        "offset" => Some(("pos".to_owned(), value.clone())),
        "euler" => Some((name.clone(), value.clone())),
        _ => None,
    };
    let frame = |attributes, children| Element {
        tag: "frame".to_owned(),
        attributes,
        children,
        file: element.file.clone(),
        line: element.line,
    };
    let step = pose(&frame(element.attributes.iter().filter_map(as_frame).collect(), Vec::new()), compiler)?;
    let mut placed = Isometry3::identity();
    let mut all = Vec::with_capacity(count as usize);
    for i in 0..count {
        let (x, r) = (placed.translation, placed.rotation);
        let attributes = vec![
            ("pos".to_owned(), format!("{:?} {:?} {:?}", x.x, x.y, x.z)),
            ("quat".to_owned(), format!("{:?} {:?} {:?} {:?}", r.w, r.i, r.j, r.k)),
        ];
        let mut inner = element.children.clone();
        let suffix = format!("{separator}{i:0digits$}");
        inner.iter_mut().for_each(|child| rename(child, &suffix));
        all.push(frame(attributes, inner));
        placed = renormalized(placed * step);
    }
    Ok(all)
}

fn renormalized(pose: Isometry3<f64>) -> Isometry3<f64> {
    Isometry3::from_parts(pose.translation, UnitQuaternion::new_normalize(pose.rotation.into_inner()))
}

fn elements(element: &Element) -> i64 {
    1 + element.children.iter().map(elements).sum::<i64>()
}

fn rename(element: &mut Element, suffix: &str) {
    for (_, value) in element.attributes.iter_mut().filter(|(name, _)| name == "name") {
        *value = format!("{}{suffix}", value.trim());
    }
    element.children.iter_mut().for_each(|child| rename(child, suffix));
}
