"""Hidden checks of norms.py: fresh widths, formats, strides and sizes of RMSNorm and softmax, computed by kernels."""

import math

import pytest

from kernels_ref import inputs

DTYPES = ("float32", "float16", "bfloat16")


def in_the_kernel(expect, evidence, name):
    """The launches, where PyTorch does no more than make and copy tensors."""
    launches = [launch for launch in evidence.launches if launch.config_index == 0]
    expect.that(bool(launches), "no kernel was launched", symptom=f"library_{name}")
    arithmetic = {"add", "div", "exp", "mean", "mul", "pow", "rsqrt", "_softmax", "sqrt", "sub", "sum"}
    ran = {each.split(".")[1] for each in evidence.torch.ops if each.startswith("aten.")}
    expect.that(
        not ran & arithmetic and not any(each.startswith("Tensor.") for each in evidence.torch.ops),
        "the kernel is not where the work is done",
        symptom=f"{name}_beside_the_kernel",
    )
    return launches


def random_rows(rng, index):
    """x with rows that may lie apart, and a weight."""
    import torch

    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    count, width = rng.randint(2, 7), rng.randint(2, 1200)
    apart = rng.choice((0, 0, rng.randint(1, 90)))
    size = math.exp(rng.uniform(-3.0, 3.0))
    x = size * (rng.uniform(-1, 1) + torch.randn(count, width + apart, generator=generator))
    weight = 0.25 + torch.rand(width, generator=generator)
    dtype = getattr(torch, DTYPES[index % 3])
    return x.to(dtype)[:, :width], weight.to(dtype)


def compare_rms(expect, got, x, weight, eps):
    """What came back, against RMSNorm in fp64."""
    root = (x.double().square().mean(-1, keepdim=True) + eps).sqrt()
    right = x.double() / root * weight.double()
    expect.close(got, right, right.float().to(x.dtype))


@pytest.mark.exercise("flash_attention.rms_norm_triton", weight=5)
def test_any_rows_are_normalised(submission, expect, rng):
    """Any width, count, size, format and eps; rows that lie apart."""
    for index in range(9):
        x, weight = random_rows(rng, index)
        eps = 10 ** rng.uniform(-6.0, 0.0)
        seen = submission.flash_attention.rms_norm_triton.metered(x, weight, eps)
        compare_rms(expect, seen.value, x, weight, eps)
        in_the_kernel(expect, seen.evidence, "norm")


@pytest.mark.exercise("flash_attention.rms_norm_triton", weight=3)
def test_any_norm_is_computed_by_the_kernel(submission, expect, rng):
    """Each row by itself, whatever the others are; PyTorch computes nothing."""
    x, weight = random_rows(rng, 0)
    x = x.clone()
    x[rng.randrange(len(x))] *= 1000
    x[rng.randrange(len(x))] = 0
    seen = submission.flash_attention.rms_norm_triton.metered(x, weight, 1e-5)
    compare_rms(expect, seen.value, x, weight, 1e-5)
    launches = in_the_kernel(expect, seen.evidence, "norm")
    read = sum(traffic.read_bytes for launch in launches for traffic in launch.tensors)
    expect.that(read >= x.nbytes + weight.nbytes, "the kernel does not read its inputs")


def random_scores(rng, index):
    """Scores of any width, some of them masked."""
    width = rng.choice((rng.randint(1, 400), rng.randint(400, 3000), rng.randint(3000, 7000)))
    count = rng.randint(1, 4)
    climb, spread = rng.choice((-40.0, 0.0, 40.0)), rng.choice((1.0, 4.0, 300.0))
    x = inputs.rows_of_scores(
        rng.getrandbits(32), count, width, climb=climb, spread=spread, dtype=DTYPES[index % 3]
    )
    if rng.random() < 0.5:
        x = x - rng.choice((-200.0, 200.0))
    x[rng.randrange(count), : rng.randint(0, width)] = -math.inf
    if rng.random() < 0.5:
        x = x.T.contiguous().T
    return x


def compare_softmax(expect, got, x):
    """What came back, against softmax in fp64; zeros in a masked row."""
    wide = x.double()
    right = wide.softmax(-1).masked_fill((wide == -math.inf).all(-1, keepdim=True), 0.0)
    expect.close(got, right, right.float().to(x.dtype), exponent=10.0)


def check_softmax(submission, expect, x):
    """One call, compared; right values of PyTorch's earn nothing."""
    seen = submission.flash_attention.softmax_triton.metered(x)
    compare_softmax(expect, seen.value, x)
    in_the_kernel(expect, seen.evidence, "softmax")


@pytest.mark.exercise("flash_attention.softmax_triton", weight=6)
def test_any_rows_become_weights(submission, expect, rng):
    """Any width, format and strides; scores that climb, fall, are large, or are masked in part or throughout."""
    for index in range(9):
        check_softmax(submission, expect, random_scores(rng, index))
    x = inputs.rows_of_scores(rng.getrandbits(32), 3, rng.randint(2, 90))
    x[rng.randrange(3)] = -math.inf
    check_softmax(submission, expect, x)


@pytest.mark.exercise("flash_attention.softmax_triton", weight=4)
def test_any_softmax_is_computed_by_kernels(submission, expect, rng):
    """Adding a constant to a row changes nothing; the kernels take the exponentials and read no row three times."""
    x = inputs.rows_of_scores(rng.getrandbits(32), 2, rng.randint(4500, 6000), dtype="bfloat16")
    shifted = inputs.rows_of_scores(rng.getrandbits(32), 3, rng.randint(300, 500)) + rng.choice((-500, 500))
    check_softmax(submission, expect, shifted)
    seen = submission.flash_attention.softmax_triton.metered(x)
    compare_softmax(expect, seen.value, x)
    launches = in_the_kernel(expect, seen.evidence, "softmax")
    expect.that(
        sum(launch.exps for launch in launches) >= x.numel(),
        "the kernels take fewer exponentials than there are elements",
        symptom="softmax_beside_the_kernel",
    )
    expect.that(
        seen.evidence.torch.peak_temporary_bytes < x.nbytes // 2,
        "a temporary is as large as the input",
        symptom="softmax_temporary",
    )
    read = sum(traffic.read_bytes for launch in launches for traffic in launch.tensors)
    expect.that(read <= 2.01 * x.nbytes, "elements are read more than twice", symptom="three_passes")
