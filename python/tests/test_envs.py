"""What all environments share, on the smallest task: seeds, spaces, failures, many at once."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import pliant
from pliant.envs import OBSERVATIONS, make_vec, names

NAME = "pliant/PushCube-v0"


def push(**arguments):
    return gymnasium.make(NAME, **arguments).unwrapped


def rollout(env, seed, actions):
    observations = [env.reset(seed=seed)[0]]
    observations += [env.step(action)[0] for action in actions]
    return np.array(observations)


def test_names_are_registered():
    assert NAME in names() and all(name in gymnasium.registry for name in names())


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_gymnasiums_own_checker_passes(observation):
    with warnings.catch_warnings():
        # Lengths have no bound.
        warnings.filterwarnings("ignore", message=".*infinity.*")
        warnings.filterwarnings("ignore", message=".*flatten the observation.*")
        warnings.filterwarnings("ignore", message=".*minimum.*|.*maximum.*|.*smaller than.*|.*image.*")
        check_env(push(observation=observation, size=(48, 48), render_mode="rgb_array"))


def test_a_seed_fixes_an_episode_to_the_bit():
    actions = np.random.default_rng(3).uniform(-1, 1, (6, 2)).astype(np.float32)
    one, two = push(threads=1), push(threads=2)
    first = rollout(one, 11, actions)
    assert np.array_equal(first, rollout(two, 11, actions))
    assert np.array_equal(first, rollout(one, 11, actions))
    assert not np.array_equal(first, rollout(one, 12, actions))


# Environment k of many takes the same steps, with the same bits, as alone.
@pytest.mark.parametrize("threads", [1, 2])
def test_many_environments_are_each_as_alone(threads):
    count = 3
    actions = np.random.default_rng(4).uniform(-1, 1, (5, count, 2)).astype(np.float32)
    many = make_vec(NAME, count, threads=threads)
    observations = [many.reset(seed=20)[0]]
    for action in actions:
        observation, rewards, terminated, truncated, infos = many.step(action)
        observations.append(observation)
        assert rewards.shape == terminated.shape == truncated.shape == (count,)
        assert infos["score"].shape == (count,)
    observations = np.array(observations)
    for k in range(count):
        assert np.array_equal(observations[:, k], rollout(push(), 20 + k, actions[:, k])), k
    many.close()


# Gymnasium, AutoresetMode.NEXT_STEP: the step after the last one of an episode resets it.
def test_episodes_that_ended_are_reset_by_the_next_step():
    many = make_vec(NAME, 2)
    many.reset(seed=5)
    for env in many.envs:
        env.episode_length = 2
    still = np.zeros((2, 2), np.float32)
    assert not many.step(still)[3].any()
    assert many.step(still)[3].all()
    _, rewards, terminated, truncated, infos = many.step(still)
    assert not rewards.any() and not terminated.any() and not truncated.any()
    assert np.allclose(infos["score"], 0.0, atol=1e-6)


def test_bad_actions_and_arguments_are_refused():
    env = push()
    with pytest.raises(pliant.ClosedError):
        env.step(np.zeros(2))
    env.reset(seed=1)
    for bad in (np.zeros(3), 0.0, np.array([np.nan, 0.0]), np.array([np.inf, 0.0])):
        with pytest.raises(pliant.ValueError, match="action"):
            env.step(bad)
    with pytest.raises(pliant.ValueError, match="observation"):
        push(observation="smell")
    with pytest.raises(pliant.ValueError, match="num_envs"):
        make_vec(NAME, 0)
    many = make_vec(NAME, 2)
    many.reset(seed=[1, 2])
    with pytest.raises(pliant.ValueError, match="actions"):
        many.step(np.zeros((3, 2)))
    with pytest.raises(pliant.ValueError, match="seed"):
        many.reset(seed=[1])
    env.close()
    env.close()


# A world that breaks ends its episode with its words, and the others go on.
def test_a_failure_ends_the_episode_and_says_why(monkeypatch):
    many = make_vec(NAME, 2)
    many.reset(seed=6)
    failure = pliant.StepError("step 7: broken")
    monkeypatch.setattr(pliant, "step_worlds", lambda worlds, count, threads=None: [None, failure])
    _, rewards, terminated, truncated, infos = many.step(np.zeros((2, 2), np.float32))
    assert truncated.tolist() == [False, True] and rewards[1] == 0.0 and not terminated.any()
    assert "broken" in infos["failure"][1]


# The score is one less the distance to the goal over that at the start; the cube moves by the rounding of its
# single-precision state in the step that places the pusher.
def test_a_pushed_cube_scores():
    env = push()
    env.reset(seed=3)
    assert abs(env.score()) < 1e-6
    cube = env.world.positions.mean(axis=0)[:2]
    env.goal = cube.copy()
    assert abs(env.score() - 1.0) < 1e-9
    before = env._cube()
    for _ in range(8):
        env.step(np.array([1.0, 0.0], np.float32))
    assert env._cube()[0] > before[0] + 0.01
