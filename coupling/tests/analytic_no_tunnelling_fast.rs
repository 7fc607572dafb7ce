//! No tunnelling of thin and fast bodies: a sheet that falls on a thin plate, and a blade that
//! turns through a soft block. No particle, and no vertex of the sheet, comes out at another side
//! than it was on.

use crate::common::{self, block, fixed, fixed_corotated, prescribed, snapshot};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_coupling::{AutoOr, Settings, World};
use pliant_mpm::cloth::{ClothMaterial, ClothMesh, Sheet};
use pliant_mpm::material::Elastic;
use pliant_rigid::Shape;

/// Half of the plate's and of the blade's thickness [m].
const HALF_THICKNESS: f64 = 0.0005;

/// A sheet of 0.2 m falls at 5 m/s on a plate of 1 mm that is larger than the sheet can become,
/// flat, tilted, and edge first; at the step of the paper's bag, 10 ms (50 mm of way, fifty
/// thicknesses) and at 2 ms. No vertex or centroid is ever below the plate's lower face. Its speed
/// shows that it hit: a step after the impact nothing falls any more.
#[test]
fn a_falling_sheet_does_not_pass_a_thin_plate() {
    let h = 1.0 / 64.0;
    let elastic = Elastic { youngs_modulus: 8e5, poissons_ratio: 0.4 };
    // Half a cell thick, as the paper's bag, and a tenth of that.
    for thickness in [h, 0.1 * h] {
        for (degrees, dt) in [(0.0_f64, 0.01), (30.0, 0.01), (90.0, 0.01), (30.0, 0.002)] {
            let tilt = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), degrees.to_radians());
            let (along, across) = (tilt * Vector3::x() * 0.2, Vector3::y() * 0.2);
            let corner = Vector3::z() * (0.03 - along.z.min(0.0)) - 0.5 * across;
            let mut builder = World::builder(Settings::new(h, dt));
            let mesh = ClothMesh::rectangle(corner, along, across, [14, 14]).unwrap();
            let mut sheet = Sheet::new(mesh, ClothMaterial::new(1500.0, elastic, thickness, 1e5));
            sheet.velocity = -5.0 * Vector3::z();
            builder.cloth(sheet);
            let plate = Shape::Box { half_extents: Vector3::new(1.0, 1.0, HALF_THICKNESS) };
            builder.body(fixed("plate", plate, Isometry3::identity(), 0.5)).unwrap();
            let mut world = builder.build().unwrap();
            let (mut lowest, mut through) = (f64::INFINITY, 0);
            for _ in 0..(0.2 / dt).round() as usize {
                world.step().unwrap();
                let heights = snapshot(&mut world).positions.into_iter().map(|x| x[2]);
                lowest = heights.clone().fold(lowest, f64::min);
                through = through.max(heights.filter(|z| *z < -HALF_THICKNESS).count());
            }
            let speed = common::mean_velocity(&mut world).z;
            let case = format!("{thickness} m thick, {degrees} degrees, dt {dt}");
            println!("{case}: {through} went through, lowest {:.3} mm, {speed:.3} m/s", 1e3 * lowest);
            assert_eq!(through, 0, "{case}: lowest {lowest} m");
            assert!(speed > -1.0, "{case}: it never hit: {speed} m/s");
        }
    }
}

/// Half of the blade's length and of its height [m], and how fast its tips are [m/s].
const ARM: f64 = 0.1;
const HALF_HEIGHT: f64 = 0.1;
const TIP: f64 = 20.0;

/// Particles that went through the blade, and that it ever had within a cell of its faces. Seen
/// from the blade a particle changes sides by going through, or round its tips: then it crosses the
/// blade's plane beyond them. Between two looks the blade turns by `turn` [rad], and a particle at
/// rest runs on an arc, whose rise over the chord is at most ARM turn^2/8: crossings nearer to the
/// tip than that are round it.
fn cut(world: &mut World, steps: usize, turn: f64) -> (usize, usize) {
    let margin = ARM * turn * turn / 8.0 + 0.005;
    let blade = world.bodies().find("blade").unwrap();
    let substep_states = |world: &mut World| -> Vec<Point3<f64>> {
        let pose = world.bodies().pose(blade);
        let local = |x: [f64; 3]| pose.inverse_transform_point(&x.into());
        snapshot(world).positions.into_iter().map(local).collect()
    };
    let mut before = substep_states(world);
    let mut side: Vec<f64> = before.iter().map(|x| x.y.signum()).collect();
    let (mut through, mut near) = (vec![false; side.len()], vec![false; side.len()]);
    for _ in 0..steps {
        world.step().unwrap();
        let now = substep_states(world);
        for (p, (x, last)) in now.iter().zip(&before).enumerate() {
            near[p] |= x.y.abs() < 0.01 && x.x.abs() < ARM;
            if x.y * side[p] < -HALF_THICKNESS {
                // Where it crossed the plane, on the chord.
                let part = (last.y / (last.y - x.y)).clamp(0.0, 1.0);
                let crossed = last.x + part * (x.x - last.x);
                through[p] |= crossed.abs() < ARM - margin && x.z.abs() < HALF_HEIGHT;
                side[p] = x.y.signum();
            }
        }
        before = now;
    }
    (through.iter().filter(|t| **t).count(), near.iter().filter(|n| **n).count())
}

/// A blade of 1 mm turns at 200 rad/s about its middle, its tips at 20 m/s, into a soft block
/// beside it, and from within one: in two turns no particle changes side but round the tips. It is
/// taller than the block can become in that time.
#[test]
fn a_fast_turning_blade_lets_no_particle_through() {
    for (place, corner) in [("beside", [0.0, 0.02, -0.04]), ("within", [0.015, -0.04, -0.04])] {
        for youngs_modulus in [1e4, 1e5] {
            for points in [false, true] {
                for dt in [2.5e-4, 1e-3] {
                    let mut settings = Settings::new(0.02, dt);
                    settings.gravity = Vector3::zeros();
                    if points {
                        settings.contact.particle_radius = AutoOr::Value(0.0);
                    }
                    let mut builder = World::builder(settings);
                    let material = builder.material(fixed_corotated(youngs_modulus, 0.3, 1000.0));
                    builder.particles(block(material, corner, [8; 3], 0.01, Vector3::zeros()));
                    let shape = Shape::Box { half_extents: Vector3::new(ARM, HALF_THICKNESS, HALF_HEIGHT) };
                    let turning = [(0.0, Vector3::zeros(), Vector3::z() * (TIP / ARM))];
                    builder.body(prescribed("blade", shape, Isometry3::identity(), 0.5, &turning)).unwrap();
                    builder.allow_overlap("blade");
                    let mut world = builder.build().unwrap();
                    let turn = TIP / ARM * dt;
                    let steps = (4.0 * core::f64::consts::PI / turn).ceil() as usize;
                    let (through, near) = cut(&mut world, steps, turn);
                    let case = format!("{place}, E {youngs_modulus}, points {points}, dt {dt}");
                    println!("{case}: {through} went through, {near} were near");
                    assert!(near >= 64, "{case}: it hardly met the block: {near}");
                    assert_eq!(through, 0, "{case}");
                }
            }
        }
    }
}
