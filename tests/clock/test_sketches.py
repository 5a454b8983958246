"""A sketch commits to all of an output, and an output is compared block by block."""

import pytest

torch = pytest.importorskip("torch")

from grader.clock import answers  # noqa: E402 - after the skip: they import torch
from grader.worker import windows  # noqa: E402

FORMATS = [torch.float32, torch.float16, torch.bfloat16]


def output(dtype, *shape):
    return (1 + torch.randn(*shape, generator=torch.Generator().manual_seed(5))).to(dtype)


def weights_for(tensors):
    generator = torch.Generator().manual_seed(6)
    return [torch.randn(each.numel(), generator=generator).to(tensors[0].dtype) for each in tensors]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("shape", [(2, 3, 100, 64), (1, 1, 5, 3), (4, 2, 128, 64)])
def test_a_finished_output_fits_its_sketch(dtype, shape):
    outputs = [output(dtype, *shape), output(torch.float32, *shape[:-1])]
    weights = weights_for(outputs)
    assert not answers.unfinished(outputs, windows.sketch(outputs, weights), weights, windows.CHUNK)


@pytest.mark.parametrize(("dtype", "rows"), [(torch.float32, 1), (torch.float16, 1), (torch.bfloat16, 16)])
def test_an_output_of_which_a_few_rows_came_later_does_not(dtype, rows):
    outputs = [output(dtype, 2, 2, 128, 64)]
    weights = weights_for(outputs)
    early = [outputs[0].clone()]
    early[0][1, 0, 77 : 77 + rows] = 0
    assert answers.unfinished(outputs, windows.sketch(early, weights), weights, windows.CHUNK)


def test_no_sketch_of_another_length_or_of_nan_fits():
    outputs = [output(torch.float32, 2, 64, 64)]
    weights = weights_for(outputs)
    right = windows.sketch(outputs, weights)
    for sketched in (right[:-1], torch.zeros(0), right * float("nan"), torch.cat([right, right])):
        assert answers.unfinished(outputs, sketched, weights, windows.CHUNK)


def test_a_sketch_of_other_outputs_than_agreed_is_made_without_an_error():
    weights = [torch.ones(10), torch.ones(20)]
    for outputs in ([], [torch.ones(3)], [torch.ones(50, 2), torch.ones(1), torch.ones(7)]):
        assert windows.sketch(outputs, weights).dtype == torch.float32


def test_strided_outputs_are_sketched_as_what_they_hold():
    wide = output(torch.float32, 2, 64, 256)
    strided, dense = [wide[..., ::2]], [wide[..., ::2].contiguous()]
    weights = weights_for(dense)
    assert torch.allclose(windows.sketch(strided, weights), windows.sketch(dense, weights))


def test_an_answer_within_the_trusted_ones_rounding_is_right():
    exact = output(torch.float64, 2, 2, 130, 64)
    trusted = exact.bfloat16()
    other = (exact * (1 + 2.0**-9)).bfloat16()
    assert answers.problem("out", other, trusted, answers.allowed(trusted, exact)) == ""


def test_one_wrong_block_of_many_is_named():
    exact = output(torch.float64, 2, 2, 256, 64)
    trusted = exact.bfloat16()
    wrong = trusted.clone()
    wrong[1, 1, 70:90] *= 1.5
    found = answers.problem("out", wrong, trusted, answers.allowed(trusted, exact))
    assert found.startswith("block 13 of 16 (64 rows each) of out is off by ")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda x: x.transpose(-1, -2), "has shape (2, 64, 100), not (2, 100, 64)"),
        (lambda x: x.half(), "is in float16, not in float32"),
        (lambda x: x / 0, "has NaN or infinity"),
        (lambda x: x * 0, "off by 1e+02 %"),
    ],
)
def test_other_shapes_formats_and_numbers_are_said(change, says):
    right = output(torch.float32, 2, 100, 64)
    assert says in answers.problem("out", change(right), right, 1e-4)


def test_rounding_of_rows_that_are_next_to_nothing_is_no_error():
    exact = output(torch.float64, 1, 128, 64)
    exact[0, 64:] *= 1e-6
    trusted = exact.float()
    off = trusted.clone()
    off[0, 64:] *= 1.001
    assert answers.problem("dk", off, trusted, 1e-3) == ""


def test_windows_are_aligned_and_inside_their_pool():
    pool = torch.arange(1000.0)
    view = windows.resolve(("window", "q", 128, (2, 5, 7)), {"q": pool}, {})
    assert view.shape == (2, 5, 7)
    assert view.flatten().tolist() == list(range(128, 198))
    assert windows.resolve(("plain", True), {}, {}) is True
    assert windows.resolve(("kept", "lse"), {}, {"lse": pool}) is pool
