"""Checks of attention: that it is right, and how fast it is."""

import pytest

torch = pytest.importorskip("torch")


def _close(got, wanted):
    return all(
        torch.allclose(each, other, atol=1e-4, rtol=1e-3) for each, other in zip(got, wanted, strict=True)
    )


@pytest.mark.exercise("clock_kit.right")
@pytest.mark.parametrize("causal", [False, True])
def test_is_attention(submission, expect, causal):
    """The output and its gradients are those of attention."""
    from kernels_ref import inputs, naive

    q, k, v = inputs.peaked(7, 96, 96, 32, leading=(1, 2))
    wanted = naive.attention(q, k, v, causal=causal)
    expect.that(_close(submission.clock_kit.flash_forward(q, k, v, causal), wanted), "not attention")
    grad = inputs.gradient(3, q)
    found = submission.clock_kit.flash_backward(q, k, v, *wanted, grad, causal)
    expect.that(_close(found, naive.attention_backward(q, k, v, grad, causal=causal)), "not its gradients")


@pytest.mark.exercise("clock_kit.fast")
def test_forward_is_timed(submission):
    """Forward, timed against the baseline."""
    submission.clock_kit.flash_forward.timed("forward")


@pytest.mark.exercise("clock_kit.fast_backward")
def test_backward_is_timed(submission):
    """Backward, timed against the baseline."""
    submission.clock_kit.flash_backward.timed("backward")
