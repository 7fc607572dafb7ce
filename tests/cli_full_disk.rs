//! Disks that are full: a run or a sweep says so, and goes on when there is space.
//!
//! The disk is a `tmpfs` of a few pages in a mount namespace, which needs Linux and `unshare`.
//! `PLIANT_FAULTS=N` sets the number of cases, `PLIANT_SEED` the first seed.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod cli_support;
mod faults_support;

use std::process::Command;

use cli_support::{Place, names};
use faults_support::{Case, cases, contents, difference, seeds};
use pliant::numeric::random::SplitMix64;

/// What a command said and did on a full disk, and later with space.
struct Disk {
    /// Exit code and standard error on the full disk.
    full: (i32, String),
    /// Exit code and standard error with space.
    later: (i32, String),
}

/// Runs a command with its folder `disk` on a file system of some pages; then with space, the command
/// that `disk` then calls for: with `--resume` where a run was begun and `resume` is wanted. What is
/// on the disk in the end is copied to the folder `copy`. None: there are no mount namespaces here.
fn on_a_disk(place: &Place, pages: u64, arguments: &[&str], resume: bool) -> Option<Disk> {
    // The first command's state is looked at by the script, as the disk is seen only there.
    let script = r#"
        mount -t tmpfs -o size=$1 tmpfs disk || exit 99
        shift; resume=$1; shift
        "$@" > /dev/null 2> full.err; echo $? > full.code
        find disk > full.names
        mount -o remount,size=1g disk || exit 99
        if [ "$resume" = 1 ] && { [ -e disk/out ] || [ -e disk/.out.partial ]; }; then set -- "$@" --resume; fi
        "$@" > /dev/null 2> later.err; echo $? > later.code
        cp -a disk copy"#;
    std::fs::create_dir_all(place.path("disk")).unwrap();
    let done = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .args([format!("{}", pages * 4096), u32::from(resume).to_string()])
        .arg(env!("CARGO_BIN_EXE_pliant"))
        .args(arguments)
        .current_dir(place.path(""))
        .output();
    let Ok(done) = done else { return None };
    if !done.status.success() {
        return None;
    }
    let text = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    let said =
        |name: &str| (text(&format!("{name}.code")).trim().parse().unwrap(), text(&format!("{name}.err")));
    Some(Disk { full: said("full"), later: said("later") })
}

/// Bytes of all files below a folder, in pages.
fn pages(place: &Place, folder: &str) -> u64 {
    contents(&place.path(folder)).values().map(|bytes| bytes.len().div_ceil(4096) as u64 + 1).sum()
}

// The law: a run on a disk that is too small is an error that says so, without a panic; with space it
// is begun or resumed to the bytes of a run that had space from the start, and nothing else stays.
#[test]
#[ignore = "slow tier"]
fn a_run_on_a_full_disk_goes_on_with_space() {
    let place = Place::new();
    let mut full = 0;
    for seed in seeds(cases(6)) {
        let mut random = SplitMix64::new(5000 + seed);
        let case = Case::draw(&mut random);
        place.write("scene.json", &case.scene);
        place.pliant(&case.run("whole")).exits(0);
        let size = random.next_u64() % (pages(&place, "whole") + 8) + 1;
        let about = format!("seed {seed}, {size} pages, {}", case.scene);
        let Some(disk) = on_a_disk(&place, size, &case.run("disk/out"), true) else {
            println!("left out: no mount namespaces");
            return;
        };
        if disk.full.0 != 0 {
            full += 1;
            assert!(disk.full.0 == 1 || disk.full.0 == 2, "{about}: {disk:?}", disk = disk.full);
            assert!(disk.full.1.contains("the disk is full"), "{about}: {}", disk.full.1);
        }
        assert_eq!(disk.later.0, 0, "{about}\n{}\n{}", disk.full.1, disk.later.1);
        let found = difference(&place.path("whole"), &place.path("copy/out"));
        assert_eq!(found, Vec::<String>::new(), "{about}");
        place.pliant(&["verify", "copy/out"]).exits(0);
        assert_eq!(names(&place.path("copy")), ["out"], "{about}");
        for folder in ["whole", "copy"] {
            std::fs::remove_dir_all(place.path(folder)).unwrap();
        }
    }
    println!("{full} of the disks were too small");
}

// The law: as above, for a sweep of four variants.
#[test]
#[ignore = "slow tier"]
fn a_sweep_on_a_full_disk_goes_on_with_space() {
    let place = Place::new();
    let mut full = 0;
    for seed in seeds(cases(3)) {
        let mut random = SplitMix64::new(6000 + seed);
        let case = Case::draw(&mut random);
        place.write("scene.json", &case.scene);
        let sweep = |out: &'static str| {
            ["sweep", "scene.json", "--vary", "gravity[2]=-1,-2,-4,-8", "--out", out, "--threads", "2"]
        };
        place.pliant(&sweep("whole")).exits(0);
        let size = random.next_u64() % (pages(&place, "whole") + 8) + 1;
        let about = format!("seed {seed}, {size} pages, {}", case.scene);
        let Some(disk) = on_a_disk(&place, size, &sweep("disk/out"), false) else {
            println!("left out: no mount namespaces");
            return;
        };
        if disk.full.0 != 0 {
            full += 1;
            assert!(disk.full.0 == 1 || disk.full.0 == 2, "{about}: {disk:?}", disk = disk.full);
        }
        assert_eq!(disk.later.0, 0, "{about}\n{}\n{}", disk.full.1, disk.later.1);
        for name in ["-1", "-2", "-4", "-8"].map(|g| format!("gravity_2_={g}")) {
            let found = difference(&place.path("whole").join(&name), &place.path("copy/out").join(&name));
            assert_eq!(found, Vec::<String>::new(), "{about}, {name}");
        }
        assert_eq!(names(&place.path("copy/out")), names(&place.path("whole")), "{about}");
        place.pliant(&["verify", "copy/out"]).exits(0);
        for folder in ["whole", "copy"] {
            std::fs::remove_dir_all(place.path(folder)).unwrap();
        }
    }
    println!("{full} of the disks were too small");
}
