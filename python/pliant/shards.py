"""Sweeps in parts: which variants a shard runs, their runs, and the table of all::

    import pliant.shards

    variants = pliant.shards.variants("dough-rolling", {"materials.dough.yield_stress": [500, 1000]})
    pliant.shards.plan("sweeps/dough", variants)

and then, as often as needed and on as many machines as there are, all on one file system::

    python -m pliant.shards run sweeps/dough --shard 3/8      # or --slurm in a job array
    python -m pliant.shards merge sweeps/dough                # sweep.json, sweep.csv, sweep.parquet
    python -m pliant.shards gather sweeps/dough sweeps/dough/data

Folders, names and tables are those of `pliant sweep`, and `pliant report` and `pliant sweep
--status` read them. A variant that is complete is compared with its checksums and not run again; one
that was interrupted, or whose process was killed, is resumed; one that fails is recorded with its
words and does not stop the others. A process that is killed while it runs a variant is counted in
`.NAME.record.json`, and after `retries` more tries the variant is recorded as failed. A try that
got further than the one before (a newer checkpoint) does not count.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pathlib
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass

import pliant

from . import _runs, _table
from ._variants import PLAN, Shard, Variant, distinct, plan, read_plan, variants

__all__ = [
    "PLAN",
    "RETRIES",
    "STATES",
    "Result",
    "Shard",
    "Variant",
    "gather",
    "look",
    "merge",
    "plan",
    "read_plan",
    "run",
    "run_variant",
    "status",
    "summary",
    "variants",
]

#: Tries that may be killed, beyond the first.
RETRIES = 3
#: Time between two looks at a run that another process works on [s].
LOOK_AGAIN = 0.5

#: What :func:`pliant.run` says where another process was faster; how often it may be, in one call.
BEATEN = 20
FASTER = ("in use by", "there is no run to resume", "already exists", "an unfinished run is in")
#: How far a variant is, in the words of `pliant sweep --status`.
STATES = ("completed", "failed", "running", "interrupted", "waiting")


@dataclass
class Result:
    """How far a variant is, and why.

    ``state`` is one of :data:`STATES`; ``error`` why it failed or was not run; ``manifest`` that of
    its run if it ended; ``skipped`` whether it was complete before; ``kills`` how many processes
    were killed while they ran it.
    """

    variant: Variant
    state: str
    error: str | None = None
    manifest: dict | None = None
    skipped: bool = False
    kills: int = 0

    @property
    def name(self):
        return self.variant.name


def _beside(folder, name, end):
    return pathlib.Path(folder) / f".{name}{end}"


def _record(folder, name):
    """What is known of the tries of a variant that left no run."""
    try:
        return json.loads(_beside(folder, name, ".record.json").read_bytes())
    except (OSError, ValueError):
        return {}


def _write_record(folder, name, record):
    path = _beside(folder, name, ".record.json")
    if any(record.values()):
        temporary = path.with_name(f"{path.name}.{os.getpid()}.0.tmp")
        temporary.write_text(json.dumps(record))
        os.replace(temporary, path)
    else:
        path.unlink(missing_ok=True)


def count_kill(folder, name):
    """Records that the process of a variant was killed; returns how often without getting further."""
    record = _record(folder, name)
    steps = [path.name for path in (_beside(folder, name, ".partial") / "checkpoint").glob("*.bin")]
    newest = max(steps, default="")
    further = newest > (record.get("checkpoint") or "000000000000.bin")
    record["kills"] = record.get("kills", 0) + 1
    record["in_a_row"] = 1 if further else record.get("in_a_row", 0) + 1
    _write_record(folder, name, record | {"checkpoint": newest, "started": False})
    return record["in_a_row"]


def give_up(folder, name, error):
    """Records why a variant is not run any more; :func:`run` with ``again`` tries it once more."""
    _write_record(folder, name, _record(folder, name) | {"error": error, "started": False})


def _holder(folder, name):
    """What the lock of a run says of the process that holds it; None if nobody does."""
    path = _beside(folder, name, ".lock")
    try:
        with open(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                said = dict(line.split(": ", 1) for line in file.read().splitlines() if ": " in line)
                return f"process {said.get('process', '?')} on {said.get('host', '?')}"
    except FileNotFoundError:
        pass
    return None


def look(folder, variant, *, pictures=False, check=True):
    """How far a variant is; nothing is changed.

    With ``check`` every file of a run that ended is compared with its checksum; without, only the
    manifest. A run of another scene does not count.
    """
    run, record = pathlib.Path(folder) / variant.name, _record(folder, variant.name)
    kills = record.get("kills", 0)

    def result(state, error=None, manifest=None):
        return Result(variant, state, error, manifest, False, kills)

    if (holder := _holder(folder, variant.name)) is not None:
        return result("running", holder)
    partial = _beside(folder, variant.name, ".partial")
    if os.path.lexists(run):
        try:
            scene = pliant.read_scene(variant.scene, variant.changes)
            manifest = _runs.manifest(run)
        except (pliant.Error, pliant.ValueError) as error:
            return result("failed", str(error))
        if partial.exists():
            return result("failed", f"there is both a run and an unfinished one in {partial}")
        if any(manifest["scene"].get(key) != scene[key] for key in scene if key != "limits"):
            return result("failed", "its directory holds a run of another scene; move that run first")
        if manifest["status"] == "interrupted" and _runs.changed_input(manifest) is None:
            return result("interrupted", manifest["error"], manifest)
        if check and (wrong := _runs.problem(run, manifest)):
            return result("failed", wrong)
        if manifest["status"] == "completed" and pictures and manifest["pictures"] != "drawn":
            return result("interrupted", "its pictures are to be drawn", manifest)
        return result(manifest["status"], manifest["error"], manifest)
    if record.get("error"):
        return result("failed", record["error"])
    if partial.exists():
        return result("interrupted", "its process was stopped or killed")
    return result("waiting")


def run_variant(folder, variant, *, retries=RETRIES, threads=1, backend="cpu", pictures=False, again=False, wait=0.0):
    """Runs, resumes or skips a variant; returns its :class:`Result`.

    A run that another process holds is waited for, ``wait`` seconds at most. ``again`` tries a
    variant once more that was recorded as failed without a run. An interrupt from the keyboard ends
    the run with a checkpoint and goes on to the caller.
    """
    name, until, beaten = variant.name, time.monotonic() + wait, 0
    record = _record(folder, name)
    if again and record.get("error"):
        _write_record(folder, name, {"kills": record.get("kills", 0)})
    while True:
        found = look(folder, variant, pictures=pictures)
        if found.state == "running" and time.monotonic() < until:
            time.sleep(LOOK_AGAIN)
            continue
        if found.state in ("completed", "failed"):
            found.skipped = found.manifest is not None
            # Killed between the end of the run and the end of its process: that is no failure.
            _write_record(folder, name, _record(folder, name) | {"started": False, "in_a_row": 0, "checkpoint": ""})
            return found
        if found.state == "running":
            return found
        record = _record(folder, name)
        if record.get("started") and count_kill(folder, name) > retries:
            give_up(folder, name, killed(retries))
            return look(folder, variant)
        record = _record(folder, name)
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        _write_record(folder, name, record | {"started": True})
        error, manifest = None, None
        try:
            manifest = pliant.run(
                variant.scene,
                pathlib.Path(folder) / name,
                variant.changes,
                backend=backend,
                threads=threads,
                resume=found.state == "interrupted",
                pictures=pictures,
            )
        except pliant.RunError as failure:
            # Another process was faster: its run is waited for, or left to it.
            beaten += 1
            if beaten < BEATEN and any(words in str(failure) for words in FASTER):
                _write_record(folder, name, record)
                time.sleep(LOOK_AGAIN)
                continue
            error = str(failure)
        except (pliant.Error, pliant.ValueError) as failure:
            error = str(failure)
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
        except BaseException as failure:
            _write_record(folder, name, record | {"started": False})
            # A panic of the library is a defect of one variant; an interrupt is for all.
            if type(failure).__name__ != "PanicException":
                raise
            error = f"a defect of Pliant: {failure}"
        kept = {"kills": record.get("kills", 0), "error": error}
        _write_record(folder, name, kept)
        state = manifest["status"] if manifest else "failed"
        return Result(variant, state, error or manifest["error"], manifest, False, kept["kills"])


def killed(retries):
    """The words of a variant whose processes were killed too often."""
    return f"its process was killed {retries + 1} times, each time before it got further"


def run(folder, variants=None, shard=None, *, progress=None, **options):
    """Runs the variants of a shard in this process, one after another; returns their results.

    ``variants`` are those of the plan if none are given; ``progress`` is called with each result and
    the number of results so far; the other options are those of :func:`run_variant`.
    """
    variants = read_plan(folder) if variants is None else distinct(variants)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    results = []
    for variant in (shard or Shard()).part(variants):
        results.append(run_variant(folder, variant, **options))
        if progress is not None:
            progress(results[-1], len(results))
    return results


def status(folder, variants=None, shard=None, *, pictures=False, check=False):
    """How far each variant of a shard is, in their order: a :class:`Result` each. Nothing is changed."""
    variants = read_plan(folder) if variants is None else distinct(variants)
    return [look(folder, one, pictures=pictures, check=check) for one in (shard or Shard()).part(variants)]


def merge(folder, variants=None, *, check=False, results=None):
    """Writes the table of a sweep, of what its folder holds; returns all results.

    Every variant is in it: completed, failed with the words why, or without a status where it was
    not run. ``check`` compares all files with their checksums. ``results`` are what this process saw
    besides: what was skipped, and why a variant could not be run of which the folder has nothing.
    """
    found = status(folder, variants, check=check)
    own, scenes = {result.name: result for result in results or []}, []
    for result in found:
        if seen := own.get(result.name):
            result.skipped = seen.skipped
            if seen.state == "failed" and result.manifest is None:
                result.state, result.error = seen.state, seen.error
        try:
            scenes.append(pliant.read_scene(result.variant.scene, result.variant.changes))
        except (pliant.Error, pliant.ValueError) as error:
            scenes.append(None)
            if result.manifest is None:
                result.state, result.error = "failed", str(error)
    _table.write(folder, found, scenes)
    return found


def gather(folder, out, variants=None, shard=None, *, replace=False):
    """Gathers the completed runs of a shard to its part of a data set (:mod:`pliant.dataset`).

    The part's table has all variants of the shard, those that failed or were not run too.
    """
    from . import dataset

    variants = read_plan(folder) if variants is None else distinct(variants)
    results = status(folder, variants, shard)
    shard = shard or Shard()
    rows = [(r.name, pathlib.Path(folder) / r.name, r.manifest if r.state == "completed" else None) for r in results]

    def table(path):
        _table.write_parquet(path, results, kills=True, variants=variants)

    return dataset.gather(rows, out, table=table, shard=(shard.number, shard.of), replace=replace)


def summary(results):
    """How many variants are in each state, in words; what failed, with why; and warnings of runs."""
    counts = Counter(result.state for result in results)
    lines = [f"{len(results)} variants: " + ", ".join(f"{counts[state]} {state}" for state in STATES)]
    lines += [f"{r.name}: {r.state}: {r.error}" for r in results if r.state != "completed" and r.error]
    for r in results:
        lines += [f"{r.name}: warning: {text}" for text in (r.manifest["warnings"] if r.manifest else [])]
    return "\n".join(lines)


class _Stopped(KeyboardInterrupt):
    """SIGTERM, as a cluster sends it before it ends a job."""


def _stop(number, frame):
    raise _Stopped


def main(arguments=None):
    """`python -m pliant.shards`; exit code 0 if all is complete, 1 if not, 2 for wrong use, 3 if stopped."""
    parser = argparse.ArgumentParser(prog="python -m pliant.shards", description="A sweep in parts; see plan().")
    parser.add_argument("action", choices=["run", "status", "merge", "gather"])
    parser.add_argument("folder", help="folder of the sweep, with its plan")
    parser.add_argument("out", nargs="?", help="gather: folder of the data set")
    parser.add_argument("--shard", help="part I/N of the variants, from 1 on")
    parser.add_argument("--slurm", action="store_true", help="the part of this task of a Slurm job array")
    parser.add_argument("--threads", type=int, default=1, help="threads of a run [1]")
    parser.add_argument("--backend", default="cpu", help="cpu, cuda, cuda:N [cpu]")
    tries = f"tries that may be killed, beyond the first [{RETRIES}]"
    parser.add_argument("--retries", type=int, default=RETRIES, help=tries)
    parser.add_argument("--pictures", action="store_true", help="draw pictures of each run")
    parser.add_argument("--again", action="store_true", help="try again what failed without a run")
    parser.add_argument("--replace", action="store_true", help="gather: replace a part of other runs")
    given = parser.parse_args(arguments)
    if (given.action == "gather") != (given.out is not None):
        parser.error("gather needs a folder OUT, and no other action does")
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        shard = Shard.of_slurm() if given.slurm else Shard.parse(given.shard) if given.shard else Shard()
        planned = read_plan(given.folder)
        count = len(shard.part(planned))
        if given.action == "run":
            results = run(
                given.folder,
                planned,
                shard,
                progress=lambda r, done: print(f"{done} of {count}: {r.name} {r.state}", flush=True),
                **{key: getattr(given, key) for key in ("threads", "backend", "retries", "pictures", "again")},
            )
        elif given.action == "merge":
            results = merge(given.folder, planned)
        elif given.action == "gather":
            print(gather(given.folder, given.out, planned, shard, replace=given.replace))
            results = status(given.folder, planned, shard)
        else:
            results = status(given.folder, planned, shard)
        print(summary(results))
        return 0 if all(result.state == "completed" for result in results) else 1
    except KeyboardInterrupt:
        print("stopped; what was running has a checkpoint, and is resumed by the same command", file=sys.stderr)
        return 3
    except (pliant.Error, pliant.ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
