//! Random choices of a trial: numbers, shapes, rotations, all from one seed.

use std::f64::consts::{PI, TAU};

use nalgebra::Vector3;

use pliant_numeric::random::SplitMix64;
use pliant_scenes::format::{Material, RigidShape};

/// A random number generator for scenes.
#[derive(Clone, Debug)]
pub struct SceneSampler(SplitMix64);

impl SceneSampler {
    /// The choices of trial number `number` of a family under a seed: neighbouring trials are
    /// independent.
    pub fn new(seed: u64, family: &str, number: u64) -> Self {
        // FNV-1a of the family's name, so that families under one seed are not the same draws.
        let name = family
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let mut mixed = SplitMix64::new(seed ^ name);
        let start = mixed.next_u64() ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self(SplitMix64::new(SplitMix64::new(start).next_u64()))
    }

    /// Uniform in [low, high).
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0.uniform_in(low, high)
    }

    /// Log-uniform in [low, high): each decade as likely as the next.
    pub fn log_within(&mut self, low: f64, high: f64) -> f64 {
        self.within(low.ln(), high.ln()).exp()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.uniform() < probability
    }

    /// One of a list, which must not be empty.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.0.uniform() * all.len() as f64) as usize % all.len()]
    }

    /// A whole number in [low, high].
    pub fn count(&mut self, low: u32, high: u32) -> u32 {
        low + (self.0.uniform() * f64::from(high - low + 1)) as u32
    }

    /// A seed for something else.
    pub fn seed(&mut self) -> u64 {
        self.0.next_u64() >> 12
    }

    /// A unit vector, uniform on the sphere.
    pub fn direction(&mut self) -> Vector3<f64> {
        let (z, angle) = (self.within(-1.0, 1.0), self.within(0.0, TAU));
        let r = (1.0 - z * z).sqrt();
        Vector3::new(r * angle.cos(), r * angle.sin(), z)
    }

    /// A vector of this length in a random direction.
    pub fn vector(&mut self, length: f64) -> [f64; 3] {
        (self.direction() * length).into()
    }

    /// A unit quaternion (w, x, y, z), uniform over rotations (Shoemake 1992).
    pub fn turn(&mut self) -> [f64; 4] {
        let (u, a, b) = (self.within(0.0, 1.0), self.within(0.0, TAU), self.within(0.0, TAU));
        let (r, s) = ((1.0 - u).sqrt(), u.sqrt());
        [s * b.cos(), r * a.sin(), r * a.cos(), s * b.sin()]
    }

    /// A solid that has this volume \[m^3\], and the radius of its bounding sphere about the
    /// frame's origin.
    pub fn solid(&mut self, volume: f64) -> (RigidShape, f64) {
        let mut aspect = || self.log_within(0.4, 1.0);
        let (a, b) = (aspect(), aspect());
        match self.count(0, 5) {
            0 => {
                let half = (volume / (8.0 * a * b)).cbrt();
                let half_extents = [half, half * a, half * b];
                (RigidShape::Box { half_extents }, Vector3::from(half_extents).norm())
            }
            1 => {
                let radius = (volume / (4.0 / 3.0 * PI)).cbrt();
                (RigidShape::Sphere { radius }, radius)
            }
            2 => {
                // V = pi r^2 (4/3 r + 2 l), l = r/a.
                let radius = (volume / (PI * (4.0 / 3.0 + 2.0 / a))).cbrt();
                (RigidShape::Capsule { radius, half_length: radius / a }, radius * (1.0 + 1.0 / a))
            }
            3 => {
                let (slim, radius) =
                    (if self.chance(0.5) { 1.0 / a } else { a }, (volume / (2.0 * PI)).cbrt());
                let radius = radius / slim.cbrt();
                let half_length = radius * slim;
                (RigidShape::Cylinder { radius, half_length }, radius.hypot(half_length))
            }
            4 => {
                let half = (volume / (4.0 / 3.0 * PI * a * b)).cbrt();
                (RigidShape::Ellipsoid { half_axes: [half, half * a, half * b] }, half)
            }
            _ => self.hull(volume),
        }
    }

    /// A wedge: a box of which two upper edges are moved inwards.
    fn hull(&mut self, volume: f64) -> (RigidShape, f64) {
        let top = self.within(0.2, 0.8);
        // A frustum of height 2 over squares of side 2 and 2 top.
        let half = (volume / (8.0 / 3.0 * (1.0 + top + top * top))).cbrt();
        let corner = |x: f64, y: f64, z: f64| {
            let side = if z > 0.0 { half * top } else { half };
            [x * side, y * side, z * half]
        };
        let points = (0..8)
            .map(|k: i32| {
                let sign = |bit: i32| if k & bit == 0 { -1.0 } else { 1.0 };
                corner(sign(1), sign(2), sign(4))
            })
            .collect();
        (RigidShape::ConvexHull { points }, half * 3f64.sqrt())
    }

    /// An elastic material of one of the models.
    pub fn elastic(&mut self, youngs_modulus: f64) -> Material {
        let (density, poissons_ratio) = (self.log_within(300.0, 2500.0), self.within(0.0, 0.45));
        match self.count(0, 2) {
            0 => Material::FixedCorotated { density, youngs_modulus, poissons_ratio },
            1 => Material::NeoHookean { density, youngs_modulus, poissons_ratio },
            _ => Material::LinearCorotated { density, youngs_modulus, poissons_ratio },
        }
    }

    /// Dough of this stiffness \[Pa\].
    pub fn dough(&mut self, youngs_modulus: f64) -> Material {
        Material::VonMises {
            density: self.within(800.0, 1400.0),
            youngs_modulus,
            poissons_ratio: self.within(0.2, 0.45),
            yield_stress: youngs_modulus * self.log_within(0.01, 0.1),
        }
    }

    /// Sand of this stiffness \[Pa\].
    pub fn sand(&mut self, youngs_modulus: f64) -> Material {
        Material::DruckerPrager {
            density: self.within(1300.0, 1900.0),
            youngs_modulus,
            poissons_ratio: self.within(0.2, 0.35),
            friction_angle: self.within(0.4, 0.7),
        }
    }
}

/// Wave speed of a material \[m/s\].
pub fn wave_speed(material: &Material) -> f64 {
    let material = material.particle_material();
    let elastic = material.model.elastic();
    let (e, nu) = (elastic.youngs_modulus, elastic.poissons_ratio.clamp(0.0, 0.45));
    (e * (1.0 - nu) / ((1.0 + nu) * (1.0 - 2.0 * nu)) / material.density).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_scenes::assemble::assemble;
    use pliant_scenes::format::{BodySpec, Dynamic, Geometry, Motion, Pose, Scene};

    fn volume_and_reach(shape: &RigidShape) -> (f64, f64) {
        let mut scene = Scene::empty("solid", 1.0, 1.0);
        let dynamic = Dynamic { density: Some(1.0), mass: None, ..crate::builders::dynamic(1.0) };
        let geometries = vec![Geometry::new(shape.clone())];
        scene.bodies.push(BodySpec {
            name: "solid".to_owned(),
            motion: Motion::Dynamic(Box::new(dynamic)),
            geometries,
        });
        let builder = assemble(&scene, None).unwrap().rigid.builder;
        let described = scene.bodies[0].geometries[0].clone();
        assert_eq!(described.pose, Pose::default());
        let (_, reach) = builder.bodies()[0].geometries[0].shape.bounding_sphere().unwrap();
        (builder.links()[0].inertia.mass, reach)
    }

    // Checks: a drawn solid has the requested volume, and lies within its bounding sphere.
    #[test]
    fn solids_have_their_volume() {
        let mut sampler = SceneSampler::new(3, "solids", 0);
        for _ in 0..200 {
            let volume = sampler.log_within(1e-8, 1e-1);
            let (shape, radius) = sampler.solid(volume);
            let (found, reach) = volume_and_reach(&shape);
            assert!((found / volume - 1.0).abs() < 1e-9, "{shape:?}: {found} of {volume}");
            assert!(reach <= radius * (1.0 + 1e-9), "{shape:?}: {reach} beyond {radius}");
        }
    }

    // Checks: the same seed, family and number are the same draws, and any other is not.
    #[test]
    fn draws_follow_from_seed_family_and_number() {
        let draw = |seed, family, number| SceneSampler::new(seed, family, number).seed();
        assert_eq!(draw(1, "a", 2), draw(1, "a", 2));
        let all = [draw(1, "a", 2), draw(2, "a", 2), draw(1, "b", 2), draw(1, "a", 3)];
        assert!((0..4).all(|i| (0..i).all(|j| all[i] != all[j])), "{all:?}");
    }
}
