//! The numbers of the worlds against the processor's, one operation at a time: each result is
//! rounded once and never fused with another, so it has the same bits (IEEE 754-2019, 5.4.1).
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use pliant_cuda::Launch;
use pliant_cuda::kernels::{NUMBER_RESULTS, PROBE_THREADS, ProbeNumberParameters};
use pliant_numeric::angle::sin_cos;
use support::{Random, devices};

const NAMES: [&str; NUMBER_RESULTS as usize] = [
    "a + b",
    "a - b",
    "a b",
    "a / b",
    "-a",
    "root of b",
    "magnitude of a",
    "b to the power of 1.5",
    "least of a and b",
    "most of a and b",
    "a within -b and b",
    "sign of a",
    "a to a whole number",
    "sine of a",
    "cosine of a",
    "a b + a",
    "(a + b) b + a, fused or not",
];
/// Where in [`NAMES`] the processor has no operation that rounds in the same way.
const POWER: usize = 7;
const SINE: usize = 13;
const COSINE: usize = 14;
/// What a compiler may fuse.
const FREE: usize = 16;

/// What [`NAMES`] say of two numbers, on the processor.
macro_rules! right {
    ($number:ident, $a:expr, $b:expr) => {{
        let (a, b): ($number, $number) = ($a, $b);
        let least = |a: $number, b: $number| if a < b { a } else { b };
        let most = |a: $number, b: $number| if b < a { a } else { b };
        let product = a * b;
        [
            a + b,
            a - b,
            product,
            a / b,
            -a,
            b.sqrt(),
            a.abs(),
            b.powf(1.5),
            least(a, b),
            most(a, b),
            least(most(a, -b), b),
            if a < 0.0 { -1.0 } else { 1.0 },
            // Added and taken away again: no negative zero.
            a.round_ties_even() + 0.0,
            a.sin(),
            a.cos(),
            product + a,
            (a + b).mul_add(b, a),
        ]
    }};
}

/// Pairs of an angle \[rad\] below 1000 of either sign and a positive number, of many sizes; some
/// small, some with equal magnitudes.
fn pairs(count: usize, random: &mut Random) -> Vec<[f64; 2]> {
    let mut size = |low, high| random.log_uniform(low, high);
    let mut pairs = vec![[0.0, 1.0], [-0.0, 2.0], [1.0, 1.0], [-3.0, 3.0]];
    for k in 0..count {
        let (a, b) = (size(1e-6, 1e3), size(1e-6, 1e6));
        let a = if k % 2 == 0 { a } else { -a };
        pairs.push([a, if k % 7 == 0 { a.abs() } else { b }]);
    }
    pairs
}

/// Bounds of what need not have the same bits, in units of the last bit of 1: powers are within
/// four of theirs (CUDA C++ Programming Guide, "Mathematical Functions": 2 in double and 4 in single
/// precision), and sines in single precision lose one to the series, one to the reduction of the
/// angle and one to the last sum.
const POWER_UNITS: f64 = 4.0;
const SINE_UNITS: f64 = 3.0;

#[test]
fn each_operation_is_rounded_by_itself() {
    let seed = 61;
    println!("seed {seed}");
    let pairs = pairs(4000, &mut Random(seed));
    for device in devices() {
        let input = device.upload(&pairs).unwrap();
        let doubles = device.allocate::<[f64; NUMBER_RESULTS as usize]>(pairs.len()).unwrap();
        let singles = device.allocate::<[f32; NUMBER_RESULTS as usize]>(pairs.len()).unwrap();
        let parameters =
            ProbeNumberParameters { input: input.span(), doubles: doubles.span(), singles: singles.span() };
        let launch = Launch::over(pairs.len() as u32, PROBE_THREADS, PROBE_THREADS);
        device.launch(launch, &parameters).unwrap();
        let (doubles, singles) = (doubles.download().unwrap(), singles.download().unwrap());
        for (k, [a, b]) in pairs.iter().enumerate() {
            let mut right = right!(f64, *a, *b);
            (right[SINE], right[COSINE]) = sin_cos(*a);
            for (n, (right, found)) in right.iter().zip(&doubles[k]).enumerate() {
                let is_right = match n {
                    POWER => (found / right - 1.0).abs() <= POWER_UNITS * f64::EPSILON,
                    FREE if found == &((a + b) * b + a) => true,
                    _ => found.to_bits() == right.to_bits(),
                };
                let place = format!("{}, seed {seed}: {} of {a:e}, {b:e}", device.name(), NAMES[n]);
                assert!(is_right, "{place}: {found:e}, not {right:e}");
            }

            let (a, b) = (*a as f32, *b as f32);
            let mut right = right!(f32, a, b);
            // In double precision, rounded.
            (right[SINE], right[COSINE]) = (f64::from(a).sin() as f32, f64::from(a).cos() as f32);
            for (n, (right, found)) in right.iter().zip(&singles[k]).enumerate() {
                let units = f64::from(found - right).abs() / f64::from(f32::EPSILON);
                let is_right = match n {
                    POWER => units <= POWER_UNITS * f64::from(right.abs()),
                    SINE | COSINE => units <= SINE_UNITS,
                    FREE if found == &((a + b) * b + a) => true,
                    _ => found.to_bits() == right.to_bits(),
                };
                let place = format!("{}, seed {seed}: {} of {a:e}, {b:e}", device.name(), NAMES[n]);
                assert!(is_right, "{place} in single precision: {found:e}, not {right:e}");
            }
        }
    }
}
