"""Pictures, animations, and run directories in Python."""

import json
import math
import os
import pathlib
import subprocess
import threading

import numpy as np
import pytest

import pliant


@pytest.fixture
def drop():
    return pliant.World("elastic-drop", threads=2)


def test_pictures_are_arrays_and_files(drop, tmp_path):
    picture = drop.picture((160, 90))
    assert picture.shape == (90, 160, 3) and picture.dtype == np.uint8 and picture.std() > 5.0
    assert np.array_equal(picture, drop.picture((160, 90)))
    assert drop.png((64, 36)).startswith(b"\x89PNG") and drop._repr_png_().startswith(b"\x89PNG")
    drop.write_picture(tmp_path / "a.png")
    drop.write_frame(tmp_path / "a.ply")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG") and (tmp_path / "a.ply").read_bytes().startswith(b"ply")
    with pytest.raises(pliant.PictureError, match="nowhere"):
        drop.write_picture(tmp_path / "nowhere" / "a.png")


# What a program looks at must not tell it the time: the same state at another time is the same
# picture, of the same bytes, and its depth is that of a picture alone where both are no drafts.
@pytest.mark.parametrize("draft", [False, True])
def test_pictures_for_programs_do_not_show_the_time(drop, draft):
    other = drop.branch()
    camera = ([0.3, -0.5, 0.4], [0, 0, 0.05], 0.6)
    before, depth = other.picture_with_depth((80, 60), camera, "", draft=draft)
    positions, velocities = other.positions.copy(), np.zeros_like(other.velocities)
    other.step()
    other.set_particles(positions=positions, velocities=velocities)
    assert other.time > drop.time
    assert np.array_equal(before, other.picture((80, 60), camera, "", draft=draft))
    assert np.array_equal(depth, other.picture_with_depth((80, 60), camera, "", draft=draft)[1])
    # Surfaces of drafts are coarser.
    assert draft or np.array_equal(depth, other.depth((80, 60), camera))
    assert not np.array_equal(before, other.picture((80, 60), camera, draft=draft))


# Straight down from 2 m on a cube that is not turned, with its top at 0.24 m, and on the table z = 0:
# the depth along the viewing direction is 1.76 m over the middle of the top (0.06 m wide), and 2 m over
# the table in the corners of the picture too, whose rays are longer. The top is known to a quarter of
# the particles' spacing, 0.01 m.
def test_depth_is_along_the_viewing_direction(drop):
    scene = drop.scene
    scene["soft"][0]["pose"]["orientation"] = [1, 0, 0, 0]
    flat = pliant.World(scene, threads=2)
    camera = ([1e-6, 0.0, 2.0], [0.0, 0.0, 0.0], 0.4)
    depth = flat.depth((101, 101), camera)
    corners = depth[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert depth.dtype == np.float32 and np.abs(corners - 2.0).max() < 1e-4
    assert np.abs(depth[46:55, 46:55] - 1.76).max() < 0.0025
    with pytest.raises(pliant.ValueError, match="field of view"):
        drop.depth((10, 10), ([0, 0, 1], [0, 0, 0], 4.0))
    with pytest.raises(pliant.ValueError, match="camera position"):
        drop.picture((10, 10), ([0, 0, math.nan], [0, 0, 0], 1.0))
    with pytest.raises(pliant.PictureError):
        drop.picture((0, 10))
    with pytest.raises(OverflowError):
        drop.picture((-1, 10))


def test_animations_are_gif_files(drop, tmp_path):
    animation = pliant.animate(drop, 0.2, frames_per_second=20, size=(80, 45), quiet=True)
    assert abs(drop.time - 0.2) < 1e-9
    assert animation.data.startswith(b"GIF89a") and "data:image/gif" in animation._repr_html_()
    animation.save(tmp_path / "a.gif")
    assert (tmp_path / "a.gif").read_bytes() == animation.data and len(os.listdir(tmp_path)) == 1
    with pytest.raises(pliant.ValueError):
        pliant.animate(drop, -1.0)
    with pytest.raises(pliant.ValueError):
        pliant.gif([], 0.1)
    with pytest.raises(pliant.ValueError, match="shape"):
        pliant.gif([np.zeros((4, 4, 3), np.uint8), np.zeros((4, 5, 3), np.uint8)], 0.1)


def test_simulate_calls_back_at_its_times(drop):
    times = []
    pliant.simulate(drop, 0.1, quiet=True, on_frame=lambda world: times.append(world.time), frame_time=0.025)
    assert np.allclose(times, np.arange(5) * 0.025)


def test_a_run_is_that_of_the_command(tmp_path):
    calls = []
    manifest = pliant.run(
        "elastic-drop", tmp_path / "run", {"duration": 0.2}, pictures=False, progress=lambda *at: calls.append(at)
    )
    assert manifest["status"] == "completed" and (tmp_path / "run" / "manifest.json").exists()
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["status"] == "completed"
    with pytest.raises(pliant.RunError):
        pliant.run("elastic-drop", tmp_path / "run", {"duration": 0.2}, pictures=False)
    again = pliant.run("elastic-drop", tmp_path / "run", {"duration": 0.2}, pictures=False, resume=True)
    assert again["status"] == "completed"


def test_an_interrupted_run_can_be_resumed(tmp_path):
    scene = ("soft-grasp", tmp_path / "run", {"duration": 2.0})
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), 2))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pliant.run(*scene, pictures=False)
    manifest = pliant.run(*scene, pictures=False, resume=True)
    assert manifest["status"] == "completed"
    whole = pliant.run("soft-grasp", tmp_path / "whole", {"duration": 2.0}, pictures=False)
    names = [path.name for path in sorted((tmp_path / "whole").rglob("*.ply"))]
    assert names
    for name in names:
        of = [next((tmp_path / run).rglob(name)).read_bytes() for run in ("run", "whole")]
        assert of[0] == of[1], name
    assert whole["status"] == "completed"


# Checkpoints are written at the intervals that were asked for, by steps and by wall time, besides the
# one at the start and that at the end.
def test_checkpoints_are_written_when_asked_for(tmp_path):
    changes = {"duration": 1.0}
    last = pliant.estimate("soft-grasp", changes)["steps"]

    def written(name, **asked):
        seen = set()
        folder = tmp_path / f".{name}.partial" / "checkpoint"
        look = lambda *_: seen.update(int(file.stem) for file in folder.glob("*.bin"))  # noqa: E731
        pliant.run("soft-grasp", tmp_path / name, changes, pictures=False, progress=look, **asked)
        return seen - {0, last}

    by_steps = written("steps", checkpoint_every=1e9, checkpoint_steps=7)
    assert by_steps and all(step % 7 == 0 for step in by_steps), by_steps
    assert not written("never", checkpoint_every=1e9)
    assert written("always", checkpoint_every=0.0)
    for bad in (dict(checkpoint_every=-1.0), dict(checkpoint_every=math.nan), dict(checkpoint_steps=0)):
        with pytest.raises(pliant.ValueError, match=next(iter(bad))):
            pliant.run("elastic-drop", tmp_path / "bad", pictures=False, **bad)
    assert not (tmp_path / "bad").exists()


def command():
    """The command of the same checkout, where it was built."""
    given = os.environ.get("PLIANT_COMMAND")
    built = pathlib.Path(__file__).parents[2] / "target" / "release" / "pliant"
    return given or (str(built) if built.exists() else None)


# A world that Python steps has the bits of one that the command runs: the same frames.
@pytest.mark.skipif(command() is None, reason="the command was not built: set PLIANT_COMMAND")
@pytest.mark.parametrize("scene", ["elastic-drop", "soft-grasp"])
def test_frames_are_those_of_the_command(scene, tmp_path):
    done = subprocess.run(
        [command(), "run", scene, "--out", tmp_path / "run", "--set", "duration=0.1", "--no-pictures"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    pliant.run(scene, tmp_path / "python", {"duration": 0.1}, pictures=False)
    frames = sorted((tmp_path / "run").rglob("*.ply"))
    assert frames
    for frame in frames:
        own = tmp_path / "python" / frame.relative_to(tmp_path / "run")
        assert own.read_bytes() == frame.read_bytes(), frame.name
    # The last frame has the positions of a world that is stepped by hand.
    world = pliant.World(scene, {"duration": 0.1})
    world.step(round(0.1 / world.dt))
    world.write_frame(tmp_path / "last.ply")
    data = frames[-1].read_bytes()
    assert len(data) > 100 and world.particle_count > 0
