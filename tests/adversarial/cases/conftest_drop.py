"""Ships files that pytest or Python pick up by themselves, and modules named like what the grader imports.

Seen: a conftest.py or a pytest.ini with --collect-only turned wrong code into "1 passed"; a submission's numpy.py
shadowed numpy wherever its folder came first on sys.path.
Stopped by: only the .py files that a student's code may import are copied, none that runs unasked and none named
like a library or a part of the kit; the submission comes last on sys.path; judge and worker share no folder.
"""

from tests.adversarial.case import Expected, Variant, breach, state, write

ATTACK = "conftest_drop"

ALL_PASS = """
import pytest, os
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.outcome = "passed"
    return report
def pytest_runtest_call(item):
    item.runtest = lambda: None
@pytest.fixture
def expect():
    class Anything:
        def __getattr__(self, name):
            return lambda *a, **k: None
    return Anything()
"""
EXITS = "import os\nos._exit(0)\n"
EVERYTHING_EQUAL = """
class Anything:
    def __init__(self, **fields): pass
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
StateBytes = AdapterStateBytes = ZeroStateBytes = Recipe = DType = Expect = Anything()
DTYPE_BYTES = {}
BREACHED = True
"""
DROPPED = {
    "conftest.py": ALL_PASS,
    "memory/conftest.py": ALL_PASS,
    "memory/test_state.py": "def test_state():\n    pass\n",
    "pytest.ini": "[pytest]\naddopts = --collect-only\n",
    "memory/pytest.ini": "[pytest]\naddopts = --collect-only\n",
    "tox.ini": "[pytest]\naddopts = --collect-only\n",
    "setup.cfg": "[tool:pytest]\naddopts = --collect-only\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
    ".coveragerc": "[run]\nplugins = evil\n",
    "sitecustomize.py": EXITS,
    "usercustomize.py": EXITS,
    "memory/sitecustomize.py": EXITS,
    "memory/usercustomize.py": EXITS,
    "evil.pth": "import os; os._exit(0)\n",
}
SHADOWS = {
    f"{folder}{name}": EVERYTHING_EQUAL
    for folder in ("", "memory/")
    for name in (
        "torch.py",
        "triton.py",
        "numpy.py",
        "pydantic.py",
        "yaml.py",
        "_rooflab_worker/__init__.py",
        "_rooflab_worker/wire.py",
        "json.py",
        "socket.py",
        "specs/__init__.py",
        "grader/__init__.py",
        "grader/checks/expect.py",
        "kernels_ref/__init__.py",
    )
}
SHADOWED = """
import importlib, sys
for name in ("torch", "triton", "numpy", "pydantic", "yaml", "json", "socket", "specs", "grader", "_rooflab_worker", "_rooflab_worker.wire"):
    try:
        module = importlib.import_module(name)
    except ImportError:
        continue
    if getattr(module, "BREACHED", False):
        return True
return False
"""
NOT_COPIED = ("conftest.py: not copied", "sitecustomize.py: not copied")


def with_shadows(folder, solutions):
    breach(SHADOWED)(folder, solutions)
    return write(folder, SHADOWS)


VARIANTS = (
    Variant("all_at_once", state(files=DROPPED), Expected(says="weights", notes=NOT_COPIED)),
    Variant(
        "shadows",
        with_shadows,
        Expected(says="weights", notes=("numpy.py: not copied", "specs/: not copied", "grader/: not copied")),
        takes_s=5,
    ),
)
