//! glTF 2.0, as text (`.gltf`) and binary (`.glb`): the triangles of the default scene.
//!
//! The format is Khronos' glTF 2.0 specification (2021). Buffers are those within the file; other
//! files are refused. The axes stay those of the file, with y up, as robot files take them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nalgebra::{Matrix4, Point3, Quaternion, UnitQuaternion, Vector3};
use serde::Deserialize;

use super::color;
use super::raw::{Budget, RawPart};

/// Extensions that change only how surfaces are lit.
const LIGHT: [&str; 4] = ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_"];

const F32: u32 = 5126;
const TRIANGLES: u32 = 4;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    scene: Option<usize>,
    #[serde(default)]
    scenes: Vec<Scene>,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    meshes: Vec<Mesh>,
    #[serde(default)]
    accessors: Vec<Accessor>,
    #[serde(default)]
    buffer_views: Vec<View>,
    #[serde(default)]
    buffers: Vec<Buffer>,
    #[serde(default)]
    materials: Vec<Material>,
    #[serde(default)]
    extensions_required: Vec<String>,
}

#[derive(Deserialize)]
struct Scene {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    children: Vec<usize>,
    mesh: Option<usize>,
    skin: Option<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    /// x, y, z, w.
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
struct Mesh {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    material: Option<usize>,
    mode: Option<u32>,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    count: usize,
    #[serde(rename = "type")]
    shape: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

#[derive(Deserialize)]
struct Buffer {
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Material {
    pbr_metallic_roughness: Option<Surface>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Surface {
    base_color_factor: Option<[f64; 4]>,
}

/// The primitives of the default scene, placed by their nodes.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<RawPart>, String> {
    let (json, blob) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let document: Document = serde_json::from_slice(json).map_err(|e| e.to_string())?;
    let effective = |name: &&String| !LIGHT.iter().any(|light| name.starts_with(light));
    if let Some(name) = document.extensions_required.iter().find(effective) {
        return Err(format!("it requires the extension {name}, which is not read"));
    }
    let buffers = document.buffers.iter().enumerate();
    let buffers = buffers.map(|(i, b)| buffer(b, i, blob)).collect::<Result<Vec<_>, _>>()?;
    let mut reader = Reader { document: &document, buffers, budget: Budget::of(bytes), parts: Vec::new() };
    reader.scene()?;
    Ok(reader.parts)
}

/// The JSON and the binary chunk of a `.glb` (section "GLB File Format Specification").
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    let word = |at: usize| {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk().copied());
        word.map(u32::from_le_bytes).ok_or_else(|| format!("it ends after {} bytes", bytes.len()))
    };
    if word(4)? != 2 {
        return Err(format!("version {} of glTF is not read, only 2", word(4)?));
    }
    let chunk = |at: usize| {
        let end = at.saturating_add(8).saturating_add(word(at)? as usize);
        let body = bytes.get(at + 8..end).ok_or_else(|| format!("the chunk at byte {at} is cut"))?;
        Ok::<_, String>((word(at + 4)?.to_le_bytes(), body, end))
    };
    let (kind, json, end) = chunk(12)?;
    if &kind != b"JSON" {
        return Err("its first chunk is not JSON".to_owned());
    }
    let blob = if end + 8 <= bytes.len() { Some(chunk(end)?) } else { None };
    Ok((json, blob.filter(|(kind, ..)| kind == b"BIN\0").map(|(_, body, _)| body)))
}

fn buffer<'a>(
    buffer: &Buffer,
    number: usize,
    blob: Option<&'a [u8]>,
) -> Result<std::borrow::Cow<'a, [u8]>, String> {
    let Some(uri) = &buffer.uri else {
        return blob.map(Into::into).ok_or_else(|| format!("buffer {number} has neither a uri nor a chunk"));
    };
    let Some((kind, data)) = uri.strip_prefix("data:").and_then(|rest| rest.split_once(',')) else {
        return Err(format!("buffer {number} is in another file, {uri}; only embedded buffers are read"));
    };
    if !kind.ends_with(";base64") {
        return Err(format!("buffer {number} is not base64"));
    }
    STANDARD.decode(data).map(Into::into).map_err(|e| format!("buffer {number}: {e}"))
}

struct Reader<'a> {
    document: &'a Document,
    buffers: Vec<std::borrow::Cow<'a, [u8]>>,
    budget: Budget,
    parts: Vec<RawPart>,
}

fn item<'a, T>(items: &'a [T], index: usize, what: &str) -> Result<&'a T, String> {
    items.get(index).ok_or_else(|| format!("{what} {index} of {}", items.len()))
}

impl Reader<'_> {
    fn scene(&mut self) -> Result<(), String> {
        let document = self.document;
        let mut children = vec![false; document.nodes.len()];
        for child in document.nodes.iter().flat_map(|node| &node.children) {
            *children.get_mut(*child).ok_or_else(|| format!("node {child} of {}", document.nodes.len()))? =
                true;
        }
        let roots: Vec<usize> = match (document.scene, document.scenes.is_empty()) {
            (None, true) => (0..children.len()).filter(|i| !children[*i]).collect(),
            (scene, _) => item(&document.scenes, scene.unwrap_or(0), "scene")?.nodes.clone(),
        };
        let mut seen = vec![false; document.nodes.len()];
        let mut left: Vec<_> = roots.into_iter().rev().map(|root| (root, Matrix4::identity())).collect();
        while let Some((index, parent)) = left.pop() {
            let node = item(&document.nodes, index, "node")?;
            // The nodes are a forest.
            if std::mem::replace(&mut seen[index], true) {
                return Err(format!("node {index} is reached twice"));
            }
            let pose = parent * local(node);
            if let Some(mesh) = node.mesh {
                if node.skin.is_some() {
                    return Err(format!("node {index} has a skin; meshes that are deformed are not read"));
                }
                let mesh = item(&document.meshes, mesh, "mesh")?;
                for primitive in &mesh.primitives {
                    self.primitive(primitive, &pose)?;
                }
            }
            left.extend(node.children.iter().rev().map(|child| (*child, pose)));
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: &Primitive, pose: &Matrix4<f64>) -> Result<(), String> {
        match primitive.mode.unwrap_or(TRIANGLES) {
            // Points and lines have no surface.
            0..=3 => return Ok(()),
            TRIANGLES => {}
            mode => return Err(format!("primitives of mode {mode} (strips, fans) are not read")),
        }
        let Some(position) = primitive.attributes.position else { return Ok(()) };
        let positions = self.positions(position, pose)?;
        let count = positions.len();
        let indices = match primitive.indices {
            Some(indices) => self.indices(indices, count)?,
            None => (0..count as u32).collect(),
        };
        let mut triangles = indices.as_chunks::<3>().0.to_vec();
        // A reflection turns the surface inside out (section 3.7.4).
        if pose.fixed_view::<3, 3>(0, 0).determinant() < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let material = primitive.material.and_then(|i| self.document.materials.get(i));
        let factor = material.and_then(|m| m.pbr_metallic_roughness.as_ref()?.base_color_factor);
        let color = factor.map(|[r, g, b, _]| color::bytes([r, g, b].map(color::encoded)));
        self.parts.push(RawPart { positions, triangles, color });
        Ok(())
    }

    fn positions(&mut self, index: usize, pose: &Matrix4<f64>) -> Result<Vec<[f64; 3]>, String> {
        let accessor = item(&self.document.accessors, index, "accessor")?;
        if accessor.component_type != F32 || accessor.shape != "VEC3" {
            return Err(format!("positions in accessor {index} are not VEC3 of f32"));
        }
        self.budget.spend(accessor.count)?;
        let elements = self.elements::<12>(accessor, index)?;
        Ok(elements
            .map(|bytes| {
                let (words, _) = bytes.as_chunks::<4>();
                let [x, y, z] = [words[0], words[1], words[2]].map(|w| f64::from(f32::from_le_bytes(w)));
                pose.transform_point(&Point3::new(x, y, z)).into()
            })
            .collect())
    }

    fn indices(&mut self, index: usize, vertices: usize) -> Result<Vec<u32>, String> {
        let accessor = item(&self.document.accessors, index, "accessor")?;
        if accessor.shape != "SCALAR" {
            return Err(format!("indices in accessor {index} are not SCALAR"));
        }
        self.budget.spend(accessor.count)?;
        let indices: Vec<u32> = match accessor.component_type {
            5121 => self.elements::<1>(accessor, index)?.map(|[b]| u32::from(b)).collect(),
            5123 => self.elements::<2>(accessor, index)?.map(|b| u32::from(u16::from_le_bytes(b))).collect(),
            5125 => self.elements::<4>(accessor, index)?.map(u32::from_le_bytes).collect(),
            other => return Err(format!("indices in accessor {index} have the type {other}")),
        };
        match indices.iter().find(|i| **i as usize >= vertices) {
            Some(bad) => Err(format!("accessor {index}: vertex {bad} of {vertices}")),
            None => Ok(indices),
        }
    }

    /// The elements of an accessor, all within its buffer.
    fn elements<const N: usize>(
        &self,
        accessor: &Accessor,
        index: usize,
    ) -> Result<impl Iterator<Item = [u8; N]>, String> {
        let Some(view) = accessor.buffer_view.filter(|_| accessor.sparse.is_none()) else {
            return Err(format!("accessor {index} is sparse or has no data, which is not read"));
        };
        let view = item(&self.document.buffer_views, view, "buffer view")?;
        let buffer = item(&self.buffers, view.buffer, "buffer")?;
        let within = || {
            let data = buffer.get(view.byte_offset..view.byte_offset.checked_add(view.byte_length)?)?;
            let stride = view.byte_stride.unwrap_or(N);
            let start = data.get(accessor.byte_offset..)?;
            let last =
                accessor.count.checked_sub(1).map_or(Some(0), |n| n.checked_mul(stride)?.checked_add(N))?;
            (stride >= N && last <= start.len()).then_some((start, stride))
        };
        let (data, stride) = within().ok_or_else(|| format!("accessor {index} is not within its buffer"))?;
        // `chunks` keeps the last element, which may be shorter than the stride.
        let elements = data.chunks(stride).take(accessor.count);
        Ok(elements.filter_map(|element| element.first_chunk().copied()))
    }
}

/// Pose and scale of a node in its parent's frame.
fn local(node: &Node) -> Matrix4<f64> {
    if let Some(matrix) = &node.matrix {
        return Matrix4::from_column_slice(matrix);
    }
    let [x, y, z, w] = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let turn = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-12).unwrap_or_default();
    let translation = Vector3::from(node.translation.unwrap_or_default());
    let scale = Vector3::from(node.scale.unwrap_or([1.0; 3]));
    Matrix4::new_translation(&translation) * turn.to_homogeneous() * Matrix4::new_nonuniform_scaling(&scale)
}
