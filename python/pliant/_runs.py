"""Run directories: their manifests, checksums and frames, and files that are complete or absent."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import pathlib

import numpy as np

import pliant

#: Properties of PLY frames that are one array: its name, its shape for a particle, its unit.
GROUPS = {
    "position": (("x", "y", "z"), (3,), "m"),
    "velocity": (("vx", "vy", "vz"), (3,), "m/s"),
    "color": (("red", "green", "blue"), (3,), "sRGB"),
    "affine": (tuple(f"affine_{a}{b}" for a in "xyz" for b in "xyz"), (3, 3), "1/s"),
}
UNITS = {"radius": "m", "material": "index", "J": "-", "plastic_strain": "-", "stress_norm": "Pa", "mass": "kg",
         "volume": "m^3"}  # fmt: skip
TYPES = {"float": "<f4", "double": "<f8", "uchar": "u1", "ushort": "<u2", "uint": "<u4", "int": "<i4", "char": "i1",
         "short": "<i2", "uint8": "u1", "uint16": "<u2"}  # fmt: skip


def digest(path):
    """Length [bytes] and SHA-256 of a file."""
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read())
        return os.fstat(file.fileno()).st_size, found.hexdigest()


def manifest(run):
    """The manifest of a run directory, compared with its own SHA-256.

    Raises
    ------
    pliant.RunError
        It is missing, damaged or edited.
    """
    path = pathlib.Path(run) / "manifest.json"
    try:
        text = path.read_text("utf-8")
        found = json.loads(text)
        written = found["manifest_sha256"]
    except (OSError, UnicodeError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise pliant.RunError(f"{path}: no manifest can be read: {error}") from None
    before, _, after = text.rpartition(written)
    if len(written) != 64 or hashlib.sha256((before + "0" * 64 + after).encode()).hexdigest() != written:
        raise pliant.RunError(f"{path}: it does not match its own SHA-256: it was damaged or edited")
    return found


def changed_input(found):
    """The first file that the scene was made of and that is another now; None if there is none."""
    for entry in found["inputs"]:
        if _differs(entry["path"], entry):
            return entry["path"]
    return None


def problem(run, found):
    """Why a run that ended does not count: the first file that is not what was written; else None.

    ``found`` is its manifest. Tables and pictures are compared with the digests in it, frames with
    ``frames.csv``, checkpoints with their own checksums, as `pliant verify` does.
    """
    run = pathlib.Path(run)
    if (path := changed_input(found)) is not None:
        return f"{path} changed since its run; move that run first"
    wrong = _damaged(run, found)
    return wrong and f"{wrong}; move its directory away to run it again"


def _damaged(run, found):
    for name, expected in found["digests"].items():
        if wrong := _differs(run / name, expected):
            return wrong
    try:
        rows = frame_list(run)
    except (OSError, KeyError, ValueError) as error:
        return f"frames.csv: {error}"
    if len(rows) != found["frames"]:
        return f"frames.csv lists {len(rows)} frames, manifest.json says {found['frames']}"
    for row in rows:
        if wrong := _differs(run / row["file"], row):
            return wrong
    listed = {row["file"] for row in rows}
    for path in sorted((run / "frames").iterdir()):
        if f"frames/{path.name}" not in listed:
            return f"frames/{path.name} is not in frames.csv"
    for name in found["checkpoints"]:
        if wrong := _damaged_checkpoint(run / name):
            return f"{name}: {wrong}"
    return None


def _differs(path, expected):
    """What is wrong with a file of known `bytes` and `sha256`; empty if it is what was written."""
    try:
        size, sha256 = digest(path)
    except OSError as error:
        return f"{path}: {error.strerror}"
    if (size, sha256) == (expected["bytes"], expected["sha256"]):
        return ""
    written = f"{expected['bytes']} and {expected['sha256']} were written"
    return f"{path}: it has {size} bytes and SHA-256 {sha256}, {written}"


def _damaged_checkpoint(path):
    try:
        data = memoryview(path.read_bytes())
    except OSError as error:
        return error.strerror
    if data[:8] != b"PLIANTCK" or len(data) < 16:
        return "it is no checkpoint"
    at = 16
    for _ in range(int.from_bytes(data[12:16], "little")):
        length, expected = int.from_bytes(data[at + 16 : at + 24], "little"), data[at + 24 : at + 56]
        part = data[at + 56 : at + 56 + length]
        if len(part) != length or hashlib.sha256(part).digest() != expected:
            return "it does not match its checksums"
        at += 56 + length
    return None


def frame_list(run):
    """The frames of a run: a dict each of `frame`, `time` [s], `particles`, `bytes`, `sha256`, `file`."""
    with open(pathlib.Path(run) / "frames.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        {
            "frame": int(row["frame"]),
            "time": float(row["time"]),
            "particles": int(row["particles"]),
            "bytes": int(row["bytes"]),
            "sha256": row["sha256"],
            "file": f"frames/{int(row['frame']):06}.ply",
        }
        for row in rows
    ]


def read_ply(data):
    """The particles of a frame (bytes of a PLY file of Pliant) as a structured array, without a copy.

    Faces of cloth, which follow the particles, are not read.
    """
    end = data.index(b"end_header\n") + len(b"end_header\n")
    count, fields, element = 0, [], None
    for line in data[:end].decode().splitlines():
        words = line.split()
        if words[0] == "format" and words[1] != "binary_little_endian":
            raise pliant.RunError(f"a frame in the format {words[1]}; binary_little_endian is read")
        if words[0] == "element":
            element = words[1]
            count = int(words[2]) if element == "vertex" else count
        elif words[0] == "property" and element == "vertex":
            fields.append((words[2], TYPES[words[1]]))
    return np.frombuffer(data, np.dtype(fields), count, end)


def arrays(particles):
    """The arrays of a frame by their names: ``position`` (particles, 3) and so on, in their bits."""
    names, found = list(particles.dtype.names), {}
    for name, (parts, shape, _) in GROUPS.items():
        if parts[0] in names:
            found[name] = np.stack([particles[part] for part in parts], axis=-1).reshape(-1, *shape)
            names = [other for other in names if other not in parts]
    return found | {name: particles[name] for name in names}


# Files that are complete or absent.


def write_atomic(path, data):
    """Writes bytes under a temporary name, then gives them their name."""
    path = pathlib.Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.0.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def sync(folder):
    """Writes all files of a folder through to the disk."""
    for base, _, files in os.walk(folder):
        for path in [base, *(os.path.join(base, name) for name in files)]:
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
