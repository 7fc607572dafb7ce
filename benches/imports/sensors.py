"""Sensors: what the built example `sensors` of pliant-import reads at random states, against MuJoCo.

    pip install numpy mujoco
    python3 benches/imports/sensors.py OUT [--packages DIR] [--cache DIR]

`sensors.xml`, which has every kind, and every MJCF file of dm_control, gymnasium-robotics and robosuite that MuJoCo loads and that has
sensors, at three states from one seed: angles and ways up to 1, uniform rotations, velocities up to
1. Neither side has contacts, equalities, limits and dry friction; motors have the control 0. Sensors
that depend on the state are compared there, those that are measured over a step after one of 1e-8 s
with what MuJoCo has at the state: they differ by what changes within the step. The error of a
sensor is relative to the largest of its own numbers and of those of its kind in the file. It writes
`summary.md` and `sensors.json` to OUT.
"""

import argparse
import collections
import json
import pathlib
import subprocess

import mujoco
import numpy as np

import fetch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "target/release/examples/sensors"
PACKAGES = ["dm_control", "gymnasium_robotics", "robosuite"]
SEED = 20261125
STATES = 3
STEP = 1e-8
# Beyond this a difference is one of meaning, not of rounding or of the step's length.
BOUNDS = {"State": 1e-9, "Step": 1e-3, "Motion": 1e-3, "Reactions": 1e-3}


def model_of(path):
    """MuJoCo's model without constraints, or None."""
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return None
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_CONSTRAINT
    return model


def state(model, random):
    """A random state of MuJoCo, with positions and velocities in Pliant's order and axes."""
    data = mujoco.MjData(model)
    data.qvel = random.uniform(-1.0, 1.0, model.nv)
    q, v = [], []
    for j in range(model.njnt):
        at, n = model.jnt_qposadr[j], model.jnt_dofadr[j]
        kind = mujoco.mjtJoint(model.jnt_type[j])
        if kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            data.qpos[at] = random.uniform(-1.0, 1.0)
            q.append(data.qpos[at])
            v.append(data.qvel[n])
            continue
        turn = random.normal(size=4)
        turn /= np.linalg.norm(turn)
        free = kind == mujoco.mjtJoint.mjJNT_FREE
        place = random.uniform(-1.0, 1.0, 3) if free else []
        data.qpos[at : at + (7 if free else 4)] = [*place, *turn]
        q += [*turn, *place]
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, turn)
        spin = data.qvel[n + 3 : n + 6] if free else data.qvel[n : n + 3]
        v += [*(matrix.reshape(3, 3) @ spin), *(data.qvel[n : n + 3] if free else [])]
    mujoco.mj_forward(model, data)
    return data.sensordata.copy(), {"q": [float(x) for x in q], "v": [float(x) for x in v]}


def compared(path, model):
    """The rows of a file: kind, name, source, error; and what is not compared."""
    random = np.random.default_rng(SEED)
    states = [state(model, random) for _ in range(STATES)]
    request = {"file": str(path), "states": [given for _, given in states], "step": STEP}
    done = subprocess.run([PROGRAM], input=json.dumps(request), capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        return {"failed": (done.stderr.strip() or "no message").splitlines()[0]}
    answer = json.loads(done.stdout)
    if not answer["ok"]:
        return {"failed": answer["error"]}
    numbers, names = {}, {}
    for i in range(model.nsensor):
        at = model.sensor_adr[i]
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SENSOR, i)
        numbers[name or i] = slice(at, at + model.sensor_dim[i])
        names[name or i] = mujoco.mjtSensor(model.sensor_type[i]).name
    rows, scale = [], collections.defaultdict(float)
    for at, sensor in enumerate(answer["sensors"]):
        if sensor["name"] not in numbers:
            continue
        over_step = sensor["source"] != "State"
        pairs = [
            (reference[numbers[sensor["name"]]], answer["states"][s][over_step][at])
            for s, (reference, _) in enumerate(states)
        ]
        if any(found is None for _, found in pairs):
            return {"failed": f"{sensor['name']} was not measured"}
        off = 0.0
        for reference, found in pairs:
            found = np.array(found)
            if sensor["kind"].endswith("quat") and reference @ found < 0:
                found = -found
            off = max(off, float(np.abs(reference - found).max()))
            scale[sensor["kind"]] = max(scale[sensor["kind"]], float(np.abs(reference).max()))
        rows.append({**sensor, "error": off})
    for row in rows:
        row["error"] /= scale[row["kind"]] or 1.0
    kept = {row["name"] for row in rows}
    left = collections.Counter(names[name] for name in numbers if name not in kept)
    return {"rows": rows, "left": dict(left)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "target/imports")
    arguments = parser.parse_args()
    packages = arguments.packages or fetch.fetch(arguments.cache)
    own = pathlib.Path(__file__).with_name("sensors.xml")
    files = {f"Pliant/{own.name}": compared(own, model_of(own))}
    for package in PACKAGES:
        for path in sorted((packages / package).rglob("*.xml")):
            if "<mujoco" not in path.read_text(errors="replace"):
                continue
            model = model_of(path)
            if model is not None and model.nsensor > 0:
                files[str(path.relative_to(packages))] = compared(path, model)
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = [f"  {json.dumps(name)}: {json.dumps(figures)}" for name, figures in files.items()]
    (arguments.out / "sensors.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    text = summary(files)
    (arguments.out / "summary.md").write_text(text)
    print(text)


def summary(files):
    """Counts and the worst errors, by kind."""
    failed = {name: figures["failed"] for name, figures in files.items() if "failed" in figures}
    rows = [(row, name) for name, figures in files.items() for row in figures.get("rows", [])]
    left = sum((collections.Counter(figures.get("left", {})) for figures in files.values()), collections.Counter())
    kinds = collections.defaultdict(list)
    for row, name in rows:
        kinds[row["kind"]].append((row["error"], f"{name}: {row['name']}", row["source"]))
    text = f"MuJoCo {mujoco.__version__}, seed {SEED}, {STATES} states. {len(files)} files with sensors, "
    text += f"{len(failed)} not compared, {len(rows)} sensors compared.\n\n"
    text += "| kind | measured of | sensors | worst error | beyond | where the worst is |\n|---|---|---|---|---|---|\n"
    for kind, found in sorted(kinds.items()):
        error, where, source = max(found)
        beyond = sum(e > BOUNDS[source] for e, *_ in found)
        text += f"| {kind} | {source} | {len(found)} | {error:.1e} | {beyond} of {BOUNDS[source]:g} | {where} |\n"
    for found in kinds.values():
        for error, where, source in sorted(found, reverse=True):
            if error > BOUNDS[source]:
                text += f"\nBeyond: {where}: {error:.1e}\n"
    text += "\nLeft out: " + ", ".join(f"{kind} {count}" for kind, count in sorted(left.items())) + ".\n"
    for name, why in failed.items():
        text += f"\nNot compared: {name}: {why}\n"
    return text


if __name__ == "__main__":
    main()
