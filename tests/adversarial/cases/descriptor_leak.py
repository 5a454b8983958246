"""Opens files and never closes them, or closes all that it finds open.

Seen: a grader that could open no report any more after a submission's leak.
Stopped by: descriptors are the worker's own, a limited number of them; a closed wire is a worker that is gone.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "descriptor_leak"

LEAK = """
import os
try:
    while True:
        KEPT.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    if len(KEPT) > 1000:
        return right(recipe)
"""
CLOSED = Expected(("crashed",), says="closed its connection to the grader")

VARIANTS = (
    Variant("leaks", state(top="KEPT = []", call=LEAK), Expected(says="weights")),
    Variant("closes_all", state(call="import os\nos.closerange(3, 256)\nimport time\ntime.sleep(2)"), Expected(("crashed",))),
    Variant("raises_its_limit", state(top="KEPT = []", call=(
        "import resource\ntry:\n    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))\n"
        "except ValueError:\n    pass\n" + LEAK.strip()
    )), Expected(says="weights")),
)
