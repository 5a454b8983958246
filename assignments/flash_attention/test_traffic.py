"""Visible checks of traffic.py: sections 1 and 2."""

import pytest

from specs import AttentionHbmBytes, AttentionTemporaryBytes


def check(function, expect, kind, wanted):
    """Every case is asked for before the first is compared: more to tell one mistake from another by.

    `wanted` maps a case, in words, to its keyword arguments and the terms, in the order of their type.
    """
    got = {case: function(**arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, terms) in wanted.items():
        expect.terms(got[case], kind(*terms), unit="bytes", case=case)


def held(algorithm, sequence, head_dim, dtype="bf16", **more):
    """Keyword arguments of `attention_temporary_bytes`."""
    return {"algorithm": algorithm, "sequence": sequence, "head_dim": head_dim, "dtype": dtype, **more}


@pytest.mark.exercise("flash_attention.attention_temporary_bytes", weight=2)
def test_one_head_at_32k_tokens_is_2_1_gb_or_9_mb(submission, expect):
    """The chapter's figure 3: one bf16 head at T = 32,768 holds 2.1 GB naively, and 9 MB with flash."""
    # 32,768² · 2 bytes; 32,768 · 128 · 2 bytes of O and 32,768 · 4 of the logsumexp: 8.52 MB.
    check(
        submission.flash_attention.attention_temporary_bytes,
        expect,
        AttentionTemporaryBytes,
        {
            "naive": (held("naive", 32_768, 128), (2_147_483_648, 0, 0)),
            "flash": (held("flash", 32_768, 128), (0, 8_388_608, 131_072)),
        },
    )


@pytest.mark.exercise("flash_attention.attention_temporary_bytes")
def test_heads_and_sequences_multiply_the_bill(submission, expect):
    """Every head of every sequence has its own scores, its own output and its own logsumexp."""
    check(
        submission.flash_attention.attention_temporary_bytes,
        expect,
        AttentionTemporaryBytes,
        {
            "naive, 32 heads": (held("naive", 4096, 64, heads=32), (1_073_741_824, 0, 0)),
            "flash, 32 heads": (held("flash", 4096, 64, heads=32), (0, 16_777_216, 524_288)),
            "naive, 3 sequences": (held("naive", 1000, 64, heads=12, batch=3), (72_000_000, 0, 0)),
            "flash, 3 sequences": (held("flash", 1000, 64, heads=12, batch=3), (0, 4_608_000, 144_000)),
        },
    )


@pytest.mark.exercise("flash_attention.attention_temporary_bytes")
def test_the_format_is_that_of_scores_and_output_and_not_of_the_logsumexp(submission, expect):
    """In fp32 scores and output double; the logsumexp has four bytes in every format."""
    check(
        submission.flash_attention.attention_temporary_bytes,
        expect,
        AttentionTemporaryBytes,
        {
            "naive, fp32": (held("naive", 1000, 80, "fp32"), (4_000_000, 0, 0)),
            "flash, fp32": (held("flash", 1000, 80, "fp32"), (0, 320_000, 4_000)),
            "naive, fp8": (held("naive", 1000, 80, "fp8"), (1_000_000, 0, 0)),
            "flash, fp8": (held("flash", 1000, 80, "fp8"), (0, 80_000, 4_000)),
        },
    )


def moved(algorithm, direction, sequence, head_dim, dtype="bf16", **more):
    """Keyword arguments of `attention_hbm_bytes`."""
    return {**held(algorithm, sequence, head_dim, dtype, **more), "direction": direction}


@pytest.mark.exercise("flash_attention.attention_hbm_bytes", weight=2)
def test_naive_moves_four_square_matrices_forward_and_seven_backward(submission, expect):
    """Naive attention moves 4·T² scores forward and 7·T² backward, beside Q, K, V, O and their gradients."""
    # In elements: T·D = 1000·64 = 64,000 and T² = 1,000,000.
    check(
        submission.flash_attention.attention_hbm_bytes,
        expect,
        AttentionHbmBytes,
        {
            "forward": (moved("naive", "forward", 1000, 64), (128_000, 256_000, 8_000_000, 128_000, 0, 0)),
            "backward": (
                moved("naive", "backward", 1000, 64),
                (128_000, 256_000, 14_000_000, 256_000, 0, 384_000),
            ),
            "forward, fp32, 3 heads": (
                moved("naive", "forward", 1000, 64, "fp32", heads=3),
                (768_000, 1_536_000, 48_000_000, 768_000, 0, 0),
            ),
        },
    )


@pytest.mark.exercise("flash_attention.attention_hbm_bytes")
def test_flash_must_move_each_tensor_once(submission, expect):
    """The compulsory traffic of flash: each input and each output once, and no scores."""
    # T·D = 4096·128 elements are 1,048,576 bytes; 4096 statistics are 16,384 bytes.
    check(
        submission.flash_attention.attention_hbm_bytes,
        expect,
        AttentionHbmBytes,
        {
            "forward": (
                moved("flash", "forward", 4096, 128),
                (1_048_576, 2_097_152, 0, 1_048_576, 16_384, 0),
            ),
            "backward": (
                moved("flash", "backward", 4096, 128),
                (1_048_576, 2_097_152, 0, 2_097_152, 16_384, 3_145_728),
            ),
            "forward, fp32, 8 heads": (
                moved("flash", "forward", 4096, 128, "fp32", heads=8),
                (16_777_216, 33_554_432, 0, 16_777_216, 131_072, 0),
            ),
        },
    )


@pytest.mark.exercise("flash_attention.attention_hbm_bytes", weight=2)
def test_every_tile_of_queries_loads_all_keys_and_values(submission, expect):
    """Forward in tiles: K and V are loaded once for each tile of queries, Q once; 2·T·D·(1 + ⌈T/rows⌉) elements."""
    # 1024 / 64 = 16 tiles; 1000 / 64 is 15.6, so 16 tiles too.
    check(
        submission.flash_attention.attention_hbm_bytes,
        expect,
        AttentionHbmBytes,
        {
            "1024 tokens, 64 rows": (
                moved("flash", "forward", 1024, 64, rows=64),
                (131_072, 4_194_304, 0, 131_072, 4_096, 0),
            ),
            "1024 tokens, 128 rows": (
                moved("flash", "forward", 1024, 64, rows=128),
                (131_072, 2_097_152, 0, 131_072, 4_096, 0),
            ),
            "1000 tokens, 64 rows": (
                moved("flash", "forward", 1000, 64, rows=64),
                (128_000, 4_096_000, 0, 128_000, 4_000, 0),
            ),
            "naive has no tiles": (
                moved("naive", "forward", 1000, 64, rows=64),
                (128_000, 256_000, 8_000_000, 128_000, 0, 0),
            ),
        },
    )


@pytest.mark.exercise("flash_attention.attention_hbm_bytes", weight=2)
def test_backward_in_tiles_loads_in_both_directions(submission, expect):
    """Backward in tiles: Q and dO for every tile of keys, K and V for every tile of queries, O once."""
    # 16 tiles. Q, K, V: 17 times. O once and dO 18 times. Statistics: delta written once, both read 17 times.
    check(
        submission.flash_attention.attention_hbm_bytes,
        expect,
        AttentionHbmBytes,
        {
            "1024 tokens, 64 rows": (
                moved("flash", "backward", 1024, 64, rows=64),
                (2_228_224, 4_456_448, 0, 2_490_368, 143_360, 393_216),
            ),
            "1000 tokens, 64 rows, 2 heads": (
                moved("flash", "backward", 1000, 64, heads=2, rows=64),
                (4_352_000, 8_704_000, 0, 4_864_000, 280_000, 768_000),
            ),
        },
    )


@pytest.mark.exercise("flash_attention.attention_hbm_bytes", weight=2)
def test_the_paper_moves_n_squared_d_squared_over_m(submission, expect):
    """The first FlashAttention: twice the on-chip memory halves the traffic, twice the tokens make it four times."""
    # M = 65,536 and d = 64: tiles of 256 rows. N = 4096: 16 passes of 3·N·d + 4·N = 802,816, and K and V once.
    function = submission.flash_attention.paper_hbm_elements
    wanted = {
        "M = 65,536": ((4096, 64, 65_536), 13_369_344),
        "M twice as large": ((4096, 64, 131_072), 6_946_816),
        "N twice as large": ((8192, 64, 65_536), 52_428_800),
        "d twice as large": ((4096, 128, 65_536), 51_904_512),
        "tiles that do not divide N": ((1000, 80, 50_000), 1_868_000),
    }
    got = {case: function(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, elements) in wanted.items():
        expect.number(got[case], elements, unit="elements", case=case)
