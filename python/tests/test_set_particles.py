"""Particles that a program sets: the world goes on from there as one that was built so."""

import math

import numpy as np
import pytest
from random_scenes import Worst, case, direction, quaternion

import pliant

FIELDS = ("positions", "velocities", "velocity_gradients", "deformation_gradients", "histories")
SEED = 77


def fields(world):
    return {field: getattr(world, field).copy() for field in FIELDS}


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def drop():
    return pliant.World("elastic-drop", threads=1)


def rotation(q):
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


# A world that is built elsewhere, at rest, and set to the state of another, goes on as that one: to
# the rounding of places in f32 of a cell, which differs with the place of the grid. 60 random scenes.
def test_a_world_that_was_set_goes_on_as_one_that_was_built():
    print(f"seed {SEED}")
    random, worst = np.random.default_rng(SEED), Worst()
    for _ in range(60):
        scene = case(random, rigid=0, turning=True)
        built = pliant.World(scene, threads=1, energy_gain=1e9)
        other = {**scene, "soft": [dict(soft) for soft in scene["soft"]]}
        for soft in other["soft"]:
            moved = np.add(soft["pose"]["position"], 0.3 * scene["grid_spacing"]).tolist()
            soft.update(velocity=[0, 0, 0], angular_velocity=[0, 0, 0], pose={**soft["pose"], "position": moved})
        world = pliant.World(other, threads=1, energy_gain=1e9)
        world.set_particles(**fields(built))
        for field in FIELDS:
            scale = max(np.abs(getattr(built, field)).max(), 1e-30)
            assert np.allclose(getattr(world, field), getattr(built, field), rtol=0.0, atol=1e-6 * scale), field
        steps = 4
        built.step(steps)
        world.step(steps)
        substeps = steps * world.substeps
        error = np.abs(world.positions - built.positions).max()
        bound = 2.0**-24 * substeps * (0.4 * scene["grid_spacing"] + 0.2 * np.abs(built.velocities).max() * built.time)
        worst.see(error, bound, scene)
    print(f"worst: {worst.ratio:.3g} of the bound")
    assert worst.ratio <= 1.0, worst.case


# Setting what is there already changes no bit of what follows.
def test_what_is_there_already_is_kept_to_the_bit(drop):
    drop.step(30)
    other = drop.branch()
    drop.set_particles(velocities=drop.velocities, velocity_gradients=drop.velocity_gradients)
    drop.step(20)
    other.step(20)
    assert np.array_equal(drop.positions, other.positions)


# A homogeneous strain F of a neo-Hookean body has the stress of its law: tau = mu (F F^T - 1) + lambda
# ln(J) 1, where nothing else was changed.
def test_a_strain_has_the_stress_of_its_law(drop):
    material = {"model": "neo-hookean", "density": 1000.0, "youngs_modulus": 2e5, "poissons_ratio": 0.3}
    name = next(iter(drop.scene["materials"]))
    world = pliant.World("elastic-drop", {f"materials.{name}": material}, threads=1)
    random = np.random.default_rng(SEED)
    strain = rotation(quaternion(random)) @ (np.eye(3) + 0.1 * random.normal(size=(3, 3)))
    strain *= np.sign(np.linalg.det(strain))
    before = world.positions.copy()
    world.set_particles(deformation_gradients=np.tile(strain, (world.particle_count, 1, 1)))
    mu, lam = 2e5 / 2.6, 2e5 * 0.3 / (1.3 * 0.4)
    tau = mu * (strain @ strain.T - np.eye(3)) + lam * math.log(np.linalg.det(strain)) * np.eye(3)
    assert np.allclose(world.stresses, tau, rtol=1e-5, atol=1e-5 * np.abs(tau).max())
    assert np.array_equal(world.positions, before)


# Plastic strain is part of the state: a von Mises body keeps what was set.
def test_plastic_strain_is_set():
    world = pliant.World("dough-rolling", threads=1)
    part = next(iter(world.soft.values()))
    world.set_particles(part, histories=np.full(part.stop - part.start, 0.25))
    assert np.allclose(world.histories[part], 0.25)


# Chosen particles change, others do not, whatever names them; the views keep their address.
def test_particles_are_chosen_by_slices_numbers_and_masks(drop):
    n = drop.particle_count
    mask = np.zeros(n, dtype=bool)
    mask[5:40:5] = True
    first = drop.velocities
    place = address(first)
    for chosen in (slice(5, 40, 5), np.arange(5, 40, 5), mask, list(range(5, 40, 5))):
        world = drop.branch()
        before = fields(world)
        wanted = np.arange(21.0).reshape(7, 3)
        world.set_particles(chosen, velocities=wanted)
        assert np.array_equal(world.velocities[mask], wanted)
        assert np.array_equal(world.velocities[~mask], before["velocities"][~mask])
        assert np.array_equal(world.positions, before["positions"])
    drop.set_particles(mask, velocities=np.ones((7, 3)))
    assert address(drop.velocities) == place and np.array_equal(first[mask], np.ones((7, 3)))
    state = drop.save()
    drop.set_particles([], positions=np.zeros((0, 3)))
    drop.set_particles()
    assert drop.save() == state


# The balances count what was set as impulse and work from outside: their errors stay what they are
# for a body in free flight, rounding, however much momentum and energy comes or goes.
def test_balances_know_what_came_from_outside():
    print(f"seed {SEED}")
    random = np.random.default_rng(SEED)
    for k in range(40):
        scene = case(random, rigid=0, turning=True)
        scene["gravity"] = (direction(random) * 0.1).tolist()
        world = pliant.World(scene, threads=1, energy_gain=1e9)
        twin = world.branch()
        for _ in range(3):
            # Sometimes all comes to rest, sometimes all moves and is elsewhere.
            n, fast = world.particle_count, random.choice([0.0, 1.0, 30.0])
            world.set_particles(
                positions=world.positions + direction(random) * 2.0,
                velocities=np.tile(direction(random) * fast, (n, 1)),
                deformation_gradients=np.tile(rotation(quaternion(random)), (n, 1, 1)),
                histories=np.zeros(n),
            )
            for one in (world, twin):
                one.step()
                one.diagnostics()
        told, own = world.balance(), twin.balance()
        for name in ("mass", "linear_momentum"):
            assert told[name] < 1e-5 + own[name], (k, name, told, own, scene)
        energy = world.energy()
        bound = 1e-4 * energy["energy_put_in"] + 10.0 * abs(twin.energy()["imbalance"])
        assert abs(energy["imbalance"]) < bound, (k, energy, twin.energy(), scene)
        assert told["energy"] < 1e-3 + 2.0 * own["energy"], (k, told, own, scene)


# Places where a particle cannot be are refused with field, row, value and unit, and so is matter that
# is inside out; nothing is changed then.
def test_places_and_strains_that_cannot_be(drop):
    drop.step()
    state, n = drop.save(), drop.particle_count
    below = drop.positions.copy()
    below[7, 2] = -0.5
    with pytest.raises(pliant.ValueError, match=r"positions\[7\]: .* m is .* m inside of the body '.*' \(particle 7\)"):
        drop.set_particles(positions=below)
    far = drop.positions.copy()
    far[3] = 1e20
    with pytest.raises(pliant.ValueError, match="too far"):
        drop.set_particles(positions=far)
    strains = drop.deformation_gradients.copy()
    strains[4] = np.diag([1.0, 1.0, -1.0])
    with pytest.raises(pliant.ValueError, match=r"deformation_gradients\[4\]: its determinant is -1"):
        drop.set_particles(deformation_gradients=strains)
    bad = drop.velocities.copy()
    bad[2, 1] = math.nan
    with pytest.raises(pliant.ValueError, match=r"velocities\[2, 1\]: NaN m/s must be finite"):
        drop.set_particles(velocities=bad)
    with pytest.raises(pliant.ValueError, match=r"particles\[1\]: 3 is there twice"):
        drop.set_particles([3, 3], velocities=np.zeros((2, 3)))
    with pytest.raises(pliant.ValueError, match=r"shape is .*it must be"):
        drop.set_particles(slice(0, n, 2), velocities=np.zeros((n, 3)))
    assert drop.save() == state
    cloth = pliant.World("tshirt-folding", threads=1)
    with pytest.raises(pliant.ValueError, match="is of a cloth"):
        cloth.set_particles(velocities=np.zeros((cloth.particle_count, 3)))


# A plane that bounds the grid bounds the places too.
def test_planes_bound_the_places(drop):
    plane = {"point": [0.0, 0.0, -1.0], "normal": [0.0, 0.0, 1.0], "kind": {"type": "sticky"}}
    scene = {**drop.scene, "bodies": [], "boundaries": [plane]}
    world = pliant.World(scene, threads=1)
    world.set_particles(positions=world.positions - [0.0, 0.0, 0.5 * (1.0 + world.positions[:, 2].min())])
    with pytest.raises(pliant.ValueError, match=r"behind the plane boundaries\[0\]"):
        world.set_particles(positions=world.positions - [0.0, 0.0, 2.0])


def test_arrays_of_any_layout_and_precision(drop):
    drop.set_particles(velocity_gradients=np.ones((drop.particle_count, 3, 3)))
    wanted = np.asfortranarray(np.arange(3.0 * drop.particle_count).reshape(-1, 3))
    for given in (wanted, wanted.astype(np.float32), wanted.astype(np.int64), wanted.tolist(), wanted[::-1][::-1]):
        world = drop.branch()
        world.set_particles(velocities=given)
        assert np.array_equal(world.velocities, wanted)
    # The gradient of the motion before is gone.
    assert not world.velocity_gradients.any()
