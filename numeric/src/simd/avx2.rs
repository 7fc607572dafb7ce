//! Sixteen lanes in two AVX2 registers.

use core::arch::x86_64::*;

use super::vector::{EXPONENT_BITS, LANES, Simd, SimdDoubles};

#[derive(Clone, Copy, Debug)]
pub struct Avx2;

type V = [__m256; 2];
type D = __m256d;

/// One intrinsic, or a few.
macro_rules! op {
    ($e:expr) => {
        // SAFETY: the module's contract: only kernels that run on a processor with these
        // instructions name this type; pointers come from references or slices whose length was
        // checked.
        unsafe { $e }
    };
}

impl Simd for Avx2 {
    type V = V;
    type M = V;

    methods! { op:
        fn splat(x: f32) -> V = [_mm256_set1_ps(x); 2];
        fn add(a: V, b: V) -> V = [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])];
        fn sub(a: V, b: V) -> V = [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])];
        fn mul(a: V, b: V) -> V = [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])];
        fn div(a: V, b: V) -> V = [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])];
        fn sqrt(a: V) -> V = [_mm256_sqrt_ps(a[0]), _mm256_sqrt_ps(a[1])];
        fn min(a: V, b: V) -> V = [_mm256_min_ps(a[0], b[0]), _mm256_min_ps(a[1], b[1])];
        fn max(a: V, b: V) -> V = [_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])];
        fn floor(a: V) -> V = [_mm256_floor_ps(a[0]), _mm256_floor_ps(a[1])];
        fn power_of_two(a: V) -> V = [
            _mm256_and_ps(a[0], _mm256_castsi256_ps(_mm256_set1_epi32(EXPONENT_BITS))),
            _mm256_and_ps(a[1], _mm256_castsi256_ps(_mm256_set1_epi32(EXPONENT_BITS)))
        ];
        fn mask_and(a: V, b: V) -> V = [_mm256_and_ps(a[0], b[0]), _mm256_and_ps(a[1], b[1])];
        fn mask_or(a: V, b: V) -> V = [_mm256_or_ps(a[0], b[0]), _mm256_or_ps(a[1], b[1])];
        fn mask_bits(a: V) -> u16 = (_mm256_movemask_ps(a[0]) | _mm256_movemask_ps(a[1]) << 8) as u16;
    }

    #[inline(always)]
    fn scale_exponent(m: V, e: V) -> V {
        [scale_half(m[0], e[0]), scale_half(m[1], e[1])]
    }
    #[inline(always)]
    fn load(row: &[f32; LANES]) -> V {
        op!([_mm256_loadu_ps(row.as_ptr()), _mm256_loadu_ps(row.as_ptr().add(8))])
    }
    #[inline(always)]
    fn store(row: &mut [f32; LANES], v: V) {
        op!({
            _mm256_storeu_ps(row.as_mut_ptr(), v[0]);
            _mm256_storeu_ps(row.as_mut_ptr().add(8), v[1]);
        });
    }
    #[inline(always)]
    fn prefetch(row: &[f32; LANES]) {
        op!(_mm_prefetch::<_MM_HINT_T0>(row.as_ptr().cast()));
    }
    #[inline(always)]
    fn mul_add(a: V, b: V, c: V) -> V {
        op!([_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])])
    }
    #[inline(always)]
    fn abs(a: V) -> V {
        op!({
            let sign = _mm256_set1_ps(-0.0);
            [_mm256_andnot_ps(sign, a[0]), _mm256_andnot_ps(sign, a[1])]
        })
    }
    #[inline(always)]
    fn split_exponent(a: V) -> (V, V) {
        let (lo, hi) = (split_half(a[0]), split_half(a[1]));
        ([lo.0, hi.0], [lo.1, hi.1])
    }
    #[inline(always)]
    fn lt(a: V, b: V) -> V {
        op!([_mm256_cmp_ps::<_CMP_LT_OQ>(a[0], b[0]), _mm256_cmp_ps::<_CMP_LT_OQ>(a[1], b[1])])
    }
    #[inline(always)]
    fn le(a: V, b: V) -> V {
        op!([_mm256_cmp_ps::<_CMP_LE_OQ>(a[0], b[0]), _mm256_cmp_ps::<_CMP_LE_OQ>(a[1], b[1])])
    }
    #[inline(always)]
    fn select(m: V, if_true: V, if_false: V) -> V {
        op!([
            _mm256_blendv_ps(if_false[0], if_true[0], m[0]),
            _mm256_blendv_ps(if_false[1], if_true[1], m[1])
        ])
    }
    #[inline(always)]
    fn mask_not(a: V) -> V {
        op!({
            let ones = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
            [_mm256_xor_ps(a[0], ones), _mm256_xor_ps(a[1], ones)]
        })
    }
    #[inline(always)]
    fn mask_from_bits(bits: u16) -> V {
        op!({
            let lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            [mask_half(i32::from(bits & 0xff), lane), mask_half(i32::from(bits >> 8), lane)]
        })
    }
    #[inline(always)]
    fn broadcast_quad(q: &[f32; 4]) -> V {
        op!({
            let q = _mm_loadu_ps(q.as_ptr());
            [_mm256_set_m128(q, q); 2]
        })
    }
    #[inline(always)]
    fn broadcast_entry<const I: usize>(a: V) -> V {
        match I {
            0 => op!([_mm256_permute_ps::<0x00>(a[0]), _mm256_permute_ps::<0x00>(a[1])]),
            1 => op!([_mm256_permute_ps::<0x55>(a[0]), _mm256_permute_ps::<0x55>(a[1])]),
            2 => op!([_mm256_permute_ps::<0xaa>(a[0]), _mm256_permute_ps::<0xaa>(a[1])]),
            _ => op!([_mm256_permute_ps::<0xff>(a[0]), _mm256_permute_ps::<0xff>(a[1])]),
        }
    }
    #[inline(always)]
    fn spread_z_weights(row: &[f32; LANES]) -> V {
        op!([
            _mm256_set_m128(_mm_set1_ps(row[10]), _mm_set1_ps(row[9])),
            _mm256_set_m128(_mm_set1_ps(row[12]), _mm_set1_ps(row[11])),
        ])
    }
    #[inline(always)]
    fn sum_quads(a: [V; 4]) -> V {
        op!({
            [_mm256_set_m128(sum_half(a[1]), sum_half(a[0])), _mm256_set_m128(sum_half(a[3]), sum_half(a[2]))]
        })
    }
    #[inline(always)]
    fn load_slice(s: &[f32]) -> V {
        let s = &s[..LANES];
        op!([_mm256_loadu_ps(s.as_ptr()), _mm256_loadu_ps(s.as_ptr().add(8))])
    }
    #[inline(always)]
    fn store_slice(s: &mut [f32], v: V) {
        let s = &mut s[..LANES];
        op!({
            _mm256_storeu_ps(s.as_mut_ptr(), v[0]);
            _mm256_storeu_ps(s.as_mut_ptr().add(8), v[1]);
        });
    }
    #[inline(always)]
    fn transpose(r: [V; LANES]) -> [V; LANES] {
        let mut rows = [[0.0_f32; LANES]; LANES];
        for i in 0..LANES {
            Self::store(&mut rows[i], r[i]);
        }
        let mut out = r;
        for i in 0..LANES {
            let mut column = [0.0_f32; LANES];
            for j in 0..LANES {
                column[j] = rows[j][i];
            }
            out[i] = Self::load(&column);
        }
        out
    }
}

#[inline(always)]
fn split_half(x: __m256) -> (__m256, __m256) {
    op!({
        let bits = _mm256_castps_si256(x);
        let fraction = _mm256_and_si256(bits, _mm256_set1_epi32(0x007f_ffff));
        let m = _mm256_castsi256_ps(_mm256_or_si256(fraction, _mm256_set1_epi32(0x3f00_0000)));
        let e = _mm256_sub_epi32(_mm256_srli_epi32::<23>(bits), _mm256_set1_epi32(126));
        (m, _mm256_cvtepi32_ps(e))
    })
}

#[inline(always)]
fn scale_half(m: __m256, e: __m256) -> __m256 {
    op!({
        let biased = _mm256_add_epi32(_mm256_cvttps_epi32(e), _mm256_set1_epi32(127));
        _mm256_mul_ps(m, _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased)))
    })
}

/// Lanes whose bit is set; `lane` holds each lane's bit.
#[inline(always)]
fn mask_half(bits: i32, lane: __m256i) -> __m256 {
    op!({
        let hit = _mm256_and_si256(_mm256_set1_epi32(bits), lane);
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(hit, lane))
    })
}

/// Sum of quarters 0, 1, 2.
#[inline(always)]
fn sum_half(v: V) -> __m128 {
    op!({
        let lo = _mm_add_ps(_mm256_castps256_ps128(v[0]), _mm256_extractf128_ps::<1>(v[0]));
        _mm_add_ps(lo, _mm256_castps256_ps128(v[1]))
    })
}

impl SimdDoubles for Avx2 {
    type D = D;
    type DMask = D;

    methods! { op:
        fn splat_f64(x: f64) -> D = _mm256_set1_pd(x);
        fn add_f64(a: D, b: D) -> D = _mm256_add_pd(a, b);
        fn sub_f64(a: D, b: D) -> D = _mm256_sub_pd(a, b);
        fn mul_f64(a: D, b: D) -> D = _mm256_mul_pd(a, b);
        fn div_f64(a: D, b: D) -> D = _mm256_div_pd(a, b);
        fn neg_f64(a: D) -> D = _mm256_xor_pd(_mm256_set1_pd(-0.0), a);
        fn sqrt_f64(a: D) -> D = _mm256_sqrt_pd(a);
        fn abs_f64(a: D) -> D = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
        fn min_f64(a: D, b: D) -> D = _mm256_min_pd(a, b);
        fn max_f64(a: D, b: D) -> D = _mm256_max_pd(a, b);
        fn lt_f64(a: D, b: D) -> D = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
        fn le_f64(a: D, b: D) -> D = _mm256_cmp_pd::<_CMP_LE_OQ>(a, b);
        fn select_f64(m: D, if_true: D, if_false: D) -> D = _mm256_blendv_pd(if_false, if_true, m);
        fn and_f64(a: D, b: D) -> D = _mm256_and_pd(a, b);
        fn or_f64(a: D, b: D) -> D = _mm256_or_pd(a, b);
        fn not_f64(a: D) -> D = _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
        fn bits_f64(a: D) -> u8 = _mm256_movemask_pd(a) as u8;
    }
}
