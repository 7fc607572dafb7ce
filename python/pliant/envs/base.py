"""What all tasks share: episodes, actions, observations, failure, pictures."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium import spaces

import pliant

#: What an environment can observe.
OBSERVATIONS = ("state", "points", "rgb", "rgbd")


class Task(gymnasium.Env):
    """A task on soft things, as a Gymnasium environment.

    A subclass has the scene of an episode (:meth:`episode_scene`), says what an action does
    (:meth:`apply`), what the state is (:meth:`state`), and what is wanted (:meth:`score`). The seed of
    :meth:`reset` fixes an episode to the bit.

    Parameters
    ----------
    observation : {"state", "points", "rgb", "rgbd"}
        A vector of :meth:`state`; ``points`` particles, always the same ones; a picture; a picture
        with depth.
    size : (int, int)
        Width and height of pictures [pixels].
    threads : int
        Threads that step the world; results do not depend on it.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    #: Numbers of an action, each from -1 to 1.
    action_size: int
    #: Steps of the world for one action.
    steps_per_action: int
    #: Actions of an episode.
    episode_length: int
    #: Particles of the observation "points".
    points: int = 200
    #: Score from which an episode counts as a success.
    success_score: float
    #: Where task, reward and success were published.
    source: str

    def __init__(self, *, observation="state", size=(128, 128), threads=1, render_mode=None):
        if observation not in OBSERVATIONS:
            raise pliant.ValueError(f"observation: '{observation}' must be one of {', '.join(OBSERVATIONS)}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise pliant.ValueError(f"render_mode: '{render_mode}' must be None or 'rgb_array'")
        self.observation, self.size, self.threads = observation, tuple(size), threads
        self.render_mode = render_mode
        self.world: pliant.World | None = None
        self._done = 0
        self._first: dict[str, pliant.World] = {}
        self.action_space = spaces.Box(-1.0, 1.0, (self.action_size,), np.float32)
        self.observation_space = self._space()

    # What a subclass has.

    def episode_scene(self, random: np.random.Generator) -> dict:
        """The scene of an episode; all that is random in it is drawn from ``random``."""
        raise NotImplementedError

    def begin(self, random: np.random.Generator) -> None:
        """Called when the world of an episode is built, before its first observation."""

    def apply(self, action: np.ndarray) -> None:
        """Sets what an action does during the next :attr:`steps_per_action` steps."""
        raise NotImplementedError

    def state(self) -> np.ndarray:
        """The state as a vector, of always the same length."""
        raise NotImplementedError

    def score(self) -> float:
        """How well the task is done now, in the published measure: 1 is perfect."""
        raise NotImplementedError

    def reward(self, score: float, before: float) -> float:
        """The reward of an action that led from the score ``before`` to ``score``."""
        return score - before

    # Gymnasium.

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        scene = self.episode_scene(self.np_random)
        if self.world is not None:
            self.world.close()
        self.world = self._built(scene)
        self._done = 0
        self.begin(self.np_random)
        self._score = self.score()
        return self.observe(), {"score": self._score}

    def step(self, action):
        self.prepare(action)
        try:
            self.world.step(self.steps_per_action)
        except pliant.StepError as error:
            return self.finish(error)
        return self.finish(None)

    def prepare(self, action):
        """The part of :meth:`step` before the world is stepped."""
        if self.world is None:
            raise pliant.ClosedError("step: the environment was closed, or not reset before its first step")
        action = np.asarray(action, dtype=np.float64)
        if action.shape != (self.action_size,):
            raise pliant.ValueError(f"action: its shape is {action.shape}; it must be ({self.action_size},)")
        if not np.isfinite(action).all():
            raise pliant.ValueError(f"action: {action} has a number that is not finite")
        self.apply(np.clip(action, -1.0, 1.0))

    def finish(self, failure):
        """The part of :meth:`step` after the world was stepped. A step that failed ends the episode
        without a reward, and ``info["failure"]`` says why."""
        self._done += 1
        if failure is not None:
            info = {"score": self._score, "is_success": False, "failure": str(failure)}
            return self.observe(), 0.0, False, True, info
        before, self._score = self._score, self.score()
        success = bool(self._score >= self.success_score)
        info = {"score": self._score, "is_success": success}
        reward = float(self.reward(self._score, before))
        return self.observe(), reward, False, self._done >= self.episode_length, info

    def observe(self):
        """The observation of the present state."""
        if self.observation == "state":
            return self.state().astype(np.float32)
        if self.observation == "points":
            return self.world.positions[self._chosen()].astype(np.float32)
        if self.observation == "rgb":
            return self.world.picture(self.size, self.camera(), "", draft=True)
        picture, depth = self.world.picture_with_depth(self.size, self.camera(), "", draft=True)
        return {"rgb": picture, "depth": np.nan_to_num(depth, posinf=0.0)}

    def camera(self):
        """Position and target [m] and vertical field of view [rad]; none for the scene's own."""
        return None

    def render(self):
        if self.render_mode is None:
            return None
        return self.world.picture(self.size, self.camera(), "")

    def close(self):
        for world in [self.world, *self._first.values()]:
            if world is not None:
                world.close()
        self.world, self._first = None, {}

    # Details.

    def _built(self, scene):
        """A world of a scene; those that were built before are branched, which takes no time."""
        from pliant._json import dumps

        key = dumps(scene)
        if key not in self._first:
            if len(self._first) >= 4:
                self._first.pop(next(iter(self._first))).close()
            self._first[key] = pliant.World(scene, threads=self.threads)
        return self._first[key].branch()

    def _chosen(self):
        """The particles of the observation "points": evenly among all."""
        count = self.world.particle_count
        return np.linspace(0, count - 1, self.points).round().astype(np.intp)

    def _space(self):
        width, height = self.size
        picture = spaces.Box(0, 255, (height, width, 3), np.uint8)
        if self.observation == "state":
            return spaces.Box(-np.inf, np.inf, (self.state_size,), np.float32)
        if self.observation == "points":
            return spaces.Box(-np.inf, np.inf, (self.points, 3), np.float32)
        if self.observation == "rgb":
            return picture
        return spaces.Dict({"rgb": picture, "depth": spaces.Box(0.0, np.inf, (height, width), np.float32)})

    #: Length of :meth:`state`.
    state_size: int
