"""The counting oracle of the specs tests as fixtures, and the walk through published values by its name.

Test modules of this suite do not import each other, and no folder of tests is on the path: what several of
them share is loaded here.
"""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from specs import Model


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: pydantic looks its annotations up there
    spec.loader.exec_module(module)
    return module


_oracle = _load("parameter_oracle")
_load("published_walk")

Counter = Callable[[Model], int]


@pytest.fixture(scope="session")
def parameter_count() -> Counter:
    """All stored values of a model."""
    return _oracle.parameter_count


@pytest.fixture(scope="session")
def active_parameter_count() -> Counter:
    """The values of a model that take part for one token."""
    return _oracle.active_parameter_count
