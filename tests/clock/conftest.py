"""What the tests of the clock share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a worker sees of the kit."""
    from grader.calls.official import installed_specs, stage  # which only Linux can import

    return stage(installed_specs(), tmp_path_factory.mktemp("staged"))
