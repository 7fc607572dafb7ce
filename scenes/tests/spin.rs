//! Soft bodies that a scene sets spinning.

use nalgebra::{Matrix3, Rotation3, Vector3};
use pliant_coupling::ParticleSnapshot;
use pliant_numeric::random::SplitMix64;
use pliant_scenes::Scenario;
use pliant_scenes::format::parse_scene;

const SEED: u64 = 20261126;

fn positions(scenario: &mut Scenario) -> Vec<Vector3<f64>> {
    let mut snapshot = ParticleSnapshot::default();
    scenario.world.snapshot(&mut snapshot).unwrap();
    let points: Vec<Vector3<f64>> =
        snapshot.positions.iter().map(|p| Vector3::from(p.map(f64::from))).collect();
    let mean = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
    points.into_iter().map(|p| p - mean).collect()
}

// Checks: Euler's equations for a cube without torque. All its principal moments are equal, so it
// turns at the angular velocity that the scene gives, about any axis, whatever the grid spacing and
// its speed. The turn is that of the polar decomposition of sum x x0^T. The bound is 2 % of the
// turn: the spin stretches the cube by about rho w^2 a^2/E < 1e-3, and the rest is the grid's.
// Without the velocity's gradient in the particles it turns too slowly by 3/(n^2 + 3) with n cells an edge.
#[test]
fn a_cube_turns_at_its_angular_velocity() {
    let mut random = SplitMix64::new(SEED);
    for case in 0..12 {
        let cells = 2.0 + (random.uniform() * 5.0).floor();
        let edge = 10f64.powf(-2.0 + 2.0 * random.uniform());
        let rate = 10f64.powf(-0.3 + random.uniform());
        let axis = Vector3::from_fn(|_, _| 2.0 * random.uniform() - 1.0).normalize();
        let velocity = axis * rate;
        // A turn of half a radian in 50 steps; the stiffness keeps the stretch below 1e-3.
        let duration = 0.5 / rate;
        let stiffness = 1e3 * 1000.0 * (rate * edge).powi(2);
        let text = format!(
            r#"{{ "name": "spin", "duration": {duration:e}, "dt": {:e}, "grid_spacing": {:e},
                "gravity": [0, 0, 0], "substeps": "auto",
                "materials": {{ "m": {{ "model": "fixed-corotated", "density": 1000,
                    "youngs_modulus": {stiffness:e}, "poissons_ratio": 0.3 }} }},
                "soft": [{{ "name": "cube", "shape": {{ "type": "box", "half_extents": [{h:e}, {h:e}, {h:e}] }},
                    "material": "m", "angular_velocity": [{:e}, {:e}, {:e}] }}] }}"#,
            duration / 50.0,
            edge / cells,
            velocity.x,
            velocity.y,
            velocity.z,
            h = edge / 2.0,
        );
        let name =
            format!("seed {SEED}, case {case}: {cells} cells, edge {edge} m, {rate} rad/s about {axis}");
        let mut scenario = Scenario::new(&parse_scene(&text).unwrap_or_else(|e| panic!("{name}: {e}")))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let before = positions(&mut scenario);
        for _ in 0..50 {
            scenario.step().unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let sum: Matrix3<f64> =
            positions(&mut scenario).iter().zip(&before).map(|(x, x0)| x * x0.transpose()).sum();
        let turn = Rotation3::from_matrix(&sum).scaled_axis();
        let error = (turn - velocity * duration).norm() / 0.5;
        assert!(error < 0.02, "{name}: turned by {turn}, {error} of the turn off");
    }
}
