"""World-steps a second of MuJoCo's batched rollout (mujoco.rollout) on the scene cube-in-hand, as `pliant bench worlds` measures it.

The hand is scenes/models/allegro_hand.xml itself; cube, floor, pose of the hand, grasp, step and commands (every 50 steps within 0.5 rad of the grasp) are those of
scenes/src/builtin/cube-in-hand.json. MuJoCo's defaults otherwise: Newton's method, pyramidal cones, implicit fast integration as 'implicitfast' or 'Euler'.

usage: worlds_mujoco.py [--threads 2] [--worlds 1,16,256,4096] [--integrator Euler] [--repeats 5] [--json OUT]
"""

import argparse
import json
import pathlib
import statistics
import time

import mujoco
import mujoco.rollout
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2] / "scenes"
STEPS_BETWEEN, REACH, WORK = 50, 0.5, 100_000


def model(integrator):
    """The scene as MuJoCo's model, and the grasp by the order of the motors."""
    scene = json.loads((ROOT / "src/builtin/cube-in-hand.json").read_text())
    robot = scene["robots"][0]
    spec = mujoco.MjSpec.from_file(str(ROOT / "models/allegro_hand.xml"))
    palm = spec.body("palm")
    palm.pos, palm.quat = robot["pose"]["position"], robot["pose"]["orientation"]
    spec.option.timestep = scene["dt"]
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    bodies = {body["name"]: body for body in scene["bodies"]}
    floor, cube = bodies["floor"], bodies["cube"]
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1], friction=[floor["geometries"][0]["friction"], 0, 0]
    )
    pose = cube["motion"]["pose"]
    body = spec.worldbody.add_body(name="cube", pos=pose["position"], quat=pose["orientation"])
    body.add_freejoint()
    geometry = cube["geometries"][0]
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=geometry["shape"]["half_extents"],
        mass=cube["motion"]["mass"],
        friction=[geometry["friction"], 0, 0],
        contype=1,
        conaffinity=1,
    )
    compiled = spec.compile()
    data = mujoco.MjData(compiled)
    for joint, value in robot["positions"].items():
        data.joint(joint).qpos = value
    grasp = np.array([robot["controls"].get(compiled.actuator(i).name, 0.0) for i in range(compiled.nu)])
    return compiled, data, grasp


def measure(compiled, data, grasp, worlds, threads, repeats):
    """Rates of the repeats [world-steps/s], and how many cubes are still held."""
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(compiled, full))
    mujoco.mj_getState(compiled, data, start, full)
    rounds = min(max(WORK // (worlds * STEPS_BETWEEN), 2), 200)
    random = np.random.default_rng(8)
    datas = [mujoco.MjData(compiled) for _ in range(threads)]
    rates = []
    with mujoco.rollout.Rollout(nthread=threads) as pool:
        for _ in range(repeats):
            states = np.tile(start, (worlds, 1))
            seconds = 0.0
            for k in range(rounds + 1):
                reach = REACH if k else 0.0
                command = grasp + reach * random.uniform(-1, 1, (worlds, compiled.nu))
                control = np.repeat(command[:, None, :], STEPS_BETWEEN, axis=1)
                out = np.empty((worlds, STEPS_BETWEEN, start.size))
                clock = time.perf_counter()
                pool.rollout(compiled, datas, states, control, state=out, skip_checks=False)
                # The first round settles.
                seconds += time.perf_counter() - clock if k else 0.0
                states = out[:, -1].copy()
            rates.append(worlds * rounds * STEPS_BETWEEN / seconds)
    heights = states[:, 1 + compiled.joint(compiled.njnt - 1).qposadr[0] + 2]
    return rates, int((heights > 0.1).sum())


def main():
    parser = argparse.ArgumentParser(description="MuJoCo's batched rollout on cube-in-hand.")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--worlds", default="1,4,16,64,256,1024,4096")
    parser.add_argument("--integrator", default="Euler", help="Euler or implicitfast")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    compiled, data, grasp = model(options.integrator)
    rows = []
    for worlds in map(int, options.worlds.split(",")):
        rates, held = measure(compiled, data, grasp, worlds, options.threads, options.repeats)
        rows.append({
            "worlds": worlds,
            "threads": options.threads,
            "mujoco": mujoco.__version__,
            "integrator": options.integrator,
            "median": statistics.median(rates),
            "min": min(rates),
            "max": max(rates),
            "unit": "world-steps/s",
            "cubes_held": held,
        })
        print(json.dumps(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


main()
