//! All kernels, with their parameters and the constants they share with the host: a module for each
//! part of the backend.
//!
//! `kernels/parameters.cuh` is generated from these lists ([`header`]); a test compares the two.

// The descriptions are comments of the generated header, where a bracket needs no escape.
#![allow(rustdoc::broken_intra_doc_links)]

use std::fmt::Write;

use crate::layout::{DeviceType, Layout, kernels};

mod algorithms;
mod boundary_constraints;
mod cloth;
mod contact;
mod convex;
mod exchange;
mod mpm;
mod probe;
mod sort_particles;
mod staging;
mod worlds;

pub use algorithms::*;
pub use boundary_constraints::*;
pub use cloth::*;
pub use contact::*;
pub use convex::*;
pub use exchange::*;
pub use mpm::*;
pub use probe::*;
pub use sort_particles::*;
pub use staging::*;
pub use worlds::*;

/// The parameters of a kernel, which also say which kernel it is.
pub trait Parameters: DeviceType {
    /// The kernel that takes them.
    const KERNEL: Kernel;
}

/// What a part of the backend shares with its kernels, besides parameters.
struct Part {
    constants: &'static [Constant],
    structures: &'static [fn() -> Layout],
}

/// A shared constant.
struct Constant {
    name: &'static str,
    cuda_type: fn() -> String,
    value: &'static (dyn std::fmt::Debug + Sync),
    about: &'static [&'static str],
}

/// The parts, each after those whose structures it contains.
const PARTS: &[Part] = &[
    Part { constants: algorithms::CONSTANTS, structures: algorithms::STRUCTURES },
    Part { constants: staging::CONSTANTS, structures: staging::STRUCTURES },
    Part { constants: probe::CONSTANTS, structures: &[] },
    Part { constants: mpm::CONSTANTS, structures: mpm::STRUCTURES },
    Part { constants: cloth::CONSTANTS, structures: cloth::STRUCTURES },
    Part { constants: contact::CONSTANTS, structures: contact::STRUCTURES },
    Part { constants: &[], structures: exchange::STRUCTURES },
    Part { constants: convex::CONSTANTS, structures: convex::STRUCTURES },
    Part { constants: boundary_constraints::CONSTANTS, structures: boundary_constraints::STRUCTURES },
    Part { constants: worlds::CONSTANTS, structures: worlds::STRUCTURES },
];

kernels! {
    Scan(ScanParameters),
    SortCountDigits(SortCountDigitsParameters),
    SortScatter(SortScatterParameters),
    SumTilesF32(SumTilesF32Parameters),
    SumTilesF64(SumTilesF64Parameters),
    SumOfTiles(SumOfTilesParameters),
    MaxTilesF32(MaxTilesF32Parameters),
    MaxTilesF64(MaxTilesF64Parameters),
    MaxOfTiles(MaxOfTilesParameters),
    StagingScatter(StagingScatterParameters),
    StagingGather(StagingGatherParameters),
    ProbeWarp(ProbeWarpParameters),
    ProbeShuffleF64(ProbeShuffleF64Parameters),
    ProbeAtomics(ProbeAtomicsParameters),
    ProbeBlock(ProbeBlockParameters),
    ProbeGrid(ProbeGridParameters),
    ProbeRaces(ProbeRacesParameters),
    ProbeArithmetic(ProbeArithmeticParameters),
    ProbeNumber(ProbeNumberParameters),
    ProbeMisuse(ProbeMisuseParameters),
    MpmSortClassify(MpmSortClassifyParameters),
    MpmSortClear(MpmSortClearParameters),
    MpmSortMarkFirst(MpmSortMarkFirstParameters),
    MpmSortNumberBlocks(MpmSortNumberBlocksParameters),
    MpmSortMakeKeys(MpmSortMakeKeysParameters),
    MpmSortGather(MpmSortGatherParameters),
    MpmSortStore(MpmSortStoreParameters),
    MpmSortFindOwners(MpmSortFindOwnersParameters),
    MpmSortPlaceNodes(MpmSortPlaceNodesParameters),
    MpmParticlesToGrid(MpmParticlesToGridParameters),
    MpmAtomicToGrid(MpmAtomicToGridParameters),
    MpmMoveGrid(MpmGridParameters),
    MpmSumBalance(MpmSumBalanceParameters),
    MpmTotalTiles(MpmTotalTilesParameters),
    MpmTotals(MpmTotalsParameters),
    MpmGridToParticles(MpmGridToParticlesParameters),
    MpmFindSubgridMotion(MpmFindSubgridMotionParameters),
    ClothHoldGrid(ClothHoldGridParameters),
    ClothAdvance(ClothAdvanceParameters),
    ClothEnergy(ClothEnergyParameters),
    ProbeFindNodes(ProbeFindNodesParameters),
    ProbeConstitutive(ProbeConstitutiveParameters),
    ProbeContactDistance(ProbeContactDistanceParameters),
    ContactPlace(ContactPlaceParameters),
    ContactFind(ContactFindParameters),
    ContactFill(ContactFillParameters),
    ContactExchange(ContactExchangeParameters),
    ContactSumBodies(ContactSumBodiesParameters),
    ContactMoveBodies(ContactMoveBodiesParameters),
    BoundaryAdd(BoundaryAddParameters),
    BoundaryGuess(BoundaryGuessParameters),
    BoundaryImpose(BoundaryImposeParameters),
    ConvexNumber(ConvexNumberParameters),
    ConvexSolve(ConvexSolveParameters),
    ConvexSolveBodies(ConvexSolveBodiesParameters),
    WorldsSmoothF32(WorldsSmoothF32Parameters),
    WorldsSmoothF64(WorldsSmoothF64Parameters),
    WorldsContactF32(WorldsContactF32Parameters),
    WorldsContactF64(WorldsContactF64Parameters),
    WorldsGatherF32(WorldsGatherF32Parameters),
    WorldsGatherF64(WorldsGatherF64Parameters),
    WorldsCorrectF32(WorldsCorrectF32Parameters),
    WorldsCorrectF64(WorldsCorrectF64Parameters),
    WorldsAdvanceF32(WorldsAdvanceF32Parameters),
    WorldsAdvanceF64(WorldsAdvanceF64Parameters),
}

impl Kernel {
    /// Whether the kernel exists on a GPU; those that break rules do not.
    pub const fn is_on_gpu(self) -> bool {
        !matches!(self, Self::ProbeMisuse)
    }
}

/// The text of `kernels/parameters.cuh`: constants and structures, each with the hash of its
/// layout, which the compiler of the kernels checks.
pub fn header() -> String {
    let mut text = String::from(
        "// Generated from cuda/src/kernels/ by the test `parameters_header_is_current`; do not edit.\n\
         #pragma once\n\n#include \"prelude.cuh\"\n\n",
    );
    for Constant { name, cuda_type, value, about } in PARTS.iter().flat_map(|part| part.constants) {
        comment(&mut text, "", about);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "constexpr {} {name} = {value:?};", cuda_type());
    }
    let parameters = Kernel::ALL.iter().map(|kernel| kernel.layout());
    let structures = PARTS.iter().flat_map(|part| part.structures).map(|layout| layout());
    for layout in structures.chain(parameters) {
        text.push('\n');
        structure(&mut text, &layout);
    }
    text
}

fn structure(text: &mut String, layout: &Layout) {
    let name = layout.name;
    comment(text, "", layout.about);
    let _ = writeln!(text, "struct {name} {{");
    for field in &layout.fields {
        comment(text, "    ", field.about);
        let _ = writeln!(text, "    {} {};", field.cuda_type, field.name);
    }
    let _ = writeln!(text, "}};");
    let mut line = format!("PLIANT_CHECK_LAYOUT({name}, {:#018x}ull", layout.hash());
    for field in &layout.fields {
        let next = format!("FIELD({})", field.name);
        if line.len() + next.len() > 95 {
            let _ = writeln!(text, "{line},");
            line = format!("    {next}");
        } else {
            line = format!("{line}, {next}");
        }
    }
    let _ = writeln!(text, "{line})");
}

/// Documentation as C++ comments, without the brackets of Rust's links.
fn comment(text: &mut String, indent: &str, about: &[&str]) {
    for line in about {
        let _ = writeln!(text, "{indent}//{}", line.replace("[`", "`").replace("`]", "`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One list of parameters and constants, in Rust; the C++ header follows it.
    /// PLIANT_WRITE_PARAMETERS=1 writes it anew.
    #[test]
    fn parameters_header_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/parameters.cuh");
        if std::env::var_os("PLIANT_WRITE_PARAMETERS").is_some() {
            std::fs::write(path, header()).unwrap();
        }
        let text = std::fs::read_to_string(path).unwrap_or_default().replace('\r', "");
        assert!(
            text == header(),
            "run PLIANT_WRITE_PARAMETERS=1 cargo test -p pliant-cuda --no-default-features --lib, then cuda/ptx.py"
        );
    }
}
