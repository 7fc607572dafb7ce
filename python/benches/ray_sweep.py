"""A sweep of many small scenes on Ray while its workers are killed at random.

    python ray_sweep.py FOLDER [VARIANTS] [KILLS] [SECONDS_BETWEEN_KILLS] [SEED]

The same variants are run four times: in this process without Ray, on Ray, on Ray while a thread
kills (SIGKILL) workers that are in the midst of a run, at times and in an order drawn from the seed,
and without Ray once more, since the load of a shared machine changes.
Three of the variants fail on purpose. Then it is checked that every variant is accounted for, that
the data set has each completed one once, and that its frames, tables and arrays have the same bits
as those of the runs without Ray. Ends with exit code 1 if a check fails.
"""

import collections
import datetime
import os
import pathlib
import platform
import random
import shutil
import signal
import sys
import threading
import time

import numpy as np
import pyarrow
import ray
import zarr

import pliant
import pliant.ray
from pliant import shards
from pliant._runs import frame_list
from pliant.dataset import DataSet

CHANGES = {
    "soft[0].sampling.counts": [5, 5, 5],
    "grid_spacing": 0.04,
    "duration": 0.5,
    "output.frame_interval": 0.025,
}
#: Columns that are measured, and differ from run to run.
MEASURED = {"wall_s", "real_time_rate", "ms_per_step_median", "wall_ms", "kills"}


def plan(count):
    """The variants: values of two fields, and three that fail."""
    scene = pliant.read_scene("elastic-drop", CHANGES)
    stiffness = np.geomspace(1e4, 5e4, 25).round(1).tolist()
    density = np.linspace(600.0, 1400.0, -(-count // 25)).round(2).tolist()
    found = shards.variants(scene, {"materials.rubber.youngs_modulus": stiffness, "materials.rubber.density": density})
    wrong = [{"materials.rubber.density": -1.0}, {"materials.rubber.colour": 1}, {"limits.steps": 10}]
    return found[: count - len(wrong)] + [shards.Variant(scene, changes) for changes in wrong]


class Killer(threading.Thread):
    """Kills a worker of Ray that holds the lock of a run, again and again."""

    def __init__(self, folder, most, between, seed):
        super().__init__(daemon=True)
        self.folder, self.most, self.between, self.random = folder, most, between, random.Random(seed)
        self.done, self.kills = threading.Event(), []

    def run(self):
        began = time.monotonic()
        while len(self.kills) < self.most and not self.done.wait(self.random.expovariate(1.0 / self.between)):
            chance = self.random.random()
            # Locks are held for a short time: look until there is one.
            while not self.done.is_set():
                workers = self.workers()
                if workers:
                    name, number = workers[int(chance * len(workers))]
                    os.kill(number, signal.SIGKILL)
                    self.kills.append((time.monotonic() - began, name))
                    break
                self.done.wait(0.001)

    def workers(self):
        found = []
        for lock in sorted(self.folder.glob(".*.lock")):
            try:
                number = int(dict(line.split(": ") for line in lock.read_text().splitlines())["process"])
                if pathlib.Path(f"/proc/{number}/cmdline").read_bytes().startswith(b"ray::"):
                    found.append((lock.name[1 : -len(".lock")], number))
            except (OSError, KeyError, ValueError):
                continue
        return found


def size(folder):
    """Files and bytes in a folder."""
    sizes = [path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file()]
    return len(sizes), sum(sizes)


def timed(call, *arguments, **options):
    began = time.perf_counter()
    result = call(*arguments, **options)
    return time.perf_counter() - began, result


def check(what, holds):
    print(f"{'holds' if holds else 'FAILS'}: {what}", flush=True)
    return bool(holds)


def same_tables(a, b):
    """Whether the tables of two data sets have the same bits, but for what is measured."""
    for name in ("variants", "frames", "diagnostics", "bodies"):
        x, y = a.table(name), b.table(name)
        if sorted(x.column_names) != sorted(y.column_names):
            return False
        # Parts have the variants in another order.
        rows = []
        for table in (x, y):
            kept = [column for column in sorted(table.column_names) if column not in MEASURED | {"offset", "part"}]
            kept_rows = collections.defaultdict(list)
            columns = table.select(kept).to_pydict()
            for k, variant in enumerate(columns["variant"]):
                kept_rows[variant].append(repr([columns[column][k] for column in kept]))
            rows.append(kept_rows)
        if rows[0] != rows[1]:
            return False
    return True


def same_arrays(a, b):
    if sorted(a.variants) != sorted(b.variants):
        return False
    for name in a.variants:
        x, y = a.series(name), b.series(name)
        if x.keys() != y.keys() or any(x[key].tobytes() != y[key].tobytes() for key in x):
            return False
    return True


def several(values, layout):
    return ", ".join(layout.format(value) for value in values)


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    models = [line.split(": ")[1] for line in text.splitlines() if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.1f} GiB"


def main():
    folder = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    between = float(sys.argv[4]) if len(sys.argv) > 4 else 0.5
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    if folder.exists():
        sys.exit(f"{folder} exists")
    print(f"date {datetime.date.today()}, {machine()}, load {os.getloadavg()[0]:.1f}")
    print(f"Pliant {pliant.__version__} {pliant.GIT_COMMIT}, Python {platform.python_version()}")
    print(f"Ray {ray.__version__}, pyarrow {pyarrow.__version__}, zarr {zarr.__version__}, NumPy {np.__version__}")
    print(f"{count} variants, at most {most} kills, {between} s between them on the mean, seed {seed}", flush=True)
    variants = plan(count)

    alone_s, results = timed(shards.run, folder / "alone", variants)
    completed = [result for result in results if result.state == "completed"]
    print(f"without Ray: {alone_s:.1f} s, {len(completed)} completed, load {os.getloadavg()[0]:.1f}", flush=True)

    start_s, _ = timed(ray.init, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20)
    nothing = ray.remote(lambda: None)
    ray.get([nothing.remote() for _ in range(100)])
    task_s = timed(lambda: ray.get([nothing.remote() for _ in range(1000)]))[0] / 1000
    print(f"Ray: started in {start_s:.1f} s, a task that does nothing {task_s * 1e3:.2f} ms", flush=True)
    quiet = pliant.ray.sweep(folder / "quiet", variants)
    print(f"on Ray: {quiet.wall_s:.1f} s, load {os.getloadavg()[0]:.1f}", flush=True)

    killer = Killer(folder / "killed", most, between, seed)
    killer.start()
    sweep = pliant.ray.sweep(folder / "killed", variants)
    killer.done.set()
    killer.join()
    print(f"on Ray with kills: {sweep.wall_s:.1f} s, load {os.getloadavg()[0]:.1f}; kills at:")
    print(" ".join(f"{at:.1f}" for at, _ in killer.kills), "s", flush=True)
    often = collections.Counter(collections.Counter(name for _, name in killer.kills).values())
    counts = [often[k] for k in range(1, max(often, default=0) + 1)]
    print("variants whose workers were killed once, twice, ...:", counts)
    print(sweep)

    again_s, _ = timed(shards.run, folder / "again", variants)
    print(f"without Ray once more: {again_s:.1f} s, load {os.getloadavg()[0]:.1f}")
    alone_s = [alone_s, again_s]
    gather_s, data = timed(pliant.ray.gather, folder / "killed", folder / "data", variants)
    one_s, part = timed(shards.gather, folder / "alone", folder / "one", variants)
    one = DataSet(folder / "one")
    frames = [row for result in completed for row in frame_list(folder / "alone" / result.name)]
    print()
    own = {result.name: result for result in sweep.results}
    states = collections.Counter(result.state for result in sweep.results)
    gone = {name for name, result in own.items() if result.state == "failed" and "killed" in result.error}
    errors = {result.name: result.error for result in results if result.state == "failed"}
    holds = [
        check(f"all {count} variants are accounted for: {dict(states)}",
              list(own) == [v.name for v in variants] and set(states) <= {"completed", "failed"}),
        check("those that fail have the same words as without Ray",
              len(errors) == 3 and all(own[name].error == text for name, text in errors.items())),
        check(f"{len(gone)} of the others were given up", len(gone) + states["completed"] == len(completed)),
        check(f"{len(killer.kills)} kills were seen, {sweep.retries} tries were begun anew",
              sweep.kills == len(killer.kills) == sweep.retries + len(gone)),
        check("the run directories are complete or absent", not list((folder / "killed").glob(".*.partial"))
              and not list((folder / "killed").rglob("*.tmp"))),
        check("the data set has no problems: each variant and frame once", data.problems() == [] == one.problems()),
        check("it has the completed variants and no others",
              sorted(data.variants) == sorted(n for n, r in own.items() if r.state == "completed")),
        check("all frames are those of the runs without Ray, byte for byte", all(
            row["sha256"] == other["sha256"]
            for name in data.variants
            for row, other in zip(*(frame_list(folder / run / name) for run in ("killed", "alone")), strict=True))),
        check("all arrays of the data set have the same bits", bool(gone) or same_arrays(data, one)),
        check("all tables of the data set are the same, but for wall times", bool(gone) or same_tables(data, one)),
    ]  # fmt: skip
    look_s, again = timed(pliant.ray.sweep, folder / "killed", variants)
    skipped = all(result.skipped for result in again.results if result.state == "completed")
    holds.append(check("done again, nothing is run", skipped))

    stepping = sum(r.manifest["ms_per_step"]["mean"] * r.manifest["steps"] for r in completed) * 1e-3
    files, run_bytes = size(folder / "killed")
    data_files, data_bytes = size(folder / "data")
    frame_bytes, particles = sum(row["bytes"] for row in frames), sum(row["particles"] for row in frames)
    zarr_bytes = sum(size(part / "particles.zarr")[1] for part in data.parts)
    print()
    print("| | without Ray | Ray | Ray, workers killed |")
    print("|---|---|---|---|")
    rows = [
        ("variants", [count] * 3),
        ("kills", [0, quiet.kills, len(killer.kills)]),
        ("retries", [0, quiet.retries, sweep.retries]),
        ("processes that run variants", [1, int(ray.cluster_resources()["CPU"]), int(ray.cluster_resources()["CPU"])]),
        ("wall time [s]", [several(alone_s, "{:.1f}"), f"{quiet.wall_s:.1f}", f"{sweep.wall_s:.1f}"]),
        ("variants a minute", [several([60 * count / s for s in alone_s], "{:.0f}")]
         + [f"{60 * count / s:.0f}" for s in (quiet.wall_s, sweep.wall_s)]),
        ("bytes of the run directories", [size(folder / name)[1] for name in ("alone", "quiet")] + [run_bytes]),
    ]
    for name, cells in rows:
        print(f"| {name} | " + " | ".join(map(str, cells)) + " |")
    print()
    print("| figure | |")
    print("|---|---|")
    for name, value in [
        ("particles, steps and frames of a variant",
         f"{completed[0].manifest['particles']}, {completed[0].manifest['steps']}, {completed[0].manifest['frames']}"),
        ("wall time of a variant without Ray [ms]", several([1e3 * s / count for s in alone_s], "{:.1f}")),
        ("of it steps [ms]", f"{1e3 * stepping / len(completed):.1f}"),
        ("wall time that a kill costs [s]", f"{(sweep.wall_s - quiet.wall_s) / max(len(killer.kills), 1):.2f}"),
        ("files and bytes of a run directory", f"{files / len(completed):.0f}, {run_bytes / len(completed):.0f}"),
        ("bytes of a frame as PLY", f"{frame_bytes / len(frames):.0f}"),
        ("bytes of a particle in a frame, PLY", f"{frame_bytes / particles:.1f}"),
        ("bytes of a particle in a frame, Zarr", f"{zarr_bytes / particles:.1f}"),
        ("data set: files, bytes, parts", f"{data_files}, {data_bytes}, {len(data.parts)}"),
        ("gathering on Ray, in one process [s]", f"{gather_s:.1f}, {one_s:.1f}"),
        ("checking all when done again [s]", f"{look_s:.1f}"),
    ]:  # fmt: skip
        print(f"| {name} | {value} |")
    shutil.rmtree(folder)
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
