"""What writes into a tensor past kernels and PyTorch is found where it is used next; whoever tells is let alone."""

# ruff: noqa: E402

import ctypes
import os
import re
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import triton.language as tl

from grader.kernels.recorder import call_recorded, changed
from tests.kernels._interpreted import interpreted

SIZE = 40


@triton.jit
def double_kernel(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < size) * 2, mask=at < size)


@triton.jit
def rows_kernel(x_ptr, out_ptr, row, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * stride + at, tl.load(x_ptr + at))


@triton.jit
def adding_kernel(x_ptr, total_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + at)))


@triton.jit
def once_kernel(flag_ptr):
    tl.atomic_cas(flag_ptr, 0, 1)


@triton.jit
def pointing_kernel(table_ptr, BLOCK: tl.constexpr):
    target = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(target + tl.arange(0, BLOCK), tl.full((BLOCK,), 3.0, tl.float32))


def tuned(**options):
    """double_kernel as an autotuner with three configurations runs it."""
    configs = [triton.Config({"BLOCK": block}) for block in (16, 32, 64)]
    return triton.autotune(configs, key=["size"], **options)(double_kernel)


def double(x, out=None):
    """2x by the kernel."""
    out = torch.empty_like(x) if out is None else out
    double_kernel[(triton.cdiv(x.numel(), 16),)](x, out, x.numel(), BLOCK=16)
    return out


def poke(tensor, value=7.0):
    """Write the tensor's first element by its address."""
    ctypes.c_float.from_address(tensor.data_ptr()).value = value


def found(function, *more, **options):
    """Findings of one call on 40 fp32 elements."""
    done = call_recorded(function, [torch.arange(float(SIZE)), *more], {}, **options)
    assert done.error is None, done.error
    assert not changed()
    return done.evidence.findings


# what is found


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


def in_place(x):
    y = x.clone()
    y.mul_(2)
    y[3:5] += 1
    y[::2] = 0
    torch.exp(y, out=y)
    return double(y)


def out_of_an_operation(x):
    y = torch.empty(0)
    torch.add(x, 1, out=y)
    y.resize_(2 * SIZE)
    y[SIZE:] = x
    torch.add(x, 2, out=y[:SIZE])
    return y.clone()


def views_and_metadata(x):
    y = double(x).view(4, 10)
    y.t_()
    y.unsqueeze_(0).squeeze_(0)
    z = torch.empty(0).set_(y)
    z.zero_()
    return y.contiguous(), z.data.transpose(0, 1).clone()


def slices_by_a_kernel(x):
    out = torch.zeros(4, 64)
    for row in range(4):
        rows_kernel[(1,)](x, out, row, 64, BLOCK=32)
        out[row, 32:] = row
    return out.sum(0)


def backward(x):
    y = x.clone().requires_grad_()
    for _ in range(3):
        ((y * y).sum() + y[:4].exp().sum()).backward()
    double(y.grad)
    return y.grad


def retained_and_accumulated(x):
    y = x.clone().requires_grad_()
    loss = torch.nn.functional.layer_norm(y, (SIZE,)).sum()
    loss.backward(retain_graph=True)
    y.grad.zero_()
    loss.backward()
    torch.optim.Adam([y]).step()
    return y.detach()


def batch_norm(x):
    mean, variance = torch.zeros(4), torch.ones(4)
    y = torch.nn.functional.batch_norm(x.view(10, 4), mean, variance, training=True)
    return y, mean.clone(), torch.native_batch_norm(y, None, None, mean, variance, True, 0.1, 1e-5), mean + 1


def foreach(x):
    parts = [torch.zeros(3), torch.zeros(3), torch.zeros(6)[3:]]
    torch._foreach_add_(parts, 1.0)
    torch._foreach_copy_(parts[:2], parts[1:])
    return parts


def scatters(x):
    y = torch.zeros(SIZE)
    index = torch.arange(SIZE).flip(0)
    y.scatter_add_(0, index, x)
    y.index_put_((index[:3],), torch.ones(3), accumulate=True)
    y.index_add_(0, index, x)
    y.masked_fill_(y > 3, 0)
    return y.scatter_reduce_(0, index, x, "amax")


def random(x):
    torch.manual_seed(0)
    y = torch.rand(SIZE) + torch.empty(SIZE).uniform_()
    return torch.nn.functional.dropout(y.normal_(), 0.5), torch.randperm(9), torch.get_rng_state()


def atomics(x):
    total, flag = torch.zeros(1), torch.zeros(1, dtype=torch.int32)
    adding_kernel[(2,)](x, total, BLOCK=16)
    once_kernel[(3,)](flag)
    return total * 2, flag + 1


def bf16_atomics(x):
    total = torch.zeros(1, dtype=torch.bfloat16)
    adding_kernel[(2,)](x.bfloat16(), total, BLOCK=16)
    return total * 2


def by_a_pointer(x):
    target = torch.zeros(16)
    table = torch.tensor([target.data_ptr()])
    pointing_kernel[(1,)](table, BLOCK=16)
    pointing_kernel[(1,)](table, BLOCK=16)
    return target.clone()


def autotuned(x):
    out = torch.empty(SIZE)
    tuned()[lambda meta: (triton.cdiv(SIZE, meta["BLOCK"]),)](x, out, SIZE)
    return out.exp(), out


def autotuned_in_place(x):
    y = x.clone()
    kernel = tuned(restore_value=["out_ptr"])
    kernel[lambda meta: (triton.cdiv(SIZE, meta["BLOCK"]),)](y, y, SIZE)
    return y.clone()


def autotuned_with_reset(x):
    out = torch.ones(SIZE)
    kernel = tuned(reset_to_zero=["out_ptr"])
    kernel[lambda meta: (triton.cdiv(SIZE, meta["BLOCK"]),)](x, out, SIZE)
    return out.clone()


def arrays_filled_before(x):
    array = np.empty(SIZE, np.float32)
    array[:] = np.arange(SIZE)
    table = torch.from_numpy(np.arange(SIZE))
    return double(torch.from_numpy(array)), x[table], torch.tensor([1.0, 2.0]) + 1


def two_tensors_of_one_array(x):
    array = np.zeros(SIZE, np.float32)
    whole, tail = torch.from_numpy(array), torch.from_numpy(array[8:])
    whole.add_(1)
    tail.mul_(2)
    double(x, whole)
    double_kernel[(1,)](whole, tail, 8, BLOCK=16)
    rows_kernel[(1,)](x, tail, 0, 0, BLOCK=16)
    return whole.clone(), tail.clone()


def through_numpy(x):
    table = torch.empty(SIZE, dtype=torch.int64)
    table.numpy()[:] = np.arange(SIZE)
    np.asarray(table)[3] = 1
    return x[table]


def shared_memory(x):
    y = torch.zeros(SIZE)
    y.share_memory_()
    y.add_(1)
    return double(y)


def many_at_the_same_address(x):
    for at in range(50):
        y = torch.full((SIZE,), float(at))
        double(y)
        del y
        torch.empty(SIZE)
        torch.from_numpy(np.full(SIZE, at, np.float32)).sum()
    return double(x)


def swapped(x):
    a, b = torch.zeros(SIZE), torch.ones(SIZE)
    a.data, b.data = b.data, a.data
    a.add_(1)
    return double(a), double(b)


def deep_copies(x):
    import copy
    import io

    y = double(x)
    file = io.BytesIO()
    torch.save(y, file)
    file.seek(0)
    return (
        torch.load(file).add_(1),
        copy.deepcopy(y).add_(1),
        repr(y),
        y.tolist(),
        float(y[0]),
        bool(y[1] > 0),
    )


def two_threads_in_one_storage(x):
    out = torch.zeros(2, 200_000)

    def work(row):
        for _ in range(30):
            out[row].add_(1)
            out.sum()

    threads = [threading.Thread(target=work, args=(row,)) for row in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out.clone()


def custom_operators(x):
    y = torch.zeros(SIZE)
    torch.ops.rooflab_test.sneaks(y)
    return y.clone()


def jitted(x):
    y = x.clone()

    @torch.jit.script
    def doubled(t: torch.Tensor):
        t.mul_(2)
        return t.exp().sum()

    return doubled(y), y.clone(), torch.vmap(lambda t: t * 2)(y.view(4, 10))


TOLD = (
    in_place,
    out_of_an_operation,
    views_and_metadata,
    slices_by_a_kernel,
    backward,
    retained_and_accumulated,
    batch_norm,
    foreach,
    scatters,
    random,
    atomics,
    bf16_atomics,
    by_a_pointer,
    autotuned,
    autotuned_in_place,
    autotuned_with_reset,
    arrays_filled_before,
    two_tensors_of_one_array,
    through_numpy,
    shared_memory,
    many_at_the_same_address,
    swapped,
    deep_copies,
    two_threads_in_one_storage,
    custom_operators,
    jitted,
)


def _define_operator():
    library = torch.library.Library("rooflab_test", "DEF")
    library.define("sneaks(Tensor x) -> ()")  # it does not say that it writes
    library.impl("sneaks", lambda x: (x.add_(1), None)[1], "CPU")
    return library


@interpreted
@pytest.mark.parametrize("case", range(len(TOLD)))
def test_whoever_tells_is_not_found(case):
    """Operations in place and with out=, kernels, tuners, autograd, arrays filled before, threads."""
    kept = _define_operator() if TOLD[case] is custom_operators else None
    assert found(TOLD[case]) == (), kept


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
def test_copies_go_with_their_tensors():
    """Nothing is kept of a tensor that is gone."""
    from grader.kernels.recorder import memory_watch

    memory_watch.forget()
    found(many_at_the_same_address)
    assert len(memory_watch._kept) <= 2


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
