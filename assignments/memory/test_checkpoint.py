"""Visible checks of checkpoint.py: section 11.

`checkpoint` runs on a small MLP, x = gelu(scale * (x @ weight)) for each weight, whose weights are inputs like x.
The scale is no input: the MLP reads it whenever it runs, and it changes between the forward pass and the backward
pass. The output must be the one for the old scale and the gradients those for the new, which nobody has without
running the MLP again. How often it ran and which bytes stayed alive is measured beside the code that is checked,
and counts only where the values for the same inputs are right.
"""

import random

import pytest

# All is computed in fp64, where another order of additions moves results of this size by some 1e-15 of their
# norm. A wrong gradient is off by about its own norm.
TOLERANCE = 1e-10

# Room for a saved random state (5 KB) and other small things, for each checkpoint. Where bytes are checked,
# an intermediate takes 16 KiB at least.
SLACK_BYTES = 8 * 1024

BACKWARD_PROBLEMS = {
    "gradient_count": "backward must return one value for each argument of forward behind ctx, in order",
    "gradient_order": "backward returned a gradient of another input's shape",
    "no_graph_in_backward": "the output that backward computed again has no graph",
}

# No honest number that comes back is larger: what is measured must not upset what compares it.
MAX_MEASURED = 1 << 40

FORWARD = {"needs_grad": bool, "forwards": int, "one_node": bool, "problem": str}
BACKWARD = {"gradients": list, "recomputations": int, "library": bool, "problem": str}
MEMORY = {"saved_bytes": int}


def random_inputs(seed, *shapes, frozen=()):
    """x and weights in fp64, scaled to keep outputs near 1; the `frozen` ones (by index) need no gradient."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    x, *weights = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    inputs = [x, *(2 * weight / weight.shape[0] ** 0.5 for weight in weights)]
    return [each.requires_grad_(index not in frozen) for index, each in enumerate(inputs)]


def fresh_scales():
    """A scale for the forward pass and another for the backward pass, which cannot be known before it comes."""
    draw = random.SystemRandom().uniform
    return draw(0.6, 0.9), draw(1.1, 1.4)


def without_checkpoint(inputs, grad_output, scales, blocks=1):
    """Output and gradients of a chain of MLPs as autograd alone has them; None where no gradient is needed.

    What passes from one MLP to the next passed in the forward pass, with the first of the two scales. There each
    MLP has its gradients, with the second.
    """
    import torch

    def mlp(x, weights, scale):
        for weight in weights:
            x = torch.nn.functional.gelu(scale * (x @ weight))
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


def gradient_symptom(gradients, wanted, of_ones):
    """The name of what is wrong with the gradients, where it can be told; `of_ones`: those of the output's sum."""
    pairs = [(got, right) for got, right in zip(gradients, wanted, strict=True) if right is not None]
    if any(got is None for got, _ in pairs):
        return "gradient_missing"
    if all(map(close, gradients, of_ones)):
        return "grad_output_ignored"
    if all(close(got, 2 * right) for got, right in pairs):
        return "gradients_doubled"
    if all(any(close(got, right) for _, right in pairs) for got, _ in pairs):
        return "gradient_order"
    return ""


def probe(submission, expect, step, fields, **how):
    """What the probe reports of one step, once it is whole."""
    report = submission.memory.checkpoint.probed("checkpoint", step, **how)
    whole = isinstance(report, dict) and all(
        type(report.get(name)) is kind and (kind is not int or 0 <= report[name] <= MAX_MEASURED)
        for name, kind in fields.items()
    )
    expect.that(whole, "no whole report came back")
    return report


def forward(submission, expect, inputs, scale, wanted, **how):
    """The report of a forward pass, once its output is the wanted one."""
    report = probe(submission, expect, "forward", FORWARD, inputs=inputs, scale=scale, **how)
    expect.that(report["problem"] != "no_tensor", "checkpoint must return the function's output, a tensor")
    expect.that(close(report.get("output"), wanted), "the output is not that of the function")
    return report


def recomputed(submission, expect, inputs, seed, blocks=1):
    """The reports of both passes, with a right output and gradients that only a second run can have given."""
    import torch

    before, after = fresh_scales()
    generator = torch.Generator().manual_seed(1000 + seed)
    size = (inputs[0].shape[0], inputs[-1].shape[1])
    grad_output = torch.randn(size, generator=generator, dtype=torch.float64)
    output, wanted = without_checkpoint(inputs, grad_output, (before, after), blocks)
    ahead = forward(submission, expect, inputs, before, output, blocks=blocks)
    expect.that(
        ahead["needs_grad"],
        "the output needs no gradient, so no backward comes here",
        symptom="output_detached",
    )
    # The new scale leaves this process only now.
    back = probe(submission, expect, "backward", BACKWARD, grad_output=grad_output, scale=after)
    for problem, message in BACKWARD_PROBLEMS.items():
        expect.that(back["problem"] != problem, message, symptom=problem)
    gradients = back["gradients"]
    expect.that(len(gradients) == len(inputs), "no whole report came back")
    _, of_first_run = without_checkpoint(inputs, grad_output, (before, before), blocks)
    expect.that(
        not all(map(close, gradients, of_first_run)),
        "backward did not run the function again: a number that the function reads has changed since the forward "
        "pass, and the gradients are still those for the old one",
        symptom="graph_kept_on_ctx" if ahead["one_node"] else "graph_kept_by_autograd",
    )
    _, of_ones = without_checkpoint(inputs, torch.ones_like(grad_output), (before, after), blocks)
    for index, (got, right) in enumerate(zip(gradients, wanted, strict=True)):
        name = f"weight {index}" if index else "x"
        if right is None:
            expect.that(got is None, f"{name} needs no gradient and has one")
        elif not close(got, right):
            message = f"{name} has no gradient" if got is None else f"the gradient of {name} is wrong"
            expect.that(False, message, symptom=gradient_symptom(gradients, wanted, of_ones))
    expect.that(
        not back["library"],
        "torch.utils.checkpoint did the work, which is what is to be written",
        symptom="library",
    )
    return ahead, back


def saved_bytes(submission, expect, inputs, **how):
    """What a forward pass keeps, as measured beside the code that is checked."""
    found = probe(submission, expect, "memory", MEMORY, inputs=inputs, **how)["saved_bytes"]
    expect.measured("kept for backward", found, "B")
    return found


@pytest.mark.exercise("memory.checkpoint", weight=3)
def test_output_and_gradients_are_the_same_as_without(submission, expect):
    """Output and gradients are those without checkpointing, and the gradients come from a second run."""
    # Three inputs of one shape: nothing but its value says whose a gradient is.
    recomputed(submission, expect, random_inputs(1, (24, 24), (24, 24), (24, 24)), seed=1)
    recomputed(submission, expect, random_inputs(2, (10, 16), (16, 48), (48, 8)), seed=2)


@pytest.mark.exercise("memory.checkpoint", weight=2)
def test_an_input_may_need_no_gradient(submission, expect):
    """Where x or a weight needs no gradient it gets none, and the others get theirs."""
    recomputed(submission, expect, random_inputs(7, (10, 16), (16, 32), (32, 8), frozen=(0,)), seed=7)
    recomputed(submission, expect, random_inputs(8, (12, 8), (8, 24), (24, 8), (8, 8), frozen=(1, 3)), seed=8)


@pytest.mark.exercise("memory.checkpoint", weight=2)
def test_checkpoints_follow_one_another(submission, expect):
    """Two or three checkpoints in a row: each part runs again, and gradients pass through all of them."""
    for seed, blocks, weights in ((9, 2, 4), (10, 3, 6)):
        inputs = random_inputs(seed, (12, 16), *[(16, 16)] * weights)
        recomputed(submission, expect, inputs, seed, blocks)


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_keeps_its_inputs_and_no_more(submission, expect):
    """Between forward and backward the inputs of each checkpoint stay alive, and no intermediate result does."""
    # Without checkpointing the inputs of every gelu and matmul stay alive: 16 KiB each, besides our inputs.
    for seed, blocks, weights in ((3, 1, 2), (4, 1, 4), (13, 2, 4)):
        inputs = random_inputs(seed, (128, 16), *[(16, 16)] * weights)
        recomputed(submission, expect, inputs, seed, blocks)
        between = (blocks - 1) * inputs[0].nbytes  # what lies between two parts has the shape of x
        allowed_bytes = sum(each.nbytes for each in inputs) + between
        found = saved_bytes(submission, expect, inputs, blocks=blocks)
        expect.that(
            found <= allowed_bytes + blocks * SLACK_BYTES,
            f"{found / 1e3:,.0f} kB are kept for backward, the inputs are {allowed_bytes / 1e3:,.0f} kB",
            symptom="keeps_more_than_inputs",
        )


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_runs_the_function_once_forward_and_once_backward(submission, expect):
    """The function runs once in the forward pass and once more in the backward pass."""
    for seed, shapes in ((5, [(6, 16), (16, 32)]), (6, [(5, 12), (12, 24), (24, 12), (12, 6)])):
        ahead, back = recomputed(submission, expect, random_inputs(seed, *shapes), seed)
        expect.measured("runs in forward", ahead["forwards"])
        expect.measured("runs in backward", back["recomputations"])
        expect.that(
            ahead["forwards"] == 1,
            f"the function ran {ahead['forwards']} times in the forward pass; once is enough",
            symptom="repeats_in_forward",
        )
        expect.that(
            back["recomputations"] == 1,
            f"the function ran {back['recomputations']} times in the backward pass; once is enough",
            symptom="repeats_in_backward",
        )


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_nothing_is_kept_under_no_grad(submission, expect):
    """Under torch.no_grad() nothing is kept; with gradients the same inputs work as ever."""
    for seed, shapes in ((11, [(128, 16), (16, 24), (24, 16)]), (12, [(192, 12), (12, 16), (16, 12)])):
        inputs = random_inputs(seed, *shapes)
        recomputed(submission, expect, inputs, seed)
        scales = fresh_scales()
        grad_output = inputs[0].detach()  # as wide as the output, and not used
        output, _ = without_checkpoint(inputs, grad_output, scales)
        report = forward(submission, expect, inputs, scales[0], output, grad=False)
        expect.that(not report["needs_grad"], "under no_grad, the output says that it needs a gradient")
        found = saved_bytes(submission, expect, inputs, grad=False)
        expect.that(
            found <= SLACK_BYTES,
            f"{found / 1e3:,.0f} kB stay alive, and no backward will come",
            symptom="keeps_under_no_grad",
        )
