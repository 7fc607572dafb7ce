// Numbers of the worlds: products and sums are rounded one by one and never fused, as in
// `numeric/src/simd/wide.rs`, so that double precision has the processor's bits. Where a bound is
// made of rounding, it is another one in single precision.
#pragma once

#include "prelude.cuh"

namespace worlds {

__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double minus(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double over(double a, double b) { return __ddiv_rn(a, b); }
__device__ __forceinline__ double root(double a) { return __dsqrt_rn(a); }
__device__ __forceinline__ double absolute(double a) { return fabs(a); }
__device__ __forceinline__ float absolute(float a) { return fabsf(a); }
__device__ __forceinline__ double power_of(double a, double b) { return pow(a, b); }
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float minus(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float over(float a, float b) { return __fdiv_rn(a, b); }
__device__ __forceinline__ float root(float a) { return __fsqrt_rn(a); }
__device__ __forceinline__ float power_of(float a, float b) { return powf(a, b); }

template <typename T>
struct Number {
    T value;

    Number() = default;
    // Constants are written in double precision and rounded by the compiler.
    __device__ constexpr Number(double constant) : value(static_cast<T>(constant)) {}

    static __device__ __forceinline__ Number of(T value) {
        Number number;
        number.value = value;
        return number;
    }

    __device__ __forceinline__ Number operator-() const { return of(-value); }
    friend __device__ __forceinline__ Number operator+(Number a, Number b) { return of(plus(a.value, b.value)); }
    friend __device__ __forceinline__ Number operator-(Number a, Number b) { return of(minus(a.value, b.value)); }
    friend __device__ __forceinline__ Number operator*(Number a, Number b) { return of(times(a.value, b.value)); }
    friend __device__ __forceinline__ Number operator/(Number a, Number b) { return of(over(a.value, b.value)); }
    // False where either is not a number.
    friend __device__ __forceinline__ bool operator<(Number a, Number b) { return a.value < b.value; }
};

template <typename T>
__device__ __forceinline__ Number<T> root(Number<T> x) {
    return Number<T>::of(root(x.value));
}

template <typename T>
__device__ __forceinline__ Number<T> magnitude(Number<T> x) {
    return Number<T>::of(absolute(x.value));
}

// The lesser and the greater; the second where they are equal or no numbers.
template <typename T>
__device__ __forceinline__ Number<T> least(Number<T> a, Number<T> b) {
    return a < b ? a : b;
}

template <typename T>
__device__ __forceinline__ Number<T> most(Number<T> a, Number<T> b) {
    return b < a ? a : b;
}

template <typename T>
__device__ __forceinline__ Number<T> within(Number<T> x, Number<T> low, Number<T> high) {
    return least(most(x, low), high);
}

// 1 where it is 0 or greater, else -1.
template <typename T>
__device__ __forceinline__ Number<T> sign_of(Number<T> x) {
    return x < Number<T>(0.0) ? Number<T>(-1.0) : Number<T>(1.0);
}

// Bounds that separate rounding from geometry; `geometry/src/pairs` says what each is for. Those of
// single precision are as far above its rounding.
template <typename T>
struct Bounds;

template <>
struct Bounds<double> {
    // What rounds to a whole number when it is added and taken away again.
    static constexpr double WHOLE = 6755399441055744.0;
    // pi/2 in parts whose products with small whole numbers are exact (fdlibm).
    static constexpr double HALF_PI = 1.5707963267341256;
    static constexpr double HALF_PI_NEXT = 6.077100506506192e-11;
    static constexpr double HALF_PI_LAST = 0.0;
    static constexpr double NO_LENGTH = 1e-280;
    static constexpr double SAME_LINE = 1e-14;
    static constexpr double NO_SINE = 1e-9;
    static constexpr double CROSSING = 1e-12;
    static constexpr double PARALLEL_EDGES = 1e-10;
    static constexpr double FACE_BIAS = 1e-9;
    static constexpr double LARGER = 1.0 + 1e-9;
    static constexpr double TIE = 1e-12;
    static constexpr double FLAT = 1e-9;
    static constexpr double EDGE_SIZE = 1e-6;
    static constexpr double MOTOR = 1e-9;
};

template <>
struct Bounds<float> {
    static constexpr double WHOLE = 12582912.0;
    // Cephes (Moshier), `sinf`.
    static constexpr double HALF_PI = 1.5703125;
    static constexpr double HALF_PI_NEXT = 4.837512969970703125e-4;
    static constexpr double HALF_PI_LAST = 7.54978995489188216e-8;
    static constexpr double NO_LENGTH = 1e-30;
    static constexpr double SAME_LINE = 1e-5;
    static constexpr double NO_SINE = 1e-5;
    static constexpr double CROSSING = 1e-6;
    static constexpr double PARALLEL_EDGES = 1e-6;
    static constexpr double FACE_BIAS = 1e-5;
    static constexpr double LARGER = 1.0 + 1e-5;
    static constexpr double TIE = 1e-6;
    static constexpr double FLAT = 1e-5;
    static constexpr double EDGE_SIZE = 1e-5;
    static constexpr double MOTOR = 1e-5;
};

template <typename T>
__device__ __forceinline__ Number<T> whole(Number<T> x) {
    return (x + Bounds<T>::WHOLE) - Bounds<T>::WHOLE;
}

// Sine and cosine of an angle [rad], by the series of fdlibm after the nearest multiple of pi/2 was
// taken away: `numeric/src/angle.rs`.
template <typename T>
__device__ __forceinline__ void sine_cosine(Number<T> x, Number<T>& sine, Number<T>& cosine) {
    using N = Number<T>;
    const N k = whole(x * N(0.63661977236758134308));
    N r = x - k * N(Bounds<T>::HALF_PI) - k * N(Bounds<T>::HALF_PI_NEXT);
    if constexpr (Bounds<T>::HALF_PI_LAST != 0.0) {
        r = r - k * N(Bounds<T>::HALF_PI_LAST);
    }
    const N z = r * r;
    N s = 1.58969099521155e-10;
    s = s * z + N(-2.5050760253406863e-8);
    s = s * z + N(2.7557313707070068e-6);
    s = s * z + N(-1.984126982985795e-4);
    s = s * z + N(8.33333333332249e-3);
    s = s * z + N(-1.6666666666666632e-1);
    s = r + r * z * s;
    N c = -1.1359647557788195e-11;
    c = c * z + N(2.087572321298175e-9);
    c = c * z + N(-2.7557314351390663e-7);
    c = c * z + N(2.480158728947673e-5);
    c = c * z + N(-1.388888888887411e-3);
    c = c * z + N(4.16666666666666e-2);
    c = (z * z * c - z * N(0.5)) + N(1.0);
    const N quadrant = k - whole((k - N(0.5)) * N(0.25)) * N(4.0);
    const bool is_odd = magnitude(magnitude(quadrant) - N(1.0)) < N(0.5);
    const bool is_low = quadrant < N(-0.5) || N(1.5) < quadrant;
    const N shifted = quadrant + N(1.0);
    const bool is_turned = shifted < N(-0.5) || N(1.5) < shifted;
    sine = is_odd ? c : s;
    cosine = is_odd ? s : c;
    sine = is_low ? -sine : sine;
    cosine = is_turned ? -cosine : cosine;
}

}  // namespace worlds
