//! Compiles the kernels and the runtime of their emulation with the host's C++ compiler, where the
//! feature asks for it.

fn main() {
    for folder in ["kernels", "emulation"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    #[cfg(feature = "emulated")]
    if std::env::var_os("CARGO_CFG_UNIX").is_none() {
        println!(
            "cargo::error=the feature 'emulated' needs a POSIX system; build with --no-default-features"
        );
        return;
    }
    #[cfg(feature = "emulated")]
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        // `#pragma unroll` is for the device.
        .flag("-Wno-unknown-pragmas")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-fvisibility=hidden")
        // A kernel's arithmetic is rounded as written; the device fuses multiply and add where it
        // likes.
        .flag("-ffp-contract=off")
        // A debug build of Rust would otherwise run the kernels many times slower than a release
        // build.
        .opt_level(2)
        .files([
            "emulation/block.cpp",
            "emulation/engine.cpp",
            "emulation/fibre.cpp",
            "emulation/kernels.cpp",
            "emulation/warp.cpp",
        ])
        .compile("pliant_emulation");
}
