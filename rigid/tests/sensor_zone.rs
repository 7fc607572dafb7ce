//! Zones of touch sensors. The law is geometry: a ray meets a convex shape if one of its points is
//! in it.

use nalgebra::Vector3;
use pliant_numeric::random::SplitMix64;
use pliant_rigid::TouchZone;

fn is_inside(zone: &TouchZone, p: &Vector3<f64>, grown: f64) -> bool {
    match *zone {
        TouchZone::Sphere(r) => p.norm() <= r + grown,
        TouchZone::Ellipsoid(axes) => p.component_div(&axes.add_scalar(grown)).norm() <= 1.0,
        TouchZone::Box(half) => (0..3).all(|d| p[d].abs() <= half[d] + grown),
        TouchZone::Cylinder(r, half) => p.xy().norm() <= r + grown && p.z.abs() <= half + grown,
        TouchZone::Capsule(r, half) => {
            (p - Vector3::new(0.0, 0.0, p.z.clamp(-half, half))).norm() <= r + grown
        }
    }
}

// Checks: against points of the ray, closer together than 2e-3. A ray that has one inside the shape
// less 1e-2 meets it, and one that has none inside the shape and 1e-2 more does not.
#[test]
fn a_ray_meets_what_it_has_a_point_in() {
    let seed = 20_261_127;
    let mut draw = SplitMix64::new(seed);
    let mut met = [0; 2];
    for case in 0..2000 {
        let mut number = |low, high| draw.uniform_in(low, high);
        let [a, b, c] = [0; 3].map(|_| number(0.1, 0.6));
        let zone = match case % 5 {
            0 => TouchZone::Sphere(a),
            1 => TouchZone::Ellipsoid(Vector3::new(a, b, c)),
            2 => TouchZone::Box(Vector3::new(a, b, c)),
            3 => TouchZone::Cylinder(a, b),
            _ => TouchZone::Capsule(a, b),
        };
        let from = Vector3::from_fn(|_, _| number(-0.6, 0.6));
        let mut way = Vector3::from_fn(|_, _| number(-1.0, 1.0));
        if case % 7 == 0 {
            // Along an axis.
            way = Vector3::new(0.0, 0.0, way.z.signum());
        }
        let way = way.normalize();
        let passes =
            |grown| (0..2000).any(|k| is_inside(&zone, &(from + way * (f64::from(k) * 2e-3)), grown));
        let found = zone.is_met(&from, &way);
        assert!(found || !passes(-1e-2), "{zone:?} from {from} along {way} is met, case {case}, seed {seed}");
        assert!(
            !found || passes(1e-2),
            "{zone:?} from {from} along {way} is missed, case {case}, seed {seed}"
        );
        met[usize::from(found)] += 1;
    }
    assert!(met[0] > 400 && met[1] > 400, "{met:?}");
}
