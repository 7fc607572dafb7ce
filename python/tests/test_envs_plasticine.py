"""The ten tasks on plasticine: Gymnasium's rules, seeds, the published score, refusals, one solution."""

import itertools
import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import pliant
from pliant.envs import plasticine
from pliant.envs.plasticine._dough import MassGrid, soft_iou
from pliant.envs.scripted.plasticine import SOLUTIONS, wait

NAMES = plasticine.__all__


def made(name, **arguments):
    """A task with one configuration, as each costs the motion that defines its target."""
    env = getattr(plasticine, name)(**arguments)
    env.configurations = 1
    return env


def test_there_are_ten_tasks_with_a_solution_each():
    assert len(NAMES) == 10 and sorted(NAMES) == sorted(SOLUTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_gymnasiums_own_checker_passes(name):
    with warnings.catch_warnings():
        # Lengths have no bound.
        warnings.filterwarnings("ignore", message=".*infinity.*|.*minimum.*|.*maximum.*|.*render modes.*")
        check_env(made(name, size=(48, 48), render_mode="rgb_array"))


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_fixes_an_episode_to_the_bit_and_the_score_is_that_of_the_target(name):
    one, two = made(name, threads=1), made(name, threads=2)
    actions = np.random.default_rng(5).uniform(-1, 1, (3, one.action_size)).astype(np.float32)
    both = []
    for env in (one, two):
        first, info = env.reset(seed=7)
        # The score is 0 at the start by its definition, and 1 when the particles are where the target has them.
        assert abs(info["score"]) < 1e-12 and abs(env.score_of(env.target_points) - 1.0) < 1e-12
        # The state ends with the goal.
        assert np.array_equal(first[-env.goal_size :], env.goal.astype(np.float32))
        both.append([first, *(np.append(*env.step(action)[:2]) for action in actions)])
    assert all(np.array_equal(a, b) for a, b in zip(*both, strict=True))
    assert not np.array_equal(both[0][0], both[0][-1][:-1])
    one.close()
    two.close()


# The five configurations of a task differ, a seed draws one of them, and one can be asked for.
def test_a_seed_draws_a_configuration():
    env = plasticine.TripleMove()
    goals = []
    for k in range(env.configurations):
        env.reset(seed=1, options={"configuration": k})
        goals.append(tuple(env.goal))
    assert len(set(goals)) == env.configurations
    drawn = set()
    for seed in range(12):
        env.reset(seed=seed)
        assert tuple(env.goal) == goals[env.configuration]
        drawn.add(env.configuration)
    assert len(drawn) > 1, drawn
    for bad in (-1, 5, "first"):
        with pytest.raises(pliant.ValueError, match="configuration"):
            env.reset(seed=1, options={"configuration": bad})


@pytest.mark.parametrize("name", ["Chopsticks", "RollingPin", "TripleMove"])
def test_bad_actions_are_refused(name):
    env = made(name)
    with pytest.raises(pliant.ClosedError):
        env.step(np.zeros(env.action_size))
    env.reset(seed=1)
    for bad in (np.zeros(env.action_size + 1), 0.0, np.full(env.action_size, np.nan), np.full(env.action_size, np.inf)):
        with pytest.raises(pliant.ValueError, match="action"):
            env.step(bad)
    with pytest.raises(pliant.ValueError, match="observation"):
        made(name, observation="smell")


# B-splines are a partition of unity: the grid has the mass of the particles. The published soft IoU by hand:
# grids (2, 4) and (3, 1) are (1/2, 1) and (1, 1/3); products 1/2 + 1/3, sums 3/2 + 4/3.
def test_masses_and_the_soft_iou():
    random = np.random.default_rng(2)
    points, masses = random.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.12], (50, 3)), random.uniform(1, 2, 50)
    nodes = MassGrid(0.005)
    grid = nodes.masses(points, masses)
    assert abs(grid.sum() - masses.sum()) < 1e-9
    assert abs(soft_iou(np.array([2.0, 4.0]), np.array([3.0, 1.0])) - (5 / 6) / (17 / 6 - 5 / 6)) < 1e-12
    # Of one node alone, a distance is that between nodes.
    alone = np.zeros_like(grid)
    alone[12345] = 1.0
    places = np.argwhere(np.ones(nodes.counts))
    wanted = nodes.cell * np.linalg.norm(places - places[12345], axis=1)
    assert np.abs(nodes.distances(alone) - wanted).max() < 1e-8


# An action moves a manipulator by its speed times the time of an action, and not out of its field.
def test_manipulators_move_as_told():
    env = made("Pinch")
    env.reset(seed=1)
    before = env.places()[0]
    env.step(np.array([1.0, -0.5, 0.25], np.float32))
    time = env.steps_per_action * env.world.dt
    assert np.abs(env.places()[0] - before - env.speed * time * np.array([1.0, -0.5, 0.25])).max() < 1e-9
    for _ in range(30):
        env.step(np.array([1.0, 0.0, 1.0], np.float32))
    assert np.allclose(env.places()[0][[0, 2]], [0.1, 0.12])


# The pin rolls without slip: its turn about its axis is the way over its radius, and a turn about the vertical
# takes its heading along.
def test_the_pin_rolls_and_turns():
    env = made("RollingPin")
    env.reset(seed=1)
    env.step(np.array([0.0, 0.0, 1.0], np.float32))
    x, q = env.places()[0, 0], env.world.body("pin").orientation
    env.step(np.array([1.0, 0.0, 0.0], np.float32))
    way, turn = env.places()[0, 0] - x, abs(np.dot(q, env.world.body("pin").orientation))
    assert abs(way - 0.004) < 1e-9 and abs(2 * np.arccos(turn) - way / env.radius) < 1e-6
    env.step(np.array([0.0, 1.0, 0.0], np.float32))
    assert abs(env.heading() - 0.06) < 1e-9


# The reward is the loss that is gone over that at the start, so an episode that ends at the target gets nearly 1.
def test_the_cubes_are_carried_to_their_targets():
    env = made("TripleMove")
    env.reset(seed=3)
    total, info = 0.0, {}
    for action in itertools.islice(itertools.chain(SOLUTIONS["TripleMove"](env), wait(env, 50)), 30):
        _, reward, _, _, info = env.step(action)
        total += reward
    assert info["score"] > 0.9 and info["is_success"], (env.configuration, info)
    assert abs(total - (1.0 - env.loss() / env._first_loss)) < 1e-9 and total > 0.8
