"""Hands in a zip with names that lead out of the folder it is unpacked to.

Seen: Zip Slip (CVE-2018-1000117 and its kin).
Stopped by: nothing is extracted, and a name that leads out refuses the zip, whichever system's way it is written in.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.containers import STUB_TEXT, zipped

ATTACK = "path_traversal"


def leads_out(name, path):
    return Variant(name, zipped(("memory/state.py", STUB_TEXT), (path, "")), Expected(refused="points outside"))


VARIANTS = (
    leads_out("climbs_out", "../../../pwned.py"),
    leads_out("climbs_inside", "memory/../../pwned.py"),
    leads_out("absolute", "/tmp/pwned.py"),
    leads_out("climbs_as_windows", "..\\..\\pwned.py"),
    leads_out("drive", "C:\\pwned.py"),
)
