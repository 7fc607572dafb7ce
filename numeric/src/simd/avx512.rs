//! Sixteen lanes in one AVX-512 register.

use core::arch::x86_64::*;

use super::{LANES, Simd, SimdDoubles};

#[derive(Clone, Copy, Debug)]
pub struct Avx512;

/// One intrinsic, or a few.
macro_rules! op {
    ($e:expr) => {
        // SAFETY: the module's contract: only kernels that run on a processor with these instructions name this
        // type; pointers come from references or slices whose length was checked.
        unsafe { $e }
    };
}

impl Simd for Avx512 {
    type V = __m512;
    type M = __mmask16;

    #[inline(always)]
    fn splat(x: f32) -> __m512 {
        op!(_mm512_set1_ps(x))
    }
    #[inline(always)]
    fn load(row: &[f32; LANES]) -> __m512 {
        op!(_mm512_loadu_ps(row.as_ptr()))
    }
    #[inline(always)]
    fn store(row: &mut [f32; LANES], v: __m512) {
        op!(_mm512_storeu_ps(row.as_mut_ptr(), v));
    }
    #[inline(always)]
    fn prefetch(row: &[f32; LANES]) {
        op!(_mm_prefetch::<_MM_HINT_T0>(row.as_ptr().cast()));
    }
    #[inline(always)]
    fn add(a: __m512, b: __m512) -> __m512 {
        op!(_mm512_add_ps(a, b))
    }
    #[inline(always)]
    fn sub(a: __m512, b: __m512) -> __m512 {
        op!(_mm512_sub_ps(a, b))
    }
    #[inline(always)]
    fn mul(a: __m512, b: __m512) -> __m512 {
        op!(_mm512_mul_ps(a, b))
    }
    #[inline(always)]
    fn div(a: __m512, b: __m512) -> __m512 {
        op!(_mm512_div_ps(a, b))
    }
    #[inline(always)]
    fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 {
        op!(_mm512_fmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn sqrt(a: __m512) -> __m512 {
        op!(_mm512_sqrt_ps(a))
    }
    #[inline(always)]
    fn abs(a: __m512) -> __m512 {
        op!(_mm512_abs_ps(a))
    }
    #[inline(always)]
    fn min(a: __m512, b: __m512) -> __m512 {
        op!(_mm512_min_ps(a, b))
    }
    #[inline(always)]
    fn max(a: __m512, b: __m512) -> __m512 {
        op!(_mm512_max_ps(a, b))
    }
    #[inline(always)]
    fn floor(a: __m512) -> __m512 {
        op!(_mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a))
    }
    #[inline(always)]
    fn split_exponent(a: __m512) -> (__m512, __m512) {
        let m = op!(_mm512_getmant_ps::<_MM_MANT_NORM_P5_1, _MM_MANT_SIGN_SRC>(a));
        let e = op!(_mm512_add_ps(_mm512_getexp_ps(a), _mm512_set1_ps(1.0)));
        (m, e)
    }
    #[inline(always)]
    fn scale_exponent(m: __m512, e: __m512) -> __m512 {
        op!(_mm512_scalef_ps(m, e))
    }
    #[inline(always)]
    fn lt(a: __m512, b: __m512) -> __mmask16 {
        op!(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b))
    }
    #[inline(always)]
    fn le(a: __m512, b: __m512) -> __mmask16 {
        op!(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b))
    }
    #[inline(always)]
    fn select(m: __mmask16, if_true: __m512, if_false: __m512) -> __m512 {
        op!(_mm512_mask_blend_ps(m, if_false, if_true))
    }
    #[inline(always)]
    fn mask_and(a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }
    #[inline(always)]
    fn mask_or(a: __mmask16, b: __mmask16) -> __mmask16 {
        a | b
    }
    #[inline(always)]
    fn mask_not(a: __mmask16) -> __mmask16 {
        !a
    }
    #[inline(always)]
    fn mask_bits(a: __mmask16) -> u16 {
        a
    }
    #[inline(always)]
    fn mask_from_bits(bits: u16) -> __mmask16 {
        bits
    }
    #[inline(always)]
    fn broadcast_quad(q: &[f32; 4]) -> __m512 {
        op!(_mm512_broadcast_f32x4(_mm_loadu_ps(q.as_ptr())))
    }
    #[inline(always)]
    fn broadcast_entry<const I: usize>(a: __m512) -> __m512 {
        match I {
            0 => op!(_mm512_permute_ps::<0x00>(a)),
            1 => op!(_mm512_permute_ps::<0x55>(a)),
            2 => op!(_mm512_permute_ps::<0xaa>(a)),
            _ => op!(_mm512_permute_ps::<0xff>(a)),
        }
    }
    #[inline(always)]
    fn spread_z_weights(row: &[f32; LANES]) -> __m512 {
        op!({
            let index = _mm512_setr_epi32(9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12);
            _mm512_permutexvar_ps(index, _mm512_loadu_ps(row.as_ptr()))
        })
    }
    #[inline(always)]
    fn sum_quads(a: [__m512; 4]) -> __m512 {
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
    fn load_slice(s: &[f32]) -> __m512 {
        let s = &s[..LANES];
        op!(_mm512_loadu_ps(s.as_ptr()))
    }
    #[inline(always)]
    fn store_slice(s: &mut [f32], v: __m512) {
        let s = &mut s[..LANES];
        op!(_mm512_storeu_ps(s.as_mut_ptr(), v));
    }
    #[inline(always)]
    fn transpose(r: [__m512; LANES]) -> [__m512; LANES] {
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
    type D = __m512d;
    type DMask = __mmask8;

    #[inline(always)]
    fn splat_f64(x: f64) -> __m512d {
        op!(_mm512_set1_pd(x))
    }
    #[inline(always)]
    fn add_f64(a: __m512d, b: __m512d) -> __m512d {
        op!(_mm512_add_pd(a, b))
    }
    #[inline(always)]
    fn sub_f64(a: __m512d, b: __m512d) -> __m512d {
        op!(_mm512_sub_pd(a, b))
    }
    #[inline(always)]
    fn mul_f64(a: __m512d, b: __m512d) -> __m512d {
        op!(_mm512_mul_pd(a, b))
    }
    #[inline(always)]
    fn div_f64(a: __m512d, b: __m512d) -> __m512d {
        op!(_mm512_div_pd(a, b))
    }
    #[inline(always)]
    fn neg_f64(a: __m512d) -> __m512d {
        op!(_mm512_xor_pd(_mm512_set1_pd(-0.0), a))
    }
    #[inline(always)]
    fn sqrt_f64(a: __m512d) -> __m512d {
        op!(_mm512_sqrt_pd(a))
    }
    #[inline(always)]
    fn abs_f64(a: __m512d) -> __m512d {
        op!(_mm512_abs_pd(a))
    }
    #[inline(always)]
    fn min_f64(a: __m512d, b: __m512d) -> __m512d {
        op!(_mm512_min_pd(a, b))
    }
    #[inline(always)]
    fn max_f64(a: __m512d, b: __m512d) -> __m512d {
        op!(_mm512_max_pd(a, b))
    }
    #[inline(always)]
    fn lt_f64(a: __m512d, b: __m512d) -> __mmask8 {
        op!(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b))
    }
    #[inline(always)]
    fn le_f64(a: __m512d, b: __m512d) -> __mmask8 {
        op!(_mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b))
    }
    #[inline(always)]
    fn select_f64(m: __mmask8, if_true: __m512d, if_false: __m512d) -> __m512d {
        op!(_mm512_mask_blend_pd(m, if_false, if_true))
    }
    #[inline(always)]
    fn and_f64(a: __mmask8, b: __mmask8) -> __mmask8 {
        a & b
    }
    #[inline(always)]
    fn or_f64(a: __mmask8, b: __mmask8) -> __mmask8 {
        a | b
    }
    #[inline(always)]
    fn not_f64(a: __mmask8) -> __mmask8 {
        !a
    }
    #[inline(always)]
    fn bits_f64(a: __mmask8) -> u8 {
        a
    }
}
