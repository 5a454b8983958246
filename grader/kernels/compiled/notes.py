"""Sentences on what to look at in a compiled kernel, each with its remedy."""

import re
from collections.abc import Mapping
from math import prod
from typing import Any

from ..evidence import CompiledLaunch
from ..places import is_students
from .machine_code import Instructions
from .targets import THREADS_PER_BLOCK, Target

# A dot as triton's first representation prints it; "ieee" is what it leaves out.
DOT = re.compile(
    r"tt\.dot (?P<options>[^:\n]*) : tensor<(?P<m>\d+)x(?P<k>\d+)x(?P<dtype>\w+)> \* "
    r"tensor<\d+x(?P<n>\d+)x\w+> -> [^\n]*? loc\((?P<loc>#\w+)\)"
)
# A load of a block: its shape, and the bits of an element.
LOAD = re.compile(r"tt\.load [^\n]*? : tensor<((?:\d+x)+)!tt\.ptr<(?:bf|f|i|f8E\w+?M)(\d+)\w*>")
# A reduction over a block of three dimensions: what a matrix product becomes without tl.dot.
BLOCK_OF_THREE = re.compile(r"\}\) : \(tensor<\d+x\d+x\d+x\w+[^)]*\) -> ")
# ptxas spills a little by choice, to fit one more block on an SM: 8 B beside 80 registers was seen in a plain matmul.
SPILL_WORTH_A_NOTE_BYTES = 32
WARPGROUP_WARPS = 4
WARPGROUP_ROWS = 64


class Dot:
    """One tl.dot of the kernel, as triton's first representation has it."""

    def __init__(self, found: re.Match[str], line: int) -> None:
        self.shape = f"{found['m']}×{found['n']}×{found['k']}"
        self.rows = int(found["m"])
        self.dtype = found["dtype"]
        precision = re.search(r"inputPrecision = (\w+)", found["options"])
        self.ieee = found["dtype"] == "f32" and (precision is None or precision[1] == "ieee")
        self.where = f"line {line}" if line else "a tl.dot"


def dots_of(ttir: str) -> list[Dot]:
    """Return the dots of a kernel, with the lines of their source where it tells them."""
    places = dict(re.findall(r"^(#\w+) = loc\((.*)\)$", ttir, re.MULTILINE))
    return [Dot(found, _line(places, found["loc"])) for found in DOT.finditer(ttir)]


def _line(places: Mapping[str, str], name: str) -> int:
    """Follow a location through names and calls to the first line of a student's file; 0 where there is none."""
    waiting, seen = [name], set()
    while waiting:
        name = waiting.pop(0)
        text = places.get(name, "") if name not in seen else ""
        seen.add(name)
        direct = re.search(r'"([^"]*)":(\d+):\d+', text)
        if direct and is_students(direct[1]):
            return int(direct[2])
        waiting += re.findall(r"#\w+", text)
    return 0


def cannot_run(target: Target, *, shared_bytes: int, threads: int, config: Mapping[str, Any]) -> str:
    """Return why a kernel that compiles cannot be launched on the target, with the remedy; "" when it can."""
    over = shared_bytes - target.shared_bytes_per_block
    if over > 0:
        stages = config.get("num_stages", 1)
        tiles = ", ".join(f"{name}={value}" for name, value in config.items() if _is_tile(name, value))
        remedies = [f"num_stages (now {stages})"] if isinstance(stages, int) and stages > 1 else []
        remedies.append(f"the tile ({tiles})" if tiles else "the tile")
        return (
            f"compiles, but cannot run on {target.name}: one block needs {shared_bytes:,} B of shared memory, "
            f"{over:,} B over the {target.shared_bytes_per_block:,} B ({target.gpu.smem_kib_per_block} KiB) that it "
            f"can have; lower {' or '.join(remedies)}"
        )
    if threads > THREADS_PER_BLOCK:
        return (
            f"compiles, but cannot run: a block of {threads:,} threads is over {THREADS_PER_BLOCK:,}; "
            f"lower num_warps (now {config.get('num_warps')})"
        )
    return ""


def _is_tile(name: str, value: Any) -> bool:
    options = ("num_warps", "num_stages", "num_ctas", "maxnreg")
    return isinstance(value, int) and not isinstance(value, bool) and value >= 16 and name not in options


def notes_on(
    launch: CompiledLaunch, counted: Instructions, ttir: str, unaligned: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the sentences on one compiled kernel; `unaligned` are its pointers and sizes not divisible by 16."""
    notes = []
    if launch.spill_bytes >= SPILL_WORTH_A_NOTE_BYTES and counted.local_accesses:
        notes.append(
            f"spills {launch.spill_bytes} B a thread to local memory, in {counted.local_accesses} loads and stores "
            f"beside its {launch.registers} registers: fewer rows per tile or more warps "
            f"(num_warps is {launch.config.get('num_warps')})"
        )
    notes += _on_tensor_cores(launch, counted, ttir)
    loads = counted.narrow_loads + counted.wide_loads
    if counted.narrow_loads > counted.wide_loads and loads >= 4 and _could_be_wide(launch, ttir):
        notes.append(
            f"{counted.narrow_loads} of {loads} global loads take fewer than 16 bytes a thread: "
            f"{_why_narrow(launch, ttir, unaligned)}"
        )
    return tuple(notes)


def _could_be_wide(launch: CompiledLaunch, ttir: str) -> bool:
    """Whether a load has 16 bytes for each thread at all: a small block, or a vector of row sums, has not."""
    for shape, bits in LOAD.findall(ttir):
        extents = [int(extent) for extent in shape.split("x") if extent]
        if prod(extents) * int(bits) // 8 >= 16 * launch.threads and max(extents) * int(bits) >= 128:
            return True
    return False


def _why_narrow(launch: CompiledLaunch, ttir: str, unaligned: tuple[str, ...]) -> str:
    if unaligned:
        return (
            f"{_listed(unaligned)} not divisible by 16, and where that is an address, the stride of a row or the "
            "bound of a mask along it, the compiler cannot tell that 16 bytes lie together; pad it, or copy the "
            "tensor to one that is contiguous"
        )
    if launch.hgmma and any(dot.dtype == "f32" for dot in dots_of(ttir)):
        return "Hopper's tf32 multiply wants both operands with K contiguous, and fp32 cannot be transposed on the way"
    return "neighbouring threads must read neighbouring elements; look for a last stride that is not 1, or not known"


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:4]) + (" and others" if len(names) > 4 else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'}"


def _on_tensor_cores(launch: CompiledLaunch, counted: Instructions, ttir: str) -> list[str]:
    dots = dots_of(ttir)
    on_cores = counted.hgmma + counted.hmma
    if not dots:
        if not on_cores and BLOCK_OF_THREE.search(ttir):
            return [
                "no tensor cores: a sum over a block of three dimensions does the work of a matrix product on the "
                f"fp32 units ({counted.ffma} FFMA); use tl.dot"
            ]
        return []
    exact = [dot for dot in dots if dot.ieee]
    if exact:
        lines = ", ".join(dict.fromkeys(dot.where for dot in exact))
        start = "no tensor cores" if not on_cores else "not every dot is on the tensor cores"
        return [
            f'{start}: {lines} multiplies fp32 with input_precision="ieee", which runs on the fp32 units '
            f"({counted.ffma} FFMA); cast the operands to bf16 or fp16, or allow tf32"
        ]
    if not on_cores:
        shapes = ", ".join(dict.fromkeys(f"{dot.where}: {dot.shape} {dot.dtype}" for dot in dots))
        return [
            f"no tensor cores, though there are dots ({shapes}; {counted.ffma} FFMA): fp16, bf16, fp8 or tf32 "
            "operands with M, N and K of 16 and more use them"
        ]
    if launch.target == "sm_90" and not counted.hgmma:
        warps = launch.config.get("num_warps")
        small = [dot for dot in dots if dot.rows < WARPGROUP_ROWS]
        why = f"M is {small[0].rows} ({small[0].where})" if small else f"num_warps is {warps}"
        return [
            f"HMMA instead of HGMMA: only the warpgroup multiply reaches Hopper's peak, and it needs M ≥ "
            f"{WARPGROUP_ROWS} and num_warps ≥ {WARPGROUP_WARPS}; {why}"
        ]
    return []
