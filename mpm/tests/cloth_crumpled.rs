//! Sheets whose faces collapse and turn over.

#![allow(clippy::unwrap_used)] // everything here runs in tests

use nalgebra::Vector3;
use pliant_mpm::cloth::{ClothMaterial, ClothMesh};
use pliant_mpm::material::Elastic;
use pliant_mpm::reference::ReferenceMpm;
use pliant_testing::random::Random;

/// A free sheet at rest whose vertices are displaced at random, by up to `crumple` edges, and whose
/// directors are compressed and sheared at random: faces are collapsed and turned over.
fn random_sheet(random: &mut Random, crumple: f64) -> ReferenceMpm {
    let length = random.log_uniform(0.05, 2.0);
    let parts = 4 + random.word() as usize % 9;
    let edge = length / parts as f64;
    let grid_spacing = edge / random.uniform(0.6, 1.2);
    let elastic =
        Elastic { youngs_modulus: random.log_uniform(1e3, 1e6), poissons_ratio: random.uniform(0.0, 0.45) };
    let normal = elastic.youngs_modulus * random.log_uniform(0.5, 5.0);
    let material = ClothMaterial {
        shear_stiffness: normal * random.log_uniform(0.05, 0.5),
        friction: random.uniform(0.2, 1.0),
        ..ClothMaterial::new(random.log_uniform(50.0, 2000.0), elastic, 0.1 * grid_spacing, normal)
    };
    let turn = random.rotation();
    let (u, v) = (turn * Vector3::x() * length, turn * Vector3::y() * length);
    let mesh = ClothMesh::rectangle(random.vector() * 3.0, u, v, [parts; 2]).unwrap();
    let mut mpm = ReferenceMpm::new(grid_spacing, Vector3::zeros(), vec![], vec![]).unwrap();
    mpm.add_cloth(mesh, material, vec![]).unwrap();
    let cloth = &mut mpm.cloths[0];
    for p in &mut cloth.vertices {
        p.position += random.vector() * (crumple * edge);
    }
    for face in &mut cloth.faces {
        face.director += random.vector();
    }
    // Maps the directors back.
    mpm.substep(1e-9, |_, _, _| {}).unwrap();
    mpm
}

/// Collapsed and turned-over faces give no energy: that of a free sheet, kinetic and elastic, is at
/// no time above that of its start, whatever its state then is. (The scheme only takes from it: see
/// [`pliant_mpm::cloth::stability`].) Substeps are the largest
/// for the stretch at the start.
#[test]
fn energy_of_a_crumpled_sheet_does_not_grow() {
    let seed = 2511;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    for number in 0..40 {
        let crumple = random.uniform(0.0, 1.0);
        let mut mpm = random_sheet(&mut random, crumple);
        let (dt, stretch) = (mpm.cloths[0].largest_substep(0.0), mpm.cloths[0].stretch().faces.length);
        let start = mpm.totals().energy();
        let mut most = 0.0_f64;
        for _ in 0..200 {
            mpm.substep(dt, |_, _, _| {}).unwrap();
            most = most.max(mpm.totals().energy() / start);
        }
        println!("{number}: crumpled by {crumple:.3}, stretched by {stretch:.2}, energy at most {most:.4}");
        assert!(most < 1.0, "{number}: {most}");
    }
}
