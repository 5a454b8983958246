"""From a ratio to a share of the points, and the floor below which no time is believed."""

import math

import pytest

from grader.clock.floor import floor_s
from specs.timing import TimedShape
from tests.clock.worlds import CURVE, H100, SHAPES


@pytest.mark.parametrize(
    ("ratio", "share"),
    [(0.0, 1), (1.0, 1), (1.1, 1), (math.sqrt(1.1 * 2.0), 0.5), (2.0, 0), (50.0, 0), (math.inf, 0)],
)
def test_the_share_falls_with_the_logarithm_between_both_thresholds(ratio, share):
    assert CURVE.share(ratio) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("ratio", [math.nan, -1.0, -math.inf])
def test_no_share_is_made_of_what_is_no_ratio(ratio):
    with pytest.raises(ValueError, match="ratio of times"):
        CURVE.share(ratio)


def test_the_floor_of_a_forward_pass_is_its_products_at_the_dense_peak():
    shape = SHAPES[0]
    assert floor_s(shape, H100) == pytest.approx(4 * 64 * 4096**2 * 128 / 989.4e12)


def test_the_floor_of_a_backward_pass_does_not_ask_for_the_scores_again():
    forward = SHAPES[1]
    backward = forward.model_copy(update={"direction": "backward"})
    assert floor_s(backward, H100) == pytest.approx(2 * floor_s(forward, H100))


def test_the_floor_of_a_short_row_is_its_bytes():
    shape = TimedShape(
        direction="forward",
        batch=64,
        heads=32,
        kv_heads=8,
        tokens=16,
        head_dim=128,
        causal=False,
        dtype="bf16",
    )
    rows = 64 * 32 * 16
    moved = 2 * rows * 128 * 2 + 2 * rows * 128 * 2 / 4 + rows * 4
    assert floor_s(shape, H100) == pytest.approx(moved / 3.35e12)
    back = 4 * rows * 128 * 2 + 4 * rows * 128 * 2 / 4 + rows * 4
    assert floor_s(shape.model_copy(update={"direction": "backward"}), H100) == pytest.approx(back / 3.35e12)


def test_a_label_tells_the_shapes_of_the_exercise_apart():
    labels = [shape.label for shape in SHAPES]
    assert len(set(labels)) == len(labels)
    assert labels[2] == "forward 4×32/8×4096×64 causal bf16"
