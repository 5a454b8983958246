"""Hidden checks of the two small kernels."""

import pytest


def _vectors(n):
    torch = pytest.importorskip("torch")
    i = torch.arange(n, dtype=torch.float32)
    return (5 * i).sin(), (7 * i).cos()


def _same(got, wanted):
    torch = pytest.importorskip("torch")
    return isinstance(got, torch.Tensor) and got.shape == wanted.shape and torch.allclose(got, wanted)


@pytest.mark.exercise("kernel_kit.add")
def test_adds_hidden(submission, expect):
    """Numbers are added."""
    for n in (192, 320):
        x, y = _vectors(n)
        expect.that(_same(submission.kernel_kit.add(x, y), x + y), "not the sum")


@pytest.mark.exercise("kernel_kit.add_ragged")
def test_adds_hidden_length(submission, expect):
    """Numbers are added, whatever their count."""
    for n in (77, 30):
        x, y = _vectors(n)
        expect.that(_same(submission.kernel_kit.add(x, y), x + y), "not the sum")


@pytest.mark.exercise("kernel_kit.double")
def test_doubles_hidden(submission, expect):
    """The gradient is doubled."""
    x, y = _vectors(33)
    value, (gradient,) = submission.kernel_kit.Double.gradients(x, grad_outputs=y)
    expect.that(_same(value, 2 * x) and _same(gradient, 2 * y), "not doubled")


@pytest.mark.exercise("kernel_kit.row_sums")
def test_sums_rows_hidden(submission, expect):
    """Rows are summed."""
    for n in (10, 20):
        x = _vectors(n)[0].reshape(2, -1)
        expect.that(_same(submission.kernel_kit.row_sums(x), x.sum(1)), "not the sums")
