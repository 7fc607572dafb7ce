#!/usr/bin/env python3
"""Digests of what the built-in scenes write, to show that a change of structure changed no bit.

    cargo build --release
    benches/digests.py > before.txt      # at the version before
    benches/digests.py > after.txt       # at the version after
    diff before.txt after.txt

Runs every built-in scene for a short simulated time on one and on two threads, and a few of them with
the device's kernels on the processor. Prints one line per run: scene, backend, threads, simulated time
[s], SHA-256 of the frames, of the tables and of the state in the checkpoint. Columns with wall-clock
times are left out of the tables. The digests hold for one instruction set; compare on one machine.
"""

import argparse
import csv
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Simulated time [s] where the first second takes long or says little; others run for one second.
TIME = {
    "hold": 0.05, "shake": 0.1, "elastic-drop": 0.6, "dough-rolling": 3.0, "dough-pin": 2.0, "sand-column": 0.2,
    "sphere-between-planes": 0.5, "pile-scaling": 0.3, "soft-grasp": 1.2, "sand-scoop": 1.0, "bread-split": 0.6,
    "box-bagging": 3.0, "laundry": 0.8, "tshirt-folding": 0.5, "clutter-soft": 2.0, "clutter-hard": 2.0,
    "franka": 3.0, "vacuum": 2.5, "gripper": 2.0, "cube-in-hand": 2.0, "conveyor": 2.0, "cylinder": 2.0,
}
# Simulated time [s] with the device's kernels on the processor, which are slow there.
EMULATED = {"elastic-drop": 0.05, "hold": 0.0005, "dough-pin": 0.02, "sand-column": 0.008, "incline": 0.02}
# Columns that are wall-clock times.
CLOCK = {"wall_ms"}


def table(path):
    """The bytes of a table without its wall-clock columns."""
    rows = list(csv.reader(path.open(newline="")))
    keep = [i for i, name in enumerate(rows[0]) if name not in CLOCK]
    return "\n".join(",".join(row[i] for i in keep) for row in rows).encode()


def state(path):
    """The bytes of a checkpoint's state without the names of the fields in its header, which are JSON."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = re.sub(rb'"[a-z_]+":', b"", data[8:end])
    # The first value is the version of the format.
    return header.split(b",", 1)[1] + data[end:]


def digest(chunks):
    """First sixteen hexadecimal digits of the SHA-256 of the chunks, each after its name."""
    sha = hashlib.sha256()
    for name, data in chunks:
        sha.update(name.encode() + b"\0" + data)
    return sha.hexdigest()[:16]


def run(pliant, scene, backend, threads, time, folder):
    """One run and the digests of what it wrote."""
    out = pathlib.Path(folder) / f"{scene}-{backend}-{threads}"
    command = [pliant, "run", scene, "--out", str(out), "--time", str(time), "--backend", backend,
               "--threads", str(threads), "--no-pictures", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    frames = sorted((out / "frames").rglob("*.ply"))
    tables = sorted(out.rglob("*.csv"))
    states = sorted((out / "checkpoint").glob("*.bin"))
    return [
        digest((p.relative_to(out).as_posix(), p.read_bytes()) for p in frames),
        digest((p.relative_to(out).as_posix(), table(p)) for p in tables),
        digest((p.name, state(p)) for p in states),
    ]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--pliant", default="target/release/pliant", help="the command")
    arguments.add_argument("--scenes", nargs="*", help="only these")
    arguments = arguments.parse_args()
    pliant = arguments.pliant
    names = [line.split()[0] for line in subprocess.check_output([pliant, "list"], text=True).splitlines() if line.strip()]
    names = arguments.scenes or names
    print("# scene backend threads time frames tables state")
    with tempfile.TemporaryDirectory() as folder:
        for scene in names:
            duration = json.loads(subprocess.check_output([pliant, "show", scene]))["duration"]
            plans = [("cpu", 1, TIME.get(scene, 1.0)), ("cpu", 2, TIME.get(scene, 1.0))]
            plans += [("cuda-emulated", 2, EMULATED[scene])] if scene in EMULATED else []
            for backend, threads, time in plans:
                time = min(time, duration)
                print(scene, backend, threads, time, *run(pliant, scene, backend, threads, time, folder), flush=True)


if __name__ == "__main__":
    main()
