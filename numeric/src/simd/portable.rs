//! Sixteen lanes on any machine: plain arrays, which the compiler turns into whatever vectors the
//! target has.

use super::vector::{EXPONENT_BITS, LANES, Simd, SimdDoubles};

#[derive(Clone, Copy, Debug)]
pub struct Portable;

type V = [f32; LANES];
type M = [bool; LANES];
type D = [f64; 2];
type DMask = [bool; 2];

#[inline]
fn map(a: V, f: impl Fn(f32) -> f32) -> V {
    let mut r = a;
    for x in &mut r {
        *x = f(*x);
    }
    r
}

#[inline]
fn zip(a: V, b: V, f: impl Fn(f32, f32) -> f32) -> V {
    let mut r = a;
    for l in 0..LANES {
        r[l] = f(a[l], b[l]);
    }
    r
}

#[inline]
fn mask(f: impl Fn(usize) -> bool) -> M {
    let mut r = [false; LANES];
    for l in 0..LANES {
        r[l] = f(l);
    }
    r
}

impl Simd for Portable {
    type V = V;
    type M = M;

    methods! { plain:
        fn load(row: &[f32; LANES]) -> V = *row;
        fn splat(x: f32) -> V = [x; LANES];
        fn add(a: V, b: V) -> V = zip(a, b, |x, y| x + y);
        fn sub(a: V, b: V) -> V = zip(a, b, |x, y| x - y);
        fn mul(a: V, b: V) -> V = zip(a, b, |x, y| x * y);
        fn div(a: V, b: V) -> V = zip(a, b, |x, y| x / y);
        fn mul_add(a: V, b: V, c: V) -> V = Self::add(Self::mul(a, b), c);
        fn sqrt(a: V) -> V = map(a, f32::sqrt);
        fn abs(a: V) -> V = map(a, f32::abs);
        fn power_of_two(a: V) -> V = map(a, |x| f32::from_bits(x.to_bits() & EXPONENT_BITS as u32));
        fn min(a: V, b: V) -> V = zip(a, b, |x, y| if x < y { x } else { y });
        fn max(a: V, b: V) -> V = zip(a, b, |x, y| if x > y { x } else { y });
        fn floor(a: V) -> V = map(a, f32::floor);
        fn lt(a: V, b: V) -> M = mask(|l| a[l] < b[l]);
        fn le(a: V, b: V) -> M = mask(|l| a[l] <= b[l]);
        fn mask_and(a: M, b: M) -> M = mask(|l| a[l] & b[l]);
        fn mask_or(a: M, b: M) -> M = mask(|l| a[l] | b[l]);
        fn mask_not(a: M) -> M = mask(|l| !a[l]);
        fn mask_bits(a: M) -> u16 = (0..LANES).fold(0, |bits, l| bits | (u16::from(a[l]) << l));
        fn mask_from_bits(bits: u16) -> M = mask(|l| bits >> l & 1 == 1);
    }

    #[inline]
    fn store(row: &mut [f32; LANES], v: V) {
        *row = v;
    }
    #[inline]
    fn prefetch(_: &[f32; LANES]) {}
    #[inline]
    fn split_exponent(a: V) -> (V, V) {
        let m = map(a, |x| f32::from_bits((x.to_bits() & 0x007f_ffff) | 0x3f00_0000));
        let e = map(a, |x| ((x.to_bits() >> 23) as i32 - 126) as f32);
        (m, e)
    }
    #[inline]
    fn scale_exponent(m: V, e: V) -> V {
        zip(m, e, |m, e| m * f32::from_bits(((e as i32 + 127) << 23) as u32))
    }
    #[inline]
    fn select(m: M, if_true: V, if_false: V) -> V {
        let mut r = if_false;
        for l in 0..LANES {
            r[l] = if m[l] { if_true[l] } else { if_false[l] };
        }
        r
    }
    #[inline]
    fn broadcast_quad(q: &[f32; 4]) -> V {
        let mut r = [0.0; LANES];
        for l in 0..LANES {
            r[l] = q[l % 4];
        }
        r
    }
    #[inline]
    fn broadcast_entry<const I: usize>(a: V) -> V {
        let mut r = [0.0; LANES];
        for l in 0..LANES {
            r[l] = a[l / 4 * 4 + I];
        }
        r
    }
    #[inline]
    fn spread_z_weights(row: &[f32; LANES]) -> V {
        let mut r = [0.0; LANES];
        for l in 0..LANES {
            r[l] = row[9 + l / 4];
        }
        r
    }
    #[inline]
    fn sum_quads(a: [V; 4]) -> V {
        let mut r = [0.0; LANES];
        for n in 0..4 {
            for c in 0..4 {
                r[n * 4 + c] = a[n][c] + a[n][4 + c] + a[n][8 + c];
            }
        }
        r
    }
    #[inline]
    fn load_slice(s: &[f32]) -> V {
        let mut r = [0.0; LANES];
        r.copy_from_slice(&s[..LANES]);
        r
    }
    #[inline]
    fn store_slice(s: &mut [f32], v: V) {
        s[..LANES].copy_from_slice(&v);
    }
    #[inline]
    fn transpose(rows: [V; LANES]) -> [V; LANES] {
        let mut r = rows;
        for i in 0..LANES {
            for j in 0..LANES {
                r[i][j] = rows[j][i];
            }
        }
        r
    }
}

/// Pairs, which every machine with vectors has.
impl SimdDoubles for Portable {
    type D = D;
    type DMask = DMask;

    methods! { plain:
        fn splat_f64(x: f64) -> D = [x; 2];
        fn add_f64(a: D, b: D) -> D = [a[0] + b[0], a[1] + b[1]];
        fn sub_f64(a: D, b: D) -> D = [a[0] - b[0], a[1] - b[1]];
        fn mul_f64(a: D, b: D) -> D = [a[0] * b[0], a[1] * b[1]];
        fn div_f64(a: D, b: D) -> D = [a[0] / b[0], a[1] / b[1]];
        fn neg_f64(a: D) -> D = [-a[0], -a[1]];
        fn sqrt_f64(a: D) -> D = [a[0].sqrt(), a[1].sqrt()];
        fn abs_f64(a: D) -> D = [a[0].abs(), a[1].abs()];
        fn lt_f64(a: D, b: D) -> DMask = [a[0] < b[0], a[1] < b[1]];
        fn le_f64(a: D, b: D) -> DMask = [a[0] <= b[0], a[1] <= b[1]];
        fn and_f64(a: DMask, b: DMask) -> DMask = [a[0] & b[0], a[1] & b[1]];
        fn or_f64(a: DMask, b: DMask) -> DMask = [a[0] | b[0], a[1] | b[1]];
        fn not_f64(a: DMask) -> DMask = [!a[0], !a[1]];
        fn bits_f64(a: DMask) -> u8 = u8::from(a[0]) | u8::from(a[1]) << 1;
    }

    #[inline(always)]
    fn min_f64(a: D, b: D) -> D {
        [if a[0] < b[0] { a[0] } else { b[0] }, if a[1] < b[1] { a[1] } else { b[1] }]
    }
    #[inline(always)]
    fn max_f64(a: D, b: D) -> D {
        [if a[0] > b[0] { a[0] } else { b[0] }, if a[1] > b[1] { a[1] } else { b[1] }]
    }
    #[inline(always)]
    fn select_f64(m: DMask, if_true: D, if_false: D) -> D {
        [if m[0] { if_true[0] } else { if_false[0] }, if m[1] { if_true[1] } else { if_false[1] }]
    }
}
