"""Temporaries of a call, against counts made by hand: T = 64, D = 16, so T×T in fp32 is 16,384 bytes."""

import math

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from grader.kernels.evidence import TorchWork
from grader.kernels.recorder.ledger import Ledger
from grader.kernels.recorder.torch_side import TorchSide

T, D = 64, 16
SQUARE = 4 * T * T
ROWS = 4 * T * D


def watched(function, *args) -> tuple[TorchWork, TorchSide]:
    """Run the function on its arguments under watch."""
    inputs = {str(i): a for i, a in enumerate(args) if isinstance(a, torch.Tensor)}
    side = TorchSide(Ledger(), inputs)
    with side:
        value = function(*args)
    return side.finish(value), side


def qkv(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Three random (T, D)."""
    q, k, v = torch.randn(3, T, D, generator=torch.Generator().manual_seed(0)).to(dtype)
    return q, k, v


def naive(q, k, v):
    """Scores, scaled scores and weights: at most two T×T at once, since each name is bound anew."""
    s = q @ k.T
    s = s / math.sqrt(D)
    s = torch.softmax(s, dim=-1)
    return s @ v


@pytest.mark.parametrize(("dtype", "itemsize"), [(torch.float32, 4), (torch.bfloat16, 2), (torch.float64, 8)])
def test_naive_attention_holds_two_squares_of_its_dtype(dtype, itemsize):
    """The peak is old and new scores together; the output is returned and not counted."""
    work, side = watched(naive, *qkv(dtype))
    assert work.peak_temporary_bytes == 2 * T * T * itemsize
    assert work.largest_temporary_bytes == T * T * itemsize
    assert work.largest_temporary_shape == (T, T)
    assert side.largest_place.source == "s = q @ k.T"


def test_attention_in_one_expression_frees_each_square_when_the_next_is_made():
    """No name keeps the scores: the scaled ones are made while the raw ones live, then one at a time dies."""
    work, _ = watched(lambda q, k, v: torch.softmax(q @ k.T / math.sqrt(D), -1) @ v, *qkv())
    assert work.peak_temporary_bytes == 2 * SQUARE


def test_three_names_hold_three_squares():
    """Names that stay bound keep their storages."""

    def function(q, k, v):
        s = q @ k.T
        scaled = s / 4
        p = torch.softmax(scaled, -1)
        return p @ v

    work, _ = watched(function, *qkv())
    assert work.peak_temporary_bytes == 3 * SQUARE


def test_in_place_attention_holds_one_square():
    """Beside the scores only a column, the row maximum, is ever alive."""

    def function(q, k, v):
        s = q @ k.T
        s.div_(4).sub_(s.amax(-1, keepdim=True)).exp_()
        return (s @ v).div_(s.sum(-1, keepdim=True))

    work, _ = watched(function, *qkv())
    assert work.peak_temporary_bytes == SQUARE + 4 * T
    assert work.largest_temporary_bytes == SQUARE


def test_a_bf16_softmax_asked_for_in_fp32_makes_what_its_result_takes():
    """softmax(dtype=fp32) on bf16 is one operation on the converted scores: bf16, fp32, fp32."""

    def function(q, k, v):
        s = q @ k.T
        p = torch.softmax(s, -1, dtype=torch.float32)
        return p.to(v.dtype) @ v

    work, _ = watched(function, *qkv(torch.bfloat16))
    half = SQUARE // 2
    assert work.ops["aten._to_copy"] == 2
    assert work.peak_temporary_bytes == half + 2 * SQUARE
    assert work.largest_temporary_bytes == SQUARE


def test_tiled_attention_holds_tiles_only():
    """Online softmax with 16-key tiles: the running sums, and what one step makes."""
    tile = 16

    def function(q, k, v):
        o, m, denominator = torch.zeros_like(q), torch.full((T, 1), -torch.inf), torch.zeros(T, 1)
        for start in range(0, T, tile):
            s = q @ k[start : start + tile].T
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = s.sub_(new).exp_()
            keep = m.sub_(new).exp_()
            denominator.mul_(keep).add_(p.sum(-1, keepdim=True))
            o.mul_(keep).add_(p @ v[start : start + tile])
            m = new
            del s, p, keep
        return o.div_(denominator)

    work, _ = watched(function, *qkv())
    column, scores, product = 4 * T, 4 * T * tile, ROWS
    assert work.largest_temporary_bytes == max(scores, product)
    # denominator, old and new maximum; the scores; and the largest of what comes and goes, p @ v.
    assert work.peak_temporary_bytes == 3 * column + scores + product
    assert work.peak_temporary_bytes < 2 * SQUARE


def test_views_and_inputs_count_nothing():
    """Transposes, slices, reshapes, expands and detaches of arguments have no bytes of their own."""
    work, _ = watched(lambda q, k, v: (q.T.reshape(D, T)[:2].expand(3, 2, T).detach(), k.view(-1)), *qkv())
    assert work.peak_temporary_bytes == 0
    assert work.largest_temporary_shape == ()


def test_a_contiguous_copy_counts_once():
    """contiguous() copies a transposed view, and gives a contiguous one back as it is."""
    work, _ = watched(lambda q: q.T.contiguous().contiguous().sum(), qkv()[0])
    assert work.peak_temporary_bytes == ROWS


def test_a_returned_tensor_is_left_out_from_its_birth():
    """The output lives through the whole call and still is no temporary."""

    def function(q, k, v):
        out = torch.empty(T, D)
        out.copy_(q + k)
        return out, {"lse": [out.sum(-1)]}

    work, _ = watched(function, *qkv())
    assert work.peak_temporary_bytes == ROWS


def test_a_small_view_returned_does_not_excuse_the_storage_behind_it():
    """Only the bytes that the view shows are left out."""

    def function(q, k, v):
        big = q @ k.T
        return big[:, :D]

    work, _ = watched(function, *qkv())
    assert work.peak_temporary_bytes == SQUARE - ROWS
    expanded, _ = watched(lambda q: (q @ q.T)[:1, :1].expand(T, T), qkv()[0])
    assert expanded.peak_temporary_bytes == SQUARE - 4


def test_three_returned_views_of_one_storage_cover_it():
    """dqkv.unbind returned whole is no temporary."""
    work, _ = watched(lambda q: torch.stack([q, q, q]).unbind(), qkv()[0])
    assert work.peak_temporary_bytes == 0


def test_growing_a_buffer_counts_its_growth():
    """resize_ and out= with an empty tensor give bytes that no allocation showed; so does growing an old one."""
    old = torch.empty(0)

    def function(q, k, v):
        old.resize_(T, T)
        fresh = torch.empty(0)
        torch.mm(q, k.T, out=fresh)
        return fresh @ v

    work, _ = watched(function, *qkv())
    assert work.peak_temporary_bytes == 2 * SQUARE


def test_what_torch_tensor_makes_is_counted():
    """Storages made out of the dispatcher's sight are counted where they are lifted into it."""
    work, _ = watched(lambda q: q + torch.tensor([1.0] * D), qkv()[0])
    assert work.peak_temporary_bytes == 4 * D


class Naive(torch.autograd.Function):
    """Naive attention that saves its weights for the backward."""

    @staticmethod
    def forward(ctx, q, k, v):
        """Weights are saved: T×T lives on."""
        p = torch.softmax(q @ k.T, -1)
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    @staticmethod
    def backward(ctx, grad):
        """The usual gradients, with dp, ds in T×T."""
        q, k, v, p = ctx.saved_tensors
        dp = grad @ v.T
        ds = p * (dp - (dp * p).sum(-1, keepdim=True))
        return ds @ k, ds.T @ q, p.T @ grad


class Lean(Naive):
    """The same, recomputing the weights in the backward."""

    @staticmethod
    def forward(ctx, q, k, v):
        """Saves inputs only."""
        ctx.save_for_backward(q, k, v)
        return torch.softmax(q @ k.T, -1) @ v

    @staticmethod
    def backward(ctx, grad):
        """In row blocks of 8."""
        q, k, v = ctx.saved_tensors
        dk, dv, dq = torch.zeros_like(k), torch.zeros_like(v), torch.empty_like(q)
        for i in range(0, T, 8):
            rows = slice(i, i + 8)
            p = torch.softmax(q[rows] @ k.T, -1)
            dp = grad[rows] @ v.T
            ds = dp.sub_((dp * p).sum(-1, keepdim=True)).mul_(p)
            dq[rows] = ds @ k
            dk += ds.T @ q[rows]
            dv += p.T @ grad[rows]
        return dq, dk, dv


def test_weights_saved_for_the_backward_stay_alive_after_the_forward():
    """A storage that only the graph holds is a temporary until the graph goes."""
    inputs = [t.requires_grad_() for t in qkv()]
    work, side = watched(Naive.apply, *inputs)
    assert work.peak_temporary_bytes == 2 * SQUARE

    def twice(q, k, v):
        return Naive.apply(q, k, v), Naive.apply(q, k, v)

    work, side = watched(twice, *inputs)
    assert work.peak_temporary_bytes == 3 * SQUARE
    assert side.findings == []


def test_a_backward_in_the_same_call_is_seen():
    """Forward and backward of a Function: p, dp, their product, the difference and ds are alive at once."""
    inputs = [t.requires_grad_() for t in qkv()]

    def call(q, k, v, grad):
        return torch.autograd.grad(Naive.apply(q, k, v), (q, k, v), grad)

    work, _ = watched(call, *inputs, torch.ones(T, D))
    # p, dp, dp - rowsum and ds, and the forward's output, which is an argument of grad().
    assert work.peak_temporary_bytes == 4 * SQUARE + ROWS
    assert work.ops["aten.mm"] == 6


def test_recomputing_in_row_blocks_keeps_the_backward_small():
    """No T×T in the backward: what the forward made is the largest."""
    inputs = [t.requires_grad_() for t in qkv()]
    out = Lean.apply(*inputs)

    def backward(grad):
        return torch.autograd.grad(out, inputs, grad)

    work, _ = watched(backward, torch.ones(T, D))
    assert work.largest_temporary_bytes == ROWS  # ds.T @ q[rows]
    assert work.peak_temporary_bytes < SQUARE


def test_checkpointing_drops_what_it_recomputes():
    """Two exp layers: kept, the backward has both; checkpointed, it makes them again one at a time."""

    def layers(x):
        return ((x * 2).exp() * 3).exp()

    def kept(x):
        return torch.autograd.grad(layers(x).sum(), x)

    def recomputed(x):
        return torch.autograd.grad(checkpoint(layers, x, use_reentrant=False).sum(), x)

    x = torch.zeros(T, T, requires_grad=True)
    plain, _ = watched(kept, x)
    again, _ = watched(recomputed, x)
    assert plain.ops["aten.exp"] == 2
    assert again.ops["aten.exp"] == 4

    def forward_only(x):
        y = checkpoint(layers, x, use_reentrant=False)
        z = torch.zeros(T, T)
        return y, z

    work, _ = watched(forward_only, x)
    assert work.peak_temporary_bytes == 2 * SQUARE  # x * 2 and its exp; nothing stays


def test_gradients_left_on_the_inputs_are_results():
    """backward() returns nothing, and what it was for is on .grad."""
    x = torch.zeros(T, T, requires_grad=True)
    work, _ = watched(lambda x: (x * x).sum().backward(), x)
    # The sum and its gradient, a scalar each; grad·x for either factor, whose sum becomes .grad.
    assert x.grad is not None
    assert work.peak_temporary_bytes == 2 * SQUARE + 2 * 4


def test_what_outlives_the_call_in_a_cache_is_a_temporary():
    """A module-level cache is memory that the call made and did not return."""
    cache = []
    work, _ = watched(lambda q: cache.append(q @ q.T), qkv()[0])
    assert work.peak_temporary_bytes == SQUARE
    assert cache
