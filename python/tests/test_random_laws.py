"""Laws with closed forms, on scenes drawn at random. A seed is printed; the worst case is told."""

import json
import threading

import numpy as np
import pytest
from random_scenes import STEPS, Worst, case

import pliant

CASES = 200
#: Rounding of the numbers that particles are stored in.
SINGLE = 2.0**-24
DOUBLE = 2.0**-53


@pytest.fixture(params=[20261126])
def random(request):
    print(f"seed {request.param}")
    return np.random.default_rng(request.param)


def cases(random, count=CASES, **fixed):
    for _ in range(count):
        scene = case(random, **fixed)
        yield scene, pliant.World(scene, threads=1, energy_gain=1e9)


def told(worst):
    print(f"worst: {worst.ratio:.3g} of the bound")
    assert worst.ratio <= 1.0, json.dumps(worst.case)


def middles(world):
    """The centre of mass of each soft body [m]."""
    masses, positions = world.masses, world.positions
    return np.array([masses[part] @ positions[part] / masses[part].sum() for part in world.soft.values()])


# Free flight of soft bodies: x = x0 + v t + g t^2/2, here with the sums of the scheme, which sets
# velocities first: x = x0 + v t + g t (t + h)/2 with substeps of h. What remains is rounding: in each
# substep a position is rounded to f32 of a block of 4 cells, and a velocity to f32.
def test_soft_bodies_fly_freely(random):
    worst = Worst()
    for scene, world in cases(random, rigid=0):
        start, gravity = middles(world), world.gravity
        velocity = np.array([soft["velocity"] for soft in scene["soft"]])
        fallen, falling, substeps = np.zeros(3), np.zeros(3), 0
        for _ in range(STEPS):
            count = world.step().substeps
            h = world.dt / count
            # Position and velocity of a body that starts at rest, after `count` substeps.
            fallen += count * h * falling + gravity * h * h * count * (count + 1) / 2
            falling += count * h * gravity
            substeps += count
        error = np.abs(middles(world) - (start + velocity * world.time + fallen)).max()
        cells = 4.0 * scene["grid_spacing"]
        speed = np.abs(velocity).max() + np.abs(falling).max()
        bound = SINGLE * substeps * (cells + speed * world.time)
        worst.see(error, bound, scene)
    told(worst)


# Rigid bodies have the parabola itself, within the rounding of f64 in each step.
def test_rigid_bodies_fly_freely(random):
    worst = Worst()
    for scene, world in cases(random, soft=0, rigid=2):
        start = np.array([world.body(name).position for name in world.bodies])
        velocity = np.array([body["motion"]["velocity"] for body in scene["bodies"]])
        world.step(STEPS)
        t, g = world.time, world.gravity
        now = np.array([world.body(name).position for name in world.bodies])
        error = np.abs(now - (start + velocity * t + g * t * t / 2)).max()
        size = np.abs(start).max() + np.abs(now).max() + np.abs(velocity).max() * t
        bound = DOUBLE * 4 * STEPS * size
        worst.see(error, bound, scene)
    told(worst)


# Without contact the momentum changes by m g t alone, also of bodies that turn and swing. It is a sum
# over particles whose velocities are rounded in every substep.
def test_momentum_changes_by_the_weight_alone(random):
    worst = Worst()
    for scene, world in cases(random, rigid=0, turning=True):
        before = world.diagnostics()
        substeps = sum(world.step().substeps for _ in range(STEPS))
        after = world.diagnostics()
        weight = before["mass"] * world.gravity * world.time
        error = np.abs(np.subtract(after["linear_momentum"], before["linear_momentum"]) - weight).max()
        size = (world.masses * np.abs(world.velocities).max(axis=1)).sum() + np.abs(weight).max()
        worst.see(error, 2.0 * SINGLE * substeps * size, scene)
    told(worst)


# A state that was saved and a branch continue with the same bits; arrays are views with one address.
def test_states_branches_and_views(random):
    for scene, world in cases(random, turning=True):
        words = json.dumps(scene)
        fields = ["positions", "velocities", "velocity_gradients", "deformation_gradients", "histories", "stresses"]
        addresses = [getattr(world, field).__array_interface__["data"][0] for field in fields]
        world.step(2)
        state, branch, kept = world.save(), world.branch(), world.positions.copy()
        other = pliant.World(scene, threads=2, energy_gain=1e9)
        other.restore(state)
        assert other.save() == state, words
        for one in (world, branch, other):
            one.step(2)
        assert world.save() == branch.save() == other.save(), words
        assert [getattr(world, field).__array_interface__["data"][0] for field in fields] == addresses, words
        world.restore(state)
        assert world.save() == state and np.array_equal(world.positions, kept), words


def wrong(random, n):
    """One input that is refused, of a kind drawn at random."""
    field = str(random.choice(["positions", "velocities", "velocity_gradients", "deformation_gradients", "histories"]))
    shape = {"positions": (3,), "velocities": (3,), "histories": ()}.get(field, (3, 3))
    good = np.zeros((n, *shape)) + (np.eye(3) if shape == (3, 3) else 0.0)
    kind = int(random.integers(0, 6))
    if kind == 0:
        return {field: good[1:] if n > 1 else np.zeros((2, *shape))}
    if kind == 1:
        return {field: good[..., None]}
    if kind == 2:
        return {field: good.astype(random.choice(["complex128", "bool", "U4", "O"]))}
    if kind == 3:
        bad = good.copy()
        bad.flat[random.integers(0, bad.size)] = random.choice([np.nan, np.inf, -np.inf, 1e300])
        return {field: bad}
    if kind == 4:
        bad = np.tile(np.eye(3), (n, 1, 1))
        bad[random.integers(0, n)] *= random.choice([-1.0, 0.0])
        return {"deformation_gradients": bad}
    particles = [[-1], [n], [0, 0], [0.5]][random.integers(0, 4)]
    return {"particles": particles, "velocities": np.zeros((len(particles), 3))}


# What is refused changes nothing, to the bit: wrong shapes, kinds, numbers; a world that is in use by
# another thread; a world that was closed.
def test_what_is_refused_changes_nothing(random):
    for scene, world in cases(random):
        world.step()
        state, n = world.save(), world.particle_count
        inputs = wrong(random, n)
        with pytest.raises(pliant.ValueError):
            world.set_particles(**inputs)
        assert world.save() == state, (json.dumps(scene), inputs)
        world.close()
        with pytest.raises(pliant.ClosedError):
            world.set_particles(velocities=np.zeros((n, 3)))


def test_a_world_in_use_refuses_to_be_set():
    world = pliant.World("soft-grasp", threads=1)
    twin = world.branch()
    velocities = np.zeros((world.particle_count, 3))
    worker = threading.Thread(target=world.step, args=(200,))
    worker.start()
    refused = 0
    while worker.is_alive():
        try:
            world.name  # noqa: B018
        except pliant.BusyError:
            with pytest.raises(pliant.BusyError):
                world.set_particles(velocities=velocities)
            refused += 1
            break
    worker.join()
    twin.step(200)
    assert refused and world.save() == twin.save()
