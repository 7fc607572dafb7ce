//! Cloth that is held, some of it woven, some that tears; and closed cloths with gas in them.

use super::cloth::{Extent, fabric, shape, sheet};
use super::family::{Family, WORK, at_rest, bound_work, settings, symmetries};
use crate::Trial;
use crate::builders::{body, dynamic};
use crate::laws::Law;
use crate::sampler::SceneSampler;
use pliant_scenes::format::{
    AutoOr, ClothBendingFriction, ClothGas, ClothPin, ClothShape, ClothShearFriction, ClothTearing,
    ClothWeave, Corner, Edge, Fabric, PinKeyframe, PinPlace, Pose, Scene,
};

/// Sheets that are held.
pub const HUNG: Family = Family {
    name: "hung",
    about: "sheets, discs and T-shirts, half of them woven, some that tear, hang from corners, edges and vertices, some of \
            which let go or move; a body falls onto them",
    long: false,
    draw: draw_hung,
};

/// Closed cloths with gas.
pub const BAGS: Family = Family {
    name: "bags",
    about: "spheres and pillows of cloth with gas in them, below and above the pressure around, collide \
            in free space at up to 20 m/s",
    long: false,
    draw: draw_bags,
};

/// Makes a fabric a woven one with the warp in the plane of the sheet, over all that the schema allows.
fn weave(sampler: &mut SceneSampler, fabric: &mut Fabric) {
    let angle = sampler.within(0.0, std::f64::consts::TAU);
    let warp_modulus = fabric.youngs_modulus;
    let weft_youngs_modulus = warp_modulus * sampler.log_within(0.02, 5.0);
    fabric.poissons_ratio = fabric.poissons_ratio.min(0.95 * warp_modulus / weft_youngs_modulus);
    // Stiffnesses of an orthotropic sheet in plane stress.
    let nu = fabric.poissons_ratio;
    let by = 1.0 / (1.0 - nu * nu * weft_youngs_modulus / warp_modulus);
    let [warp, weft] = [warp_modulus * by, weft_youngs_modulus * by];
    let most = 0.5 * (warp.min(weft) - nu * weft);
    let mut stiffness = || {
        let value = fabric.bending_stiffness * sampler.log_within(0.03, 3.0);
        sampler.chance(0.7).then_some(value)
    };
    let (weft_bending_stiffness, twist_stiffness) = (stiffness(), stiffness());
    fabric.weave = Some(ClothWeave {
        warp: [angle.cos(), angle.sin(), 0.0],
        weft_youngs_modulus,
        shear_modulus: most.max(1e-3 * weft_youngs_modulus * (1.0 - nu)) * sampler.log_within(1e-3, 1.0),
        weft_bending_stiffness,
        twist_stiffness,
        shear_friction: None,
    });
}

/// Gives a fabric friction within, in bending and, if it is woven, in shear: within a curvature of 0.03 to
/// 3 over the sheet's radius \[m\], and a shear of 1e-3 to 0.3, stiffnesses like those of elastic sheets.
fn friction(sampler: &mut SceneSampler, fabric: &mut Fabric, radius: f64) {
    let thickness = fabric.thickness.value().unwrap_or(0.0);
    let stiffness = fabric.youngs_modulus * thickness.powi(3) * sampler.log_within(1e-3, 0.1);
    let curvature = sampler.log_within(0.03, 3.0) / radius;
    fabric.bending_friction = Some(ClothBendingFriction { moment: stiffness * curvature, curvature });
    if let Some(weave) = &mut fabric.weave {
        let strain = sampler.log_within(1e-3, 0.3);
        let stress = weave.shear_modulus * strain * sampler.log_within(0.03, 3.0);
        weave.shear_friction = Some(ClothShearFriction { stress, strain });
    }
}

/// Lets a fabric tear: at a strain of 0.003 to 0.3 along the softer of its yarns, with 1.2 to 30 times the
/// least energy that a mesh of the longest edges can show.
fn tearing(sampler: &mut SceneSampler, fabric: &mut Fabric, spacing: f64) {
    let warp = fabric.youngs_modulus;
    let weft = fabric.weave.map_or(warp, |weave| weave.weft_youngs_modulus);
    let thickness = fabric.thickness.value().unwrap_or(spacing);
    let stiffness = warp.min(weft) * thickness;
    // Less would be refused.
    let strength = (stiffness * sampler.log_within(0.003, 0.3)).max(2e-4 * warp.max(weft) * thickness);
    let least = strength.powi(2) * 2.0 * spacing / (2.0 * stiffness);
    fabric.tearing = Some(ClothTearing { strength, energy: least * sampler.log_within(1.2, 30.0) });
}

/// Pins of a sheet of this shape.
fn pins(sampler: &mut SceneSampler, shape: &ClothShape, moves: Option<f64>, duration: f64) -> Vec<ClothPin> {
    let hold = |sampler: &mut SceneSampler, at: PinPlace| {
        let at_time = |time: f64, displacement: [f64; 3]| PinKeyframe { time, displacement };
        let keyframes = moves.map_or(Vec::new(), |far| {
            vec![at_time(0.0, [0.0; 3]), at_time(0.7 * duration, sampler.vector(far))]
        });
        let release = sampler.chance(0.3).then(|| duration * sampler.within(0.1, 0.6));
        ClothPin { at, keyframes, release }
    };
    let is_rectangle = matches!(shape, ClothShape::Rectangle { .. });
    match sampler.count(0, 2) {
        0 if is_rectangle => {
            let edge = sampler.pick(&[Edge::Left, Edge::Right, Edge::Lower, Edge::Upper]);
            let clamped = sampler.chance(0.5);
            vec![hold(sampler, PinPlace::Edge { edge, clamped })]
        }
        1 if is_rectangle => {
            let corners = [Corner::LowerLeft, Corner::LowerRight, Corner::UpperRight, Corner::UpperLeft];
            let from = sampler.count(0, 3) as usize;
            let count = sampler.count(1, 4) as usize;
            (0..count).map(|k| hold(sampler, PinPlace::Corner { corner: corners[(from + k) % 4] })).collect()
        }
        // Every shape has these.
        _ => [0, 5].map(|vertex| hold(sampler, PinPlace::Vertex { vertex })).into(),
    }
}

fn draw_hung(sampler: &mut SceneSampler) -> Trial {
    let radius = sampler.log_within(0.02, 1.0);
    let mut scene = Scene::empty("hung", 1.0, sampler.log_within(2e-4, 1e-2));
    let spacing = radius / sampler.log_within(2.0, 14.0);
    scene.grid_spacing = Some(spacing);
    settings(sampler, &mut scene);
    scene.duration = (2.0 * (2.0 * radius / 9.81).sqrt()).clamp(4.0 * scene.dt, 300.0 * scene.dt);
    let (count, mut extent) = (sampler.count(1, 2), Extent::default());
    let mut height = 0.0;
    for number in 0..count {
        let angle = 0.5 * sampler.within(0.0, std::f64::consts::TAU);
        let is_flat = count > 1 || sampler.chance(0.5);
        let orientation = if is_flat { [angle.cos(), 0.0, 0.0, angle.sin()] } else { sampler.turn() };
        let pose = Pose { position: [0.0, 0.0, height], orientation };
        let shape = shape(sampler, radius, spacing, &mut extent);
        let mut fabric = fabric(sampler, spacing, &mut extent);
        if sampler.chance(0.5) {
            weave(sampler, &mut fabric);
            let stiffest = fabric.weave.map_or(0.0, |weave| weave.weft_youngs_modulus);
            extent.wave = extent.wave.max((stiffest / fabric.density).sqrt());
        }
        // A shirt is two layers, 1.5 spacings apart.
        height += spacing * sampler.within(3.0, 4.0);
        scene.cloths.push(sheet(format!("sheet-{number}"), shape, fabric, pose));
    }
    let speed = sampler.within(0.0, 5.0);
    let volume = radius.powi(3) * sampler.log_within(1e-3, 0.3);
    let (solid_shape, reach) = sampler.solid(volume);
    let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
    let aside = 0.5 * radius;
    // Above the flat sheets, or beyond a turned one.
    let above = height + reach + if count > 1 { spacing } else { radius };
    solid.pose = Pose {
        position: [sampler.within(-aside, aside), sampler.within(-aside, aside), above],
        orientation: sampler.turn(),
    };
    solid.velocity = [0.0, 0.0, -speed];
    scene.bodies.push(body("above", solid, solid_shape, sampler.within(0.0, 1.0)));
    bound_work(&mut scene, extent.particles, extent.wave, speed, 2.0 * WORK);
    let moves = sampler.chance(0.3).then(|| radius * sampler.log_within(0.01, 0.3));
    let duration = scene.duration;
    for cloth in &mut scene.cloths {
        cloth.pins = pins(sampler, &cloth.shape, moves, duration);
        if sampler.chance(0.3) {
            friction(sampler, &mut cloth.material, radius);
        }
        if sampler.chance(0.3) {
            tearing(sampler, &mut cloth.material, spacing);
        }
    }
    // What is moved brings energy; the law is of what is passive.
    let mut laws = if moves.is_some() { vec![Law::Layers] } else { vec![at_rest(), Law::Layers] };
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}

/// A closed shape that fits in a ball of this radius \[m\], its area \[m^2\] and its volume, or one like it
/// \[m^3\].
fn closed(
    sampler: &mut SceneSampler,
    radius: f64,
    spacing: f64,
    extent: &mut Extent,
) -> (ClothShape, f64, f64) {
    if sampler.chance(0.5) {
        let parts = ((1.2 * radius / (spacing * sampler.within(0.6, 1.2))).round() as u32).max(2);
        extent.particles += 30.0 * f64::from(parts * parts);
        let area = 4.0 * std::f64::consts::PI * radius * radius;
        return (ClothShape::Sphere { radius, parts }, area, area * radius / 3.0);
    }
    let turn = sampler.within(0.4, 1.1);
    let size = [2.0 * radius * turn.cos(), 2.0 * radius * turn.sin()];
    let edge = spacing * sampler.within(0.6, 1.2);
    let parts = size.map(|side| ((side / edge).round() as u32).max(2));
    extent.particles += 6.0 * f64::from(parts[0] * parts[1]);
    let area = 2.0 * size[0] * size[1];
    (ClothShape::Pillow { size, parts, gap: AutoOr::Auto }, area, 0.5 * area * spacing)
}

fn draw_bags(sampler: &mut SceneSampler) -> Trial {
    let radius = sampler.log_within(0.01, 1.0);
    let speed = sampler.log_within(0.01, 20.0);
    let mut scene = Scene::empty("bags", 1.0, sampler.log_within(2e-4, 1e-2));
    scene.gravity = [0.0; 3];
    let spacing = radius / sampler.log_within(2.0, 10.0);
    scene.grid_spacing = Some(spacing);
    settings(sampler, &mut scene);
    let (count, mut extent) = (sampler.count(1, 2), Extent::default());
    for number in 0..count {
        let aside = 0.3 * radius;
        let along = f64::from(number) * (2.0 * radius + spacing * sampler.within(2.0, 4.0));
        let pose = Pose {
            position: [along, sampler.within(-aside, aside), sampler.within(-aside, aside)],
            orientation: sampler.turn(),
        };
        let (shape, area, volume) = closed(sampler, radius, spacing, &mut extent);
        let fabric = fabric(sampler, spacing, &mut extent);
        let thickness = fabric.thickness.value().unwrap_or(spacing);
        // A sphere of this fabric is stretched by a third of this strain, or burst by it in a model
        // that softens; below the pressure around it is crushed.
        let side = if sampler.chance(0.2) { -1.0 } else { 1.0 };
        let gauge = side * fabric.youngs_modulus * thickness / radius * sampler.log_within(1e-4, 0.3);
        let gas = if sampler.chance(0.5) {
            ClothGas::ConstantPressure { gauge_pressure: gauge }
        } else {
            let ambient =
                if sampler.chance(0.2) { 101_325.0 } else { gauge.abs() * sampler.log_within(1.0, 100.0) };
            // Its stiffness by volume moves the whole bag.
            let frequency = ((ambient + gauge) / volume * area / (fabric.density * thickness)).sqrt();
            extent.wave = extent.wave.max(frequency * spacing);
            let volume = sampler.chance(0.3).then(|| volume * sampler.within(0.7, 2.0));
            ClothGas::Isothermal {
                gauge_pressure: gauge.max(-0.95 * ambient),
                ambient_pressure: ambient,
                volume,
            }
        };
        let mut bag = sheet(format!("bag-{number}"), shape, fabric, pose);
        bag.gas = Some(gas);
        // Towards each other; one alone is stopped by a solid.
        let toward = if number == 0 { 1.0 } else { -1.0 };
        bag.velocity = [toward * speed, 0.05 * speed * sampler.within(-1.0, 1.0), 0.0];
        scene.cloths.push(bag);
    }
    if count == 1 || sampler.chance(0.3) {
        let volume = radius.powi(3) * sampler.log_within(0.03, 1.0);
        let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
        let (shape, reach) = sampler.solid(volume);
        let along = f64::from(count - 1) * (2.0 * radius + 4.0 * spacing) + radius + reach + 2.0 * spacing;
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
