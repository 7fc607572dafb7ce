"""Penetration of `primitive-pile` in MuJoCo and in Pliant, with one measure for all (ComFree-Sim, figure 3).

    python benches/peers/pile_mujoco.py target/release/pliant [results.json]

MuJoCo gets the scene as `pliant show` prints it: the same shapes, poses, densities, friction and step, its own default contact
(solref, solimp, Newton's method). Each simulator makes 1000 steps of 2 ms. What is measured are the poses at the end, by
MuJoCo's detection for all: of every point of contact with a negative distance its depth, and of every pair that overlaps the depth of
mj_geomDistance. Mean and standard deviation over those, in mm.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

SCENE = "primitive-pile"
PUBLISHED = {  # mean and deviation in mm (ComFree-Sim, figure 3b)
    (0.1, 0.001): "3.9 +- 6.9", (0.1, 0.005): "3.8 +- 5.7", (0.3, 0.001): "1.6 +- 3.3",
    (0.3, 0.005): "1.4 +- 2.5", (0.5, 0.001): "1.0 +- 2.1", (0.5, 0.005): "0.9 +- 1.5",
}
SIZES = {  # shape of a scene to the sizes of a MuJoCo geom
    "box": lambda s: s["half_extents"],
    "sphere": lambda s: [s["radius"]],
    "capsule": lambda s: [s["radius"], s["half_length"]],
    "cylinder": lambda s: [s["radius"], s["half_length"]],
    "ellipsoid": lambda s: s["half_axes"],
}


def numbers(values):
    return " ".join("%.17g" % v for v in values)


def mjcf(scene, cone):
    """The scene as MJCF; bodies in the scene's order."""
    lines = ['<mujoco><option timestep="%.17g" gravity="%s" cone="%s"/><worldbody>'
             % (scene["dt"], numbers(scene["gravity"]), cone)]
    for body in scene["bodies"]:
        motion = body["motion"]
        geoms = ""
        for geometry in body["geometries"]:
            shape = geometry["shape"]
            assert geometry["torsional_friction"] == 0 and geometry["rolling_friction"] == 0, "condim 3 alone"
            geoms += '<geom type="%s" size="%s" pos="%s" quat="%s" density="%.17g" friction="%.17g 0 0" condim="3"/>' % (
                shape["type"], numbers(SIZES[shape["type"]](shape)), numbers(geometry["pose"]["position"]),
                numbers(geometry["pose"]["orientation"]), motion.get("density") or 1000.0, geometry["friction"])
        joint = "<freejoint/>" if motion["type"] == "dynamic" else ""
        lines.append('<body name="%s" pos="%s" quat="%s">%s%s</body>' % (
            body["name"], numbers(motion["pose"]["position"]), numbers(motion["pose"]["orientation"]), joint, geoms))
    return "\n".join(lines + ["</worldbody></mujoco>"])


def measure(model, qpos):
    """Depths (mm) of the points and of the pairs that overlap at these positions."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_fwdPosition(model, data)
    points = np.array([-1e3 * c.dist for c in data.contact[:data.ncon] if c.dist < 0])
    pairs = sorted({(min(c.geom), max(c.geom)) for c in data.contact[:data.ncon]})
    deep = np.array([-1e3 * mujoco.mj_geomDistance(model, data, int(a), int(b), 0.01, None) for a, b in pairs])
    deep = deep[deep > 0]
    row = {}
    for name, depths in (("points", points), ("pairs", deep)):
        row[name] = {"count": len(depths), "mean_mm": float(depths.mean()), "deviation_mm": float(depths.std()),
                     "deepest_mm": float(depths.max())}
    return row


def simulate(model, steps):
    data = mujoco.MjData(model)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    assert np.isfinite(data.qpos).all()
    return data.qpos.copy()


def pliant(binary, scene, settings):
    """Positions at the end of a run of Pliant, in MuJoCo's order (place, then quaternion)."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "run")
        sets = [argument for setting in settings for argument in ("--set", setting)]
        subprocess.run([binary, "run", SCENE, "--no-pictures", "--threads", "1", "--out", out] + sets, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        last = {}
        with open(os.path.join(out, "bodies.csv"), newline="") as file:
            for row in csv.DictReader(file):
                last[row["body"]] = row
    assert abs(float(next(iter(last.values()))["time"]) - scene["duration"]) < 1e-9
    moving = [body["name"] for body in scene["bodies"] if body["motion"]["type"] == "dynamic"]
    return np.concatenate([[float(last[name][k]) for k in ("px", "py", "pz", "qw", "qx", "qy", "qz")] for name in moving])


def main():
    binary = sys.argv[1]
    scene = json.loads(subprocess.run([binary, "show", SCENE], check=True, capture_output=True, text=True).stdout)
    steps = round(scene["duration"] / scene["dt"])
    models = {cone: mujoco.MjModel.from_xml_string(mjcf(scene, cone)) for cone in ("pyramidal", "elliptic")}
    results = {"mujoco": mujoco.__version__, "scene": SCENE, "steps": steps, "rows": {}}

    def give(name, published, qpos):
        row = measure(models["pyramidal"], qpos)
        row["published"] = published
        results["rows"][name] = row
        cells = ["%.2f +- %.2f, deepest %.1f, %d" % (r["mean_mm"], r["deviation_mm"], r["deepest_mm"], r["count"])
                 for r in (row["points"], row["pairs"])]
        print("| %s | %s | %s | %s |" % (name, published, *cells), flush=True)

    print("| simulator | published | points of contact, mm | pairs, mm |\n|---|---|---|---|")
    for cone, model in models.items():
        give("MuJoCo, %s cone" % cone, "1.7 +- 4.9 (MuJoCo Warp)", simulate(model, steps))
    for (k, d), published in PUBLISHED.items():
        gains = '{"type":"per-step","stiffness":%g,"damping":%g}' % (k, d)
        sets = ["rigid.comfree.form=published", "rigid.comfree.facets=4", "rigid.comfree.gains=" + gains]
        give("published form %g, %g" % (k, d), published, pliant(binary, scene, sets))
    give("predicted form (default)", "", pliant(binary, scene, []))
    give("icf", "", pliant(binary, scene, ["rigid_solver=icf"]))
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
