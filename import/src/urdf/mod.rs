//! URDF.

mod geometry;
mod table;
mod tree;

use std::path::{Path, PathBuf};

use nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};

use super::element::Element;
use super::error::{ImportError, ImportProblem, ImportWarning};
use super::imported::{Imported, ImportedJoint, Input};
use super::mjcf::turn_z_to;
use super::support;
use pliant_rigid::MassProperties;
use pliant_rigid::multibody::{Dof, JointKind, Link, LinkId, ModelBuilder, RigidInertia};
use pliant_rigid::simulation::{Actuator, Control, Equality, System};

pub(super) use table::TABLE;

/// Gravity, which the format does not have \[m/s^2\].
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

const TYPES: [&str; 6] = ["fixed", "revolute", "continuous", "prismatic", "floating", "planar"];

/// State of the reader.
struct Reader<'a> {
    root: &'a Element,
    directory: &'a Path,
    warnings: Vec<ImportWarning>,
    builder: ModelBuilder,
    /// Link of every `<link>`, and the frame of the file in that of the link.
    links: Vec<Option<(LinkId, Isometry3<f64>)>>,
    joints: Vec<ImportedJoint>,
    actuators: Vec<Actuator>,
    inputs: Vec<Input>,
    /// Mesh files that were read.
    files: Vec<PathBuf>,
}

/// Reads a document.
pub(super) fn read(root: &Element, directory: &Path) -> Result<Imported, ImportError> {
    let mut warnings = Vec::new();
    support::check(root, TABLE, true, &mut warnings)?;
    for (name, _) in root.attributes.iter().filter(|(name, _)| !matches!(name.as_str(), "name" | "version")) {
        warnings.push(root.warn(name, "left out: an attribute that is not part of the format"));
    }
    let tree = tree::Tree::read(root)?;
    let mut reader = Reader {
        root,
        directory,
        warnings,
        builder: ModelBuilder::new(GRAVITY),
        links: vec![None; tree.links.len()],
        joints: Vec::new(),
        actuators: Vec::new(),
        inputs: Vec::new(),
        files: Vec::new(),
    };
    for &link in &tree.order {
        reader.link(&tree, link)?;
    }
    reader.check_masses(&tree)?;
    let equalities = reader.mimics(&tree)?;
    let (geometries, visuals) = reader.shapes(&tree)?;
    let model = reader.builder.build().map_err(|e| root.fail(e.into()))?;
    let state = model.zero_configuration();
    let mut system = System::new(model);
    system.actuators = reader.actuators;
    system.equalities = equalities;
    system.validate().map_err(|e| root.fail(e.into()))?;
    Ok(Imported {
        name: root.text("name").unwrap_or_default().to_owned(),
        system,
        geometries,
        excluded: Vec::new(),
        visuals,
        state,
        keyframes: Vec::new(),
        joints: reader.joints,
        inputs: reader.inputs,
        time_step: None,
        hints: Vec::new(),
        warnings: reader.warnings,
        files: reader.files,
    })
}

/// The frame that the `<origin>` of an element gives.
fn origin(element: &Element) -> Result<Isometry3<f64>, ImportError> {
    let Some(origin) = element.one("origin")? else { return Ok(Isometry3::identity()) };
    let position = origin.vector("xyz")?.unwrap_or_default();
    let angles = origin.vector("rpy")?;
    let rotation = match origin.array::<4>("quat_xyzw")? {
        Some(_) if angles.is_some() => return Err(origin.bad("quat_xyzw", "left out where there is an rpy")),
        Some([x, y, z, w]) => UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-10)
            .ok_or_else(|| origin.bad("quat_xyzw", "a quaternion (x, y, z, w), not zeros"))?,
        // About the fixed axes x, then y, then z.
        None => {
            angles.map_or(UnitQuaternion::identity(), |a| UnitQuaternion::from_euler_angles(a.x, a.y, a.z))
        }
    };
    Ok(Isometry3::from_parts(Translation3::from(position), rotation))
}

impl Reader<'_> {
    fn link(&mut self, tree: &tree::Tree<'_>, number: usize) -> Result<(), ImportError> {
        let element = tree.links[number];
        let name = element.required("name")?.to_owned();
        let inertia = inertia(element)?;
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
            link.frame *= turned.inverse();
            link.dofs = vec![dof(joint.element, &link.joint)?; link.joint.velocities()];
        }
        link.inertia = inertia.moved(&turned);
        let at = element.one("inertial")?.unwrap_or(element);
        let id = self.builder.add(link).map_err(|e| at.fail(e.into()))?;
        self.links[number] = Some((id, turned));
        if let Some(joint) = tree.joint_to[number] {
            self.motor(joint.element, id)?;
        }
        Ok(())
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

    /// Moving links need a mass, their own or that of links fixed to them.
    fn check_masses(&self, tree: &tree::Tree<'_>) -> Result<(), ImportError> {
        let mut mass = vec![0.0; tree.links.len()];
        for &i in tree.order.iter().rev() {
            mass[i] += inertia(tree.links[i])?.mass;
            let Some(joint) = tree.joint_to[i] else { continue };
            if joint.element.word("type", &TYPES)? == Some(0) {
                mass[joint.parent] += mass[i];
            } else if mass[i] <= 0.0 {
                let reason = "a link that moves has no mass; give it an <inertial>".to_owned();
                return Err(tree.links[i].fail(ImportProblem::Inertia(reason)));
            }
        }
        Ok(())
    }

    fn mimics(&self, tree: &tree::Tree<'_>) -> Result<Vec<Equality>, ImportError> {
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
                return Err(mimic.fail_at("joint", ImportProblem::Reference("joint")));
            };
            let scalar = |i: usize| -> Result<bool, ImportError> {
                let element = tree.joint_to[i].map(|joint| joint.element);
                Ok(element
                    .map_or(Ok(None), |e| e.word("type", &TYPES))?
                    .is_some_and(|kind| (1..=3).contains(&kind)))
            };
            if driver == number || !scalar(driver)? || !scalar(number)? {
                return Err(mimic.bad("joint", "another joint, and both of one coordinate"));
            }
            let (Some((driven, _)), Some((driver, _))) = (self.links[number], self.links[driver]) else {
                continue;
            };
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
    let axis = match element.one("axis")? {
        Some(axis) => axis.direction("xyz")?.ok_or_else(|| axis.fail(ImportProblem::Missing("xyz")))?,
        None => Vector3::x_axis(),
    };
    element.required("type")?;
    Ok(match element.word("type", &TYPES)?.unwrap_or(0) {
        0 => (JointKind::Fixed, Isometry3::identity()),
        1 | 2 => (JointKind::Revolute { axis }, Isometry3::identity()),
        3 => (JointKind::Prismatic { axis }, Isometry3::identity()),
        4 => (JointKind::Free, Isometry3::identity()),
        // A planar joint here moves in the plane across z.
        _ => (JointKind::Planar, planar_frame(&axis)),
    })
}

fn planar_frame(normal: &Unit<Vector3<f64>>) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::identity(), turn_z_to(normal).inverse())
}

fn dof(element: &Element, joint: &JointKind) -> Result<Dof, ImportError> {
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
        return Err(limit.bad("lower", &format!("at most the upper limit, {high}")));
    }
    dof.limits = [low, high];
    Ok(dof)
}

/// Inertia about the origin of the `<link>`, in its axes.
fn inertia(element: &Element) -> Result<RigidInertia, ImportError> {
    let Some(inertial) = element.one("inertial")? else { return Ok(RigidInertia::zero()) };
    let Some(mass) = inertial.one("mass")? else { return Err(inertial.fail(ImportProblem::Missing("mass"))) };
    mass.required("value")?;
    let m = mass.not_negative("value")?.unwrap_or(0.0);
    let Some(tensor) = inertial.one("inertia")? else {
        return Err(inertial.fail(ImportProblem::Missing("inertia")));
    };
    let entry = |name: &'static str| -> Result<f64, ImportError> {
        tensor.required(name)?;
        Ok(tensor.number(name)?.unwrap_or(0.0))
    };
    let (xx, yy, zz) = (entry("ixx")?, entry("iyy")?, entry("izz")?);
    let (xy, xz, yz) = (entry("ixy")?, entry("ixz")?, entry("iyz")?);
    let frame = origin(inertial)?;
    let local = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    if m == 0.0 && local == Matrix3::zeros() {
        return Ok(RigidInertia::zero());
    }
    let figures = MassProperties { mass: m, inertia: local };
    let name = element.text("name").unwrap_or_default();
    figures.validate(name).map_err(|e| tensor.fail(ImportProblem::Inertia(e.to_string())))?;
    Ok(RigidInertia::at_center(m, Vector3::zeros(), local).moved(&frame))
}
