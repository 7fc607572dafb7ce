//! Runouts of columns of grains on a floor against those measured by Lube et al., one sand for all:
//! a table. Arguments: numbers of cells over the radius or half width.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, dead_code)]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/granular/mod.rs"]
mod granular;

use granular::Column;

fn main() {
    let grids: Vec<usize> = std::env::args().skip(1).map(|cells| cells.parse().unwrap()).collect();
    println!("| shape | a | cells | runout | law | off |\n|---|---|---|---|---|---|");
    for is_round in [false, true] {
        for aspect in [0.5, 1.0, 2.0, 4.0] {
            for &cells in &grids {
                let column = Column { aspect, cells, is_round, floor: 0.5 };
                let (runout, law) = (column.runout(), column.law());
                let shape = if is_round { "round" } else { "plane" };
                let off = 100.0 * (runout / law - 1.0);
                println!("| {shape} | {aspect} | {cells} | {runout:.3} | {law:.3} | {off:+.1} % |");
            }
        }
    }
}
