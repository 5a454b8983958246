"""What writes into a tensor past kernels and PyTorch is found where it is used next."""

import ctypes
import os
import re
import threading

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from grader.kernels.recorder import call_recorded
from tests.kernels._interpreted import interpreted
from tests.kernels.memory_kernels import (
    SIZE,
    double,
    double_kernel,
    found,
    poke,
    tuned,
)


def into_the_result(x):
    out = double(x)
    poke(out)
    return out


def into_what_a_kernel_copies(x):
    scratch = torch.zeros(SIZE)
    poke(scratch)
    out = torch.empty(SIZE)
    double_kernel[(3,)](scratch, out, SIZE, BLOCK=16)  # here
    return out


def into_what_pytorch_copies(x):
    scratch = torch.zeros(SIZE)
    poke(scratch)
    return scratch.clone()  # here


def into_what_a_view_shows(x):
    scratch = torch.zeros(2, SIZE)
    poke(scratch[1])
    return scratch.view(-1)[SIZE:].exp()  # here


def into_fresh_memory(x):
    scratch = torch.empty(SIZE)
    scratch.zero_()
    poke(scratch)
    scratch.add_(1)  # here
    return scratch


def through_an_array_at_the_address(x):
    out = double(x)
    memory = (ctypes.c_char * (4 * SIZE)).from_address(out.data_ptr())
    np.frombuffer(memory, np.float32)[3:] = 1
    return out.clone()  # here


def through_an_array_made_before(x):
    array = np.ones(SIZE, np.float32)
    tensor = torch.from_numpy(array)
    first = double(tensor)
    array[5] = 2
    return first + tensor  # here


def through_a_capsule(x):
    out = double(x)
    capsule = torch.utils.dlpack.to_dlpack(out)
    other = torch.utils.dlpack.from_dlpack(capsule)
    poke(other)
    return out.clone()  # here


def under_an_other_storage(x):
    out = double(x)
    poke(out)
    memory = (ctypes.c_char * (4 * SIZE)).from_address(out.data_ptr())
    torch.frombuffer(memory, dtype=torch.float32).add_(0)  # here
    return out


def before_a_tuner_reads_it(x):
    out = torch.zeros(SIZE)
    poke(out)
    tuned()[(3,)](x, out, SIZE)  # here
    return out


def after_a_resize(x):
    scratch = torch.zeros(SIZE)
    poke(scratch)
    scratch.resize_(2 * SIZE)  # here
    return scratch[:SIZE].clone()


def in_a_thread(x):
    out = double(x)
    thread = threading.Thread(target=poke, args=(out,))
    thread.start()
    thread.join()
    return out.clone()  # here


UNSEEN = (
    into_the_result,
    into_what_a_kernel_copies,
    into_what_pytorch_copies,
    into_what_a_view_shows,
    into_fresh_memory,
    through_an_array_at_the_address,
    through_an_array_made_before,
    through_a_capsule,
    under_an_other_storage,
    before_a_tuner_reads_it,
    after_a_resize,
    in_a_thread,
)


@interpreted
@pytest.mark.parametrize("case", range(len(UNSEEN)))
def test_a_write_by_address_is_found_where_the_tensor_is_used_next(case):
    """By ctypes, through arrays, into results and scratch; at the kernel, the operation, or the end."""
    (told,) = found(UNSEEN[case])
    assert told.kind == "unseen_write"
    assert "neither a kernel nor a PyTorch operation" in told.message
    if UNSEEN[case] is not into_the_result:
        assert "# here" in told.place.source, told


@interpreted
def test_the_finding_names_the_tensor_and_the_first_index():
    """As the student's function calls it; a remedy is in the message."""
    (told,) = found(into_what_a_kernel_copies)
    assert (told.tensor, told.index) == ("scratch", (0,))
    (told,) = found(through_an_array_at_the_address)
    assert (told.tensor, told.index) == ("out", (3,))
    assert re.search(r"store it in your kernel, or write it with PyTorch", told.message)
    (told,) = found(into_the_result)
    assert (told.tensor, told.place.source) == (
        "out",
        "out = torch.empty_like(x) if out is None else out",
    )


@interpreted
def test_an_argument_that_is_written_by_address_is_found_though_nobody_uses_it():
    """Inputs are looked at when the call is over."""
    (told,) = found(lambda x: (double(x), poke(x))[0])
    assert (told.kind, told.tensor) == ("unseen_write", "x")


@interpreted
def test_a_gradient_that_is_written_by_address_is_found():
    """What backward() left on an argument is a result."""

    def function(x):
        x.requires_grad_()
        double(x.detach())
        (x * x).sum().backward()
        poke(x.grad)

    (told,) = found(function)
    assert (told.kind, told.tensor) == ("unseen_write", "x.grad")


@triton.jit
def taking_kernel(scratch_ptr, out_ptr):
    tl.store(out_ptr, tl.load(scratch_ptr + 1))
    tl.store(scratch_ptr + 1, 0.0)


@interpreted
def test_a_write_while_a_launch_begins_is_found():
    """A callable grid is asked inside of a launch; here the kernel takes what it wrote, and wipes it out."""

    def function(x):
        out, scratch = torch.zeros(SIZE), torch.zeros(SIZE)

        def grid(meta):
            poke(scratch[1:])
            return (1,)

        taking_kernel[grid](scratch, out)
        return out

    (told,) = found(function)
    assert (told.kind, told.tensor, told.index) == ("unseen_write", "scratch", (1,))


WORKSPACE = {}


@interpreted
def test_a_workspace_of_an_earlier_call_is_known_in_the_next():
    """Cached by the first call; written by address before the second uses it, and left alone before the third."""

    def function(x, write):
        if "w" not in WORKSPACE:
            WORKSPACE["w"] = torch.zeros(SIZE)
        if write:
            poke(WORKSPACE["w"])
        return double(WORKSPACE["w"])

    assert found(function, False) == ()
    (told,) = found(function, True)
    assert told.kind == "unseen_write"
    assert found(function, False) == ()


# what is not


@interpreted
def test_an_output_that_is_there_to_be_filled_may_be_filled():
    """By a kernel, or by PyTorch; not by its address."""

    def function(x, out, how):
        how(x, out)

    out = torch.empty(SIZE)
    assert found(function, out, double, may_modify=("out",)) == ()
    assert found(function, out, lambda x, out: out.copy_(x), may_modify=("out",)) == ()
    (told,) = found(function, out, lambda x, out: (double(x, out), poke(out)), may_modify=("out",))
    assert (told.kind, told.tensor) == ("unseen_write", "out")


@interpreted
def test_without_the_sanitizer_nothing_is_looked_at():
    """And nothing of such a call is believed to be known afterwards."""
    assert found(into_the_result, sanitize=False) == ()


@interpreted
@pytest.mark.parametrize("case", range(4))
def test_what_comes_from_outside_is_counted(case):
    """An array, a list, an import: their bytes; what operations and kernels make of it is no more."""
    function, expected = (
        (lambda x: torch.from_numpy(np.ones(SIZE, np.float32)) + x, 4 * SIZE),
        (lambda x: double(torch.tensor([1.0, 2.0])).view(2)[:1], 8),
        (lambda x: double(x.clone()).exp() + torch.arange(float(SIZE)), 0),
        (lambda x: torch.from_numpy(np.ones(SIZE, np.float32)), 4 * SIZE),
    )[case]
    done = call_recorded(function, [torch.arange(float(SIZE))], {})
    assert done.evidence.torch.outside_bytes == expected


AT_IMPORT = {"work": torch.ones(SIZE)}


@interpreted
def test_what_a_submission_made_at_import_is_known():
    """A workspace of the module's is not from outside, and a write by its address is found."""

    def function(x, write):
        if write:
            poke(AT_IMPORT["work"])
        return double(AT_IMPORT["work"])

    def call(write):
        return call_recorded(function, [torch.ones(1), write], {}, root=os.path.dirname(__file__)).evidence

    assert call(False).torch.outside_bytes == 0
    assert [told.kind for told in call(True).findings] == ["unseen_write"]
