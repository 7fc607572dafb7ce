"""Sweeps in parts: shards, resuming, failures, tables and data sets. Ray is not needed."""

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pliant
from pliant import shards
from pliant._runs import arrays, frame_list, read_ply

#: A cube of 27 particles that falls for 0.05 s; three frames.
TINY = {
    "soft[0].sampling.counts": [3, 3, 3],
    "grid_spacing": 0.05,
    "materials.rubber.youngs_modulus": 1e4,
    "duration": 0.05,
}
DENSITY = "materials.rubber.density"


@pytest.fixture(scope="module")
def scene():
    return pliant.read_scene("elastic-drop", TINY)


def command():
    """The command of the same checkout, where it was built."""
    given = os.environ.get("PLIANT_COMMAND")
    built = pathlib.Path(__file__).parents[2] / "target" / "release" / "pliant"
    return given or (str(built) if built.exists() else None)


needs_command = pytest.mark.skipif(command() is None, reason="the command was not built: set PLIANT_COMMAND")


def frames(run):
    """The bytes of all frames of a run by their names."""
    return {path.name: path.read_bytes() for path in sorted((pathlib.Path(run) / "frames").iterdir())}


def left(folder):
    """Names of files in a folder that a process should not have left."""
    return [path.name for path in pathlib.Path(folder).rglob(".*") if path.name != ".hulls"]


# Law: names are those of `pliant sweep` (checked by hand, and against the command below).
def test_names_follow_from_the_changes():
    vary = {"a.b": [1e4, 12345, 2e16], "c[0]": [1e-5, 0.00012, 1e-7]}
    names = [variant.name for variant in shards.variants("elastic-drop", vary)]
    assert names[:3] == ["a.b=10000.0+c_0_=0.00001", "a.b=10000.0+c_0_=0.00012", "a.b=10000.0+c_0_=1e-7"]
    assert names[-1] == "a.b=2e_16+c_0_=1e-7" and len(set(names)) == 9
    assert shards.Variant("x", {"p": {"b": [1, 2.5], "a": "t"}}).name == "p=__a___t_,_b___1,2.5__"
    assert shards.Variant("x", {"p": np.float64(0.5)}).name == "p=0.5"
    long = [shards.Variant("x", {"p": "y" * 300 + end}).name for end in "ab"]
    assert long[0] != long[1] and max(map(len, long)) <= 200
    with pytest.raises(pliant.ValueError, match="twice"):
        shards.variants("elastic-drop", {"dt": [0.01, 0.01]})
    for name in (".a", "a/b", "y" * 201):
        with pytest.raises(pliant.ValueError, match="name"):
            shards.Variant("elastic-drop", {}, name)


def test_several_scenes_have_names_of_their_own():
    found = shards.variants(["elastic-drop", "ball-drop"], {"dt": [0.001, 0.002]})
    names = [f"{scene}+dt={dt}" for scene in ("elastic-drop", "ball-drop") for dt in ("0.001", "0.002")]
    assert [v.name for v in found] == names
    assert [v.scene for v in found] == ["elastic-drop"] * 2 + ["ball-drop"] * 2
    assert [v.name for v in shards.variants(["elastic-drop", "ball-drop"], {})] == ["elastic-drop", "ball-drop"]


# Law: every variant is in one part, and the sizes of parts differ by one at most.
@pytest.mark.parametrize("count, of", [(10, 3), (2, 5), (1000, 7)])
def test_shards_share_the_variants(count, of):
    parts = [shards.Shard(number, of).part(list(range(count))) for number in range(1, of + 1)]
    assert sorted(sum(parts, [])) == list(range(count))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_shards_of_a_job_array():
    environment = {"SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_STEP": "5", "SLURM_ARRAY_TASK_COUNT": "4"}
    found = [str(shards.Shard.of_slurm(environment | {"SLURM_ARRAY_TASK_ID": str(k)})) for k in (10, 15, 20, 25)]
    assert found == ["1/4", "2/4", "3/4", "4/4"]
    with pytest.raises(pliant.ValueError, match="SLURM_ARRAY_TASK_MIN"):
        shards.Shard.of_slurm({})
    for text in ("0/4", "5/4", "1", "a/b", "1/0", ""):
        with pytest.raises(pliant.ValueError, match="i/n"):
            shards.Shard.parse(text)


def test_a_plan_is_read_back(scene, tmp_path):
    given = [*shards.variants(scene, {DENSITY: [500, 1000]}), shards.Variant("ball-drop")]
    given.append(shards.Variant(scene, {"dt": 0.01}))
    shards.plan(tmp_path / "a", given)
    assert shards.read_plan(tmp_path / "a") == given
    assert len(json.loads((tmp_path / "a" / shards.PLAN).read_text())["scenes"]) == 2
    with pytest.raises(pliant.RunError, match="no plan"):
        shards.read_plan(tmp_path)


# Law: one that fails, in whatever way, is recorded with its words, and all others run; all are in the
# table.
def test_failures_do_not_stop_the_others(scene, tmp_path):
    given = [
        shards.Variant(scene, {"nope": 1}),
        *shards.variants(scene, {DENSITY: [500, 1000]}),
        shards.Variant(tmp_path / "missing.json"),
        shards.Variant(scene, {"limits.steps": 3}),
    ]
    shards.plan(tmp_path, given)
    results = shards.run(tmp_path)
    assert [r.state for r in results] == ["failed", "completed", "completed", "failed", "failed"]
    for number, words in ((0, "no field 'nope'"), (3, "missing.json"), (4, "limits.steps")):
        assert words in results[number].error
    merged = shards.merge(tmp_path)
    assert [(r.name, r.state, r.error) for r in merged] == [(r.name, r.state, r.error) for r in results]
    table = json.loads((tmp_path / "sweep.json").read_text())
    assert [row["status"] for row in table["variants"]] == [None, "completed", "completed", None, None]
    assert [row["error"] for row in table["variants"]] == [r.error for r in results]
    assert shards.main(["run", str(tmp_path)]) == 1 and shards.main(["status", str(tmp_path / "none")]) == 2


# Law: what is complete is not run again (its files stay as they are); a damaged file is named and the
# variant does not count; another scene of the same name is refused.
def test_complete_variants_are_checked_and_skipped(scene, tmp_path):
    given = shards.variants(scene, {DENSITY: [500, 1000]})
    shards.run(tmp_path, given)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    again = shards.run(tmp_path, given)
    assert all(r.state == "completed" and r.skipped for r in again)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert left(tmp_path) == []
    other = shards.Variant(scene, {"dt": 0.01}, given[0].name)
    assert "another scene" in shards.run_variant(tmp_path, other).error
    run = tmp_path / given[0].name
    for name in ("frames/000001.ply", "diagnostics.csv", "manifest.json", "checkpoint/000000000000.bin"):
        whole = (run / name).read_bytes()
        (run / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        found = shards.run_variant(tmp_path, given[0])
        assert found.state == "failed" and name in found.error, name
        (run / name).write_bytes(whole)
    (run / "frames" / "000007.ply").write_bytes(b"")
    assert "000007" in shards.run_variant(tmp_path, given[0]).error
    (run / "frames" / "000007.ply").unlink()
    assert shards.run_variant(tmp_path, given[0]).state == "completed"


def begin(folder, *options):
    """A process that runs a sweep."""
    arguments = [sys.executable, "-m", "pliant.shards", "run", str(folder), *options]
    path = str(pathlib.Path(pliant.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for(path, process):
    """Waits until there is a file, of a run that this process works on."""
    until = time.monotonic() + 30
    lock = path.parents[1].with_suffix(".lock")
    while not (path.exists() and lock.exists() and f"process: {process.pid}\n" in lock.read_text()):
        assert process.poll() is None and time.monotonic() < until, process.stdout.read()
        time.sleep(0.002)


# A run that takes some seconds, so that it can be stopped in its midst.
@pytest.fixture(scope="module")
def long(scene, tmp_path_factory):
    variant = shards.Variant(scene, {"duration": 60.0, "output.frame_interval": 1.0, "dt": 0.0025}, "long")
    folder = tmp_path_factory.mktemp("whole")
    assert shards.run_variant(folder, variant).state == "completed"
    return variant, frames(folder / "long")


# Law: SIGTERM ends a run with a checkpoint and exit code 3; the same command continues it to the same
# bits. It is no kill.
def test_a_stopped_run_is_resumed(long, tmp_path):
    variant, whole = long
    shards.plan(tmp_path, [variant])
    process = begin(tmp_path)
    wait_for(tmp_path / ".long.partial" / "frames" / "000002.ply", process)
    assert shards.status(tmp_path)[0].state == "running" and str(process.pid) in shards.status(tmp_path)[0].error
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 3, process.stdout.read()
    found = shards.status(tmp_path)[0]
    assert found.state == "interrupted" and found.manifest["steps"] > 0
    result = shards.run_variant(tmp_path, variant)
    assert result.state == "completed" and result.kills == 0
    assert frames(tmp_path / "long") == whole and left(tmp_path) == []


# Law: a process that is killed is tried again, `retries` times; then its variant is recorded as
# failed, and the others go on. Tried once more, it comes to the same bits.
def test_a_killed_run_is_tried_again_up_to_a_limit(scene, long, tmp_path):
    variant, whole = long
    shards.plan(tmp_path, [variant, *shards.variants(scene, {DENSITY: [500]})])
    for kill in range(3):
        process = begin(tmp_path, "--retries", "2")
        wait_for(tmp_path / ".long.partial" / "frames" / "000001.ply", process)
        process.kill()
        process.wait()
        assert shards.status(tmp_path)[0].state == "interrupted", kill
    process = begin(tmp_path, "--retries", "2")
    assert process.wait(60) == 1
    results = shards.merge(tmp_path)
    assert [r.state for r in results] == ["failed", "completed"]
    assert results[0].kills == 3 and "was killed 3 times, each time before it got further" in results[0].error
    result = shards.run_variant(tmp_path, variant, again=True)
    assert result.state == "completed" and result.kills == 3 and frames(tmp_path / "long") == whole


# Law: the tasks of a job array run all parts, whatever the array's numbers are; one that is stopped or
# killed is queued again. Slurm's own commands are stood in for by scripts.
def test_the_job_array_runs_all_parts(scene, long, tmp_path):
    script = pathlib.Path(__file__).parents[1] / "examples" / "slurm_array.sh"
    stubs = {"srun": 'exec "$@"', "scontrol": 'echo "$@" >> "$QUEUED"', "killed": "kill -9 $$"}
    for name, text in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    given = shards.variants(scene, {DENSITY: [500, 600, 700, 800, 900]})
    shards.plan(tmp_path / "sweep", given)
    numbers = {"ARRAY_TASK_MIN": "4", "ARRAY_TASK_STEP": "2", "ARRAY_TASK_COUNT": "2", "JOB_ID": "77"}
    array = {f"SLURM_{name}": value for name, value in numbers.items()}
    around = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(pathlib.Path(pliant.__file__).parents[1]),
        "PYTHON": sys.executable,
        "QUEUED": str(tmp_path / "queued"),
    }
    environment = os.environ | around | array
    for task, count in (("4", 3), ("6", 5)):
        one = environment | {"SLURM_ARRAY_TASK_ID": task}
        done = subprocess.run(["bash", script, tmp_path / "sweep"], env=one, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert sum(r.state == "completed" for r in shards.status(tmp_path / "sweep")) == count
    assert not (tmp_path / "queued").exists()
    one["PYTHON"] = str(tmp_path / "killed")
    subprocess.run(["bash", script, tmp_path / "sweep"], env=one, capture_output=True)
    assert (tmp_path / "queued").read_text() == "requeue 77\n"
    assert subprocess.run(["bash", script], env=one, capture_output=True).returncode == 2


# Law: kills count in a row: a try that got to a newer checkpoint begins the count anew.
def test_kills_with_progress_do_not_count(tmp_path):
    checkpoints = tmp_path / ".a.partial" / "checkpoint"
    checkpoints.mkdir(parents=True)
    (checkpoints / "000000000000.bin").touch()
    assert [shards.count_kill(tmp_path, "a") for _ in range(3)] == [1, 2, 3]
    (checkpoints / "000000000010.bin").touch()
    assert [shards.count_kill(tmp_path, "a") for _ in range(2)] == [1, 2]
    assert json.loads((tmp_path / ".a.record.json").read_text())["kills"] == 5


# Law: shards of different processes, merged, are the table that the command writes of the same
# sweep; the command reads the folder.
@needs_command
def test_the_table_is_that_of_the_command(tmp_path):
    changes = [text for path, value in TINY.items() for text in ("--set", f"{path}={json.dumps(value)}")]
    vary = {DENSITY: [500.0, 1e3], "contact.dissipation": [1e-5, 1]}
    axes = [text for path, values in vary.items() for text in ("--vary", f"{path}={','.join(map(str, values))}")]
    sweep = ["sweep", "elastic-drop", "--no-pictures", "--out", tmp_path / "command", *changes, *axes]
    done = subprocess.run([command(), *sweep], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    given = shards.variants(pliant.read_scene("elastic-drop", TINY), vary)
    shards.plan(tmp_path / "own", given)
    for number in (2, 1):
        assert shards.main(["run", str(tmp_path / "own"), "--shard", f"{number}/2"]) == 0
    shards.merge(tmp_path / "own")
    tables = []
    for folder in ("command", "own"):
        with open(tmp_path / folder / "sweep.csv", newline="") as file:
            tables.append(list(csv.DictReader(file)))
    measured = {"wall_s", "real_time_rate", "ms_per_step_median"}
    drop = [[{key: row[key] for key in row if key not in measured} for row in table] for table in tables]
    assert drop[0] == drop[1] and list(tables[0][0]) == list(tables[1][0])
    texts = [json.loads((tmp_path / folder / "sweep.json").read_text()) for folder in ("command", "own")]
    assert texts[0] == texts[1]
    for variant in given:
        assert frames(tmp_path / "command" / variant.name) == frames(tmp_path / "own" / variant.name)
    pq = pytest.importorskip("pyarrow.parquet")
    schemas = [pq.read_schema(tmp_path / folder / "sweep.parquet") for folder in ("command", "own")]
    assert schemas[0].names == schemas[1].names and schemas[0].types == schemas[1].types
    report = subprocess.run([command(), "report", tmp_path / "own"], capture_output=True, text=True)
    assert report.returncode == 0 and all(variant.name in report.stdout for variant in given)
    state = subprocess.run([command(), "sweep", "--status", "--out", tmp_path / "own"], capture_output=True, text=True)
    assert "4 completed" in state.stdout, state.stdout + state.stderr
    # What Python ran is complete for the command, and the other way round.
    again = subprocess.run([command(), *sweep[:4], tmp_path / "own", *sweep[5:]], capture_output=True, text=True)
    assert "4 of 4 completed, 4 of them" in again.stdout, again.stdout + again.stderr
    assert all(r.state == "completed" and r.skipped for r in shards.run(tmp_path / "command", given))


def dataset():
    pytest.importorskip("pyarrow", reason="pyarrow is missing: pip install pliant[ray]")
    zarr = pytest.importorskip("zarr", reason="zarr is missing: pip install pliant[ray]")
    if int(zarr.__version__.split(".")[0]) < 3:
        pytest.skip(f"zarr {zarr.__version__} is there; data sets need 3")
    from pliant import dataset

    return dataset


# Law: the data set has each particle of each frame once, with the bits of the PLY files, across the
# borders of shards of arrays and in any number of parts; and the numbers of the tables.
@pytest.mark.parametrize("parts", [1, 3])
def test_a_data_set_has_the_bits_of_the_runs(scene, tmp_path, monkeypatch, parts):
    module = dataset()
    monkeypatch.setattr(module, "CHUNK", 16)
    monkeypatch.setattr(module, "SHARD", 64)
    given = [
        *shards.variants(scene, {DENSITY: [500, 1000]}),
        shards.Variant(scene, {"output.fields": ["mass", "affine"], "soft[0].sampling.counts": [3, 3, 4]}, "fields"),
        shards.Variant(scene, {"nope": 1}),
        shards.Variant(scene, {"dt": 0.01}, "not run"),
    ]
    results = shards.run(tmp_path, given[:4])
    assert [r.state for r in results] == ["completed"] * 3 + ["failed"], results[2].error
    for number in range(1, parts + 1):
        shards.gather(tmp_path, tmp_path / "data", given, shards.Shard(number, parts))
    data = module.DataSet(tmp_path / "data")
    assert data.problems() == [] and left(tmp_path / "data") == []
    assert sorted(data.variants) == sorted(v.name for v in given[:3])
    rows = {row["variant"]: row for row in data.table("variants").to_pylist()}
    assert {name: row["state"] for name, row in rows.items()} == {
        v.name: state for v, state in zip(given, [*["completed"] * 3, "failed", "waiting"], strict=True)
    }
    assert "no field 'nope'" in rows["nope=1"]["error"]
    for variant in given[:3]:
        run = tmp_path / variant.name
        listed = frame_list(run)
        assert np.array_equal(data.times(variant.name), [row["time"] for row in listed])
        whole = data.series(variant.name)
        for row in listed:
            expected = arrays(read_ply((run / row["file"]).read_bytes()))
            found = data.frame(variant.name, row["frame"])
            assert set(expected) <= set(found)
            for name, array in expected.items():
                assert found[name].dtype == array.dtype and found[name].tobytes() == array.tobytes(), name
                assert whole[name][row["frame"]].tobytes() == array.tobytes()
            for name in set(found) - set(expected):
                assert np.isnan(found[name]).all(), name
        with open(run / "diagnostics.csv", newline="") as file:
            own = [float(line["com_z"]) for line in csv.DictReader(file)]
        table = data.table("diagnostics").filter(module_equal(data, variant.name))
        assert table["com_z"].to_pylist() == own


def module_equal(data, name):
    import pyarrow.compute as pc

    return pc.field("variant") == name


# Law: parts have the same varied columns in the same types, whatever the values of their variants are.
def test_parts_have_the_same_columns(scene, tmp_path):
    module = dataset()
    given = [shards.Variant(scene, {"a": 1}), shards.Variant(scene, {"a": 2.5}), shards.Variant(scene, {"b": "t"})]
    for number in (1, 2, 3):
        shards.gather(tmp_path, tmp_path / "data", given, shards.Shard(number, 3))
    table = module.DataSet(tmp_path / "data").table("variants")
    assert table["a"].to_pylist() == [1.0, 2.5, None] and table["b"].to_pylist() == [None, None, "t"]
    assert table["state"].to_pylist() == ["waiting"] * 3
    assert [str(table.schema.field(name).type) for name in "ab"] == ["double", "string"]


# Law: a part is complete or absent; what is damaged is refused; a part of other runs is not replaced
# unless asked; a part that is missing is told.
def test_a_data_set_is_complete_or_absent(scene, tmp_path, monkeypatch):
    module = dataset()
    given = shards.variants(scene, {DENSITY: [500, 1000]})
    shards.run(tmp_path, given[:1])
    data = tmp_path / "data"
    part = shards.gather(tmp_path, data, given)
    assert module.DataSet(data).problems() == []
    stamp = (part / "part.json").stat().st_mtime_ns
    assert shards.gather(tmp_path, data, given) == part and (part / "part.json").stat().st_mtime_ns == stamp
    shards.run(tmp_path, given)
    with pytest.raises(pliant.RunError, match="other runs"):
        shards.gather(tmp_path, data, given)
    frame = tmp_path / given[1].name / "frames" / "000001.ply"
    whole = frame.read_bytes()
    frame.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(pliant.RunError, match="000001.ply"):
        shards.gather(tmp_path, data, given, replace=True)
    assert module.DataSet(data).variants == [given[0].name] and os.listdir(data) == [part.name]
    frame.write_bytes(whole)
    shards.gather(tmp_path, data, given, replace=True)
    assert module.DataSet(data).variants == [v.name for v in given] and os.listdir(data) == [part.name]
    shards.gather(tmp_path, tmp_path / "half", given, shards.Shard(2, 2))
    assert "part 1 of 2 is missing" in module.DataSet(tmp_path / "half").problems()
    monkeypatch.setattr(module, "_gather_table", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        shards.gather(tmp_path, tmp_path / "none", given)
    assert os.listdir(tmp_path / "none") == []
