"""Who tells of what it writes is let alone: kernels, PyTorch, tuners, arrays that were filled before."""

import threading

import numpy as np
import pytest
import torch
import triton

from tests.kernels._interpreted import interpreted
from tests.kernels.memory_kernels import (
    SIZE,
    adding_kernel,
    double,
    double_kernel,
    found,
    once_kernel,
    pointing_kernel,
    rows_kernel,
    tuned,
)


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
def test_copies_go_with_their_tensors():
    """Nothing is kept of a tensor that is gone."""
    from grader.kernels.recorder import memory_watch

    memory_watch.forget()
    found(many_at_the_same_address)
    assert len(memory_watch._kept) <= 2
