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


def mean_force(run, prefixes, after):
    """Mean vertical force of soft bodies on the named bodies after a time [N], or None."""
    total, times = 0.0, set()
    with (run / "bodies.csv").open() as file:
        for row in csv.DictReader(file):
            if float(row["time"]) <= after or not row["fz"]:
                continue
            times.add(row["time"])
            if row["body"].startswith(tuple(prefixes)):
                total += float(row["fz"])
    return total / len(times) if times else None


def figures(run):
    """What the manifest of a run says: sizes, energy created, goals; None where it says nothing."""
    path = run / "manifest.json"
    if not path.exists():
        return {"status": None}
    manifest = json.loads(path.read_text())
    energy = manifest.get("energy") or {}
    gained, put_in = energy.get("energy_gained"), energy.get("energy_put_in")
    return {
        "status": manifest["status"],
        "version": manifest["version"],
        "commit": manifest["git_commit"],
        "processor": manifest["device"],
        "particles": manifest.get("particles"),
        "simulated_s": manifest.get("sim_s"),
        "stepping_s": manifest.get("wall_s"),
        "energy_created_J": gained,
        "energy_put_in_J": put_in,
        "goals": manifest.get("goals", []),
        "warnings": len(manifest.get("warnings", [])),
    }


def cell(value, digits=3):
    """A number as a table shows it; nothing for what was not measured."""
    if value is None:
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def table(records):
    """The records as a table of Markdown."""
    lines = ["| scene | robot | file | exit | particles | simulated [s] | wall [s] "
             "| energy created of put in | soft force, mean [N] | should be [N] | goals |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in records:
        share = None
        if r.get("energy_created_J") is not None and r.get("energy_put_in_J"):
            share = f"{100.0 * r['energy_created_J'] / r['energy_put_in_J']:.2g} %"
        goals = "; ".join(f"{g['name']}: {'met' if g['met'] else 'not met'}, "
                          f"{cell(g['worst'])} {g['unit']}" for g in r.get("goals", []))
        lines.append("| " + " | ".join([
            r["name"], r["robot"], r["package"], str(r["code"]),
            cell(r.get("particles")), cell(r.get("simulated_s")), cell(r["wall_s"]), cell(share),
            cell(r.get("mean_force_z_N"), 5), cell(r.get("expected_force_z_N"), 5), goals]) + " |")
    return "\n".join(lines) + "\n"


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
        record.update(figures(run))
        if "force_on" in about and record["status"] == "completed":
            record["mean_force_z_N"] = mean_force(run, about["force_on"], about["force_after"])
        (given.out / f"{name}.record.json").write_text(json.dumps(record, indent=1))
        print(json.dumps(record), flush=True)
    rows = [json.loads(p.read_text()) for p in sorted(given.out.glob("*.record.json"))]
    (given.out / "table.md").write_text(table(rows))


if __name__ == "__main__":
    main()
