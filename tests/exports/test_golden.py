"""Each format, byte for byte; `python -m tests.exports.sample_reports` writes the files anew."""

import pytest

from tests.exports.sample_reports import GOLDEN, exports


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_is_what_the_golden_file_says(name):
    assert exports()[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_export_has_its_golden_file():
    assert set(exports()) == {path.name for path in GOLDEN.iterdir()}
