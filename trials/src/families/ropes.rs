//! Ropes that collide in free space, and that are held.

use super::family::{Family, WORK, at_rest, bound_work, settings, symmetries};
use crate::Trial;
use crate::builders::{body, dynamic, floor};
use crate::laws::Law;
use crate::sampler::SceneSampler;
use pliant_scenes::format::{
    AutoOr, Cord, PinKeyframe, Pose, RopePin, RopePlace, RopeShape, RopeSpec, Scene, TurnKeyframe,
};

/// Ropes in free space.
pub const ROPES: Family = Family {
    name: "ropes",
    about: "one to three ropes of 2 cm to 2 m, of 1e4 to 1e9 Pa, some bent, coiled or twisted, collide in \
            free space at up to 20 m/s",
    long: false,
    draw: draw_ropes,
};

/// Ropes that are held.
pub const CABLES: Family = Family {
    name: "cables",
    about: "ropes hang from pins and clamps, some of which let go, move or turn; a body falls onto them",
    long: false,
    draw: draw_cables,
};

/// What the ropes of a scene come to, for the bound on its work.
#[derive(Default)]
pub(super) struct Extent {
    pub vertices: f64,
    /// Fastest wave, over the length of a segment in grid spacings \[m/s\].
    pub wave: f64,
}

impl Extent {
    /// Shortens the steps of a scene to some hundred substeps.
    pub(super) fn shorten_step(&self, scene: &mut Scene, speed: f64) {
        let substep = 0.2 * scene.grid_spacing.unwrap_or(1.0) / (self.wave + speed);
        scene.dt = scene.dt.min(MOST_SUBSTEPS * substep);
    }

    /// Shortens the steps of a scene to some hundred substeps, and the scene to `work` vertices times substeps.
    /// A substep of few vertices costs as much as one of some hundred.
    fn bound(&self, scene: &mut Scene, speed: f64, work: f64) {
        self.shorten_step(scene, speed);
        bound_work(scene, self.vertices.max(300.0), self.wave, speed, work);
    }
}

/// About the most substeps in a step.
const MOST_SUBSTEPS: f64 = 200.0;

/// A cord on a grid of this spacing \[m\], and the length of its segments \[m\].
fn cord(sampler: &mut SceneSampler, spacing: f64, extent: &mut Extent) -> (Cord, f64) {
    let radius = spacing * sampler.log_within(0.02, 1.0);
    let shortest = (1.0 / 32.0f64).max(radius / spacing);
    let segment = spacing * sampler.within(shortest.max(0.15), 1.3);
    let youngs_modulus = sampler.log_within(1e4, 1e9);
    let density = sampler.log_within(100.0, 1e4);
    // Over those of a solid section: braids are far softer, tubes somewhat stiffer.
    let solid = youngs_modulus * std::f64::consts::PI * radius.powi(4) / 4.0;
    let mut stiffness = || {
        if sampler.chance(0.5) { AutoOr::Auto } else { AutoOr::Value(solid * sampler.log_within(1e-3, 2.0)) }
    };
    let (bending_stiffness, twist_stiffness) = (stiffness(), stiffness());
    extent.wave = extent.wave.max((youngs_modulus / density).sqrt() * spacing / segment);
    let cord = Cord {
        density,
        radius,
        youngs_modulus,
        poissons_ratio: sampler.within(-0.5, 0.5),
        shear_modulus: AutoOr::Auto,
        bending_stiffness,
        twist_stiffness,
        damping: if sampler.chance(0.5) { 1.0 } else { sampler.within(0.2, 1.0) },
    };
    (cord, segment)
}

/// A line that fits in a ball of this radius \[m\], along x where it is straight. Turns of a coil are
/// this far apart \[m\] or more.
fn line(sampler: &mut SceneSampler, radius: f64, apart: f64) -> RopeShape {
    match sampler.count(0, 3) {
        0 => {
            // Corners turn by up to 1.3 rad.
            let mut aside = || sampler.within(-0.25, 0.25) * radius;
            let points = [-1.0, -1.0 / 3.0, 1.0 / 3.0, 1.0].map(|x| [0.8 * x * radius, aside(), aside()]);
            RopeShape::Polyline { points: points.to_vec() }
        }
        1 => {
            let turns = sampler.within(0.3, 4.0).min(1.4 * radius / apart);
            let pitch = if turns < 0.9 && sampler.chance(0.5) {
                0.0
            } else {
                apart * sampler.within(1.0, (1.4 * radius / (turns * apart)).max(1.0))
            };
            let side = if sampler.chance(0.5) { 1.0 } else { -1.0 };
            RopeShape::Helix { radius: radius * sampler.within(0.3, 0.7), pitch, turns: side * turns }
        }
        _ => RopeShape::Line { from: [-radius, 0.0, 0.0], to: [radius, 0.0, 0.0] },
    }
}

/// A rope without pins that fits in a ball of this radius \[m\].
pub(super) fn rope(
    sampler: &mut SceneSampler,
    name: String,
    (radius, spacing): (f64, f64),
    pose: Pose,
    extent: &mut Extent,
) -> RopeSpec {
    let (material, segment) = cord(sampler, spacing, extent);
    let shape = line(sampler, radius, 3.0 * material.radius.max(segment));
    let mut segments = (shape.length() / segment).ceil().max(2.0);
    let chosen = if sampler.chance(0.3) { AutoOr::Auto } else { AutoOr::Value(segments as u32) };
    if chosen == AutoOr::Auto {
        segments = shape.length() / (0.5 * spacing);
    }
    extent.vertices += segments + 1.0;
    let is_twisted = sampler.chance(0.3);
    RopeSpec {
        name,
        shape,
        segments: chosen,
        pose,
        velocity: [0.0; 3],
        material,
        naturally_curved: sampler.chance(0.5),
        // At most a quarter of a turn at a vertex.
        twist: if is_twisted { 1.5 * sampler.within(-1.0, 1.0) * (segments - 2.0).max(0.5) } else { 0.0 },
        mass_damping: if sampler.chance(0.2) { sampler.log_within(0.1, 10.0) } else { 0.0 },
        pins: Vec::new(),
        color: [226, 200, 150],
    }
}

fn draw_ropes(sampler: &mut SceneSampler) -> Trial {
    let radius = sampler.log_within(0.01, 1.0);
    let speed = sampler.log_within(0.01, 20.0);
    let mut scene = Scene::empty("ropes", 1.0, sampler.log_within(2e-4, 1e-2));
    scene.gravity = [0.0; 3];
    let spacing = radius / sampler.log_within(2.0, 30.0);
    scene.grid_spacing = Some(spacing);
    let (count, mut extent) = (sampler.count(1, 3), Extent::default());
    let aside = 0.3 * radius;
    let gap = 2.0 * radius + 4.0 * spacing;
    for number in 0..count {
        let pose = Pose {
            position: [f64::from(number) * gap, sampler.within(-aside, aside), sampler.within(-aside, aside)],
            orientation: sampler.turn(),
        };
        let mut rope = rope(sampler, format!("rope-{number}"), (radius, spacing), pose, &mut extent);
        // Drag from outside takes momentum away.
        rope.mass_damping = 0.0;
        // Towards each other; one alone is stopped by a solid.
        let toward = 1.0 - 2.0 * f64::from(number) / f64::from(count.max(2) - 1);
        rope.velocity = [toward * speed, 0.05 * speed * sampler.within(-1.0, 1.0), 0.0];
        scene.ropes.push(rope);
    }
    if count == 1 || sampler.chance(0.3) {
        let volume = radius.powi(3) * sampler.log_within(0.01, 1.0);
        let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
        let (shape, reach) = sampler.solid(volume);
        let along = f64::from(count - 1) * gap + radius + reach + 2.0 * spacing;
        solid.pose = Pose { position: [along, 0.0, 0.0], orientation: sampler.turn() };
        solid.velocity = [-speed, 0.0, 0.0];
        scene.bodies.push(body("solid", solid, shape, sampler.within(0.0, 1.0)));
    }
    scene.duration = (4.0 * radius / speed).clamp(4.0 * scene.dt, 200.0 * scene.dt);
    extent.bound(&mut scene, speed, WORK);
    settings(sampler, &mut scene);
    let mut laws = vec![at_rest(), Law::Momentum, Law::Penetration];
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}

/// A pin of an end, or of a vertex within; whether it lets go, moves, turns.
fn pin(sampler: &mut SceneSampler, at: RopePlace, moves: Option<f64>, duration: f64) -> RopePin {
    let is_clamped = matches!(at, RopePlace::Start { clamped: true } | RopePlace::End { clamped: true });
    let at_time = |time: f64, displacement: [f64; 3]| PinKeyframe { time, displacement };
    let turn = |time: f64, angle: f64| TurnKeyframe { time, angle };
    let (mut keyframes, mut turns) = (Vec::new(), Vec::new());
    if let Some(far) = moves {
        keyframes = vec![at_time(0.0, [0.0; 3]), at_time(0.7 * duration, sampler.vector(far))];
        if is_clamped && sampler.chance(0.5) {
            turns = vec![turn(0.0, 0.0), turn(0.7 * duration, sampler.within(-3.0, 3.0))];
        }
    }
    let release = sampler.chance(0.3).then(|| duration * sampler.within(0.1, 0.6));
    RopePin { at, keyframes, turns, release }
}

fn draw_cables(sampler: &mut SceneSampler) -> Trial {
    let radius = sampler.log_within(0.02, 1.0);
    let mut scene = Scene::empty("cables", 1.0, sampler.log_within(2e-4, 1e-2));
    let spacing = radius / sampler.log_within(2.0, 30.0);
    scene.grid_spacing = Some(spacing);
    scene.duration = (2.0 * (2.0 * radius / 9.81).sqrt()).clamp(4.0 * scene.dt, 300.0 * scene.dt);
    let (count, mut extent) = (sampler.count(1, 2), Extent::default());
    let mut height = 0.0;
    for number in 0..count {
        let angle = 0.5 * sampler.within(0.0, std::f64::consts::TAU);
        let orientation =
            if sampler.chance(0.5) { sampler.turn() } else { [angle.cos(), 0.0, 0.0, angle.sin()] };
        let pose = Pose { position: [0.0, 0.0, height], orientation };
        height += 2.0 * radius + 4.0 * spacing;
        scene.ropes.push(rope(sampler, format!("rope-{number}"), (radius, spacing), pose, &mut extent));
    }
    let speed = sampler.within(0.0, 5.0);
    let volume = radius.powi(3) * sampler.log_within(1e-4, 0.1);
    let (shape, reach) = sampler.solid(volume);
    let mut solid = dynamic(volume * sampler.log_within(100.0, 8000.0));
    let aside = 0.5 * radius;
    let above = height - radius - 2.0 * spacing + reach;
    solid.pose = Pose {
        position: [sampler.within(-aside, aside), sampler.within(-aside, aside), above],
        orientation: sampler.turn(),
    };
    solid.velocity = [0.0, 0.0, -speed];
    scene.bodies.push(body("above", solid, shape, sampler.within(0.0, 1.0)));
    if sampler.chance(0.5) {
        let mut ground = floor(sampler.within(0.0, 1.0));
        if let pliant_scenes::format::Motion::Fixed { pose } = &mut ground.motion {
            pose.position[2] = -radius - 2.0 * spacing;
        }
        scene.bodies.push(ground);
    }
    extent.bound(&mut scene, speed, 2.0 * WORK);
    settings(sampler, &mut scene);
    let moves = sampler.chance(0.3).then(|| radius * sampler.log_within(0.01, 0.3));
    let duration = scene.duration;
    for at in 0..scene.ropes.len() {
        let clamped = sampler.chance(0.5);
        let first = pin(sampler, RopePlace::Start { clamped }, moves, duration);
        scene.ropes[at].pins.push(first);
        match sampler.count(0, 2) {
            0 => {}
            1 => {
                let clamped = sampler.chance(0.5);
                let last = pin(sampler, RopePlace::End { clamped }, moves, duration);
                scene.ropes[at].pins.push(last);
            }
            _ => {
                let vertex = scene.ropes[at].segment_count(spacing) as u32 / 2;
                // The vertex next to a clamped start is held already.
                if vertex > 1 {
                    let within = pin(sampler, RopePlace::Vertex { vertex }, moves, duration);
                    scene.ropes[at].pins.push(within);
                }
            }
        }
    }
    // What is moved brings energy; the law is of what is passive.
    let mut laws = if moves.is_some() { vec![Law::Penetration] } else { vec![at_rest(), Law::Penetration] };
    laws.extend(symmetries(sampler));
    Trial { scene, laws }
}
