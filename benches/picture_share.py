#!/usr/bin/env python3
"""The part of a run's wall time that its pictures take, by scene.

    benches/picture_share.py [--turns N] [--pliant PROGRAM] SCENE[:SECONDS]...

Each turn runs every scene without pictures and with them, one after the other. Prints a line for each
run and, for each scene, medians over the turns and the share (with - without) / with. The wall time
of a run with pictures is that of the whole command: steps that are slower beside the drawing count.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(command):
    """Wall and processor time of a command [s]."""
    before, start = os.times(), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall, after = time.monotonic() - start, os.times()
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    user = after.children_user - before.children_user + after.children_system - before.children_system
    return wall, user


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scenes", nargs="+", metavar="SCENE[:SECONDS]")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--pliant", default="target/release/pliant")
    arguments = parser.parse_args()
    measured = {}
    for turn in range(arguments.turns):
        for which in arguments.scenes:
            scene, _, length = which.partition(":")
            for kind, more in (("without", ["--no-pictures"]), ("with", [])):
                with tempfile.TemporaryDirectory() as folder:
                    command = [arguments.pliant, "run", scene, "--out", f"{folder}/run", *more]
                    if length:
                        command += ["--time", length]
                    wall, user = seconds(command)
                load = os.getloadavg()[0]
                print(f"{turn} {which} {kind} wall {wall:.2f} s processor {user:.2f} s load {load:.1f}", flush=True)
                measured.setdefault((which, kind), []).append((wall, user))
    print("| scene | wall without [s] | with [s] | share | processor time of pictures [s] |")
    print("|---|---|---|---|---|")
    for which in arguments.scenes:
        wall, user = ({kind: statistics.median(m[part] for m in measured[which, kind])
                       for kind in ("without", "with")} for part in (0, 1))
        share = (wall["with"] - wall["without"]) / wall["with"]
        print(f"| {which} | {wall['without']:.2f} | {wall['with']:.2f} | {100 * share:.0f} % "
              f"| {user['with'] - user['without']:.2f} |")


if __name__ == "__main__":
    main()
