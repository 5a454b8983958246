"""Hidden checks of traffic.py: fresh random shapes and formats against the reference."""

import pytest

FORMATS = ("fp32", "bf16", "fp16", "fp8", "fp64")


def check(expect, function, right, cases):
    """Every case is asked for before the first is compared."""
    got = [function(**arguments) for arguments in cases]
    for answer, arguments in zip(got, cases, strict=True):
        expect.terms(answer, right(**arguments))


@pytest.mark.exercise("flash_attention.attention_temporary_bytes", weight=4)
def test_any_attention_holds_what_it_writes(submission, expect, oracle, rng):
    """Any sequence, head_dim, heads, batch and format, naive and flash."""
    cases = [
        {
            "algorithm": algorithm,
            "sequence": rng.randint(100, 99_999),
            "head_dim": rng.randint(8, 300),
            "dtype": rng.choice(FORMATS),
            **more,
        }
        for algorithm in ("naive", "flash")
        for more in (
            {},
            {"heads": rng.randint(2, 99)},
            {"heads": rng.randint(2, 99), "batch": rng.randint(2, 9)},
        )
    ]
    function, right = (each.flash_attention.attention_temporary_bytes for each in (submission, oracle))
    check(expect, function, right, cases)


def shapes(rng, **more):
    """Arguments of `attention_hbm_bytes` but the algorithm and the direction."""
    return {
        "sequence": rng.randint(100, 9_999),
        "head_dim": rng.randint(8, 300),
        "dtype": rng.choice(FORMATS),
        **more,
    }


@pytest.mark.exercise("flash_attention.attention_hbm_bytes", weight=4)
def test_any_compulsory_traffic(submission, expect, oracle, rng):
    """Both algorithms in both directions, each tensor of each kernel once."""
    cases = [
        {"algorithm": algorithm, "direction": direction, **shapes(rng, heads=rng.choice((1, 7, 12)))}
        for algorithm in ("naive", "flash")
        for direction in ("forward", "backward")
    ]
    function, right = (each.flash_attention.attention_hbm_bytes for each in (submission, oracle))
    check(expect, function, right, cases)


@pytest.mark.exercise("flash_attention.attention_hbm_bytes", weight=4)
def test_any_tiles(submission, expect, oracle, rng):
    """Tiles of any number of rows, more than the sequence has among them."""
    cases = [
        {"algorithm": "flash", "direction": direction, **shapes(rng, rows=rows, heads=rng.randint(2, 40))}
        for direction in ("forward", "backward")
        for rows in (rng.randint(5, 99), 128, 20_000)
    ]
    function, right = (each.flash_attention.attention_hbm_bytes for each in (submission, oracle))
    check(expect, function, right, cases)


@pytest.mark.exercise("flash_attention.attention_hbm_bytes", weight=2)
def test_any_on_chip_memory(submission, expect, oracle, rng):
    """The first FlashAttention on any chip, down to one that holds a single row."""
    for _ in range(4):
        sequence, head_dim = rng.randint(100, 9_999), rng.randint(8, 300)
        on_chip = rng.choice((head_dim, rng.randint(4 * head_dim, sequence * head_dim)))
        got = submission.flash_attention.paper_hbm_elements(sequence, head_dim, on_chip)
        expect.number(got, oracle.flash_attention.paper_hbm_elements(sequence, head_dim, on_chip))
