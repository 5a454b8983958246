"""Tiled attention equals naive attention whatever the tiles, and never holds T × T."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernels_ref.naive import attention, attention_backward
from kernels_ref.tiled import TiledAttention, tiled_attention, tiled_attention_backward


class LargestResult(TorchDispatchMode):
    """Remembers the most elements of any tensor that an operation returned."""

    elements = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.elements = max(self.elements, result.numel())
        return result


def inputs(leading, kv_leading, queries, keys):
    """fp64 q, k, v of width 8 and a gradient."""
    generator = torch.Generator().manual_seed(6)
    shapes = ((*leading, queries, 8), (*kv_leading, keys, 8), (*kv_leading, keys, 8), (*leading, queries, 8))
    q, k, v, grad = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return 4 * q, k, v, grad


@pytest.mark.parametrize("tiles", [(16, 16), (7, 30), (64, 5)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(32, 32), (50, 33), (33, 50)])
@pytest.mark.parametrize(("leading", "kv_leading"), [((), ()), ((2, 4), (2, 2))])
def test_output_lse_and_gradients_are_those_of_naive(leading, kv_leading, queries, keys, causal, tiles):
    """In fp64 to 1e-11, tiles that divide the lengths and tiles that do not."""
    q, k, v, grad = inputs(leading, kv_leading, queries, keys)
    options = {"causal": causal, "query_tile": tiles[0], "key_tile": tiles[1]}
    found = tiled_attention(q, k, v, **options)
    torch.testing.assert_close(found, attention(q, k, v, causal=causal), rtol=1e-11, atol=1e-11)
    gradients = tiled_attention_backward(q, k, v, *found, grad, **options)
    expected = attention_backward(q, k, v, grad, causal=causal)
    torch.testing.assert_close(gradients, expected, rtol=1e-11, atol=1e-11)


def test_autograd_takes_the_tiled_gradients():
    """TiledAttention.apply against naive, in the dtype of the inputs."""
    q, k, v, grad = inputs((2,), (2,), 20, 20)
    leaves = [each.float().requires_grad_() for each in (q, k, v)]
    found = torch.autograd.grad(TiledAttention.apply(*leaves, True), leaves, grad.float())
    assert {each.dtype for each in found} == {torch.float32}
    expected = attention_backward(q, k, v, grad, causal=True)
    torch.testing.assert_close(tuple(each.double() for each in found), expected, rtol=1e-4, atol=1e-4)


def test_no_temporary_is_larger_than_the_inputs():
    """At T = 512 and tiles of 32 the score matrix would be 64 times q."""
    q, k, v, grad = inputs((), (), 512, 512)
    with LargestResult() as largest:
        found = tiled_attention(q, k, v, query_tile=32, key_tile=32)
        tiled_attention_backward(q, k, v, *found, grad, query_tile=32, key_tile=32)
    assert largest.elements == q.numel()
