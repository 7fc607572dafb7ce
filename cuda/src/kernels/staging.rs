//! What a step gets from the host, and what it leaves to it.

use crate::layout::{Span, kernel_parameters, shared_constants, shared_structs};

shared_constants! {
    /// Threads of a block of the staging kernels.
    pub const STAGING_THREADS: u32 = 256;
}

shared_structs! {
    /// A piece of a staged image, and where it belongs.
    pub struct StagingPiece {
        /// Address in device memory, which the host has checked.
        pub address: u64,
        /// First word in the image.
        pub first: u32,
        /// Words of four bytes.
        pub words: u32,
    }
}

kernel_parameters! {
    /// Copies the pieces of an image to where they belong.
    pub struct StagingScatterParameters = "staging_scatter" {
        /// Pieces; only the first of them count.
        pub pieces: Span<StagingPiece>,
        /// Number of pieces to scatter, then to gather.
        pub counts: Span<u32>,
        /// The image.
        pub image: Span<u32>,
    }

    /// Copies pieces of device memory into an image.
    pub struct StagingGatherParameters = "staging_gather" {
        /// Pieces; only the first of them count.
        pub pieces: Span<StagingPiece>,
        /// Number of pieces to scatter, then to gather.
        pub counts: Span<u32>,
        /// The image.
        pub image: Span<u32>,
    }
}
