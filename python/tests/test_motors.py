"""Motors of a scene by name: what they are, and what a program tells them."""

import math

import numpy as np
import pytest

import pliant

# A slider of 2 kg without gravity, with one motor of the kind that a test wants.
SLIDER = {
    "name": "slider", "duration": 1.0, "dt": 1e-3, "gravity": [0, 0, 0],
    "bodies": [
        {
            "name": "rail", "motion": {"type": "fixed"},
            "geometries": [{"shape": {"type": "box", "half_extents": [0.01, 0.01, 0.01]}}],
        },
        {
            "name": "slide",
            "motion": {
                "type": "dynamic", "pose": {"position": [0, 0, 1.0]}, "mass": 2.0, "inertia": [0.1, 0.1, 0.1],
                "joint": {"type": "prismatic", "axis": [1, 0, 0]},
            },
            "geometries": [{"shape": {"type": "box", "half_extents": [0.1, 0.1, 0.1]}}],
        },
    ],
}


# Two motors with gears: 50 and -3 N m for each unit of control.
GEARED = """<mujoco><compiler angle="radian"/><worldbody><body pos="0 0 1">
  <joint name="one" axis="0 0 1"/><geom type="box" size="0.1 0.1 0.1" mass="1"/>
  <body pos="0 0 0.5"><joint name="two" axis="0 1 0"/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
</body></worldbody><actuator>
  <motor name="push" joint="one" gear="50" ctrlrange="-1 1" ctrllimited="true"/>
  <motor name="turn" joint="two" gear="-3"/>
</actuator></mujoco>"""


def slider(control, **fields):
    motor = {"name": "push", "joint": "slide", "control": control, **fields}
    return pliant.World({**SLIDER, "actuators": [motor]}, threads=1)


def test_motors_have_names_kinds_units_and_limits():
    world = pliant.World("vacuum", threads=1)
    assert list(world.actuators) == ["traverse", "lift"]
    lift = world.actuators["lift"]
    assert (lift["kind"], lift["unit"], lift["effort_unit"], lift["joint"]) == ("position", "m", "N", "plate")
    effort = slider({"type": "effort", "value": 3.0}, effort_limit=4.0).actuators["push"]
    assert (effort["kind"], effort["unit"], effort["value"], effort["effort_limit"]) == ("effort", "N", 3.0, 4.0)
    rate = slider({"type": "velocity", "value": 0.5, "damping": 10.0}).actuators["push"]
    assert (rate["kind"], rate["unit"], rate["value"], rate["effort_limit"]) == ("velocity", "m/s", 0.5, None)


# Motors of robots are there as robot/motor, with the ranges of their files; asking changes nothing.
def test_motors_of_robots_are_among_them():
    world = pliant.World("franka", threads=1)
    twin = world.branch()
    motors = world.actuators
    assert list(motors) == [f"{robot}/{motor}" for robot in world.robots for motor in world.robot(robot).actuators]
    for name, motor in motors.items():
        assert motor["kind"] in ("effort", "position", "velocity") and motor["joint"].split("/")[0] == name.split("/")[0]
        assert motor["unit"] in ("N m", "N", "rad", "m", "rad/s", "m/s")
    left = motors["hand/left"]
    assert left["kind"] == "position" and left["unit"] == "m" and left["range"][0] < left["range"][1]
    # A control beyond its range is that of the range.
    world.set_actuators({"hand/left": -10.0})
    assert math.isclose(world.actuators["hand/left"]["value"], left["range"][0], abs_tol=1e-12)
    world = twin.branch()
    _ = world.actuators
    world.step(20)
    twin.step(20)
    assert world.save() == twin.save()


# What a motor is told is what it is there with: random controls within the ranges of all motors of all
# robots here, geared ones among them. A control beyond a range is that of the range.
def test_what_is_told_is_there(tmp_path):
    seed = 20261127
    print(f"seed {seed}")
    random, scales = np.random.default_rng(seed), set()
    (tmp_path / "geared.xml").write_text(GEARED)
    robot = {"name": "arm", "file": str(tmp_path / "geared.xml"), "ignore_warnings": True}
    geared = {"name": "geared", "duration": 1.0, "dt": 1e-3, "robots": [robot]}
    for scene in ("franka", "gripper", "soft-grasp", "cube-in-hand", geared):
        world = pliant.World(scene, threads=1)
        for _ in range(20):
            told, there = {}, {}
            for motor, found in world.actuators.items():
                low, high = (-1.0 if found["range"][0] is None else found["range"][0],
                             1.0 if found["range"][1] is None else found["range"][1])
                told[motor] = random.uniform(low, high)
                there[motor] = told[motor]
                if None not in found["range"] and random.random() < 0.2:
                    told[motor], there[motor] = high + 1.0 + abs(high), high
                scales.add(found.get("scale"))
            world.set_actuators(told)
            for motor, found in world.actuators.items():
                assert math.isclose(found["value"], there[motor], rel_tol=1e-12, abs_tol=1e-12), (scene, motor)
    # The efforts of gears: scale * value.
    assert {50.0, -3.0} <= scales, scales


# Newton's second law: a force F gives v = F t / m, whatever the scene says, and up to its limit.
def test_an_effort_is_that_of_the_program():
    world = slider({"type": "effort", "value": 3.0}, effort_limit=8.0)
    slide = world.body("slide")
    for wanted, acting in ((-6.0, -6.0), (100.0, 8.0), (0.0, 0.0)):
        before = slide.linear_velocity[0]
        world.set_actuators({"push": wanted})
        assert world.actuators["push"]["value"] == wanted
        world.step(100)
        assert math.isclose(slide.linear_velocity[0] - before, acting * 0.1 / 2.0, rel_tol=1e-9, abs_tol=1e-12)


# A position motor, critically damped, comes to its target; a velocity motor to its rate.
def test_targets_are_those_of_the_program():
    stiffness, moving = 800.0, {"type": "keyframes", "keyframes": [{"time": 0, "value": 0}, {"time": 1, "value": 9}]}
    damping = 2.0 * math.sqrt(stiffness * 2.0)
    world = slider({"type": "position", "value": moving, "stiffness": stiffness, "damping": damping})
    world.set_actuators({"push": 0.25})
    branch = world.branch()
    world.step(1000)
    branch.step(1000)
    assert abs(world.body("slide").position[0] - 0.25) < 1e-6 and world.save() == branch.save()
    world.set_actuators({"push": 0.25}, rates={"push": 0.1})
    world.step(1000)
    # The forces of spring and damper are in balance: k x = d v.
    assert abs(world.body("slide").position[0] - 0.25 - damping * 0.1 / stiffness) < 1e-6
    world = slider({"type": "velocity", "value": moving, "damping": 40.0})
    world.set_actuators({"push": -0.3})
    world.step(1000)
    assert abs(world.body("slide").linear_velocity[0] + 0.3) < 1e-6


# Without an input of the program the scene's own goes on, with the bits that it has without the names.
def test_a_motor_that_is_told_nothing_follows_the_scene():
    world = pliant.World("vacuum", threads=1)
    twin = world.branch()
    world.set_actuators({})
    world.set_actuators({"traverse": 0.1})
    world.step(5)
    twin.step(5)
    assert world.actuators["lift"] == twin.actuators["lift"]
    assert world.actuators["traverse"]["value"] == 0.1 != twin.actuators["traverse"]["value"]


def test_inputs_that_are_refused_change_nothing():
    world = pliant.World("vacuum", threads=1)
    robot = pliant.World("franka", threads=1)
    for one, inputs, rates, error, words in (
        (world, {"lift": 0.1, "lfit": 0.0}, None, pliant.RobotError, "no actuator 'lfit'; actuators: traverse, lift"),
        (robot, {"hand/left": 0.0, "hand/top": 0.0}, None, pliant.RobotError, "no actuator 'hand/top'.*hand/left"),
        (world, {"lift": math.nan}, None, pliant.ValueError, r"inputs\['lift'\]: NaN must be finite"),
        (world, {"lift": 0.1}, {"lift": math.inf}, pliant.ValueError, r"rates\['lift'\]: inf must be finite"),
        (world, {"lift": 0.1}, {"traverse": 1.0}, pliant.ValueError, r"rates\['traverse'\]: there is no input"),
        (robot, {"hand/left": 0.1}, {"hand/left": 1.0}, pliant.ValueError, "has no rate"),
    ):
        before = one.actuators
        with pytest.raises(error, match=words):
            one.set_actuators(inputs, rates)
        assert one.actuators == before
    with pytest.raises(TypeError):
        world.set_actuators({"lift": "up"})
    assert np.isfinite(world.actuators["lift"]["value"])
