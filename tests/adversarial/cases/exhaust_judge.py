"""Uses up the judge instead of the worker: answers that are large, or small on the wire and large in memory.

Seen: none yet; each call's answer is kept to find hints by, so that 26 answers of 200 MB were 5 GB of the judge's.
Stopped by: a limit on each answer, and two on all answers of a submission together, in bytes and in characters of
what is no array; hints are sought for small answers only (a dozen of 600,000 parts took the judge 100 s). What is copied
out of a reply is one value's alone (65 names for 60 MB grew a judge to 23 GB).
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "exhaust_judge"

ONE_STORAGE = """
import sys

wire = sys.modules["_rooflab_worker.wire"]
wire.encode = lambda value: ([{"$": "bytes", "storage": 0}] * 65, [bytes(60_000_000)])
"""

VARIANTS = (
    Variant("bytes", state(answer="bytes(200_000_000)"), Expected(("failed", "crashed")), takes_s=8),
    Variant(
        "lists",
        state(answer="[[] for _ in range(200_000)]"),
        Expected(("failed", "crashed"), says="4,000,000 characters in all"),
        takes_s=9,
    ),
    Variant("text", state(answer="'é' * 300_000"), Expected(says="4,000,000 characters in all")),
    Variant(
        "names_one_storage_often",
        state(top=ONE_STORAGE),
        Expected(("integrity",), says="two values name the storage of one"),
    ),
    Variant("too_large", state(answer="bytes(300_000_000)"), Expected(says="too large")),
)
