//! A bar shoves ten boxes over a table, quasi-dynamically (Jin 2025, section VI-A), and the picture
//! shows where they are at the beginning, on the way and at the end: `cargo run --release -p
//! pliant-runner --example push_boxes -- FILE.png`.

use std::error::Error;
use std::time::Instant;

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_numeric::random::SplitMix64;
use pliant_planning::quasi::{QuasiDynamics, QuasiSettings};
use pliant_render::{Camera, Image, Picture, RenderBody, RenderError, render, write_png};
use pliant_rigid::Shape;
use pliant_rigid::collision::{CollisionGeometry, CollisionModel, ContactMaterial};
use pliant_rigid::multibody::{JointKind, Kinematics, Link, LinkId, Model, ModelBuilder, RigidInertia};
use pliant_runner::picture;

const BOXES: usize = 10;
/// Half of a box's edges \[m\], and its mass \[kg\].
const HALF: f64 = 0.03;
const MASS: f64 = 0.2;
/// Half of the bar's edges \[m\].
const BAR: [f64; 3] = [0.01, 0.24, 0.02];
/// h \[s\], and by how much the bar moves in each of so many steps \[m\].
const STEP: f64 = 4e-3;
const PUSH: f64 = 2.5e-4;
const STEPS: usize = 2000;

/// The boxes, the bar, and where everything is.
struct Table {
    geometries: Vec<CollisionGeometry>,
    model: Model,
    dynamics: QuasiDynamics,
    q: Vec<f64>,
}

fn geometry(name: &str, link: Option<LinkId>, shape: Shape, color: [u8; 3]) -> CollisionGeometry {
    CollisionGeometry {
        name: name.to_owned(),
        link,
        pose: Isometry3::identity(),
        shape,
        material: ContactMaterial::with_friction(0.4),
        group: 1,
        mask: 1,
        color,
    }
}

/// Boxes strewn before the bar, clear of each other.
fn strewn(seed: u64) -> Vec<Isometry3<f64>> {
    let mut random = SplitMix64::new(seed);
    let mut places: Vec<Vector3<f64>> = Vec::new();
    while places.len() < BOXES {
        let place = Vector3::new(random.uniform_in(0.06, 0.5), random.uniform_in(-0.18, 0.18), HALF);
        // Whatever way they are turned.
        if places.iter().all(|other| (other - place).norm() > 2.0 * HALF * 1.42) {
            places.push(place);
        }
    }
    let turned = |place: Vector3<f64>| {
        let yaw = random.uniform_in(-0.7, 0.7);
        Isometry3::from_parts(Translation3::from(place), UnitQuaternion::from_euler_angles(0.0, 0.0, yaw))
    };
    places.into_iter().map(turned).collect()
}

impl Table {
    fn new(seed: u64) -> Result<Self, Box<dyn Error>> {
        let mut builder = ModelBuilder::new(Vector3::new(0.0, 0.0, -9.81));
        let mut geometries = vec![geometry("table", None, Shape::HalfSpace, [200; 3])];
        let cube = Shape::Box { half_extents: Vector3::repeat(HALF) };
        let inertia = Matrix3::identity() * (MASS * 2.0 / 3.0 * HALF * HALF);
        let link = |name: String, joint, frame, inertia: Matrix3<f64>| {
            let inertia = RigidInertia::at_center(MASS, Vector3::zeros(), inertia);
            Link { name, parent: None, joint, frame, inertia, gravity: true, dofs: Vec::new() }
        };
        let colors = [[214, 72, 62], [62, 118, 190], [84, 160, 110], [226, 180, 60], [150, 96, 170]];
        for n in 0..BOXES {
            let name = format!("box {n}");
            let one = builder.add(link(name.clone(), JointKind::Free, Isometry3::identity(), inertia))?;
            geometries.push(geometry(&name, Some(one), cube.clone(), colors[n % colors.len()]));
        }
        let slide = JointKind::Prismatic { axis: Vector3::x_axis() };
        let frame = Isometry3::translation(0.0, 0.0, BAR[2] + 0.002);
        let bar = builder.add(link("bar".to_owned(), slide, frame, inertia))?;
        geometries.push(geometry("bar", Some(bar), Shape::Box { half_extents: BAR.into() }, [90, 94, 104]));
        let model = builder.build()?;

        let mut q = model.zero_configuration().q;
        for (n, pose) in strewn(seed).iter().enumerate() {
            let (r, p) = (pose.rotation, pose.translation);
            q[model.positions_of(LinkId(n))].copy_from_slice(&[r.w, r.i, r.j, r.k, p.x, p.y, p.z]);
        }
        // The facets of a face's four corners each give a quarter of the impulse that would stop
        // its box in one step: a box between two others must not be thrown to and fro.
        let stiffness = 0.25 * MASS / (STEP * STEP) / 16.0;
        let settings = QuasiSettings::new(STEP, vec![100.0 * MASS / (STEP * STEP)], stiffness);
        let scene = CollisionModel::new(geometries.clone(), &model, &[])?;
        let dynamics = QuasiDynamics::new(&model, &scene, &settings)?;
        Ok(Self { geometries, model, dynamics, q })
    }

    fn push(&mut self, steps: usize) -> Result<(), Box<dyn Error>> {
        let mut next = self.q.clone();
        for _ in 0..steps {
            self.dynamics.step(&self.q, &[PUSH], &mut next)?;
            std::mem::swap(&mut self.q, &mut next);
        }
        Ok(())
    }

    fn poses(&self) -> impl Fn(Option<LinkId>) -> Isometry3<f64> {
        let mut kinematics = Kinematics::new(&self.model);
        let mut state = self.model.zero_configuration();
        state.q.clone_from(&self.q);
        kinematics.update(&self.model, &state);
        move |link| link.map_or(Isometry3::identity(), |link| *kinematics.pose(link))
    }

    fn draw(&self, width: u32, height: u32, caption: &str) -> Result<Image, RenderError> {
        let of = self.poses();
        let body = |g: &CollisionGeometry| RenderBody {
            shape: picture::shape(&g.shape),
            pose: of(g.link) * g.pose,
            color: g.color,
            marked: false,
        };
        let bodies: Vec<RenderBody> = self.geometries.iter().skip(1).map(body).collect();
        let (low, high) = (Point3::new(-0.02, -0.25, 0.0), Point3::new(0.68, 0.25, 0.06));
        let aspect = f64::from(width) / f64::from(height);
        let mut picture = Picture::new(width, height, Camera::frame(low, high, -2.2, 0.75, aspect));
        picture.bodies = &bodies;
        picture.ground = Some(0.0);
        picture.caption = Some(caption);
        render(&picture)
    }
}

/// Pictures beside each other.
fn beside(images: &[Image]) -> Image {
    let (width, height) = images.first().map_or((0, 0), |image| (image.width, image.height));
    let rows = (0..height as usize).flat_map(|row| {
        let part = 3 * width as usize;
        images.iter().flat_map(move |image| image.pixels[row * part..(row + 1) * part].iter().copied())
    });
    Image { width: width * images.len() as u32, height, pixels: rows.collect() }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "push_boxes.png".to_owned());
    let mut table = Table::new(1)?;
    let mut images = vec![table.draw(480, 400, "push-boxes  step 0")?];
    let start = Instant::now();
    let mut spent = 0.0;
    for part in 1..=2 {
        table.push(STEPS / 2)?;
        spent = start.elapsed().as_secs_f64();
        images.push(table.draw(480, 400, &format!("push-boxes  step {}", part * STEPS / 2))?);
    }
    eprintln!(
        "{:.1} us a step, {} contacts in the last",
        1e6 * spent / STEPS as f64,
        table.dynamics.contacts().len()
    );
    write_png(&path, &beside(&images))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(seed: u64) -> Table {
        let mut table = Table::new(seed).expect("a table");
        table.push(STEPS).expect("steps");
        table
    }

    /// The bar has followed its command except for the compliance of its drive, and swept every box
    /// in its path along. A box that stands moves `PUSH` in a step with `m/h^2 PUSH`; if one
    /// carried the force for all of them through the four corners of a face, that would be as deep
    /// as `10 m/h^2 PUSH/(16 K)`, which is 40 PUSH, 1 cm: nothing is deeper. All stand on the
    /// table, at the depth that carries their weight, `m g/(16 K) - g h^2 = 3 g h^2`: less than
    /// that and the share of others' weight that friction transfers to them, at most as much again
    /// each way.
    #[test]
    fn the_bar_sweeps_the_boxes_along() {
        for seed in [1, 2] {
            let table = pushed(seed);
            let of = table.poses();
            let bar = of(Some(LinkId(BOXES))).translation.x;
            let way = STEPS as f64 * PUSH;
            // All boxes together take ten hundredths of a step's push from a drive that is a
            // hundred times as stiff as a box is heavy.
            assert!(bar <= way && bar > 0.9 * way, "seed {seed}: the bar is at {bar} of {way}");
            let deepest = table.dynamics.contacts().iter().map(|c| c.distance).fold(0.0, f64::min);
            assert!(deepest > -40.0 * PUSH, "seed {seed}: {deepest}");
            let sunk = 3.0 * 9.81 * STEP * STEP;
            for n in 0..BOXES {
                let pose = of(Some(LinkId(n)));
                let p = pose.translation.vector;
                assert!(p.x > bar + BAR[0] + HALF - 40.0 * PUSH, "seed {seed}: box {n} at {p} behind {bar}");
                let upright = (pose.rotation * Vector3::z()).z;
                assert!(upright > 1.0 - 1e-4, "seed {seed}: box {n} leans, {upright}");
                assert!((p.z - HALF + sunk).abs() < 2.0 * sunk, "seed {seed}: box {n} at {p}");
            }
        }
    }

    /// Equal numbers, equal bits.
    #[test]
    fn it_is_repeatable() {
        assert_eq!(pushed(3).q, pushed(3).q);
    }
}
