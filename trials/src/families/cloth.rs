//! Sheets of cloth that collide in free space, and that lie between bodies.

use super::family::{Family, WORK, at_rest, bound_work, settings, symmetries};
use crate::Trial;
use crate::builders::{body, dynamic, floor};
use crate::laws::Law;
use crate::sampler::SceneSampler;
use pliant_scenes::format::{
    AutoOr, ClothShape, ClothSpec, Fabric, Motion, Pose, RigidShape, Scene, TShirtMeasures, VelocityKeyframe,
};

/// Sheets in free space.
pub const SHEETS: Family = Family {
    name: "sheets",
    about: "sheets, discs and T-shirts of 1 cm to 1 m, of fabric of 1e3 to 1e7 Pa, collide in free space \
            at up to 20 m/s",
    long: false,
    draw: draw_sheets,
};

/// Sheets between bodies.
pub const WRAPS: Family = Family {
    name: "wraps",
    about: "one to four layers of cloth fall onto bodies, and other bodies fall or are pressed onto them",
    long: false,
    draw: draw_wraps,
};

/// Sheets that are hit once, and then left alone.
pub const HIT_SHEETS: Family = Family {
    name: "hit-sheets",
    about: "a sheet of 1 cm to 1 m is hit by a ball at up to 20 m/s in free space, and left alone for 10 s",
    long: true,
    draw: draw_hit_sheets,
};

/// Least radius of a shirt over the grid's spacing.
const COARSEST_SHIRT: f64 = 8.0;

/// Least Young's modulus of a fabric that is drawn \[Pa\], and largest density \[kg/m^3\].
const SOFTEST: f64 = 1e3;
const HEAVIEST: f64 = 2000.0;

/// What sheets of a scene come to, for the bound on its work.
#[derive(Default)]
pub(super) struct Extent {
    pub particles: f64,
    /// Fastest wave \[m/s\].
    pub wave: f64,
}

/// A fabric on a grid of this spacing \[m\], over the range that cloth is made of and beyond.
pub(super) fn fabric(sampler: &mut SceneSampler, spacing: f64, extent: &mut Extent) -> Fabric {
    let youngs_modulus = sampler.log_within(SOFTEST, 1e7);
    let normal_stiffness = youngs_modulus * sampler.log_within(0.1, 10.0);
    let density = sampler.log_within(100.0, HEAVIEST);
    let thickness = spacing * sampler.log_within(0.02, 0.8);
    let has_shear = sampler.chance(0.5);
    extent.wave = extent.wave.max((youngs_modulus.max(normal_stiffness) / density).sqrt());
    Fabric {
        density,
        youngs_modulus,
        poissons_ratio: sampler.within(0.0, 0.45),
        thickness: AutoOr::Value(thickness),
        normal_stiffness,
        shear_stiffness: if has_shear { normal_stiffness * sampler.log_within(0.03, 1.0) } else { 0.0 },
        friction: if has_shear { sampler.within(0.0, 1.0) } else { 0.0 },
        bending_stiffness: if sampler.chance(0.5) {
            youngs_modulus * thickness.powi(3) * sampler.log_within(1e-3, 0.1)
        } else {
            0.0
        },
        damping: if sampler.chance(0.5) { 1.0 } else { sampler.within(0.2, 1.0) },
        bending_friction: None,
        weave: None,
        tearing: None,
    }
}

/// A sheet that fits in a ball of this radius \[m\].
pub(super) fn shape(
    sampler: &mut SceneSampler,
    radius: f64,
    spacing: f64,
    extent: &mut Extent,
) -> ClothShape {
    let edge = spacing * sampler.within(0.6, 1.4);
    let parts = |side: f64| ((side / edge).round() as u32).max(2);
    match sampler.count(0, 3) {
        // Coarser shirts have no room for an underarm.
        1 if radius < COARSEST_SHIRT * spacing => shape(sampler, radius, spacing, extent),
        0 => {
            let rings = parts(radius).min(12);
            extent.particles += 9.0 * f64::from(rings * rings);
            ClothShape::Disc { radius, rings }
        }
        1 => {
            // The shirt's own measures are of one 0.5 m high and wide.
            let scale = 2.0 * radius;
            let usual = TShirtMeasures::default();
            extent.particles += 3.0 * 0.7 * (scale / spacing).powi(2);
            ClothShape::TShirt(TShirtMeasures {
                chest_width: scale * usual.chest_width,
                length: scale * usual.length,
                sleeve_length: scale * usual.sleeve_length,
                sleeve_opening: scale * usual.sleeve_opening,
                sleeve_drop: scale * usual.sleeve_drop,
                neck_width: scale * usual.neck_width,
                front_neck_depth: scale * usual.front_neck_depth,
                back_neck_depth: scale * usual.back_neck_depth,
                ..usual
            })
        }
        _ => {
            let turn = sampler.within(0.3, 1.2);
            let size = [2.0 * radius * turn.cos(), 2.0 * radius * turn.sin()];
            let parts = size.map(parts);
            extent.particles += 3.0 * f64::from(parts[0] * parts[1]);
            ClothShape::Rectangle { size, parts }
        }
    }
}

pub(super) fn sheet(name: String, shape: ClothShape, material: Fabric, pose: Pose) -> ClothSpec {
    ClothSpec {
        name,
        shape,
        pose,
        velocity: [0.0; 3],
        material,
        mass_damping: 0.0,
        gas: None,
        pins: Vec::new(),
        color: [226, 232, 238],
        back_color: None,
    }
}

fn draw_sheets(sampler: &mut SceneSampler) -> Trial {
    let radius = sampler.log_within(0.01, 1.0);
    let speed = sampler.log_within(0.01, 20.0);
    let mut scene = Scene::empty("sheets", 1.0, sampler.log_within(2e-4, 1e-2));
    scene.gravity = [0.0; 3];
    let spacing = radius / sampler.log_within(2.0, 14.0);
    scene.grid_spacing = Some(spacing);
    settings(sampler, &mut scene);
    let (count, mut extent) = (sampler.count(1, 3), Extent::default());
    for number in 0..count {
        let aside = 0.3 * radius;
        let along = f64::from(number) * (2.0 * radius + spacing * sampler.within(1.0, 3.0));
        let pose = Pose {
            position: [along, sampler.within(-aside, aside), sampler.within(-aside, aside)],
            orientation: sampler.turn(),
        };
        let shape = shape(sampler, radius, spacing, &mut extent);
        let fabric = fabric(sampler, spacing, &mut extent);
        let mut sheet = sheet(format!("sheet-{number}"), shape, fabric, pose);
        // Towards each other; one alone is stopped by a ball.
        let toward = 1.0 - 2.0 * f64::from(number) / f64::from(count.max(2) - 1);
        sheet.velocity = [toward * speed, 0.05 * speed * sampler.within(-1.0, 1.0), 0.0];
        scene.cloths.push(sheet);
    }
    if count == 1 || sampler.chance(0.3) {
        let volume = radius.powi(3) * sampler.log_within(0.03, 1.0);
        let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
        let (shape, reach) = sampler.solid(volume);
        let along = f64::from(count - 1) * (2.0 * radius + 3.0 * spacing) + radius + reach + spacing;
        solid.pose = Pose { position: [along, 0.0, 0.0], orientation: sampler.turn() };
        solid.velocity = [-speed, 0.0, 0.0];
        scene.bodies.push(body("solid", solid, shape, sampler.within(0.0, 1.0)));
    }
    scene.duration = (4.0 * radius / speed).clamp(4.0 * scene.dt, 200.0 * scene.dt);
    bound_work(&mut scene, extent.particles, extent.wave, speed, WORK);
    let mut laws = vec![at_rest(), Law::Momentum, Law::Layers];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}

fn draw_hit_sheets(sampler: &mut SceneSampler) -> Trial {
    let radius = sampler.log_within(0.01, 1.0);
    let mut scene = Scene::empty("hit-sheets", 10.0, sampler.log_within(2e-3, 1e-2));
    scene.gravity = [0.0; 3];
    let spacing = radius / sampler.log_within(2.0, 8.0);
    scene.grid_spacing = Some(spacing);
    let mut extent = Extent::default();
    let shape = shape(sampler, radius, spacing, &mut extent);
    let mut fabric = fabric(sampler, spacing, &mut extent);
    // Ten seconds of stiffer ones take too many substeps: the wave passes 10 to 1000 spacings a second
    // at most.
    let softer = (spacing * sampler.log_within(10.0, 1e3) / extent.wave).powi(2).min(1.0);
    for stiffness in [
        &mut fabric.youngs_modulus,
        &mut fabric.normal_stiffness,
        &mut fabric.shear_stiffness,
        &mut fabric.bending_stiffness,
    ] {
        *stiffness *= softer;
    }
    // From far lighter than the sheet to far heavier.
    let mass = fabric.density * 0.1 * spacing * (1.5 * radius).powi(2) * sampler.log_within(0.1, 10.0);
    let pose = Pose { position: [0.0; 3], orientation: sampler.turn() };
    scene.cloths.push(sheet("sheet".to_owned(), shape, fabric, pose));
    let ball = radius * sampler.log_within(0.1, 0.6);
    let mut solid = dynamic(mass);
    let aside = 0.5 * radius;
    let position = [radius + ball + spacing, sampler.within(-aside, aside), sampler.within(-aside, aside)];
    solid.pose = Pose { position, ..Pose::default() };
    // The softest fabric that is drawn, hit at 20 m/s: no faster beside the waves of the one that was softened.
    let fastest = 20.0 / (SOFTEST / HEAVIEST).sqrt() * extent.wave * softer.sqrt();
    solid.velocity = [-sampler.log_within(0.01, 20.0).min(fastest), 0.0, 0.0];
    scene.bodies.push(body("ball", solid, RigidShape::Sphere { radius: ball }, sampler.within(0.0, 1.0)));
    Trial { scene, laws: vec![at_rest(), Law::Fades, Law::Momentum, Law::Layers] }
}

fn draw_wraps(sampler: &mut SceneSampler) -> Trial {
    let radius = sampler.log_within(0.02, 0.5);
    let mut scene = Scene::empty("wraps", 1.0, sampler.log_within(5e-4, 1e-2));
    let spacing = radius / sampler.log_within(2.0, 14.0);
    scene.grid_spacing = Some(spacing);
    settings(sampler, &mut scene);
    scene.bodies.push(floor(sampler.within(0.1, 1.0)));
    // What lies below.
    let mut height = 0.0;
    if sampler.chance(0.6) {
        let volume = radius.powi(3) * sampler.log_within(0.01, 0.5);
        let (shape, reach) = sampler.solid(volume);
        let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
        solid.pose = Pose { position: [0.0, 0.0, reach * 1.001], orientation: sampler.turn() };
        height += 2.0 * reach;
        scene.bodies.push(body("below", solid, shape, sampler.within(0.0, 1.0)));
    }
    let (count, mut extent) = (sampler.count(1, 4), Extent::default());
    for number in 0..count {
        height += spacing * sampler.within(1.0, 2.0);
        let angle = 0.5 * sampler.within(0.0, std::f64::consts::TAU);
        let pose = Pose { position: [0.0, 0.0, height], orientation: [angle.cos(), 0.0, 0.0, angle.sin()] };
        let shape = shape(sampler, radius, spacing, &mut extent);
        let fabric = fabric(sampler, spacing, &mut extent);
        // A shirt is two layers, 1.5 spacings apart.
        height += if matches!(shape, ClothShape::TShirt(_)) { 1.5 * spacing } else { 0.0 };
        let mut sheet = sheet(format!("sheet-{number}"), shape, fabric, pose);
        if sampler.chance(0.2) {
            sheet.mass_damping = sampler.log_within(0.1, 10.0);
        }
        scene.cloths.push(sheet);
    }
    let speed = sampler.within(0.0, 5.0);
    let volume = radius.powi(3) * sampler.log_within(0.003, 0.3);
    let (shape, reach) = sampler.solid(volume);
    height += reach + spacing;
    let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
    let aside = 0.5 * radius;
    let position = [sampler.within(-aside, aside), sampler.within(-aside, aside), height];
    solid.pose = Pose { position, orientation: sampler.turn() };
    solid.velocity = [0.0, 0.0, -speed];
    let mut above = body("above", solid, shape, sampler.within(0.0, 1.0));
    let is_pressed = sampler.chance(0.3);
    if is_pressed {
        // A tool that comes down and stays above the floor by its radius.
        let (time, push) = (0.5 * (height - reach) / (speed + 0.1), -(speed + 0.1));
        let velocity =
            |time: f64, linear: f64| VelocityKeyframe { time, linear: [0.0, 0.0, linear], angular: [0.0; 3] };
        let keyframes = vec![velocity(0.0, push), velocity(time, 0.0)];
        above.motion =
            Motion::PrescribedVelocities { pose: Pose { position, orientation: sampler.turn() }, keyframes };
    }
    scene.bodies.push(above);
    bound_work(&mut scene, extent.particles, extent.wave, speed, 2.0 * WORK);
    // A tool brings energy; the law is of what is passive.
    let mut laws = if is_pressed { vec![Law::Layers] } else { vec![at_rest(), Law::Layers] };
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}
