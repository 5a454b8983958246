"""Forges what is measured of a kernel: restores the interpreter's own load, edits the counters, blinds the watch.

Seen: a submission that called the library behind a decoy kernel and patched the meter to report the kernel's traffic.
Stopped by: what measures is sealed before the submission's code runs and compared after every call. What a changed
meter would have said of a lean kernel is an integrity finding, and the right values of the same calls earn nothing.
"""

import textwrap
from pathlib import Path

from tests.adversarial.case import Build, Expected, Variant, write

ATTACK = "meter_patch"

EXERCISE = "flash_attention.softmax_triton"
CAUGHT = Expected(("integrity",), says="changed the part of the grader that measures it")

TOP = """
import sys
import types

import torch


def worker(name):
    return sys.modules["_rooflab_worker." + name]


def library(x):
    return torch.softmax(x.float(), -1).nan_to_num(0.0).to(x.dtype)
"""


def library_with(attack: str = "", call: str = "pass") -> Build:
    """A `softmax_triton` that calls the library; `attack` runs at import, `call` inside each call."""

    def build(folder: Path, solutions: Path) -> Path:
        text = (
            TOP
            + textwrap.dedent(attack)
            + "\n\ndef softmax_triton(x):\n"
            + textwrap.indent(textwrap.dedent(call).strip("\n"), "    ")
            + "\n    return library(x)\n"
        )
        return write(folder, {"flash_attention/norms.py": text})

    return build


OWN_LOAD = """
from triton.runtime import interpreter

type(interpreter.interpreter_builder).create_masked_load = lambda self, ptrs, *rest, **named: ptrs
"""
COUNTERS = """
calls = worker("kernels.recorder.calls")
honest = calls.LaunchRecord.evidence
calls.LaunchRecord.evidence = lambda self: honest(self).model_copy(update={"tensors": ()})
"""
LIBRARY_REPORT = """
import json

dumps = json.dumps


def forged(tree, **how):
    if isinstance(tree, dict) and tree.keys() == {"launches", "torch", "findings"}:
        tree = {"launches": [{"kernel": "softmax", "grid": [1]}], "torch": {}, "findings": []}
    return dumps(tree, **how)


json.dumps = forged
"""
SERIALISER = """
evidence = worker("kernels.evidence").CallEvidence
real = evidence.__pydantic_serializer__


class Forged:
    def to_python(self, model, **how):
        return real.to_python(model, **how) | {"findings": [], "torch": {}, "launches": [{"kernel": "k", "grid": [1]}]}


evidence.__pydantic_serializer__ = Forged()
"""
REPORT = """
recorder = worker("kernels.recorder")
honest = recorder.call_recorded


def flattering(*args, **kwargs):
    found = honest(*args, **kwargs)
    vars(found)["evidence"] = found.evidence.model_copy(update={"findings": ()})
    return found


recorder.call_recorded = flattering
"""
CODE = """
calls = worker("kernels.recorder.calls")
calls._listen.__code__ = (lambda launch, quiet: None).__code__
"""
BLIND = """
listening = worker("kernels.recorder.hooks").listening
listening.launch = None
"""
SEAL = """
seal = worker("seal")
seal.SealedPackage.changed = lambda self: False
seal._names = lambda owner: {}
worker("kernels.recorder").changed = lambda: False
worker("lanes").as_json = lambda report, relative: b"{}"
"""
COMPILER = """
if "_rooflab_worker.kernels.compiled" in sys.modules:
    compiled = worker("kernels.compiled.call")
    compiled.Session.record = lambda self, *args: None
else:
    worker("kernels.recorder").Recorded = None
"""

VARIANTS = (
    Variant("restores_the_own_load", library_with(OWN_LOAD), CAUGHT, EXERCISE, takes_s=15),
    Variant("restores_it_in_a_call", library_with(call=OWN_LOAD), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("edits_the_counters", library_with(COUNTERS), CAUGHT, EXERCISE, takes_s=15),
    Variant("edits_the_report", library_with(REPORT), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("edits_the_report_in_the_library", library_with(LIBRARY_REPORT), CAUGHT, EXERCISE, takes_s=15),
    Variant("replaces_the_serialiser", library_with(SERIALISER), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("replaces_code", library_with(CODE), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("blinds_the_hooks_in_a_call", library_with(call=BLIND), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("breaks_the_seal", library_with(SEAL), CAUGHT, EXERCISE, takes_s=15, slow=True),
    Variant("edits_the_compiler", library_with(COMPILER), CAUGHT, EXERCISE, takes_s=15, slow=True),
)
