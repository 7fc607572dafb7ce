//! Cloth on the fast path: against the f64 reference, momenta, threads, saving.

use crate::common::{ROUNDOFF, bits, lattice, levels, to_states};
use nalgebra::Vector3;
use pliant_mpm::cloth::{
    BendingFriction, ClothMaterial, ClothMesh, Pin, ShearFriction, Sheet, Stability, Tearing, Weave,
};
use pliant_mpm::material::{Elastic, Material, Model};
use pliant_mpm::reference::{ReferenceCloth, ReferenceMpm, ReferenceParticle};
use pliant_mpm::{InstructionSet, Mpm};

const H: f64 = 0.05;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Cloth with every part of the model on.
fn material() -> ClothMaterial {
    ClothMaterial {
        shear_stiffness: 2e4,
        friction: 0.4,
        bending_stiffness: 5e-3,
        damping: 0.7,
        ..ClothMaterial::new(800.0, Elastic { youngs_modulus: 1e5, poissons_ratio: 0.3 }, H, 2e4)
    }
}

/// The same, woven at an angle to its sides, five times as stiff along the warp as along the weft, with
/// friction as it bends and as its yarns turn.
fn woven() -> ClothMaterial {
    let mut weave = Weave::new(Vector3::new(0.7, 0.4, 0.1), 2e4, 4e3);
    (weave.weft_bending_stiffness, weave.twist_stiffness) = (1e-3, 7e-4);
    weave.shear_friction = Some(ShearFriction { stress: 50.0, strain: 0.02 });
    let bending_friction = Some(BendingFriction { moment: 2e-3, curvature: 0.5 });
    ClothMaterial { weave: Some(weave), bending_friction, ..material() }
}

/// The same, and it tears.
fn torn() -> ClothMaterial {
    ClothMaterial { tearing: Some(Tearing { strength: 15.0, energy: 0.03 }), ..woven() }
}

/// A sheet that hangs from a moving edge, which is released at 0.06 s, and another that falls on it
/// with a block of jelly.
fn scene(fabric: ClothMaterial) -> (Vec<Sheet>, Vec<Material>, Vec<ReferenceParticle>) {
    let origin = Vector3::new(0.013, -0.021, 0.32);
    let (u, v) = (Vector3::new(0.5, 0.03, 0.05), Vector3::new(-0.02, 0.4, 0.02));
    let mesh = ClothMesh::rectangle(origin, u, v, [11, 9]).unwrap();
    let pin = |vertex: usize| {
        let at = mesh.vertices()[vertex];
        let path = vec![(0.0, at), (0.05, at + Vector3::new(0.01, 0.0, 0.02))];
        Pin::new(vertex, path, 0.06).unwrap()
    };
    let held = (0..10).chain([55, 119]).map(pin).collect();
    let lower = Sheet { pins: held, ..Sheet::new(mesh.clone(), fabric) };
    let disc = ClothMesh::disc(Vector3::new(0.25, 0.15, 0.45), Vector3::new(0.2, 0.1, 1.0), 0.17, 4).unwrap();
    let falling = Vector3::new(0.3, -0.2, -1.5);
    let softer = ClothMaterial { damping: 1.0, ..fabric };
    let upper = Sheet { velocity: falling, ..Sheet::new(disc, softer) };
    let jelly = Elastic { youngs_modulus: 2e4, poissons_ratio: 0.3 };
    let jelly = Material { density: 900.0, model: Model::NeoHookean(jelly) };
    let mut block = lattice([0.2, 0.1, 0.55], [H / 2.0; 3], [4, 4, 3], jelly.density);
    block.iter_mut().for_each(|p| p.velocity = falling);
    (vec![lower, upper], vec![jelly], block)
}

fn fast(fabric: ClothMaterial, level: InstructionSet) -> Mpm {
    let (sheets, materials, block) = scene(fabric);
    Mpm::with_sheets(H, materials, &to_states(&block), &sheets, &[], level).unwrap()
}

fn dt(fabric: ClothMaterial) -> f64 {
    let sheets = scene(fabric).0;
    sheets.iter().map(|sheet| Stability::new(sheet, H).largest_substep(2.0)).fold(f64::INFINITY, f64::min)
}

fn substep(mpm: &mut Mpm, time: f64, dt: f64) {
    mpm.begin_step();
    mpm.particles_to_grid(dt, GRAVITY);
    mpm.apply_pins(time, dt);
    mpm.grid_to_particles(dt).unwrap();
}

/// The same scene in the reference.
fn reference(fabric: ClothMaterial) -> ReferenceMpm {
    let (sheets, materials, block) = scene(fabric);
    let mut mpm = ReferenceMpm::new(H, GRAVITY, materials, block).unwrap();
    for sheet in sheets {
        let cloth = mpm.add_cloth(sheet.mesh, sheet.material, sheet.pins).unwrap();
        mpm.cloths[cloth].set_velocity(|_| (sheet.velocity, nalgebra::Matrix3::zeros()));
    }
    mpm
}

/// Largest distance of a particle of cloth from its place in the reference [cells], and of a
/// director.
fn distance(fast: &Mpm, reference: &ReferenceMpm) -> [f64; 2] {
    let mut places = vec![Vector3::zeros(); fast.len()];
    let mut directors = places.clone();
    for b in 0..fast.block_count() {
        let view = fast.block(b);
        for i in 0..view.len() {
            places[view.id(i) as usize] = view.position(i).coords;
            directors[view.id(i) as usize] = view.director(i);
        }
    }
    let mut most = [0.0_f64; 2];
    for (patch, cloth) in fast.sheet_particles().iter().zip(&reference.cloths) {
        for (id, p) in (patch.vertices.start..patch.centroids.end).zip(cloth.particles()) {
            most[0] = most[0].max((places[id] - p.position).norm() / H);
        }
        for (id, face) in patch.centroids.clone().zip(&cloth.faces) {
            most[1] = most[1].max((directors[id] - face.director).norm());
        }
    }
    for (id, p) in reference.particles.iter().enumerate() {
        most[0] = most[0].max((places[id] - p.position).norm() / H);
    }
    most
}

/// All particles of both sheets and the jelly are where the reference has them, at every
/// instruction set, before, while and after they touch and the pins are released.
///
/// The bound is that of rounding in `parity_trajectory` for positions: 4 sqrt(N) u (V dt N / h + 8)
/// cells, with V the wave speed. Measured: an eighth of it. The three sweeps of the vertex-face
/// constraint (the reference has twenty) make no difference above rounding.
#[test]
fn sheets_move_as_in_the_reference() {
    move_as_in_the_reference(material());
}

/// The same of woven sheets, whose meshes take steps of their own too.
#[test]
fn woven_sheets_move_as_in_the_reference() {
    let sheets = scene(woven()).0;
    assert!(sheets.iter().all(|sheet| Stability::new(sheet, H).mesh_substeps(dt(woven())).0 > 1));
    move_as_in_the_reference(woven());
}

/// The same of sheets that soften before they tear. (Rounding decides in which substep one that does
/// lets go of its particle.)
#[test]
fn softened_sheets_move_as_in_the_reference() {
    move_as_in_the_reference(ClothMaterial {
        tearing: Some(Tearing { strength: 15.0, energy: 1.0 }),
        ..woven()
    });
}

fn move_as_in_the_reference(fabric: ClothMaterial) {
    let dt = dt(fabric);
    for level in levels() {
        let (mut mpm, mut reference) = (fast(fabric, level), reference(fabric));
        let moved = fabric.wave_speed() * dt / H;
        for k in 0..120 {
            substep(&mut mpm, reference.time, dt);
            reference.substep(dt, |_, _, _| {}).unwrap();
            let n = f64::from(k + 1);
            let bound = 4.0 * n.sqrt() * ROUNDOFF * (n * moved + 8.0);
            let [places, directors] = distance(&mpm, &reference);
            assert!(
                places < bound && directors < bound,
                "{level:?} {k}: {places} cells, {directors}; {bound}"
            );
        }
        let elastic = mpm.totals(&mut Vec::new()).elastic_energy;
        let expected = reference.totals().elastic_energy;
        assert!((elastic / expected - 1.0).abs() < 1e-3, "{elastic} J, in the reference {expected} J");
        assert!(reference.time > 0.06, "the pins were never released");
        let rubbed = |cloth: &ReferenceCloth| {
            let lost = [cloth.lost_to_bending_friction(), cloth.lost_to_shear_friction()];
            lost.iter().all(|lost| *lost > 1e-3 * expected)
        };
        assert_eq!(reference.cloths.iter().all(rubbed), fabric.bending_friction.is_some());
        for (sheet, cloth) in reference.cloths.iter().enumerate() {
            let left: Vec<_> = (0..cloth.faces.len()).map(|face| cloth.tear_of(face).left()).collect();
            let [torn, soft] = [0.0, 0.9].map(|most| left.iter().filter(|left| **left <= most).count());
            assert_eq!(mpm.torn_faces(sheet), torn);
            assert_eq!(
                soft > left.len() / 2,
                fabric.tearing.is_some(),
                "{soft} of {} have softened",
                left.len()
            );
            assert_eq!(cloth.lost_to_tearing() > expected, fabric.tearing.is_some());
        }
    }
}

/// Linear and angular momentum change by what gravity and the pins gave, in every substep (the
/// forces of faces and hinges and the vertex-face constraint are impulses between particles).
/// Bound: rounding of N particles' momenta, sqrt(N) u of the sum of their sizes, and as much in the
/// grid.
#[test]
fn pins_and_gravity_account_for_momenta() {
    account_for_momenta(material());
    account_for_momenta(woven());
    account_for_momenta(torn());
}

fn account_for_momenta(fabric: ClothMaterial) {
    let dt = dt(fabric);
    let mut mpm = fast(fabric, InstructionSet::detect());
    let totals = |mpm: &Mpm| mpm.totals(&mut Vec::new());
    let mut scratch = totals(&mpm);
    let mut pulled = 0.0_f64;
    for k in 0..120 {
        let (before, time) = (scratch, f64::from(k) * dt);
        mpm.begin_step();
        let free = mpm.particles_to_grid(dt, GRAVITY);
        mpm.apply_pins(time, dt);
        mpm.grid_to_particles(dt).unwrap();
        scratch = totals(&mpm);
        let pins = mpm.pin_impulse();
        assert_eq!(time < 0.06, pins.impulse.linear != Vector3::zeros());
        pulled = pulled.max(pins.impulse.linear.norm());
        let linear =
            scratch.linear_momentum - before.linear_momentum - free.gravity.linear - pins.impulse.linear;
        let angular =
            scratch.angular_momentum - before.angular_momentum - free.gravity.angular - pins.impulse.angular;
        let size = scratch.mass * (2.0 + GRAVITY.norm() * time) * 2.0 * (mpm.len() as f64).sqrt() * ROUNDOFF;
        assert!(linear.norm() < size, "{k}: {linear:?} N s of {size}");
        // Levers are up to 0.9 m; places are rounded to 2^-24 of a block of 0.2 m.
        assert!(angular.norm() < 2.0 * size, "{k}: {angular:?} N m s of {size}");
    }
    assert!(pulled > 1e-3, "the pins never pulled: {pulled} N s");
}

/// The number of threads changes no bit, and a run that is saved and resumed elsewhere is the same
/// run; particles of cloth of another sheet are refused.
#[test]
fn threads_and_saving_change_no_bit() {
    // The one that tears has all that the others have.
    let fabric = torn();
    let run = |threads: usize, saved: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut mpm = fast(fabric, InstructionSet::detect());
            for k in 0..90 {
                substep(&mut mpm, f64::from(k) * dt(fabric), dt(fabric));
                if saved && k == 40 {
                    let state = bits(&mpm);
                    mpm = fast(fabric, InstructionSet::detect());
                    mpm.read_state(&mut &state[..]).unwrap();
                }
            }
            (bits(&mpm), mpm.totals(&mut Vec::new()))
        })
    };
    let expected = run(1, false);
    for (threads, saved) in [(2, false), (3, false), (2, true)] {
        assert!(run(threads, saved) == expected, "{threads} threads, saved: {saved}");
    }
    // Sheets alone, without any other material.
    let sheets = [scene(fabric).0.remove(1)];
    let alone = || Mpm::with_sheets(H, vec![], &[], &sheets, &[], InstructionSet::detect()).unwrap();
    let state = bits(&alone());
    alone().read_state(&mut &state[..]).unwrap();
    let mpm = fast(fabric, InstructionSet::detect());
    let stored: Vec<_> = mpm.stored_particles().collect();
    let cloth = stored.iter().position(|p| p.material == 1).unwrap();
    for wrong in [0, 2, 3] {
        let mut stored = stored.clone();
        stored[cloth].material = wrong;
        let error = mpm.clone().set_particles(&stored).unwrap_err().to_string();
        assert!(error.contains("cannot hold"), "{error}");
    }
}

/// The positions of the sheets' particles are reported by patch, and an invalid sheet is refused
/// with its number.
#[test]
fn patches_and_refusals() {
    let (sheets, materials, block) = scene(material());
    let mpm = fast(material(), InstructionSet::detect());
    let (mesh, first) = (&sheets[0].mesh, block.len());
    let patch = &mpm.sheet_particles()[0];
    assert_eq!(patch.vertices, first..first + mesh.vertices().len());
    assert_eq!(patch.centroids, patch.vertices.end..patch.vertices.end + mesh.faces().len());
    assert_eq!(patch.faces[3], mesh.faces()[3].map(|v| (first + v) as u32));
    assert_eq!(mpm.sheet_particles()[1].vertices.start, patch.centroids.end);
    let particles = mpm.particles();
    for (id, x) in patch.vertices.clone().zip(mesh.vertices()) {
        assert!((particles[id].position.coords - x).norm() < 4.0 * H * ROUNDOFF * 2.0);
        assert_eq!(particles[id].material, 1);
    }
    let build = |sheets: &[Sheet], particles: &[ReferenceParticle]| {
        Mpm::with_sheets(H, materials.clone(), &to_states(particles), sheets, &[], InstructionSet::detect())
            .unwrap_err()
            .to_string()
    };
    let mut coarse = sheets.clone();
    coarse[1].mesh = ClothMesh::rectangle(Vector3::zeros(), Vector3::x(), Vector3::y(), [4, 4]).unwrap();
    assert!(build(&coarse, &block).starts_with("sheets[1]: cloth: faces[0]: longest edge is 0.35"));
    let mut heavy = sheets.clone();
    heavy[0].material.density = -1.0;
    assert!(build(&heavy, &block).starts_with("sheets[0]: cloth: density is -1 kg/m^3"));
    let mut unknown = block.clone();
    unknown[2].material = 1;
    assert!(build(&sheets, &unknown).contains("particles[2].material: 1 is not one of the 1 materials"));
}

// Checks: of the symmetric part of C damping keeps the part V, so m h^2/8 |sym C|^2 (1 - V^2) goes.
// In the first substep the velocities do not depend on damping: the kinetic energies of a damped
// and of an undamped sheet differ by that. f32 rounds each to some 1e-6 of the energy.
#[test]
fn what_damping_takes_is_told() {
    let kinetic = |damping: f64| {
        let mesh =
            ClothMesh::rectangle(Vector3::new(0.013, -0.021, 0.3), Vector3::x(), Vector3::y(), [20, 20]);
        let material = ClothMaterial { damping, shear_stiffness: 0.0, ..material() };
        let sheet =
            |x: f64| Sheet { velocity: Vector3::x() * x, ..Sheet::new(mesh.clone().unwrap(), material) };
        // Two sheets in one place that move apart: what the grid makes of them is not rigid.
        let mut second = sheet(-1.0);
        let aside =
            ClothMesh::rectangle(Vector3::new(0.513, -0.021, 0.3), Vector3::x(), Vector3::y(), [20, 20]);
        second = Sheet { velocity: second.velocity, ..Sheet::new(aside.unwrap(), material) };
        let mut mpm =
            Mpm::with_sheets(H, Vec::new(), &[], &[sheet(1.0), second], &[], InstructionSet::Portable)
                .unwrap();
        mpm.particles_to_grid(1e-5, Vector3::zeros());
        mpm.grid_to_particles(1e-5).unwrap();
        (mpm.totals(&mut Vec::new()).kinetic_energy, mpm.dissipated())
    };
    let ((all, none), (left, taken)) = (kinetic(1.0), kinetic(0.3));
    assert_eq!((none.damping, none.plastic), (0.0, Some(0.0)));
    assert!(taken.damping > 1e-3 * all, "{taken:?} of {all}");
    assert!((taken.damping - (all - left)).abs() < 1e-6 * all, "{taken:?}, not {}", all - left);
}
