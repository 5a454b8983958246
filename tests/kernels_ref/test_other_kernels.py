"""The reference softmax, norms and matmul are right in each dtype, on ragged widths and strides."""

import pytest


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("width", "block"), [(1, None), (5, None), (300, 64), (256, 64), (9000, None)])
def test_softmax_is_right_for_any_width(interpreted, width, block, dtype):
    """Within one block and over several, the maximum rising along the row; a row of −inf gives 0, not NaN."""
    answer = interpreted("softmax", width=width, block=block, dtype=dtype)
    assert answer["excess"] <= 1
    assert answer["row_of_nothing"] == 0
    assert answer["findings"] == []


def test_softmax_takes_columns_as_they_lie(interpreted):
    """Unit stride along the rows, not along the dimension of the softmax."""
    assert interpreted("softmax", width=70, block=16, dtype="float32", transposed=True)["excess"] <= 1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", ["rms", "layer"])
def test_norms_and_their_gradients_are_right(interpreted, kind, dtype):
    """Output, dx, dw and db against fp64."""
    answer = interpreted("norm", kind=kind, width=100, dtype=dtype)
    assert max(answer["excess"]) <= 1
    assert answer["findings"] == []


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("descriptors", [False, True], ids=["pointers", "descriptors"])
def test_matmul_is_right_where_no_tile_divides_a_side(interpreted, dtype, descriptors):
    """All three sides ragged; grouped order over more rows of tiles than a group has."""
    answer = interpreted("matmul", m=300, n=72, k=40, dtype=dtype, descriptors=descriptors)
    assert answer["excess"] <= 1
    assert answer["findings"] == []


def test_matmul_takes_a_transposed_operand(interpreted):
    """As a linear layer's weight comes: through pointers, since TMA wants rows of unit stride."""
    answer = interpreted("matmul", m=40, n=48, k=40, dtype="bfloat16", descriptors=True, transposed=True)
    assert answer["excess"] <= 1
