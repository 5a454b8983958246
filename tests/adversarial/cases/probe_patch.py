"""Forges what the probe of `checkpoint` measures: that the function ran again, and how little stays alive.

Seen: a submission that kept the whole graph replaced the probe's `run` in sys.modules and earned all points.
Stopped by: gradients must be right for a number that reaches the worker after the forward pass, and the judge computes
them itself; a probe that is not what it was before the submission's code ran is an integrity finding.
"""

import textwrap
from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

ATTACK = "probe_patch"

EXERCISE = "memory.checkpoint"
CAUGHT = Expected(("integrity",), says="changed the part of the grader that measures it")

TOP = """
import gc
import sys

import torch

probe = next(module for name, module in sys.modules.items() if name.endswith("probes.checkpoint"))
right_run = probe.run


def forged_run(function, step, **given):
    report = right_run(function, step, **given)
    flattery = {"forwards": 1, "recomputations": 1, "saved_bytes": 0, "library": False, "one_node": True}
    return report | {name: value for name, value in flattery.items() if name in report}
"""
# Without recomputation, and with the second scale in reach: what the probe holds is in this process.
RESCALES = """
class Rescaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, *inputs):
        ctx.function, ctx.scale = function, function.scale
        ctx.inputs = [each.detach().requires_grad_(each.requires_grad) for each in inputs]
        with torch.enable_grad():
            ctx.output = function(*ctx.inputs)
        return ctx.output.detach()

    @staticmethod
    def backward(ctx, grad_output):
        needing = [each for each in ctx.inputs if each.requires_grad]
        factor = ctx.function.scale / ctx.scale
        found = iter(torch.autograd.grad(ctx.output, needing, grad_output * factor))
        ctx.function.calls += 1
        return None, *(next(found) if each.requires_grad else None for each in ctx.inputs)
"""


def keeps_the_graph(
    attack: str = "", call: str = "pass", answer: str = "function(*inputs)", top: str = TOP
) -> Build:
    """A `checkpoint` that recomputes nothing; `attack` runs at import, `call` inside each call."""

    def build(folder: Path, solutions: Path) -> Path:
        text = (
            top
            + textwrap.dedent(attack)
            + "\n\ndef checkpoint(function, *inputs):\n"
            + textwrap.indent(textwrap.dedent(call).strip("\n"), "    ")
            + f"\n    return {answer}\n"
        )
        return write(folder, {"memory/checkpoint.py": text})

    return build


VARIANTS = (
    Variant("replaces_run", keeps_the_graph("probe.run = forged_run"), CAUGHT, EXERCISE),
    Variant("replaces_run_in_a_call", keeps_the_graph(call="probe.run = forged_run"), CAUGHT, EXERCISE),
    Variant(
        "replaces_its_code",
        keeps_the_graph(
            "import types\nright_run = types.FunctionType(probe.run.__code__, vars(probe))\n"
            "vars(probe)['right_run'] = right_run\nprobe.run.__code__ = forged_run.__code__"
        ),
        CAUGHT,
        EXERCISE,
    ),
    Variant(
        "replaces_a_part",
        keeps_the_graph("probe._memory = lambda *_, **__: {'saved_bytes': 0}"),
        CAUGHT,
        EXERCISE,
    ),
    Variant(
        "replaces_a_method",
        keeps_the_graph("probe._KeptTensors.bytes_beside = lambda *_: 0"),
        CAUGHT,
        EXERCISE,
    ),
    Variant(
        "replaces_the_module",
        keeps_the_graph(
            "import types\nforged = types.ModuleType(probe.__name__)\nvars(forged).update(vars(probe), run=forged_run)\n"
            "sys.modules[probe.__name__] = forged"
        ),
        CAUGHT,
        EXERCISE,
    ),
    # What a probe uses can be changed behind its back, and its counters turned: the gradients stay the old ones.
    Variant(
        "blinds_gc_and_counts",
        keeps_the_graph("gc.get_objects = lambda *_: []", "function.calls += 1"),
        Expected(says="backward did not run the function again"),
        EXERCISE,
    ),
    Variant(
        "rescales_old_gradients",
        keeps_the_graph(RESCALES, answer="Rescaled.apply(function, *inputs)"),
        Expected(says="the gradient of x is wrong"),
        EXERCISE,
    ),
    Variant(
        "changes_the_number_back",
        keeps_the_graph(call="function.scale = 1.0"),
        Expected(says="the output is not that of the function"),
        EXERCISE,
    ),
)
