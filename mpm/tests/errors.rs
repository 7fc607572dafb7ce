//! Bad input and blow-ups give a typed error that names what is wrong; nothing panics.

use crate::common::{every_material, fast, lattice, levels, step, to_states};
use nalgebra::{Point3, Unit, Vector3};
use pliant_mpm::stable_step::largest_stable_substep;
use pliant_mpm::{Boundary, BoundaryKind, InstructionSet, Mpm, MpmError, ParticleState};

fn particle() -> ParticleState {
    ParticleState::new(Point3::new(0.1, 0.2, 0.3), Vector3::zeros(), 1e-6, 0)
}

fn build(h: f64, particles: &[ParticleState]) -> Result<Mpm, MpmError> {
    Mpm::new(h, every_material(), particles, &[], InstructionSet::detect())
}

/// Every quantity of a particle that is not a number or out of range is refused; the error names
/// particle, field, value and unit.
#[test]
fn invalid_particles_are_named() {
    type Spoil = fn(&mut ParticleState);
    let cases: [(Spoil, &str, &str); 13] = [
        (|p| p.position.y = f64::NAN, "position", "m"),
        (|p| p.position.z = f64::NEG_INFINITY, "position", "m"),
        // Blocks of 4 cells of 0.1 m: 2^31 of them reach 8.6e8 m.
        (|p| p.position.x = 8.7e8, "position", "m"),
        (|p| p.position.x = -8.7e8, "position", "m"),
        (|p| p.position.x = 1e300, "position", "m"),
        (|p| p.velocity.x = f64::NAN, "velocity", "m/s"),
        (|p| p.velocity.z = f64::INFINITY, "velocity", "m/s"),
        (|p| p.affine.m12 = f64::NAN, "affine", "1/s"),
        (|p| p.deformation_gradient.m33 = f64::NAN, "deformation_gradient", ""),
        (|p| p.volume = f64::NAN, "volume", "m^3"),
        (|p| p.volume = -1e-6, "volume", "m^3"),
        (|p| p.volume = 0.0, "volume", "m^3"),
        (|p| p.state = f64::NAN, "state", ""),
    ];
    for (spoil, name, of_unit) in cases {
        let mut particles = [particle(); 5];
        spoil(&mut particles[3]);
        let error = build(0.1, &particles).map(|_| name).unwrap_err();
        let MpmError::InvalidParticle { index, field, value, unit, .. } = error else {
            panic!("{name}: {error:?}");
        };
        assert_eq!((index, field, unit), (3, name, of_unit));
        assert!(!(value.is_finite() && value > 0.0 && value < 8e8), "{name}: {value}");
        assert!(error.to_string().starts_with(&format!("particles[3].{name}: ")), "{error}");
    }
    assert!(build(0.1, &[particle(); 5]).is_ok());
}

/// A boundary that is not a number, not of unit normal or of negative friction is refused; the
/// error names boundary, field, value and unit.
#[test]
fn invalid_boundaries_are_named() {
    type Spoil = fn(&mut Boundary);
    let cases: [(Spoil, &str); 5] = [
        (|b| b.point.y = f64::NAN, "boundaries[1].point: NaN m must be finite"),
        (
            |b| b.normal = Unit::new_unchecked(Vector3::new(0.0, f64::NAN, 0.0)),
            "boundaries[1].normal: NaN long must be 1",
        ),
        (
            |b| b.normal = Unit::new_unchecked(Vector3::new(0.0, 0.0, 2.0)),
            "boundaries[1].normal: 2 long must be 1",
        ),
        (
            |b| b.kind = BoundaryKind::Frictional { friction: -0.5 },
            "boundaries[1].friction: -0.5 [-] must be finite and not negative",
        ),
        (
            |b| b.kind = BoundaryKind::Frictional { friction: f64::INFINITY },
            "boundaries[1].friction: inf [-] must be finite and not negative",
        ),
    ];
    let floor = Boundary { point: Point3::origin(), normal: Vector3::z_axis(), kind: BoundaryKind::Slip };
    for (spoil, message) in cases {
        let mut boundaries = [floor; 3];
        spoil(&mut boundaries[1]);
        let built = Mpm::new(0.1, every_material(), &[particle()], &boundaries, InstructionSet::detect());
        assert_eq!(built.map(|_| ()).unwrap_err().to_string(), message);
    }
    assert!(Mpm::new(0.1, every_material(), &[particle()], &[floor; 3], InstructionSet::detect()).is_ok());
}

/// What f32 cannot hold is refused as well: it would become infinite, or a particle without mass.
#[test]
fn what_single_precision_cannot_hold_is_refused() {
    type Spoil = fn(&mut ParticleState);
    let cases: [(Spoil, &str); 5] = [
        (|p| p.velocity.x = 1e39, "velocity"),
        (|p| p.affine.m11 = -1e39, "affine"),
        (|p| p.deformation_gradient.m11 = 1e39, "deformation_gradient"),
        (|p| p.volume = 1e37, "volume"),
        (|p| p.volume = 1e-60, "volume"),
    ];
    for (spoil, name) in cases {
        let mut p = particle();
        spoil(&mut p);
        let error = build(0.1, &[particle(), p]).map(|_| name).unwrap_err();
        assert!(
            matches!(error, MpmError::InvalidParticle { index: 1, field, .. } if field == name),
            "{error:?}"
        );
    }
}

/// Particles close to the last block that 32 bits count move like any others.
#[test]
fn the_last_blocks_are_usable() {
    for sign in [-1.0, 1.0] {
        let mut p = particle();
        p.position.x = sign * 8.58e8;
        p.velocity.x = 2.0;
        let mut mpm = build(0.1, &[p]).unwrap();
        let start = mpm.block(0).local_position(0)[0] + 4.0 * f64::from(mpm.block(0).corner_node()[0] / 4);
        for _ in 0..10 {
            step(&mut mpm, 0.01, Vector3::zeros()).unwrap();
        }
        let end = mpm.block(0).local_position(0)[0] + 4.0 * f64::from(mpm.block(0).corner_node()[0] / 4);
        // 10 x 0.01 s x 2 m/s are 2 cells.
        assert!((end - start - 2.0).abs() < 1e-5, "{start} {end}");
    }
}

#[test]
fn what_is_no_model_is_refused() {
    for h in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let error = build(h, &[particle()]).map(|_| h).unwrap_err();
        let MpmError::GridSpacing { value } = error else { panic!("{error:?}") };
        assert_eq!(value.to_bits(), h.to_bits());
        assert!(
            error.to_string().starts_with("grid_spacing: ") && error.to_string().contains(" m "),
            "{error}"
        );
    }
    let mut stranger = particle();
    stranger.material = 6;
    let error = build(0.1, &[particle(), stranger]).map(|_| ()).unwrap_err();
    assert_eq!(error, MpmError::UnknownMaterial { index: 1, material: 6, count: 6 });
    assert_eq!(error.to_string(), "particles[1].material: 6 is not one of the 6 materials");
}

/// A material out of range is refused as the reference refuses it, naming it and its parameter.
#[test]
fn invalid_materials_are_named() {
    let mut materials = every_material();
    materials[2].density = f64::NAN;
    let error =
        Mpm::new(0.1, materials, &[particle()], &[], InstructionSet::detect()).map(|_| ()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("2") && text.contains("density is NaN kg/m^3"), "{text}");
}

/// A step far beyond the stable one loses particles: the error names one, with where it is and how
/// fast, and no later call panics or turns it into success. Every model, every instruction set.
#[test]
fn a_blow_up_names_a_lost_particle() {
    let h = 0.05;
    for level in levels() {
        for material in 0..every_material().len() {
            let mut particles = lattice([0.01; 3], [h / 2.0; 3], [6; 3], 1e3);
            for p in &mut particles {
                p.material = material;
                p.velocity = Vector3::new(1.0, -0.5, 0.2).component_mul(&p.position) * 20.0;
            }
            let count = particles.len();
            let mut mpm = Mpm::new(h, every_material(), &to_states(&particles), &[], level).unwrap();
            let dt = 300.0 * largest_stable_substep(h, &every_material(), 1.0);
            let error = (0..500).find_map(|_| step(&mut mpm, dt, Vector3::zeros()).err());
            let Some(MpmError::LostParticle { id, position, velocity }) = error else {
                panic!("{level:?}, material {material}: {error:?}");
            };
            assert!((id as usize) < count);
            let text = error.unwrap().to_string();
            assert!(text.starts_with(&format!("particle {id} was lost at (")), "{text}");
            assert!(!position.iter().all(|x| x.is_finite()) || velocity.norm() * dt > h, "{text}");
            for _ in 0..5 {
                let _ = step(&mut mpm, dt, Vector3::zeros());
            }
        }
    }
}

/// A particle that is thrown over more than two cells in one substep is the one that is named, and
/// one that is thrown over less is not.
#[test]
fn the_lost_particle_is_the_one_that_left() {
    let h = 0.1;
    for level in levels() {
        let mut particles = lattice([0.0; 3], [h / 2.0; 3], [8; 3], 1e3);
        let last = particles.len();
        particles.push(particles[0].clone());
        particles[last].position = Vector3::new(-3.0, 5.05, 2.0);
        particles[last].velocity = Vector3::new(0.0, 0.0, 100.0);
        let states = to_states(&particles);
        let mut mpm = Mpm::new(h, every_material(), &states, &[], level).unwrap();
        // Half a cell: nothing happens. Ten cells: lost.
        step(&mut mpm, 0.5 * h / 100.0, Vector3::zeros()).unwrap();
        let error = step(&mut mpm, 10.0 * h / 100.0, Vector3::zeros()).unwrap_err();
        let MpmError::LostParticle { id, position, velocity } = error else { panic!("{error:?}") };
        assert_eq!(id as usize, last);
        assert!((velocity - Vector3::new(0.0, 0.0, 100.0)).norm() < 1e-3, "{velocity}");
        assert!((position - Vector3::new(-3.0, 5.05, 2.0 + 10.5 * h)).norm() < 1e-4, "{position}");
    }
}

/// Gravity or a substep that is not a number loses the particles, with an error.
#[test]
fn steps_that_are_not_numbers_lose_the_particles() {
    let h = 0.1;
    let particles = lattice([0.0; 3], [h / 2.0; 3], [4; 3], 1e3);
    for (dt, gravity) in [(f64::NAN, 0.0), (1e-3, f64::NAN), (1e-3, f64::INFINITY), (f64::INFINITY, 1.0)] {
        let mut mpm = fast(h, &every_material(), &particles, &[]);
        for _ in 0..3 {
            let error = step(&mut mpm, dt, Vector3::z() * gravity).map(|_| ()).unwrap_err();
            assert!(matches!(error, MpmError::LostParticle { .. }), "{error:?}");
        }
    }
}
