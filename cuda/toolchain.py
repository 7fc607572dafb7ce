"""NVIDIA's compilers from PyPI, for ptx.py and cost.py: NVRTC, the oldest and the newest ptxas, nvdisasm."""

import concurrent.futures
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
PTX = HERE / "ptx" / "pliant.ptx"
HASH = HERE / "ptx" / "sources.hash"
REQUIREMENTS = HERE / "ptx-requirements.txt"
OPTIONS = ["--gpu-architecture=compute_80", "--std=c++17", f"--include-path={KERNELS}"]
OLD = ["sm_80", "sm_86", "sm_89", "sm_90"]
# ptxas by release, with its folder and the architectures that it must take the PTX for: the oldest knows none of Blackwell.
ASSEMBLERS = {"12.0": ("cuda_nvcc", OLD), "13.5": ("cu13", [*OLD, "sm_100", "sm_120"])}
NO_NETWORK = 3


def fnv(data, value=0xCBF29CE484222325):
    """FNV-1a over bytes without carriage returns, ended with a zero: `Fnv::text` of src/layout.rs."""
    for byte in data.replace(b"\r", b"") + b"\0":
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def sources_hash():
    """Hash of names and texts, as src/ptx.rs computes it."""
    value = 0xCBF29CE484222325
    for path in sorted(path for path in KERNELS.iterdir() if path.suffix in (".cu", ".cuh")):
        value = fnv(path.read_bytes(), fnv(path.name.encode(), value))
    return f"{value:016x}"


def install(folder):
    """Unpacks the pinned wheels into a folder, where they are not there already. Ends with exit code 3 without a network."""
    stamp = folder / "pliant-requirements.txt"
    if stamp.exists() and stamp.read_bytes() == REQUIREMENTS.read_bytes():
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary=:all:", "--retries=1", "--upgrade", f"--target={folder}"]
    command += [f"--requirement={REQUIREMENTS}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        unreachable = "Failed to establish a new connection" in done.stderr or "NameResolution" in done.stderr
        print(done.stderr.strip(), file=sys.stderr)
        if unreachable:
            print("skipped: the package index cannot be reached", file=sys.stderr)
        sys.exit(NO_NETWORK if unreachable else 1)
    stamp.write_bytes(REQUIREMENTS.read_bytes())


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
            sys.exit("the kernels do not compile")
        return self.text(program, "PTX")


class Cubin:
    """Kernels assembled for one architecture: the binary, and what ptxas says of each kernel."""

    REPORT = re.compile(
        r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers([^\n]*)",
        re.DOTALL,
    )

    def __init__(self, path, report):
        self.path = path
        code = code_sizes(path.read_bytes())
        self.kernels = {}
        for name, stores, loads, registers, rest in self.REPORT.findall(report):
            shared = re.search(r"(\d+) bytes smem", rest)
            self.kernels[name] = {
                "registers": int(registers),
                "spilled": int(stores) + int(loads),
                "shared": int(shared.group(1)) if shared else 0,
                "code": code[name],
            }


def code_sizes(image):
    """Bytes of each kernel's code: the sections `.text.NAME` of an ELF file of 64 bits."""
    sections, = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    fields = [struct.unpack_from("<IIQQQQ", image, sections + size * k) for k in range(count)]
    strings = fields[names][4]
    sizes = {}
    for field in fields:
        start = strings + field[0]
        name = image[start : image.index(b"\0", start)].decode()
        if name.startswith(".text."):
            sizes[name.removeprefix(".text.")] = field[5]
    return sizes


# Every release of ptxas with each of its architectures, the oldest first.
EVERY = [(release, architecture) for release, (_, known) in ASSEMBLERS.items() for architecture in known]
# Each architecture with the oldest release that knows it, whose cubins most drivers load.
OLDEST = [(release, architecture) for architecture, release in {name: release for release, name in reversed(EVERY)}.items()]


def assemble(folder, ptx, wanted):
    """A cubin for each pair of a release and an architecture; a refusal ends the program."""
    source = folder / "pliant.ptx"
    source.write_text(ptx)

    def run(release, architecture):
        tool = folder / "nvidia" / ASSEMBLERS[release][0] / "bin" / "ptxas"
        tool.chmod(0o755)
        path = folder / f"{release}-{architecture}.cubin"
        command = [str(tool), "--verbose", f"--gpu-name={architecture}", f"--output-file={path}", str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        report = done.stderr + done.stdout
        if done.returncode != 0:
            raise RuntimeError(f"ptxas {release} refuses the PTX for {architecture}:\n{report}")
        return Cubin(path, report)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            return dict(zip(wanted, pool.map(lambda pair: run(*pair), wanted)))
        except RuntimeError as error:
            sys.exit(str(error))
