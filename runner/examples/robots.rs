//! Draws the built-in robots and the rigid shapes on rough ground, without simulating anything:
//! `cargo run --release -p pliant-runner --example robots -- FILE.png`.

use std::error::Error;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_import::Imported;
use pliant_render::{BodyShape, Camera, Picture, RenderBody, render, write_png};
use pliant_rigid::multibody::Kinematics;
use pliant_rigid::{HeightField, Shape};
use pliant_runner::picture;
use pliant_scenes::format::RobotModel;
use pliant_scenes::models::import;

/// The shapes of a robot at its first keyframe, or at rest, its world placed at `base`; and the
/// pose of its last link.
fn robot(
    model: RobotModel,
    base: &Isometry3<f64>,
) -> Result<(Vec<RenderBody>, Isometry3<f64>), Box<dyn Error>> {
    let Imported { system, geometries, hidden, visuals, state, keyframes, .. } = import(model)?;
    let state = keyframes.first().map_or(&state, |key| &key.state);
    let mut kinematics = Kinematics::new(&system.model);
    kinematics.update(&system.model, state);
    let of = |link: Option<_>| link.map_or(*base, |link| base * kinematics.pose(link));
    let touching = geometries.iter().enumerate().filter(|(i, _)| !hidden.contains(i));
    let touching = touching.map(|(_, g)| g).map(|g| (of(g.link) * g.pose, picture::shape(&g.shape), g.color));
    let seen = visuals.iter().map(|v| (of(v.link) * v.pose, picture::drawn(&v.shape), v.color));
    let body = |(pose, shape, color)| RenderBody { shape, pose, color, marked: false };
    let last = system.model.links().len().checked_sub(1).map(pliant_rigid::multibody::LinkId);
    Ok((touching.chain(seen).map(body).collect(), of(last)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "robots.png".to_owned());
    let place = |x, y, z| Isometry3::from(Translation3::new(x, y, z));
    let (mut bodies, flange) = robot(RobotModel::Panda, &place(0.0, 0.0, 0.0))?;
    bodies.extend(robot(RobotModel::ParallelGripper, &flange)?.0);
    bodies.extend(robot(RobotModel::Iiwa7, &place(-0.9, 0.4, 0.0))?.0);
    bodies.extend(robot(RobotModel::AllegroHand, &place(0.5, -0.75, 0.12))?.0);
    bodies.extend(robot(RobotModel::Humanoid, &place(-0.6, 1.6, 0.0))?.0);
    bodies.extend(robot(RobotModel::Quadruped, &place(1.7, 0.9, 0.1))?.0);

    let columns = 24;
    let height = |n: usize| {
        let (i, j) = ((n % columns) as f64, (n / columns) as f64);
        0.04 + 0.03 * (0.9 * i).sin() * (0.7 * j + 0.4).cos()
    };
    let heights: Vec<f64> = (0..columns * columns).map(height).collect();
    let terrain = Shape::HeightField(HeightField::new(&heights, columns, [0.07, 0.07], 0.01)?);
    let color = [176, 158, 132];
    bodies.push(RenderBody {
        shape: picture::shape(&terrain),
        pose: place(1.7, 0.9, 0.0),
        color,
        marked: false,
    });

    let turn = UnitQuaternion::from_euler_angles(0.4, 0.3, 0.5);
    let lying = UnitQuaternion::from_euler_angles(0.0, std::f64::consts::FRAC_PI_2, 0.6);
    for (shape, x, y, z, turn, color) in [
        (BodyShape::Sphere { radius: 0.08 }, 0.75, 0.1, 0.08, turn, [214, 72, 62]),
        (BodyShape::Cylinder { radius: 0.06, half_length: 0.14 }, 1.05, -0.35, 0.06, lying, [62, 118, 190]),
        (BodyShape::Capsule { radius: 0.05, half_length: 0.1 }, -0.35, -0.6, 0.05, lying, [84, 160, 110]),
        (
            BodyShape::Ellipsoid { half_axes: Vector3::new(0.12, 0.07, 0.05) },
            0.1,
            -0.7,
            0.05,
            UnitQuaternion::from_euler_angles(0.0, 0.0, 0.4),
            [226, 180, 60],
        ),
        (
            BodyShape::Box { half_extents: Vector3::new(0.04, 0.04, 0.04) },
            0.45,
            -0.2,
            0.04,
            UnitQuaternion::identity(),
            [150, 110, 190],
        ),
    ] {
        let pose = Isometry3::from_parts(Translation3::new(x, y, z), turn);
        bodies.push(RenderBody { shape, pose, color, marked: true });
    }

    let (low, high) = (Point3::new(-1.2, -0.8, 0.0), Point3::new(2.3, 1.7, 1.9));
    let mut picture = Picture::new(1280, 720, Camera::frame(low, high, -1.1, 0.35, 1280.0 / 720.0));
    picture.bodies = &bodies;
    picture.ground = Some(0.0);
    picture.caption = Some("robots and shapes");
    Ok(write_png(&path, &render(&picture)?)?)
}
