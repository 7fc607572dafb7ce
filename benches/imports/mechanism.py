"""Pliant's side: the example `mechanism` of the crate pliant-import, one process for each file."""

import json
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "target/release/examples/mechanism"


def build():
    """Builds the program."""
    command = ["cargo", "build", "--release", "--quiet", "-p", "pliant-import", "--example", "mechanism"]
    if subprocess.run(command, cwd=ROOT).returncode != 0:
        raise SystemExit("the example `mechanism` does not build")


def ask(path, limit, **more):
    """Its answer about a file, with `outcome` (imported, refused, crashed or timed out) and
    `seconds`."""
    begun = time.monotonic()
    request = json.dumps({"file": str(path), **more})
    try:
        done = subprocess.run([PROGRAM], input=request, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"outcome": "timed out", "problem": f"took more than {limit:g} s", "seconds": limit}
    seconds = time.monotonic() - begun
    if done.returncode != 0:
        lines = (done.stderr.strip() or "no message").splitlines()
        said = next((line for line in lines if line.strip()), "")
        return {"outcome": "crashed", "problem": f"exit code {done.returncode}: {said[:300]}", "seconds": seconds}
    answer = json.loads(done.stdout)
    answer["outcome"] = "imported" if answer["ok"] else "refused"
    answer["seconds"] = seconds
    return answer
