"""Worlds in Python: the same bits as the library, views without copies, states, branches, exceptions."""

import json
import math
import os
import threading
import time
import warnings

import numpy as np
import pytest

import pliant



def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def drop():
    return pliant.World("elastic-drop", threads=1)


def test_every_built_in_scene_is_read_and_estimated():
    names = pliant.scene_names()
    assert "dough-rolling" in names and len(names) > 20
    for name in names:
        scene = pliant.read_scene(name)
        assert scene["name"] == name
        assert pliant.estimate(scene)["steps"] == round(scene["duration"] / scene["dt"])


# A view has one address, whatever happens to the world, and no copy is made of it.
def test_arrays_are_views_of_one_memory(drop):
    fields = ["positions", "velocities", "deformation_gradients", "stresses", "masses", "volumes"]
    first = {field: getattr(drop, field) for field in fields}
    count = drop.particle_count
    shapes = {"masses": (count,), "volumes": (count,), "deformation_gradients": (count, 3, 3), "stresses": (count, 3, 3)}
    for field, array in first.items():
        assert array.shape == shapes.get(field, (count, 3)) and array.dtype == np.float64
        assert not array.flags.owndata and not array.flags.writeable
        with pytest.raises(ValueError):
            array[...] = 0.0
    for _ in range(3):
        drop.step(5)
        for field, array in first.items():
            assert address(getattr(drop, field)) == address(array)
    # The view that was there shows the state that was asked for last.
    assert np.array_equal(first["positions"], drop.positions)
    kept = first["positions"].copy()
    drop.close()
    assert np.array_equal(first["positions"], kept)
    with pytest.raises(pliant.ClosedError):
        _ = drop.positions


# Totals of the arrays are those of the library's own sums (momentum without the affine part, which
# does not change the linear one); tolerance: f32 storage.
def test_arrays_agree_with_the_totals(drop):
    drop.step(40)
    totals = drop.diagnostics()
    masses, velocities = drop.masses, drop.velocities
    assert math.isclose(masses.sum(), totals["mass"], rel_tol=1e-6)
    momentum = masses @ velocities
    assert np.allclose(momentum, totals["linear_momentum"], rtol=1e-5, atol=1e-6 * totals["mass"])
    center = masses @ drop.positions / masses.sum()
    assert np.allclose(center, totals["center_of_mass"], rtol=1e-6)
    assert np.all(np.linalg.det(drop.deformation_gradients) > 0.0)


# Free fall: z(t) = z(0) - g t^2 / 2 for the steps before the drop meets anything. The scheme's error
# is of first order in dt.
def test_free_fall(drop):
    start = drop.positions.copy()
    masses = drop.masses
    steps = 10
    drop.step(steps)
    fallen = masses @ (start - drop.positions) / masses.sum()
    t, g = steps * drop.dt, np.linalg.norm(drop.gravity)
    assert abs(fallen[2] - 0.5 * g * t * t) <= g * t * drop.dt
    assert abs(drop.time - t) < 1e-12 and drop.step_count == steps


@pytest.mark.parametrize("scene", ["elastic-drop", "soft-grasp", "gripper"])
def test_results_do_not_depend_on_threads_or_calls(scene):
    one, two = pliant.World(scene, threads=1), pliant.World(scene, threads=2)
    one.step(12)
    for _ in range(4):
        two.step(3)
    assert one.save() == two.save()
    alone = [pliant.World(scene, threads=2) for _ in range(3)]
    assert pliant.step_worlds(alone, 12, threads=2) == [None] * 3
    assert all(world.save() == one.save() for world in alone)


@pytest.mark.parametrize("scene", ["elastic-drop", "soft-grasp"])
def test_branches_and_states_continue_with_the_same_bits(scene):
    world = pliant.World(scene, threads=1)
    world.step(7)
    state, branch = world.save(), world.branch()
    world.step(9)
    end = world.save()
    branch.step(9)
    assert branch.save() == end
    other = pliant.World(scene, threads=1)
    other.restore(state)
    assert np.isclose(other.time, 7 * other.dt)
    other.step(9)
    assert np.array_equal(other.positions, world.positions)


def test_a_scene_may_be_a_dict_a_file_and_changed(tmp_path):
    scene = pliant.read_scene("elastic-drop")
    path = tmp_path / "scene.json"
    path.write_text(json.dumps(scene))
    of_dict, of_file = pliant.World(scene, threads=1), pliant.World(path, threads=1)
    of_dict.step(3)
    of_file.step(3)
    assert of_dict.save() == of_file.save()
    changed = pliant.World(scene, {"dt": np.float64(scene["dt"] / 2), "gravity": np.zeros(3)}, threads=1)
    assert changed.dt == scene["dt"] / 2 and not changed.gravity.any()


def test_bad_scenes_are_refused_with_the_words_of_the_library():
    with pytest.raises(pliant.SceneError, match="no-such-scene"):
        pliant.World("no-such-scene")
    with pytest.raises(pliant.SceneError, match="dt"):
        pliant.World("elastic-drop", {"dt": -1.0})
    with pytest.raises(pliant.SceneError, match="nothing"):
        pliant.World("elastic-drop", {"nothing": 1})
    with pytest.raises(pliant.ValueError, match="not finite"):
        pliant.World("elastic-drop", {"dt": float("nan")})
    with pytest.raises(pliant.ValueError, match="a name, a path or a dict"):
        pliant.World(3)
    with pytest.raises(TypeError, match="set"):
        pliant.World({"name": {1, 2}})
    with pytest.raises(pliant.SceneError, match="name"):
        pliant.World({})
    with pytest.raises(pliant.ValueError, match="backend"):
        pliant.World("elastic-drop", backend="tpu")
    with pytest.raises(pliant.ValueError, match="threads"):
        pliant.World("elastic-drop", threads=0)
    itself = {}
    itself["name"] = itself
    with pytest.raises(pliant.ValueError):
        pliant.World(itself)


def test_a_backend_that_is_not_there_is_refused():
    with pytest.raises(pliant.BackendError, match="cuda"):
        pliant.World("elastic-drop", backend="cuda:61")


@pytest.mark.parametrize("count", [0, -1])
def test_steps_are_one_or_more(drop, count):
    with pytest.raises(pliant.ValueError, match="count"):
        drop.step(count)
    assert drop.step_count == 0


def test_numbers_of_another_kind_are_type_errors(drop):
    for count in (1.5, "3", None, 2**70):
        with pytest.raises((TypeError, OverflowError)):
            drop.step(count)


def test_after_close_everything_is_refused(drop):
    drop.step()
    with drop:
        pass
    assert drop.closed
    for use in (drop.step, drop.save, drop.branch, drop.png, lambda: drop.time, lambda: drop.velocities):
        with pytest.raises(pliant.ClosedError):
            use()
    drop.close()


def test_states_of_other_worlds_are_refused(drop):
    drop.step(2)
    state = drop.save()
    for damaged in (b"", state[:100], b"x" * 1000):
        with pytest.raises(pliant.StateError):
            drop.restore(damaged)
    with pytest.raises(pliant.StateError):
        pliant.World("soft-grasp", threads=1).restore(state)
    with pytest.raises(TypeError):
        drop.restore("text")
    drop.restore(state)
    assert drop.save() == state


# A step releases the interpreter's lock, so another thread runs; a world that is in use refuses it.
def test_two_threads_on_one_world():
    world = pliant.World("soft-grasp", threads=1)
    done = threading.Event()

    def work():
        world.step(300)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    busy = ticks = 0
    while not done.is_set():
        ticks += 1
        try:
            _ = world.time
        except pliant.BusyError:
            busy += 1
        time.sleep(0.001)
    worker.join()
    assert busy > 5, (busy, ticks)
    assert world.step_count == 300


def test_a_world_twice_in_one_batch_is_refused(drop):
    with pytest.raises(pliant.BusyError):
        pliant.step_worlds([drop, drop])
    assert pliant.step_worlds([]) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_refuses_the_world_and_steps_its_own():
    world = pliant.World("elastic-drop", threads=2)
    world.step(3)
    expected = world.save()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = b"nothing"
        try:
            world.step()
        except pliant.ForkError:
            own = pliant.World("elastic-drop", threads=2)
            own.step(3)
            said = b"refused, same" if own.save() == expected else b"refused, other"
        except BaseException as error:
            said = repr(error).encode()
        os.write(write, said)
        os._exit(0)
    os.close(write)
    deadline = time.monotonic() + 60.0
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    assert os.read(read, 1000) == b"refused, same"
    world.step()


def test_an_interrupt_ends_between_two_steps():
    world = pliant.World("soft-grasp", threads=1)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), 2))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        world.step(1_000_000)
    assert 0 < world.step_count < 1_000_000 and world.failure is None
    world.step()


# Energy that the scheme creates is told once, with the library's words. In 900 steps this scene's scheme
# creates up to three per cent, and more than a millionth.
def test_gains_of_energy_are_told():
    for allowed, expected in ((0.05, 0), (1e-6, 1)):
        world = pliant.World("soft-grasp", threads=1, energy_gain=allowed)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            world.step(450)
            world.step(450)
        words = [str(warning.message) for warning in told]
        assert len(words) == expected and all("the scheme created" in text for text in words), words
    terms = world.energy()
    assert all(isinstance(value, float) and math.isfinite(value) for value in terms.values())
    with pytest.raises(pliant.ValueError, match="energy_gain"):
        pliant.World("soft-grasp", energy_gain=float("nan"))


# A soft body that turns freely: the elastic deformation gradient is the turn itself, up to the strain
# rho w^2 r^2 / E = 1e-3 of the centrifugal force; the turn is that of the positions (Kabsch 1976).
def test_deformation_gradients_have_rows_of_the_world():
    changes = {"gravity": [0, 0, 0], "soft[0].angular_velocity": [0, 0, 3.0], "soft[0].pose.position": [0, 0, 1.0]}
    world = pliant.World("elastic-drop", changes, threads=1)
    start = world.positions - world.positions.mean(axis=0)
    world.step(60)
    now = world.positions - world.positions.mean(axis=0)
    u, _, v = np.linalg.svd(now.T @ start)
    turn = u @ v
    assert 0.5 < math.atan2(turn[1, 0], turn[0, 0]) < 3.0 * world.time + 0.02
    assert np.abs(world.deformation_gradients.mean(axis=0) - turn).max() < 0.02
    assert np.allclose(world.stresses, world.stresses.transpose(0, 2, 1))


def test_warnings_and_reports_have_words(drop):
    report = drop.step(2)
    assert report.time == drop.time and report.substeps >= 1
    assert "StepReport" in repr(report) and "elastic-drop" in repr(drop)
    assert isinstance(drop.warnings, list)
