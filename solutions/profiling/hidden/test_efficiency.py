"""Hidden checks of efficiency.py: drawn runs and shapes against the reference."""

import pytest

from specs import TracedModel, gpu
from specs.traces import make_trace

CARDS = ("a100-sxm-80gb", "h100-sxm", "rtx-4090", "b200-sxm")


@pytest.mark.exercise("profiling.achieved_mfu", weight=2)
def test_any_run(submission, expect, oracle, rng):
    """Drawn models on drawn cards, over two to four steps with gaps between them."""
    cases = []
    for mostly in ("matmul", "idle_host", "idle_data"):
        trace, _ = make_trace(
            rng.getrandbits(48), steps=rng.randint(2, 4), mostly=mostly, step_ns=400_000, straddling=False
        )
        model = TracedModel(
            parameters=rng.randint(10**5, 10**6),
            layers=rng.randint(2, 12),
            hidden=64 * rng.randint(1, 8),
            sequence=128 * rng.randint(1, 8),
            tokens_per_step=1024 * rng.randint(1, 4),
        )
        cases.append((trace["traceEvents"], model, gpu(rng.choice(CARDS)), rng.choice(["bf16", "fp32"])))
    got = [submission.profiling.achieved_mfu(*case) for case in cases]
    for answer, case in zip(got, cases, strict=True):
        expect.number(answer, oracle.profiling.achieved_mfu(*case), case="a drawn run")


def recorded(rng, name, dims, types):
    """An operation as record_shapes writes it, of a drawn time."""
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "ts": 1.0,
        "dur": rng.randint(1000, 10**6) / 1000,
        "args": {"Input Dims": dims, "Input type": types},
    }


def matmuls(rng):
    """mm, bmm and addmm, small and large, in each format."""
    found = []
    for size in (8, 2048):
        m, n, k, b = (rng.randint(size // 2, size) for _ in range(4))
        for kind in ("float", "c10::BFloat16", "c10::Half"):
            plain = [[m, k], [k, n]]
            found += [
                recorded(rng, "aten::mm", plain, [kind] * 2),
                recorded(rng, "aten::bmm", [[b, *each] for each in plain], [kind] * 2),
                recorded(rng, "aten::addmm", [[n], *plain, [], []], [kind] * 3 + ["Scalar"] * 2),
                recorded(rng, "aten::addmm", [[m, n], *plain, [], []], [kind] * 3 + ["Scalar"] * 2),
            ]
    return found


def by_element(rng):
    """add, mul, gelu and silu, with broadcasting, scalars and tensors of one element."""
    a, b, c = (rng.randint(2, 300) for _ in range(3))
    kinds = ("float", "c10::BFloat16", "c10::Half")
    return [
        each
        for kind in kinds
        for each in (
            recorded(rng, "aten::add", [[a, b, c], [b, c], []], [kind, kind, "Scalar"]),
            recorded(rng, "aten::mul", [[a, b, 1], [a, 1, c]], [kind, kind]),
            recorded(rng, "aten::mul", [[a, b], []], [kind, kind]),
            recorded(rng, "aten::gelu", [[a, b, c], []], [kind, ""]),
            recorded(rng, "aten::silu", [[c, a]], [kind]),
        )
    ]


def check_operations(submission, expect, oracle, events, card, case):
    """Every operation is asked for before the first is compared."""
    got = [submission.profiling.kernel_efficiency(event, card) for event in events]
    for answer, event in zip(got, events, strict=True):
        expect.terms(answer, oracle.profiling.kernel_efficiency(event, card), case=case)


@pytest.mark.exercise("profiling.kernel_efficiency", weight=2)
def test_any_matmul(submission, expect, oracle, rng):
    """mm, bmm and addmm with a bias or a whole matrix, in three formats, on both sides of the ridge."""
    check_operations(submission, expect, oracle, matmuls(rng), gpu(rng.choice(CARDS)), "a drawn matmul")


@pytest.mark.exercise("profiling.kernel_efficiency", weight=2)
def test_any_operation_by_element(submission, expect, oracle, rng):
    """add, mul, gelu and silu of drawn shapes."""
    check_operations(submission, expect, oracle, by_element(rng), gpu(rng.choice(CARDS)), "by element")


@pytest.mark.exercise("profiling.kernel_efficiency")
def test_an_unknown_operation_raises(submission, expect, rng):
    """An operation without a rule is a ValueError, and a matmul beside it is none."""
    size = rng.randint(2, 9)
    bad, good = (
        recorded(rng, name, [[size, size], [size, size]], ["float", "float"])
        for name in ("aten::sort", "aten::mm")
    )
    function = submission.profiling.kernel_efficiency
    expect.that(function.probed("raised", good, gpu("h100-sxm")) == "", "it raises where nothing is wrong")
    raised = function.probed("raised", bad, gpu("h100-sxm"))
    if raised == "":
        expect.that(
            False,
            "an operation without a rule: it returned something; raise a ValueError",
            symptom="accepts an operation without a rule",
        )
    expect.that(raised == "ValueError", "an operation without a rule: a ValueError is needed")
