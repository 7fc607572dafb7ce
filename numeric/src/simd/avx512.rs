//! Sixteen lanes in one AVX-512 register.

use core::arch::x86_64::*;

use super::vector::{EXPONENT_BITS, LANES, Simd, SimdDoubles};

#[derive(Clone, Copy, Debug)]
pub struct Avx512;

type V = __m512;
type M = __mmask16;
type D = __m512d;
type DMask = __mmask8;

/// One intrinsic, or a few.
macro_rules! op {
    ($e:expr) => {
        // SAFETY: the module's contract: only kernels that run on a processor with these
        // instructions name this type; pointers come from references or slices whose length was
        // checked.
        unsafe { $e }
    };
}

impl Simd for Avx512 {
    type V = V;
    type M = M;

    methods! { op:
        fn splat(x: f32) -> V = _mm512_set1_ps(x);
        fn load(row: &[f32; LANES]) -> V = _mm512_loadu_ps(row.as_ptr());
        fn add(a: V, b: V) -> V = _mm512_add_ps(a, b);
        fn sub(a: V, b: V) -> V = _mm512_sub_ps(a, b);
        fn mul(a: V, b: V) -> V = _mm512_mul_ps(a, b);
        fn div(a: V, b: V) -> V = _mm512_div_ps(a, b);
        fn mul_add(a: V, b: V, c: V) -> V = _mm512_fmadd_ps(a, b, c);
        fn sqrt(a: V) -> V = _mm512_sqrt_ps(a);
        fn abs(a: V) -> V = _mm512_abs_ps(a);
        fn power_of_two(a: V) -> V =
            _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(EXPONENT_BITS)));
        fn min(a: V, b: V) -> V = _mm512_min_ps(a, b);
        fn max(a: V, b: V) -> V = _mm512_max_ps(a, b);
        fn floor(a: V) -> V = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a);
        fn scale_exponent(m: V, e: V) -> V = _mm512_scalef_ps(m, e);
        fn lt(a: V, b: V) -> M = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        fn le(a: V, b: V) -> M = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        fn select(m: M, if_true: V, if_false: V) -> V = _mm512_mask_blend_ps(m, if_false, if_true);
        fn broadcast_quad(q: &[f32; 4]) -> V = _mm512_broadcast_f32x4(_mm_loadu_ps(q.as_ptr()));
    }
    methods! { plain:
        fn mask_and(a: M, b: M) -> M = a & b;
        fn mask_or(a: M, b: M) -> M = a | b;
        fn mask_not(a: M) -> M = !a;
        fn mask_bits(a: M) -> u16 = a;
        fn mask_from_bits(bits: u16) -> M = bits;
    }

    #[inline(always)]
    fn store(row: &mut [f32; LANES], v: V) {
        op!(_mm512_storeu_ps(row.as_mut_ptr(), v));
    }
    #[inline(always)]
    fn prefetch(row: &[f32; LANES]) {
        op!(_mm_prefetch::<_MM_HINT_T0>(row.as_ptr().cast()));
    }
    #[inline(always)]
    fn split_exponent(a: V) -> (V, V) {
        let m = op!(_mm512_getmant_ps::<_MM_MANT_NORM_P5_1, _MM_MANT_SIGN_SRC>(a));
        let e = op!(_mm512_add_ps(_mm512_getexp_ps(a), _mm512_set1_ps(1.0)));
        (m, e)
    }
    #[inline(always)]
    fn broadcast_entry<const I: usize>(a: V) -> V {
        match I {
            0 => op!(_mm512_permute_ps::<0x00>(a)),
            1 => op!(_mm512_permute_ps::<0x55>(a)),
            2 => op!(_mm512_permute_ps::<0xaa>(a)),
            _ => op!(_mm512_permute_ps::<0xff>(a)),
        }
    }
    #[inline(always)]
    fn spread_z_weights(row: &[f32; LANES]) -> V {
        op!({
            let index = _mm512_setr_epi32(9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12);
            _mm512_permutexvar_ps(index, _mm512_loadu_ps(row.as_ptr()))
        })
    }
    #[inline(always)]
    fn sum_quads(a: [V; 4]) -> V {
        op!({
            // Quarters as letters: a0 = (A B C D), a1 = (E F G H), ...
            let ab = _mm512_shuffle_f32x4::<0b01_00_01_00>(a[0], a[1]); // A B E F
            let cd = _mm512_shuffle_f32x4::<0b11_10_11_10>(a[0], a[1]); // C D G H
            let ij = _mm512_shuffle_f32x4::<0b01_00_01_00>(a[2], a[3]);
            let kl = _mm512_shuffle_f32x4::<0b11_10_11_10>(a[2], a[3]);
            let first = _mm512_shuffle_f32x4::<0b10_00_10_00>(ab, ij); // A E I M
            let second = _mm512_shuffle_f32x4::<0b11_01_11_01>(ab, ij); // B F J N
            let third = _mm512_shuffle_f32x4::<0b10_00_10_00>(cd, kl); // C G K O
            _mm512_add_ps(_mm512_add_ps(first, second), third)
        })
    }
    #[inline(always)]
    fn load_slice(s: &[f32]) -> V {
        let s = &s[..LANES];
        op!(_mm512_loadu_ps(s.as_ptr()))
    }
    #[inline(always)]
    fn store_slice(s: &mut [f32], v: V) {
        let s = &mut s[..LANES];
        op!(_mm512_storeu_ps(s.as_mut_ptr(), v));
    }
    #[inline(always)]
    fn transpose(r: [V; LANES]) -> [V; LANES] {
        op!({
            // 4x4 blocks within the quarters first, then the quarters among themselves.
            let mut t = r;
            for g in 0..4 {
                let [a, b, c, d] = [r[4 * g], r[4 * g + 1], r[4 * g + 2], r[4 * g + 3]];
                let ab_lo = _mm512_unpacklo_ps(a, b);
                let ab_hi = _mm512_unpackhi_ps(a, b);
                let cd_lo = _mm512_unpacklo_ps(c, d);
                let cd_hi = _mm512_unpackhi_ps(c, d);
                t[4 * g] = _mm512_shuffle_ps::<0b01_00_01_00>(ab_lo, cd_lo);
                t[4 * g + 1] = _mm512_shuffle_ps::<0b11_10_11_10>(ab_lo, cd_lo);
                t[4 * g + 2] = _mm512_shuffle_ps::<0b01_00_01_00>(ab_hi, cd_hi);
                t[4 * g + 3] = _mm512_shuffle_ps::<0b11_10_11_10>(ab_hi, cd_hi);
            }
            // t[4 g + k] quarter q holds column 4 q + k of rows 4 g .. 4 g + 3.
            let mut out = r;
            for k in 0..4 {
                let ab = _mm512_shuffle_f32x4::<0b01_00_01_00>(t[k], t[4 + k]);
                let ab_hi = _mm512_shuffle_f32x4::<0b11_10_11_10>(t[k], t[4 + k]);
                let cd = _mm512_shuffle_f32x4::<0b01_00_01_00>(t[8 + k], t[12 + k]);
                let cd_hi = _mm512_shuffle_f32x4::<0b11_10_11_10>(t[8 + k], t[12 + k]);
                out[k] = _mm512_shuffle_f32x4::<0b10_00_10_00>(ab, cd);
                out[4 + k] = _mm512_shuffle_f32x4::<0b11_01_11_01>(ab, cd);
                out[8 + k] = _mm512_shuffle_f32x4::<0b10_00_10_00>(ab_hi, cd_hi);
                out[12 + k] = _mm512_shuffle_f32x4::<0b11_01_11_01>(ab_hi, cd_hi);
            }
            out
        })
    }
}

impl SimdDoubles for Avx512 {
    type D = D;
    type DMask = DMask;

    methods! { op:
        fn splat_f64(x: f64) -> D = _mm512_set1_pd(x);
        fn add_f64(a: D, b: D) -> D = _mm512_add_pd(a, b);
        fn sub_f64(a: D, b: D) -> D = _mm512_sub_pd(a, b);
        fn mul_f64(a: D, b: D) -> D = _mm512_mul_pd(a, b);
        fn div_f64(a: D, b: D) -> D = _mm512_div_pd(a, b);
        fn neg_f64(a: D) -> D = _mm512_xor_pd(_mm512_set1_pd(-0.0), a);
        fn sqrt_f64(a: D) -> D = _mm512_sqrt_pd(a);
        fn abs_f64(a: D) -> D = _mm512_abs_pd(a);
        fn min_f64(a: D, b: D) -> D = _mm512_min_pd(a, b);
        fn max_f64(a: D, b: D) -> D = _mm512_max_pd(a, b);
        fn lt_f64(a: D, b: D) -> DMask = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
        fn le_f64(a: D, b: D) -> DMask = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
        fn select_f64(m: DMask, if_true: D, if_false: D) -> D = _mm512_mask_blend_pd(m, if_false, if_true);
    }
    methods! { plain:
        fn and_f64(a: DMask, b: DMask) -> DMask = a & b;
        fn or_f64(a: DMask, b: DMask) -> DMask = a | b;
        fn not_f64(a: DMask) -> DMask = !a;
        fn bits_f64(a: DMask) -> u8 = a;
    }
}
