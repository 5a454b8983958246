"""Hidden checks of checkpoint.py: random MLPs, chains, frozen weights, and an input of integers.

The right values come from autograd without checkpointing. The tolerance and the slack are those of
the visible checks, where their reasons stand.
"""

import pytest

TOLERANCE = 1e-10
SLACK_BYTES = 8 * 1024
ROWS, WIDTHS = (128, 144, 160), (16, 18, 20)  # an intermediate takes 16 KiB at least


def random_inputs(rng, blocks, weights_each, indices=False):
    """x, then for each block its weights, square so that blocks can follow; some need no gradient.

    With `indices` each block begins with a weight of integers that picks rows of x, some of them twice.
    """
    import torch

    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    rows, width = rng.choice(ROWS), rng.choice(WIDTHS)
    x = torch.randn((rows, width), generator=generator, dtype=torch.float64)
    inputs = [x.requires_grad_(rng.random() < 0.5)]
    for _ in range(blocks):
        if indices:
            inputs.append(torch.randint(rows, (rows,), generator=generator))
        trained = rng.randrange(weights_each)
        for index in range(weights_each):
            weight = torch.randn((width, width), generator=generator, dtype=torch.float64) * 2 / width**0.5
            inputs.append(weight.requires_grad_(index == trained or rng.random() < 0.5))
    return inputs, torch.randn((rows, width), generator=generator, dtype=torch.float64)


def without_checkpoint(inputs, grad_output):
    """Output and gradients as autograd alone has them."""
    import torch

    inputs = [each.detach().clone().requires_grad_(each.requires_grad) for each in inputs]
    output = inputs[0]
    for weight in inputs[1:]:
        output = torch.nn.functional.gelu(output @ weight) if weight.is_floating_point() else output[weight]
    (output * grad_output).sum().backward()
    return output.detach(), [each.grad for each in inputs]


def close(got, wanted):
    """Whether two tensors, or two Nones, are the same but for rounding."""
    if got is None or wanted is None:
        return got is wanted
    if type(got) is not type(wanted) or got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    return bool((got - wanted).norm() <= TOLERANCE * wanted.norm())


def check(submission, expect, inputs, grad_output, blocks):
    """Ask for the right values of a chain of checkpoints, then for the second run and the bytes."""
    report = submission.memory.checkpoint.probed(
        "checkpoint", inputs=inputs, grad_output=grad_output, blocks=blocks
    )
    kinds = {"gradients": list, "forwards": int, "recomputations": int, "saved_bytes": int, "library": bool}
    whole = isinstance(report, dict) and all(type(report.get(name)) is kind for name, kind in kinds.items())
    expect.that(whole and len(report["gradients"]) == len(inputs), "no whole report came back")
    output, gradients = without_checkpoint(inputs, grad_output)
    expect.that(close(report["output"], output), "the output is not that of the function")
    expect.that(all(map(close, report["gradients"], gradients)), "a gradient is wrong or missing")
    expect.that(not report["library"], "torch.utils.checkpoint did the work, which is what is to be written")
    ran = (report["forwards"], report["recomputations"])
    expect.that(ran == (blocks, blocks), "the function did not run once forward and once backward")
    between = (blocks - 1) * output.nbytes
    allowed_bytes = sum(each.nbytes for each in inputs) + between + blocks * SLACK_BYTES
    expect.that(report["saved_bytes"] <= allowed_bytes, "more than the inputs stays alive for backward")


@pytest.mark.exercise("memory.checkpoint", weight=3)
def test_any_mlp_in_one_checkpoint_or_several(submission, expect, rng):
    """Other shapes and chains, with other inputs that need no gradient, come out right at the same cost."""
    for blocks in (1, 2, 4):
        inputs, grad_output = random_inputs(rng, blocks, weights_each=rng.randint(2, 4))
        check(submission, expect, inputs, grad_output, blocks)


@pytest.mark.exercise("memory.checkpoint", weight=3)
def test_an_input_may_hold_integers(submission, expect, rng):
    """An input of integers, such as token ids, passes through and gets no gradient."""
    for blocks in (1, 2):
        inputs, grad_output = random_inputs(rng, blocks, weights_each=3, indices=True)
        check(submission, expect, inputs, grad_output, blocks)
