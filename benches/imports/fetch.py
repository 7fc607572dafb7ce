"""The packages whose robot files are read: downloaded and unpacked, never installed."""

import pathlib
import subprocess
import sys
import tarfile
import zipfile

PACKAGES = {
    "dm_control": "1.0.50",
    "gymnasium": "1.4.0",
    "gymnasium-robotics": "1.4.2",
    "robosuite": "1.5.2",
    "metaworld": "3.1.1",
    "playground": "0.2.0",
    "pybullet": "3.2.7",
    "mani_skill": "3.0.1",
    "example-robot-data": "6.0.0",
    "genesis-world": "1.4.5",
}


def folder(name):
    """The folder of a package, below that of all packages."""
    return name.replace("-", "_")


def fetch(cache):
    """Downloads and unpacks what is not there yet. Returns the folder of the packages."""
    unpacked = pathlib.Path(cache) / "packages"
    for name, version in PACKAGES.items():
        target = unpacked / folder(name)
        if target.is_dir():
            continue
        print(f"fetch {name} {version}", flush=True)
        archive = download(name, version, pathlib.Path(cache) / "archives" / folder(name))
        # Unpacked beside it first: a broken run leaves no half package.
        partial = target.with_name(target.name + ".partial")
        unpack(archive, partial)
        partial.rename(target)
    return unpacked


def download(name, version, into):
    """The archive of a package: the wheel, or where there is none the source archive."""
    into.mkdir(parents=True, exist_ok=True)
    for kind in (["--only-binary", ":all:"], ["--no-binary", ":all:"]):
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(into)]
        done = subprocess.run([*command, *kind, f"{name}=={version}"], capture_output=True, text=True)
        found = sorted(into.iterdir())
        if done.returncode == 0 and found:
            return found[0]
    raise SystemExit(f"{name} {version} cannot be downloaded:\n{done.stderr[-2000:]}")


def unpack(archive, into):
    """Unpacks an archive into a folder."""
    into.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(into)
    else:
        with tarfile.open(archive) as source:
            source.extractall(into, filter="data")
