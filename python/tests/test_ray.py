"""Sweeps, data sets and vector environments on Ray, with workers that are killed."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="ray is missing: pip install pliant[ray]")
gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is missing: pip install pliant[envs]")

import pliant  # noqa: E402
import pliant.ray  # noqa: E402
from pliant import shards  # noqa: E402
from pliant.envs import Task  # noqa: E402

TINY = {
    "soft[0].sampling.counts": [3, 3, 3],
    "grid_spacing": 0.05,
    "materials.rubber.youngs_modulus": 1e4,
    "duration": 0.05,
}
DENSITY = "materials.rubber.density"
PACKAGE = str(pathlib.Path(pliant.__file__).parents[1])


@pytest.fixture(scope="module")
def scene():
    return pliant.read_scene("elastic-drop", TINY)


@pytest.fixture(scope="module")
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([PACKAGE, str(pathlib.Path(__file__).parent)]))
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
        yield
        ray.shutdown()


def frames(run):
    return {path.name: path.read_bytes() for path in sorted((pathlib.Path(run) / "frames").iterdir())}


def worker_of(folder, name):
    """The process that holds the lock of a run, if it is a worker of Ray; else None."""
    try:
        number = int(dict(line.split(": ") for line in (folder / f".{name}.lock").read_text().splitlines())["process"])
        title = pathlib.Path(f"/proc/{number}/cmdline").read_bytes()
    except (OSError, KeyError, ValueError):
        return None
    return number if title.startswith(b"ray::") else None


def test_the_package_does_not_need_ray():
    code = "import sys, pliant, pliant.shards; sys.exit('ray' in sys.modules or 'zarr' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": PACKAGE}).returncode == 0


# Law: a sweep on Ray has the bits of one without, each variant once, failures with their words; done
# again, nothing is run; its data set is checked and has the same bits in any number of parts.
def test_a_sweep_has_the_bits_of_one_without_ray(cluster, scene, tmp_path):
    given = [
        *shards.variants(scene, {DENSITY: [500, 800, 1000]}),
        shards.Variant(scene, {"nope": 1}),
    ]
    calls = []
    sweep = pliant.ray.sweep(tmp_path / "ray", given, progress=lambda result, done: calls.append((result.name, done)))
    assert [r.state for r in sweep.results] == ["completed"] * 3 + ["failed"] and not sweep.completed
    assert "no field 'nope'" in sweep.results[3].error and (sweep.kills, sweep.retries) == (0, 0)
    assert sorted(name for name, _ in calls) == sorted(v.name for v in given) and [k for _, k in calls] == [1, 2, 3, 4]
    shards.run(tmp_path / "alone", given)
    for variant in given[:3]:
        assert frames(tmp_path / "ray" / variant.name) == frames(tmp_path / "alone" / variant.name)
    again = pliant.ray.sweep(tmp_path / "ray", given)
    assert all(r.skipped for r in again.results[:3]) and again.results[3].state == "failed"
    assert (tmp_path / "ray" / "sweep.csv").exists() and shards.status(tmp_path / "ray")[0].state == "completed"
    if pytest.importorskip("zarr").__version__ < "3":
        pytest.skip("zarr 3 is missing")
    data = pliant.ray.gather(tmp_path / "ray", tmp_path / "data", parts=2)
    shards.gather(tmp_path / "alone", tmp_path / "one", given)
    from pliant.dataset import DataSet

    one = DataSet(tmp_path / "one")
    assert data.problems() == one.problems() == [] and sorted(data.variants) == sorted(one.variants)
    for name in one.variants:
        a, b = data.series(name), one.series(name)
        assert {key: array.tobytes() for key, array in a.items()} == {key: array.tobytes() for key, array in b.items()}


# Law: a variant whose worker is killed is tried again and comes to the same bits; one whose workers
# are killed again and again is recorded after `retries` more tries; the others do not notice.
def test_killed_workers_are_replaced_up_to_a_limit(cluster, scene, tmp_path):
    slow = {"duration": 60.0, "output.frame_interval": 1.0, "dt": 0.0025}
    given = [shards.Variant(scene, slow, "once"), shards.Variant(scene, slow, "always")]
    given += shards.variants(scene, {DENSITY: [500, 1000]})
    kills, done = {"once": 0, "always": 0}, threading.Event()

    def killer():
        while not done.wait(0.005):
            for name, most in (("once", 1), ("always", 99)):
                if kills[name] < most and (number := worker_of(tmp_path / "ray", name)) is not None:
                    os.kill(number, signal.SIGKILL)
                    kills[name] += 1
                    while worker_of(tmp_path / "ray", name) == number and os.path.exists(f"/proc/{number}"):
                        time.sleep(0.002)

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        sweep = pliant.ray.sweep(tmp_path / "ray", given, retries=2)
    finally:
        done.set()
        thread.join()
    by_name = {r.name: r for r in sweep.results}
    assert by_name["once"].state == "completed" and by_name["once"].kills == 1
    assert by_name["always"].state == "failed" and "killed 3 times" in by_name["always"].error
    assert all(by_name[v.name].state == "completed" for v in given[2:])
    assert (kills, sweep.kills, sweep.retries) == ({"once": 1, "always": 3}, 4, 3)
    assert shards.run_variant(tmp_path / "alone", given[0]).state == "completed"
    assert frames(tmp_path / "ray" / "once") == frames(tmp_path / "alone" / "once")


# Law: an interrupt of the program ends its runs with checkpoints, and a process without Ray continues
# them to the same bits.
def test_an_interrupted_sweep_is_continued_without_ray(scene, tmp_path):
    slow = {"duration": 60.0, "output.frame_interval": 1.0, "dt": 0.0025}
    given = [shards.Variant(scene, slow, name) for name in ("a", "b", "c", "d", "e", "f")]
    shards.plan(tmp_path / "ray", given)
    code = "import sys, ray, pliant.ray; ray.init(num_cpus=2, include_dashboard=False); pliant.ray.sweep(sys.argv[1])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "ray")],
        env=os.environ | {"PYTHONPATH": PACKAGE},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    until = time.monotonic() + 60
    while not list((tmp_path / "ray").glob(".*.partial/frames/000001.ply")):
        assert process.poll() is None and time.monotonic() < until, process.stdout.read()
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[0]
    assert process.returncode != 0 and b"KeyboardInterrupt" in said
    states = [r.state for r in shards.status(tmp_path / "ray")]
    assert {"interrupted", "waiting"} <= set(states) <= {"interrupted", "waiting", "completed"}, states
    assert (tmp_path / "ray" / "sweep.csv").exists()
    results = shards.run(tmp_path / "ray")
    assert all(r.state == "completed" and r.kills == 0 for r in results)
    assert shards.run_variant(tmp_path / "alone", given[0]).state == "completed"
    for variant in given:
        assert frames(tmp_path / "ray" / variant.name) == frames(tmp_path / "alone" / "a")


class Drop(Task):
    """A cube that falls; an action does nothing but to be remembered."""

    action_size, steps_per_action, episode_length, state_size, success_score, source = 1, 2, 4, 4, 2.0, "a test"

    def episode_scene(self, random):
        return pliant.read_scene("elastic-drop", TINY | {"soft[0].pose.position[2]": 0.19 + 0.1 * random.random()})

    def begin(self, random):
        self.action = 0.0

    def apply(self, action):
        self.action = action[0]

    def state(self):
        return np.array([*self.world.positions.mean(axis=0), self.action])

    def score(self):
        return float(self.world.positions[:, 2].mean())


def rollout(envs, steps, seed):
    random, found = np.random.default_rng(seed), []
    observation, info = envs.reset(seed=seed)
    found.append((observation, info))
    for _ in range(steps):
        found.append(envs.step(random.uniform(-1, 1, envs.action_space.shape).astype(np.float32)))
    return found


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b)


# Law: environments on Ray have the bits of those on threads, over episodes that end.
def test_environments_have_the_bits_of_those_on_threads(cluster):
    from pliant.envs import WorldsVectorEnv

    for seed in (3, 11):
        here = WorldsVectorEnv(Drop, 5, threads=1)
        there = pliant.ray.RayVectorEnv(Drop, 5, workers=2)
        try:
            assert there.action_space == here.action_space and there.observation_space == here.observation_space
            for k, (a, b) in enumerate(zip(rollout(here, 11, seed), rollout(there, 11, seed), strict=True)):
                assert same(a, b), f"seed {seed}, step {k}"
        finally:
            here.close()
            there.close()


class Plain(gymnasium.Env):
    """An environment that is no task of Pliant."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.random()
        return np.array([self.at], np.float32), {"process": os.getpid()}

    def step(self, action):
        self.at += float(action)
        return np.array([self.at], np.float32), 1.0, self.at > 3.0, False, {"process": os.getpid()}


# Law: where a worker is killed its environments alone are truncated, with the last observation and
# why; the next step resets them; after `retries` workers the failure is raised.
def test_a_killed_worker_truncates_its_episodes(cluster):
    envs = pliant.ray.RayVectorEnv(Plain, 4, workers=2, retries=1)
    try:
        first, info = envs.reset(seed=5)
        os.kill(int(info["process"][3]), signal.SIGKILL)
        until = time.monotonic() + 20
        while os.path.exists(f"/proc/{int(info['process'][3])}") and time.monotonic() < until:
            time.sleep(0.01)
        observation, reward, terminated, truncated, told = envs.step(np.ones(4, np.int64))
        assert truncated.tolist() == [False, False, True, True] and not terminated.any()
        assert np.array_equal(observation[2:], first[2:]) and np.allclose(observation[:2], first[:2] + 1.0)
        assert reward.tolist() == [1.0, 1.0, 0.0, 0.0] and "killed" in told["failure"][2] and envs.kills == 1
        observation, reward, terminated, truncated, told = envs.step(np.ones(4, np.int64))
        assert not truncated.any() and reward.tolist() == [1.0, 1.0, 0.0, 0.0]
        assert not np.array_equal(observation[2:], first[2:]) and (observation[2:] < 1.0).all()
        observation, reward, *_ = envs.step(np.ones(4, np.int64))
        assert reward.tolist() == [1.0] * 4
        os.kill(int(told["process"][2]), signal.SIGKILL)
        with pytest.raises(pliant.Error, match="2 workers were killed"):
            for _ in range(100):
                envs.step(np.ones(4, np.int64))
                time.sleep(0.05)
    finally:
        envs.close()
