"""What a student hears of a function that returns nothing, or raises where nothing is wrong."""

from pathlib import Path

from grader.commands.learn import visible_session
from grader.kit import Kit

ROOT = Path(__file__).resolve().parents[2]


def messages(folder: Path, exercise: str, file: str, ending: str) -> dict[str, str]:
    """By check, what is said of the solution with this code at the end of its file."""
    kit = Kit(ROOT, ROOT / "solutions")
    assignment = exercise.partition(".")[0]
    text = (kit.solutions / assignment / file).read_text(encoding="utf-8")
    (folder / assignment).mkdir()
    (folder / assignment / file).write_text(f"{text}\n\n{ending}", encoding="utf-8")
    report = visible_session(kit, folder, [assignment], [exercise]).report()
    (result,) = (each for each in report.exercises if each.id == exercise)
    return {check.name: check.message for check in result.checks}


def test_a_union_that_returns_nothing_is_asked_for_its_return(tmp_path):
    said = messages(
        tmp_path, "profiling.busy_intervals", "intervals.py", "def union(intervals):\n    sorted(intervals)\n"
    )
    assert said["test_overlapping_intervals_become_one"] == (
        "two that overlap: a list of (start, end) pairs is needed, and it returned None: is there a return?"
    )


def test_what_raises_where_nothing_is_wrong_is_named_with_its_line(tmp_path):
    ending = "def collective_bytes(kind, size, n, algorithm='ring'):\n    return sise\n"
    said = messages(tmp_path, "sharding.collective_bytes", "collectives.py", ending)
    assert "it raises where nothing is wrong" not in "".join(said.values())
    assert all("NameError" in each and "collectives.py" in each for each in said.values())
