//! Colours and a camera that tests of pictures share.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests; not all files use all of them"
)]

use nalgebra::{Point3, Vector3};
use pliant_render::{Camera, Image};

pub const RED: [u8; 3] = [220, 30, 30];
pub const BLUE: [u8; 3] = [30, 60, 220];

/// From -y, level with the origin, looking along +y: x to the right, z up in the picture.
pub fn front_camera(distance: f64) -> Camera {
    Camera {
        position: Point3::new(0.0, -distance, 0.0),
        target: Point3::origin(),
        up: Vector3::z(),
        vertical_fov: 0.5,
    }
}

pub fn is_red(p: [u8; 3]) -> bool {
    p[0] > p[1].saturating_add(40) && p[0] > p[2].saturating_add(40)
}

pub fn is_blue(p: [u8; 3]) -> bool {
    p[2] > p[0].saturating_add(40) && p[2] > p[1].saturating_add(40)
}

pub fn count(image: &Image, test: impl Fn([u8; 3]) -> bool) -> usize {
    image.pixels.chunks_exact(3).filter(|p| test([p[0], p[1], p[2]])).count()
}

pub fn brightness(image: &Image, x: u32, y: u32) -> f64 {
    image.pixel(x, y).unwrap().iter().map(|&c| f64::from(c)).sum::<f64>() / 3.0
}
