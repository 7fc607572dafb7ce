"""To look at worlds: pictures and animations below a cell, progress while a world is stepped."""

from __future__ import annotations

import base64
import os
import sys
import tempfile
import time
import webbrowser

from ._pliant import Error, World, gif
from ._pliant import ValueError as PliantValueError


def in_notebook() -> bool:
    """Whether what is displayed is shown below a cell."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


def show(world: World) -> str | None:
    """Shows a picture of a world: below the cell in a notebook, else in the system's viewer.

    Returns the path of the picture where it was written to a file.
    """
    if in_notebook():
        from IPython.display import Image, display

        display(Image(data=world.png()))
        return None
    handle, path = tempfile.mkstemp(prefix="pliant-", suffix=".png")
    os.close(handle)
    world.write_picture(path)
    print(f"picture: {path}")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("darwin", "win32"):
        webbrowser.open(f"file://{path}")
    return path


class Animation:
    """Pictures of a world over time; a notebook shows it, :meth:`save` writes it as a GIF file."""

    def __init__(self, data: bytes, seconds: float):
        #: The bytes of the GIF file.
        self.data = data
        #: Simulated time [s].
        self.seconds = seconds

    def save(self, path) -> None:
        """Writes the GIF file, complete or not at all."""
        path = os.fspath(path)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), suffix=".gif")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self.data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

    def _repr_html_(self) -> str:
        text = base64.b64encode(self.data).decode()
        return f'<img alt="animation of {self.seconds:.2f} s" src="data:image/gif;base64,{text}">'

    def __repr__(self) -> str:
        return f"Animation({self.seconds:.3f} s, {len(self.data)} bytes)"


def simulate(world: World, seconds: float, *, quiet: bool = False, on_frame=None, frame_time: float | None = None):
    """Steps a world for a simulated time [s] and shows how far it is.

    ``on_frame(world)`` is called at the start and every ``frame_time`` [s] of simulated time. An
    interrupt from the keyboard ends it between two steps.
    """
    if not (seconds > 0.0 and seconds < float("inf")):
        raise PliantValueError(f"seconds: {seconds} s must be finite and positive")
    steps = max(1, round(seconds / world.dt))
    interval = steps if frame_time is None else max(1, round(frame_time / world.dt))
    if on_frame is not None:
        on_frame(world)
    shown = None if quiet else _Progress(seconds)
    done = 0
    while done < steps:
        count = min(interval - done % interval, steps - done)
        # In parts, so that progress is seen.
        left = count
        while left > 0:
            part = min(left, 20)
            report = world.step(part)
            left -= part
            if shown is not None:
                shown.at((done + count - left) * world.dt)
        done += count
        if on_frame is not None and done % interval == 0:
            on_frame(world)
    if shown is not None:
        shown.end()
    return report


def animate(
    world: World, seconds: float, *, frames_per_second: float = 20.0, size=(480, 270), camera=None, quiet=False
) -> Animation:
    """Steps a world for a simulated time [s] and returns pictures of it as an animation.

    Parameters
    ----------
    frames_per_second : float
        Pictures a second of simulated time, shown as fast as the world moves; 50 at most, since
        viewers slow down faster ones.
    size : (int, int)
        Width and height [pixels].
    camera : (position, target, vertical field of view), optional
        [m], [m], [rad]; none for the scene's.
    """
    if not 0.0 < frames_per_second <= 50.0:
        raise PliantValueError(f"frames_per_second: {frames_per_second} 1/s must be above 0 and at most 50")
    pictures = []
    frame_time = 1.0 / frames_per_second
    simulate(
        world,
        seconds,
        quiet=quiet,
        on_frame=lambda world: pictures.append(world.picture(size, camera)),
        frame_time=frame_time,
    )
    if not pictures:
        raise Error("animate: no picture was made")
    return Animation(gif(pictures, max(frame_time, world.dt)), seconds)


class _Progress:
    """A line on the standard error, or a bar in a notebook where tqdm is installed."""

    def __init__(self, seconds):
        self.seconds, self.last, self.bar = seconds, 0.0, None
        self.started = time.monotonic()
        if in_notebook():
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self.bar = tqdm(total=seconds, unit="s", bar_format="{l_bar}{bar}| {n:.3f}/{total:.3f} s")

    def at(self, seconds):
        now = time.monotonic()
        if self.bar is not None:
            self.bar.update(seconds - self.bar.n)
        elif now - self.last > 0.5 and sys.stderr.isatty():
            self.last = now
            print(f"\r{seconds:.3f} of {self.seconds:.3f} s", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.bar is not None:
            self.bar.close()
        elif self.last > 0.0:
            took = time.monotonic() - self.started
            print(f"\r{self.seconds:.3f} s simulated in {took:.1f} s", file=sys.stderr)
