"""Variants of scenes, their names, and the parts that shards run."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pathlib
import re
from dataclasses import dataclass, field

import pliant

from ._json import dumps
from ._runs import write_atomic

#: Name of the plan of a sweep in its folder.
PLAN = "variants.json"
#: Longest name of a run directory [bytes].
LONGEST = 200


def _number(value):
    """A number as the command writes it in names."""
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if not exponent or text in ("inf", "nan"):
        return text
    if exponent == "-05":
        sign, digits = ("-" if mantissa[0] == "-" else ""), mantissa.lstrip("-").replace(".", "")
        return f"{sign}0.0000{digits}"
    return f"{mantissa}e{exponent[0] if exponent[0] in '+-' else ''}{exponent.lstrip('+-').lstrip('0')}"


def json_text(value):
    """A JSON value as the command writes it: compact, keys sorted."""
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{json_text(value[key])}" for key in sorted(value)) + "}"
    return json.dumps(value, ensure_ascii=False)


def _plain(text):
    return re.sub(r"[^A-Za-z0-9=.\-_,]", "_", text)


def _short(name):
    """A name that is no longer than a file's may be."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 17]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Variant:
    """A scene with changes to some of its fields.

    Parameters
    ----------
    scene : str, path or dict
        Name of a built-in scene, path of a file, or a dict.
    changes : dict
        Values of fields by their paths, made in their order.
    name : str
        Name of its run directory. Without one it follows from the changes as in `pliant sweep`, or
        without changes from the scene; what is too long for a file's name ends in a digest.
    """

    scene: object
    changes: dict = field(default_factory=dict)
    name: str = ""

    def __post_init__(self):
        changes = json.loads(dumps(self.changes))
        scene = self.scene
        if isinstance(scene, dict):
            scene = json.loads(dumps(scene))
        elif os.fspath(scene) not in pliant.scene_names():
            scene = os.path.abspath(scene)
        name = self.name
        if not name and changes:
            texts = {path: value if isinstance(value, str) else json_text(value) for path, value in changes.items()}
            name = "+".join(_plain(f"{path}={text}") for path, text in texts.items())
        elif not name:
            name = _plain(scene.get("name", "scene") if isinstance(scene, dict) else pathlib.Path(scene).stem)
        if not self.name:
            name = _short(name)
        if name.startswith(".") or "/" in name or "\0" in name or len(name.encode()) > LONGEST:
            raise pliant.ValueError(f"variant '{name}': no name of a folder, or longer than {LONGEST} bytes")
        for key, value in (("scene", scene), ("changes", changes), ("name", name)):
            object.__setattr__(self, key, value)


def _made(scene, changes, name):
    """A variant of parts that were read before: the scene is shared, not copied."""
    made = object.__new__(Variant)
    for key, value in (("scene", scene), ("changes", changes), ("name", name)):
        object.__setattr__(made, key, value)
    return made


def variants(scene, vary):
    """All combinations of the values of fields, the last field fastest, as `pliant sweep --vary`.

    ``scene`` is one scene or a list of scenes, ``vary`` a dict from paths of fields to their values.
    """
    scenes = [Variant(one) for one in (scene if isinstance(scene, (list, tuple)) else [scene])]
    if not vary:
        return distinct(scenes)
    # The names do not depend on the scene, which is not copied for each.
    changed = [Variant("scene", dict(zip(vary, values, strict=True))) for values in itertools.product(*vary.values())]
    found = []
    for one in scenes:
        start = f"{one.name}+" if len(scenes) > 1 else ""
        found += [_made(one.scene, each.changes, _short(start + each.name)) for each in changed]
    return distinct(found)


def distinct(found):
    names = set()
    for variant in found:
        if variant.name in names:
            raise pliant.ValueError(f"variant {variant.name} is given twice: a value or a name is repeated")
        names.add(variant.name)
    return list(found)


@dataclass(frozen=True)
class Shard:
    """Part ``number`` (from 1 on) of ``of``: every ``of``-th variant, as `--shard` of `pliant sweep`."""

    number: int = 1
    of: int = 1

    def __post_init__(self):
        if not 1 <= self.number <= self.of:
            raise pliant.ValueError(f"shard '{self}' must be i/n, with i from 1 to n, as 1/4")

    def __str__(self):
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text):
        if not (match := re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)):
            raise pliant.ValueError(f"shard '{text}' must be i/n, with i from 1 to n, as 1/4")
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def of_slurm(cls, environment=os.environ):
        """The part of this task of a Slurm job array, whatever its numbers are."""
        try:
            first, task = int(environment["SLURM_ARRAY_TASK_MIN"]), int(environment["SLURM_ARRAY_TASK_ID"])
            step, count = int(environment.get("SLURM_ARRAY_TASK_STEP") or 1), int(environment["SLURM_ARRAY_TASK_COUNT"])
        except KeyError as error:
            raise pliant.ValueError(f"shard: {error.args[0]} is not set: this is no task of a job array") from None
        return cls((task - first) // step + 1, count)

    def part(self, variants):
        """Its variants."""
        return variants[self.number - 1 :: self.of]


def plan(folder, variants):
    """Writes the variants of a sweep into its folder, for processes that run parts of it."""
    variants, scenes, rows = distinct(variants), {}, []
    for variant in variants:
        key = dumps(variant.scene)
        number = scenes.setdefault(key, len(scenes))
        rows.append({"name": variant.name, "scene": number, "changes": variant.changes})
    content = {"schema_version": 1, "scenes": list(map(json.loads, scenes)), "variants": rows}
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    write_atomic(pathlib.Path(folder) / PLAN, json.dumps(content).encode())


def read_plan(folder):
    """The variants of a plan."""
    try:
        content = json.loads((pathlib.Path(folder) / PLAN).read_bytes())
    except (OSError, ValueError) as error:
        raise pliant.RunError(f"{folder}: no plan of a sweep: {error}") from None
    return [_made(content["scenes"][row["scene"]], row["changes"], row["name"]) for row in content["variants"]]
