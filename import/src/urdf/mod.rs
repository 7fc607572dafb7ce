//! URDF.

mod geometry;
mod inertial;
mod origin;
mod prepare;
mod semantics;
mod table;
mod tree;

use std::path::{Path, PathBuf};

use nalgebra::{Isometry3, Translation3, Unit, Vector3};

use super::element::Element;
use super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};
use super::imported::{Imported, ImportedJoint, Input};
use super::mjcf::turn_z_to;
use super::options::{LoadOptions, Repair};
use super::support;
use origin::origin;
use pliant_rigid::multibody::{Dof, JointKind, Link, LinkId, ModelBuilder, ModelError, RigidInertia};
use pliant_rigid::simulation::{Actuator, Control, Equality, System};

pub(super) use table::TABLE;

/// Gravity, which the format does not have \[m/s^2\].
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

const TYPES: [&str; 7] = ["fixed", "revolute", "continuous", "prismatic", "floating", "planar", "spherical"];

/// State of the reader.
struct Reader<'a> {
    root: &'a Element,
    directory: &'a Path,
    options: &'a LoadOptions,
    warnings: Vec<ImportWarning>,
    builder: ModelBuilder,
    /// Link of every `<link>`, and the frame of the file in that of the link.
    links: Vec<Option<(LinkId, Isometry3<f64>)>>,
    /// Whether nothing from the link outwards has a mass or an inertia.
    empty: Vec<bool>,
    /// Name of the joint that frees the root; `None` for a fixed one.
    floating: Option<String>,
    joints: Vec<ImportedJoint>,
    actuators: Vec<Actuator>,
    inputs: Vec<Input>,
    /// What a user may want to know of the meshes.
    notes: Vec<String>,
    /// Mesh files that were read.
    files: Vec<PathBuf>,
}

/// Reads a document.
pub(super) fn read(
    mut root: Element,
    directory: &Path,
    options: &LoadOptions,
) -> Result<Imported, ImportError> {
    let mut warnings = Vec::new();
    prepare::prepare(&mut root, options, &mut warnings)?;
    let root = &root;
    support::check(root, TABLE, true, &mut warnings)?;
    for (name, _) in root.attributes.iter().filter(|(name, _)| !matches!(name.as_str(), "name" | "version")) {
        let action = "left out: an attribute that is not part of the format";
        warnings.push(root.warn(name, action).of(WarningKind::Extension));
    }
    let tree = tree::Tree::read(root)?;
    let semantics = semantics::beside(root, directory)?;
    let mut reader = Reader {
        root,
        directory,
        options,
        warnings,
        builder: ModelBuilder::new(GRAVITY),
        empty: massless(&tree, options)?,
        floating: semantics.base(&tree, options),
        links: vec![None; tree.links.len()],
        joints: Vec::new(),
        actuators: Vec::new(),
        inputs: Vec::new(),
        notes: Vec::new(),
        files: Vec::new(),
    };
    reader.builder.accept_any_moments();
    for &link in &tree.order {
        reader.link(&tree, link)?;
    }
    let equalities = reader.mimics(&tree)?;
    let (geometries, hidden, visuals) = reader.shapes(&tree)?;
    let ordered: Vec<&Element> = tree.order.iter().map(|link| tree.links[*link]).collect();
    let (builder, warnings) = (&mut reader.builder, &mut reader.warnings);
    inertial::add_masses(builder, &ordered, &geometries, options, warnings)?;
    inertial::check(builder, &ordered, options, warnings)?;
    let model = reader.builder.build().map_err(|error| without_inertia(error, root, options))?;
    let state = model.zero_configuration();
    let (keyframes, excluded) = semantics.resolve(&model, &reader.joints, &state, &mut reader.warnings)?;
    reader.files.extend(semantics.file);
    let mut system = System::new(model);
    system.actuators = reader.actuators;
    system.equalities = equalities;
    system.validate().map_err(|e| root.fail(e.into()))?;
    Ok(Imported {
        name: root.text("name").unwrap_or_default().to_owned(),
        system,
        geometries,
        excluded,
        pairs: Vec::new(),
        hidden,
        visuals,
        sites: Vec::new(),
        sensors: Vec::new(),
        mocaps: Vec::new(),
        state,
        keyframes,
        joints: reader.joints,
        inputs: reader.inputs,
        time_step: None,
        hints: Vec::new(),
        warnings: reader.warnings,
        notes: reader.notes,
        files: reader.files,
    })
}

impl Reader<'_> {
    fn link(&mut self, tree: &tree::Tree<'_>, number: usize) -> Result<(), ImportError> {
        let element = tree.links[number];
        let name = element.required("name")?.to_owned();
        let inertia = inertial::read(element, &mut self.warnings)?;
        let mut link = Link {
            name,
            parent: None,
            joint: JointKind::Fixed,
            frame: Isometry3::identity(),
            inertia: RigidInertia::zero(),
            gravity: true,
            dofs: Vec::new(),
        };
        // The file's frame in the link's.
        let mut turned = Isometry3::identity();
        if let Some(joint) = tree.joint_to[number] {
            let (parent, in_parent) = self.links[joint.parent].unwrap_or((LinkId(0), Isometry3::identity()));
            link.parent = Some(parent);
            link.frame = in_parent * origin(joint.element)?;
            (link.joint, turned) = kind(joint.element)?;
            if self.empty[number] && link.joint != JointKind::Fixed && self.welds() {
                let action = "repaired: fixed, since it moves nothing that has a mass";
                self.warnings.push(joint.element.warn("", action).of(WarningKind::Repaired));
                (link.joint, turned) = (JointKind::Fixed, Isometry3::identity());
            }
            link.frame *= turned.inverse();
            link.dofs = vec![dof(joint.element, &link.joint, &mut self.warnings)?; link.joint.velocities()];
        } else if self.floating.is_some() {
            link.joint = JointKind::Free;
        }
        link.inertia = inertia.moved(&turned);
        let at = element.one("inertial")?.unwrap_or(element);
        let id = self.builder.add(link).map_err(|e| at.fail(e.into()))?;
        self.links[number] = Some((id, turned));
        match (tree.joint_to[number], &self.floating) {
            (Some(joint), _) if self.builder.links()[id.0].joint == JointKind::Fixed => {
                // A joint that was welded is checked, but drives nothing.
                joint.element.required("name")?;
            }
            (Some(joint), _) => self.motor(joint.element, id)?,
            (None, Some(name)) => self.joints.push(ImportedJoint {
                name: name.clone(),
                link: id,
                effort_limit: None,
                velocity_limit: None,
            }),
            (None, None) => {}
        }
        Ok(())
    }

    fn welds(&self) -> bool {
        self.options.repairs.contains(&Repair::Weld)
    }

    /// A joint with an effort limit gets a motor with zero effort until an input is set.
    fn motor(&mut self, element: &Element, link: LinkId) -> Result<(), ImportError> {
        let name = element.required("name")?.to_owned();
        let kind = element.word("type", &TYPES)?.unwrap_or(0);
        let limit = element.one("limit")?;
        let figure = |attribute: &str| limit.map_or(Ok(None), |limit| limit.not_negative(attribute));
        let (effort, velocity) = (figure("effort")?, figure("velocity")?);
        let driven = matches!(kind, 1..=3) && element.one("mimic")?.is_none();
        if let Some(effort) = effort.filter(|effort| driven && *effort > 0.0) {
            let control = Control::Effort { effort: 0.0 };
            let range = [-effort, effort];
            self.inputs.push(Input {
                name: name.clone(),
                actuator: self.actuators.len(),
                scale: 1.0,
                offset: 0.0,
                range,
            });
            self.actuators.push(Actuator {
                link,
                dof: 0,
                control,
                effort_limit: effort,
                gravity_compensation: false,
            });
        }
        if kind != 0 {
            self.joints.push(ImportedJoint { name, link, effort_limit: effort, velocity_limit: velocity });
        }
        Ok(())
    }

    fn mimics(&mut self, tree: &tree::Tree<'_>) -> Result<Vec<Equality>, ImportError> {
        let mut equalities = Vec::new();
        for (number, joint) in tree.joint_to.iter().enumerate() {
            let Some(joint) = joint else { continue };
            let Some(mimic) = joint.element.one("mimic")? else { continue };
            let followed = mimic.required("joint")?;
            let position = tree
                .joint_to
                .iter()
                .position(|other| other.is_some_and(|o| o.element.text("name") == Some(followed)));
            let Some(driver) = position else {
                let action = "left out: there is no joint of this name; the joint is free";
                self.warnings.push(mimic.warn("joint", action));
                continue;
            };
            let fixed = |i: usize| -> Result<bool, ImportError> {
                let element = tree.joint_to[i].map(|joint| joint.element);
                Ok(element.map_or(Ok(None), |e| e.word("type", &TYPES))? == Some(0))
            };
            let scalar = |i: usize| -> Result<bool, ImportError> {
                let element = tree.joint_to[i].map(|joint| joint.element);
                Ok(element
                    .map_or(Ok(None), |e| e.word("type", &TYPES))?
                    .is_some_and(|kind| (1..=3).contains(&kind)))
            };
            if fixed(driver)? || fixed(number)? {
                // A fixed joint follows nothing.
                let action = "left out: the joint that is followed is fixed; the follower is free";
                if !fixed(number)? {
                    self.warnings.push(mimic.warn("joint", action));
                }
                continue;
            }
            if driver == number || !scalar(driver)? || !scalar(number)? {
                return Err(mimic.bad("joint", "another joint, and both of one coordinate"));
            }
            let (Some((driven, _)), Some((driver, _))) = (self.links[number], self.links[driver]) else {
                continue;
            };
            if [driven, driver].iter().any(|l| self.builder.links()[l.0].joint == JointKind::Fixed) {
                // Welded on request.
                continue;
            }
            equalities.push(Equality::Coupler {
                driver,
                driven,
                ratio: mimic.number("multiplier")?.unwrap_or(1.0),
                offset: mimic.number("offset")?.unwrap_or(0.0),
            });
        }
        Ok(equalities)
    }
}

/// Kind of the joint, and the frame of the file in that of the link.
fn kind(element: &Element) -> Result<(JointKind, Isometry3<f64>), ImportError> {
    element.required("type")?;
    let kind = element.word("type", &TYPES)?.unwrap_or(0);
    let axis = match element.one("axis")? {
        Some(axis) if matches!(kind, 1..=3 | 5) => {
            axis.direction("xyz")?.ok_or_else(|| axis.fail(ImportProblem::Missing("xyz")))?
        }
        // Other joints have no axis, whatever is written.
        _ => Vector3::x_axis(),
    };
    Ok(match kind {
        0 => (JointKind::Fixed, Isometry3::identity()),
        1 | 2 => (JointKind::Revolute { axis }, Isometry3::identity()),
        3 => (JointKind::Prismatic { axis }, Isometry3::identity()),
        4 => (JointKind::Free, Isometry3::identity()),
        6 => (JointKind::Ball, Isometry3::identity()),
        // A planar joint here moves in the plane across z.
        _ => (JointKind::Planar, planar_frame(&axis)),
    })
}

/// Of every link, whether nothing from it outwards has a mass or an inertia, or will have one.
fn massless(tree: &tree::Tree<'_>, options: &LoadOptions) -> Result<Vec<bool>, ImportError> {
    let mut empty = vec![true; tree.links.len()];
    for &i in tree.order.iter().rev() {
        let link = tree.links[i];
        let own = inertial::read(link, &mut Vec::new())?;
        let by_shapes = options.repairs.contains(&Repair::Mass) || !inertial::states_mass(link)?;
        let shaped = by_shapes && link.all("collision").next().is_some();
        empty[i] &= own == RigidInertia::zero() && !shaped;
        if let Some(joint) = tree.joint_to[i] {
            empty[joint.parent] &= empty[i];
        }
    }
    Ok(empty)
}

/// The error of building the model, at its link, with the repair that would do.
fn without_inertia(error: ModelError, root: &Element, options: &LoadOptions) -> ImportError {
    let ModelError::NoInertia { link, .. } = &error else { return root.fail(error.into()) };
    let named = root.all("link").find(|element| element.text("name") == Some(link));
    let element = named.unwrap_or(root);
    let shaped = element.all("collision").next().is_some();
    let fault = element.fail(error.into());
    match (shaped, options.repairs.contains(&Repair::Mass), options.repairs.contains(&Repair::Weld)) {
        (true, false, _) => fault.or(Repair::Mass),
        (_, _, false) => fault.or(Repair::Weld),
        _ => fault,
    }
}

fn planar_frame(normal: &Unit<Vector3<f64>>) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::identity(), turn_z_to(normal).inverse())
}

fn dof(element: &Element, joint: &JointKind, warnings: &mut Vec<ImportWarning>) -> Result<Dof, ImportError> {
    let mut dof = Dof::default();
    if let Some(dynamics) = element.one("dynamics")? {
        dof.damping = dynamics.not_negative("damping")?.unwrap_or(0.0);
        dof.friction_loss = dynamics.not_negative("friction")?.unwrap_or(0.0);
    }
    let limited = element.text("type") == Some("revolute") || matches!(joint, JointKind::Prismatic { .. });
    let limit = element.one("limit")?;
    if !limited {
        return Ok(dof);
    }
    let Some(limit) = limit else { return Err(element.fail(ImportProblem::Missing("limit"))) };
    let low = limit.number("lower")?.unwrap_or(0.0);
    let high = limit.number("upper")?.unwrap_or(0.0);
    if low > high {
        let action = format!("left out: above the upper limit, {high}; read as no limit, as in Bullet");
        warnings.push(limit.warn("lower", action));
        return Ok(dof);
    }
    dof.limits = [low, high];
    Ok(dof)
}
