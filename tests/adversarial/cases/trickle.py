"""Answers byte by byte, lest a limit on silence ever ends, or begins an answer and falls silent.

Seen: slow loris; graders whose time-out starts anew with every byte.
Stopped by: a deadline for the whole answer.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "trickle"

BEGINS = """
import os, struct, time
for descriptor in range(3, 64):
    try:
        os.fstat(descriptor)
        os.write(descriptor, struct.pack("!4sIQ", b"RLW1", 1 << 20, 0))
    except OSError:
        pass
"""
TRICKLES = BEGINS + """
while True:
    time.sleep(0.05)
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b" ")
        except OSError:
            pass
"""
HUNG = Expected(("timed_out",), says="took longer than 3 s")

VARIANTS = (
    Variant("byte_by_byte", state(call=TRICKLES), HUNG, takes_s=9),
    Variant("falls_silent", state(call=BEGINS + "time.sleep(60)"), HUNG, takes_s=9),
)
