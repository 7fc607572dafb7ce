//! Surfaces of soft bodies from outside: what the route answers for random runs, whole and damaged.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod support;

use std::fs;

use pliant_runner::recording::Recording;
use pliant_viewer::{SURFACE_HEADER, SURFACE_MAGIC};
use support::{Serving, random_run, run_directory};

/// Surfaces as the page reads them.
struct Read {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    /// Speed, and the optional fields that are there.
    fields: Vec<Vec<f32>>,
    colours: Vec<[u8; 4]>,
    triangles: Vec<[u32; 3]>,
    lone: Vec<u32>,
}

/// Reads the layout that README.md describes; all bytes must belong to it.
fn read(bytes: &[u8]) -> Read {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((&bytes[..4], word(4)), (SURFACE_MAGIC.as_slice(), 1));
    let [vertices, triangles, lone, flags, text] = [12, 16, 20, 24, 40].map(|at| word(at) as usize);
    let mut at = SURFACE_HEADER;
    let mut take = |count: usize| {
        at += 4 * count;
        (at / 4 - count..at / 4).map(|place| word(4 * place)).collect::<Vec<u32>>()
    };
    let floats = |words: Vec<u32>| words.into_iter().map(f32::from_bits).collect::<Vec<f32>>();
    let positions = floats(take(3 * vertices));
    let halves = take(2 * vertices);
    let part = |word: u32, shift: u32| f32::from((word >> shift) as u16 as i16) / 32767.0;
    let normals = halves.chunks(2).map(|h| [part(h[0], 0), part(h[0], 16), part(h[1], 0)]).collect();
    let fields = (0..1 + flags.count_ones()).map(|_| floats(take(vertices))).collect();
    let colours = take(vertices).into_iter().map(u32::to_le_bytes).collect();
    let _materials = take(vertices);
    let triangles = take(3 * triangles).chunks(3).map(|c| [c[0], c[1], c[2]]).collect();
    let lone = take(lone);
    assert_eq!(at + text, bytes.len());
    let positions = positions.chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
    Read { positions, normals, fields, colours, triangles, lone }
}

/// Number of parts of a mesh that have no triangle in common.
fn parts(surface: &Read) -> usize {
    let mut root: Vec<usize> = (0..surface.positions.len()).collect();
    fn find(root: &mut [usize], mut at: usize) -> usize {
        while root[at] != at {
            root[at] = root[root[at]];
            at = root[at];
        }
        at
    }
    for corners in &surface.triangles {
        let [a, b, c] = corners.map(|corner| find(&mut root, corner as usize));
        root[b] = a;
        let c = find(&mut root, c);
        let a = find(&mut root, a);
        root[c] = a;
    }
    (0..root.len()).filter(|at| root[*at] == *at).count()
}

/// Law: the surface of each soft body is a closed mesh of its own, also where bodies of one material and
/// colour touch; normals have length 1 and point outwards; values at vertices lie within the range of
/// those of the particles; every triangle has corners that exist.
#[test]
fn surfaces_are_closed_and_do_not_merge() {
    for seed in 0..6 {
        let (_keep, run, bodies) = random_run(seed);
        println!("seed {seed}: {bodies} bodies");
        let recording = Recording::open(&run).unwrap();
        let serving = Serving::begin(std::slice::from_ref(&run));
        for number in 0..recording.frame_count() {
            let frame = recording.frame(number).unwrap();
            let answer = serving.get_made(&format!("/api/runs/0/surface/{number}"));
            assert_eq!(answer.status, 200, "seed {seed}: {}", answer.text());
            let surface = read(&answer.body);
            assert_eq!(parts(&surface), bodies, "seed {seed}, frame {number}");
            assert!(surface.colours.iter().all(|colour| colour[3] == 255));
            assert!(surface.lone.iter().all(|p| (*p as usize) < frame.particles.len()));
            assert!(surface.lone.is_sorted());
            let mut volume = 0.0;
            let mut outwards = vec![nalgebra::Vector3::<f64>::zeros(); surface.positions.len()];
            for corners in &surface.triangles {
                let [a, b, c] = corners
                    .map(|corner| nalgebra::Vector3::from(surface.positions[corner as usize]).cast::<f64>());
                volume += a.dot(&b.cross(&c)) / 6.0;
                corners.iter().for_each(|corner| outwards[*corner as usize] += (b - a).cross(&(c - a)));
            }
            let filled: f64 = frame.particles.iter().map(|p| (f64::from(p.radius) / 0.6).powi(3)).sum();
            assert!((0.7..1.6).contains(&(volume / filled)), "seed {seed}: {volume} of {filled} m^3");
            let mut edges: Vec<(u32, u32)> =
                surface.triangles.iter().flat_map(|[a, b, c]| [(*a, *b), (*b, *c), (*c, *a)]).collect();
            let mut back: Vec<(u32, u32)> = edges.iter().map(|(a, b)| (*b, *a)).collect();
            edges.sort_unstable();
            back.sort_unstable();
            assert_eq!(edges, back, "seed {seed}: the mesh has a border");
            for (normal, outwards) in surface.normals.iter().zip(&outwards) {
                let along = nalgebra::Vector3::from(*normal).cast::<f64>().dot(outwards);
                assert!(along > 0.99 * outwards.norm(), "seed {seed}: a normal does not point outwards");
                let length = normal.iter().map(|x| x * x).sum::<f32>().sqrt();
                assert!((length - 1.0).abs() < 1e-3, "seed {seed}: {length}");
            }
            let speed = |v: [f32; 3]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            let fastest = frame.particles.iter().map(|p| speed(p.velocity)).fold(0.0, f32::max);
            assert!(surface.fields[0].iter().all(|s| (0.0..=1.001 * fastest).contains(s)));
            assert!(surface.fields.iter().flatten().all(|value| value.is_finite()));
        }
        serving.end();
    }
}

/// Law: whatever a frame's file is damaged to, the answer is words that name the file, other frames still
/// have surfaces, and a mended file has them again.
#[test]
fn damaged_frames_have_no_surface_but_a_message() {
    let (_keep, run) = run_directory();
    let serving = Serving::begin(std::slice::from_ref(&run));
    let frame = run.join("frames/000001.ply");
    let whole = fs::read(&frame).unwrap();
    let mut damages: Vec<Vec<u8>> = [0, 10, 200, whole.len() - 1].map(|cut| whole[..cut].to_vec()).to_vec();
    damages.push(whole.iter().map(|byte| byte ^ 0x5a).collect());
    damages.push(vec![0xff; 3 * whole.len()]);
    for seed in 0..20_u64 {
        let mut garbage = whole.clone();
        let at = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize % garbage.len();
        garbage[at] ^= 1 << (seed % 8);
        damages.push(garbage);
    }
    for (number, damage) in damages.iter().enumerate() {
        fs::write(&frame, damage).unwrap();
        let answer = serving.get_made("/api/runs/0/surface/1");
        let value: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(answer.status, 500, "damage {number}");
        assert!(value["error"].as_str().unwrap().contains("000001.ply"), "damage {number}: {value}");
    }
    fs::remove_file(&frame).unwrap();
    assert_eq!(serving.get_made("/api/runs/0/surface/1").status, 500);
    assert_eq!(serving.get_made("/api/runs/0/surface/0").status, 200);
    fs::write(&frame, whole).unwrap();
    assert_eq!(serving.get_made("/api/runs/0/surface/1").status, 200);
    let absent = serving.get("/api/runs/0/surface/4000000000");
    assert_eq!((absent.status, absent.text().contains("no frame 4000000000")), (404, true));
    assert_eq!(serving.get("/api/runs/1/surface/0").status, 404);
    serving.end();
}
