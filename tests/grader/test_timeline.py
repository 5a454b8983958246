"""The timeline of a trace: shares of bins, spans that touch, tracks as they are painted."""

import numpy as np
import pytest

from grader.plots.timeline import BINS, Lane, Track, covered, draw, merged


def test_shares_of_a_bin_are_what_the_spans_cover():
    edges = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    assert covered([(0.5, 1.25), (1.0, 1.5), (2.0, 4.5), (3.0, 3.0)], edges) == pytest.approx(
        [0.5, 0.5, 1, 1]
    )
    assert covered([], edges) == pytest.approx([0, 0, 0, 0])
    assert merged([(3, 4), (0, 2), (1, 1.5), (2, 2)]) == [(0, 2), (3, 4)]


def test_more_streams_than_a_picture_shows_are_refused():
    lanes = [Lane(str(each), {}) for each in range(40)]
    with pytest.raises(ValueError, match="40 streams: a picture shows 24 at most"):
        draw([Track("", [(1, (0.0, 1.0))], [], [], lanes)], "title")


def test_a_step_that_only_waits_for_data_is_hatched_and_not_white():
    wait = Track("", [(1, (0.0, 1.0))], [], [(0.0, 1.0)], [Lane("stream 7", {})])
    for track in (wait, Track("", wait.steps, [], wait.waits, wait.lanes, bins=BINS)):
        collections = draw([track], "title").axes[0].collections
        assert "////" in {each.get_hatch() for each in collections}


def test_shares_of_all_layers_fill_the_steps():
    busy = [(0.1 * n, 0.1 * n + 0.05) for n in range(10)]
    lane = Lane("stream 7", {"matmul": busy, "copy": [(0.0, 0.5)]})
    track = Track("", [(1, (0.0, 1.0))], busy, [(0.2, 0.9)], [lane], bins=20)
    axes = draw([track], "title").axes[0]
    tops = [each.get_paths()[0].vertices[:, 1].min() for each in axes.collections]
    assert min(tops) == pytest.approx(0.1)  # the strip is full to its upper edge
