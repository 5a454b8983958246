"""What a student is told when a call fails: at the student's line, and todo where it is a stub's."""

import pytest
import torch
import triton
import triton.language as tl

from grader.kernels import interpreter
from grader.kernels.faults import KernelFault, NeedsGpu
from tests.kernels._interpreted import interpreted


@triton.jit
def stub_kernel(x):
    raise NotImplementedError("write the kernel")


@triton.jit
def stub_helper(x):
    raise NotImplementedError("write the helper")


@triton.jit
def caller_kernel(x):
    stub_helper(x)


@triton.jit
def shape_kernel(x):
    at = tl.arange(0, 16)
    tl.store(x + at, tl.arange(0, 16)[:, None] + tl.arange(0, 8))


@triton.jit
def missing_kernel(x):
    at = tl.arange(0, 16)
    tl.device_print("x", at)
    tl.store(x + at, tl.map_elementwise(stub_helper, at))


@triton.jit
def scaled_dot_kernel(x):
    at = tl.arange(0, 32)
    tile = tl.full((32, 32), 1.0, tl.float8e4nv)
    scales = tl.full((32, 1), 127, tl.uint8)
    product = tl.dot_scaled(tile, scales, "e4m3", tile, scales, "e4m3")
    tl.store(x + at[:, None] * 32 + at[None, :], product)


@triton.jit
def gather_kernel(x, first):
    at = tl.arange(0, 16)
    block = tl.load(x + at)
    tl.store(x + at, tl.gather(block, first + at, 0))


@triton.jit
def one_store_kernel(x):
    tl.store(x, 1.0)


def allocates(x):
    return torch.empty(x.shape, device="cuda")


def moves(x):
    return x.cuda()


def asserts(x):
    assert x.is_cuda
    return x


def asserts_with_text(x):
    assert x.is_cuda, "inputs must be on the GPU"
    return x


def asserts_over_lines(x):
    assert (  # noqa: PT018
        x.is_contiguous()
        and x.is_cuda
    )  # fmt: skip
    return x


def refuses(x):
    if x.device.type != "cuda":
        raise ValueError("expected CUDA tensors")
    return x


def asks_properties(x):
    return torch.cuda.get_device_properties(0).multi_processor_count


def synchronizes(x):
    torch.cuda.synchronize()


def asks_device(x):
    return torch.cuda.current_device()


def asks_driver(x):
    return triton.runtime.driver.active.get_current_device()


def wrong_shapes(x):
    return x @ torch.zeros(7, 3)


def asserts_shape(x):
    assert x.shape == (3, 4)


def explained(function, *arguments):
    """What the student is told."""
    interpreter.install()
    with pytest.raises(Exception) as caught:  # noqa: PT011
        function(*arguments)
    return interpreter.explain(caught.value), caught.value


@pytest.mark.parametrize(
    "name", ["allocates", "moves", "asks_properties", "synchronizes", "asks_device", "asks_driver"]
)
@interpreted
def test_a_call_that_wants_a_cuda_device_is_told_how_to_do_without(name):
    """With the line, and without the words of torch."""
    found, _ = explained(globals()[name], torch.zeros(4))
    assert isinstance(found, KernelFault)
    assert found.finding.kind == "cuda_only"
    assert "asks for a CUDA device" in found.finding.message
    assert "device=x.device" in found.finding.message
    assert found.finding.place.file == __file__
    assert found.finding.place.source in found.finding.message


@pytest.mark.parametrize("name", ["asserts", "asserts_with_text", "asserts_over_lines", "refuses"])
@interpreted
def test_an_assertion_of_a_cuda_tensor_is_told_to_go(name):
    """is_cuda in the line, or CUDA in the text."""
    found, _ = explained(globals()[name], torch.zeros(4))
    assert isinstance(found, KernelFault)
    assert found.finding.kind == "cuda_only"
    assert "refuses tensors that are not on a CUDA device" in found.finding.message


@pytest.mark.parametrize("name", ["wrong_shapes", "asserts_shape"])
@interpreted
def test_other_errors_speak_for_themselves(name):
    """Nothing to explain."""
    found, _ = explained(globals()[name], torch.zeros(4))
    assert found is None


@interpreted
def test_a_stub_in_a_kernel_stays_not_implemented():
    """Its traceback ends at the stub's own raise."""
    found, _ = explained(lambda: stub_kernel[(1,)](torch.zeros(4)))
    assert isinstance(found, NotImplementedError)
    assert str(found) == "write the kernel"
    last = found.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    assert last.tb_frame.f_code.co_name == "stub_kernel"
    assert last.tb_lineno == stub_kernel.fn.__code__.co_firstlineno + 2


@interpreted
def test_a_stub_in_a_helper_stays_not_implemented():
    """Wrapped twice by triton."""
    found, _ = explained(lambda: caller_kernel[(1,)](torch.zeros(4)))
    assert isinstance(found, NotImplementedError)
    assert str(found) == "write the helper"


@interpreted
def test_an_error_in_a_kernel_loses_its_wrapping():
    """The compiler's words, at the student's line."""
    found, _ = explained(lambda: shape_kernel[(1,)](torch.zeros(16)))
    assert isinstance(found, ValueError)
    assert "Cannot make_shape_compatible" in str(found)


@interpreted
def test_what_the_interpreter_lacks_needs_a_gpu():
    """Never an AttributeError of triton's, never todo."""
    found, _ = explained(lambda: missing_kernel[(1,)](torch.zeros(16)))
    assert isinstance(found, NeedsGpu)
    assert "tl.map_elementwise" in str(found)


@interpreted
def test_a_scaled_dot_needs_a_gpu():
    """By its name and line, not by what the interpreter stumbles over."""
    found, _ = explained(lambda: scaled_dot_kernel[(1,)](torch.zeros(32, 32)))
    assert isinstance(found, NeedsGpu)
    line = scaled_dot_kernel.fn.__code__.co_firstlineno + 5
    assert f"(tl.dot_scaled): line {line}: product = tl.dot_scaled(" in str(found)


@pytest.mark.parametrize("first", [1, -1])
@interpreted
def test_a_gather_outside_its_block_is_an_out_of_bounds_load(first):
    """Past the end numpy has an IndexError, and before the start it counts from the end."""
    found, _ = explained(lambda: gather_kernel[(1,)](torch.zeros(16), first))
    assert isinstance(found, KernelFault)
    assert (found.finding.kind, found.finding.kernel) == ("out_of_bounds_load", "gather_kernel")
    assert found.finding.place.line == gather_kernel.fn.__code__.co_firstlineno + 4
    assert found.finding.program == (0, 0, 0)
    assert found.finding.index == ((16,) if first == 1 else (-1,))
    assert f"gathers index {found.finding.index[0]} of 16 along axis 0" in found.finding.message


@interpreted
def test_a_gather_inside_its_block_runs():
    """The check lets all of the block through."""
    interpreter.install()
    x = torch.arange(16.0)
    gather_kernel[(1,)](x, 0)
    assert torch.equal(x, torch.arange(16.0))


@pytest.mark.parametrize("grid", [(2**31,), (1, 65_536), (1, 1, 65_536)])
@interpreted
def test_a_grid_that_no_device_launches_is_refused_before_its_first_program(grid):
    """With the axis and its limit; nothing was stored."""
    x = torch.zeros(1)
    _, raised = explained(lambda: one_store_kernel[grid](x))
    assert isinstance(raised, ValueError)
    limit = "2,147,483,647" if len(grid) == 1 else "65,535"
    assert f"{grid[-1]:,} programs along {'xyz'[len(grid) - 1]} are over {limit}" in str(raised)
    assert x.item() == 0
