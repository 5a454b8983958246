"""Hidden checks of checkpoint.py: random MLPs, chains, frozen weights, and an input of integers.

The right values come from autograd without checkpointing: the output for the scale that the function reads in
the forward pass, the gradients for the one that it reads in the backward pass. The tolerance and the slack are
those of the visible checks, where their reasons stand.
"""

import pytest

TOLERANCE = 1e-10
SLACK_BYTES = 8 * 1024
MAX_MEASURED = 1 << 40
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


def without_checkpoint(inputs, grad_output, scales, blocks=1):
    """Output and gradients of a chain of MLPs as autograd alone has them; None where no gradient is needed.

    What passes from one MLP to the next passed in the forward pass, with the first of the two scales. There each
    MLP has its gradients, with the second.
    """
    import torch

    def mlp(x, weights, scale):
        for weight in weights:
            x = torch.nn.functional.gelu(scale * (x @ weight)) if weight.is_floating_point() else x[weight]
        return x

    x, *weights = (each.detach() for each in inputs)
    share = len(weights) // blocks
    parts = [weights[start : start + share] for start in range(0, len(weights), share)]
    passed = [x]
    for part in parts:
        passed.append(mlp(passed[-1], part, scales[0]))
    gradients = []
    for x, part in zip(passed[-2::-1], reversed(parts), strict=True):
        leaves = [each.clone().requires_grad_(each.is_floating_point()) for each in (x, *part)]
        mlp(leaves[0], leaves[1:], scales[1]).backward(grad_output)
        grad_output = leaves[0].grad
        gradients[:0] = [leaf.grad for leaf in leaves[1:]]
    gradients.insert(0, grad_output)
    return passed[-1], [
        gradient if each.requires_grad else None for gradient, each in zip(gradients, inputs, strict=True)
    ]


def close(got, wanted):
    """Whether two tensors, or two Nones, are the same but for rounding."""
    if got is None or wanted is None:
        return got is wanted
    if type(got) is not type(wanted) or got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    return bool((got - wanted).norm() <= TOLERANCE * wanted.norm())


def whole(report, **kinds):
    """Whether a report has these fields, and no number in it upsets a comparison."""
    return isinstance(report, dict) and all(
        type(report.get(name)) is kind and (kind is not int or 0 <= report[name] <= MAX_MEASURED)
        for name, kind in kinds.items()
    )


def recomputed(submission, expect, rng, inputs, grad_output, blocks):
    """How often the functions of a chain ran in each pass, once its values are right for two scales in turn."""
    before, after = rng.uniform(0.6, 0.9), rng.uniform(1.1, 1.4)
    probed = submission.memory.checkpoint.probed
    ahead = probed("checkpoint", "forward", inputs=inputs, scale=before, blocks=blocks)
    expect.that(whole(ahead, forwards=int, problem=str), "no whole report came back")
    expect.that(not ahead["problem"], "checkpoint must return the function's output, a tensor")
    output, gradients = without_checkpoint(inputs, grad_output, (before, after), blocks)
    expect.that(close(ahead.get("output"), output), "the output is not that of the function")
    # The new scale leaves this process only now: whoever has its gradients ran the function again.
    back = probed("checkpoint", "backward", grad_output=grad_output, scale=after)
    expect.that(whole(back, gradients=list, recomputations=int, library=bool), "no whole report came back")
    expect.that(len(back["gradients"]) == len(inputs), "no whole report came back")
    expect.that(all(map(close, back["gradients"], gradients)), "a gradient is wrong or missing")
    expect.that(not back["library"], "torch.utils.checkpoint did the work, which is what is to be written")
    return ahead["forwards"], back["recomputations"]


@pytest.mark.exercise("memory.checkpoint", weight=4)
def test_any_mlp_in_one_checkpoint_or_several(submission, expect, rng):
    """Other shapes and chains, with other inputs that need no gradient, come out right from a second run."""
    for blocks in (1, 2, 4):
        inputs, grad_output = random_inputs(rng, blocks, weights_each=rng.randint(2, 4))
        recomputed(submission, expect, rng, inputs, grad_output, blocks)


@pytest.mark.exercise("memory.checkpoint", weight=4)
def test_an_input_may_hold_integers(submission, expect, rng):
    """An input of integers, such as token ids, passes through and gets no gradient."""
    for blocks in (1, 2):
        inputs, grad_output = random_inputs(rng, blocks, weights_each=3, indices=True)
        recomputed(submission, expect, rng, inputs, grad_output, blocks)


@pytest.mark.exercise("memory.checkpoint", weight=2)
def test_costs_one_more_run_and_no_more_memory(submission, expect, rng):
    """Each function of a chain runs once forward and once backward, and its inputs are all that stays alive."""
    # Runs and bytes are measured beside the code that is checked: they count behind right values only.
    for blocks, indices in ((1, True), (2, False), (3, False)):
        inputs, grad_output = random_inputs(rng, blocks, weights_each=3, indices=indices)
        ran = recomputed(submission, expect, rng, inputs, grad_output, blocks)
        expect.that(ran == (blocks, blocks), "the function did not run once forward and once backward")
        kept = submission.memory.checkpoint.probed("checkpoint", "memory", inputs=inputs, blocks=blocks)
        expect.that(whole(kept, saved_bytes=int), "no whole report came back")
        between = (blocks - 1) * grad_output.nbytes
        allowed_bytes = sum(each.nbytes for each in inputs) + between + blocks * SLACK_BYTES
        expect.that(kept["saved_bytes"] <= allowed_bytes, "more than the inputs stays alive for backward")
