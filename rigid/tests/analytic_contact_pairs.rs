//! Margins of surfaces, priorities, and pairs of geometries with a contact of their own.

use nalgebra::{Isometry3, Vector3};
use pliant_rigid::Shape;
use pliant_rigid::collision::{
    CollisionError, CollisionGeometry, CollisionModel, ContactMaterial, PairMaterial,
};
use pliant_rigid::multibody::*;
use pliant_rigid::simulation::*;
use pliant_testing::Random;
use pliant_testing::comfree::{G, body, geometry};

const STEP: f64 = 1e-3;
const STICTION: f64 = 1e-5;

/// A solid that starts at `height` over the floor z = 0, with the floor's geometry first.
fn simulation(
    gravity: Vector3<f64>,
    shape: &Shape,
    height: f64,
    materials: [ContactMaterial; 2],
    pairs: &[PairMaterial],
) -> Simulation<Collisions> {
    let mut builder = ModelBuilder::new(gravity);
    let link = builder.add(body("solid", shape)).unwrap();
    let model = builder.build().unwrap();
    let mut state = model.zero_configuration();
    state.q[6] = height;
    let geometries: Vec<CollisionGeometry> = vec![
        geometry("floor", None, Shape::HalfSpace, materials[0]),
        geometry("solid", Some(link), shape.clone(), materials[1]),
    ];
    let scene = CollisionModel::new(geometries, &model, &[]).unwrap().with_pairs(pairs).unwrap();
    let source = Collisions::new(scene, STICTION);
    Simulation::new(System::new(model), source, Integrator::Fixed { step: STEP }, state).unwrap()
}

fn draw(random: &mut Random) -> ContactMaterial {
    ContactMaterial {
        stiffness: random.log_uniform(1e4, 1e7),
        margin: random.log_uniform(1e-4, 0.3),
        ..ContactMaterial::with_friction(random.uniform(0.1, 1.0))
    }
}

// Checks: a solid of weight W rests on n contacts of stiffness k at the height of the margin less
// W/(n k): surfaces act as if they were moved outwards by both margins together, or by that of the
// pair. A sphere has one contact with the floor, a box four.
#[test]
fn solids_rest_at_their_margins() {
    let mut random = Random::new(1821);
    for case in 0..40 {
        let materials = [draw(&mut random), draw(&mut random)];
        let own = draw(&mut random);
        let named = random.unit() < 0.5;
        let [a, b] = materials.map(|m| m.stiffness);
        let (stiffness, margin) = if named {
            (own.stiffness, own.margin)
        } else {
            (a * b / (a + b), materials[0].margin + materials[1].margin)
        };
        let half = random.uniform(0.03, 0.2);
        let (shape, contacts) = if random.unit() < 0.5 {
            (Shape::Sphere { radius: half }, 1.0)
        } else {
            (Shape::Box { half_extents: Vector3::repeat(half) }, 4.0)
        };
        let (mass, ..) = shape.mass_properties(1000.0).unwrap();
        let depth = mass * G / (contacts * stiffness);
        let rest = half + margin - depth;
        // In either order of the numbers.
        let pairs = [PairMaterial { geometries: [1, 0], contact: own }];
        let pairs = if named { &pairs[..] } else { &[] };
        let mut simulation = simulation(Vector3::new(0.0, 0.0, -G), &shape, rest, materials, pairs);
        simulation.advance_to(200.0 * STEP).unwrap();
        let moved = simulation.state().q[6] - rest;
        assert!(moved.abs() < 1e-6 * depth, "seed 1821, case {case}: {moved} of {depth}, margin {margin}");
        let seen = simulation.contact_forces().count();
        assert_eq!(seen as f64, contacts, "seed 1821, case {case}");
    }
}

/// How far a block slides on an incline of this angle in a second.
fn slid(angle: f64, materials: [ContactMaterial; 2], pairs: &[PairMaterial]) -> f64 {
    let shape = Shape::Box { half_extents: Vector3::new(0.2, 0.2, 0.02) };
    let gravity = Vector3::new(G * angle.sin(), 0.0, -G * angle.cos());
    let contact = pairs.first().map_or_else(|| materials[0].combine(&materials[1]), |pair| pair.contact);
    let (mass, ..) = shape.mass_properties(1000.0).unwrap();
    let depth = mass * G * angle.cos() / (4.0 * contact.stiffness);
    let mut simulation = simulation(gravity, &shape, 0.02 + contact.margin - depth, materials, pairs);
    simulation.advance_to(1.0).unwrap();
    simulation.state().q[4]
}

// Checks: Coulomb's law with the coefficient of the pair, whatever the surfaces have, and with that
// of the surface of the greater priority: a block starts to slide at tan(angle) = mu, and moves by
// g (sin - mu cos) t^2/2. A step of h and the stiction tolerance v move it by at most g h t and v t
// more or less; creep at rest is below v t.
#[test]
fn blocks_slide_by_the_friction_of_their_pair() {
    let mut random = Random::new(1822);
    for case in 0..24 {
        let angle = random.uniform(0.1, 0.8);
        let friction = angle.tan()
            * if random.unit() < 0.5 { random.uniform(0.2, 0.95) } else { random.uniform(1.05, 2.0) };
        let surface = |random: &mut Random| ContactMaterial::with_friction(random.uniform(0.05, 2.0));
        let mut materials = [surface(&mut random), surface(&mut random)];
        let own = ContactMaterial::with_friction(friction);
        let pair = [PairMaterial { geometries: [0, 1], contact: own }];
        let pairs = if random.unit() < 0.5 {
            &pair[..]
        } else {
            let greater = usize::from(random.unit() < 0.5);
            materials[greater] = ContactMaterial { priority: 3, ..own };
            materials[1 - greater].priority = -2;
            &[]
        };
        let expected = 0.5 * G * (angle.sin() - friction * angle.cos()).max(0.0);
        let found = slid(angle, materials, pairs);
        let bound = G * STEP + STICTION;
        assert!(
            (found - expected).abs() < bound,
            "seed 1822, case {case}: {found}, {expected}, mu {friction}"
        );
    }
}

// Checks: a pair touches although the groups, an excluded pair of links or a joint between them
// forbid it, but not on one link or on links welded together; and pairs that cannot be are refused.
#[test]
fn named_pairs_touch_whatever_forbids_it() {
    let ball = Shape::Sphere { radius: 0.1 };
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let base = builder.add(body("base", &ball)).unwrap();
    let hinge = JointKind::Revolute { axis: Vector3::x_axis() };
    let child = Link { parent: Some(base), joint: hinge, dofs: vec![Dof::default()], ..body("child", &ball) };
    let child = builder.add(child).unwrap();
    let fixed = Link { parent: Some(base), joint: JointKind::Fixed, ..body("welded", &ball) };
    let welded = builder.add(fixed).unwrap();
    let other = builder.add(body("other", &ball)).unwrap();
    let model = builder.build().unwrap();
    let plain = ContactMaterial::with_friction(0.5);
    let on = |link, mask| CollisionGeometry { mask, ..geometry("ball", Some(link), ball.clone(), plain) };
    let geometries = vec![on(base, 1), on(child, 1), on(welded, 1), on(other, 0)];
    let scene = CollisionModel::new(geometries, &model, &[(child, other)]).unwrap();
    let touching = |scene: &CollisionModel| {
        let all = (0..4).flat_map(|a| (a + 1..4).map(move |b| [a, b]));
        all.filter(|[a, b]| scene.may_touch(*b, *a)).collect::<Vec<_>>()
    };
    assert_eq!(touching(&scene), [] as [[usize; 2]; 0]);
    let named = |a, b| PairMaterial { geometries: [a, b], contact: plain };
    let with = scene.clone().with_pairs(&[named(3, 1), named(0, 2), named(0, 1), named(0, 3)]).unwrap();
    assert_eq!(touching(&with), [[0, 1], [0, 3], [1, 3]]);
    for (a, b) in [(0, 0), (0, 4), (9, 1)] {
        let refused = scene.clone().with_pairs(&[named(a, b)]).unwrap_err();
        assert!(matches!(refused, CollisionError::NoPair { pair: 0, geometries: 4, .. }), "{refused}");
    }
    let contact = ContactMaterial { margin: -1.0, ..plain };
    let refused = scene.with_pairs(&[PairMaterial { geometries: [0, 3], contact }]).unwrap_err();
    assert!(refused.to_string().contains("margin: -1 m"), "{refused}");
}

// Checks: contacts at a distance are found wherever the margin of a pair reaches, and nowhere else,
// for boxes at random poses: those of an exact test of all pairs without boxes or strips.
#[test]
fn detection_looks_as_far_as_margins_reach() {
    let mut random = Random::new(1823);
    let mut builder = ModelBuilder::new(Vector3::zeros());
    let ball = Shape::Sphere { radius: 0.05 };
    let mut geometries = Vec::new();
    for i in 0..30 {
        let link = builder.add(body(&format!("ball {i}"), &ball)).unwrap();
        let margin = if random.unit() < 0.3 { random.uniform(0.0, 0.2) } else { 0.0 };
        let material = ContactMaterial { margin, ..ContactMaterial::with_friction(0.5) };
        geometries.push(geometry(&format!("ball {i}"), Some(link), ball.clone(), material));
    }
    let model = builder.build().unwrap();
    let places: Vec<_> = (0..30).map(|_| random.vector() * 0.5).collect();
    let scene = CollisionModel::new(geometries, &model, &[]).unwrap();
    let mut expected = Vec::new();
    for a in 0..30 {
        for b in a + 1..30 {
            let gap = (places[a] - places[b]).norm() - 0.1;
            let reach = scene.geometries()[a].material.margin + scene.geometries()[b].material.margin;
            if gap < reach {
                expected.push((a, b));
            }
        }
    }
    let mut found = Vec::new();
    let pose = |link: LinkId| Isometry3::from(nalgebra::Translation3::from(places[link.0]));
    pliant_rigid::collision::Detector::new().detect(&scene, pose, 0.0, &mut found);
    let found: Vec<_> = found.iter().map(|contact| (contact.a, contact.b)).collect();
    assert!(expected.len() > 5, "seed 1823: {}", expected.len());
    assert_eq!(found, expected, "seed 1823");
}
