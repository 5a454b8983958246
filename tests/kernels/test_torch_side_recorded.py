"""The torch side of a recorded call: its figures and findings beside those of the kernels, in one evidence."""

# ruff: noqa: E402

import sys

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import triton.language as tl

from grader.kernels.recorder import call_recorded, changed
from tests.kernels._interpreted import interpreted


@triton.jit
def double_kernel(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < size) * 2, mask=at < size)


def double(x, size=None):
    """2x by the kernel, of the first `size` elements."""
    out = torch.empty_like(x)
    size = x.numel() if size is None else size
    double_kernel[(triton.cdiv(size, 16),)](x, out, size, BLOCK=16)
    return out


def recorded(function):
    """Evidence of one call on 40 fp32 elements."""
    done = call_recorded(function, [torch.arange(40.0)], {})
    assert done.error is None
    assert not changed()
    return done.evidence


@interpreted
def test_what_a_kernel_stored_may_be_read_by_pytorch():
    """No finding; the buffer that the kernel filled is the temporary, the interpreter's own work is none."""
    evidence = recorded(lambda x: double(x).exp())
    assert evidence.findings == ()
    assert evidence.torch.ops == {"aten.empty_like": 1, "aten.exp": 1}
    assert evidence.torch.peak_temporary_bytes == 160
    assert [launch.kernel for launch in evidence.launches] == ["double_kernel"]


@interpreted
def test_what_a_kernel_left_out_is_found_where_pytorch_reads_it():
    """The kernel stored 32 of 40: the sum reads eight that nobody wrote."""

    def function(x):
        part = double(x, 32)
        return part.sum()

    (found,) = recorded(function).findings
    assert (found.kind, found.tensor, found.index) == ("uninitialised_read", "part", (32,))
    assert found.place.source == "return part.sum()"


@interpreted
def test_a_kernel_reads_what_pytorch_wrote():
    """Slices, fills and copies by PyTorch are written memory for a later kernel."""

    def function(x):
        staged = torch.empty(40)
        staged[:30] = x[:30]
        staged[30:].fill_(1)
        return double(staged)

    assert recorded(function).findings == ()


@interpreted
def test_library_attention_behind_a_decoy_kernel_shows():
    """The kernel runs and its result is dropped; the operation that did the work has its name."""

    def function(x):
        double(x)
        q = x.view(1, 1, 10, 4)
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    ops = recorded(function).torch.ops
    assert any("scaled_dot_product" in name for name in ops)


@interpreted
def test_a_kernel_in_a_backward_of_the_same_call_is_part_of_it():
    """Forward and backward of a Function: two launches, the gradient left out of the temporaries."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return double(x)

        @staticmethod
        def backward(ctx, grad):
            return double(grad.contiguous())

    def function(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(Double.apply(x).sum(), x)

    evidence = recorded(function)
    assert evidence.findings == ()
    assert len(evidence.launches) == 2
    # The forward's output is dead when the backward copies the sum's expanded gradient.
    assert evidence.torch.largest_temporary_bytes == 160
    assert evidence.torch.peak_temporary_bytes == 160 + 2 * 4


@interpreted
def test_an_input_that_pytorch_changes_is_told_once():
    """The torch side and the recorder's comparison of bytes see the same fault."""

    def function(x):
        x.mul_(2)
        return double(x)

    (found,) = recorded(function).findings
    assert (found.kind, found.tensor) == ("modified_input", "x")
    assert found.place.source == "x.mul_(2)"


@interpreted
def test_a_tensor_given_to_a_kernel_dies_when_the_function_drops_it():
    """Neither the launch nor the search for the tensor's name keeps it: one buffer at a time, not ten."""

    def function(x):
        for _ in range(10):
            scratch = double(x)
            del scratch
        return double(x)

    assert recorded(function).torch.peak_temporary_bytes == 160


@interpreted
def test_recording_does_not_import_the_compiler():
    """torch._dynamo would take longer to import than a kernel to run."""
    recorded(double)
    assert "torch._dynamo" not in sys.modules
