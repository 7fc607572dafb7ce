"""Runs of a sweep as one data set: tables as Parquet, particles as Zarr.

A data set is a folder of parts, one for each shard that gathered, each complete or absent::

    OUT/part-0001-of-0004/part.json             which runs, how many frames and particles
                          variants.parquet      a row a variant, those without a run too
                          frames.parquet        a row a frame: where its particles are
                          diagnostics.parquet   the tables of the runs, with a column `variant`
                          ...
                          particles.zarr/       one array a property, all frames one after another

Particle arrays are those of the frames (PLY), in the same bits: ``position`` [m], ``velocity``
[m/s], ``radius`` [m], ``color``, ``material``, and the fields that the scene's output asks for. The
particles of a frame are the rows ``offset`` to ``offset + particles`` of ``frames.parquet``.

Every file is compared with its SHA-256 when it is gathered. Needs ``pyarrow`` and ``zarr`` 3.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import socket
from collections import Counter

import numpy as np

import pliant

from ._runs import GROUPS, UNITS, arrays, frame_list, read_ply, sync, write_atomic

#: Tables of a run directory that are gathered.
TABLES = ("diagnostics", "bodies", "joints", "forces", "sensors", "robot_sensors")
#: Columns of text; all others are numbers.
TEXT = {"body", "joint", "link", "kind", "unit", "sensor"}
#: Particles in a chunk of a Zarr array, and in a shard (one file) [-].
CHUNK, SHARD = 1 << 16, 1 << 20
#: Rows of a table that are written at a time [-].
ROWS = 1 << 17


# Gathering.


def gather(results, out, *, table, shard=(1, 1), replace=False):
    """Gathers the runs of a shard to its part of a data set; returns the part's folder.

    What is in ``part-K-of-N`` already and is of the same runs is left as it is.

    Parameters
    ----------
    results : list of (name, run directory, manifest or None)
        The variants of the shard in their order; those without a manifest are in the table alone.
    out : path
        Folder of the data set.
    table : callable
        Writes the table of the variants to the path that it gets, as Parquet.
    shard : (int, int)
        Number of the part, from 1 on, and their count.
    replace : bool
        Whether a part of other runs is replaced; else it is refused.

    Raises
    ------
    pliant.RunError
        A file is not what was written, or the part holds other runs.
    """
    out = pathlib.Path(out)
    part = out / "part-{:04}-of-{:04}".format(*shard)
    names = [name for name, _, _ in results]
    if len(set(names)) != len(names):
        raise pliant.ValueError(f"variant {Counter(names).most_common(1)[0][0]} is given twice")
    runs = {name: found and found["manifest_sha256"] for name, _, found in results}
    if part.exists():
        if json.loads((part / "part.json").read_text())["runs"] == runs:
            return part
        if not replace:
            raise pliant.RunError(f"{part}: it holds other runs; gather with replace, or to another folder")
    out.mkdir(parents=True, exist_ok=True)
    # Its own name: of two processes that gather the same part, the first one to end counts.
    partial = out / f".{part.name}.{socket.gethostname()}.{os.getpid()}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        ended = [(name, pathlib.Path(run), found) for name, run, found in results if found is not None]
        frames, particles = _gather_frames(ended, partial)
        rows = {name: _gather_table(ended, name, partial / f"{name}.parquet") for name in TABLES}
        table(partial / "variants.parquet")
        about = {
            "schema_version": 1,
            "shard": list(shard),
            "frames": frames,
            "particles": particles,
            "rows": {name: count for name, count in rows.items() if count},
            "runs": runs,
        }
        write_atomic(partial / "part.json", json.dumps(about, indent=1).encode())
        sync(partial)
        if part.exists() and replace:
            old = partial.with_suffix(".old")
            os.rename(part, old)
            os.rename(partial, part)
            shutil.rmtree(old)
        elif not part.exists():
            os.rename(partial, part)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    # What processes that were killed have left of this part.
    for stale in out.glob(f".{part.name}.{socket.gethostname()}.*"):
        if (number := re.search(r"\.(\d+)\.(partial|old)$", stale.name)) and not os.path.exists(f"/proc/{number[1]}"):
            shutil.rmtree(stale, ignore_errors=True)
    return part


def _gather_frames(ended, folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    zarr = _zarr()
    lists = [(name, run, frame_list(run)) for name, run, _ in ended]
    total = sum(row["particles"] for _, _, rows in lists for row in rows)
    columns = {key: [] for key in ("variant", "frame", "time", "particles", "offset", "sha256")}
    at = 0
    for name, _, rows in lists:
        for row in rows:
            for key, value in {"variant": name, "offset": at, **row}.items():
                if key in columns:
                    columns[key].append(value)
            at += row["particles"]
    types = [pa.string(), pa.int64(), pa.float64(), pa.int64(), pa.int64(), pa.string()]
    schema = pa.schema(list(zip(columns, types, strict=True)))
    pq.write_table(pa.table(columns, schema), folder / "frames.parquet")

    group = zarr.create_group(folder / "particles.zarr", zarr_format=3)
    layout = {}
    for _, run, rows in lists:
        if rows:
            first = arrays(read_ply((run / rows[0]["file"]).read_bytes()))
            layout.update({name: (array.dtype, array.shape[1:]) for name, array in first.items()})
    targets = {}
    for name, (dtype, shape) in layout.items():
        targets[name] = group.create_array(
            name,
            shape=(total, *shape),
            chunks=(CHUNK, *shape),
            shards=(SHARD, *shape),
            dtype=dtype,
            fill_value=np.nan if dtype.kind == "f" else 0,
            attributes={"unit": GROUPS[name][2] if name in GROUPS else UNITS.get(name, "")},
        )
    # Whole shards are written, each once.
    buffers = {name: np.empty((min(SHARD, max(total, 1)), *shape), dtype) for name, (dtype, shape) in layout.items()}
    begin = filled = 0

    def flush():
        for name, target in targets.items():
            target[begin : begin + filled] = buffers[name][:filled]

    for _, run, rows in lists:
        for row in rows:
            data = (run / row["file"]).read_bytes()
            if (len(data), hashlib.sha256(data).hexdigest()) != (row["bytes"], row["sha256"]):
                raise pliant.RunError(f"{run / row['file']}: it is not what was written")
            frame, done = arrays(read_ply(data)), 0
            while done < row["particles"]:
                count = min(row["particles"] - done, SHARD - filled)
                for name, buffer in buffers.items():
                    missing = targets[name].fill_value
                    buffer[filled : filled + count] = frame[name][done : done + count] if name in frame else missing
                filled, done = filled + count, done + count
                if filled == SHARD:
                    flush()
                    begin, filled = begin + filled, 0
    if filled:
        flush()
    return len(columns["frame"]), total


def _gather_table(ended, name, path):
    """Gathers `NAME.csv` of all runs; returns the number of rows. Without any there is no file."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    have = [(variant, run / f"{name}.csv", found) for variant, run, found in ended if f"{name}.csv" in found["digests"]]
    if not have:
        return 0
    types = {"variant": pa.string()}
    for _, file, _ in have:
        with open(file, newline="") as lines:
            for column in next(csv.reader(lines)):
                types[column] = pa.string() if column in TEXT else pa.float64()
    schema = pa.schema(list(types.items()))
    options = pc.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
    rows, waiting, count = 0, [], 0
    with pq.ParquetWriter(path, schema) as writer:
        for variant, file, found in have:
            data = file.read_bytes()
            if hashlib.sha256(data).hexdigest() != found["digests"][f"{name}.csv"]["sha256"]:
                raise pliant.RunError(f"{file}: it is not what was written")
            read = pc.read_csv(io.BytesIO(data), convert_options=options)
            read = read.append_column("variant", pa.array([variant] * len(read), pa.string()))
            missing = [column for column in types if column not in read.column_names]
            for column in missing:
                read = read.append_column(column, pa.nulls(len(read), types[column]))
            waiting.append(read.select(list(types)).cast(schema))
            count += len(read)
            if count >= ROWS:
                writer.write_table(pa.concat_tables(waiting))
                rows, waiting, count = rows + count, [], 0
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
    return rows + count


def _zarr():
    import zarr

    if int(zarr.__version__.split(".")[0]) < 3:
        raise ImportError(f"zarr {zarr.__version__} is there; data sets need 3 or newer, which needs Python 3.11")
    return zarr


# Reading.


class DataSet:
    """A data set, for reading::

        data = DataSet("sweeps/grip/data")
        data.table("variants").to_pandas()
        data.frame("sample-0003", 12)["position"]     # (particles, 3), float32 [m]

    It keeps the list of all frames in memory; ``parts`` opens some parts alone, by their numbers.
    """

    def __init__(self, path, parts=None):
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path = pathlib.Path(path)
        self.parts = sorted(self.path.glob("part-*-of-*"))
        if parts is not None:
            self.parts = [part for part in self.parts if int(part.name.split("-")[1]) in set(parts)]
        if not self.parts:
            raise pliant.RunError(f"{self.path}: there is no data set, or no such part")
        self.about = [json.loads((part / "part.json").read_text()) for part in self.parts]
        tables = [pq.read_table(part / "frames.parquet") for part in self.parts]
        numbered = [t.append_column("part", pa.array([k] * len(t), pa.int64())) for k, t in enumerate(tables)]
        #: Variant, frame, time [s], particles, offset, sha256, part of every frame.
        self.frames = pa.concat_tables(numbered)
        self._rows = {}
        for row in self.frames.to_pylist():
            self._rows.setdefault(row["variant"], []).append(row)
        self._groups = {}

    def table(self, name):
        """A table of all parts as a ``pyarrow.Table``: ``variants``, ``diagnostics``, ``bodies``, ..."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        files = [part / f"{name}.parquet" for part in self.parts]
        tables = [pq.read_table(file) for file in files if file.exists()]
        if not tables:
            raise pliant.ValueError(f"table: no run has a table '{name}'")
        return pa.concat_tables(tables, promote_options="permissive")

    @property
    def variants(self):
        """Names of the variants that have frames, in their order."""
        return list(self._rows)

    def times(self, variant):
        """(frames,) [s]"""
        return np.array([row["time"] for row in self._rows[variant]])

    def frame(self, variant, number):
        """The arrays of a frame by their names."""
        return self._slice(self._rows[variant][number], self._rows[variant][number])

    def series(self, variant):
        """The arrays of all frames of a variant, each (frames, particles, ...)."""
        rows = self._rows[variant]
        if len({row["particles"] for row in rows}) > 1:
            raise pliant.ValueError(f"{variant}: its frames have different numbers of particles")
        found = self._slice(rows[0], rows[-1])
        return {name: array.reshape(len(rows), -1, *array.shape[1:]) for name, array in found.items()}

    def _slice(self, first, last):
        part = first["part"]
        if part not in self._groups:
            group = _zarr().open_group(self.parts[part] / "particles.zarr", mode="r")
            self._groups[part] = dict(group.arrays())
        span = slice(first["offset"], last["offset"] + last["particles"])
        return {name: array[span] for name, array in self._groups[part].items()}

    def problems(self):
        """What is wrong, a line each: parts that are missing, variants or frames that are there twice or not at all."""
        found = []
        counts = {about["shard"][1] for about in self.about}
        have = {tuple(about["shard"]) for about in self.about}
        for count in counts:
            found += [f"part {k} of {count} is missing" for k in range(1, count + 1) if (k, count) not in have]
        if len(counts) > 1:
            found.append(f"it has parts of {' and of '.join(map(str, sorted(counts)))} shards")
        names = self.table("variants")["variant"].to_pylist()
        found += [f"{name}: it is there {count} times" for name, count in Counter(names).items() if count > 1]
        runs = {name: sha256 for about in self.about for name, sha256 in about["runs"].items()}
        if missing := set(runs) ^ set(names):
            found.append(f"the table of the variants and the parts differ in {sorted(missing)[:3]}")
        for name, sha256 in runs.items():
            rows = self._rows.get(name, [])
            if [row["frame"] for row in rows] != list(range(len(rows))) or (sha256 is None) != (not rows):
                found.append(f"{name}: its frames are not there once each")
        ends = [0] * len(self.parts)
        for row in self.frames.to_pylist():
            if row["offset"] != ends[row["part"]]:
                found.append(f"{row['variant']}: frame {row['frame']} does not begin where the one before ends")
            ends[row["part"]] = row["offset"] + row["particles"]
        for part, about, end in zip(self.parts, self.about, ends, strict=True):
            if end != about["particles"]:
                found.append(f"{part.name}: it has {end} particles, {about['particles']} were written")
        return found
