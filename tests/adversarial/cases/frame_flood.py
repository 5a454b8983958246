"""Floods the wire and the output: megabytes of noise, claims of 2^63 bytes, a frame cut short, text that is no UTF-8.

Seen: a pipe of 64 KiB that blocked a child for ever; a length field that made a parent claim an exabyte.
Stopped by: memory grows with what arrives and not with what is claimed; what is no frame is tampering; output is drained
all the time and its end kept.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "frame_flood"

RAW = """
import json, os, struct
def spray(data):
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, data)
        except OSError:
            pass
def frame(text, body=0):
    return struct.pack("!4sIQ", b"RLW1", len(text), body) + text
"""
TAMPERED = Expected(("integrity",), says="what no honest code sends")
# The wire's buffer fills: from then on the honest answer waits for a judge that has hung up.
NOISE = "import os\nfor _ in range(4000):\n    os.write(1, b'\\x00\\xff' * 8192)\n    os.write(2, b'\\x1b[2J' * 4096)"


def sprayed(name, data, expect=TAMPERED):
    return Variant(name, state(top=RAW, call=f"spray({data})"), expect)


VARIANTS = (
    sprayed("claims_2_to_63", "struct.pack('!4sIQ', b'RLW1', 16, 2**63) + b'x' * 16"),
    sprayed("no_utf_8", "frame(b'{\"header\": {\"id\": \"\\xff\\xfe\"}, \"storages\": []}')"),
    sprayed("deep", "frame(b'{\"header\": ' + b'[' * 100_000)"),
    sprayed("repeated_key", "frame(b'{\"header\": {\"id\": 1, \"id\": 2}, \"storages\": []}')"),
    sprayed("no_number", "frame(b'{\"header\": {\"value\": NaN}, \"storages\": []}')"),
    sprayed("long_number", "frame(b'{\"header\": {\"value\": ' + b'9' * 1_000_000 + b'}, \"storages\": []}')"),
    sprayed("sizes_that_do_not_add_up", "frame(b'{\"header\": {}, \"storages\": [1, 2]}', 1)"),
    Variant("output", state(call=NOISE), Expected(says="weights"), takes_s=5),
)
