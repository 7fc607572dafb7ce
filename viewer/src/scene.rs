//! What of a run does not change from frame to frame, as JSON for the page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nalgebra::{Point3, Unit, Vector3};
use pliant_render::{BodyShape, RenderBody, viridis};
use pliant_runner::recording::{RecordedBody, Recording};
use serde_json::{Value, json};

/// How the run stands: name, frames so far and their times, how it ended, scale of the forces.
pub(crate) fn status(recording: &Recording, generation: u64) -> Value {
    let times: Vec<f64> = recording.frames().iter().map(|row| row.time).collect();
    let manifest = recording.manifest();
    json!({
        "name": recording.scene().name,
        "generation": generation,
        "frames": recording.frame_count(),
        "times": times,
        "status": manifest.map_or("running".to_owned(), |manifest| manifest.status.to_string()),
        "failure": manifest.and_then(|manifest| manifest.error.clone()),
        "warnings": manifest.map(|manifest| manifest.warnings.clone()).unwrap_or_default(),
        "force_scale": force_scale(recording),
    })
}

/// A force that most frames do not exceed on any body \[N\]: the 95th percentile of the largest of
/// each frame. An impact of one frame would make all other arrows vanish. Null without forces.
fn force_scale(recording: &Recording) -> Option<f64> {
    let largest = |frame: usize| {
        let wrenches = recording.body_rows(frame).iter().flat_map(|row| [&row.particles, &row.contacts]);
        wrenches.flatten().map(|w| w.force.norm()).filter(|f| f.is_finite()).fold(0.0, f64::max)
    };
    let mut forces: Vec<f64> =
        (0..recording.frame_count()).map(largest).filter(|force| *force > 0.0).collect();
    forces.sort_by(f64::total_cmp);
    forces.get(forces.len().saturating_sub(1) * 95 / 100).copied()
}

/// Bodies, planes, gravity, camera and colour scale of a run.
pub(crate) fn describe(recording: &Recording) -> Value {
    let scene = recording.scene();
    let plane = |(point, normal): (Point3<f64>, Unit<Vector3<f64>>)| {
        let (p, n) = (point.coords, normal.into_inner());
        json!({ "point": [p.x, p.y, p.z], "normal": [n.x, n.y, n.z] })
    };
    let camera = scene.output.camera.as_ref().map(|camera| {
        json!({ "position": camera.position, "target": camera.target, "field_of_view": camera.field_of_view })
    });
    let named = scene.materials.keys().cloned();
    json!({
        "name": scene.name,
        "description": scene.description,
        "duration": scene.duration,
        "gravity": scene.gravity,
        "bodies": recording.bodies().iter().map(body).collect::<Vec<_>>(),
        "planes": recording.planes().into_iter().map(plane).collect::<Vec<_>>(),
        "camera": camera,
        "materials": named.collect::<Vec<_>>(),
        "colour_scale": STANDARD.encode(colour_scale()),
    })
}

/// 256 colours of the scale that pictures use too: red, green, blue.
fn colour_scale() -> Vec<u8> {
    (0..256_u16).flat_map(|step| viridis(f32::from(step) / 255.0)).collect()
}

fn body(body: &RecordedBody) -> Value {
    json!({ "name": body.name, "shapes": body.shapes.iter().map(shape).collect::<Vec<_>>() })
}

/// A shape with its pose in the body's frame, as `[x, y, z, qw, qx, qy, qz]`.
fn shape(shape: &RenderBody) -> Value {
    let (p, q) = (shape.pose.translation.vector, shape.pose.rotation);
    let mut value = geometry(&shape.shape);
    value["pose"] = json!([p.x, p.y, p.z, q.w, q.i, q.j, q.k]);
    value["colour"] = json!(shape.color);
    value["marked"] = json!(shape.marked);
    value
}

fn geometry(shape: &BodyShape) -> Value {
    match shape {
        BodyShape::Sphere { radius } => json!({ "kind": "sphere", "radius": radius }),
        BodyShape::Box { half_extents: h } => json!({ "kind": "box", "half": [h.x, h.y, h.z] }),
        BodyShape::Capsule { radius, half_length } => {
            json!({ "kind": "capsule", "radius": radius, "half_length": half_length })
        }
        BodyShape::Cylinder { radius, half_length } => {
            json!({ "kind": "cylinder", "radius": radius, "half_length": half_length })
        }
        BodyShape::Ellipsoid { half_axes: h } => json!({ "kind": "ellipsoid", "half": [h.x, h.y, h.z] }),
        BodyShape::HalfSpace => json!({ "kind": "half-space" }),
        BodyShape::Mesh { vertices, triangles, smooth } => {
            let coordinates = vertices.iter().flat_map(|v| [v.x as f32, v.y as f32, v.z as f32]);
            let vertices: Vec<u8> = coordinates.flat_map(f32::to_le_bytes).collect();
            let corners: Vec<u8> = triangles.iter().flatten().flat_map(|c| c.to_le_bytes()).collect();
            json!({
                "kind": "mesh",
                "vertices": STANDARD.encode(vertices),
                "triangles": STANDARD.encode(corners),
                "smooth": smooth,
            })
        }
    }
}
