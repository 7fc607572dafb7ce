//! Every instruction set of this machine against plain arithmetic.

use super::*;
use crate::scalar::Real;

/// Levels that this processor has.
pub(super) fn levels() -> Vec<Detected> {
    [InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512]
        .into_iter()
        .filter(|&l| l.supported() == l)
        .map(Detected::new)
        .collect()
}

fn samples() -> [[f32; LANES]; 3] {
    let a = core::array::from_fn(|l| 0.37 * (l as f32 + 0.5) * if l % 3 == 0 { -1.0 } else { 1.0 });
    let b = core::array::from_fn(|l| 0.02 + (l as f32 * 7.3).sin().abs() * 3.0);
    let c = core::array::from_fn(|l| (l as f32 * 1.7).cos());
    [a, b, c]
}

struct Arithmetic;
impl Kernel for Arithmetic {
    type Output = Vec<[f32; LANES]>;
    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        let [ra, rb, rc] = samples();
        let [a, b, c] = [S::load(&ra), S::load(&rb), S::load(&rc)];
        let (m, e) = S::split_exponent(b);
        let below = S::lt(a, c);
        let mut out = vec![
            S::add(a, b),
            S::sub(a, b),
            S::mul(a, b),
            S::div(a, b),
            S::sqrt(b),
            S::abs(a),
            S::power_of_two(a),
            S::min(a, c),
            S::max(a, c),
            S::floor(a),
            m,
            e,
            S::scale_exponent(m, e),
            S::select(below, a, c),
            S::select(S::mask_not(S::le(a, c)), a, c),
            S::select(S::mask_and(below, S::mask_from_bits(0x5a5a)), a, c),
            S::select(S::mask_or(below, S::mask_from_bits(0x5a5a)), a, c),
            S::broadcast_quad(&[ra[0], ra[1], ra[2], ra[3]]),
            S::spread_z_weights(&ra),
            S::sum_quads([a, b, c, a]),
        ];
        out.extend(S::transpose(core::array::from_fn(|i| S::add(a, S::splat(i as f32)))));
        let mut rows: Vec<[f32; LANES]> = out
            .into_iter()
            .map(|v| {
                let mut r = [0.0; LANES];
                S::store(&mut r, v);
                r
            })
            .collect();
        rows.push(core::array::from_fn(|l| f32::from(S::mask_bits(below) >> l & 1)));
        rows
    }
}

/// Law: an instruction set changes the speed, not the result: all but fused operations are exact to
/// the bit (IEEE 754).
#[test]
fn every_level_agrees_with_the_portable_one() {
    let expected = Detected::new(InstructionSet::Portable).run(Arithmetic);
    for level in levels() {
        assert_eq!(level.run(Arithmetic), expected, "{:?}", level.level());
    }
}

struct PowersOfTwo([f32; LANES]);
impl Kernel for PowersOfTwo {
    type Output = [f32; LANES];
    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        let mut row = [0.0; LANES];
        S::store(&mut row, S::power_of_two(S::load(&self.0)));
        row
    }
}

/// The definition: 2^k of magnitudes in [2^k, 2^(k + 1)), 0 of what has no such k.
#[test]
fn powers_of_two_are_below() {
    let [mut x, ..] = samples();
    (x[0], x[1], x[2], x[3]) = (8.0, -8.0, 0.0, f32::MIN_POSITIVE / 4.0);
    let mut expected = x.map(|x| 2.0_f32.powi(x.abs().log2().floor() as i32));
    (expected[2], expected[3]) = (0.0, 0.0);
    for level in levels() {
        assert_eq!(level.run(PowersOfTwo(x)), expected, "{:?}", level.level());
    }
}

struct Elementary<'a>(&'a [f32]);
impl Kernel for Elementary<'_> {
    type Output = Vec<(f32, f32, f32)>;
    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        let mut out = Vec::new();
        for chunk in self.0.chunks_exact(LANES) {
            let x = Lanes::<S>(S::load_slice(chunk));
            let (mut l, mut e) = (F32x16::ZERO, F32x16::ZERO);
            x.ln().store(&mut l);
            (x - Lanes::all(20.0)).exp().store(&mut e);
            out.extend((0..LANES).map(|i| (chunk[i], l.0[i], e.0[i])));
        }
        out
    }
}

/// Law: ln and exp to f32 rounding. Bounds: 4 eps relative, plus 1e-7 absolute where ln crosses
/// zero.
#[test]
fn elementary_functions_match_f64() {
    let x: Vec<f32> = (0..4096).map(|i| 1e-4 * 1.004_f32.powi(i)).filter(|x| *x < 100.0).collect();
    for level in levels() {
        for (x, ln, exp) in level.run(Elementary(&x)) {
            let eps = 4.0 * f64::from(f32::EPSILON);
            let exact = f64::from(x).ln();
            assert!((f64::from(ln) - exact).abs() <= eps * exact.abs() + 1e-7, "ln {x} = {ln}, not {exact}");
            let exact = f64::from(x - 20.0).exp();
            assert!(
                (f64::from(exp) - exact).abs() <= 2.0 * eps * exact,
                "exp({x} - 20) = {exp}, not {exact}"
            );
        }
    }
}
