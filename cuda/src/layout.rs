//! Types that Rust and the kernels share, and what is known of their layout.

use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

/// Device memory as a kernel gets it: an address and a length in elements; `Span<T>` of
/// `kernels/prelude.cuh`.
///
/// A span does not keep its buffer alive. Each launch checks that the spans in its parameters lie
/// in live buffers of the device, so a stale one is an error and never a stray write.
#[repr(C)]
#[derive(Debug)]
pub struct Span<T> {
    address: u64,
    length: u32,
    unused: u32,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for Span<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Span<T> {}

// SAFETY: two integers and their padding, which is a field; all zeros is the empty span.
unsafe impl<T: 'static> Zeroable for Span<T> {}
// SAFETY: `repr(C)`, 8 + 4 + 4 bytes with alignment 8, no padding, any bit pattern is a value. An
// address that is made up does no harm: launches check it.
unsafe impl<T: 'static> Pod for Span<T> {}

impl<T: DeviceType> Span<T> {
    /// No memory at all.
    pub const EMPTY: Self = Self { address: 0, length: 0, unused: 0, element: PhantomData };

    pub(crate) fn new(address: u64, length: u32) -> Self {
        Self { address, length, unused: 0, element: PhantomData }
    }

    pub(crate) fn raw(&self) -> RawSpan {
        let bytes = u64::from(self.length) * size_of::<T>() as u64;
        RawSpan { address: self.address, bytes, align: align_of::<T>() as u64 }
    }

    /// Length in elements.
    pub fn len(&self) -> u32 {
        self.length
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The first `length` elements, or all where there are fewer.
    #[must_use]
    pub fn first(self, length: u32) -> Self {
        Self { length: self.length.min(length), ..self }
    }

    /// `length` elements of another type at the same place, which the caller knows to fit.
    #[must_use]
    pub(crate) fn recast<U: DeviceType>(self, length: u32) -> Span<U> {
        Span::new(self.address, length)
    }

    /// The elements from number `first` on; none where there are no more.
    #[must_use]
    pub fn skip(self, first: u32) -> Self {
        let first = self.length.min(first);
        let address = self.address + u64::from(first) * size_of::<T>() as u64;
        Self { address, length: self.length - first, ..self }
    }
}

/// Where a span lies, without its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSpan {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) align: u64,
}

/// A type that means the same to Rust and to the kernels.
pub trait DeviceType: Pod {
    /// Its name in CUDA C++.
    fn name() -> String;

    /// Visits the spans in a value.
    fn each_span(&self, _visit: &mut dyn FnMut(RawSpan)) {}
}

macro_rules! scalars {
    ($($rust:ty => $cuda:literal),* $(,)?) => {
        $(impl DeviceType for $rust {
            fn name() -> String {
                $cuda.to_owned()
            }
        })*
    };
}

scalars! { u8 => "uint8_t", u32 => "uint32_t", i32 => "int32_t", u64 => "uint64_t", f32 => "float", f64 => "double" }

impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    fn name() -> String {
        format!("Array<{}, {N}>", T::name())
    }

    fn each_span(&self, visit: &mut dyn FnMut(RawSpan)) {
        self.iter().for_each(|element| element.each_span(visit));
    }
}

impl<T: DeviceType> DeviceType for Span<T> {
    fn name() -> String {
        format!("Span<{}>", T::name())
    }

    fn each_span(&self, visit: &mut dyn FnMut(RawSpan)) {
        visit(self.raw());
    }
}

/// A field of a shared structure.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name, in both languages.
    pub name: &'static str,
    /// Its type in CUDA C++.
    pub cuda_type: String,
    /// Bytes from the structure's beginning.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// Its documentation, line by line.
    pub about: &'static [&'static str],
}

/// A structure that Rust and the kernels share.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Its name, in both languages.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Its fields in order.
    pub fields: Vec<Field>,
    /// Its documentation, line by line.
    pub about: &'static [&'static str],
}

impl Layout {
    /// FNV-1a of the names, offsets and sizes: `layout_hash` of `kernels/prelude.cuh`, which the
    /// generated header compares with this.
    pub fn hash(&self) -> u64 {
        let start = Fnv::default().text(self.name).number(self.size).number(self.align);
        let add = |hash: Fnv, field: &Field| hash.text(field.name).number(field.offset).number(field.size);
        self.fields.iter().fold(start, add).0
    }
}

/// The hash FNV-1a, 64 bits, over bytes.
#[derive(Clone, Copy)]
pub(crate) struct Fnv(pub(crate) u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub(crate) fn byte(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    /// A text without carriage returns, ended with a zero.
    pub(crate) fn text(self, text: &str) -> Self {
        text.bytes().filter(|byte| *byte != b'\r').fold(self, Self::byte).byte(0)
    }

    /// The eight bytes of a number, the lowest first.
    fn number(self, number: usize) -> Self {
        (number as u64).to_le_bytes().into_iter().fold(self, Self::byte)
    }
}

/// Declares a structure that Rust and the kernels share; `kernels/parameters.cuh` is generated from
/// its layout.
macro_rules! shared_struct {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident {
            $($(#[doc = $field_about:literal])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[doc = $about])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        pub struct $name {
            $($(#[doc = $field_about])* pub $field: $type,)*
        }

        impl $crate::layout::DeviceType for $name {
            fn name() -> String {
                stringify!($name).to_owned()
            }

            fn each_span(&self, visit: &mut dyn FnMut($crate::layout::RawSpan)) {
                $($crate::layout::DeviceType::each_span(&self.$field, visit);)*
            }
        }

        impl $name {
            /// Sizes and offsets, as the kernels must see them.
            pub fn layout() -> $crate::layout::Layout {
                $crate::layout::Layout {
                    name: stringify!($name),
                    size: size_of::<Self>(),
                    align: align_of::<Self>(),
                    fields: vec![$($crate::layout::Field {
                        name: stringify!($field),
                        cuda_type: <$type as $crate::layout::DeviceType>::name(),
                        offset: std::mem::offset_of!(Self, $field),
                        size: size_of::<$type>(),
                        about: &[$($field_about),*],
                    },)*],
                    about: &[$($about),*],
                }
            }
        }
    };
}
pub(crate) use shared_struct;

/// Declares structures that Rust and the kernels share besides parameters, each after those it
/// contains.
macro_rules! shared_structs {
    ($(
        $(#[doc = $about:literal])*
        pub struct $name:ident { $($fields:tt)* }
    )*) => {
        $($crate::layout::shared_struct! { $(#[doc = $about])* pub struct $name { $($fields)* } })*

        /// The structures that the kernels share besides parameters.
        pub(super) const STRUCTURES: &[fn() -> $crate::layout::Layout] = &[$($name::layout),*];
    };
}
pub(crate) use shared_structs;

/// Declares constants that Rust and the kernels share.
macro_rules! shared_constants {
    ($($(#[doc = $about:literal])* pub const $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[doc = $about])* pub const $name: $type = $value;)*

        /// The constants that the kernels share.
        pub(super) const CONSTANTS: &[super::Constant] = &[$(super::Constant {
            name: stringify!($name),
            cuda_type: <$type as $crate::layout::DeviceType>::name,
            value: &$name,
            about: &[$($about),*],
        },)*];
    };
}
pub(crate) use shared_constants;

/// Declares the structures of kernels' parameters, each with its kernel's name in CUDA C++.
macro_rules! kernel_parameters {
    ($(
        $(#[doc = $about:literal])*
        pub struct $parameters:ident = $name:literal { $($fields:tt)* }
    )*) => {
        $(
            $crate::layout::shared_struct! { $(#[doc = $about])* pub struct $parameters { $($fields)* } }

            impl $parameters {
                /// The kernel's name in CUDA C++.
                pub const NAME: &'static str = $name;
            }
        )*
    };
}
pub(crate) use kernel_parameters;

/// Lists the kernels, each with the structure of its parameters.
macro_rules! kernels {
    ($($variant:ident($parameters:ident),)*) => {
        /// A kernel; what it does is said at its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kernel {
            $(#[doc = concat!("Takes [`", stringify!($parameters), "`].")] $variant,)*
        }

        impl Kernel {
            /// All kernels.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The kernel's name in CUDA C++.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $parameters::NAME,)*
                }
            }

            /// The layout of the kernel's parameters.
            pub fn layout(self) -> $crate::layout::Layout {
                match self {
                    $(Self::$variant => $parameters::layout(),)*
                }
            }
        }

        $(
            impl Parameters for $parameters {
                const KERNEL: Kernel = Kernel::$variant;
            }
        )*
    };
}
pub(crate) use kernels;
