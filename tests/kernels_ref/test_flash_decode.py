"""The reference decode kernel: any number of splits merges to the same output and lse."""

import pytest

from kernels_ref.flash.decode import split_count


@pytest.mark.parametrize("descriptors", [False, True], ids=["pointers", "descriptors"])
@pytest.mark.parametrize("splits", [1, 3, None])
def test_splits_merge_to_the_whole(interpreted, splits, descriptors):
    """One query a head, four heads on each K/V head, a ragged cache."""
    answer = interpreted(
        "decode", causal=False, descriptors=descriptors, splits=splits, dtype="bfloat16",
        queries=1, keys=150, width=80, heads=8, kv_heads=2,
    )  # fmt: skip
    assert answer["excess"] <= 1
    assert answer["lse_error"] <= 2e-5
    assert answer["findings"] == []


def test_several_queries_keep_their_causal_mask(interpreted):
    """Five queries on three keys: two of each head see nothing, and their lse is −inf in every split."""
    answer = interpreted(
        "decode", causal=True, descriptors=False, splits=2, dtype="float32",
        queries=5, keys=3, width=32, heads=4, kv_heads=2,
    )  # fmt: skip
    assert answer["excess"] <= 1
    assert answer["lse_infinite"]


def test_the_cache_is_read_once_whatever_the_group(interpreted):
    """Eight query heads to a K/V head read the bytes of the cache that one would."""
    answer = interpreted(
        "decode", causal=False, descriptors=False, splits=2, dtype="bfloat16",
        queries=1, keys=64, width=32, heads=8, kv_heads=1,
    )  # fmt: skip
    partial = 2 * 8 * (32 + 1) * 4
    assert answer["launches"][0]["unique_bytes"] == 2 * 64 * 32 * 2 + 8 * 32 * 2 + partial


@pytest.mark.parametrize(
    ("programs", "tiles", "expected"), [(264, 512, 1), (132, 512, 2), (1, 8, 7), (1000, 512, 1)]
)
def test_keys_are_split_only_as_far_as_the_gpu_has_room(programs, tiles, expected):
    """An H100 runs 264 programs at once, two to an SM."""
    assert split_count(programs, tiles, slots=264) == expected
