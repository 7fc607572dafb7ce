"""The extension module. Units are SI, frames right-handed, quaternions (w, x, y, z)."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str
GIT_COMMIT: str

type Scene = str | PathLike[str] | Mapping[str, Any]
#: Position [m], target [m] and vertical field of view [rad].
type Camera = tuple[ArrayLike, ArrayLike, float]
type Vector = NDArray[np.float64]
#: (angular [rad/s], linear [m/s]), or (force [N], torque [N m]), or (position, orientation).
type Pair = tuple[NDArray[np.float64], NDArray[np.float64]]

class Error(Exception):
    """What Pliant refuses, or cannot do."""

class SceneError(Error):
    """A scene that cannot be read, is not valid, or has no world."""

class StepError(Error):
    """A step that could not be finished; the world has failed."""

class StateError(Error):
    """A state that cannot be saved, read or branched."""

class RobotError(Error):
    """A name that a robot does not have, or an input that it refuses."""

class BackendError(Error):
    """A backend that is not there, or that refuses a world."""

class PictureError(Error):
    """A picture that cannot be drawn."""

class RunError(Error):
    """A run that cannot be begun, or whose files cannot be written."""

class BusyError(Error):
    """A world that another thread is using."""

class ClosedError(Error):
    """A world that was closed."""

class ForkError(Error):
    """A world of the process that this one was forked from."""

class ValueError(ValueError):
    """A value of the wrong shape, or out of its range."""

class StepReport:
    """What a step did; of several, the last."""

    #: Time after the step [s].
    time: float
    #: MPM substeps [-].
    substeps: int
    #: Coupling steps [-].
    coupling_steps: int
    #: Contacts of particles, mean over the substeps [-].
    contacts_mean: float
    #: Most contacts of particles in a substep [-].
    contacts_max: int
    #: Iterations of the contact solver in all substeps [-].
    iterations: int
    #: Largest residual that the contact solver ended with.
    residual: float
    #: Substeps whose contact solver ended before its tolerance [-].
    not_converged: int
    #: Deepest penetration of a particle's contact sphere [m]; None without contact.
    deepest: float | None
    #: Nodes of the grid with mass [-].
    grid_nodes: int
    #: Steps of the rigid bodies [-].
    rigid_steps: int

class World:
    """A world of a scene.

    One thread at a time may use it (:class:`BusyError`); a step releases the interpreter's lock. An
    energy that the scheme creates is told once as a ``RuntimeWarning``.

    Particle arrays are read-only views of memory that the world keeps: the address stays the same,
    and the numbers are those of the last time that the property was asked for. Particles are in the
    order in which the scene adds them: soft bodies, then cloths, then ropes.
    """

    def __init__(
        self,
        scene: Scene,
        changes: Mapping[str, Any] | None = None,
        *,
        backend: str = "cpu",
        threads: int | None = None,
        energy_gain: float = 0.05,
    ) -> None:
        """Builds the world at time 0.

        Parameters
        ----------
        scene
            Name of a built-in scene, path of a scene, MJCF or URDF file, or a dict.
        changes
            Fields to change, by their paths: ``{"soft[0].material.young_modulus": 2e4}``.
        backend
            ``"cpu"``, ``"cuda"``, ``"cuda:N"`` (device N) or ``"cuda-emulated"``.
        threads
            Threads of a step; None for all of the machine's. Results do not depend on it.
        energy_gain
            Energy that the scheme may create, as a fraction of the energy input [-]; more is told as
            a ``RuntimeWarning``, once.

        Raises
        ------
        SceneError, BackendError
        """

    def step(self, count: int = 1) -> StepReport:
        """Takes steps of :attr:`dt`. An interrupt from the keyboard ends them between two steps.

        Raises
        ------
        StepError
            The world has failed; it can still be read.
        """

    @property
    def name(self) -> str: ...
    @property
    def scene(self) -> dict[str, Any]:
        """The scene with its defaults."""
    @property
    def time(self) -> float:
        """[s]"""
    @property
    def dt(self) -> float:
        """Length of a step [s]."""
    @property
    def duration(self) -> float:
        """Simulated time of a run of the scene [s]."""
    @property
    def step_count(self) -> int: ...
    @property
    def substeps(self) -> int:
        """MPM substeps of the next step [-]."""
    @property
    def gravity(self) -> Vector:
        """[m/s^2]"""
    @property
    def threads(self) -> int: ...
    @property
    def warnings(self) -> list[str]:
        """What is doubtful in the scene, one line each."""
    @property
    def failure(self) -> str | None:
        """Why the world failed; None while it can be stepped."""
    @property
    def particle_count(self) -> int: ...
    @property
    def positions(self) -> NDArray[np.float64]:
        """(particles, 3) [m]"""
    @property
    def velocities(self) -> NDArray[np.float64]:
        """(particles, 3) [m/s]"""
    @property
    def deformation_gradients(self) -> NDArray[np.float64]:
        """(particles, 3, 3), elastic part; identity for cloth."""
    @property
    def velocity_gradients(self) -> NDArray[np.float64]:
        """(particles, 3, 3), of the motion round each particle (APIC) [1/s]."""
    @property
    def histories(self) -> NDArray[np.float64]:
        """(particles,), what the material remembers [-].

        Von Mises: the accumulated plastic strain. Sand and grains: the logarithm of the volume gained
        at the tip of the cone. Elastic materials: 0. Centroids of cloth: the area of their face over
        that at rest.
        """
    @property
    def stresses(self) -> NDArray[np.float64]:
        """(particles, 3, 3), Kirchhoff stress [Pa]."""
    @property
    def masses(self) -> NDArray[np.float64]:
        """(particles,) [kg]"""
    @property
    def volumes(self) -> NDArray[np.float64]:
        """(particles,), at rest [m^3]."""
    def set_particles(
        self,
        particles: slice | ArrayLike | None = None,
        *,
        positions: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        velocity_gradients: ArrayLike | None = None,
        deformation_gradients: ArrayLike | None = None,
        histories: ArrayLike | None = None,
    ) -> None:
        """Sets the state of particles of soft bodies; all is checked before anything is changed.

        The balances of momentum and energy count the difference as impulse and work from outside: it is
        no error of theirs, and no gain of the scheme. What is not given stays, bit for bit.

        Parameters
        ----------
        particles
            A slice (:attr:`soft` has one for each body), particle numbers, each once, or a mask; None
            for all. Arrays have one row for each chosen particle, in that order. Particles of cloth
            cannot be set.
        positions
            (chosen, 3) [m]. None deeper in a body, or behind a plane of ``boundaries``, than it is now
            (and than 0.001 grid spacings), but for what the scene allows to overlap.
        velocities
            (chosen, 3) [m/s]. They set the velocity gradients to 0, unless those are given too.
        velocity_gradients
            (chosen, 3, 3) [1/s]; of a body that turns with w the matrix of the cross product with w.
        deformation_gradients
            (chosen, 3, 3), elastic part [-], of positive determinant. The stress follows from it; one
            beyond yield is returned to the yield surface.
        histories
            (chosen,) [-], see :attr:`histories`.

        Raises
        ------
        ValueError
            An array of another shape or kind, or a number out of its range, with field, row, value and
            unit.
        StateError
            The world has failed: restore a state first.
        """
    @property
    def soft(self) -> dict[str, slice]:
        """Particles of each soft body."""
    @property
    def cloths(self) -> list[str]: ...
    def cloth(self, name: str) -> dict[str, Any]:
        """``vertices`` and ``centroids`` (slices of the particle arrays), ``faces`` (faces, 3): particle numbers."""
    @property
    def ropes(self) -> list[str]: ...
    def rope(self, name: str) -> dict[str, Any]:
        """A rope, as it is after the last step.

        ``vertices`` is a slice of the particle arrays, ``radius`` that of the cross-section [m]. Of the
        segments: ``tension`` (negative where pressed together) [N], ``tangent`` and ``director`` (segments,
        3), unit vectors along it and across it, which turns with the material. At the inner vertices:
        ``twist``, from the frame before to the next [rad], and ``torque``, the twisting moment [N m].
        Vibrations are in all of them.
        """
    def move_pin(self, cloth: str, vertex: int, position: ArrayLike, *, within: float) -> None:
        """Holds a vertex of a cloth or rope and moves it on a line to ``position`` [m] within a time [s]; it
        is held there."""
    def release_pin(self, cloth: str, vertex: int) -> None: ...
    @property
    def bodies(self) -> list[str]:
        """Names of the rigid bodies; those of robots' links are ``robot/link``."""
    def body(self, name: str) -> Body: ...
    @property
    def robots(self) -> list[str]: ...
    def robot(self, name: str) -> Robot: ...
    @property
    def actuators(self) -> dict[str, dict[str, Any]]:
        """Motors by name: the scene's own ``actuators``, then those of robots as ``robot/motor``.

        Each has ``kind`` (``"effort"``, ``"position"``, ``"velocity"``; ``"drive"`` for an actuator of a
        robot's file that is no motor on a joint), ``joint`` and ``dof``, ``value`` (what it is told now)
        and its ``range`` (least and greatest, None without a limit), both as :meth:`set_actuators` takes
        them: the motor gets ``scale * value + offset`` in ``unit``. ``effort_limit`` (None without one) is
        in ``effort_unit``. Of a drive there are ``kind``, ``range`` and ``value``, in the units of its file.
        """
    def set_actuators(self, inputs: Mapping[str, float], rates: Mapping[str, float] | None = None) -> None:
        """Tells motors of :attr:`actuators` their efforts, positions or velocities, all or none of them.

        A motor of the scene gets its ``value`` in its ``unit``, in place of what the scene says from then
        on; ``rates`` are those of positions [rad/s, m/s], 0 without. A motor ``robot/motor`` gets a
        control in the units of its file, as by :meth:`Robot.set_controls`. Branches keep what a program
        told; saved states do not have it.

        Raises
        ------
        RobotError
            A name that is not there; the error lists those that are.
        ValueError
            A number that is not finite, or a rate without a position.
        """
    def energy(self) -> dict[str, float]:
        """The measured terms of the energy balance since the start [J]; what is not measured is not there."""
    def balance(self) -> dict[str, float]:
        """Relative errors of the balances since the start [-]: ``mass``, ``linear_momentum``,
        ``angular_momentum`` of the particles, ``energy`` that the scheme created. What cannot be
        measured is not there."""
    def diagnostics(self) -> dict[str, Any]:
        """Totals of the particles: mass, momenta, energies."""
    def save(self) -> bytes:
        """The state: particles, bodies, contacts. Not part of it: what a program told the motors."""
    def restore(self, state: bytes) -> None:
        """Takes over a state that :meth:`save` gave, of a world of the same scene."""
    def branch(self) -> World:
        """A world that continues from the same state, with the same bits; nothing is computed."""
    def picture(
        self,
        size: tuple[int, int] | None = None,
        camera: Camera | None = None,
        caption: str | None = None,
        *,
        draft: bool = False,
    ) -> NDArray[np.uint8]:
        """(height, width, 3), rows from the top, red, green and blue. ``caption`` comes before the time
        in the lower left corner; without one it is the scene's name, and "" is a picture without
        text. ``draft``: coarser light, shadow and surfaces, in less time, for what a program looks at."""
    def picture_with_depth(
        self,
        size: tuple[int, int] | None = None,
        camera: Camera | None = None,
        caption: str | None = None,
        *,
        draft: bool = False,
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """``picture`` and ``depth`` of one drawing."""
    def depth(self, size: tuple[int, int] | None = None, camera: Camera | None = None) -> NDArray[np.float32]:
        """(height, width), along the viewing direction [m]; infinite where there is nothing."""
    def png(
        self, size: tuple[int, int] | None = None, camera: Camera | None = None, caption: str | None = None
    ) -> bytes: ...
    def write_picture(self, path: str | PathLike[str]) -> None: ...
    def write_frame(self, path: str | PathLike[str]) -> None:
        """Writes the particles with all fields as a PLY file."""
    def show(self) -> None:
        """Shows a picture: below the cell in a notebook, else in the system's viewer."""
    def close(self) -> None:
        """Frees the memory; arrays that are still there stay valid."""
    @property
    def closed(self) -> bool: ...
    def __enter__(self) -> World: ...
    def __exit__(self, *error: object) -> None: ...

class Body:
    """A rigid body of a world; its frame is the one that the scene gives it, world axes elsewhere."""

    @property
    def name(self) -> str: ...
    @property
    def position(self) -> Vector:
        """(3,), of the frame's origin [m]."""
    @property
    def orientation(self) -> Vector:
        """(4,), unit quaternion (w, x, y, z)."""
    @property
    def linear_velocity(self) -> Vector:
        """(3,), of the frame's origin [m/s]."""
    @property
    def angular_velocity(self) -> Vector:
        """(3,) [rad/s]"""
    @property
    def contact_wrench(self) -> Pair | None:
        """Force [N] and torque [N m] of all contact about the frame's origin, mean over the last step; None before it."""
    def move_to(self, position: ArrayLike, orientation: ArrayLike | None = None, *, within: float) -> None:
        """Moves a prescribed body to a pose within a time [s], at constant velocity; it rests there."""
    def set_load(self, force: ArrayLike, torque: ArrayLike) -> None:
        """Constant force [N] at the frame's origin and torque [N m], until they are set again."""
    def set_friction(self, coefficient: float) -> None: ...
    def set_mass(self, mass: float) -> None:
        """[kg]; the inertia changes by the same factor."""

class Robot:
    """A robot of a world. The first input that a program sets ends what the scene tells its motors.

    Motors that the scene's ``tasks`` and ``actuators`` add to its joints are not among them: they go on,
    and :meth:`set_target` is refused there. :meth:`World.set_actuators` tells the latter something.
    """

    @property
    def name(self) -> str: ...
    @property
    def joints(self) -> list[str]: ...
    @property
    def links(self) -> list[str]: ...
    @property
    def actuators(self) -> list[str]:
        """Motors on joints, then drives."""
    @property
    def sensors(self) -> list[str]: ...
    @property
    def sites(self) -> list[str]: ...
    @property
    def mocaps(self) -> list[str]: ...
    @property
    def positions(self) -> Vector:
        """Of all joints, in the order of the links [rad, m]; quaternions of free and ball joints are among them."""
    @property
    def velocities(self) -> Vector:
        """Of all joints [rad/s, m/s]."""
    def joint(self, name: str) -> Pair:
        """Positions and velocities of a joint."""
    def pose(self, link: str) -> Pair:
        """Position [m] and orientation of a link."""
    def site_pose(self, site: str) -> Pair: ...
    def velocity(self, link: str) -> Pair:
        """Angular [rad/s] and linear velocity [m/s] of a link's origin, world axes."""
    def set_controls(self, controls: Sequence[float] | Mapping[str, float] | NDArray[np.floating]) -> None:
        """Controls in the file's units, clamped to their ranges: one for each actuator, or by name."""
    def set_target(
        self, joint: str, *, position: float | None = None, velocity: float | None = None, effort: float | None = None
    ) -> None:
        """Target of the motors on a joint: a position [rad, m] with its rate as ``velocity``, a velocity or an effort."""
    def set_gains(self, joint: str, stiffness: float, damping: float) -> None: ...
    def set_efforts(self, efforts: Sequence[float] | NDArray[np.floating]) -> None:
        """Efforts of all torque motors [N m, N], one for each velocity."""
    def set_mocap(self, name: str, position: ArrayLike, orientation: ArrayLike | None = None, *, within: float) -> None: ...
    def effort(self, motor: str) -> float: ...
    def sensor(self, name: str) -> Vector | None:
        """Reading of a sensor; None if it was not measured."""
    def contact_wrench(self, link: str) -> Pair | None:
        """Force [N] and torque [N m] of all contact on a link about its origin, mean over the last step."""
    def site_wrench(self, site: str) -> Pair | None: ...
    def jacobian(self, link: str, point: ArrayLike | None = None) -> NDArray[np.float64]:
        """(6, velocities): angular velocity, then velocity of a point (m, link frame), world axes."""
    @property
    def mass_matrix(self) -> NDArray[np.float64]: ...
    @property
    def bias(self) -> Vector:
        """Efforts that balance gravity, Coriolis and centrifugal forces [N m, N]."""

class Buffers:
    """The memory of the particle arrays of a world."""

def scene_names() -> list[str]:
    """Names of the built-in scenes."""

def scene_schema() -> dict[str, Any]:
    """The JSON schema of scenes."""

def read_scene(scene: Scene, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A scene with its defaults."""

def estimate(scene: Scene, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the run of a scene would need: counts, memory [bytes], predicted wall time [s]."""

def step_worlds(worlds: Sequence[World], count: int = 1, *, threads: int | None = None) -> list[StepError | None]:
    """Takes ``count`` steps of each world, each world on one thread; the failure of each, or None."""

def run(
    scene: Scene,
    out: str | PathLike[str],
    changes: Mapping[str, Any] | None = None,
    *,
    backend: str = "cpu",
    threads: int | None = None,
    resume: bool = False,
    pictures: bool = True,
    progress: Callable[[int, int, float], object] | None = None,
    checkpoint_every: float = 30.0,
    checkpoint_steps: int | None = None,
) -> dict[str, Any]:
    """Runs a scene into a run directory, as the command does; returns the manifest.

    ``progress`` gets the steps done, their number and the simulated time [s]. A checkpoint is written
    after ``checkpoint_every`` of wall time [s], from 0 (after every step) to 1e9, and after
    ``checkpoint_steps`` steps; one is always written at the start and at the end.
    """

def gif(pictures: Sequence[NDArray[np.uint8]], frame_time: float) -> bytes:
    """Pictures (height, width, 3) as a GIF animation, each shown for ``frame_time`` [s]."""
