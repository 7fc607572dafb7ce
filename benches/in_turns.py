#!/usr/bin/env python3
"""Two versions of the command in turns: ratio of their processor time, after over before.

    benches/in_turns.py BEFORE AFTER [--pairs 7] [--only NAME ...]

BEFORE and AFTER are `pliant` binaries. Each case runs with one on one core, then with the other on the
same core, and so on; which begins changes from pair to pair. Prints, case by case, the median processor
time (user and system) [s] of both, the median of the ratios of the pairs, and their least and greatest.
Wall time is not compared: other work on a shared machine changes it, and processor time much less.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

RUN = ["--threads", "1", "--no-pictures"]
# Case: the command's arguments, some seconds each. Runs write to a folder that is thrown away.
CASES = {
    "table1 dough-rolling": ["run", "dough-rolling", "--time", "3", *RUN],
    "table1 box-bagging": ["run", "box-bagging", "--time", "3", *RUN],
    "table1 laundry": ["run", "laundry", "--time", "0.2", *RUN],
    "table1 tshirt-folding": ["run", "tshirt-folding", "--time", "0.2", *RUN],
    "table1 shake": ["run", "shake", "--time", "0.03", *RUN],
    "tolerance 1e-1": ["run", "dough-pin", "--time", "0.6", "--set", "solver.relative_tolerance=1e-1", *RUN],
    "tolerance 1e-3": ["run", "dough-pin", "--time", "0.6", "--set", "solver.relative_tolerance=1e-3", *RUN],
    "tolerance 1e-5": ["run", "dough-pin", "--time", "0.6", "--set", "solver.relative_tolerance=1e-5", *RUN],
    "clutter soft": ["run", "clutter-soft", *RUN],
    "clutter hard": ["run", "clutter-hard", *RUN],
    "closed form": ["run", "primitive-pile", "--time", "1", *RUN],
    "worlds": ["bench", "worlds", "--threads", "1"],
    "mpm": ["bench", "mpm", "--threads", "1"],
}


def processor_time(binary, arguments, core):
    """User and system time [s] of one run."""
    with tempfile.TemporaryDirectory() as folder:
        out = ["--out", f"{folder}/run"] if arguments[0] == "run" else []
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [binary, *arguments, *out], capture_output=True, preexec_fn=lambda: os.sched_setaffinity(0, {core})
        )
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{binary} {' '.join(arguments)}: {done.stderr.decode()}")
        return (end.ru_utime - start.ru_utime) + (end.ru_stime - start.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="cases whose names begin so")
    options = parser.parse_args()
    print("case, before [s], after [s], ratio, least, greatest", flush=True)
    for name, arguments in CASES.items():
        if options.only and not any(name.startswith(start) for start in options.only):
            continue
        times = {options.before: [], options.after: []}
        for pair in range(options.pairs):
            order = [options.before, options.after]
            for binary in order if pair % 2 == 0 else reversed(order):
                times[binary].append(processor_time(binary, arguments, options.core))
        before, after = times[options.before], times[options.after]
        ratios = [b / a for a, b in zip(before, after)]
        medians = ", ".join(f"{statistics.median(t):.2f}" for t in (before, after))
        print(f"{name}, {medians}, {statistics.median(ratios):.3f}, {min(ratios):.3f}, {max(ratios):.3f}", flush=True)


if __name__ == "__main__":
    main()
