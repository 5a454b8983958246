"""The reference backward kernels: dQ, dK, dV as accurate as half precision allows, without atomics."""

import pytest

SHAPES = {
    "ragged T and D 80": {"queries": 40, "keys": 52, "width": 80, "heads": 1, "kv_heads": 1},
    "more queries than keys": {"queries": 52, "keys": 33, "width": 32, "heads": 1, "kv_heads": 1},
    "heads share K and V": {"queries": 33, "keys": 33, "width": 32, "heads": 4, "kv_heads": 2},
}


@pytest.mark.parametrize("descriptors", [False, True], ids=["pointers", "descriptors"])
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_bf16_gradients_are_right_and_no_access_is_out_of_place(interpreted, shape, causal, descriptors):
    """Each of dq, dk, dv against fp64, per 16 rows; rows without keys have gradient 0; no finding."""
    answer = interpreted("backward", causal=causal, descriptors=descriptors, dtype="bfloat16", **shape)
    assert {name: each for name, each in answer["excess"].items() if not each <= 1} == {}
    assert answer["findings"] == []


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_other_dtypes_are_right(interpreted, dtype):
    """fp16 and fp32, with tiles that are not square.

    In fp32 what the kernel is held to is at the level of rounding as well, and the processor's BLAS decides in which
    order it sums: up to 1.14 of the bound was seen.
    """
    shape = SHAPES["ragged T and D 80"]
    answer = interpreted(
        "backward", causal=True, descriptors=False, dtype=dtype, rows=16, columns=32, **shape
    )
    assert max(answer["excess"].values()) <= (2 if dtype == "float32" else 1)


def test_strides_do_not_matter(interpreted):
    """q, k, v are views of one tensor."""
    shape = SHAPES["heads share K and V"]
    answer = interpreted(
        "backward", causal=True, descriptors=True, dtype="bfloat16", layout="interleaved", **shape
    )
    assert max(answer["excess"].values()) <= 1
    assert answer["findings"] == []


def test_autograd_takes_the_kernels_gradients(interpreted):
    """flash_attention(q, k, v, causal) with tiles of its own choosing."""
    answer = interpreted("gradients", dtype="bfloat16", **SHAPES["ragged T and D 80"])
    assert max(answer["excess"]) <= 1
