"""Robots from published files, unchanged, meet something soft.

    python3 benches/robots/run.py OUT --packages DIR [--only NAME] [--pliant PATH]

DIR holds the unpacked Python packages. A template's robot files are relative to it. Two entries
are written out for the command: `drive`, position motors on named joints, and `gait`, the
joint angles of a trot of a robot with twelve leg joints.
"""

import argparse
import csv
import json
import math
import pathlib
import shutil
import subprocess
import time

HERE = pathlib.Path(__file__).parent


def signal(value):
    """A number stays; pairs of time and value become smooth keyframes."""
    if not isinstance(value, list):
        return value
    keys = [{"time": t, "value": v} for t, v in value]
    return {"type": "keyframes", "interpolation": "smooth", "keyframes": keys}


def gait(spec, duration):
    """Joint angles over time of a trot: diagonal legs swing together, feet move on half ellipses.

    Two equal links: the knee's angle is that of an isosceles triangle whose base is the leg.
    """
    link, height, stride, lift = spec["link"], spec["height"], spec["stride"], spec["lift"]
    period, start = spec["period"], spec["start"]
    joints = {}
    for leg, phase in spec["legs"].items():
        thigh, calf = [], []
        for k in range(int(duration / 0.02) + 1):
            t = 0.02 * k
            x = z = 0.0
            if t > start:
                grow = min(1.0, (t - start) / period)
                s = ((t - start) / period + phase) % 1.0
                if s < 0.5:
                    x = stride * (0.5 - 2.0 * s)
                else:
                    u = 2.0 * s - 1.0
                    x, z = -0.5 * stride * math.cos(math.pi * u), lift * math.sin(math.pi * u)
                x, z = grow * x, grow * z
            x += spec.get("offset", 0.0)
            down = height - z
            length = math.hypot(x, down)
            bend = math.acos(min(1.0, length / (2.0 * link)))
            thigh.append([round(t, 3), round(bend - math.atan2(x, down), 5)])
            calf.append([round(t, 3), round(-2.0 * bend, 5)])
        joints[leg + "_hip_joint"] = 0.0
        joints[leg + "_thigh_joint"] = thigh
        joints[leg + "_calf_joint"] = calf
    return joints


def expand(template, packages):
    """The scene of a template, with the robots' files found and the motors written out."""
    scene = json.loads(json.dumps(template))
    about = scene.pop("about")
    for robot in scene["robots"]:
        robot["file"] = str((packages / robot["file"]).resolve())
    for drive in scene.pop("drive", []):
        joints = dict(drive.get("joints", {}))
        if "gait" in drive:
            joints.update(gait(drive["gait"], scene["duration"]))
        robot = next(r for r in scene["robots"] if r["name"] == drive["robot"])
        for joint, value in joints.items():
            first = value[0][1] if isinstance(value, list) else value
            robot.setdefault("positions", {}).setdefault(joint, first)
            scene.setdefault("actuators", []).append({
                "name": f"{drive['robot']} {joint}",
                "joint": f"{drive['robot']}/{joint}",
                "effort_limit": drive["limit"],
                "gravity_compensation": drive.get("gravity_compensation", False),
                "control": {
                    "type": "position", "stiffness": drive["stiffness"],
                    "damping": drive["damping"], "value": signal(value),
                },
            })
    scene.setdefault("output", {})["picture_size"] = [640, 480]
    return about, scene


def mean_force(run, bodies, after):
    """Mean vertical force on bodies after a time [N], or None."""
    path = run / "forces.csv"
    if not path.exists():
        return None
    total, times = 0.0, set()
    with path.open() as file:
        for row in csv.DictReader(file):
            if float(row["time"]) >= after and row["body"] in bodies:
                total += float(row["fz"])
                times.add(row["time"])
    return total / len(times) if times else None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--packages", type=pathlib.Path, required=True)
    arguments.add_argument("--only", action="append")
    arguments.add_argument("--pliant", default="pliant")
    arguments.add_argument("--threads", default="1")
    arguments.add_argument("--timeout", type=float, default=600.0)
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for path in sorted((HERE / "scenes").glob("*.json")):
        name = path.stem
        if given.only and name not in given.only:
            continue
        about, scene = expand(json.loads(path.read_text()), given.packages)
        scene["name"] = name
        written = given.out / f"{name}.scene.json"
        written.write_text(json.dumps(scene, indent=1))
        run = given.out / name
        shutil.rmtree(run, ignore_errors=True)
        begin = time.time()
        log = given.out / f"{name}.log"
        with log.open("w") as file:
            try:
                code = subprocess.run(
                    [given.pliant, "run", str(written), "--out", str(run),
                     "--threads", given.threads],
                    stdout=file, stderr=subprocess.STDOUT, timeout=given.timeout).returncode
            except subprocess.TimeoutExpired:
                code = "timeout"
        record = {"name": name, "code": code, "wall_s": round(time.time() - begin, 1), **about}
        if "force_on" in about:
            force = mean_force(run, about["force_on"], about["force_after"])
            record["mean_force_z_N"] = None if force is None else round(force, 4)
        (given.out / f"{name}.record.json").write_text(json.dumps(record, indent=1))
        print(json.dumps(record), flush=True)
    rows = [json.loads(p.read_text()) for p in sorted(given.out.glob("*.record.json"))]
    lines = ["| scene | robot | package | exit | wall [s] | mean force [N] | should be |",
             "|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f"| {r['name']} | {r['robot']} | {r['package']} | {r['code']} | {r['wall_s']} "
                     f"| {r.get('mean_force_z_N', '')} | {r['expected']} |")
    (given.out / "README.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
