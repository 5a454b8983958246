"""Which test files a judge collects."""

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.kit import find_kit
from grader.session import that_may_check

STATE = '@pytest.mark.exercise("memory.state_bytes_per_parameter", weight=2)\ndef test_a(): ...\n'
KV = '@pytest.mark.exercise(\n    "memory.kv_cache_bytes"\n)\ndef test_b(): ...\n'
BUILT = 'NAME = "memory.state"\n@pytest.mark.exercise(NAME + "_bytes_per_parameter")\ndef test_c(): ...\n'
RENAMED = 'of = pytest.mark.exercise\n@of("memory.state_bytes_per_parameter")\ndef test_d(): ...\n'
LISTED = f'pytestmark = pytest.mark.exercise("memory.peak_step_bytes")\n{STATE}'


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / f"test_{len(list(tmp_path.iterdir()))}.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_without_a_choice_all_files_are_collected(written):
    files = [written(STATE), written(KV), written("")]
    assert that_may_check((), files) == files


@pytest.mark.parametrize("text", [STATE, BUILT, RENAMED, LISTED])
def test_a_file_that_may_check_what_is_wanted_is_collected(written, text):
    other, wanted = written(KV), written(text)
    assert that_may_check(("memory.state_bytes_per_parameter",), [other, wanted]) == [wanted]


def test_where_no_file_checks_it_all_are_collected_and_the_judge_says_so(written):
    files = [written(STATE), written(KV)]
    assert that_may_check(("memory.parameter_count",), files) == files


def test_every_exercise_of_the_kit_keeps_the_files_that_name_it():
    kit = find_kit()
    for name, spec in kit.available().items():
        tests = [*kit.visible_tests(name), *kit.hidden_tests(name)]
        for exercise in spec.exercises:
            full = f"{name}.{exercise.id}"
            kept = that_may_check((full,), tests)
            assert {path for path in tests if f'"{full}"' in path.read_text(encoding="utf-8")} <= set(kept)
            assert len(kept) < len(tests)
