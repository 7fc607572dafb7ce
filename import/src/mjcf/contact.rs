//! Pairs that can touch, and contact parameters.
//!
//! In MuJoCo two geoms touch if the `contype` of one has a bit in common with the `conaffinity` of
//! the other, either way round; here each must be in a group of the other's mask. So every pair of
//! values that occurs gets its own bit, and a mask of the bits that it is compatible with: the same
//! relation, exactly, for up to 32 different pairs.

use std::collections::BTreeSet;

use super::super::element::Element;
use super::super::error::{ImportError, ImportProblem, ImportWarning, WarningKind};
use super::super::imported::Visual;
use super::super::mesh;
use super::body::MjcfBody;
use super::compiler::Compiler;
use super::contact_figures::{compliance, dimensions};
use super::contact_pair::ContactPair;
use super::defaults::Defaults;
use super::geom::Geom;
use super::shown::{Looks, Show};
use super::softness::impedance;
use pliant_rigid::collision::{CollisionGeometry, ContactMaterial, FrictionRule, PairMaterial};
use pliant_rigid::multibody::LinkId;

/// Shapes and excluded pairs.
#[derive(Default)]
pub(super) struct Shapes {
    pub geometries: Vec<CollisionGeometry>,
    pub excluded: Vec<(LinkId, LinkId)>,
    /// Contacts of pairs of geometries.
    pub pairs: Vec<PairMaterial>,
    pub visuals: Vec<Visual>,
    /// Numbers of the geometries that pictures leave out.
    pub hidden: BTreeSet<usize>,
}

/// Key of a geom's contacts: two geoms with the same key touch the same ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    contype: u32,
    conaffinity: u32,
    /// The geom, if a pair names it.
    paired: Option<usize>,
    /// The body, if an exclusion names it and the world.
    body: Option<usize>,
}

#[derive(Default)]
struct Relations {
    pairs: Vec<ContactPair>,
    /// Bodies that do not touch the world.
    off_world: BTreeSet<usize>,
    excluded: Vec<[usize; 2]>,
}

impl Relations {
    fn touch(&self, a: &Key, b: &Key) -> bool {
        if let (Some(i), Some(j)) = (a.paired, b.paired)
            && self.pairs.iter().any(|pair| pair.geoms == [i, j] || pair.geoms == [j, i])
        {
            return true;
        }
        let world_and = |a: &Key, b: &Key| a.body == Some(0) && b.body.is_some_and(|b| b != 0);
        let apart = world_and(a, b) || world_and(b, a);
        !apart && (a.contype & b.conaffinity != 0 || b.contype & a.conaffinity != 0)
    }
}

/// Reads `<contact>` and makes the geometries.
pub(super) fn read(
    root: &Element,
    bodies: &[MjcfBody],
    defaults: &Defaults,
    compiler: &Compiler,
    gravity: f64,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Shapes, ImportError> {
    let relations = relations(root, bodies, defaults)?;
    let geoms: Vec<(usize, &Geom)> = bodies
        .iter()
        .enumerate()
        .flat_map(|(b, body)| body.geoms.iter().map(move |geom| (b, geom)))
        .collect();
    let paired: BTreeSet<usize> = relations.pairs.iter().flat_map(|pair| pair.geoms).collect();
    let mut shapes = Shapes::default();
    let mut looks = Looks::default();
    let mut keys: Vec<Key> = Vec::new();
    let mut key_of = Vec::new();
    let mut surfaces = Vec::new();
    let mut solids_of = vec![0..0; geoms.len()];
    for (i, (b, geom)) in geoms.iter().enumerate() {
        let body = &bodies[*b];
        let pose = body.in_link * geom.pose;
        if geom.contype == 0 && geom.conaffinity == 0 && !paired.contains(&i) {
            if !compiler.discard_visual {
                let (name, color) = (geom.name.clone(), geom.color);
                if let Some(shape) = geom.drawn() {
                    shapes.visuals.push(Visual { name, link: body.link, pose, shape, color });
                    looks.seen.push(geom.show);
                }
            }
            continue;
        }
        let named = relations.off_world.contains(b) || (*b == 0 && !relations.off_world.is_empty());
        let key = Key {
            contype: geom.contype,
            conaffinity: geom.conaffinity,
            paired: paired.contains(&i).then_some(i),
            body: named.then_some(*b),
        };
        let number = keys.iter().position(|other| *other == key).unwrap_or_else(|| {
            keys.push(key);
            keys.len() - 1
        });
        if number >= 32 {
            let reason = "more than 32 distinct combinations of contype and conaffinity".to_owned();
            return Err(geom.element.fail_at("contype", ImportProblem::Unsupported(reason)));
        }
        surfaces.push((*geom, friction(&geom.element)?, priority(&geom.element)?));
        let material = material(geom, mass_of_part(bodies, body.part), gravity, warnings)?;
        let solids = geom.solids()?;
        let skinned = geom.group == 0 && body.geoms.iter().any(Geom::is_skin);
        let mut show = if skinned && geom.show == Show::Always { Show::Alone } else { geom.show };
        // The mesh is seen as it is; its hulls are not.
        if let Some(surface) = geom.hollow() {
            let (name, color) = (geom.name.clone(), geom.color);
            shapes.visuals.push(Visual { name, link: body.link, pose, shape: surface, color });
            looks.seen.push(std::mem::replace(&mut show, Show::Never));
        }
        solids_of[i] = shapes.geometries.len()..shapes.geometries.len() + solids.len();
        for (part, shape) in solids.into_iter().enumerate() {
            key_of.push(number);
            looks.touching.push(show);
            shapes.geometries.push(CollisionGeometry {
                name: mesh::part_name(&geom.name, part),
                link: body.link,
                pose,
                shape,
                material,
                group: 1 << number,
                mask: 0,
                color: geom.color,
            });
        }
    }
    let mask = |a: &Key| (0..keys.len()).filter(|b| relations.touch(a, &keys[*b])).fold(0, |m, b| m | 1 << b);
    let masks: Vec<u32> = keys.iter().map(mask).collect();
    shapes.geometries.iter_mut().zip(&key_of).for_each(|(geometry, key)| geometry.mask = masks[*key]);
    shapes.excluded = excluded(&relations, bodies);
    for pair in &relations.pairs {
        let parts = pair.geoms.map(|i| bodies[geoms[i].0].part);
        let masses = parts.map(|part| if part == 0 { 0.0 } else { mass_of_part(bodies, part) });
        let contact = pair.contact(masses, gravity, warnings)?;
        let [first, second] = pair.geoms.map(|i| solids_of[i].clone());
        let solids = first.flat_map(|a| second.clone().map(move |b| [a, b]));
        shapes.pairs.extend(solids.map(|geometries| PairMaterial { geometries, contact }));
    }
    warn_of_dimensions(&surfaces, warnings);
    shapes.hidden = looks.sort(&shapes.geometries, &mut shapes.visuals);
    Ok(shapes)
}

fn relations(root: &Element, bodies: &[MjcfBody], defaults: &Defaults) -> Result<Relations, ImportError> {
    let mut relations = Relations::default();
    let geom = |element: &Element, attribute| -> Result<usize, ImportError> {
        let name = element.required(attribute)?;
        let mut all = bodies.iter().flat_map(|body| &body.geoms);
        all.position(|geom| geom.name == name)
            .ok_or_else(|| element.fail_at(attribute, ImportProblem::Reference("geom")))
    };
    for element in root.all("contact").flat_map(|contact| &contact.children) {
        match element.tag.as_str() {
            "pair" => {
                let resolved = defaults.resolve(element, None)?;
                let geoms = [geom(&resolved, "geom1")?, geom(&resolved, "geom2")?];
                if geoms[0] == geoms[1] {
                    return Err(resolved.bad("geom2", "another geom than geom1"));
                }
                relations.pairs.push(ContactPair { geoms, element: resolved });
            }
            "exclude" => {
                let pair = [body_named(bodies, element, "body1")?, body_named(bodies, element, "body2")?];
                match pair {
                    [0, 0] => {}
                    [0, other] | [other, 0] => {
                        relations.off_world.insert(other);
                    }
                    pair => relations.excluded.push(pair),
                }
            }
            _ => {}
        }
    }
    Ok(relations)
}

/// The number of the body that an attribute names.
pub(super) fn body_named(
    bodies: &[MjcfBody],
    element: &Element,
    attribute: &'static str,
) -> Result<usize, ImportError> {
    let name = element.required(attribute)?;
    let found = bodies.iter().position(|body| body.name == name);
    found.ok_or_else(|| element.fail_at(attribute, ImportProblem::Reference("body")))
}

/// Excluded pairs of links: those that the file names, and bodies with several joints and their
/// parents, between which are the links of the other joints.
fn excluded(relations: &Relations, bodies: &[MjcfBody]) -> Vec<(LinkId, LinkId)> {
    let mut pairs = BTreeSet::new();
    let mut add = |a: usize, b: usize| {
        if let (Some(a), Some(b)) = (bodies[a].link, bodies[b].link) {
            pairs.insert((a.min(b), a.max(b)));
        }
    };
    relations.excluded.iter().for_each(|[a, b]| add(*a, *b));
    let of_part = |part: usize| (1..bodies.len()).filter(move |b| bodies[*b].part == part);
    for (i, body) in bodies.iter().enumerate().skip(1).filter(|(_, body)| body.joints.len() > 1) {
        let holder = bodies[body.parent].part;
        if holder != 0 {
            of_part(holder).for_each(|a| of_part(i).for_each(|b| add(a, b)));
        }
    }
    pairs.into_iter().collect()
}

/// Mass of the bodies that are welded together \[kg\].
fn mass_of_part(bodies: &[MjcfBody], part: usize) -> f64 {
    let of_part = bodies.iter().filter(|body| body.part == part);
    of_part.filter_map(|body| body.mass.as_ref()).map(|(figures, _)| figures.mass).sum()
}

/// Friction of a geom.
struct Friction {
    /// How many of the coefficients act, by `condim`: none, sliding, and torsion, and rolling.
    kinds: usize,
    /// Of sliding, torsional \[m\] and rolling \[m\] friction, whether they act or not.
    coefficients: [f64; 3],
}

fn friction(element: &Element) -> Result<Friction, ImportError> {
    let given = element.numbers("friction", 1..=3)?.unwrap_or_default();
    if given.iter().any(|mu| *mu < 0.0) {
        return Err(element.bad("friction", "coefficients that are finite and not negative"));
    }
    // MuJoCo's defaults if they are not given.
    let mut coefficients = [1.0, 0.005, 0.0001];
    coefficients.iter_mut().zip(&given).for_each(|(coefficient, given)| *coefficient = *given);
    Ok(Friction { kinds: dimensions(element)?, coefficients })
}

/// Two geoms have the larger `condim` and the larger coefficients of both, in MuJoCo also those that
/// do not act on the one of the smaller `condim`. Of different priorities only one counts.
fn warn_of_dimensions(surfaces: &[(&Geom, Friction, i32)], warnings: &mut Vec<ImportWarning>) {
    for (geom, own, priority) in surfaces {
        let exceeds = |(_, other, rank): &&(&Geom, Friction, i32)| {
            rank == priority
                && (own.kinds..other.kinds).any(|kind| own.coefficients[kind] > other.coefficients[kind])
        };
        if let Some((other, ..)) = surfaces.iter().find(exceeds) {
            let action = format!(
                "approximated: in contact with geom '{}' of a larger condim its own friction does not act",
                other.name
            );
            warnings.push(geom.element.warn("condim", action).of(WarningKind::Contact));
            return;
        }
    }
}

fn material(
    geom: &Geom,
    mass: f64,
    gravity: f64,
    warnings: &mut Vec<ImportWarning>,
) -> Result<ContactMaterial, ImportError> {
    let element = &geom.element;
    let Friction { kinds, coefficients } = friction(element)?;
    let acting = |kind: usize| if kind < kinds { coefficients[kind] } else { 0.0 };
    let [mu, torsional_friction, rolling_friction] = [0, 1, 2].map(acting);
    if kinds > 1 {
        let action = "approximated: torsional and rolling friction act only with the closed-form solver";
        warnings.push(element.warn("condim", action).of(WarningKind::Contact));
    }
    let (stiffness, dissipation) = compliance(element, mass, gravity, warnings)?;
    Ok(ContactMaterial {
        restitution: 0.0,
        stiffness,
        dissipation,
        static_friction: mu,
        dynamic_friction: mu,
        torsional_friction,
        rolling_friction,
        friction_rule: FrictionRule::Larger,
        impedance: impedance(element, "solimp")?,
        margin: element.not_negative("margin")?.unwrap_or(0.0),
        priority: priority(element)?,
    })
}

fn priority(element: &Element) -> Result<i32, ImportError> {
    let given = element.integer("priority")?.unwrap_or(0);
    i32::try_from(given).map_err(|_| element.bad("priority", "a number of 32 bits"))
}
