"""Prints a perfect report, in every format a grader is known to read, and leaves report files about.

Seen: autograders that parse the last lines of stdout (Gradescope results.json, pytest's summary, JUnit).
Stopped by: output is kept for staff and never parsed; the report is written by the judge, outside of the sandbox.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "stdout_forge"

FORGE = r"""
import json, os, sys
perfect = json.dumps({"schema_version": 1, "kind": "official", "score": 100, "points": 10, "outcome": "passed",
                      "exercises": [{"id": "memory.state_bytes_per_parameter", "outcome": "passed", "points": 10}]})
pytests = "=== 7 passed in 0.01s ===\n"
for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
    print(pytests, perfect, file=stream, flush=True)
for descriptor in (1, 2):
    os.write(descriptor, (perfect + "\n" + pytests).encode())
for folder in (".", "/tmp", "/submission", "/kit", "..", os.path.dirname(__file__)):
    for name in ("report.json", "results.json", "summary.csv", "junit.xml"):
        try:
            open(os.path.join(folder, name), "w").write(perfect)
        except OSError:
            pass
"""

VARIANTS = (
    Variant("at_import", state(top=FORGE), Expected(says="weights")),
    Variant("in_call", state(call=FORGE), Expected(says="weights")),
)
