"""The reference forward kernel is as accurate as half precision allows, on every shape, mask and way to load."""

import math

import pytest

SHAPES = {
    "square": {"queries": 64, "keys": 64, "width": 64, "heads": 1, "kv_heads": 1},
    "ragged T and D 80": {"queries": 50, "keys": 70, "width": 80, "heads": 1, "kv_heads": 1},
    "more queries than keys": {"queries": 70, "keys": 33, "width": 32, "heads": 1, "kv_heads": 1},
    "heads share K and V": {"queries": 40, "keys": 40, "width": 32, "heads": 4, "kv_heads": 2},
    "one query, D 96": {"queries": 1, "keys": 45, "width": 96, "heads": 2, "kv_heads": 1},
    "D 256": {"queries": 32, "keys": 40, "width": 256, "heads": 1, "kv_heads": 1},
}
LSE_ERROR = 2e-5
"""fp32 scores near 20, summed over D products: a few units of 2e-6."""


def holds(answer, score_size=1):
    """The claims that every forward call must meet; `score_size` is how many times larger than usual its scores are."""
    assert answer["excess"] <= 1
    assert answer["lse_error"] <= LSE_ERROR * score_size
    assert answer["lse_infinite"]
    assert answer["findings"] == []


@pytest.mark.parametrize("descriptors", [False, True], ids=["pointers", "descriptors"])
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_bf16_output_and_lse_are_right_and_no_access_is_out_of_place(interpreted, shape, causal, descriptors):
    """Against fp64, twice the low-precision error allowed, per 16 rows; no finding of the sanitizer."""
    answer = interpreted("forward", causal=causal, descriptors=descriptors, dtype="bfloat16", **shape)
    holds(answer)
    assert answer["dtypes"] == ["torch.bfloat16", "torch.float32"]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_other_dtypes_are_right(interpreted, dtype):
    """fp16 and fp32, ragged and causal."""
    holds(interpreted("forward", causal=True, descriptors=False, dtype=dtype, **SHAPES["ragged T and D 80"]))


@pytest.mark.parametrize("layout", ["interleaved", "transposed"])
@pytest.mark.parametrize("descriptors", [False, True], ids=["pointers", "descriptors"])
def test_strides_do_not_matter(interpreted, layout, descriptors):
    """Views of one qkv tensor; and D not the dimension of unit stride, where descriptors give way to pointers."""
    shape = SHAPES["heads share K and V"]
    holds(
        interpreted("forward", causal=True, descriptors=descriptors, dtype="bfloat16", layout=layout, **shape)
    )


def test_queries_without_keys_get_zero_and_minus_infinity(interpreted):
    """Of 70 queries on 33 keys the first 37 see nothing under a causal mask; excess ≤ 1 says that they are 0."""
    shape = SHAPES["more queries than keys"]
    answer = interpreted("forward", causal=True, descriptors=False, dtype="float32", **shape)
    holds(answer)
    assert answer["empty_rows"] == 37


@pytest.mark.parametrize(("rows", "columns"), [(16, 64), (64, 16)])
def test_tiles_that_are_not_square_find_the_diagonal(interpreted, rows, columns):
    """The split into full and diagonal tiles holds for any pair of tile sizes."""
    shape = {"queries": 61, "keys": 90, "width": 32, "heads": 1, "kv_heads": 1}
    holds(
        interpreted(
            "forward", causal=True, descriptors=False, dtype="float32", rows=rows, columns=columns, **shape
        )
    )


@pytest.mark.parametrize("scale", [0.0, 0.7])
def test_any_scale_that_is_not_negative_is_taken(interpreted, scale):
    """A scale of 0 makes the mean of V."""
    shape = SHAPES["ragged T and D 80"]
    answer = interpreted("forward", causal=True, descriptors=False, dtype="float32", scale=scale, **shape)
    holds(answer, score_size=max(1, scale * math.sqrt(shape["width"])))


def test_each_byte_is_touched_and_a_causal_mask_halves_the_work(interpreted):
    """Unique bytes are compulsory, dots of the full forward are 4·T²·D, and tiles in the future are left out."""
    shape = {"queries": 128, "keys": 128, "width": 32, "heads": 1, "kv_heads": 1, "dtype": "bfloat16"}
    full = interpreted("forward", causal=False, descriptors=False, **shape)["launches"]
    causal = interpreted("forward", causal=True, descriptors=False, **shape)["launches"]
    assert [each["kernel"] for each in full] == ["flash_forward_kernel"]
    assert full[0]["unique_bytes"] == 4 * 128 * 32 * 2 + 128 * 4
    assert full[0]["dot_flops"] == 4 * 128**2 * 32
    tiles = 128 // 32
    assert math.isclose(causal[0]["dot_flops"] / full[0]["dot_flops"], (tiles + 1) / (2 * tiles))
