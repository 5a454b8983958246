"""Visible checks of the two small kernels."""

import pytest


def _vectors(n, offset=0):
    torch = pytest.importorskip("torch")
    i = torch.arange(offset, offset + n, dtype=torch.float32)
    return i.sin(), (3 * i).cos()


def _same(got, wanted):
    torch = pytest.importorskip("torch")
    return isinstance(got, torch.Tensor) and got.shape == wanted.shape and torch.allclose(got, wanted)


@pytest.mark.exercise("kernel_kit.add")
def test_adds(submission, expect):
    """128 numbers are added."""
    for offset in (0, 5):
        x, y = _vectors(128, offset)
        expect.that(_same(submission.kernel_kit.add(x, y), x + y), "not the sum")


@pytest.mark.exercise("kernel_kit.add")
def test_reads_once(submission, expect):
    """Each number is read once and written once."""
    x, y = _vectors(128)
    seen = submission.kernel_kit.add.metered(x, y)
    expect.that(_same(seen.value, x + y), "not the sum")
    (launch,) = seen.evidence.launches
    read = sum(tensor.read_bytes for tensor in launch.tensors)
    expect.that(read == 2 * 512, f"{read} bytes are read")


@pytest.mark.exercise("kernel_kit.add")
def test_compiles(submission, expect):
    """It compiles for an H100."""
    x, y = _vectors(128)
    launches = submission.kernel_kit.add.compiled(x, y)
    expect.that(bool(launches) and all(launch.compiles for launch in launches), "does not compile")


@pytest.mark.exercise("kernel_kit.add_ragged")
def test_adds_any_length(submission, expect):
    """100 numbers are added."""
    for n in (100, 70):
        x, y = _vectors(n)
        expect.that(_same(submission.kernel_kit.add(x, y), x + y), "not the sum")


@pytest.mark.exercise("kernel_kit.double")
def test_doubles(submission, expect):
    """The value and the gradient are doubled."""
    x, y = _vectors(70)
    value, (gradient,) = submission.kernel_kit.Double.gradients(x, grad_outputs=y)
    expect.that(_same(value, 2 * x) and _same(gradient, 2 * y), "not doubled")


@pytest.mark.exercise("kernel_kit.row_sums")
def test_sums_rows(submission, expect):
    """Rows are summed."""
    x = _vectors(12)[0].reshape(3, 4)
    expect.that(_same(submission.kernel_kit.row_sums(x), x.sum(1)), "not the sums")
    _, (gradient,) = submission.kernel_kit.row_sums.gradients(x)
    expect.that(_same(gradient, x * 0 + 1), "not the gradient")
