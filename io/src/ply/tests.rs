//! Back colours in the header, and the names of types.

use std::path::Path;

use super::{FrameFields, FrameParticle, FrameTriangles, encode_frame, parse_frame};

fn encoded(backs: &[[u8; 3]]) -> Vec<u8> {
    let corners: Vec<[u32; 3]> = vec![[0, 1, 2]; backs.len()];
    let particles = [FrameParticle { material: 300, color: [200, 3, 4], ..FrameParticle::default() }; 3];
    let mut bytes = Vec::new();
    let cloth = FrameTriangles { corners: &corners, back_colors: backs };
    encode_frame(&mut bytes, &particles, cloth, FrameFields::ALL, None).unwrap();
    bytes
}

fn header(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text[..text.find("end_header").unwrap()].to_owned()
}

// Law: colours come back the same, few runs of them as comments, many as properties of faces.
#[test]
fn back_colors_survive_both_ways() {
    let few = vec![[255, 0, 7], [255, 0, 7], [1, 2, 3]];
    let many: Vec<[u8; 3]> = (0..600).map(|i| [(i % 2) as u8, 5, (i / 3) as u8]).collect();
    for (backs, in_faces) in [(few, false), (many, true), (Vec::new(), false)] {
        let bytes = encoded(&backs);
        assert_eq!(parse_frame(&bytes, "f.ply").unwrap().back_colors, backs);
        assert_eq!(header(&bytes).contains("back_red"), in_faces);
    }
    let said = header(&encoded(&[[255, 0, 7], [255, 0, 7], [1, 2, 3]]));
    assert!(said.contains("comment back_color 255 0 7 triangles 2\ncomment back_color 1 2 3"), "{said}");
}

// meshio 5.3 reads binary `uint8` and `uint16`, but not `ushort`, and `uchar` as a signed number.
#[test]
fn types_have_names_that_every_reader_knows() {
    let said = header(&encoded(&[[1; 3]]));
    assert!(said.contains("property uint8 red") && said.contains("property uint16 material"), "{said}");
    assert!(said.contains("property list uint8 int vertex_indices"), "{said}");
    assert!(!said.contains("uchar") && !said.contains("ushort"), "{said}");
}

// Frames of older versions have the other names, and back colours in their faces.
#[test]
fn older_frames_are_read() {
    let mut bytes = b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\n\
        property float y\nproperty float z\nproperty uchar red\nproperty ushort material\nelement face 1\n\
        property list uchar int vertex_indices\nproperty uchar back_red\nproperty uchar back_green\n\
        property uchar back_blue\nend_header\n"
        .to_vec();
    for _ in 0..3 {
        bytes.extend([0; 12]);
        bytes.extend([200, 44, 1]);
    }
    bytes.extend([3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 9, 8, 255]);
    let frame = parse_frame(&bytes, "old.ply").unwrap();
    assert_eq!((frame.particles[1].color[0], frame.particles[1].material), (200, 300));
    assert_eq!((frame.triangles, frame.back_colors), (vec![[0, 1, 2]], vec![[9, 8, 255]]));
}

// Comments that do not fit the triangles are errors, whatever number they claim.
#[test]
fn wrong_comments_are_errors() {
    let path = Path::new("wrong.ply");
    let bytes = encoded(&[[1, 2, 3]; 4]);
    let text = b"1 2 3 triangles 4";
    let at = bytes.windows(text.len()).position(|w| w == text).unwrap();
    for wrong in ["1 2 3 triangles 9", "1 2 3 triangles 3", "1 2 3 triangles x", "1 2 999 triangles 4"] {
        let changed = [&bytes[..at], wrong.as_bytes(), &bytes[at + text.len()..]].concat();
        let error = parse_frame(&changed, path).unwrap_err().to_string();
        assert!(error.contains("wrong.ply") && error.contains("triangles"), "{wrong}: {error}");
    }
}
