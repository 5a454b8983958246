"""Occupancy, targets, and what the judge does with PTX that somebody hands it."""

import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec

import pytest

from grader.kernels.compiled import ToolError, UnknownTarget, assemble, target_named
from grader.kernels.compiled.machine_code import Instructions, instructions, tool
from grader.kernels.compiled.targets import occupancy

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="needs Linux: triton is not there")

KERNEL = """
.version 8.0
.target {target}
.address_size 64
.visible .entry mixed(.param .u64 .ptr .global p)
.reqntid 64, 2
{{
    .shared .b8 room[4096];
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    .reg .b64 %a<3>;
    ld.param.u64 %a0, [p];
    cvta.to.global.u64 %a1, %a0;
    ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%a1];
    ld.global.v2.b32 {{%r4, %r5}}, [%a1+64];
    ld.global.f32 %f0, [%a1+256];
    ld.global.f32 %f1, [%a1+1028];
    fma.rn.f32 %f2, %f0, %f1, 0f3F800000;
    fma.rn.f32 %f3, %f0, %f1, %f2;
    mov.b32 %r6, %f3;
    add.s32 %r7, %r0, %r1;
    add.s32 %r7, %r7, %r2;
    add.s32 %r7, %r7, %r3;
    add.s32 %r7, %r7, %r4;
    add.s32 %r7, %r7, %r5;
    mov.u64 %a2, room;
    st.shared.b32 [%a2], %r7;
    bar.sync 0;
    ld.shared.b32 %r8, [%a2];
    add.s32 %r8, %r8, %r6;
    st.global.b32 [%a1], %r8;
    ret;
}}
"""
ARCHITECTURES = {"sm_80": "sm_80", "sm_89": "sm_89", "sm_90": "sm_90a"}


@pytest.mark.parametrize(
    ("target", "threads", "registers", "shared_bytes", "blocks", "limited_by"),
    [
        # Worked by hand from the guide's limits: 65,536 registers, 164 / 100 / 228 KiB, 1 KiB kept for each block.
        ("sm_80", 256, 32, 0, 8, "registers and threads"),
        (
            "sm_80",
            256,
            33,
            0,
            6,
            "registers",
        ),  # 33·32 = 1,056 → 1,280 a warp: 12 warps a scheduler, 48 of an SM
        ("sm_80", 256, 255, 0, 1, "registers"),
        ("sm_80", 128, 32, 81 * 1024, 2, "shared memory"),  # 2·(81 + 1) = 164
        ("sm_80", 128, 32, 82 * 1024, 1, "shared memory"),
        ("sm_89", 1024, 32, 0, 1, "threads"),
        ("sm_89", 32, 16, 0, 24, "blocks"),
        ("sm_90", 32, 16, 0, 32, "blocks"),
        ("sm_90", 128, 168, 113 * 1024, 2, "shared memory"),  # 2·(113 + 1) = 228
        ("sm_90", 384, 168, 113 * 1024, 1, "registers"),  # 5,376 a warp: 12 warps of an SM
        ("sm_90", 256, 32, 233472, 0, "shared memory"),
    ],
)
def test_occupancy_is_that_of_the_calculator(target, threads, registers, shared_bytes, blocks, limited_by):
    """Each row by hand."""
    found = occupancy(target_named(target), threads=threads, registers=registers, shared_bytes=shared_bytes)
    assert (found.blocks_per_sm, found.limited_by) == (blocks, limited_by)
    assert found.occupancy == blocks * (threads // 32) / (48 if target == "sm_89" else 64)


def test_a_block_has_227_kib_on_hopper():
    """And the other two what their own guides say."""
    assert [target_named(name).shared_bytes_per_block for name in ARCHITECTURES] == [166912, 101376, 232448]


def test_an_unknown_target_lists_those_there_are():
    """One line."""
    with pytest.raises(UnknownTarget, match=r"'sm_70' is not known: choose one of sm_80, sm_89, sm_90"):
        target_named("sm_70")


@needs_triton
@pytest.mark.parametrize("target", ARCHITECTURES)
def test_static_shared_memory_leaves_out_what_the_system_keeps(target):
    """cuobjdump adds 1 KiB for sm_90a alone."""
    found = assemble(KERNEL.format(target=ARCHITECTURES[target]), target)
    assert found.shared_bytes == 4096
    assert (found.kernel, found.threads, found.spill_bytes) == ("mixed", 128, 0)
    assert (found.ffma, found.wide_loads, found.narrow_loads) == (2, 1, 3)


@needs_triton
@pytest.mark.parametrize("target", ARCHITECTURES)
def test_counts_equal_the_disassembler(target, tmp_path):
    """Opcodes read off the bits against the names that nvdisasm prints."""
    source, cubin = tmp_path / "kernel.ptx", tmp_path / "kernel.cubin"
    source.write_text(KERNEL.format(target=ARCHITECTURES[target]))
    subprocess.run(
        [tool("ptxas"), f"--gpu-name={ARCHITECTURES[target]}", source, "-o", cubin], check=True, timeout=60
    )
    listing = subprocess.run(
        [tool("cuobjdump"), "-sass", cubin], check=True, timeout=60, capture_output=True, text=True
    ).stdout
    assert instructions(cubin.read_bytes()) == by_name(listing)


def by_name(listing):
    """Count a listing of `cuobjdump -sass`."""
    names = re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", listing, re.MULTILINE)
    found = Counter()
    for name in names:
        operation = name.split(".")[0]
        if operation in ("LDG", "LDGSTS"):
            found["wide_loads" if ".128" in name else "narrow_loads"] += 1
        for field, operations in {
            "hgmma": ("HGMMA", "IGMMA", "QGMMA"),
            "hmma": ("HMMA", "IMMA", "DMMA", "QMMA"),
            "ffma": ("FFMA",),
            "wide_loads": ("UTMALDG",),
            "local_accesses": ("LDL", "STL"),
        }.items():
            found[field] += operation in operations
    return Instructions(**found)


@needs_triton
@pytest.mark.parametrize(
    ("ptx", "message"),
    [
        ("", "0 kernels"),
        ("x" * 4_000_001, "larger than 4000000 bytes"),
        (".visible .entry f() { ret; }", "ptxas failed"),
        (
            KERNEL.format(target="sm_90a").replace("ret;", "fly;"),
            "Not a name of any known instruction: 'fly'",
        ),
        (
            '.version 8.0\n.target sm_90a\n.address_size 64\n.file 1 "/etc/passwd"\n.entry f() { bogus',
            "ptxas failed",
        ),
        (".entry \ud800", "0 kernels"),
        pytest.param(
            "/* " * 1_300_000, "0 kernels", id="comments without end: hours, if each were sought for"
        ),
    ],
)
def test_bad_ptx_is_refused_in_one_line(ptx, message):
    """Whatever was handed over."""
    with pytest.raises(ToolError) as refused:
        assemble(ptx)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "/tmp" not in str(refused.value)


@pytest.mark.parametrize("cubin", [b"", b"\x7fELF\x01", b"\x7fELF\x02", b"\x7fELF\x02" + b"\xff" * 80])
def test_what_is_no_elf_file_is_refused(cubin):
    """Never an IndexError."""
    with pytest.raises(ToolError, match="ELF"):
        instructions(cubin)


@needs_triton
def test_the_judge_imports_no_triton():
    """Assembling is for a process that never meets a student's code, nor the compiler that meets it."""
    code = (
        "import sys; from grader.kernels.compiled import assemble\n"
        "try: assemble('')\n"
        "except Exception: pass\n"
        "print([name for name in ('triton', 'torch') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
