"""Visible checks of checkpoint.py: exercise 11.

`checkpoint` runs on a small MLP, x = gelu(x @ weight) for each weight, whose weights are inputs like x. Its
output and gradients are compared with those of the MLP without checkpointing. How often the MLP ran and which
bytes stayed alive is measured beside the code that is checked, and counts only where the values are right.
"""

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

REPORT = {
    "needs_grad": bool,
    "gradients": list,
    "forwards": int,
    "recomputations": int,
    "saved_bytes": int,
    "one_node": bool,
    "library": bool,
    "problem": str,
}


def random_inputs(seed, *shapes, frozen=()):
    """x and weights in fp64, scaled to keep outputs near 1; the `frozen` ones (by index) need no gradient."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    x, *weights = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    inputs = [x, *(2 * weight / weight.shape[0] ** 0.5 for weight in weights)]
    return [each.requires_grad_(index not in frozen) for index, each in enumerate(inputs)]


def without_checkpoint(inputs, grad_output):
    """Output and gradients of the MLP as autograd alone has them; None where no gradient is needed."""
    import torch

    inputs = [each.detach().clone().requires_grad_(each.requires_grad) for each in inputs]
    output = inputs[0]
    for weight in inputs[1:]:
        output = torch.nn.functional.gelu(output @ weight)
    (output * grad_output).sum().backward()
    return output.detach(), [each.grad for each in inputs]


def close(got, wanted):
    """Whether two tensors, or two Nones, are the same but for rounding."""
    if got is None or wanted is None:
        return got is wanted
    if type(got) is not type(wanted) or got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    return bool((got - wanted).norm() <= TOLERANCE * wanted.norm())


def gradient_symptom(gradients, inputs, grad_output, wanted):
    """The name of what is wrong with the gradients, where it can be told."""
    import torch

    _, of_ones = without_checkpoint(inputs, torch.ones_like(grad_output))
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


def probe(submission, expect, inputs, grad_output, **how):
    """What the probe reports of one call, once it is whole and the output is right."""
    report = submission.memory.checkpoint.probed("checkpoint", inputs=inputs, grad_output=grad_output, **how)
    whole = isinstance(report, dict) and all(type(report.get(key)) is kind for key, kind in REPORT.items())
    expect.that(whole and len(report["gradients"]) == len(inputs), "no whole report came back")
    expect.that(report["problem"] != "no_tensor", "checkpoint must return the function's output, a tensor")
    right = close(report["output"], without_checkpoint(inputs, grad_output)[0])
    expect.that(right, "the output is not that of the function")
    return report


def recomputed(submission, expect, inputs, seed, blocks=1):
    """The report of a call whose gradients are right and come from a second run in backward."""
    import torch

    generator = torch.Generator().manual_seed(1000 + seed)
    size = (inputs[0].shape[0], inputs[-1].shape[1])
    grad_output = torch.randn(size, generator=generator, dtype=torch.float64)
    report = probe(submission, expect, inputs, grad_output, blocks=blocks)
    expect.that(
        report["needs_grad"],
        "the output needs no gradient, so no backward comes here",
        symptom="output_detached",
    )
    for problem, message in BACKWARD_PROBLEMS.items():
        expect.that(report["problem"] != problem, message, symptom=problem)
    _, wanted = without_checkpoint(inputs, grad_output)
    for index, (got, right) in enumerate(zip(report["gradients"], wanted, strict=True)):
        name = f"weight {index}" if index else "x"
        if right is None:
            expect.that(got is None, f"{name} needs no gradient and has one")
        elif not close(got, right):
            message = f"{name} has no gradient" if got is None else f"the gradient of {name} is wrong"
            symptom = gradient_symptom(report["gradients"], inputs, grad_output, wanted)
            expect.that(False, message, symptom=symptom)
    expect.that(
        not report["library"],
        "torch.utils.checkpoint did the work, which is what is to be written",
        symptom="library",
    )
    expect.that(
        report["recomputations"] > 0,
        "backward did not run the function again: the intermediate results had been kept",
        symptom="graph_kept_on_ctx" if report["one_node"] else "graph_kept_by_autograd",
    )
    return report


def expect_kept(expect, report, allowed_bytes, what, blocks=1):
    """Fail where more stays alive for backward than the inputs."""
    expect.that(
        report["saved_bytes"] <= allowed_bytes + blocks * SLACK_BYTES,
        f"{report['saved_bytes'] / 1e3:,.0f} kB are kept for backward, {what} {allowed_bytes / 1e3:,.0f} kB",
        symptom="keeps_more_than_inputs",
    )


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_output_and_gradients_are_the_same_as_without(submission, expect):
    """Output and gradients are those without checkpointing, though the function runs again in backward."""
    # Three inputs of one shape: nothing but its value says whose a gradient is.
    recomputed(submission, expect, random_inputs(1, (24, 24), (24, 24), (24, 24)), seed=1)
    recomputed(submission, expect, random_inputs(2, (10, 16), (16, 48), (48, 8)), seed=2)


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_keeps_its_inputs_and_no_more(submission, expect):
    """Between forward and backward the inputs stay alive, and no intermediate result does."""
    # Without checkpointing the inputs of every gelu and matmul stay alive: 48 and 112 KiB besides our inputs.
    for seed, weights in ((3, 2), (4, 4)):
        inputs = random_inputs(seed, (128, 16), *[(16, 16)] * weights)
        report = recomputed(submission, expect, inputs, seed)
        expect_kept(expect, report, sum(each.nbytes for each in inputs), "the inputs are")


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_runs_the_function_once_forward_and_once_backward(submission, expect):
    """The function runs once in the forward pass and once more in the backward pass."""
    for seed, shapes in ((5, [(6, 16), (16, 32)]), (6, [(5, 12), (12, 24), (24, 12), (12, 6)])):
        report = recomputed(submission, expect, random_inputs(seed, *shapes), seed)
        expect.that(
            report["forwards"] == 1,
            f"the function ran {report['forwards']} times in the forward pass; once is enough",
            symptom="repeats_in_forward",
        )
        expect.that(
            report["recomputations"] == 1,
            f"the function ran {report['recomputations']} times in the backward pass; once is enough",
            symptom="repeats_in_backward",
        )


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_an_input_may_need_no_gradient(submission, expect):
    """Where x or a weight needs no gradient it gets none, and the others get theirs."""
    recomputed(submission, expect, random_inputs(7, (10, 16), (16, 32), (32, 8), frozen=(0,)), seed=7)
    recomputed(submission, expect, random_inputs(8, (12, 8), (8, 24), (24, 8), (8, 8), frozen=(1, 3)), seed=8)


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_checkpoints_follow_one_another(submission, expect):
    """Two or three checkpoints in a row: each part runs again, and only what lies between them is kept."""
    for seed, blocks, weights in ((9, 2, 4), (10, 3, 6)):
        inputs = random_inputs(seed, (128, 16), *[(16, 16)] * weights)
        report = recomputed(submission, expect, inputs, seed, blocks)
        ran = report["recomputations"]
        expect.that(ran >= blocks, f"{ran} of {blocks} parts ran again in backward")
        between = (blocks - 1) * inputs[0].nbytes  # what lies between two parts has the shape of x
        allowed_bytes = sum(each.nbytes for each in inputs) + between
        expect_kept(expect, report, allowed_bytes, "the inputs of all parts are", blocks)


@pytest.mark.exercise("memory.checkpoint", weight=1)
def test_nothing_is_kept_under_no_grad(submission, expect):
    """Under torch.no_grad() nothing is kept; with gradients the same inputs work as ever."""
    for seed, shapes in ((11, [(128, 16), (16, 24), (24, 16)]), (12, [(192, 12), (12, 16), (16, 12)])):
        inputs = random_inputs(seed, *shapes)
        grad_output = inputs[0].detach().clone()  # as wide as the output, and not used
        report = probe(submission, expect, inputs, grad_output, grad=False)
        expect.that(not report["needs_grad"], "under no_grad, the output says that it needs a gradient")
        expect.that(
            report["saved_bytes"] <= SLACK_BYTES,
            f"{report['saved_bytes'] / 1e3:,.0f} kB stay alive, and no backward will come",
            symptom="keeps_under_no_grad",
        )
        recomputed(submission, expect, inputs, seed)
