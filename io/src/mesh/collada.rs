//! COLLADA 1.4 and 1.5: the triangles of the visual scene, in metres.
//!
//! The format is Khronos' COLLADA 1.4.1 specification (2008). Of the scene only nodes, their
//! transforms and instances of geometries are read, and turned so that z is up
//! (`docs/decisions/0187-colours-and-axes-of-meshes.md`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use nalgebra::{Matrix3, Matrix4, Point3, Rotation3, Unit, Vector3};
use roxmltree::{Document, Node, NodeId};

use super::color;
use super::raw::{Beside, Budget, RawPart};

/// Deepest nesting of nodes and of the nodes that these name.
const DEEPEST: usize = 64;

/// Triangles of a geometry with one symbol of a material.
struct Triangles<'a> {
    positions: Vec<Point3<f64>>,
    triangles: Vec<[u32; 3]>,
    symbol: &'a str,
}

struct Reader<'a, 'b> {
    ids: HashMap<&'a str, Node<'a, 'a>>,
    geometries: HashMap<NodeId, Rc<Vec<Triangles<'a>>>>,
    colors: HashMap<NodeId, Option<[u8; 3]>>,
    budget: Budget,
    beside: Beside<'b>,
    parts: Vec<RawPart>,
}

/// The geometries of the scene, placed by their nodes.
pub(super) fn parse(bytes: &[u8], beside: Beside<'_>) -> Result<Vec<RawPart>, String> {
    let text = str::from_utf8(bytes).map_err(|e| e.to_string())?;
    // A mark of the byte order is no XML.
    let document = Document::parse(text.trim_start_matches('\u{feff}')).map_err(|e| e.to_string())?;
    let root = document.root_element();
    if !is(&root, "COLLADA") {
        return Err(format!("its root element is <{}>, not <COLLADA>", root.tag_name().name()));
    }
    let mut reader = Reader {
        ids: root.descendants().filter_map(|n| Some((n.attribute("id")?, n))).collect(),
        geometries: HashMap::new(),
        colors: HashMap::new(),
        budget: Budget::of(bytes),
        beside,
        parts: Vec::new(),
    };
    let frame = unit(root)? * upright(root);
    let instance = child(root, "scene").and_then(|scene| child(scene, "instance_visual_scene"));
    let scene = match instance {
        Some(instance) => Some(reader.target(instance, "url", "visual_scene")?),
        None => child(root, "library_visual_scenes").and_then(|library| child(library, "visual_scene")),
    };
    match scene {
        Some(scene) => reader.nodes(scene, &frame, 0)?,
        // A file of geometries only.
        None => {
            for geometry in all(root, "library_geometries").flat_map(|library| all(library, "geometry")) {
                reader.place(geometry, None, &frame)?;
            }
        }
    }
    Ok(reader.parts)
}

fn is(node: &Node<'_, '_>, name: &str) -> bool {
    node.tag_name().name() == name
}

fn all<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| is(child, name))
}

fn child<'a>(node: Node<'a, 'a>, name: &'static str) -> Option<Node<'a, 'a>> {
    all(node, name).next()
}

fn fail(node: Node<'_, '_>, reason: impl std::fmt::Display) -> String {
    let row = node.document().text_pos_at(node.range().start).row;
    format!("line {row}: <{}>: {reason}", node.tag_name().name())
}

/// The text of an element, `<![CDATA[` included.
fn text<'a>(node: Node<'a, 'a>) -> &'a str {
    node.text().unwrap_or_default()
}

fn numbers<T: std::str::FromStr>(node: Node<'_, '_>) -> Result<Vec<T>, String> {
    let parse = |word: &str| word.parse().map_err(|_| fail(node, format!("'{word}' is not such a number")));
    text(node).split_whitespace().map(parse).collect()
}

fn array<const N: usize>(node: Node<'_, '_>) -> Result<[f64; N], String> {
    let found = numbers::<f64>(node)?;
    let count = found.len();
    found.try_into().map_err(|_| fail(node, format!("{count} numbers instead of {N}")))
}

/// Metres for each unit of the file.
fn unit(root: Node<'_, '_>) -> Result<Matrix4<f64>, String> {
    let unit = child(root, "asset").and_then(|asset| child(asset, "unit"));
    let Some((unit, metre)) = unit.and_then(|unit| Some((unit, unit.attribute("meter")?))) else {
        return Ok(Matrix4::identity());
    };
    match metre.trim().parse::<f64>() {
        Ok(metre) if metre > 0.0 && metre.is_finite() => Ok(Matrix4::new_scaling(metre)),
        _ => Err(fail(unit, format!("meter '{metre}' is not positive"))),
    }
}

/// The turn that puts the axis that is up in the file along z (COLLADA 1.4.1, `up_axis`): the
/// identity where the file does not say, or MeshLab does. Its exporter (VCGLib) writes `Y_UP` beside
/// axes that it has not turned, whatever they are.
fn upright(root: Node<'_, '_>) -> Matrix4<f64> {
    let asset = child(root, "asset");
    let tools = asset.into_iter().flat_map(|asset| all(asset, "contributor"));
    let tool = tools.filter_map(|contributor| child(contributor, "authoring_tool")).map(text).next();
    let up = asset.and_then(|asset| child(asset, "up_axis")).map(|up| text(up).trim());
    // Columns are where x, y and z go.
    let [x, y, z] = match up {
        _ if tool.is_some_and(|tool| tool.contains("VCGLib")) => return Matrix4::identity(),
        Some("X_UP") => [Vector3::z(), -Vector3::x(), -Vector3::y()],
        Some("Y_UP") => [Vector3::x(), Vector3::z(), -Vector3::y()],
        _ => return Matrix4::identity(),
    };
    Matrix3::from_columns(&[x, y, z]).to_homogeneous()
}

impl<'a> Reader<'a, '_> {
    /// The element of a kind that an attribute names.
    fn target(&self, node: Node<'a, 'a>, attribute: &str, kind: &str) -> Result<Node<'a, 'a>, String> {
        let name = node.attribute(attribute).unwrap_or_default();
        let found = name.strip_prefix('#').and_then(|id| self.ids.get(id)).filter(|n| is(n, kind));
        found.copied().ok_or_else(|| fail(node, format!("there is no {kind} '{name}' in the file")))
    }

    /// The nodes in a scene or a node.
    fn nodes(&mut self, parent: Node<'a, 'a>, frame: &Matrix4<f64>, depth: usize) -> Result<(), String> {
        all(parent, "node").try_for_each(|node| self.node(node, frame, depth))
    }

    fn node(&mut self, node: Node<'a, 'a>, frame: &Matrix4<f64>, depth: usize) -> Result<(), String> {
        if depth == DEEPEST {
            return Err(fail(node, format!("more than {DEEPEST} nested nodes, or nodes in a circle")));
        }
        // Nodes may be named more than once.
        self.budget.spend(1)?;
        let mut frame = *frame;
        for element in node.children().filter(Node::is_element) {
            if let Some(transform) = transform(element)? {
                frame *= transform;
            }
        }
        for element in node.children().filter(Node::is_element) {
            match element.tag_name().name() {
                "instance_geometry" => {
                    let geometry = self.target(element, "url", "geometry")?;
                    self.place(geometry, Some(element), &frame)?;
                }
                "instance_node" => {
                    let other = self.target(element, "url", "node")?;
                    self.node(other, &frame, depth + 1)?;
                }
                "instance_controller" => {
                    return Err(fail(element, "meshes that are deformed are not read"));
                }
                _ => {}
            }
        }
        self.nodes(node, &frame, depth + 1)
    }

    /// Adds a geometry; `instance` binds its materials.
    fn place(
        &mut self,
        geometry: Node<'a, 'a>,
        instance: Option<Node<'a, 'a>>,
        frame: &Matrix4<f64>,
    ) -> Result<(), String> {
        let known = self.geometries.get(&geometry.id()).cloned();
        let parts = match known {
            Some(parts) => parts,
            None => {
                let parts = Rc::new(self.geometry(geometry)?);
                self.geometries.insert(geometry.id(), parts.clone());
                parts
            }
        };
        let mirrored = frame.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        for part in parts.iter() {
            self.budget.spend(1 + part.positions.len() + part.triangles.len())?;
            let positions = part.positions.iter().map(|p| frame.transform_point(p).into()).collect();
            let mut triangles = part.triangles.clone();
            // A reflection turns the surface inside out.
            if mirrored {
                triangles.iter_mut().for_each(|t| t.swap(1, 2));
            }
            let color = instance.and_then(|instance| self.color(instance, part.symbol));
            self.parts.push(RawPart { positions, triangles, color });
        }
        Ok(())
    }

    /// The triangles of a geometry, in its own frame.
    fn geometry(&mut self, geometry: Node<'a, 'a>) -> Result<Vec<Triangles<'a>>, String> {
        let Some(mesh) = child(geometry, "mesh") else {
            return Err(fail(geometry, "only those with a <mesh> are read"));
        };
        let mut parts = Vec::new();
        let mut positions = HashMap::new();
        for primitive in mesh.children().filter(Node::is_element) {
            match primitive.tag_name().name() {
                "triangles" | "polylist" | "polygons" => {}
                "tristrips" | "trifans" => return Err(fail(primitive, "strips and fans are not read")),
                _ => continue,
            }
            let mut stride = 0;
            let mut vertex = None;
            for input in all(primitive, "input") {
                let offset = input.attribute("offset").unwrap_or("0").parse::<u16>();
                let offset = usize::from(offset.map_err(|_| fail(input, "its offset is no small number"))?);
                stride = stride.max(offset + 1);
                if input.attribute("semantic") == Some("VERTEX") {
                    vertex = Some((input, offset));
                }
            }
            let Some((input, offset)) = vertex else { continue };
            let vertices = self.target(input, "source", "vertices")?;
            let place = all(vertices, "input").find(|i| i.attribute("semantic") == Some("POSITION"));
            let place = place.ok_or_else(|| fail(vertices, "there are no positions"))?;
            let source = self.target(place, "source", "source")?;
            let positions = match positions.entry(source.id()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(self.positions(source)?),
            };
            let triangles = corners(primitive, stride, offset, positions.len())?;
            // Several primitives may share their positions.
            self.budget.spend(positions.len() + triangles.len())?;
            let symbol = primitive.attribute("material").unwrap_or_default();
            parts.push(Triangles { positions: positions.clone(), triangles, symbol });
        }
        Ok(parts)
    }

    fn positions(&self, source: Node<'a, 'a>) -> Result<Vec<Point3<f64>>, String> {
        let accessor = child(source, "technique_common").and_then(|common| child(common, "accessor"));
        let accessor = accessor.ok_or_else(|| fail(source, "there is no accessor"))?;
        let number = |name: &str, default: usize| match accessor.attribute(name) {
            None => Ok(default),
            Some(text) => text.parse::<usize>().map_err(|_| fail(accessor, format!("{name} '{text}'"))),
        };
        let (count, stride, offset) = (number("count", 0)?, number("stride", 1)?, number("offset", 0)?);
        let values = numbers::<f64>(self.target(accessor, "source", "float_array")?)?;
        let last = count.checked_mul(stride).and_then(|n| n.checked_add(offset));
        if stride < 3 || last.is_none_or(|last| last > values.len()) {
            let reason = format!("{count} positions of {stride} numbers from {offset}, of {}", values.len());
            return Err(fail(accessor, reason));
        }
        let positions = values[offset..].chunks_exact(stride).take(count);
        Ok(positions.map(|p| Point3::new(p[0], p[1], p[2])).collect())
    }

    /// The diffuse colour of a material, or the mean of its texture.
    fn color(&mut self, instance: Node<'a, 'a>, symbol: &str) -> Option<[u8; 3]> {
        let bind = child(child(instance, "bind_material")?, "technique_common")?;
        let bound = all(bind, "instance_material").find(|m| m.attribute("symbol") == Some(symbol))?;
        let material = self.target(bound, "target", "material").ok()?;
        if let Some(known) = self.colors.get(&material.id()) {
            return *known;
        }
        let color = self.diffuse(material);
        self.colors.insert(material.id(), color);
        color
    }

    fn diffuse(&mut self, material: Node<'a, 'a>) -> Option<[u8; 3]> {
        let effect = self.target(child(material, "instance_effect")?, "url", "effect").ok()?;
        let profile = child(effect, "profile_COMMON")?;
        let shader = child(profile, "technique")?;
        let diffuse = shader.children().find_map(|kind| child(kind, "diffuse"))?;
        if let Some(color) = child(diffuse, "color") {
            let rgba = numbers::<f64>(color).ok()?;
            return Some(color::bytes([*rgba.first()?, *rgba.get(1)?, *rgba.get(2)?]));
        }
        // The texture names a sampler, that a surface, that an image, and that a file.
        let parameter = |name: &str| all(profile, "newparam").find(|p| p.attribute("sid") == Some(name));
        let sampler = parameter(child(diffuse, "texture")?.attribute("texture")?)?;
        let surface = parameter(text(child(child(sampler, "sampler2D")?, "source")?).trim())?;
        let image = text(child(child(surface, "surface")?, "init_from")?).trim();
        let file = text(child(*self.ids.get(image).filter(|n| is(n, "image"))?, "init_from")?).trim();
        color::mean_color(&(self.beside)(file)?)
    }
}

/// A transform of a node, or `None` if the element is something else.
fn transform(element: Node<'_, '_>) -> Result<Option<Matrix4<f64>>, String> {
    Ok(Some(match element.tag_name().name() {
        "matrix" => Matrix4::from_row_slice(&array::<16>(element)?),
        "translate" => Matrix4::new_translation(&Vector3::from(array::<3>(element)?)),
        "scale" => Matrix4::new_nonuniform_scaling(&Vector3::from(array::<3>(element)?)),
        "rotate" => {
            let [x, y, z, degrees] = array::<4>(element)?;
            match Unit::try_new(Vector3::new(x, y, z), 1e-12) {
                Some(axis) => Rotation3::from_axis_angle(&axis, degrees.to_radians()).to_homogeneous(),
                None => Matrix4::identity(),
            }
        }
        "lookat" | "skew" => return Err(fail(element, "this transform is not read")),
        _ => return Ok(None),
    }))
}

/// The triangles of a primitive, its polygons cut into fans.
fn corners(
    primitive: Node<'_, '_>,
    stride: usize,
    offset: usize,
    vertices: usize,
) -> Result<Vec<[u32; 3]>, String> {
    let mut triangles = Vec::new();
    let mut fan = |polygon: &[u32]| {
        let at = |corner: usize| polygon[corner * stride + offset];
        let count = polygon.len() / stride;
        triangles.extend((2..count).map(|i| [at(0), at(i - 1), at(i)]));
    };
    if child(primitive, "ph").is_some() {
        return Err(fail(primitive, "polygons with holes are not read"));
    }
    let counts = match child(primitive, "vcount") {
        Some(counts) => Some(numbers::<u32>(counts)?),
        None if is(&primitive, "polylist") => return Err(fail(primitive, "there is no <vcount>")),
        None => None,
    };
    for list in all(primitive, "p") {
        let indices = numbers::<u32>(list)?;
        match (&counts, primitive.tag_name().name()) {
            (Some(counts), "polylist") => {
                let mut rest = &indices[..];
                for count in counts {
                    let length = (*count as usize).checked_mul(stride).filter(|n| *n <= rest.len());
                    let length = length.ok_or_else(|| fail(list, "fewer indices than <vcount> says"))?;
                    fan(&rest[..length]);
                    rest = &rest[length..];
                }
            }
            (_, "polygons") => fan(&indices),
            _ => indices.chunks_exact(3 * stride).for_each(&mut fan),
        }
    }
    match triangles.iter().flatten().find(|i| **i as usize >= vertices) {
        Some(bad) => Err(fail(primitive, format!("vertex {bad} of {vertices}"))),
        None => Ok(triangles),
    }
}
