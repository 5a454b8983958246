"""Inputs of timed calls are secret, fresh and hard, and right answers to them pass."""

import random

import pytest

torch = pytest.importorskip("torch")

from grader.calls.faults import CheckFailed  # noqa: E402 - after the skip: they import torch
from grader.clock.workloads import AttentionWorkload, draw_pools, in_pytorch  # noqa: E402
from grader.worker import windows  # noqa: E402
from kernels_ref import naive  # noqa: E402
from kernels_ref.timed import tiled  # noqa: E402
from specs.timing import TimedShape  # noqa: E402

SIZE = {"batch": 2, "heads": 4, "kv_heads": 2, "tokens": 128, "head_dim": 32, "causal": True}
FORWARD = TimedShape(direction="forward", dtype="fp32", **SIZE)
BACKWARD = TimedShape(direction="backward", dtype="fp32", **SIZE)
HALF = TimedShape(direction="forward", dtype="bf16", **SIZE)


def workload(shape, seed=1):
    return AttentionWorkload(shape, draw_pools([shape], "cpu"), in_pytorch()), random.Random(seed)


def sketched(call, outputs):
    return windows.sketch(outputs, call.judged_weights)


@pytest.mark.parametrize("shape", [FORWARD, BACKWARD, HALF], ids=lambda shape: shape.label)
def test_another_right_implementation_passes(shape):
    work, order = workload(shape)
    function = tiled.flash_forward if shape.direction == "forward" else tiled.flash_backward
    for _ in range(3):
        call = work.draw(order)
        outputs = function(*call.inputs, shape.causal)
        work.check(call, outputs, sketched(call, outputs), "call 1")


@pytest.mark.parametrize("shape", [FORWARD, BACKWARD, HALF], ids=lambda shape: shape.label)
def test_the_answer_to_another_call_does_not(shape):
    work, order = workload(shape)
    function = tiled.flash_forward if shape.direction == "forward" else tiled.flash_backward
    call, other = work.draw(order), work.draw(order)
    outputs = function(*other.inputs, shape.causal)
    with pytest.raises(CheckFailed, match=r"call 7: .* off by") as caught:
        work.check(call, outputs, sketched(call, outputs), "call 7")
    assert caught.value.symptom == "timed.wrong"


def test_no_two_calls_have_the_same_inputs_or_addresses():
    work, order = workload(FORWARD)
    calls = [work.draw(order) for _ in range(50)]
    assert len({call.arguments for call in calls}) == 50
    assert len({tuple(float(each.sum()) for each in call.inputs) for call in calls}) == 50


def test_a_worker_resolves_what_the_judge_keeps_to_the_same_numbers():
    shape = BACKWARD
    pools = draw_pools([shape], "cpu")
    call = AttentionWorkload(shape, pools, in_pytorch()).draw(random.Random(2))
    resolved = [windows.resolve(each, pools.by_name, call.staged) for each in call.arguments]
    assert all(torch.equal(each, mine) for each, mine in zip(resolved, call.inputs, strict=False))
    assert resolved[-1] is True


def test_out_and_lse_of_a_backward_call_belong_to_its_queries_and_keys():
    work, order = workload(BACKWARD)
    q, k, v, out, lse, _ = work.draw(order).inputs
    right = naive.attention(q, k, v, causal=True)
    assert torch.allclose(out, right[0], atol=1e-5)
    assert torch.allclose(lse, right[1], atol=1e-5)


def test_the_gradient_is_secret_until_the_clock_starts():
    work, order = workload(BACKWARD)
    call = work.draw(order)
    assert set(call.staged) == {"out", "lse"}
    assert call.arguments[5][:2] == ("window", "grad.fp32")


def test_scores_are_peaked_so_that_a_lazy_kernel_is_far_off():
    work, order = workload(FORWARD)
    call = work.draw(order)
    q, k, v = call.inputs
    mean = v.repeat_interleave(2, 1).mean(-2, keepdim=True).expand_as(q).contiguous()
    outputs = (mean, naive.attention(q, k, v, causal=True)[1])
    with pytest.raises(CheckFailed, match="out"):
        work.check(call, outputs, sketched(call, outputs), "call 1")


def test_too_few_outputs_are_named():
    work, order = workload(FORWARD)
    call = work.draw(order)
    with pytest.raises(CheckFailed, match="returned 1 tensors, not out, lse"):
        work.check(call, (call.inputs[0],), torch.zeros(1), "call 3")
