"""The H100 report says of every kernel what it takes, or why it cannot run, in words that a student can act on."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.kernels.compiled import ToolError, assemble
from grader.kernels.evidence import CompiledLaunch

OTHER_TRITON = pytest.mark.skipif(
    "ROOFLAB_TRITON_PATH" in os.environ,
    reason="the judge has the installed triton's ptxas, the child another's",
)
pytestmark = pytest.mark.skipif(find_spec("triton") is None, reason="needs Linux: triton is not there")
KERNELS = Path(__file__).with_name("compiled_kernels.py")


def line_with(text):
    """Number of the first line of the kernels' file that has a text."""
    return next(n for n, line in enumerate(KERNELS.read_text().splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What one child, in which nothing is interpreted, reports of all cases."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    paths = [os.environ.get("ROOFLAB_TRITON_PATH", ""), str(KERNELS.parents[2])]
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    environment["TMPDIR"] = str(
        tmp_path_factory.mktemp("compiled")
    )  # so that what is left there is the child's
    done = subprocess.run(
        [sys.executable, str(KERNELS)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def launches(seen):
    """The launches of every case, and the error of its host code."""
    return {
        name: [CompiledLaunch.model_validate(each) for each in report["launches"]]
        for name, report in seen["reports"].items()
    }


@pytest.fixture(scope="module")
def errors(seen):
    """What the host code of each case raised."""
    return {name: report["error"] for name, report in seen["reports"].items()}


def the(found):
    """The only launch of a case."""
    (launch,) = found
    return launch


def test_attention_takes_what_was_measured(launches):
    """Registers differ by a few between triton versions; the rest was seen to be equal in 3.6, 3.7.1 and 3.8."""
    launch = the(launches["attention"])
    assert (launch.compiles, launch.message, launch.notes, launch.grid) == (True, "", (), (4, 2))
    assert 150 <= launch.registers <= 190
    assert (launch.spill_bytes, launch.shared_bytes, launch.threads) == (0, 131072, 256)
    assert (launch.hgmma, launch.hmma, launch.wide_loads, launch.narrow_loads) == (12, 0, 32, 0)
    assert (launch.blocks_per_sm, launch.occupancy) == (1, 8 / 64)
    assert launch.limited_by == "registers and shared memory"
    assert launch.signature["q_ptr"] == "*bf16"
    assert launch.config == {"D": 128, "BM": 128, "BN": 64, "num_warps": 8, "num_stages": 3}
    assert launch.place.line == line_with("def attention_kernel(")


def test_other_targets_compile_for_their_own_tensor_cores(launches):
    """Ampere and Ada know no warpgroup multiply."""
    ampere, ada = the(launches["attention_sm_80"]), the(launches["matmul_sm_89"])
    assert ampere.compiles
    assert ampere.hgmma == 0
    assert ampere.hmma == 128
    assert ada.target == "sm_89"
    assert ada.hmma > 0
    assert ada.notes == ()


def test_over_size_says_how_much_and_what_to_lower(launches):
    """393,216 − 232,448 = 160,768."""
    launch = the(launches["over_size"])
    assert not launch.compiles
    assert launch.shared_bytes == 393216
    assert "160,768 B over the 232,448 B (227 KiB)" in launch.message
    assert "lower num_stages (now 4) or the tile (BM=128, BN=256, BK=128)" in launch.message
    assert launch.error_place.line == line_with("matmul_kernel[grid]")
    assert (launch.blocks_per_sm, launch.limited_by) == (0, "shared memory")


def test_spills_say_so(launches):
    """An accumulator of 128×256 fp32 in 128 threads is 256 registers of each."""
    launch = the(launches["spills"])
    assert launch.compiles
    assert launch.spill_bytes > 0
    (note,) = launch.notes
    assert note.startswith(f"spills {launch.spill_bytes} B a thread")
    assert "fewer rows per tile or more warps (num_warps is 4)" in note


def test_no_tensor_cores_says_why(launches):
    """By fp32 that must stay exact, and by a sum that should have been a dot."""
    exact, summed = the(launches["ieee"]), the(launches["without_dot"])
    assert (exact.hgmma, exact.hmma, exact.ffma) == (0, 0, 1024)
    assert exact.notes[0].startswith(
        f"no tensor cores: line {line_with('total = tl.dot(a, b, total')} multiplies fp32"
    )
    assert "cast the operands to bf16 or fp16, or allow tf32" in exact.notes[0]
    assert (summed.hgmma, summed.hmma) == (0, 0)
    assert "use tl.dot" in summed.notes[0]


def test_tf32_is_on_the_tensor_cores(launches):
    """And its narrow loads have their own reason."""
    launch = the(launches["tf32"])
    assert launch.hgmma > 0
    assert not any("tensor cores" in note for note in launch.notes)
    assert any("both operands with K contiguous" in note for note in launch.notes)


def test_few_rows_miss_the_warpgroup_multiply(launches):
    """32 rows: HMMA on Hopper."""
    launch = the(launches["small_rows"])
    assert launch.hgmma == 0
    assert launch.hmma > 0
    assert "HMMA instead of HGMMA" in launch.notes[0]
    assert "M is 32" in launch.notes[0]


def test_a_pointer_off_by_one_element_loads_narrowly(launches):
    """2 bytes past an aligned address."""
    launch = the(launches["unaligned"])
    assert launch.narrow_loads > launch.wide_loads
    assert "a_ptr is not divisible by 16" in launch.notes[0]


def test_a_block_of_96_is_no_power_of_two(launches):
    """The compiler's words name neither D nor the way out."""
    launch = the(launches["not_a_power_of_two"])
    assert not launch.compiles
    assert "triton.next_power_of_2(D)" in launch.message
    assert launch.error_place.source == "columns = tl.arange(0, D)"


def test_mixed_operands_are_found_in_the_function_that_multiplies_them(launches):
    """In the nested function, not at the kernel's call of it; and the next launch compiles all the same."""
    mixed, following = launches["mixing"]
    assert not mixed.compiles
    assert mixed.message.startswith("tl.dot cannot multiply fp32 by fp16: cast one operand")
    assert mixed.error_place.line == line_with("# the line of the mixed operands")
    assert following.compiles
    assert following.kernel == "softmax_kernel"


def test_refused_ptx_is_shown_at_its_line(launches):
    """What ptxas says, at the line of Python that the instruction came from."""
    launch = the(launches["bogus_ptx"])
    assert "Not a name of any known instruction: 'bogus'" in launch.message
    first = line_with("y = tl.inline_asm_elementwise(")
    assert first <= launch.error_place.line <= first + 2


def test_break_has_its_own_words(launches):
    """The compiler speaks of AST nodes."""
    launch = the(launches["leaving"])
    assert "no break or continue" in launch.message
    assert launch.error_place.line == line_with("# the line of the break")


def test_every_configuration_that_is_not_pruned_compiles_on_its_own(launches):
    """Grid and heuristics by configuration; the one that fails is named."""
    found = launches["tuned"]
    assert [(each.config_index, each.config_count) for each in found] == [(0, 3), (1, 3), (2, 3)]
    assert [each.config["BLOCK"] for each in found] == [64, 128, 96]
    assert [each.grid for each in found] == [(16,), (8,), (11,)]
    assert [each.compiles for each in found] == [True, True, False]
    assert [each.config["EVEN"] for each in found] == [False] * 3
    assert "the launch fails with it" in found[2].notes[0]


def test_descriptors_compile_and_miss_their_allocator(launches):
    """A descriptor made in the kernel needs memory that the host must hand out."""
    assert the(launches["host_descriptors"]).wide_loads == 1
    refused = the(launches["device_descriptors"])
    assert not refused.compiles
    assert "triton.set_allocator" in refused.message
    assert the(launches["device_descriptors_allocated"]).compiles


def test_host_code_may_ask_for_the_gpu(launches, errors):
    """A persistent launch on the 132 SMs of an H100; the warm-up before it is no launch."""
    assert errors["by_the_number_of_sms"] is None
    assert the(launches["by_the_number_of_sms"]).grid == (132, 1, 1)


@pytest.mark.parametrize(
    ("case", "message"),
    [("on_cuda", "asks for a CUDA device"), ("insists_on_cuda", "asserts that a tensor is on a GPU")],
)
def test_host_code_that_insists_on_cuda_is_told(errors, case, message):
    """A fault of its own, with the remedy."""
    assert errors[case].startswith("KernelFault: line ")
    assert message in errors[case]
    assert "device=q.device" in errors[case]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("without_an_argument", "the launch lacks 'D'"),
        ("with_a_huge_grid", "70,000 programs along y are over 65,535"),
        ("with_a_fractional_grid", "an extent is 2.0, not an integer: use triton.cdiv"),
    ],
)
def test_a_wrong_launch_is_shown_at_its_line(launches, case, message):
    """What a GPU would refuse at the launch."""
    launch = the(launches[case])
    assert not launch.compiles
    assert message in launch.message
    assert launch.error_place.source.startswith("softmax_kernel[(")


def test_equal_launches_are_reported_once_and_errors_kept(launches, errors):
    """Two equal launches, then an exception of the student's own."""
    assert len(launches["twice"]) == 1
    assert errors["twice"] == "ValueError: after two launches"


def test_no_launch_runs(errors):
    """The case asserts that its output keeps the host's values."""
    assert errors["keeps_its_sevens"] is None


@pytest.mark.parametrize(
    "fact",
    [
        "second_is_read",
        "failure_is_read",
        "another_constant_is_compiled",
        "another_dtype_is_compiled",
        "another_target_is_compiled",
        "another_folder_is_compiled",
        "spoilt_is_compiled",
        "hooks_are_gone",
        "driver_is_gone",
        "nothing_is_left",
        "cache_variable_is_gone",
        "unchanged",
        "patched_sees_nothing",
        "patch_is_seen",
    ],
)
def test_the_compiling_process(seen, fact):
    """Cache, hooks and integrity, each as its name says."""
    assert seen["facts"][fact] is True


@OTHER_TRITON
def test_the_judge_assembles_the_same(launches):
    """Registers and instructions from PTX alone."""
    launch = the(launches["attention"])
    again = assemble(launch.ptx)
    assert (again.kernel, again.threads) == ("attention_kernel", 256)
    for field in ("registers", "spill_bytes", "hgmma", "ffma", "wide_loads"):
        assert getattr(again, field) == getattr(launch, field)


@OTHER_TRITON
def test_the_judge_is_not_told_by_a_comment(launches):
    """Nor by a second kernel."""
    ptx = the(launches["attention"]).ptx
    assert assemble("// .reqntid 1024 .entry easy(\n" + ptx).threads == 256
    with pytest.raises(ToolError, match="2 kernels"):
        assemble(ptx + "\n.visible .entry easy() { ret; }\n")
