"""What the transfers and the solve cost, counted in their assembled code; ptx.py writes it to ptx/cost.md."""

import collections
import re
import subprocess

import toolchain

# The kernels of particles and nodes, and those of the contact solve, whose blocks wait for each other.
TRANSFERS = re.compile(r"mpm_(?!sort_|total|sum_).*")
SOLVERS = re.compile(r"convex_.*|boundary_.*")
# The architecture and the release that are counted, and the warp's width.
OF = ("12.0", "sm_90")
WARP = 32
# Memory bandwidth [B/s], multiprocessors, boost clock [Hz], from NVIDIA's data sheets of the H100 SXM5 (2023), the A100 SXM4
# of 80 GB (2021) and the Ada white paper (2022). A multiprocessor issues four warp instructions a cycle (CUDA C++
# Programming Guide, on compute capabilities 8.x and 9.0).
DEVICES = {"H100 SXM5": (3.35e12, 132, 1.98e9), "A100 SXM4 80 GB": (2.039e12, 108, 1.41e9), "RTX 4090": (1.008e12, 128, 2.52e9)}
ISSUED = 4

Instruction = collections.namedtuple("Instruction", "text operation guarded labels")


def kernels_of(folder, cubin):
    """Instructions of each function, as nvdisasm prints them: name to list."""
    tool = folder / "nvidia" / "cu13" / "bin" / "nvdisasm"
    tool.chmod(0o755)
    text = subprocess.run([str(tool), "--print-code", str(cubin)], capture_output=True, text=True, check=True).stdout
    functions, labels, code = {}, [], None
    for line in text.splitlines():
        if section := re.match(r"\t\.section\t\.text\.([^,]+),", line):
            code, labels = functions.setdefault(section.group(1), []), []
        elif label := re.match(r"(\.L_\w+):", line):
            labels.append(label.group(1))
        elif code is not None and (found := re.match(r"\s+/\*[0-9a-f]+\*/\s+(@!?U?P\w+\s+)?([A-Z0-9_.]+)([^;]*);", line)):
            code.append(Instruction(found.group(3), found.group(2), bool(found.group(1)), labels))
            labels = []
    return functions


def successors_of(code):
    """For each instruction those that may be next. Calls return; a barrier of convergence goes on where it was set to."""
    place = {label: k for k, own in enumerate(code) for label in own.labels}

    def target(own):
        found = re.search(r"`\((\.L_\w+)\)", own.text)
        return place.get(found.group(1)) if found else None

    set_at = collections.defaultdict(list)
    for k, own in enumerate(code):
        if own.operation.startswith("BSSY"):
            set_at[own.text.split(",")[0].strip()].append((k, target(own)))
    result = []
    for k, own in enumerate(code):
        name, ways = own.operation.split(".")[0], set()
        if name == "BRA":
            ways.add(target(own))
        elif name == "BSYNC":
            pairs = set_at[own.text.strip()]
            around = [to for start, to in pairs if to is not None and start < k < to]
            ways.update([min(around)] if around else [to for _, to in pairs])
        if own.guarded or name not in ("BRA", "BSYNC", "EXIT", "RET", "BRX", "JMP"):
            ways.add(k + 1)
        result.append({way for way in ways if way is not None and way < len(code)})
    return result


def blocks_of(code, successors):
    """Basic blocks as ranges, and their successors by number; only those that are reached."""
    starts = {0} | {k + 1 for k in range(len(code) - 1) if successors[k] != {k + 1}}
    starts |= {way for k, ways in enumerate(successors) for way in ways if ways != {k + 1}}
    order = sorted(starts)
    number = {start: b for b, start in enumerate(order)}
    ranges = [range(start, end) for start, end in zip(order, [*order[1:], len(code)])]
    after = [{number[way] for way in successors[own[-1]]} for own in ranges]
    reached, todo = {0}, [0]
    while todo:
        for b in after[todo.pop()] - reached:
            reached.add(b)
            todo.append(b)
    return ranges, after, reached


def loops_of(code):
    """Natural loops (a back edge goes to a block that dominates it): instructions of each, by its first."""
    ranges, after, reached = blocks_of(code, successors_of(code))
    before = collections.defaultdict(set)
    for b in reached:
        for way in after[b]:
            before[way].add(b)
    everything = set(reached)
    dominators = {b: everything for b in reached}
    dominators[0] = {0}
    changed = True
    while changed:
        changed = False
        for b in sorted(reached - {0}):
            own = set.intersection(*(dominators[a] for a in before[b])) | {b}
            changed, dominators[b] = changed or own != dominators[b], own
    loops = collections.defaultdict(set)
    for b in reached:
        for head in after[b] & dominators[b]:
            body, todo = {head, b}, [b]
            while todo:
                at = todo.pop()
                todo += [] if at == head else [a for a in before[at] if a not in body]
                body |= before[at] if at != head else set()
            loops[head] |= body
    return [{k for b in body for k in ranges[b]} for _, body in sorted(loops.items())]


def width(operation):
    """Bytes that a thread moves."""
    for part in operation.split(".")[1:]:
        if part in ("U8", "S8", "8", "U16", "S16", "16", "64", "128"):
            return int(part.lstrip("US")) // 8
    return 4


def counts_of(code, members):
    """Instructions, bytes of global memory of a thread, accesses of shared memory, barriers of the block."""
    found = collections.Counter()
    for k in members:
        operation = code[k].operation
        name = operation.split(".")[0]
        if name == "NOP":
            continue
        found["instructions"] += 1
        if name in ("LDG", "LD"):
            found["read"] += width(operation)
        elif name in ("STG", "ST"):
            found["written"] += width(operation)
        elif name in ("ATOM", "ATOMG", "RED", "REDG"):
            found["atomics"] += 1
        elif name in ("LDS", "STS", "ATOMS"):
            found["shared"] += 1
        elif name in ("BAR", "BARRIER"):
            found["barriers"] += 1
    return found


class Kernel:
    """The loops of a kernel, each without those within it: depth and counts. Waits by the loop they are in, 0 for none."""

    def __init__(self, code):
        loops = loops_of(code)
        self.whole = counts_of(code, range(len(code)))
        self.loops = []
        self.waits = collections.Counter()
        for own in loops:
            around = [n for n, other in enumerate(loops, 1) if own < other]
            inner = set().union(*(other for other in loops if other < own))
            counts = counts_of(code, own - inner)
            self.loops.append((len(around) + 1, counts))
            # Nothing but one word that is read again and again: blocks wait for the others.
            if counts["instructions"] <= 8 and counts["read"] == 4 and set(counts) == {"instructions", "read"}:
                self.waits[min(around, key=lambda n: len(loops[n - 1]), default=0)] += 1

    def of_particles(self):
        """The outermost loop that moves most bytes; none where no outermost loop moves any."""
        outermost = [counts for depth, counts in self.loops if depth == 1]
        most = max(outermost, key=lambda counts: counts["read"] + counts["written"], default=None)
        return most if most and most["read"] + most["written"] > 0 else None


COLUMNS = ["instructions", "read", "written", "atomics", "shared", "barriers"]


def loop_table(kernels):
    lines = ["| kernel | loop | instructions | read | written | atomics | shared | barriers |", "|---|---|" + "---:|" * 6]
    for name, kernel in kernels.items():
        rows = [("all", kernel.whole)] + [(f"{n}, depth {depth}", own) for n, (depth, own) in enumerate(kernel.loops, 1)]
        for loop, counts in rows:
            lines.append(f"| `{name}` | {loop} | " + " | ".join(str(counts[key]) for key in COLUMNS) + " |")
    return lines


def wait_table(kernels):
    lines = ["| kernel | loop | instructions | waits |", "|---|---|---:|---:|"]
    for name, kernel in kernels.items():
        for loop, waits in sorted(kernel.waits.items()):
            depth, counts = kernel.loops[loop - 1] if loop else (0, kernel.whole)
            where = f"{loop}, depth {depth}" if loop else "outside"
            lines.append(f"| `{name}` | {where} | {counts['instructions']} | {waits} |")
    return lines


def predictions(kernels):
    lines = ["| kernel | bytes | warp instructions | " + " | ".join(f"{name} [ps]" for name in DEVICES) + " |"]
    lines.append("|---|---:|---:|" + "---:|" * len(DEVICES))
    for name, kernel in kernels.items():
        counts = kernel.of_particles()
        if counts is None:
            continue
        moved, issued = counts["read"] + counts["written"], counts["instructions"] / WARP
        times = []
        for bandwidth, multiprocessors, clock in DEVICES.values():
            by_memory, by_issue = moved / bandwidth, issued / (ISSUED * multiprocessors * clock)
            times.append(f"{1e12 * by_memory:.0f}, {1e12 * by_issue:.0f}")
        lines.append(f"| `{name}` | {moved} | {issued:.1f} | " + " | ".join(times) + " |")
    return lines


def table_of(folder, cubins, ptx_hash):
    """ptx/cost.md."""
    functions = kernels_of(folder, cubins[OF].path)
    transfers, solvers = (
        {name: Kernel(functions[name]) for name in sorted(functions) if which.fullmatch(name)} for which in (TRANSFERS, SOLVERS)
    )
    return "\n".join([
        "# Costs, counted in the code",
        "",
        f"Written by `cuda/ptx.py` of PTX {ptx_hash}, from the code of ptxas {OF[0]} for {OF[1]}.",
        "",
        "## Loops",
        "",
        "An iteration of each loop without the loops within it: instructions of a warp, bytes of global",
        "memory read and written by a thread, atomic operations on global memory, accesses of shared",
        "memory, barriers of the block. A loop is what a branch back to a block that dominates it",
        "encloses. All its instructions count, those of both sides of a branch and of unrolled copies",
        "too: an upper bound of what a warp issues in an iteration. Functions that are called are not",
        "among them. Loops are in the order of the code.",
        "",
        *loop_table(transfers),
        "",
        "## Waits of the whole grid",
        "",
        "Places in each loop where all blocks wait for each other, without those in loops within it;",
        "outside of loops with the instructions of the whole kernel. A place that is passed on some ways",
        "only counts. In the solve, the loop of depth 1 is an iteration of Newton's method; of depth 2",
        "are conjugate gradients and the line search.",
        "",
        *wait_table(solvers),
        "",
        "## Predicted times",
        "",
        "**Predicted; nothing was measured.** Of the outermost loop that moves most bytes, for one of its",
        "items (a particle or a node) and without the loops within: bytes of global memory, warp",
        "instructions (a warp has 32 items), then for each device the picoseconds that its memory and its",
        "issue of instructions take at least. The larger of the two bounds the kernel, on a device that",
        "is full. Caches make bytes cheaper, branches that are not taken make both smaller. Data:",
        "`cuda/cost.py`.",
        "",
        *predictions(transfers),
    ]) + "\n"
