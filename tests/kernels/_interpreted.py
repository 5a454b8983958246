"""Runs the claims of a test file in one child process that has TRITON_INTERPRET=1, and tells each what became of it.

ROOFLAB_TRITON_PATH, a folder with another triton, is put first on the child's path, so that CI can test several.
"""

import functools
import importlib.util
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_IN_CHILD = "ROOFLAB_INTERPRETED_CHILD"


def interpreted(claim: Callable[..., None]) -> Callable[..., None]:
    """A test whose body runs in the child of its file; values of one `parametrize` mark below it are passed on."""
    if os.environ.get(_IN_CHILD):
        return claim

    @functools.wraps(claim)
    def test(**values: Any) -> None:
        outcome = _outcomes(claim.__code__.co_filename)[_name(claim.__name__, values)]
        if outcome:
            pytest.fail(outcome, pytrace=False)

    return test


@functools.cache
def _outcomes(file: str) -> dict[str, str]:
    environment = {**os.environ, "TRITON_INTERPRET": "1", _IN_CHILD: "1", "OMP_NUM_THREADS": "1"}
    paths = [os.environ.get("ROOFLAB_TRITON_PATH", ""), str(_ROOT), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    command = [sys.executable, str(Path(__file__)), file]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if child.returncode:
        pytest.fail(f"the interpreted child failed:\n{child.stderr[-4000:]}", pytrace=False)
    outcomes: dict[str, str] = json.loads(child.stdout.splitlines()[-1])
    return outcomes


def _name(claim: str, values: dict[str, Any]) -> str:
    return f"{claim}({', '.join(f'{name}={value}' for name, value in sorted(values.items()))})"


def _cases(claim: Callable[..., None]) -> Iterator[dict[str, Any]]:
    marks = [mark for mark in getattr(claim, "pytestmark", []) if mark.name == "parametrize"]
    if not marks:
        yield {}
        return
    name, values = marks[0].args[:2]
    for value in values:
        yield {name: value}


def _run_all(file: str) -> dict[str, str]:
    sys.path.insert(0, str(Path(file).parent))
    specification = importlib.util.spec_from_file_location(Path(file).stem, file)
    if specification is None or specification.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(specification)
    sys.modules[Path(file).stem] = module
    specification.loader.exec_module(module)
    outcomes = {}
    for name, claim in list(vars(module).items()):
        if not name.startswith("test_") or not callable(claim):
            continue
        for values in _cases(claim):
            try:
                claim(**values)
            except Exception:  # whatever a claim raises is its outcome, told to the test of its name
                outcomes[_name(name, values)] = traceback.format_exc()
            else:
                outcomes[_name(name, values)] = ""
    return outcomes


if __name__ == "__main__":
    print(json.dumps(_run_all(sys.argv[1])))
