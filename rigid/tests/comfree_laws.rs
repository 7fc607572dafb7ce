//! The laws of the closed-form solver, one contact at a time: impedance, facets, cones, and what is
//! refused.

use pliant_rigid::comfree::*;
use pliant_rigid::simulation::SimulationError;
use pliant_testing::Random;

// ComFree-Sim, equation 13; MuJoCo's documentation, Solver parameters.
#[test]
fn the_impedance_rises_as_solimp_says() {
    let curve = ImpedanceCurve::default();
    for (depth, expected) in
        [(0.0, 0.9), (0.25e-3, 0.90625), (0.5e-3, 0.925), (0.75e-3, 0.94375), (1e-3, 0.95)]
    {
        assert!((curve.at(depth) - expected).abs() < 1e-15, "{depth}: {}", curve.at(depth));
        assert_eq!(curve.at(-depth), curve.at(depth));
    }
    assert_eq!(curve.at(1.0), 0.95);
    let mut random = Random::new(1);
    for _ in 0..200 {
        let inside = |x: f64| 0.5 + 0.49 * x;
        let (a, b) = (inside(random.signed()), inside(random.signed()));
        let curve = ImpedanceCurve {
            minimum: a.min(b),
            maximum: a.max(b),
            width: 1e-3 * (1.1 + random.signed()),
            midpoint: inside(random.signed()),
            power: 2.0 + random.signed(),
        };
        curve.validate("curve").unwrap();
        let values: Vec<f64> = (0..=100).map(|i| curve.at(curve.width * f64::from(i) / 100.0)).collect();
        assert!(values.windows(2).all(|w| w[1] >= w[0] - 1e-15), "monotone: {curve:?}");
        // Both powers join at the midpoint with a continuous slope.
        let slope = |x: f64| (curve.at(curve.width * (x + 1e-6)) - curve.at(curve.width * x)) / 1e-6;
        let m = curve.midpoint;
        let (before, after) = (slope(m - 1.1e-6), slope(m + 1e-7));
        assert!((before - after).abs() < 1e-3 * (before + after) + 1e-7, "{curve:?} {before} {after}");
    }
}

#[test]
fn figures_out_of_range_are_refused_by_name() {
    let usual = ImpedanceCurve::default();
    let curves = [
        (ImpedanceCurve { minimum: 0.0, ..usual }, "impedance.minimum"),
        (ImpedanceCurve { maximum: 1.0, ..usual }, "impedance.maximum"),
        (ImpedanceCurve { width: 0.0, ..usual }, "impedance.width"),
        (ImpedanceCurve { midpoint: 1.0, ..usual }, "impedance.midpoint"),
        (ImpedanceCurve { power: 0.5, ..usual }, "impedance.power"),
        (ImpedanceCurve { power: f64::NAN, ..usual }, "impedance.power"),
    ];
    for (curve, name) in curves {
        let Err(SimulationError::Value { field, .. }) = curve.validate("x") else { panic!("{curve:?}") };
        assert_eq!(field, name);
    }
    let usual = ComFreeSettings::default();
    let physical = |frequency, damping_ratio| Gains::Physical { frequency, damping_ratio };
    let settings = [
        (ComFreeSettings { facets: 0, ..usual }, "facets"),
        (ComFreeSettings { facets: 2, ..usual }, "facets"),
        (ComFreeSettings { facets: 5, ..usual }, "facets"),
        (ComFreeSettings { gains: physical(0.0, 1.0), ..usual }, "gains.frequency"),
        (ComFreeSettings { gains: physical(1.0, -1.0), ..usual }, "gains.damping_ratio"),
        (ComFreeSettings::published(f64::INFINITY, 0.0), "gains.stiffness"),
        (ComFreeSettings::published(0.1, -0.1), "gains.damping"),
        (ComFreeSettings { separation_speed: 0.0, ..usual }, "separation_speed"),
    ];
    for (settings, name) in settings {
        let Err(SimulationError::Value { field, .. }) = settings.validate() else { panic!("{settings:?}") };
        assert_eq!(field, name);
    }
    usual.validate().unwrap();
}

// Jin 2025: every sum of facets that push is within the friction cone.
#[test]
fn every_sum_of_facets_is_within_the_cone() {
    let mut random = Random::new(2);
    for count in [4, 6, 8, 16, 64] {
        let facets = Facets::new(count);
        for _ in 0..2000 {
            let mu = 1.0 + random.signed();
            let sum = facets.sum(random.signed(), &[3.0 * random.signed(), 3.0 * random.signed()], mu);
            let [x, y] = sum.tangential;
            assert!(x.hypot(y) <= mu * sum.normal * (1.0 + 1e-14), "{count} {mu} {sum:?}");
        }
    }
}

// The facets share out the normal impulse: none pulls, and together they pass on what the polygon
// has.
#[test]
fn facets_share_out_the_normal_impulse() {
    let mut random = Random::new(3);
    let mut shares = Vec::new();
    for count in [4, 6, 16] {
        let facets = Facets::new(count);
        for _ in 0..2000 {
            let (mu, normal) = (1.01 + random.signed(), 1.01 + random.signed());
            let wanted = [3.0 * random.signed(), 3.0 * random.signed()];
            let given = facets.clip(wanted, mu * normal);
            assert!(given[0].hypot(given[1]) <= mu * normal * (1.0 + 1e-14));
            assert!((given[0] * wanted[1] - given[1] * wanted[0]).abs() < 1e-14, "along what was wanted");
            facets.share(normal, &given, mu, &mut shares);
            assert!(shares.iter().all(|s| *s >= -1e-13), "{shares:?}");
            assert!((shares.iter().sum::<f64>() - normal).abs() < 1e-13);
            for a in 0..2 {
                let sum: f64 = shares.iter().zip(facets.directions()).map(|(s, d)| -mu * s * d[a]).sum();
                assert!((sum - given[a]).abs() < 1e-13, "{sum} {given:?}");
            }
        }
    }
}

/// Root mean squares of `error` over random cases, for 4, 8, 16 and 64 facets.
fn errors(mut error: impl FnMut(&Facets, &mut Random) -> f64) -> [f64; 4] {
    [4, 8, 16, 64].map(|count| {
        let (facets, mut random) = (Facets::new(count), Random::new(4));
        let sum: f64 = (0..4000).map(|_| error(&facets, &mut random).powi(2)).sum();
        (sum / 4000.0).sqrt()
    })
}

// Many facets tend to the integral over all directions (published) and to the exact cone
// (predicted): with the second order of their number.
#[test]
fn many_facets_converge_to_the_cone_with_second_order() {
    let (mu, normal) = (0.7, 1.3);
    let published = errors(|facets, random| {
        let (violation, slope) = (0.9 * random.signed(), random.vector().xy().normalize().into());
        let (sum, limit) = (facets.sum(violation, &slope, mu), many_facets(violation, &slope, mu));
        let apart = |k: usize| sum.tangential[k] - limit.tangential[k];
        (sum.normal - limit.normal).hypot(apart(0)).hypot(apart(1))
    });
    let predicted = errors(|facets, random| {
        let wanted: [f64; 2] = (random.vector().xy().normalize() * 5.0).into();
        let given = facets.clip(wanted, mu * normal);
        given[0].hypot(given[1]) - mu * normal
    });
    println!("published {published:?}\npredicted {predicted:?}");
    for errors in [published, predicted] {
        for (k, halvings) in [(0, 1.0), (1, 1.0), (2, 2.0)] {
            let order = (errors[k] / errors[k + 1]).log2() / halvings;
            assert!((order - 2.0).abs() < 0.3, "{errors:?}: order {order}");
        }
    }
    // Where all facets push, four are as good as any number.
    let (violation, slope) = (2.0, [0.3, 0.4]);
    let (sum, limit) = (Facets::new(4).sum(violation, &slope, mu), many_facets(violation, &slope, mu));
    assert!(
        (sum.normal - limit.normal).abs() < 1e-14 && (sum.tangential[0] - limit.tangential[0]).abs() < 1e-14
    );
}

// The published gains are those of 2 ms; in physical terms they are the same at any step.
#[test]
fn gains_per_step_are_converted() {
    let per_step = Gains::PerStep { stiffness: 0.5, damping: 0.005 };
    assert_eq!(per_step.rates(0.002), [250.0, 2.5]);
    assert_eq!(per_step.rates(0.001), [500.0, 5.0]);
    let physical = Gains::Physical { frequency: 100.0, damping_ratio: 0.5 };
    assert_eq!(physical.rates(0.002), [1e4, 100.0]);
    assert_eq!(physical.rates(0.02), [1e4, 100.0]);
}
