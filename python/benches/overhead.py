"""Steps a second through Python beside the command's own, in one run on one machine.

    python overhead.py PATH_OF_THE_COMMAND [SCENE] [SECONDS] [REPEATS]

The same scene is stepped in turn by `pliant run` without pictures (its manifest says the wall time
of the steps alone), by :meth:`pliant.World.step` one step a call, and by the same with the
positions read after every step. Medians of several turns; ratios are of the same turn.
"""

import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import pliant


def by_command(command, scene, seconds, folder):
    """Mean wall time of a step in the command [s]."""
    subprocess.run(
        [command, "run", scene, "--out", folder, "--set", f"duration={seconds}", "--no-pictures"],
        check=True,
        capture_output=True,
    )
    manifest = json.loads((pathlib.Path(folder) / "manifest.json").read_text())
    return manifest["ms_per_step"]["mean"] * 1e-3


def by_python(scene, seconds, read):
    """Mean wall time of a step in Python [s]."""
    world = pliant.World(scene)
    steps = round(seconds / world.dt)
    address = None
    started = time.perf_counter()
    for _ in range(steps):
        world.step()
        if read:
            positions = world.positions
            here = positions.__array_interface__["data"][0]
            if address not in (None, here):
                raise RuntimeError("the positions were copied")
            address = here
    return (time.perf_counter() - started) / steps


def main():
    command = sys.argv[1]
    scene = sys.argv[2] if len(sys.argv) > 2 else "dough-rolling"
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.5
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    print(f"date {datetime.date.today()}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    print(f"Pliant {pliant.__version__} {pliant.GIT_COMMIT}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"scene {scene}, {seconds} s simulated, {repeats} turns")
    rows = []
    for turn in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            native = by_command(command, scene, seconds, os.path.join(folder, "run"))
        plain, reading = by_python(scene, seconds, False), by_python(scene, seconds, True)
        rows.append((native, plain, reading))
        print(f"turn {turn}: command {native * 1e3:.3f} ms, Python {plain * 1e3:.3f} ms, "
              f"with positions {reading * 1e3:.3f} ms a step", flush=True)
    median = [statistics.median(row[k] for row in rows) for k in range(3)]
    ratio = [statistics.median(row[k] / row[0] for row in rows) for k in range(3)]
    print()
    print("| | ms a step | steps a second | to the command |")
    print("|---|---|---|---|")
    for name, k in (("command", 0), ("Python", 1), ("Python, positions read after each step", 2)):
        print(f"| {name} | {median[k] * 1e3:.3f} | {1.0 / median[k]:.1f} | {ratio[k]:.3f} |")


if __name__ == "__main__":
    main()
