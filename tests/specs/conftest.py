"""The counting oracle of the specs tests as fixtures: test modules of this suite do not import each other."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from specs import Model

_SPEC = importlib.util.spec_from_file_location(
    "parameter_oracle", Path(__file__).with_name("parameter_oracle.py")
)
assert _SPEC is not None
assert _SPEC.loader is not None
_oracle = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_oracle)

Counter = Callable[[Model], int]


@pytest.fixture(scope="session")
def parameter_count() -> Counter:
    """All stored values of a model."""
    return _oracle.parameter_count


@pytest.fixture(scope="session")
def active_parameter_count() -> Counter:
    """The values of a model that take part for one token."""
    return _oracle.active_parameter_count
