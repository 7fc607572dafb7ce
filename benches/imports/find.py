"""Which files count: robot files of a package that the reference engines can read."""

import hashlib
import pathlib
import re

# Of pybullet: a thousand objects made by a program, alike but for numbers.
LEFT_OUT = "random_urdfs"


def candidates(packages, pattern=""):
    """Files that may be robots, in order: path from the folder of packages, format."""
    found = []
    for path in sorted(pathlib.Path(packages).rglob("*")):
        if path.suffix not in (".urdf", ".xml") or not path.is_file() or LEFT_OUT in path.parts:
            continue
        name = str(path.relative_to(packages))
        if not re.search(pattern, name):
            continue
        if path.suffix == ".urdf":
            found.append((name, "urdf"))
        elif root(path) == "mujoco":
            found.append((name, "mjcf"))
    return found


def root(path):
    """The tag of the root element."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = re.sub(r"(?s)<!--.*?-->|<\?.*?\?>|<!DOCTYPE.*?>", "", text)
    tag = re.search(r"<\s*([\w:.-]+)", text)
    return tag.group(1) if tag else ""


def mechanism_alone(path):
    """The text of a URDF without its shapes, whose meshes may be missing."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = re.sub(r"(?s)<!--.*?-->", "", text)
    return re.sub(r"(?s)<(visual|collision)\b(?:[^>]*[^/>])?>.*?</\1\s*>", "", text)


def duplicates(packages, names):
    """For each file with the same bytes as an earlier one: the earlier one."""
    first, same = {}, {}
    for name in names:
        digest = hashlib.sha256((pathlib.Path(packages) / name).read_bytes()).digest()
        if digest in first:
            same[name] = first[digest]
        else:
            first[digest] = name
    return same
