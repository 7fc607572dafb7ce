"""An elastic block falls on a floor: nanoseconds a particle and substep, stepped from Python.

    python falling_block.py OUT.json [--sizes 6k,47k] [--threads 1,2]

The task is the one that other engines are given: a neo-Hookean block of nc^3 cells with 8 particles a
cell, edge 0.5 m, 1,000 kg/m^3, E = 1e5 Pa, nu = 0.3, starts at rest two cells above the floor of a
closed domain without friction; MLS-MPM, quadratic B-splines, APIC, explicit, f32, substep fixed. The
positions are read once a chunk. Checked: the centre of mass falls freely before the contact. The
JSON file has one row for each size and number of threads.
"""

import argparse
import json
import os
import platform
import statistics
import time
import warnings

import numpy as np

import pliant

G, EDGE, WALL, GAP, CHUNKS = 9.81, 0.5, 3, 2, 9
#: Cells along an edge of the block, nodes along an edge of the domain, substep [s], substeps a chunk.
SIZES = {"6k": (9, 32, 8e-4, 300), "47k": (18, 64, 4e-4, 60), "405k": (37, 128, 2e-4, 30)}
#: Substeps of a step of the world.
SUBSTEPS = 10


def scene(size):
    cells, nodes, substep, _ = SIZES[size]
    dx = EDGE / cells
    side = (nodes - cells) // 2
    low, high = WALL * dx, (nodes - 1 - WALL) * dx
    center = [(side + cells / 2) * dx] * 2 + [(WALL + GAP + cells / 2) * dx]
    planes = [([low] * 3, [1, 0, 0]), ([low] * 3, [0, 1, 0]), ([low] * 3, [0, 0, 1]),
              ([high] * 3, [-1, 0, 0]), ([high] * 3, [0, -1, 0]), ([high] * 3, [0, 0, -1])]
    return {
        "name": "falling-block",
        "duration": 1.0,
        "dt": SUBSTEPS * substep,
        "substeps": SUBSTEPS,
        "grid_spacing": dx,
        "gravity": [0.0, 0.0, -G],
        "materials": {"block": {"model": "neo-hookean", "density": 1000.0, "youngs_modulus": 1e5, "poissons_ratio": 0.3}},
        "soft": [
            {
                "name": "block",
                "shape": {"type": "box", "half_extents": [EDGE / 2] * 3},
                "pose": {"position": center},
                "material": "block",
                "sampling": {"counts": [2 * cells] * 3},
            }
        ],
        "boundaries": [{"point": p, "normal": n, "kind": {"type": "slip"}} for p, n in planes],
    }


def measure(size, threads):
    cells, _, substep, chunk = SIZES[size]
    world = pliant.World(scene(size), threads=threads)
    if world.particle_count != 8 * cells**3:
        raise RuntimeError(f"{world.particle_count} particles, {8 * cells**3} expected")
    start = world.positions[:, 2].mean()
    world.step(100 // SUBSTEPS)
    fall = -0.5 * G * substep**2 * 100 * 101
    error = (world.positions[:, 2].mean() - start) / fall - 1.0
    taken = []
    for _ in range(CHUNKS):
        began = time.perf_counter()
        world.step(chunk // SUBSTEPS)
        height = world.positions[:, 2].min()
        taken.append(time.perf_counter() - began)
    per = [1e9 * t / (world.particle_count * chunk) for t in taken]
    fine = bool(abs(error) < 2e-2 and height > 0.0 and np.abs(world.velocities).max() < 10.0)
    return dict(peer="Pliant (Python)", size=size, N=world.particle_count, threads=threads, ns=statistics.median(per),
                ns_min=min(per), ns_max=max(per), com_err=error, ok=fine)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--sizes", default="6k,47k")
    parser.add_argument("--threads", default="1,2")
    arguments = parser.parse_args()
    rows = [measure(size, int(threads)) for size in arguments.sizes.split(",") for threads in arguments.threads.split(",")]
    for row in rows:
        print(f"{row['size']} on {row['threads']}: {row['ns']:.2f} ns a particle and substep ({row['ns_min']:.2f} to "
              f"{row['ns_max']:.2f}), fall {row['com_err']:+.1e}, {'fine' if row['ok'] else 'WRONG'}")
    with open(arguments.out, "w") as file:
        machine = {"processor": platform.machine(), "cores": os.cpu_count()}
        json.dump({"bench": "mpm", "peer": "Pliant (Python)", "commit": pliant.GIT_COMMIT, "machine": machine, "rows": rows}, file)


if __name__ == "__main__":
    warnings.simplefilter("always")
    main()
