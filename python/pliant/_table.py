"""The table of a sweep as `pliant sweep` writes it: `sweep.json`, `sweep.csv`, `sweep.parquet`."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import math
import os
import pathlib
from contextlib import contextmanager

from ._runs import write_atomic
from ._variants import json_text

#: A status is in the table where there is a run that ended.
ENDED = ("completed", "failed", "interrupted")


def status(result):
    """The status of a variant's run; None without one that ended."""
    return result.manifest["status"] if result.manifest else None


def error(result):
    """Why a variant failed or is missing; None for one that has not been run yet."""
    if result.manifest is None and result.state != "failed":
        return None
    return result.error


def columns(results, *, kills=False, variants=None):
    """Names, types (``text``, ``number``, ``whole``, ``yes_no``) and cells of the columns.

    ``kills`` adds the state of each variant and how many of its processes were killed, which the
    command's table does not have. ``variants`` are those of the whole sweep where the results are a
    part: all parts then have the same varied columns.
    """
    found = {}
    variants = [r.variant for r in results] if variants is None else variants

    def add(name, kind, cells):
        while name in found:
            name += "_"
        found[name] = (kind, cells)

    def of(kind, name, value):
        cells = [None if r.manifest is None else value(r.manifest) for r in results]
        if kind == "number":
            cells = [x if x is not None and math.isfinite(x) else None for x in cells]
        add(name, kind, cells)

    add("variant", "text", [r.name for r in results])
    for path in sorted({path for variant in variants for path in variant.changes}):
        kind = _kind([variant.changes[path] for variant in variants if variant.changes.get(path) is not None])
        add(path, kind, [_converted(kind, r.variant.changes.get(path)) for r in results])
    add("status", "text", [status(r) for r in results])
    add("error", "text", [error(r) for r in results])
    of("number", "wall_s", lambda m: m["wall_s"])
    of("number", "simulated_s", lambda m: m["sim_s"])
    of("number", "real_time_rate", lambda m: m["real_time_rate"])
    of("number", "ms_per_step_median", lambda m: m["ms_per_step"]["median"] if m["steps"] else None)
    for name in ("steps", "frames", "particles"):
        of("whole", name, lambda m, name=name: m[name])
    of("whole", "goals", lambda m: len(m["goals"]))
    of("whole", "goals_met", lambda m: sum(goal["met"] is True for goal in m["goals"]))
    for name in dict.fromkeys(goal["name"] for r in results if r.manifest for goal in r.manifest["goals"]):
        of("yes_no", f"goal.{name}.met", lambda m, name=name: _goal(m, name, "met"))
        of("number", f"goal.{name}.worst", lambda m, name=name: _goal(m, name, "worst"))
    for name in ("mass", "linear_momentum", "angular_momentum"):
        of("number", f"{name}_error", lambda m, name=name: m["conservation"][name])
    of("number", "energy_gain", lambda m: m["conservation"]["energy"])
    of("whole", "not_converged", lambda m: m["solver"]["not_converged"])
    of("whole", "warnings", lambda m: len(m["warnings"]))
    for name in ("backend", "version"):
        of("text", name, lambda m, name=name: m[name])
    if kills:
        add("state", "text", [r.state for r in results])
        add("kills", "whole", [r.kills for r in results])
    return found


def _goal(manifest, name, key):
    return next((goal[key] for goal in manifest["goals"] if goal["name"] == name), None)


def _kind(values):
    """The narrowest type that holds all values of a varied field."""
    if all(isinstance(value, bool) for value in values):
        return "yes_no"
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        return "text"
    if all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in values):
        return "whole"
    return "number" if all(isinstance(value, float) or abs(value) < 2**53 for value in values) else "text"


def _converted(kind, value):
    if value is None:
        return None
    if kind == "number":
        return float(value)
    return json_text(value) if kind == "text" and not isinstance(value, str) else value


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        mantissa, _, exponent = repr(value).partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
    return str(value)


def write_csv(path, results):
    """Writes the table as CSV (RFC 4180)."""
    table, out = columns(results), io.StringIO()
    writer = csv.writer(out)
    writer.writerow(table)
    writer.writerows(zip(*([_cell(value) for value in cells] for _, cells in table.values()), strict=True))
    write_atomic(path, out.getvalue().encode())


def write_parquet(path, results, **options):
    """Writes the table as Parquet; the options are those of :func:`columns`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"text": pa.string(), "number": pa.float64(), "whole": pa.int64(), "yes_no": pa.bool_()}
    table = columns(results, **options)
    arrays = [pa.array(cells, types[kind]) for kind, cells in table.values()]
    out = io.BytesIO()
    pq.write_table(pa.table(arrays, names=list(table)), out)
    write_atomic(path, out.getvalue())


def write(folder, results, scenes):
    """Writes the table of a sweep into its folder; ``scenes`` has the scene of each variant or None."""
    folder = pathlib.Path(folder)
    with _lock(folder / ".sweep.lock"):
        for stale in folder.glob(".sweep.*.tmp"):
            stale.unlink(missing_ok=True)
        write_csv(folder / "sweep.csv", results)
        try:
            write_parquet(folder / "sweep.parquet", results)
        except ImportError:
            # The table of an earlier merge would be another one.
            (folder / "sweep.parquet").unlink(missing_ok=True)
        names = {scene["name"] for scene in scenes if scene}
        content = {
            "schema_version": 1,
            "scene": names.pop() if len(names) == 1 else None,
            "random": None,
            "goals": _shares(results, scenes),
            "variants": [
                {
                    "name": r.name,
                    "changes": dict(sorted(r.variant.changes.items())),
                    "status": status(r),
                    "error": error(r),
                    "skipped": r.skipped,
                    "goals": r.manifest["goals"] if r.manifest else [],
                    "conservation": r.manifest["conservation"] if r.manifest else None,
                }
                for r in results
            ],
        }
        write_atomic(folder / "sweep.json", (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def _shares(results, scenes):
    names = list(dict.fromkeys(goal["name"] for scene in scenes if scene for goal in scene["goals"]))
    if not names:
        return []

    def share(name, held):
        met = sum(held(r) for r in results)
        return {"name": name, "met": met, "share": met / max(len(results), 1)}

    def all_met(r):
        goals = r.manifest["goals"] if status(r) == "completed" else []
        return bool(goals) and all(goal["met"] is True for goal in goals)

    each = [share(n, lambda r, n=n: r.manifest is not None and _goal(r.manifest, n, "met") is True) for n in names]
    return [*each, share("all", all_met)]


@contextmanager
def _lock(path):
    """Holds the lock that the command takes while it writes the table."""
    while True:
        file = open(path, "a+")
        fcntl.flock(file, fcntl.LOCK_EX)
        # One who held it may have removed the file.
        try:
            here = os.stat(path)
        except FileNotFoundError:
            here = None
        if here and (here.st_dev, here.st_ino) == (os.fstat(file.fileno()).st_dev, os.fstat(file.fileno()).st_ino):
            break
        file.close()
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        file.close()
