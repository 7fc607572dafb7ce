//! Expansion of the copies of a scene's free bodies.

use std::borrow::Cow;
use std::f64::consts::TAU;

use super::body::{BodySpec, Motion};
use super::joint::JointSpec;
use super::scene::Scene;
use pliant_numeric::random::SplitMix64;

/// Whether a body is copied: it is free.
pub(crate) fn is_free(body: &BodySpec) -> bool {
    matches!(&body.motion, Motion::Dynamic(dynamic) if dynamic.parent.is_none() && matches!(dynamic.joint, JointSpec::Free { .. }))
}

impl Scene {
    /// The scene with all copies as bodies; itself if there are none.
    pub fn spread(&self) -> Cow<'_, Self> {
        let Some(copies) = self.copies else { return Cow::Borrowed(self) };
        let mut random = SplitMix64::new(self.seed);
        let mut scene = Self { copies: None, ..self.clone() };
        let across = f64::from(copies.count).sqrt().ceil().max(1.0) as u32;
        let mut shake = |body: &mut BodySpec, place: [f64; 2]| {
            if let Motion::Dynamic(dynamic) = &mut body.motion {
                dynamic.pose.position.iter_mut().zip(place).for_each(|(x, shift)| *x += shift);
                for speed in &mut dynamic.velocity {
                    *speed += copies.velocity_deviation * normal(&mut random);
                }
            }
        };
        scene.bodies.iter_mut().filter(|body| is_free(body)).for_each(|body| shake(body, [0.0; 2]));
        for copy in 1..copies.count {
            let place = [copy % across, copy / across].map(|cell| f64::from(cell) * copies.pitch);
            for body in self.bodies.iter().filter(|body| is_free(body)) {
                let mut body = BodySpec { name: format!("{}.{copy}", body.name), ..body.clone() };
                shake(&mut body, place);
                scene.bodies.push(body);
            }
        }
        Cow::Owned(scene)
    }
}

/// A number of the standard normal distribution (Box and Muller 1958).
fn normal(random: &mut SplitMix64) -> f64 {
    let (radius, angle) = (1.0 - random.uniform(), TAU * random.uniform());
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;
    use crate::format::Copies;

    // Checks: as many copies as asked for, each a pitch from the next and alike except for the
    // random velocities, which have their deviation; static bodies exist once.
    #[test]
    fn copies_are_alike_and_apart() {
        let mut scene = builtin::scene("pile-scaling").unwrap().unwrap();
        let free = scene.bodies.iter().filter(|body| is_free(body)).count();
        scene.copies = Some(Copies { count: 10, pitch: 2.0, velocity_deviation: 0.5 });
        let spread = scene.spread();
        assert_eq!(spread.bodies.len(), scene.bodies.len() + 9 * free);
        let dynamic = |body: &BodySpec| match &body.motion {
            Motion::Dynamic(dynamic) => dynamic.clone(),
            _ => panic!("{} does not move", body.name),
        };
        let bodies = &spread.bodies[scene.bodies.len() - free..];
        let (mut sum, mut squares) = (0.0, 0.0);
        for (k, body) in bodies.iter().enumerate() {
            let (own, first) = (dynamic(body), dynamic(&bodies[k % free]));
            let copy = k / free;
            let place = [(copy % 4) as f64 * 2.0, (copy / 4) as f64 * 2.0, 0.0];
            for axis in 0..3 {
                let moved = own.pose.position[axis] - first.pose.position[axis];
                assert!((moved - place[axis]).abs() < 1e-12, "{}: {moved} along {axis}", body.name);
                sum += own.velocity[axis];
                squares += own.velocity[axis].powi(2);
            }
            assert_eq!(body.geometries, bodies[k % free].geometries);
        }
        let n = 3.0 * bodies.len() as f64;
        let deviation = (squares / n - (sum / n).powi(2)).sqrt();
        // Three standard errors.
        assert!(
            (sum / n).abs() < 1.5 / n.sqrt() && (deviation - 0.5).abs() < 1.1 / n.sqrt(),
            "{sum} {deviation}"
        );
        crate::format::validate(&spread).unwrap();
    }
}
