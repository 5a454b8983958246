"""Honest: helpers in extra modules beside the stub, dataclasses of its own, numpy scalars where floats are asked for.

Seen: graders that copy the stub's file alone, and checkers that want `type(x) is float`.
Passes because: every .py file that can be imported is copied; numpy scalars arrive as plain numbers.
"""

from tests.adversarial.case import Expected, Variant, state

HONEST = "honest_helpers"

FILES = {
    "memory/sizes.py": "from deeper.table import SIZES\n\ndef size(dtype):\n    return SIZES.get(dtype, 0)\n",
    "memory/deeper/__init__.py": "",
    "memory/deeper/table.py": "from specs import DTYPE_BYTES\nimport numpy as np\n"
    "SIZES = {name: np.float32(size) for name, size in DTYPE_BYTES.items()}\n",
    "shared_by_all.py": "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Bill:\n"
    "    weights: float\n    gradients: float\n    master: float\n    moments: float\n",
    "notes.txt": "my notes\n",
}
TOP = """
import dataclasses
import numpy as np
from shared_by_all import Bill
from sizes import size
from .sizes import size as the_same
"""
CALL = """
bill = Bill(
    size(recipe.weights),
    np.int64(0) + size(recipe.gradients) + the_same(recipe.gradient_accumulation),
    np.float64(size(recipe.master)),
    np.sum(np.array([size(moment) for moment in recipe.moments], dtype=np.float64)),
)
"""

VARIANTS = (
    Variant("terms", state(TOP, CALL, "StateBytes(**dataclasses.asdict(bill))", FILES), Expected(("passed",), 10)),
    Variant("named_worker", state("from worker import SIZE", files={"memory/worker.py": "SIZE = 0\n"},
                                 answer="right(recipe) if SIZE == 0 else None"), Expected(("passed",), 10)),
    Variant("dict", state(TOP, CALL, "dataclasses.asdict(bill)", FILES), Expected(("passed",), 10)),
)
