#!/usr/bin/env python3
"""Writes the page of robots: a picture of each and its errors in a record of run.py. README.md."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import mechanism

ROBOTS = pathlib.Path(__file__).parent / "robots.json"
# Fixed by a link above their feet: they have no floor.
HUNG = ("romeo", "g1", "baxter", "centauro", "allegro", "gr1", "sawyer")
# Put as the examples of its package do: quaternion (w, x, y, z), place [m]. Its file has y up.
PUT = {"laikago": {"orientation": [0, 0, 0.5**0.5, 0.5**0.5], "position": [0, 0, 0.5]}}
# One step this long shows the robot where it begins [s].
INSTANT = 1e-5
SIZE = [320, 240]
FIGURES = (
    ("mass_matrix", "mass matrix"),
    ("bias", "bias"),
    ("acceleration", "acceleration"),
    ("free_motion", "motion [m]"),
)
LICENCES = (
    ("Apache", "Apache-2.0"),
    ("Zero-Clause", "0BSD"),
    ("MIT", "MIT"),
    ("Neither the name", "BSD-3-Clause"),
    ("Redistribution and use", "BSD-2-Clause"),
    ("Permission is hereby granted", "MIT"),
)
HEAD = """# Robots

Forty robots from public Python packages, as Pliant imports and draws them, and how far their
dynamics are from those of {engines}.
The files are read as they are published; none of them is part of Pliant. Pictures are at the file's
keyframe or the SRDF's state where there is one, and else at zero; robots that the file fixes above
their feet hang there without a floor. [Importing models](import.md) says what is read.
Colours are those of the files: the HyQ's meshes have a green trunk, and the URDF of the PR2 paints
its grey meshes in primary colours. The colour of a textured part is the mean of its texture. The
Laikago, whose file has y up, is turned as the examples of its package turn it.

Errors are the worst of three random states, relative to the largest number of the reference. The
motion lasts half a second, passive and without contacts, limits and dry friction: the farthest
distance of a centre of mass. `benches/imports/README.md` defines each; the record is
`{record}`.
A figure that was not measured is absent, with the reason if the record has one.

The page is made by `benches/imports/gallery.py`. The licence is that of the robot's folder, or of
the package where the folder states none.

"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path, help="folder for robots.md and images/robots")
    parser.add_argument("--packages", type=pathlib.Path, required=True, help="unpacked packages")
    parser.add_argument("--record", type=pathlib.Path, help="folder of a run of run.py [the newest]")
    parser.add_argument("--pliant", type=pathlib.Path, default=mechanism.ROOT / "target/release/pliant")
    parser.add_argument("--only", default="", help="draw only robots whose key matches; the page has all")
    return parser.parse_args()


def main():
    options = arguments()
    records = sorted(mechanism.ROOT.glob("benches/runs/*/imports.json"))
    record = (options.record / "imports.json" if options.record else records[-1]).resolve()
    result = json.loads(record.read_text())
    measured = {entry["file"]: entry for entry in result["files"]}
    packages = options.packages.resolve()
    images = options.out / "images/robots"
    images.mkdir(parents=True, exist_ok=True)
    rows = []
    for key, title, file in json.loads(ROBOTS.read_text()):
        image, fault = images / f"{key}.png", None
        if re.search(options.only, key):
            fault = draw(options.pliant, packages / file, image, title, key not in HUNG, PUT.get(key, {}))
            print(f"{key}: {fault or 'drawn'}", flush=True)
        rows.append(row(key, title, file, image, fault, measured.get(file), packages))
    about = result["about"]
    engines = f"MuJoCo {about['mujoco']} (MJCF) and Pinocchio {about['pinocchio']} (URDF)"
    folder = record.parent.relative_to(mechanism.ROOT)
    text = HEAD.format(engines=engines, record=folder)
    titles = ["robot", "", *(title for _, title in FIGURES), "file", "licence"]
    text += "| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|\n" + "\n".join(rows) + "\n"
    (options.out / "robots.md").write_text(text)


def draw(pliant, file, image, title, has_floor, put):
    """Makes the picture; the reason if there is none. `put` is where the robot stands, if not where
    the file has it."""
    shown = subprocess.run([pliant, "show", file], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        return shown.stderr.strip()
    scene = json.loads(shown.stdout)
    scene["robots"][0]["pose"] |= put
    scene |= {"name": title.replace(" ", "-"), "dt": INSTANT, "duration": INSTANT}
    scene["output"] |= {"picture_size": SIZE, "frame_interval": INSTANT}
    if has_floor and not scene["bodies"]:
        # A robot that is fixed to the world stands on its floor.
        scene["boundaries"] = [{"point": [0, 0, 0], "normal": [0, 0, 1], "kind": {"type": "sticky"}}]
    with tempfile.TemporaryDirectory() as scratch:
        path, out = pathlib.Path(scratch) / "scene.json", pathlib.Path(scratch) / "run"
        path.write_text(json.dumps(scene))
        done = subprocess.run([pliant, "run", path, "--out", out], capture_output=True, text=True, check=False)
        if not (out / "preview.png").exists():
            return (done.stderr.strip().splitlines() or ["no picture"])[-1]
        shutil.copy(out / "preview.png", image)
    return None


def row(key, title, file, image, fault, entry, packages):
    """A line of the table."""
    picture = f"![{title}](images/robots/{key}.png)" if image.exists() else f"no picture: {fault}"
    compared = (entry or {}).get("compared", {})
    cells = [figure(entry, compared, column) for column, _ in FIGURES]
    package, _, rest = file.partition("/")
    short = rest.split("/robots/", 1)[-1] if package == "example_robot_data" else rest
    return "| " + " | ".join([title, picture, *cells, f"{package}: `{short}`", licence(packages, file)]) + " |"


def figure(entry, compared, column):
    """A figure, or why there is none."""
    if entry is None:
        return "not in the record"
    if f"{column}_failed" in compared:
        return f"not taken: {compared[f'{column}_failed']}"[:120]
    value = compared.get(column)
    if value is None:
        why = entry.get("fault") or entry.get("problem") or "; ".join(compared.get("reasons", []))
        return (f"not compared: {why}" if why else "not compared")[:120]
    return f"{value:.1e}" if value else "0"


def licence(packages, file):
    """The licence that the robot's folder states, or else the package."""
    top = packages / file.split("/")[0]
    folder = (packages / file).parent
    while folder != top:
        found = [f for f in folder.iterdir() if "license" in f.name.lower() and f.is_file()]
        for path in sorted(found):
            if name := known(path.read_text(errors="replace")):
                return name
        folder = folder.parent
    for path in sorted(top.glob("*.dist-info/METADATA")):
        text = path.read_text(errors="replace")
        if stated := re.search(r"assets are licensed under \[([^]]+)\]", text):
            return f"{stated[1]} (the package's assets)"
        for line in text.splitlines():
            stated = re.match(r"License(-Expression)?: (.{2,40})$", line)
            stated = stated or re.match(r"Classifier: (License) :: OSI Approved :: (.*)", line)
            if stated:
                return f"{stated[2]} (package)"
    for path in sorted([*top.glob("*.dist-info/licenses/LICEN[CS]E*"), *top.glob("*.dist-info/LICEN[CS]E*")]):
        if name := known(path.read_text(errors="replace")):
            return f"{name} (package)"
    return "not stated"


def known(text):
    """The short name of a licence's text."""
    return next((name for words, name in LICENCES if words in text), None)


if __name__ == "__main__":
    main()
