"""What ptxas makes of PTX: registers, local and shared memory, and which instructions.

Works with the tools that triton's wheel carries and never imports triton: the judge uses it too, on PTX that an
untrusted process handed over.
"""

import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from .targets import SHARED_RESERVED_BYTES, Target, target_named

PTX_LIMIT_BYTES = 4_000_000
ASSEMBLE_SECONDS = 60.0
CUBIN_LIMIT_BYTES = 16_000_000

# What is never closed reaches to the end: a search that failed there would begin anew at each of a million openings.
COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
ENTRY = re.compile(r"\.entry\s+([\w$]+)")
NEEDED_THREADS = re.compile(r"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
RESOURCES = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")

# The low bits of an instruction of 128 bits: nine name the operation, three more the form of its operands. Read off
# the listings of nvdisasm for sm_80, sm_89 and sm_90; a test compares the counts with its own, since starting it
# costs 0.6 s a kernel.
OPERATION_BITS = 0x1FF
FFMA = {0x023}
WARP_MMA = {0x03C, 0x037, 0x03F, 0x07A}  # HMMA, IMMA, DMMA, QMMA
WARPGROUP_MMA = {0x1F0, 0x1F1, 0x1F3}  # HGMMA, IGMMA, QGMMA
GLOBAL_LOAD = {0x181, 0x1AE}  # LDG, LDGSTS
LOCAL_ACCESS = {0x183, 0x187}  # LDL, STL
BULK_LOAD = 0x5B4  # UTMALDG, with the bits of its form
WIDTH_SHIFT, WIDTH_BITS, WIDTH_128 = (
    9,
    0x7,
    6,
)  # of the upper 64 bits: 0 to 3 bytes and halves, 4 is 32 bits, 5 is 64


class ToolError(RuntimeError):
    """A tool of triton's wheel is missing, failed or refused its input; one line."""


class Resources(BaseModel):
    """What one kernel takes, as the assembler says."""

    model_config = ConfigDict(frozen=True)

    registers: int
    spill_bytes: int
    """Local memory of one thread, stack included."""
    shared_bytes: int
    """Static shared memory of one block; the dynamic part stands nowhere in PTX."""


class Instructions(BaseModel):
    """How often an instruction stands in the machine code (not how often it runs)."""

    model_config = ConfigDict(frozen=True)

    hgmma: int = 0
    hmma: int = 0
    ffma: int = 0
    wide_loads: int = 0
    narrow_loads: int = 0
    local_accesses: int = 0
    """Loads and stores of local memory: what a spill becomes."""


class Assembled(Resources, Instructions):
    """A kernel assembled again from its PTX."""

    kernel: str
    threads: int
    """Of one block, as the PTX demands with .reqntid; 0 where it does not."""


@lru_cache(maxsize=8)
def tool(name: str) -> Path:
    """Return the path of `ptxas` or `cuobjdump` in the installed triton, found without importing it.

    Raises:
        ToolError: triton is not installed, or its wheel carries no such tool.
    """
    spec = find_spec("triton")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "backends" / "nvidia" / "bin" / name
        if path.is_file():
            return path
    raise ToolError(
        f"{name} is not there: install triton from its Linux wheel (pip install 'rooflab[kernels]')"
    )


def assemble(ptx: str, target: str = "sm_90") -> Assembled:
    """Assemble PTX for a target and say what the kernel takes; nothing in the text is believed.

    Raises:
        ToolError: more than 4 MB, not exactly one kernel, not valid for the target, or ptxas takes too long.
        UnknownTarget: there is no such target.
    """
    wanted = target_named(target)
    if len(ptx.encode("utf-8", "surrogatepass")) > PTX_LIMIT_BYTES:
        raise ToolError(f"the PTX is larger than {PTX_LIMIT_BYTES} bytes")
    code = COMMENT.sub(" ", ptx)
    entries = ENTRY.findall(code)
    if len(entries) != 1:
        raise ToolError(f"the PTX has {len(entries)} kernels: exactly one is expected")
    needed = NEEDED_THREADS.search(code)
    threads = 1
    for extent in needed.groups("1") if needed else ("0",):
        threads *= int(extent)
    with tempfile.TemporaryDirectory(prefix="rooflab-ptx-") as folder:
        source, cubin = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx, encoding="utf-8", errors="replace")
        _run(
            "ptxas", *_assembler_options(), f"--gpu-name={wanted.architecture}", str(source), "-o", str(cubin)
        )
        binary = cubin.read_bytes()
    taken = resources(binary, wanted)
    return Assembled(
        kernel=entries[0], threads=threads, **taken.model_dump(), **instructions(binary).model_dump()
    )


def _assembler_options() -> tuple[str, ...]:
    """Return the options that the installed triton gives ptxas: registers depend on them."""
    try:
        major, minor = (int(part) for part in version("triton").split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return ("-lineinfo",)
    # Read in backends/nvidia/compiler.py of 3.6.0 (without), 3.7.1 and 3.8.0 (with).
    return ("-lineinfo", "--regAllocOptLevel=2") if (major, minor) >= (3, 7) else ("-lineinfo",)


def resources(cubin: bytes, target: Target) -> Resources:
    """Return what the one kernel of a cubin takes, by `cuobjdump -res-usage` (10 ms).

    Raises:
        ToolError: the tool failed, or names no kernel.
    """
    if len(cubin) > CUBIN_LIMIT_BYTES:
        raise ToolError(f"the compiled code is larger than {CUBIN_LIMIT_BYTES} bytes")
    with tempfile.TemporaryDirectory(prefix="rooflab-cubin-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        found = RESOURCES.findall(_run("cuobjdump", "-res-usage", str(path)))
    if not found:
        raise ToolError("cuobjdump names no kernel in the compiled code")
    registers, stack, shared, local = (max(int(row[column]) for row in found) for column in range(4))
    # For 9.0 cuobjdump counts the system's 1 KiB as the kernel's; ptxas -v does not, nor either for 8.x.
    reserved = SHARED_RESERVED_BYTES if target.capability >= 90 else 0
    return Resources(registers=registers, spill_bytes=stack + local, shared_bytes=max(0, shared - reserved))


def instructions(cubin: bytes) -> Instructions:
    """Count the instructions of a cubin that the report names.

    Raises:
        ToolError: it is no 64-bit ELF file.
    """
    found = dict.fromkeys(Instructions.model_fields, 0)
    try:
        for low, high in _words(cubin):
            operation = low & OPERATION_BITS
            if operation in FFMA:
                found["ffma"] += 1
            elif operation in WARP_MMA:
                found["hmma"] += 1
            elif operation in WARPGROUP_MMA:
                found["hgmma"] += 1
            elif operation in GLOBAL_LOAD:
                wide = high >> WIDTH_SHIFT & WIDTH_BITS == WIDTH_128
                found["wide_loads" if wide else "narrow_loads"] += 1
            elif operation in LOCAL_ACCESS:
                found["local_accesses"] += 1
            elif low & 0xFFF == BULK_LOAD:
                found["wide_loads"] += 1
    except (struct.error, OverflowError) as broken:
        raise ToolError("the compiled code is no ELF file that can be read") from broken
    return Instructions(**found)


def _words(cubin: bytes) -> Iterator[tuple[int, int]]:
    """Yield the lower and upper half of every instruction: the sections .text.* of a 64-bit ELF file."""
    if cubin[:5] != b"\x7fELF\x02":
        raise ToolError("the compiled code is no 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    entry_bytes, entries, names_index = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table + n * entry_bytes) for n in range(entries)]
    names_at = sections[names_index][4] if names_index < entries else 0
    for name, _, _, _, offset, size in sections:
        if cubin[names_at + name :].startswith(b".text."):
            yield from struct.iter_unpack("<QQ", cubin[offset : offset + size])


def _run(name: str, *arguments: str) -> str:
    """Run a tool with none of this process's environment and return its standard output."""
    path = tool(name)
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": tempfile.gettempdir()}
    try:
        done = subprocess.run(
            [str(path), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASSEMBLE_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired as late:
        raise ToolError(f"{name} ran for more than {ASSEMBLE_SECONDS:.0f} s") from late
    except OSError as broken:
        raise ToolError(f"{name} cannot be started: {broken.strerror}") from broken
    if done.returncode != 0:
        raise ToolError(f"{name} failed: {first_complaint(done.stderr or done.stdout)}")
    return done.stdout


def first_complaint(log: str) -> str:
    """Return the first line of a tool's log that says what is wrong, without the folders of temporary files."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    chosen = next((line for line in lines if re.search(r"\b(error|fatal)\b", line, re.I)), "")
    chosen = chosen or (lines[0] if lines else "it gives no reason")
    chosen = re.sub(r"^ptxas\s+(\S*?,\s*)?(line \d+\s*;\s*)?(error|fatal)\s*:\s*", "", chosen)
    return re.sub(r"/[^\s']*/(?=[^\s'/]+\.(ptx|cubin))", "", chosen)[:300]
