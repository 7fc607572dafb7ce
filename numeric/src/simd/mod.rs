//! Lanes of f32 and f64, with the instruction set chosen at run time.
//!
//! A plain `cargo build --release` must be fast, so a kernel is compiled once for each instruction
//! set and the machine's best one is picked when it is called. It is ours, and not `pulp`, `wide`
//! or `multiversion`, because the transfers need one *fixed* width of f32: three grid nodes of four
//! floats fill twelve of sixteen lanes, and sixteen particles fill a tile. Doubles are as many as a
//! register holds; a row of eight is one, two or four of them.
//!
//! All `unsafe` of this crate lives in this module. Its contract: a type that implements [`Simd`]
//! is only named inside [`Kernel::run`], and [`Detected::run`] calls that only after the processor
//! said that it has the instructions, inside a function compiled for them.

/// An expression without intrinsics.
macro_rules! plain {
    ($e:expr) => {
        $e
    };
}

/// Methods of one expression, inlined: `op` of intrinsics, `plain` without.
macro_rules! methods {
    ($of:ident: $(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name($($arg: $type),*) -> $out {
            $of!($value)
        })*
    };
}

/// Operators of lanes, each by a method of the instruction set.
macro_rules! operators {
    ($lanes:ident<$simd:ident>: $($trait:ident($method:ident $(, $other:ident)?) = $instruction:ident;)*) => {
        $(impl<S: $simd> $trait for $lanes<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self $(, $other: Self)?) -> Self {
                Self(S::$instruction(self.0 $(, $other.0)?))
            }
        })*
    };
}

/// The same in place.
macro_rules! assignments {
    ($lanes:ident<$simd:ident>: $($trait:ident($method:ident) = $instruction:ident;)*) => {
        $(impl<S: $simd> $trait for $lanes<S> {
            #[inline(always)]
            fn $method(&mut self, o: Self) {
                self.0 = S::$instruction(self.0, o.0);
            }
        })*
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod lanes;
mod portable;
mod vector;
mod wide;

pub use lanes::Lanes;
pub use vector::{F32x16, F64x8, Kernel, LANES, Simd, SimdDoubles};
pub use wide::Wide;

/// The instruction sets, best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// What every machine of the target has.
    Portable,
    /// AVX2 and FMA, two 256-bit vectors for sixteen lanes.
    Avx2,
    /// AVX-512 F, BW, DQ, VL.
    Avx512,
}

impl InstructionSet {
    /// The best instruction set that this processor has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
            {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// This level, or the best that the processor has if it lacks this one.
    pub fn supported(self) -> Self {
        self.min(Self::detect())
    }

    /// Its name, as shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "AVX2",
            Self::Avx512 => "AVX-512",
        }
    }
}

/// A level that was found on this processor: the proof that [`run`](Self::run) needs.
#[derive(Clone, Copy, Debug)]
pub struct Detected(InstructionSet);

impl Detected {
    /// The requested instruction set if the processor supports it, else the best one below it.
    pub fn new(wanted: InstructionSet) -> Self {
        Self(wanted.supported())
    }

    /// The level that was found.
    pub fn level(self) -> InstructionSet {
        self.0
    }

    /// Doubles in a vector of this level ([`SimdDoubles::DOUBLES`]).
    pub fn doubles(self) -> usize {
        self.run(Doubles)
    }

    /// Runs the kernel in the version compiled for this level.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Detected` holds a level only after the processor reported these features.
            InstructionSet::Avx512 => unsafe { run_avx512(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            InstructionSet::Avx2 => unsafe { run_avx2(kernel) },
            _ => kernel.run::<portable::Portable>(),
        }
    }
}

struct Doubles;

impl Kernel for Doubles {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self) -> usize {
        S::DOUBLES
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<avx512::Avx512>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<avx2::Avx2>()
}

#[cfg(test)]
mod tests;
