//! Contacts of the centroids of faces of cloth: each is the contact of an ordinary particle there, in
//! three equal parts that act at the vertices of the face.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use bytemuck::Zeroable;
use nalgebra::Vector3;
use pliant_cuda::contact::DetectedContact;
use pliant_cuda::kernels::{ClothFace, ClothFaces};
use pliant_cuda::{Buffer, Device};
use pliant_rigid::Shape;
use support::contact::{DELTA, OnDevice, Particle, Scene, impulses};
use support::{Random, devices};

const PARTICLES: u32 = 700;

/// Vertices and faces of each of two sheets: the last particles.
const SHEETS: [[u32; 2]; 2] = [[70, 150], [50, 100]];

/// Particles that are taken for cloth, wherever they are.
struct Cloth {
    elements: Buffer<u32>,
    places: Buffer<u32>,
    faces: Buffer<ClothFace>,
    /// Of each particle by its id, the indices of its face's vertices; none for other particles.
    corners: Vec<Option<[usize; 3]>>,
}

impl Cloth {
    fn random(device: &Device, particles: &[Particle], random: &mut Random) -> Self {
        let [vertices, faces] = [0, 1].map(|kind| SHEETS.iter().map(|sheet| sheet[kind]).sum::<u32>());
        // Elements are all vertices and then all faces, particles those of a sheet after another.
        let (mut next_vertex, mut next_face, mut elements) = (0, vertices, Vec::new());
        for [of_vertices, of_faces] in SHEETS {
            elements.extend(next_vertex..next_vertex + of_vertices);
            elements.extend(next_face..next_face + of_faces);
            (next_vertex, next_face) = (next_vertex + of_vertices, next_face + of_faces);
        }
        let first = PARTICLES - vertices - faces;
        let mut places = vec![0; elements.len()];
        for (i, particle) in (0..).zip(particles) {
            if let Some(number) = particle.id.checked_sub(first) {
                places[elements[number as usize] as usize] = i;
            }
        }
        let faces: Vec<_> = (0..faces)
            .map(|_| ClothFace { corners: [(); 3].map(|()| random.word() % vertices), ..ClothFace::zeroed() })
            .collect();
        let of_face = |face: &ClothFace| face.corners.map(|vertex| places[vertex as usize] as usize);
        let of_element =
            |element: &u32| element.checked_sub(vertices).map(|face| of_face(&faces[face as usize]));
        let corners = (0..first).map(|_| None).chain(elements.iter().map(of_element)).collect();
        Self {
            elements: device.upload(&elements).unwrap(),
            places: device.upload(&places).unwrap(),
            faces: device.upload(&faces).unwrap(),
            corners,
        }
    }

    fn spans(&self) -> ClothFaces {
        ClothFaces { elements: self.elements.span(), places: self.places.span(), faces: self.faces.span() }
    }
}

fn near(a: f32, b: f64, relative: f64) -> bool {
    (f64::from(a) - b).abs() <= relative * b.abs()
}

fn apart(a: [f32; 3], b: Vector3<f64>) -> f64 {
    (Vector3::from(a.map(f64::from)) - b).norm()
}

/// Checks that a contact acts where this particle is.
fn acts_at(scene: &Scene, vertex: &Particle, contact: &DetectedContact) {
    let about = format!("{vertex:?}: {contact:?}");
    let base = vertex.cells.map(|x| (x - 0.5).floor());
    assert_eq!(contact.base, [0, 1, 2].map(|d| 4 * vertex.key[d] + base[d] as i32), "{about}");
    assert_eq!(contact.offset, [0, 1, 2].map(|d| vertex.cells[d] - base[d]), "{about}");
    let body = &scene.substep_states[contact.body as usize];
    let (lever, velocity) =
        (vertex.position() - body.origin, body.velocity.at(&body.origin, &vertex.position()));
    assert!(apart(contact.lever, lever) <= 2e-6 * (1.0 + lever.norm()), "{about}");
    assert!(apart(contact.body_velocity, velocity) <= 1e-5 * (1.0 + velocity.norm()), "{about}");
}

/// The contacts of one particle with one geometry.
fn pairs(contacts: &[DetectedContact]) -> impl Iterator<Item = &[DetectedContact]> {
    contacts.chunk_by(|a, b| (a.particle, a.geometry) == (b.particle, b.geometry))
}

// Without cloth the same particles have one contact with each geometry: it says what the three parts
// are. A centroid over a plane may have none.
#[test]
fn contacts_of_a_centroid_act_at_the_vertices_of_its_face() {
    for device in devices() {
        let scene = Scene::random([0; 3], PARTICLES as usize, 11);
        let cloth = Cloth::random(&device, &scene.particles, &mut Random(5));
        let [mut whole, mut shared] = [(); 2].map(|()| OnDevice::new(device.clone(), &scene, 8000, 1, 2));
        shared.faces = cloth.spans();
        for on_device in [&mut whole, &mut shared] {
            on_device.begin_step(&scene.poses(2)).unwrap();
            on_device.register();
        }
        let (right, found) = (whole.detector.download().unwrap(), shared.detector.download().unwrap());
        let (mut of_found, mut centroids, mut redundant) = (pairs(&found).peekable(), 0, 0);
        for contact in &right {
            let is_same = |p: &&[DetectedContact]| {
                (p[0].particle, p[0].geometry) == (contact.particle, contact.geometry)
            };
            let own = of_found.next_if(is_same).unwrap_or_default();
            let Some(corners) = cloth.corners[contact.particle as usize] else {
                assert_eq!(own, [*contact]);
                continue;
            };
            if own.is_empty() {
                let geometry = scene.geometries()[contact.geometry as usize].1;
                assert!(matches!(geometry.shape, Shape::Box { .. }) && geometry.adhesion.is_none());
                redundant += 1;
                continue;
            }
            assert_eq!(own.len(), 3, "{own:?}");
            centroids += 1;
            for (part, corner) in own.iter().zip(corners) {
                acts_at(&scene, &scene.particles[corner], part);
                assert!(
                    near(part.stiffness, f64::from(contact.stiffness) / 3.0, 1e-6),
                    "{part:?}, {contact:?}"
                );
                let lagged = f64::from(contact.lagged_normal_impulse) / 3.0;
                assert!(near(part.lagged_normal_impulse, lagged, 1e-6), "{part:?}, {contact:?}");
                // The rest is that of the centroid.
                let DetectedContact { base, offset, body_velocity, lever, .. } = *part;
                let DetectedContact { stiffness, lagged_normal_impulse, .. } = *contact;
                let rest = DetectedContact { stiffness, lagged_normal_impulse, ..*part };
                assert_eq!(rest, DetectedContact { base, offset, body_velocity, lever, ..*contact });
            }
        }
        assert!(of_found.next().is_none());
        assert!(centroids > 100 && redundant > 0, "{centroids}, {redundant}");

        // Each part goes on from its own impulse; a bond of one part is a bond of the face.
        let normals: Vec<_> = found.iter().map(|c| c.normal).collect();
        let given = impulses(&normals, &mut Random(3));
        shared.remember(&given);
        shared.register();
        let again = shared.detector.download().unwrap();
        let (mut followed, mut partly) = (0, 0);
        for own in pairs(&again).filter(|own| cloth.corners[own[0].particle as usize].is_some()) {
            let key = |c: &DetectedContact| (c.particle, c.geometry);
            let Some(first) = found.iter().position(|c| key(c) == key(&own[0])) else { continue };
            followed += 1;
            let pressed: Vec<f64> = (first..first + 3)
                .map(|k| Vector3::from(normals[k].map(f64::from)).dot(&Vector3::from(given[k])))
                .collect();
            let bonded = pressed.iter().filter(|impulse| **impulse > 0.0).count();
            let geometry = scene.geometries()[own[0].geometry as usize].1;
            let particle = scene.particles.iter().find(|p| p.id == own[0].particle).unwrap();
            let area = f64::from(particle.volume).powf(2.0 / 3.0);
            let bond = geometry.adhesion.filter(|a| bonded > 0 && f64::from(own[0].gap) <= a.range);
            let tension = bond.map_or(0.0, |a| a.stress * area / 3.0);
            partly += usize::from(tension > 0.0 && bonded < 3);
            for (k, part) in own.iter().enumerate() {
                assert_eq!(part.last_impulse, given[first + k].map(|x| x as f32), "{part:?}");
                assert!(near(part.tension, tension, 1e-5), "{part:?}, not {tension}");
                let lagged = pressed[k].max(0.0) + DELTA * tension;
                assert!(near(part.lagged_normal_impulse, lagged, 1e-5), "{part:?}, not {lagged}");
            }
        }
        assert!(followed > 100 && partly > 20, "{followed}, {partly}");
    }
}
