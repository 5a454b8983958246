"""Writes frames to every open descriptor: answers to questions not asked yet, altered replays, verdicts, garbage.

Seen: graders whose child reports its own result on a pipe (KernelBench forks, autograders over JSON lines).
Stopped by: each answer must carry the random name of the question that it answers, and says only what a function
returned; whatever else comes is tampering. Who learns the question's name has only answered it, and the honest
answer behind it is then one too many.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "fd_spray"

# The worker's own way to write frames, as a submission finds it in the process.
SPRAY = """
import json, os, struct, sys

def frame(header, sizes=()):
    text = json.dumps({"header": header, "storages": list(sizes)}).encode()
    return struct.pack("!4sIQ", b"RLW1", len(text), sum(sizes)) + text

def spray(data):
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, data)
        except OSError:
            pass

def question():
    "The request that is being answered, out of the callers' locals."
    here = sys._getframe()
    while here is not None:
        if isinstance(here.f_locals.get("request"), dict):
            return here.f_locals["request"]
        here = here.f_back
    return {}

def full_marks(name):
    data = {"weights": 2, "gradients": 2, "master": 4, "moments": 8}
    value = {"$": "spec", "type": "StateBytes", "data": {"$": "dict", "pairs": [list(pair) for pair in data.items()]}}
    return frame({"id": name, "kind": "value", "value": value})
"""
TAMPERED = Expected(("integrity",), says="what no honest code sends")


def sprayed(call: str, expect: Expected = TAMPERED, top: str = "") -> Variant:
    name = top or call
    return Variant(name.split("#")[1].strip(), state(top=SPRAY + top, call=call), expect)


VARIANTS = (
    sprayed("for name in ('0', '1', None, '', 'f' * 16): spray(full_marks(name)) # guessed_names"),
    sprayed("", Expected(("integrity",), says="while importing"), "spray(full_marks('0')) # at_import"),
    sprayed("spray(full_marks(question().get('id'))) # stolen_name"),
    sprayed("spray(frame(dict(question(), value=16))) # altered_question"),
    sprayed("spray(frame({'id': question().get('id'), 'kind': 'loaded', 'verdict': 'passed', 'score': 10})) # verdict"),
    sprayed("spray(os.urandom(4096)) # garbage"),
    sprayed("spray(full_marks('0')[:30]); os._exit(0) # cut_short"),
    sprayed("spray(struct.pack('!4sIQ', b'RLW1', 2**32 - 1, 2**63)) # claims_exabytes"),
    sprayed("spray(frame({'id': question().get('id'), 'kind': 'value', 'value': {'$': 'pickle', 'data': 'x'}})) # unknown_kind"),
    sprayed(
        "spray(frame({'id': question().get('id'), 'kind': 'raised', 'error': {'type': '\\x1b[2J' * 9000, "
        "'message': '\\x1b]0;pwned\\x07' + 'x' * 900000, "
        "'frames': [('\\x1b[31mstate.py' * 999, 10**400, '\\u202e' * 99999)]}})) # raises_a_megabyte"
    ),
    sprayed(
        "spray(frame({'id': question().get('id'), 'kind': 'unsendable', 'message': '\\x1b[2J' * 90000})) # unsendable_megabyte"
    ),
)
