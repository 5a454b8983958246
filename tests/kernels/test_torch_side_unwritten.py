"""Reads of memory that nobody wrote, by PyTorch operations: found where they matter, silent on honest code."""

import math

import numpy as np
import pytest
import torch

from grader.kernels.recorder.ledger import Ledger, bytes_of
from grader.kernels.recorder.torch_side import TorchSide


def findings(function, *args):
    """Findings of one watched call."""
    side = TorchSide(Ledger(), {f"arg{i}": a for i, a in enumerate(args)})
    with side:
        value = function(*args)
    side.finish(value)
    return side.findings


X = torch.arange(12.0).reshape(3, 4)


def test_a_sum_over_an_empty_tensor_is_found_with_name_line_and_remedy():
    """The message says which operation, which variable, how much, and what to do."""

    def function(x):
        scratch = torch.empty(3, 4)
        return scratch.sum() + x

    (found,) = findings(function, X)
    assert found.kind == "uninitialised_read"
    assert found.tensor == "scratch"
    assert found.place.source == "return scratch.sum() + x"
    assert found.place.file == __file__
    assert found.message.startswith(
        "aten.sum reads scratch of shape (3, 4) in which none of the elements were"
    )
    assert "torch.zeros" in found.message


def test_the_first_hole_is_named():
    """One column was left out."""

    def function(x):
        buffer = torch.empty_like(x)
        buffer[:, :3] = x[:, :3]
        return torch.softmax(buffer, -1)

    (found,) = findings(function, X)
    assert found.index == (0, 3)
    assert "9 of 12 of the elements" in found.message


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.softmax(torch.empty_like(x), -1),
        lambda x: x.new_empty(3, 4) @ x.T,
        lambda x: torch.empty_strided((3, 4), (4, 1)).amax(),
        lambda x: torch.empty(3, 4) + 1,
        lambda x: torch.empty(3, 4).add_(x),
        lambda x: torch.empty(3, 4).clone().mul(2).reshape(-1)[2:],
        lambda x: torch.cat([x, torch.empty(1, 4)]).sum(),
        lambda x: float(torch.empty(())),
        lambda x: torch.empty(3).tolist(),
        lambda x: torch.zeros(2).resize_(3, 4).cumsum(0),
        lambda x: x.new_empty(8, 4)[torch.tensor([1, 2])].std(),
        lambda x: torch.add(x, torch.empty(3, 4), out=torch.empty(3, 4)),
        lambda x: torch.zeros(3, 4).copy_(torch.empty(3, 4)).logsumexp(-1),
        lambda x: torch.empty(3, 4).index_put_((torch.tensor([0]),), x[:1]).sum(),
        lambda x: torch.empty(3, 4).index_put_((torch.tensor([0, 1, 2]),), x, accumulate=True),
        lambda x: torch.empty(3, 4).masked_fill(x > 2, 0.0).sum(),
        lambda x: torch.addmm(torch.empty(3, 3), x, x.T),
        lambda x: torch.where(x > 2, torch.empty(3, 4), x) * 2,
    ],
    ids=range(18),
)
def test_unwritten_elements_that_reach_a_result_are_found(function):
    """One finding, however many operations the garbage runs through."""
    assert [f.kind for f in findings(function, X)] == ["uninitialised_read"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.empty(3, 4).copy_(x).sum(),
        lambda x: torch.empty_like(x).fill_(1).sum(),
        lambda x: torch.empty_like(x).zero_().sum(),
        lambda x: torch.empty_like(x).normal_().sum(),
        lambda x: torch.empty_like(x).uniform_(0, 1).sum(),
        lambda x: torch.empty_like(x).bernoulli_(0.5).sum(),
        lambda x: torch.mm(x, x.T, out=torch.empty(3, 3)).sum(),
        lambda x: torch.add(x, x, out=torch.empty(0)).sum(),
        lambda x: torch.zeros_like(torch.empty(3, 4)).sum(),
        lambda x: torch.addmm(torch.empty(3, 3), x, x.T, beta=0).sum(),
        lambda x: torch.baddbmm(torch.empty(1, 3, 3), x[None], x.T[None], beta=0, alpha=0.5).softmax(-1),
        lambda x: torch.empty(4, 3).T.contiguous().copy_(x).sum(),
        lambda x: torch.empty(3, 4).masked_fill_(x > -1, 0.0).sum(),
        lambda x: torch.empty(3, 4).tril_(-4).sum(),
        lambda x: torch.empty(3, 4).tril(-4).sum(),
        lambda x: torch.where(x >= 0, x, torch.empty(3, 4)).sum(),
        lambda x: torch.empty(2, 2).numel() + torch.empty(2, 2).view(4).shape[0],
        lambda x: torch.nn.Linear(4, 3, bias=True)(x),
        lambda x: torch.empty(0, 4).sum() + x.sum(),
        lambda x: torch.randn(3, out=torch.empty(3)).sum(),
        lambda x: torch.tensor([1.0]).sum() + torch.from_numpy(np.ones(3)).sum(),
    ],
    ids=range(21),
)
def test_honest_use_of_empty_is_silent(function):
    """Memory that is filled before it is read, in whatever way, or not read at all."""
    assert findings(function, X) == []


def test_slices_written_one_after_another_add_up():
    """A buffer filled by rows, by columns and by a scatter is written."""

    def function(x):
        buffer = torch.empty(4, 5)
        buffer[:3, :4] = x
        buffer[3] = 0
        buffer[:3, 4:].fill_(1)
        return buffer.sum()

    assert findings(function, X) == []


def test_padding_that_is_computed_on_and_then_cut_off_is_silent():
    """The padded rows are copied, cast and scaled with the rest, and never looked at."""

    def function(x):
        padded = torch.empty(8, 4)
        padded[:3] = x
        scaled = padded.to(torch.bfloat16).contiguous() * 2
        return scaled[:3].float().sum(), scaled[:3]

    assert findings(function, X) == []


@pytest.mark.parametrize(
    "move",
    [
        lambda b: torch.cat([b, b], 1),
        lambda b: torch.stack([b, b]),
        lambda b: b.repeat(1, 2),
        lambda b: b.flip(1),
        lambda b: b.roll(1, 1),
        lambda b: b[:, torch.tensor([1, 0])],
        lambda b: b.index_select(1, torch.tensor([1, 0])),
        lambda b: b.gather(1, torch.zeros(8, 1, dtype=torch.int64)),
        lambda b: torch.nn.functional.pad(b, (1, 1), value=3.0),
        lambda b: b.clone(memory_format=torch.contiguous_format).half(),
        lambda b: torch.where(b.new_ones(1, 4) > 0, b, b),
        lambda b: b.masked_fill(torch.zeros(8, 4, dtype=torch.bool), 0.0),
        lambda b: b.clamp(min=0).add(1).to(torch.bfloat16),
        lambda b: b.tril(5),
    ],
    ids=range(14),
)
def test_the_state_travels_with_copies(move):
    """Rows 0 to 2 are written and stay so; row 3 on is not, wherever it is copied to."""

    def function(x):
        padded = torch.empty(8, 4)
        padded[:3] = x
        moved = move(padded)
        rows = moved.shape[-2]
        assert rows == 8
        good = moved[..., :3, :].sum()
        assert side.findings == []
        return good + moved[..., 3:, :].sum()

    side = TorchSide(Ledger(), {})
    with side:
        function(X)
    assert [f.kind for f in side.findings] == ["uninitialised_read"]


def test_padding_that_is_returned_after_computing_is_found_at_the_computation():
    """The finding points at the line that first computed with it."""

    def function(x):
        padded = torch.empty(8, 4)
        padded[:3] = x
        scaled = padded * 2
        return scaled.exp()

    (found,) = findings(function, X)
    assert found.place.source == "scaled = padded * 2"
    assert found.tensor == "padded"


def test_a_fault_in_a_loop_is_told_once():
    """The same line and tensor again says nothing new."""

    def function(x):
        scratch = torch.empty(3, 4)
        return sum(scratch.sum() for _ in range(100))

    assert len(findings(function, X)) == 1


def test_a_storage_at_a_dead_one_s_address_starts_anew():
    """The allocator hands the same memory out again: nothing unwritten is inherited."""

    def function(x):
        for _ in range(20):
            torch.empty(1000)
            made = torch.from_numpy(np.ones(1000, dtype=np.float32))
            made.sum()
            (x.sum() + torch.zeros(1000)).sum()

    assert findings(function, X) == []


def test_a_numpy_view_may_have_written_anything():
    """Writes through numpy are not seen, so they are believed; and the way out is counted."""

    def function(x):
        out = torch.empty(3, 4)
        out.numpy()[:] = 1
        return out.sum()

    side = TorchSide(Ledger(), {"x": X})
    with side:
        value = function(X)
    assert side.finish(value).ops["Tensor.numpy"] == 1
    assert side.findings == []


def test_a_kernel_s_stores_are_learned_from_the_ledger():
    """What the recorder marks in the ledger is written for the torch side too."""
    ledger = Ledger()
    side = TorchSide(ledger, {})
    with side:
        out = torch.empty(4, 4)
        flags = ledger.written(out.untyped_storage())
        bytes_of(flags, out[:2])[...] = True
        out[:2].sum()
        assert side.findings == []
        out.sum()
    assert [f.index for f in side.findings] == [(2, 0)]


def test_an_unwritten_result_is_left_to_the_recorder():
    """Returning torch.empty is an output nobody wrote, which the recorder reports; no operation read it."""
    ledger = Ledger()
    side = TorchSide(ledger, {})
    with side:
        value = torch.empty(4).clone()
    side.finish(value)
    assert side.findings == []
    assert not ledger.written(value.untyped_storage()).any()


def test_garbage_that_was_reported_in_a_result_is_not_unwritten_again():
    """One fault, one finding: the recorder then sees a written output."""
    ledger = Ledger()
    side = TorchSide(ledger, {})
    with side:
        value = torch.empty(4) + 1
    side.finish(value)
    assert len(side.findings) == 1
    assert ledger.written(value.untyped_storage()).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_attention_into_preallocated_buffers_is_silent(dtype):
    """An honest tiled attention: empty outputs, slices written, padded last tile, a reused workspace."""

    def attention(q, k, v, tile=16):
        t, d = q.shape
        out, lse = torch.empty_like(q), torch.empty(t, dtype=torch.float32)
        work = torch.empty(tile, t, dtype=torch.float32)
        for i in range(0, t, tile):
            rows = q[i : i + tile]
            n = rows.shape[0]
            work[:n] = (rows.float() @ k.float().T) / math.sqrt(d)
            lse[i : i + n] = torch.logsumexp(work[:n], -1)
            out[i : i + n] = (torch.exp(work[:n] - lse[i : i + n, None]) @ v.float()).to(dtype)
        return out, lse

    assert findings(attention, *torch.randn(3, 40, 8).to(dtype)) == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_backward_through_the_library_is_silent(dtype):
    """Autograd's own empty buffers, layer norm, dropout, embeddings and library attention are written in full."""

    def function(x, w):
        h = torch.nn.functional.layer_norm(x.view(3, 4), (4,))
        h = torch.nn.functional.scaled_dot_product_attention(h[None], h[None], h[None], is_causal=True)
        h = torch.nn.functional.dropout(torch.nn.functional.gelu(h @ w), 0.5)
        loss = torch.nn.functional.cross_entropy(h[0].float(), torch.tensor([0, 1, 2]))
        return torch.autograd.grad(loss, (x, w))

    x, w = X.to(dtype).requires_grad_(), torch.eye(4, dtype=dtype, requires_grad=True)
    assert findings(function, x, w) == []
