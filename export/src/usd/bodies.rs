//! The bodies of a stage.

use std::collections::BTreeSet;

use nalgebra::{Isometry3, Vector3};
use pliant_render::{BodyShape, RenderBody};

use super::text::{Text, list, number, quoted, tuples};
use crate::solid::{Triangles, linear, tessellate};
use crate::take::Take;

/// Time samples of the bodies' poses, as they are written.
pub struct Motion {
    translations: Vec<String>,
    rotations: Vec<String>,
}

fn triple(v: &Vector3<f64>) -> String {
    format!("({:?}, {:?}, {:?})", v.x, v.y, v.z)
}

fn quaternion(pose: &Isometry3<f64>) -> String {
    let q = pose.rotation;
    format!("({:?}, {:?}, {:?}, {:?})", q.w, q.i, q.j, q.k)
}

impl Motion {
    /// Of so many bodies.
    pub fn new(bodies: usize) -> Self {
        Self { translations: vec![String::new(); bodies], rotations: vec![String::new(); bodies] }
    }

    /// Adds the poses at a time code.
    pub fn add(&mut self, code: f64, poses: &[Isometry3<f64>]) {
        let lists = self.translations.iter_mut().zip(&mut self.rotations);
        for ((translations, rotations), pose) in lists.zip(poses) {
            translations.push_str(&format!("{code:?}: {}, ", triple(&pose.translation.vector)));
            rotations.push_str(&format!("{code:?}: {}, ", quaternion(pose)));
        }
    }
}

/// A name that USD takes, none of `used`.
fn prim_name(name: &str, used: &mut BTreeSet<String>) -> String {
    let mut plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        plain.insert(0, '_');
    }
    let mut made = plain.clone();
    let mut count = 2;
    while !used.insert(made.clone()) {
        made = format!("{plain}_{count}");
        count += 1;
    }
    made
}

/// Writes the bodies below `/World/Bodies`.
pub fn write(stage: &mut Text, take: &Take, motion: &Motion) {
    let mut used = BTreeSet::new();
    stage.line("    def Xform \"Bodies\"\n    {");
    for (at, body) in take.bodies().iter().enumerate() {
        stage.line(format!("        def Xform \"{}\"\n        {{", prim_name(&body.name, &mut used)));
        stage.line(format!("            custom string pliant:name = {}", quoted(&body.name)));
        stage.line(format!(
            "            double3 xformOp:translate.timeSamples = {{ {}}}",
            motion.translations[at]
        ));
        stage.line(format!("            quatd xformOp:orient.timeSamples = {{ {}}}", motion.rotations[at]));
        stage.line("            uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]");
        for (number, shape) in body.shapes.iter().enumerate() {
            write_shape(stage, number, shape);
        }
        stage.line("        }");
    }
    stage.line("    }");
}

/// Kind, attributes, half of the extent and scale of a shape that USD knows.
struct Gprim {
    kind: &'static str,
    attributes: Vec<String>,
    half: Vector3<f64>,
    scale: Option<Vector3<f64>>,
}

fn gprim(shape: &BodyShape) -> Option<Gprim> {
    let along = |radius: f64, half: f64| {
        vec![
            format!("double radius = {}", number(radius)),
            format!("double height = {}", number(2.0 * half)),
            "uniform token axis = \"Z\"".to_owned(),
        ]
    };
    let ones = Vector3::repeat(1.0);
    Some(match shape {
        BodyShape::Sphere { radius } => Gprim {
            kind: "Sphere",
            attributes: vec![format!("double radius = {}", number(radius))],
            half: ones * *radius,
            scale: None,
        },
        BodyShape::Ellipsoid { half_axes } => Gprim {
            kind: "Sphere",
            attributes: vec!["double radius = 1".to_owned()],
            half: ones,
            scale: Some(*half_axes),
        },
        BodyShape::Box { half_extents } => Gprim {
            kind: "Cube",
            attributes: vec!["double size = 2".to_owned()],
            half: ones,
            scale: Some(*half_extents),
        },
        BodyShape::Capsule { radius, half_length } => Gprim {
            kind: "Capsule",
            attributes: along(*radius, *half_length),
            half: Vector3::new(*radius, *radius, half_length + radius),
            scale: None,
        },
        BodyShape::Cylinder { radius, half_length } => Gprim {
            kind: "Cylinder",
            attributes: along(*radius, *half_length),
            half: Vector3::new(*radius, *radius, *half_length),
            scale: None,
        },
        BodyShape::HalfSpace | BodyShape::Mesh { .. } => return None,
    })
}

fn write_shape(stage: &mut Text, number: usize, body: &RenderBody) {
    let mut line = |text: String| stage.line(format!("                {text}"));
    let (kind, attributes, low, high, scale) = match gprim(&body.shape) {
        Some(Gprim { kind, attributes, half, scale }) => (kind, attributes, -half, half, scale),
        None => {
            let mesh = tessellate(&body.shape);
            let (low, high) = extent(&mesh);
            ("Mesh", mesh_attributes(&mesh), low, high, None)
        }
    };
    line(format!("def {kind} \"shape_{number}\"\n                {{"));
    for attribute in attributes {
        line(format!("    {attribute}"));
    }
    line(format!("    float3[] extent = [{}, {}]", triple(&low), triple(&high)));
    let [r, g, b] = body.color.map(linear);
    line(format!("    color3f[] primvars:displayColor = [({r:?}, {g:?}, {b:?})]"));
    line(format!("    double3 xformOp:translate = {}", triple(&body.pose.translation.vector)));
    line(format!("    quatd xformOp:orient = {}", quaternion(&body.pose)));
    let mut order = String::from("\"xformOp:translate\", \"xformOp:orient\"");
    if let Some(scale) = scale {
        line(format!("    double3 xformOp:scale = {}", triple(&scale)));
        order.push_str(", \"xformOp:scale\"");
    }
    line(format!("    uniform token[] xformOpOrder = [{order}]"));
    line("}".to_owned());
}

fn extent(mesh: &Triangles) -> (Vector3<f64>, Vector3<f64>) {
    let Some(first) = mesh.vertices.first() else { return Default::default() };
    let start = (first.coords, first.coords);
    mesh.vertices.iter().fold(start, |(low, high), v| (low.inf(&v.coords), high.sup(&v.coords)))
}

fn mesh_attributes(mesh: &Triangles) -> Vec<String> {
    let points: Vec<f32> = mesh.vertices.iter().flat_map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
    let corners = mesh.corners.iter().flatten().map(|&corner| corner as usize);
    vec![
        format!("point3f[] points = {}", tuples(&points, 3)),
        format!("int[] faceVertexCounts = {}", list(mesh.corners.iter().map(|_| 3))),
        format!("int[] faceVertexIndices = {}", list(corners)),
        "uniform token subdivisionScheme = \"none\"".to_owned(),
        "uniform bool doubleSided = 1".to_owned(),
    ]
}
