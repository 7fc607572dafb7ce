//! The same box from glTF, COLLADA and MSH, with poses, colours and hostile contents.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use base64::Engine as _;
use pliant_geometry::signed_volume;
use pliant_io::mesh::{load_mesh_parts, mean_color, parse_mesh};

const TRIANGLES: [[u32; 3]; 12] = [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
];

/// Corner `i` of a box of 1 x 2 x 3.
fn corner(i: u32) -> [f32; 3] {
    [(i & 1) as f32, 2.0 * (i >> 1 & 1) as f32, 3.0 * (i >> 2 & 1) as f32]
}

fn msh(corners: impl Fn(usize, u32) -> i32) -> Vec<u8> {
    let mut bytes: Vec<u8> = [8, 1, 2, 12].into_iter().flat_map(i32::to_le_bytes).collect();
    let floats = (0..8).flat_map(corner).chain([0.0; 3]).chain([0.0; 4]);
    bytes.extend(floats.flat_map(f32::to_le_bytes));
    let all = TRIANGLES.iter().flatten().enumerate();
    bytes.extend(all.flat_map(|(n, i)| corners(n, *i).to_le_bytes()));
    bytes
}

/// Positions, then indices of 16 bits.
fn buffer() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..8).flat_map(corner).flat_map(f32::to_le_bytes).collect();
    bytes.extend(TRIANGLES.iter().flatten().flat_map(|i| (*i as u16).to_le_bytes()));
    bytes
}

/// A scene whose nodes are `nodes`, the first its root, with the box as mesh 0 in `uri`.
fn gltf(nodes: &str, uri: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{nodes}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1,"material":0}}]}}],
        "materials":[{{"pbrMetallicRoughness":{{"baseColorFactor":[1,0.21404114,0,1]}}}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":8,"type":"VEC3"}},
        {{"bufferView":1,"componentType":5123,"count":36,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":96}},{{"buffer":0,"byteOffset":96,"byteLength":72}}],
        "buffers":[{{"byteLength":168{uri}}}]}}"#
    )
}

fn embedded() -> String {
    let data = base64::engine::general_purpose::STANDARD.encode(buffer());
    format!(r#","uri":"data:application/octet-stream;base64,{data}""#)
}

fn glb(json: &str) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let data = buffer();
    let mut bytes = b"glTF".to_vec();
    for word in [2, (12 + 8 + json.len() + 8 + data.len()) as u32, json.len() as u32] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(b"JSON");
    bytes.extend(&json);
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(data);
    bytes
}

/// A document whose scene has `nodes`; its geometry is the box in `primitives`, without positions.
fn dae(nodes: &str, primitives: &str) -> String {
    let mut positions = String::new();
    (0..8).flat_map(corner).for_each(|x| write!(positions, "{x} ").unwrap());
    format!(
        r##"<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
        <asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
        <library_effects><effect id="e"><profile_COMMON><technique sid="t"><phong><diffuse>
        <color>1 0.5 0 1</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>
        <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
        <library_geometries><geometry id="g"><mesh><source id="s">
        <float_array id="a" count="24">{positions}</float_array><technique_common>
        <accessor source="#a" count="8" stride="3"/></technique_common></source>
        <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>{primitives}
        </mesh></geometry></library_geometries>
        <library_visual_scenes><visual_scene id="all">{nodes}</visual_scene></library_visual_scenes>
        <scene><instance_visual_scene url="#all"/></scene></COLLADA>"##
    )
}

const INSTANCE: &str = r##"<instance_geometry url="#g"><bind_material><technique_common>
    <instance_material symbol="orange" target="#m"/></technique_common></bind_material></instance_geometry>"##;

/// Twelve triangles with a second index for each corner, as of normals.
fn triangles() -> String {
    let mut text = String::from(
        r##"<triangles count="12" material="orange"><input semantic="NORMAL" source="#n" offset="0"/>
        <input semantic="VERTEX" source="#v" offset="1"/><p>"##,
    );
    TRIANGLES.iter().flatten().for_each(|i| write!(text, "0 {i} ").unwrap());
    text + "</p></triangles>"
}

/// Six quads, as a list of polygons and as polygons.
const QUADS: [[u32; 4]; 6] =
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

fn quads(kind: &str) -> String {
    let lists = QUADS.map(|q| q.map(|i| i.to_string()).join(" "));
    let input = r##"<input semantic="VERTEX" source="#v" offset="0"/>"##;
    match kind {
        "polylist" => format!(
            "<polylist count=\"6\" material=\"orange\">{input}<vcount>4 4 4 4 4 4</vcount><p>{}</p></polylist>",
            lists.join(" ")
        ),
        _ => format!(
            "<polygons count=\"6\" material=\"orange\">{input}{}</polygons>",
            lists.map(|list| format!("<p>{list}</p>")).concat()
        ),
    }
}

/// Volume and bounds of a mesh.
fn figures(bytes: &[u8], name: &str) -> (f64, [f64; 3], [f64; 3]) {
    let mesh = parse_mesh(bytes, name, 1.0).unwrap();
    assert_eq!(mesh.vertices.len() * 12, mesh.triangles.len() * 8);
    let (mut low, mut high) = ([f64::MAX; 3], [f64::MIN; 3]);
    for vertex in &mesh.vertices {
        for k in 0..3 {
            low[k] = low[k].min(vertex[k]);
            high[k] = high[k].max(vertex[k]);
        }
    }
    (signed_volume(&mesh.vertices, &mesh.triangles), low, high)
}

/// The message of a mesh that is refused; it names the file.
fn refusal(bytes: impl AsRef<[u8]>, name: &str) -> String {
    let error = parse_mesh(bytes.as_ref(), name, 1.0).unwrap_err().to_string();
    assert!(error.contains(name), "{error}");
    error
}

fn close(found: (f64, [f64; 3], [f64; 3]), volume: f64, low: [f64; 3], high: [f64; 3]) {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
    assert!(near(found.0, volume), "{found:?}, not {volume}");
    for k in 0..3 {
        assert!(near(found.1[k], low[k]) && near(found.2[k], high[k]), "{found:?}, not {low:?} {high:?}");
    }
}

// Checks: volume 6 and the bounds of the box, its outside outside (MuJoCo's documentation, MSH).
#[test]
fn msh_is_read_and_its_counts_and_indices_are_checked() {
    let whole = msh(|_, i| i as i32);
    close(figures(&whole, "a.msh"), 6.0, [0.0; 3], [1.0, 2.0, 3.0]);
    for size in [0, 3, 15, 16, whole.len() - 4, whole.len() - 1] {
        assert!(refusal(&whole[..size], "a.msh").contains("bytes"), "{size}");
    }
    assert!(refusal(msh(|n, i| if n == 7 { 8 } else { i as i32 }), "a.msh").contains("vertex 8 of 8"));
    assert!(refusal(msh(|n, i| if n == 7 { -1 } else { i as i32 }), "a.msh").contains("vertex -1"));
    let mut huge = whole;
    huge[12..16].copy_from_slice(&i32::MAX.to_le_bytes());
    assert!(refusal(&huge, "a.msh").contains("need"));
    huge[12..16].copy_from_slice(&(-1_i32).to_le_bytes());
    assert!(refusal(&huge, "a.msh").contains("negative"));
}

// Checks: transforms of nested nodes (glTF 2.0, section 3.5.3): scale, then turn, then translate;
// mirrored nodes keep their outside (section 3.7.4); base colours are linear (section 3.9.2).
#[test]
fn gltf_nodes_place_the_mesh() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    // A quarter turn about z takes x to y.
    let nodes = format!(
        r#"{{"children":[1],"translation":[10,0,0],"rotation":[0,0,{half:?},{half:?}]}},
        {{"mesh":0,"scale":[2,1,-1]}}"#
    );
    for bytes in [gltf(&nodes, &embedded()).into_bytes(), glb(&gltf(&nodes, ""))] {
        close(figures(&bytes, "a.glb"), 12.0, [8.0, 0.0, -3.0], [10.0, 2.0, 0.0]);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.glb");
    std::fs::write(&path, glb(&gltf(&nodes, ""))).unwrap();
    let read = load_mesh_parts(&path, 1.0).unwrap();
    assert_eq!((read.parts.len(), read.parts[0].color), (1, Some([255, 127, 0])));
    assert_eq!(read.files, [path]);
}

#[test]
fn hostile_gltf_is_refused() {
    let node = r#"{"mesh":0}"#;
    let sound = gltf(node, &embedded());
    parse_mesh(sound.as_bytes(), "a.gltf", 1.0).unwrap();
    for (from, to, said) in [
        (node, r#"{"mesh":0,"children":[0]}"#, "reached twice"),
        (node, r#"{"mesh":0,"children":[5]}"#, "node 5 of 1"),
        (node, r#"{"mesh":3}"#, "mesh 3 of 1"),
        (node, r#"{"mesh":0,"skin":0}"#, "skin"),
        (r#""scene":0"#, r#""scene":9"#, "scene 9 of 1"),
        (r#""count":8"#, r#""count":4000000000"#, "too many"),
        (r#""count":8"#, r#""count":18446744073709551615"#, "too many"),
        (r#""count":8"#, r#""count":9"#, "not within its buffer"),
        (r#""count":8"#, r#""count":7"#, "vertex 7 of 7"),
        (r#""count":36"#, r#""count":37"#, "not within its buffer"),
        (r#""byteOffset":96"#, r#""byteOffset":18446744073709551615"#, "not within its buffer"),
        (r#""byteLength":96"#, r#""byteLength":96,"byteStride":0"#, "not within its buffer"),
        (r#""POSITION":0"#, r#""POSITION":1"#, "not VEC3"),
        (r#""indices":1"#, r#""indices":0"#, "not SCALAR"),
        (r#""material":0"#, r#""mode":5"#, "mode 5"),
        (r#""scene":0"#, r#""extensionsRequired":["KHR_draco_mesh_compression"]"#, "KHR_draco_mesh"),
        (r#"data:application"#, r#"other.bin?"#, "in another file"),
        (r#""scene":0"#, r#""scene":0,"#, "malformed"),
    ] {
        assert!(sound.contains(from), "{from}");
        let error = refusal(sound.replacen(from, to, 1), "a.gltf");
        assert!(error.contains(said), "{to}: {error}");
    }
    let binary = glb(&gltf(node, ""));
    for size in 0..binary.len() {
        refusal(&binary[..size], "a.glb");
    }
    // A node a mesh of ten million vertices would need hours: instances are counted.
    let many: Vec<_> = (1..60_000).map(|_| node).collect();
    let children: Vec<_> = (1..60_000).map(|i: u32| i.to_string()).collect();
    let root = format!(r#"{{"children":[{}]}},{}"#, children.join(","), many.join(","));
    assert!(refusal(gltf(&root, &embedded()), "a.gltf").contains("too many"));
}

// Checks: the unit and the transforms of nested nodes apply from the inside out (COLLADA 1.4.1,
// chapter 5, "node").
#[test]
fn collada_nodes_place_the_mesh() {
    let nodes = r##"<node><translate>10 0 0</translate><rotate>0 0 1 90</rotate>
        <node><matrix>2 0 0 0 0 1 0 0 0 0 -1 0 0 0 0 1</matrix><instance_node url="#leaf"/></node></node>
        <node id="off"/>"##;
    let leaf = format!(r#"<library_nodes><node id="leaf">{INSTANCE}</node></library_nodes><library_visual"#);
    for primitives in [triangles(), quads("polylist"), quads("polygons")] {
        let text = dae(nodes, &primitives).replacen("<library_visual", &leaf, 1);
        close(figures(text.as_bytes(), "a.dae"), 12e-6, [0.08, 0.0, -0.03], [0.1, 0.02, 0.0]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dae");
        std::fs::write(&path, text).unwrap();
        assert_eq!(load_mesh_parts(&path, 1.0).unwrap().parts[0].color, Some([255, 128, 0]));
    }
}

// Checks: z is up (COLLADA 1.4.1, "up_axis": right, up and inwards are x, y, -z; -y, x, -z; x, z, y),
// but where MeshLab wrote the file, which says Y_UP of all axes; the outside stays outside.
#[test]
fn collada_is_turned_until_z_is_up() {
    let tool = |name| format!("<contributor><authoring_tool>{name}</authoring_tool></contributor>");
    for (up, by, low, high) in [
        ("<up_axis>Z_UP</up_axis>", "Blender 2.69.0", [0.0; 3], [0.01, 0.02, 0.03]),
        ("<up_axis>Y_UP</up_axis>", "Blender 2.69.0", [0.0, -0.03, 0.0], [0.01, 0.0, 0.02]),
        ("<up_axis> X_UP </up_axis>", "Blender 2.69.0", [-0.02, -0.03, 0.0], [0.0, 0.0, 0.01]),
        ("<up_axis>Y_UP</up_axis>", "VCGLib | MeshLab", [0.0; 3], [0.01, 0.02, 0.03]),
        ("", "Blender 2.69.0", [0.0; 3], [0.01, 0.02, 0.03]),
    ] {
        let text = dae(&format!("<node>{INSTANCE}</node>"), &triangles());
        let text = text.replacen("<up_axis>Z_UP</up_axis>", up, 1);
        let text = text.replacen("<asset>", &format!("<asset>{}", tool(by)), 1);
        close(figures(text.as_bytes(), "a.dae"), 6e-6, low, high);
    }
}

#[test]
fn hostile_collada_is_refused() {
    let node = format!(r#"<node id="n">{INSTANCE}</node>"#);
    let sound = dae(&node, &triangles());
    parse_mesh(sound.as_bytes(), "a.dae", 1.0).unwrap();
    for (from, to, said) in [
        (INSTANCE, r##"<instance_node url="#n"/>"##, "in a circle"),
        (INSTANCE, r##"<instance_controller url="#n"/>"##, "deformed"),
        (INSTANCE, r##"<instance_geometry url="#s"/>"##, "no geometry '#s'"),
        (INSTANCE, "<lookat>1 2 3 4 5 6 7 8 9</lookat>", "<lookat>"),
        (INSTANCE, "<matrix>1 2</matrix>", "2 numbers instead of 16"),
        ("count=\"8\"", "count=\"9\"", "9 positions"),
        ("count=\"8\"", "count=\"18446744073709551615\"", "positions"),
        ("count=\"8\"", "count=\"7\"", "vertex 7 of 7"),
        ("stride=\"3\"", "stride=\"0\"", "positions of 0 numbers"),
        ("offset=\"1\"", "offset=\"70000\"", "no small number"),
        ("<float_array id=\"a\" count=\"24\">", "<float_array id=\"a\" count=\"24\">x ", "'x' is not"),
        ("<float_array id=\"a\" count=\"24\">", "<float_array id=\"a\" count=\"24\">inf ", "not finite"),
        ("meter=\"0.01\"", "meter=\"-1\"", "not positive"),
        ("<triangles", "<trifans/><triangles", "<trifans>"),
        ("version=\"1.4.1\">", "version=\"1.4.1\">&bad;", "malformed"),
    ] {
        assert!(sound.contains(from), "{from}");
        let error = refusal(sound.replacen(from, to, 1), "a.dae");
        assert!(error.contains(said), "{to}: {error}");
    }
    // Each node names the next twice.
    let mut nodes = String::new();
    for i in 0..40 {
        let next = format!(r##"<instance_node url="#n{}"/>"##, i + 1);
        write!(nodes, r#"<node id="n{i}">{next}{next}</node>"#).unwrap();
    }
    write!(nodes, r#"<node id="n40">{INSTANCE}</node>"#).unwrap();
    assert!(refusal(dae(&nodes, &triangles()), "a.dae").contains("too many"));
    let deep = format!("{}{}", "<node>".repeat(5000), "</node>".repeat(5000));
    assert!(refusal(dae(&deep, &triangles()), "a.dae").contains("nested"));
}

// Checks: the size decides what an STL is, not its first word.
#[test]
fn a_binary_stl_may_begin_with_solid() {
    let mut bytes = vec![b' '; 80];
    bytes[..12].copy_from_slice(b"solid my box");
    bytes.extend(12_u32.to_le_bytes());
    for triangle in TRIANGLES {
        bytes.extend([0; 12]);
        bytes.extend(triangle.into_iter().flat_map(corner).flat_map(f32::to_le_bytes));
        bytes.extend([0; 2]);
    }
    close(figures(&bytes, "a.stl"), 6.0, [0.0; 3], [1.0, 2.0, 3.0]);
}

// Checks: Kd of the bound material; a texture has its mean, weighted by opacity; names that lead
// out of the folder are not followed.
#[test]
fn obj_parts_have_the_colors_of_their_materials() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let mut png = std::io::Cursor::new(Vec::new());
    let pixels = [[0, 100, 0, 255], [200, 0, 0, 255], [255, 255, 255, 0], [100, 200, 30, 255]];
    let picture = image::RgbaImage::from_fn(2, 2, |x, y| image::Rgba(pixels[(2 * y + x) as usize]));
    picture.write_to(&mut png, image::ImageFormat::Png).unwrap();
    assert_eq!(mean_color(png.get_ref()), Some([100, 100, 10]));
    assert_eq!(mean_color(&png.get_ref()[..40]), None);
    // A JPEG keeps a plain colour to the rounding of its three channels.
    let mut jpeg = std::io::Cursor::new(Vec::new());
    let plain = image::RgbImage::from_pixel(16, 16, image::Rgb([200, 60, 30]));
    plain.write_to(&mut jpeg, image::ImageFormat::Jpeg).unwrap();
    let mean = mean_color(jpeg.get_ref()).unwrap();
    assert!(mean.iter().zip([200, 60, 30]).all(|(a, b)| a.abs_diff(b) <= 4), "{mean:?}");
    std::fs::write(inside.join("a.png"), png.get_ref()).unwrap();
    let materials = "newmtl red\nKd 1 0 0.5\nnewmtl seen\nKd 1 1 1\nmap_Kd a.png\n";
    let text = "mtllib MTL\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\nusemtl seen\nf 1 3 2\n";
    let path = inside.join("a.obj");
    for (name, place, colors) in [
        ("a.mtl", &inside, [Some([255, 0, 128]), Some([100, 100, 10])]),
        ("../b.mtl", &folder.path().to_path_buf(), [None, None]),
        ("missing.mtl", &inside, [None, None]),
    ] {
        std::fs::write(&path, text.replace("MTL", name)).unwrap();
        if !name.starts_with("missing") {
            std::fs::write(place.join(name.trim_start_matches("../")), materials).unwrap();
        }
        let read = load_mesh_parts(&path, 1.0).unwrap();
        let found: Vec<_> = read.parts.iter().map(|part| part.color).collect();
        match colors {
            [None, None] => {
                assert!(found.iter().all(Option::is_none) && read.files.len() == 1, "{name}: {read:?}")
            }
            _ => {
                assert_eq!(found, colors);
                let names = ["a.obj", "a.mtl", "a.png"].map(|name| inside.join(name));
                assert_eq!(read.files, names);
            }
        }
    }
}

// Checks: a malformed line of a material, of colours or of what is not read, costs no other colour
// and stops nothing.
#[test]
fn malformed_materials_lose_their_own_colors_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    let text = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\nusemtl bad\nf 1 3 2\n";
    std::fs::write(&path, text).unwrap();
    for bad in ["Kd 1 0", "Kd", "Kd 1 0 x", "Ks 1", "Ka spectral a.rfl", "Ns many", "map_Kd", "Kd nan 0 0"] {
        let materials = format!("newmtl bad\n{bad}\nnewmtl red\nKd 1 0 0.5\n{bad}\n");
        std::fs::write(folder.path().join("a.mtl"), materials).unwrap();
        let found: Vec<_> = load_mesh_parts(&path, 1.0).unwrap().parts.iter().map(|p| p.color).collect();
        assert_eq!(found, [Some([255, 0, 128]), None], "{bad}");
    }
}

// Checks: faces before their vertices are read with materials as without, in one part.
#[test]
fn faces_before_their_vertices_are_read_with_materials() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    let text = "mtllib a.mtl\nusemtl red\nf 1 2 3\nusemtl blue\nv 0 0 0\nv 1 0 0\nv 0 1 0\n";
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("a.mtl"), "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n").unwrap();
    let read = load_mesh_parts(&path, 1.0).unwrap();
    assert_eq!(read.parts.len(), 1);
    assert_eq!(read.parts[0].mesh.triangles.len(), 1);
}
