#!/usr/bin/env python3
"""Compiles kernels/pliant.cu to ptx/pliant.ptx, with compilers from PyPI in a throwaway folder.

    cuda/ptx.py                   writes the PTX, the hash of its sources, and the tables of registers and costs
    cuda/ptx.py --check           compiles, and says whether the repository has all four (exit code 1 if not)
    cuda/ptx.py --cubins FOLDER   writes the repository's PTX, assembled for each architecture, there
    cuda/ptx.py --tools FOLDER    besides: keeps the compilers there, and uses them where they are there

The compiler is NVRTC, NVIDIA's run-time compiler: one library, without the host compiler and headers that nvcc needs. The
wheels of CUDA 12 have no nvcc, and those of CUDA 13 write PTX 9, which drivers of CUDA 12 refuse. The oldest ptxas that is
supported and the newest assemble the result for each architecture, as drivers of their releases will. A kernel that spills
registers with one of them ends in exit code 1, after everything was written.

A cubin is made by the oldest ptxas that knows its architecture, and ends with the hash of its PTX, which the library
compares. Needs Linux on x86-64, Python 3.9 with pip, and the network; no GPU and no CUDA. Without the network it says so
and ends with exit code 3.
"""

import argparse
import pathlib
import sys
import tempfile

import cost
import toolchain

ROOT = toolchain.HERE.parent
REGISTERS = toolchain.HERE / "ptx" / "registers.md"
COSTS = toolchain.HERE / "ptx" / "cost.md"


def kept_if_same(ptx):
    """The repository's PTX if the compiled one has the same lines, else the compiled one.

    NVRTC places some moves of constants by addresses within its own memory: one in a few runs over the same sources puts
    them some lines further up or down.
    """
    kept = toolchain.PTX.read_text() if toolchain.PTX.exists() else ""
    return kept if sorted(kept.splitlines()) == sorted(ptx.splitlines()) else ptx


def table_of(cubins):
    """Registers and memory of the kernels by release and architecture, as Markdown."""
    lines = [
        "# Registers, memory and code of the kernels",
        "",
        "Written by `cuda/ptx.py`. Of each kernel and architecture: registers of a thread, bytes spilled",
        "(stores and loads), bytes of code. Static shared memory [bytes] is the most of the architectures.",
    ]
    for release, (_, known) in toolchain.ASSEMBLERS.items():
        of = {architecture: cubins[release, architecture].kernels for architecture in known}
        lines += ["", f"## ptxas {release}", "", "| kernel | static shared | " + " | ".join(known) + " |"]
        lines.append("|---|---:|" + "---:|" * len(known))
        for name in sorted(of[known[0]]):
            figures = [of[architecture][name] for architecture in known]
            cells = [f"{own['registers']}, {own['spilled']}, {own['code']}" for own in figures]
            lines.append(f"| `{name}` | {max(own['shared'] for own in figures)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def spills_of(cubins):
    """A line for each kernel that spills, with what it spills where [bytes]."""
    found = {}
    for (release, architecture), cubin in cubins.items():
        for name, figures in cubin.kernels.items():
            if figures["spilled"] > 0:
                where = f"{figures['spilled']} for {architecture} by ptxas {release}"
                found.setdefault(name, []).append(where)
    return [f"kernel '{name}' spills bytes of registers: {', '.join(where)}" for name, where in sorted(found.items())]


def write_tables(folder, is_check):
    """Compiles, compares, writes; the exit code."""
    ptx = kept_if_same(toolchain.Nvrtc(folder).compile(toolchain.KERNELS / "pliant.cu"))
    cubins = toolchain.assemble(folder, ptx, toolchain.EVERY)
    results = {
        toolchain.PTX: ptx,
        toolchain.HASH: toolchain.sources_hash() + "\n",
        REGISTERS: table_of(cubins),
        COSTS: cost.table_of(folder, cubins, hash_of(ptx.encode())),
    }
    stale = [path for path, text in results.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if is_check:
            print(f"ptx.py: {path.relative_to(ROOT)} is out of date: run cuda/ptx.py", file=sys.stderr)
        else:
            path.write_text(results[path])
            print(f"wrote {path.relative_to(ROOT)}")
    spills = spills_of(cubins)
    for line in spills:
        print(f"ptx.py: {line}", file=sys.stderr)
    return 1 if spills or (is_check and stale) else 0


def hash_of(ptx):
    """As `pliant_cuda::ptx::hash`."""
    return f"{toolchain.fnv(ptx):016x}"


def write_cubins(folder, to):
    """Assembles the repository's PTX, marked with its hash: `src/cubin.rs` reads it."""
    if toolchain.HASH.read_text().strip() != toolchain.sources_hash():
        sys.exit("ptx.py: the PTX is not of these kernels: run cuda/ptx.py first")
    to.mkdir(parents=True, exist_ok=True)
    of = hash_of(toolchain.PTX.read_bytes())
    assembled = toolchain.assemble(folder, toolchain.PTX.read_text(), toolchain.OLDEST)
    for (_, architecture), cubin in assembled.items():
        path = to / f"pliant-{architecture}.cubin"
        mark = f"\npliant cubin for {architecture} of PTX {of}\n"
        path.write_bytes(cubin.path.read_bytes() + mark.encode())
        print(f"wrote {path}, {path.stat().st_size} bytes")
    return 0


def main():
    parser = argparse.ArgumentParser(description="Compiles the kernels to PTX and assembles them.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare with what the repository has, and write nothing")
    what.add_argument("--cubins", type=pathlib.Path, metavar="FOLDER", help="write a cubin for each architecture there")
    parser.add_argument("--tools", type=pathlib.Path, metavar="FOLDER", help="where the compilers are kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pliant-ptx-") as name:
        folder = given.tools or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        toolchain.install(folder)
        return write_cubins(folder, given.cubins) if given.cubins else write_tables(folder, given.check)


if __name__ == "__main__":
    sys.exit(main())
