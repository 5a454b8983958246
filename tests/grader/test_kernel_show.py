"""The screen of `grader kernel` from evidence made up here: neither torch nor triton is needed."""

import io
import re

import pytest
from rich.console import Console

from grader.kernel_report.needed import needed
from grader.kernel_report.show import failures, faults, show
from grader.kernel_report.task import Answer, SecondLook, Tensor
from grader.kernel_report.words import bytes_text, count_text, kib_text, plural, shape_text, time_text
from grader.kernels.evidence import (
    CallEvidence,
    CompiledLaunch,
    Finding,
    Launch,
    Place,
    TensorTraffic,
    TorchWork,
)
from grader.kernels.speed_of_light import speed_of_light
from specs.gpu import gpu

H100 = gpu("h100-sxm")
X = Tensor(name="x", shape=(128, 256), dtype="bfloat16", bytes=65536)
LAUNCH = Launch(
    kernel="copy_kernel",
    grid=(8, 2),
    config={"BLOCK": 64, "num_warps": 4},
    tensors=(
        TensorTraffic(tensor="x", shape=X.shape, dtype=X.dtype, read_bytes=131072, unique_read_bytes=65536),
        TensorTraffic(
            tensor="out", shape=X.shape, dtype=X.dtype, written_bytes=65536, unique_written_bytes=65536
        ),
    ),
)
COMPILED = CompiledLaunch(
    kernel="copy_kernel",
    compiles=True,
    registers=40,
    threads=128,
    shared_bytes=40960,
    blocks_per_sm=4,
    occupancy=0.25,
    limited_by="registers",
    wide_loads=2,
)
FINDING = Finding(
    kind="out_of_bounds_load",
    kernel="copy_kernel",
    place=Place(file="/home/ann/copy.py", line=12, source="x = tl.load(p)"),
    message="copy_kernel line 12 `x = tl.load(p)`: loads row 128 of 128 of x: mask the tail",
)


def _ran(*findings: Finding, launches: tuple[Launch, ...] = (LAUNCH,), **fields: object) -> Answer:
    evidence = CallEvidence(launches=launches, findings=findings, torch=TorchWork(ops={"aten.empty_like": 1}))
    known = {"called": True, "dtype": "bf16", "inputs": (X,), "outputs": (X,), "evidence": evidence}
    return Answer.model_validate({**known, **fields})


def _screen(ran: Answer, *compiled: CompiledLaunch, width: int = 100, tty: bool = False, **fields) -> str:
    built = Answer(called=True, compiled=compiled, **fields)
    bound = speed_of_light(ran.evidence, H100, compiled) if ran.evidence.launches else None
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=tty, no_color=tty, highlight=False)
    show(console, "copy.py:copy", ran, built, bound, needed(ran, "copy", H100, backward=False), H100)
    return file.getvalue()


def test_a_clean_report_says_what_ran_what_moved_and_how_it_compiled():
    """Tensors by name, bytes, registers, shared memory, the bound, and the verdict last."""
    screen = _screen(_ran(), COMPILED)
    for text in (
        "copy.py:copy  bf16  x 128×256",
        "copy_kernel  16 programs (8×2)  BLOCK=64 num_warps=4",
        "131 kB  65.5 kB",
        "40 registers a thread, no spills; 128 threads and 40 KiB of 227 KiB shared memory a block",
        "4 blocks on an SM at once, 25% of its threads (limit: registers)",
        "16 programs for 132 SMs, 116 of them idle",
        "131 kB of inputs and outputs moved once",
        "nothing was timed",
    ):
        assert text in " ".join(screen.split()) or text in screen, text
    assert "no fault found; whether the values" in screen


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("tty", [True, False])
def test_lines_fit_the_terminal_and_are_never_longer_than_a_hundred(width, tty):
    """Words stay whole; a pipe gets 100 columns and no escape code."""
    screen = _screen(_ran(FINDING, problem=FINDING.message), COMPILED, width=width, tty=tty)
    limit = min(width, 100) if tty else 100
    assert tty or "\x1b" not in screen
    plain = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    assert max(map(len, plain.splitlines())) <= limit
    assert len(screen.splitlines()) <= 40


def test_a_fault_comes_before_everything_else_with_its_line_and_remedy():
    """And once, though the run ended with the same message."""
    ran = _ran(FINDING, problem=FINDING.message)
    screen = _screen(ran, COMPILED)
    assert screen.index("OUT-OF-BOUNDS LOAD  copy.py:12") < screen.index("copy_kernel  16")
    assert "mask the tail" in screen
    assert screen.count("loads row 128 of 128") == 1
    assert "stopped here and counted up to there" in " ".join(screen.split())
    assert faults(ran) == (FINDING,)
    assert failures(ran, Answer()) == []
    assert screen.splitlines()[-1] == "result     1 fault, see above"


def test_a_fault_of_the_second_look_says_at_which_sizes():
    """And how to say that the function is not meant for them."""
    odd = X.model_copy(update={"shape": (125, 253)})
    ran = _ran(second_look=SecondLook(inputs=(odd,), evidence=CallEvidence(findings=(FINDING,))))
    screen = _screen(ran, COMPILED)
    assert "copy.py:12, only with x 125×253" in screen
    assert "say what it is for" in screen
    assert faults(ran) == (FINDING,)


@pytest.mark.parametrize("inputs", [(), (Tensor(name="ids", shape=(8,), dtype="int64", bytes=64),)])
def test_a_dtype_that_no_tensor_has_is_not_shown(inputs):
    """Of a function of sizes alone, or of integers, nobody asked it."""
    with_one = _screen(_ran()).splitlines()[0]
    without = _screen(_ran(inputs=inputs, others={"n": 8})).splitlines()[0]
    assert "bf16" in with_one
    assert "bf16" not in without
    assert "n=8" in without


def test_sizes_that_the_function_refuses_are_no_fault():
    """An assert in the host code is a contract."""
    look = SecondLook(inputs=(X,), problem="AssertionError at copy.py, line 3: whole tiles only")
    screen = " ".join(_screen(_ran(second_look=look), COMPILED).split())
    assert "no fault found; sizes that no tile divides are refused" in screen
    assert "whole tiles only" in screen


def test_what_does_not_compile_is_told_with_the_students_line():
    """Message, place, and the count at the end; configs of an autotuner by number."""
    place = Place(file="/home/ann/copy.py", line=7, source="tl.arange(0, 100)")
    broken = COMPILED.model_copy(
        update={"compiles": False, "message": "use next_power_of_2", "error_place": place, "registers": 0}
    )
    screen = _screen(_ran(), broken)
    assert "copy.py:7 `tl.arange(0, 100)`: use next_power_of_2" in screen
    assert screen.splitlines()[-1] == "result     1 launch that cannot run on sm_90, see above"
    tuned = broken.model_copy(update={"config_index": 2, "config_count": 3, "config": {"BM": 256}})
    screen = _screen(_ran(), COMPILED, tuned)
    assert "config 3 (BM=256)" in screen
    assert "no fault found" in screen.splitlines()[-1]


def test_equal_launches_are_shown_once_and_many_kinds_are_cut():
    """Five launches of one kind; and then seven kinds."""
    assert "launched 5 times" in _screen(_ran(launches=(LAUNCH,) * 5))
    many = tuple(LAUNCH.model_copy(update={"grid": (n,)}) for n in range(1, 8))
    assert "… and 3 more kinds of launches" in _screen(_ran(launches=many))


def test_an_error_of_the_host_code_is_told_once_though_both_processes_met_it():
    """Compiling meets the same error; another one is named."""
    ran = _ran(problem="ValueError at copy.py, line 3: no", launches=())
    assert failures(ran, Answer(problem=ran.problem)) == [ran.problem]
    assert failures(ran, Answer(problem="TypeError")) == [ran.problem, "TypeError (while compiling)"]


def test_nothing_that_a_file_says_reaches_the_terminal_as_a_command():
    """An escape sequence in a message."""
    wild = FINDING.model_copy(update={"message": "loads \x1b[2Jx"})
    assert "\x1b" not in _screen(_ran(wild, problem="\x1b]0;title\x07 gone"))


def _attention(others: dict[str, object], k: tuple[int, ...] = (2, 256, 64)) -> Answer:
    q = Tensor(name="q", shape=(4, 256, 64), dtype="bfloat16", bytes=131072)
    key = Tensor(name="k", shape=k, dtype="bfloat16", bytes=65536)
    return Answer(
        inputs=(q, key, key.model_copy(update={"name": "v"})), outputs=(q,), others=others, dtype="bf16"
    )


def test_what_attention_needs_comes_from_its_shapes():
    """4·H·T²·D; causal half of it and half a diagonal, aligned bottom-right; three times with a backward."""
    full = needed(_attention({"causal": False}), "flash", H100, backward=False)
    assert full is not None
    assert full.family == "attention"
    assert full.flops == 4 * 4 * 256 * 256 * 64
    assert full.bytes == 2 * 131072 + 2 * 65536
    assert full.time_s == pytest.approx(
        full.bytes / H100.hbm_bytes_per_s
    )  # short, so that memory takes longer
    causal = needed(_attention({"is_causal": True}), "flash", H100, backward=False)
    assert causal is not None
    assert causal.flops == 4 * 4 * (256 * 257 // 2) * 64
    assert needed(_attention({}), "flash", H100, backward=False) == causal  # it may be, and does not say
    long = needed(_attention({"causal": True}, k=(2, 300, 64)), "flash", H100, backward=False)
    assert long is not None
    assert long.flops == 4 * 4 * (256 * 257 // 2 + 256 * 44) * 64
    backward = needed(_attention({"causal": False}), "flash", H100, backward=True)
    assert backward is not None
    assert backward.flops == 3 * full.flops


def _matrices(*shapes: tuple[int, int], out: tuple[int, int]) -> Answer:
    made = [Tensor(name=n, shape=s, dtype="float32", bytes=0) for n, s in zip("ab", shapes, strict=True)]
    return Answer(inputs=tuple(made), outputs=(Tensor(shape=out, dtype="float32", bytes=0),))


def test_a_matmul_is_told_from_a_sum_of_matrices():
    """2·M·N·K in TF32 for fp32 tensors; square matrices count as a matmul only by the function's name."""
    product = needed(_matrices((128, 64), (64, 256), out=(128, 256)), "f", H100, backward=False)
    assert product is not None
    assert (product.family, product.flops, product.dtype) == ("matmul", 2 * 128 * 64 * 256, "tf32")
    square = _matrices((64, 64), (64, 64), out=(64, 64))
    for name, family in (("add", ""), ("matmul", "matmul")):
        told = needed(square, name, H100, backward=False)
        assert told is not None
        assert told.family == family
    assert needed(Answer(inputs=(X,)), "f", H100, backward=False) is None


def test_numbers_are_written_with_three_digits_and_a_unit():
    """Decimal bytes, binary shared memory, times."""
    assert [bytes_text(n) for n in (0, 999, 1000, 65536, 999_999)] == [
        "0 B",
        "999 B",
        "1 kB",
        "65.5 kB",
        "1 MB",
    ]
    assert count_text(33_554_432) == "33.6 M"
    assert count_text(12) == "12 "
    assert [kib_text(n) for n in (16, 40960)] == ["16 B", "40 KiB"]
    assert [time_text(t) for t in (1.5, 2e-3, 3.456e-6, 5.6e-7)] == ["1.5 s", "2 ms", "3.46 µs", "560 ns"]
    assert plural(1, "program") == "1 program"
    assert plural(1234, "program") == "1,234 programs"
    assert shape_text(()) == "scalar"
