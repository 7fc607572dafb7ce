//! Reports of runs, sweeps and benchmarks as one HTML page.
