#!/usr/bin/env python3
"""Compiles kernels/pliant.cu to ptx/pliant.ptx, with a compiler from PyPI in a throwaway folder.

    cuda/ptx.py            writes the PTX, the hash of its sources, and the table of their registers
    cuda/ptx.py --check    compiles, and says whether the repository has all three (exit code 1 if not)

The compiler is NVRTC, NVIDIA's run-time compiler: one library, without the host compiler and headers that nvcc needs. The
wheels of CUDA 12 have no nvcc, and those of CUDA 13 write PTX 9, which drivers of CUDA 12 refuse. ptxas of the same
release assembles the result for each architecture, so that what is written is known to load. Needs Linux on x86-64, Python
3.9 with pip, and the network; no GPU and no CUDA. Without the network it says so and ends with exit code 3.
"""

import argparse
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
PTX = HERE / "ptx" / "pliant.ptx"
HASH = HERE / "ptx" / "sources.hash"
REGISTERS = HERE / "ptx" / "registers.md"
TARGET = "compute_80"
# Architectures that ptxas must take the PTX for; the table is for the last.
ASSEMBLED_FOR = ["sm_80", "sm_86", "sm_89", "sm_90"]
OPTIONS = [f"--gpu-architecture={TARGET}", "--std=c++17", f"--include-path={KERNELS}"]
NO_NETWORK = 3


def sources_hash():
    """FNV-1a of names and texts, as cuda/src/ptx.rs computes it."""
    value = 0xCBF29CE484222325
    for path in sorted(path for path in KERNELS.iterdir() if path.suffix in (".cu", ".cuh")):
        for part in (path.name.encode(), path.read_bytes().replace(b"\r", b"")):
            for byte in part + b"\0":
                value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def install(folder):
    """The pinned wheels, unpacked into a folder."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary=:all:", "--retries=1", f"--target={folder}"]
    command += [f"--requirement={HERE / 'ptx-requirements.txt'}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        unreachable = "Failed to establish a new connection" in done.stderr or "NameResolution" in done.stderr
        print(done.stderr.strip(), file=sys.stderr)
        if unreachable:
            print("ptx.py: skipped, the package index cannot be reached", file=sys.stderr)
        sys.exit(NO_NETWORK if unreachable else 1)


class Nvrtc:
    """NVRTC's C interface."""

    def __init__(self, folder):
        libraries = folder / "nvidia" / "cuda_nvrtc" / "lib"
        # The compiler asks for its built-in functions by name; they are found because they are loaded already.
        ctypes.CDLL(str(libraries / "libnvrtc-builtins.so.12.0"), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(libraries / "libnvrtc.so.12"))

    def text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, text)
        return text.value.decode()

    def compile(self, path):
        program = ctypes.c_void_p()
        source = path.read_bytes()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source, path.name.encode(), 0, None, None)
        options = (ctypes.c_char_p * len(OPTIONS))(*[option.encode() for option in OPTIONS])
        failed = self.library.nvrtcCompileProgram(program, len(OPTIONS), options)
        log = self.text(program, "ProgramLog").strip()
        if log:
            print(log, file=sys.stderr)
        if failed:
            sys.exit("ptx.py: the kernels do not compile")
        return self.text(program, "PTX")


def kept_if_same(ptx):
    """The repository's PTX if the compiled one has the same lines, else the compiled one.

    NVRTC places some moves of constants by addresses within its own memory: one in a few runs over the same sources puts
    them some lines further up or down.
    """
    kept = PTX.read_text() if PTX.exists() else ""
    return kept if sorted(kept.splitlines()) == sorted(ptx.splitlines()) else ptx


def assemble(folder, ptx):
    """What ptxas says of each kernel: name, registers, shared memory [bytes], spills [bytes]."""
    ptxas = folder / "nvidia" / "cuda_nvcc" / "bin" / "ptxas"
    ptxas.chmod(0o755)
    file = folder / "pliant.ptx"
    file.write_text(ptx)
    for architecture in ASSEMBLED_FOR:
        command = [str(ptxas), "--verbose", f"--gpu-name={architecture}", "--output-file=/dev/null", str(file)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"ptx.py: ptxas refuses the PTX for {architecture}:\n{done.stderr}{done.stdout}")
    report = done.stderr + done.stdout
    entry = re.compile(
        r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers([^\n]*)",
        re.DOTALL,
    )
    rows = []
    for name, stores, loads, registers, rest in entry.findall(report):
        shared = re.search(r"(\d+) bytes smem", rest)
        rows.append((name, registers, shared.group(1) if shared else "0", str(int(stores) + int(loads))))
    return sorted(rows)


def table_of(rows):
    """Registers and memory of the kernels, as lines of Markdown."""
    table = ["| kernel | registers | static shared [bytes] | spilled [bytes] |", "|---|---:|---:|---:|"]
    return table + [f"| `{name}` | {registers} | {shared} | {spilled} |" for name, registers, shared, spilled in rows]


def main():
    parser = argparse.ArgumentParser(description="Compiles the kernels to PTX.")
    parser.add_argument("--check", action="store_true", help="compare with what the repository has, and write nothing")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory(prefix="pliant-ptx-") as name:
        folder = pathlib.Path(name)
        install(folder)
        ptx = kept_if_same(Nvrtc(folder).compile(KERNELS / "pliant.cu"))
        rows = assemble(folder, ptx)
    table = "\n".join([f"# Registers and memory of the kernels, by ptxas for {ASSEMBLED_FOR[-1]}", "", *table_of(rows)])
    results = {PTX: ptx, HASH: sources_hash() + "\n", REGISTERS: table + "\n"}
    print(table)
    stale = [path for path, text in results.items() if not path.exists() or path.read_text() != text]
    if check:
        for path in stale:
            print(f"ptx.py: {path.relative_to(HERE.parent)} is out of date: run cuda/ptx.py", file=sys.stderr)
        sys.exit(1 if stale else 0)
    for path in stale:
        path.write_text(results[path])
        print(f"wrote {path.relative_to(HERE.parent)}")


main()
