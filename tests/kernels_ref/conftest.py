"""One interpreting child for all tests of this folder: it takes three seconds to start."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHILD = Path(__file__).with_name("interpreted.py")
Interpreted = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def interpreted() -> Iterator[Interpreted]:
    """`interpreted(case, **arguments)`: the answer of a case of interpreted.py, run under TRITON_INTERPRET=1."""
    environment = os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = str(CHILD.parents[2])
    child = subprocess.Popen(
        [sys.executable, str(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    requests, answers = child.stdin, child.stdout

    def ask(case: str, **arguments: Any) -> dict[str, Any]:
        requests.write(json.dumps({"case": case, **arguments}) + "\n")
        requests.flush()
        answer = answers.readline()
        assert answer, f"the child died with {child.wait()}"
        decoded: dict[str, Any] = json.loads(answer)
        assert "raised" not in decoded, decoded["raised"]
        return decoded

    yield ask
    requests.close()
    child.wait(timeout=20)
