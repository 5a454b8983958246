"""Hidden checks of softmax.py: fresh scores and parts against the reference in fp64.

How far from it an answer may be follows from what the reference itself is off in the format of the inputs.
"""

import math

import pytest

from kernels_ref import inputs


def scores(rng, rows, columns):
    """Scores with a random offset, slope and spread; some are masked, and the third row is throughout."""
    import torch

    x = inputs.rows_of_scores(
        rng.getrandbits(32), rows, columns, climb=rng.uniform(-40, 40), spread=rng.choice((0.5, 3.0, 900.0))
    )
    x = x + rng.choice((0.0, 9e3, -9e3))
    hidden = torch.rand(rows, columns, generator=torch.Generator().manual_seed(rng.getrandbits(32))) < 0.2
    hidden[2] = True
    return x.masked_fill(hidden, -math.inf)


@pytest.mark.exercise("flash_attention.safe_softmax", weight=5)
def test_any_scores(submission, expect, oracle, rng):
    """Any offset, slope and spread, masked scores and a masked row, in any format."""
    import torch

    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        x = scores(rng, rng.randint(3, 20), rng.randint(2, 300)).to(dtype)
        x = x.reshape(1, *x.shape) if rng.random() < 0.5 else x
        right = oracle.flash_attention.safe_softmax
        got = submission.flash_attention.safe_softmax(x)
        expect.close(got, right(x.double()), right(x), case="random scores")
        report = submission.flash_attention.safe_softmax.probed("temporaries", "call", args=[x], kwargs={})
        expect.that(isinstance(report, dict) and "value" in report, "no whole report came back")
        expect.close(report["value"], right(x.double()), right(x), case="random scores")
        expect.that(
            report.get("softmax") is False,
            "torch's own softmax did the work: write it with max, exp and sum",
            symptom="library_softmax",
        )


def streamed(submission, expect, oracle, x, width):
    """The statistics of blocks of this width; what the probe reports."""
    blocks = [block.contiguous() for block in x.split(width, 1)]
    report = submission.flash_attention.online_softmax.probed("temporaries", "stream", blocks=blocks)
    whole = isinstance(report, dict) and type(report.get("peak_bytes")) is int
    expect.that(whole and "value" in report, "no whole report came back")
    value = report["value"]
    expect.that(
        isinstance(value, list | tuple) and len(value) == 2, "a pair is needed, the maximum and the sum"
    )
    right = oracle.flash_attention.online_softmax
    wide, low = right(block.double() for block in blocks), right(iter(blocks))
    for got, wanted, trusted, name in zip(value, wide, low, "ml", strict=True):
        expect.close(got, wanted, trusted, name=name, rows=0)
    return report, blocks


@pytest.mark.exercise("flash_attention.online_softmax", weight=5)
def test_any_stream(submission, expect, oracle, rng):
    """Any scores in blocks of any width, masked blocks and rows among them."""
    for _ in range(6):
        x = scores(rng, rng.randint(3, 20), rng.randint(20, 300))
        x[0, : rng.randint(1, 19)] = -math.inf
        streamed(submission, expect, oracle, x, rng.randint(1, 64))


@pytest.mark.exercise("flash_attention.online_softmax", weight=2)
def test_any_stream_is_forgotten(submission, expect, oracle, rng):
    """However many blocks come, what is alive at once does not grow."""
    x = scores(rng, 24, rng.randint(1500, 1900))
    report, blocks = streamed(submission, expect, oracle, x, 30)
    expect.that(report["peak_bytes"] <= 8 * blocks[0].nbytes, "more is kept than a few blocks")


@pytest.mark.exercise("flash_attention.merge_partials", weight=6)
def test_any_parts_in_any_order(submission, expect, oracle, rng):
    """Up to seven parts of any sizes, some empty, merged in a random order."""
    import torch

    from kernels_ref.naive import attention

    for dtype in ("float32", "bfloat16"):
        keys = rng.randint(40, 90)
        q, k, v = inputs.peaked(
            rng.getrandbits(32), rng.randint(5, 30), keys, 16, leading=(2,), query_scale=1.5
        )
        ends = sorted(rng.sample(range(1, keys), rng.randint(2, 6)))
        parts = [
            attention(q.double(), k[..., start:end, :].double(), v[..., start:end, :].double())
            for start, end in zip([0, *ends], [*ends, keys], strict=True)
        ]
        empty = torch.zeros_like(parts[0][0]), torch.full_like(parts[0][1], -math.inf)
        queue = [(out.to(getattr(torch, dtype)), lse.float()) for out, lse in [*parts, empty]]
        # What rounding to the format after every merge costs, by the reference.
        trusted = list(queue)
        while len(queue) > 1:
            one, other = rng.sample(range(len(queue)), 2)
            merged = submission.flash_attention.merge_partials(queue[one], queue[other])
            pair = isinstance(merged, list | tuple) and len(merged) == 2
            expect.that(
                pair and all(isinstance(each, torch.Tensor) for each in merged), "a pair of tensors is needed"
            )
            trusted.append(oracle.flash_attention.merge_partials(trusted[one], trusted[other]))
            queue.append((merged[0], merged[1]))
            for place in sorted((one, other), reverse=True):
                del queue[place], trusted[place]
        wanted = attention(q.double(), k.double(), v.double())
        for got, right, low, name, rows in zip(
            queue[0], wanted, trusted[0], ("out", "lse"), (-2, -1), strict=True
        ):
            expect.close(got, right, low, name=name, rows=rows)


@pytest.mark.exercise("flash_attention.merge_partials", weight=2)
def test_any_parts_with_large_lse(submission, expect, oracle, rng):
    """Parts whose lse are hundreds to thousands, of either sign, and rows that one part, or both, did not see."""
    import torch

    q, k, v = inputs.huge(rng.getrandbits(32), 20, 40, 16, largest=rng.uniform(500, 9000))
    from kernels_ref.naive import attention

    parts = []
    for keys in (slice(0, 17), slice(17, None)):
        out, lse = attention(q, k[keys], v[keys])
        unseen = torch.tensor(sorted(rng.sample(range(20), 6)))
        out[unseen], lse[unseen] = 0.0, -math.inf
        out[3], lse[3] = 0.0, -math.inf
        parts.append((out, lse))
    got = submission.flash_attention.merge_partials(*parts)
    expect.that(isinstance(got, list | tuple) and len(got) == 2, "a pair is needed, out and lse")
    right = oracle.flash_attention.merge_partials
    wide = right(*[(out.double(), lse.double()) for out, lse in parts])
    low = right(*parts)
    largest = float(wide[1][wide[1].isfinite()].abs().max())
    expect.close(got[0], wide[0], low[0], name="out", exponent=largest)
    expect.close(got[1], wide[1], low[1], name="lse", rows=-1, exponent=largest)
