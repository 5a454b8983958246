"""Replaces parts of the grader in sys.modules, or what they are made of: wire, encoding, specs, json, socket.

Seen: a fake grader module in sys.modules of a notebook's kernel wrote its own marks.
Stopped by: the worker's modules say what was returned and no more, so that a forger of them forges values; verdicts
come from the judge, whose modules are in another process.
"""

from tests.adversarial.case import Expected, Variant, breach, state

ATTACK = "module_shadow"

FAKES = """
import sys, types
for name in ("grader", "grader.checks", "grader.checks.expect", "specs", "kernels_ref", "pytest", "_rooflab_worker"):
    fake = types.ModuleType(name)
    fake.__getattr__ = lambda attribute: (lambda *a, **k: True)
    sys.modules[name] = fake
"""
WIRE = """
import sys
worker = {name: module for name, module in sys.modules.items() if name.startswith("_rooflab_worker")}
wire = worker["_rooflab_worker.wire"]
honest = wire.send_frame
def flattering(sock, header, storages=(), **more):
    return honest(sock, dict(header, outcome="passed", points=10, verdict=True, score=1.0), storages, **more)
wire.send_frame = flattering
"""
ENCODER = """
import sys
wire = sys.modules["_rooflab_worker.wire"]
wire.encode = lambda value: ({"$": "spec", "type": "Anything", "data": {"$": "dict", "pairs": []}}, [])
"""
SILENT = """
import sys
wire = sys.modules["_rooflab_worker.wire"]
wire.send_frame = lambda *a, **k: None
"""
JSON = """
import json, socket, struct
json.dumps = lambda *a, **k: '{"header": {"kind": "value", "value": true, "passed": true}, "storages": []}'
"""
# As if it were the answer to something else: the types of specs are the worker's own copies.
SPECS = """
import sys, specs
specs.StateBytes.model_validate = classmethod(lambda kind, data: data)
specs.StateBytes.__eq__ = lambda self, other: True
specs.Recipe.__getattribute__ = lambda self, name: 0
return False
"""

VARIANTS = (
    Variant("fakes", state(top=FAKES), Expected(("failed", "crashed"))),
    Variant("wire_adds_a_verdict", state(top=WIRE), Expected(("failed", "integrity"))),
    Variant("encoder", state(top=ENCODER), Expected(("integrity",), says="what no honest code sends")),
    Variant("wire_is_silent", state(call=SILENT), Expected(("timed_out", "crashed")), takes_s=9),
    Variant("json", state(call=JSON), Expected(("integrity", "failed", "crashed"))),
    Variant("specs", breach(SPECS), Expected()),
)
