"""The oracle agrees with PyTorch's own attention and autograd in fp64, and low precision is as wrong as its dtype."""

import pytest
import torch
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

from kernels_ref.naive import (
    attention,
    attention_backward,
    low_precision_attention,
    low_precision_attention_backward,
)


def inputs(queries, keys, heads=4, kv_heads=2, dtype=torch.float64):
    """q, k, v (2, H, T, 16), N(0, 1), scores of standard deviation 3."""
    generator = torch.Generator().manual_seed(5)
    shapes = ((2, heads, queries, 16), (2, kv_heads, keys, 16), (2, kv_heads, keys, 16))
    q, k, v = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return (3 * q).to(dtype), k.to(dtype), v.to(dtype)


@pytest.mark.parametrize(("queries", "keys"), [(9, 9), (5, 9)])
@pytest.mark.parametrize("causal", [False, True])
def test_it_is_pytorchs_attention_in_fp64(queries, keys, causal):
    """With grouped heads, and a causal mask aligned bottom-right."""
    q, k, v = inputs(queries, keys)
    mask = causal_lower_right(queries, keys) if causal and queries != keys else None
    expected = scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=causal and mask is None, enable_gqa=True
    )
    out, lse = attention(q, k, v, causal=causal)
    assert out.dtype == lse.dtype == torch.float64
    torch.testing.assert_close(out, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("scale", [None, 0.1])
def test_lse_is_the_natural_log_of_the_sum_with_the_scale_in_it(scale):
    """By the definition, for one query of one head."""
    q, k, v = inputs(3, 4, heads=1, kv_heads=1)
    _, lse = attention(q, k, v, scale=scale)
    factor = 0.25 if scale is None else scale
    expected = sum(torch.exp(factor * (q[0, 0, 1] @ k[0, 0, key])) for key in range(4)).log()
    torch.testing.assert_close(lse[0, 0, 1], expected)


@pytest.mark.parametrize(("queries", "keys"), [(7, 7), (9, 5), (4, 9)])
@pytest.mark.parametrize("causal", [False, True])
def test_the_gradients_are_autograds(queries, keys, causal):
    """Written out and by autograd, in fp64; grouped heads summed, rows without keys 0."""
    leaves = [each.requires_grad_() for each in inputs(queries, keys)]
    out, _ = attention(*leaves, causal=causal)
    grad = torch.linspace(-1, 2, out.numel(), dtype=out.dtype).reshape(out.shape)
    expected = torch.autograd.grad(out, leaves, grad)
    found = attention_backward(*(each.detach() for each in leaves), grad, causal=causal)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_a_query_that_sees_no_key_gives_zero_minus_infinity_and_no_gradient():
    """Of 5 queries on 3 keys the first two."""
    q, k, v = inputs(5, 3)
    out, lse = attention(q, k, v, causal=True)
    assert (out[..., :2, :] == 0).all()
    assert lse[..., :2].isneginf().all()
    assert lse[..., 2:].isfinite().all()
    grad_q, grad_k, grad_v = attention_backward(q, k, v, torch.ones_like(q), causal=True)
    assert (grad_q[..., :2, :] == 0).all()
    assert all(each.isfinite().all() for each in (grad_q, grad_k, grad_v))
    low, low_lse = low_precision_attention(q.bfloat16(), k.bfloat16(), v.bfloat16(), causal=True)
    assert (low[..., :2, :] == 0).all()
    assert low_lse[..., :2].isneginf().all()


@pytest.mark.parametrize(
    ("dtype", "unit"), [(torch.float32, 2**-24), (torch.float16, 2**-11), (torch.bfloat16, 2**-8)]
)
def test_low_precision_is_wrong_by_about_a_rounding(dtype, unit):
    """Between a tenth and sixteen units of relative L2: not exact, which no kernel is, and no worse than it must be."""
    q, k, v = inputs(64, 64, dtype=dtype)
    grad = torch.ones_like(q)
    exact = (
        attention(q.double(), k.double(), v.double())[0],
        *attention_backward(q.double(), k.double(), v.double(), grad.double()),
    )
    low = (low_precision_attention(q, k, v)[0], *low_precision_attention_backward(q, k, v, grad))
    for found, right in zip(low, exact, strict=True):
        assert found.dtype == dtype
        assert unit / 10 < (found - right).norm() / right.norm() < 16 * unit


def test_low_precision_refuses_fp64():
    """It would be called the error of low precision, and be none."""
    with pytest.raises(ValueError, match="not a low precision"):
        low_precision_attention(*inputs(3, 3))


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        (((3, 4), (2, 3, 4), (2, 3, 4)), "same number of dimensions"),
        (((3, 4), (3, 4), (2, 4)), "one shape"),
        (((3, 4), (3, 8), (3, 8)), "last dimension"),
        (((3, 5, 4), (2, 5, 4), (2, 5, 4)), "must divide"),
        (((2, 3, 5, 4), (1, 3, 5, 4), (1, 3, 5, 4)), "before the heads"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_by_what_is_wrong(shapes, said):
    """Broadcasting would otherwise give an answer."""
    with pytest.raises(ValueError, match=said):
        attention(*(torch.zeros(shape) for shape in shapes))
