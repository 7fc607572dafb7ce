"""Bodies, robots and cloth in Python: frames, inputs, exceptions."""

import math

import numpy as np
import pytest

import pliant

PUSHER = {
    "name": "pusher",
    "duration": 1.0,
    "dt": 1e-3,
    "bodies": [
        {
            "name": "box",
            "motion": {
                "type": "dynamic",
                "pose": {"position": [0.0, 0.0, 1.0], "orientation": [0.8, 0.0, 0.6, 0.0]},
                "joint": {"type": "free"},
                "density": 2.0 / 0.006,
            },
            "geometries": [{"shape": {"type": "box", "half_extents": [0.05, 0.1, 0.15]}}],
        },
        {
            "name": "moved",
            "motion": {"type": "prescribed-poses", "keyframes": [{"time": 0.0, "position": [1.0, 0.0, 0.5]}]},
            "geometries": [{"shape": {"type": "sphere", "radius": 0.05}}],
        },
        {"name": "floor", "motion": {"type": "fixed"}, "geometries": [{"shape": {"type": "half-space"}}]},
    ],
}


def pusher(**changes):
    return pliant.World({**PUSHER, **changes}, threads=1)


@pytest.fixture
def arm():
    return pliant.World("franka", threads=1)


def test_bodies_have_the_frames_of_the_scene():
    world = pusher()
    box = world.body("box")
    assert np.allclose(box.position, [0.0, 0.0, 1.0]) and np.allclose(box.orientation, [0.8, 0.0, 0.6, 0.0])
    assert box.contact_wrench is None
    steps = 100
    world.step(steps)
    t, g = steps * world.dt, np.linalg.norm(world.gravity)
    assert abs(1.0 - box.position[2] - 0.5 * g * t * t) < g * t * world.dt
    assert abs(box.linear_velocity[2] + g * t) < 1e-9 and not np.any(box.angular_velocity)
    force, torque = box.contact_wrench
    assert not force.any() and not torque.any()


# Newton's second law: a load of m (a + g) upwards gives the acceleration a.
def test_loads_and_masses():
    world = pusher()
    box, g = world.body("box"), np.linalg.norm(world.gravity)
    box.set_mass(3.0)
    box.set_load([0.0, 0.0, 3.0 * (g + 2.0)], np.zeros(3))
    world.step(200)
    assert abs(box.linear_velocity[2] - 2.0 * world.time) < 1e-9
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(pliant.ValueError, match="mass"):
            box.set_mass(bad)
    with pytest.raises(pliant.ValueError, match="force"):
        box.set_load([0.0, math.nan, 0.0], np.zeros(3))
    with pytest.raises(pliant.ValueError, match="2 numbers"):
        box.set_load([0.0, 1.0], np.zeros(3))
    with pytest.raises(pliant.ValueError, match="torque"):
        box.set_load(np.zeros(3), "much")


# A resting box is held by its weight: the wrench of the floor on it is m g, about its own frame.
def test_contact_wrenches_hold_the_weight():
    scene = {**PUSHER, "bodies": [dict(body) for body in PUSHER["bodies"]]}
    scene["bodies"][0]["motion"] = {**PUSHER["bodies"][0]["motion"], "pose": {"position": [0, 0, 0.15]}}
    world = pliant.World(scene, threads=1)
    world.step(1000)
    force, torque = world.body("box").contact_wrench
    weight = 2.0 * np.linalg.norm(world.gravity)
    assert np.allclose(force, [0, 0, weight], atol=1e-3 * weight) and np.allclose(torque, 0, atol=1e-3)
    on_floor, _ = world.body("floor").contact_wrench
    assert np.allclose(on_floor, -force)


def test_prescribed_bodies_are_moved():
    world = pusher()
    moved = world.body("moved")
    moved.move_to([1.1, 0.0, 0.5], [0.0, 0.0, 0.0, 2.0], within=0.1)
    world.step(50)
    assert np.allclose(moved.position, [1.05, 0, 0.5], atol=1e-12) and np.allclose(moved.linear_velocity, [1, 0, 0])
    world.step(50)
    assert np.allclose(moved.position, [1.1, 0, 0.5], atol=1e-12)
    assert np.allclose(np.abs(moved.orientation), [0, 0, 0, 1], atol=1e-12)
    world.step(10)
    assert not moved.linear_velocity.any()
    for bad in (dict(position=[math.inf, 0, 0], within=1.0), dict(position=[0, 0, 0], within=0.0)):
        with pytest.raises(pliant.ValueError):
            moved.move_to(**bad)
    with pytest.raises(pliant.ValueError, match="orientation"):
        moved.move_to([0, 0, 0], [0, 0, 0, 0], within=1.0)
    for fixed in ("floor", "box"):
        with pytest.raises(pliant.ValueError):
            world.body(fixed).move_to([0, 0, 0], within=1.0)


def test_names_that_are_not_there_are_told():
    world = pusher()
    with pytest.raises(pliant.SceneError, match="no body 'bix'.*box"):
        world.body("bix")
    with pytest.raises(pliant.RobotError, match="no robot"):
        world.robot("arm")
    with pytest.raises(pliant.SceneError, match="no cloth"):
        world.cloth("shirt")
    with pytest.raises(pliant.SceneError, match="no cloth"):
        world.move_pin("shirt", 0, [0, 0, 0], within=1.0)


def test_a_robot_says_what_it_has(arm):
    robot = arm.robot(arm.robots[0])
    assert len(robot.joints) >= 7 and len(robot.links) > 7 and robot.name in repr(robot)
    assert robot.positions.shape == robot.velocities.shape == robot.bias.shape
    n = len(robot.velocities)
    mass = robot.mass_matrix
    assert mass.shape == (n, n) and np.allclose(mass, mass.T) and np.linalg.eigvalsh(mass).min() > 0.0
    position, orientation = robot.pose(robot.links[-1])
    assert position.shape == (3,) and abs(np.linalg.norm(orientation) - 1.0) < 1e-12
    assert robot.jacobian(robot.links[-1]).shape == (6, n)
    for call in (lambda: robot.pose("nothing"), lambda: robot.joint("nothing"), lambda: robot.jacobian("nothing")):
        with pytest.raises(pliant.RobotError, match="nothing"):
            call()


# The Jacobian is the derivative of the pose: v = J(q) qdot.
def test_jacobians_are_velocities(arm):
    arm.step(20)
    robot = arm.robot(arm.robots[0])
    link = robot.links[-1]
    angular, linear = robot.velocity(link)
    assert np.allclose(robot.jacobian(link) @ robot.velocities, np.concatenate([angular, linear]), atol=1e-12)


# An input that a program sets stays, also where the scene tells the motor something in time.
def test_inputs_of_a_program_stay(arm):
    hand = arm.robot("hand")
    before = arm.branch().robot("hand")
    hand.set_target("left", position=0.015)
    hand.set_controls({"right": 0.015})
    arm.step(round(3.0 / arm.dt))
    assert np.allclose(hand.positions, [0.015, 0.015], atol=2e-3), hand.positions
    assert np.allclose(before.positions, [0.04, 0.04], atol=1e-3)


def test_a_target_that_a_task_would_overwrite_is_refused():
    world = pliant.World("tshirt-folding", threads=1)
    robot = world.robot("left")
    assert robot.joints
    for joint in robot.joints:
        with pytest.raises(pliant.RobotError, match=f"'{joint}'.*overwrite"):
            robot.set_target(joint, position=0.0)


def test_inputs_that_are_refused_change_nothing(arm):
    robot = arm.robot(arm.robots[0])
    arm.step(2)
    state, other = arm.save(), arm.branch()
    for bad in (
        lambda: robot.set_target("nothing", position=0.0),
        lambda: robot.set_target(robot.joints[0], position=math.nan),
        lambda: robot.set_controls({"nothing": 0.0}),
        lambda: robot.set_efforts([0.0]),
        lambda: robot.set_gains(robot.joints[0], -1.0, 0.0),
    ):
        with pytest.raises(pliant.RobotError):
            bad()
    for bad in (
        lambda: robot.set_target(robot.joints[0]),
        lambda: robot.set_target(robot.joints[0], position=0.0, effort=1.0),
        lambda: robot.set_controls([0.0]),
        lambda: robot.set_controls(np.zeros((2, 2))),
        lambda: robot.set_efforts("much"),
    ):
        with pytest.raises(pliant.ValueError):
            bad()
    assert arm.save() == state
    # What the scene tells its motors has not ended.
    arm.step(20)
    other.step(20)
    assert arm.save() == other.save()


# A world goes on from a saved state with the same bits, in a new world too, whose task has not looked at
# the cloth itself; a state of a scene without sightings is refused.
def test_a_state_holds_what_tasks_have_seen(arm):
    point = {"type": "key-point", "name": "center"}
    scene = {
        "name": "seen", "duration": 1.0, "dt": 0.002, "gravity": [0, 0, 0], "grid_spacing": 0.05,
        "cloths": [{
            "name": "sheet", "shape": {"type": "rectangle", "size": [0.3, 0.3], "parts": [6, 6]},
            "pose": {"position": [0.6, 0.0, 0.1]}, "velocity": [0.0, 0.2, 0.0],
            "material": {
                "density": 200, "youngs_modulus": 1e4, "poissons_ratio": 0.3, "normal_stiffness": 1e4
            },
        }],
        "robots": [{"name": "arm", "model": "iiwa7", "keyframe": "ready"}],
        "sightings": [{"name": "middle", "cloth": "sheet", "time": 0.1, "origin": [point]}],
        "tasks": [{
            "robot": "arm", "tool": {"link": "flange"},
            "waypoints": [
                {"time": 0.1, "joints": {}},
                {"time": 1.0, "pose": {"frame": "middle", "position": [0, 0, 0.3], "axis": [0, 0, -1]}},
            ],
        }],
    }  # fmt: skip
    first, second = pliant.World(scene, threads=1), pliant.World(scene, threads=1)
    first.step(100)
    state = first.save()
    first.step(100)
    second.restore(state)
    second.step(100)
    assert first.save() == second.save()
    with pytest.raises(pliant.StateError):
        second.restore(arm.save())
    assert first.save() == second.save()


def test_pins_hold_and_move_a_vertex():
    name = "tshirt-folding"
    world = pliant.World(name, threads=2)
    cloth = world.cloths[0]
    parts = world.cloth(cloth)
    faces = parts["faces"]
    assert faces.shape[1] == 3 and faces.max() < world.particle_count
    assert parts["centroids"].stop - parts["centroids"].start == len(faces)
    vertex = parts["vertices"].start
    place = world.positions[vertex].copy()
    to = place + [0.0, 0.0, 0.01]
    world.move_pin(cloth, 0, to, within=5 * world.dt)
    world.step(5)
    assert np.allclose(world.positions[vertex], to, atol=1e-4)
    world.release_pin(cloth, 0)
    with pytest.raises(pliant.ValueError):
        world.move_pin(cloth, 10**6, to, within=1.0)
    with pytest.raises(OverflowError):
        world.move_pin(cloth, -1, to, within=1.0)
