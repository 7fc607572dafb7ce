//! Pins: what they hold stays where it is held.

use nalgebra::Vector3;
use pliant_mpm::cloth::Pin;
use pliant_mpm::rope::{Rope, RopeMaterial};
use pliant_mpm::{InstructionSet, Mpm};
use pliant_testing::Random;

/// A rope that hangs along gravity from a vertex within it, at rest and let go at once: what is below that vertex
/// is stretched and what is above is pressed, by at most twice what the weight does at rest, rho g l^2 / E at the
/// ends of parts of length l (a bar under its own weight, loaded at once: Timoshenko and Young 1937). The grid
/// resolves a jump of the strain at the pin within its spacing h, which adds up to 2 rho g L h / E. A pin that
/// holds to less than the rope's rounding would let it creep by through the pin, and its vertex, put back in each
/// substep, would strain it without end: pins did so where g dt was below the rounding of f32 over a substep.
#[test]
fn nothing_creeps_through_a_pin() {
    let seed = 3011;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let mut worst = 0.0_f64;
    for case in 0..20 {
        let h = random.log_uniform(5e-4, 0.2);
        let segments = 6 + random.word() as usize % 25;
        let edge = h * random.uniform(0.2, 1.0);
        let length = edge * segments as f64;
        let radius = edge * random.log_uniform(0.05, 0.5);
        let [density, modulus] = [random.log_uniform(100.0, 1e4), random.log_uniform(1e4, 1e9)];
        let material = RopeMaterial::new(density, radius, modulus, 0.4 * modulus);
        // Half of the weight under which it would buckle (7.84 B / L^3: Greenhill 1881), small strains, at most
        // that of the earth.
        let weight = material.density * material.area();
        let gravity = (0.5 * 7.84 * material.bending() / (weight * length.powi(3)))
            .min(1e-3 * modulus / (density * length))
            .min(9.81);
        let along = random.rotation() * Vector3::x();
        let from = random.vector() * random.log_uniform(0.01, 10.0);
        let points = Rope::line(from, from + length * along, segments);
        let vertex = random.word() as usize % (segments + 1);
        let pins = vec![Pin::fixed(vertex, points[vertex]).unwrap()];
        let rope = Rope { pins, ..Rope::new(points.clone(), material) };
        let mut mpm = Mpm::with_ropes(h, vec![], &[], (&[], &[rope]), &[], InstructionSet::detect()).unwrap();
        let dt = mpm.largest_stable_substep(0.0);
        // Four periods of the slowest wave.
        let count = (16.0 * length / material.wave_speed() / dt).ceil() as u32;
        let mut most = 0.0_f64;
        for k in 0..count {
            mpm.begin_step();
            mpm.particles_to_grid(dt, gravity * along);
            mpm.apply_pins(f64::from(k) * dt, dt);
            mpm.grid_to_particles(dt).unwrap();
            let now = mpm.particles();
            let moved = |v: usize| (now[v].position.coords - points[v]).norm();
            most = most.max(moved(0)).max(moved(segments));
        }
        let part = edge * vertex.max(segments - vertex) as f64;
        let bound = density * gravity * (part * part + 2.0 * length * h) / modulus;
        // What gravity brings in a substep, g dt, over the rounding of f32 over one, u h / dt.
        let roundings = gravity * dt * dt / (f64::from(f32::EPSILON) * h);
        println!(
            "{case}: {most:.2e} m, bound {bound:.2e} m; g dt of {roundings:.1e} roundings; {count} substeps"
        );
        worst = worst.max(most / bound);
        assert!(most < bound, "{case}: {most} m, bound {bound} m");
    }
    println!("at most {worst:.2} of the bound");
}
