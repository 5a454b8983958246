"""`grader schedule`: its table and pictures, a stub, a function of any file, one line for everything that is wrong."""

import re
import sys
from pathlib import Path

import pytest

from grader.cli import main

ROOT = Path(__file__).parents[2]
SOLUTIONS, STUBS = ROOT / "solutions", ROOT / "assignments"
ANY = """
def alone(kind, stages, microbatches, forward, backward):
    return [(0, 0, 0, "F"), (forward, 0, 0, "B")]


def nothing(kind, stages, microbatches, forward, backward):
    return None


def escapes(kind, stages, microbatches, forward, backward):
    return [(0, 0, 0, "\\x1b[2J")]


def three(kind, stages, microbatches):
    return []


def raises(*arguments):
    raise SystemExit("\\x1b[2Jbye")
"""


class Ran:
    """What a run of the command left: exit code, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def grader(monkeypatch, capsys, tmp_path):
    """Runs `grader schedule` with these words, in a folder that holds any.dir/any.py alone."""
    folder = tmp_path / "any.dir"
    folder.mkdir()
    (folder / "any.py").write_text(ANY)

    def run(*words: object) -> Ran:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["grader", "schedule", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return run


def test_gpipe_and_1f1b_wait_alike_and_hold_differently(grader, tmp_path):
    ran = grader("--submission", SOLUTIONS)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "4 stages, 8 microbatches, a forward 1, a backward 2"
    assert re.search(r"^GPipe +33 +9 +27.3 % +37.5 % +8 on each", ran.out, re.MULTILINE)
    assert re.search(r"^1F1B +33 +9 +27.3 % +37.5 % +4, 3, 2, 1", ran.out, re.MULTILINE)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {
        "schedule-4-stages-8-microbatches.png",
        "schedule-4-stages-8-microbatches.svg",
    }


def test_writes_both_pictures_small_and_the_same_each_time(grader, tmp_path):
    for name in ("one", "two.svg"):
        assert grader("--kind", "1f1b", "--submission", SOLUTIONS, "--out", tmp_path / name).code == 0
    for suffix in (".png", ".svg"):
        one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
        assert 5_000 < one.stat().st_size < 200_000
    svg = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert "1F1B, 4 stages, 8 microbatches" in svg
    assert "holds 4" in svg
    assert "GPipe" not in svg


def test_every_wait_of_every_stage_is_shaded_and_nothing_else_is():
    from grader.schedules.gantt import waits
    from grader.schedules.simulator import simulate

    entries = [(0, 0, 0, "F"), (1, 1, 0, "F"), (2, 1, 0, "B"), (4, 0, 0, "B")]
    schedule = simulate(entries, 2, 1)
    assert list(waits(schedule, 0)) == [(1, 4)]
    assert list(waits(schedule, 1)) == [(0, 1), (4, 6)]
    for stage in (0, 1):
        assert sum(end - begin for begin, end in waits(schedule, stage)) == schedule.bubble


def test_a_stub_is_a_todo_line_and_no_picture(grader, tmp_path):
    ran = grader("--submission", STUBS)
    assert ran.code == 1
    assert ran.out == (
        "todo: write pipeline_schedule in sharding/bubbles.py (exercise sharding.pipeline_schedule)\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["any.dir"]


def test_any_function_of_any_file_is_drawn(grader):
    ran = grader(
        "any.dir/any.py:alone", "--stages", 1, "--microbatches", 1, "--forward", 2.5, "--kind", "1f1b"
    )
    assert ran.code == 0
    assert ran.out.startswith("1 stage, 1 microbatch, a forward 2.5, a backward 2\n")
    assert re.search(r"^1F1B +4.5 +0 +0.0 % +0.0 % +1", ran.out, re.MULTILINE)


def test_a_schedule_that_cannot_run_says_why_and_is_not_drawn(grader, tmp_path):
    ran = grader("any.dir/any.py:alone", "--kind", "gpipe")
    assert ran.code == 1
    assert ran.out == "GPipe cannot run: F of microbatch 1 on stage 0 is missing\n"
    ran = grader("any.dir/any.py:nothing")
    assert ran.code == 1
    assert ran.out.startswith("GPipe cannot run: a list of (time, stage, microbatch")
    ran = grader("any.dir/any.py:escapes")
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert [path.name for path in tmp_path.iterdir()] == ["any.dir"]


def test_more_passes_than_a_picture_shows_are_counted_and_not_drawn(grader, tmp_path):
    words = ("--submission", SOLUTIONS, "--stages", 10, "--microbatches", 300, "--kind", "1f1b")
    ran = grader(*words)
    assert ran.code == 0
    assert ran.out.splitlines()[-1].startswith("no picture: 10 stages and 6,000 passes")
    asked = grader(*words, "--out", tmp_path / "picture")
    assert asked.code == 2
    assert asked.err.startswith("grader: no picture: 10 stages and 6,000 passes")


def test_without_matplotlib_there_is_a_table_and_one_line(grader, monkeypatch):
    for name in [
        name
        for name in sys.modules
        if name.split(".")[0] == "matplotlib" or name in ("grader.plots.roofline", "grader.schedules.gantt")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = grader("--submission", SOLUTIONS)
    assert ran.code == 0
    assert "27.3 %" in ran.out
    assert ran.out.splitlines()[-1].startswith("no picture: matplotlib is not installed, pip install")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kind", "zb-h1"), "--kind zb-h1: no such kind, choose one of gpipe, 1f1b"),
        (("--forward", 0), "--forward and --backward: times above 0 are needed"),
        (("--backward", "nan"), "--forward and --backward: times above 0 are needed"),
        (("--stages", 0), "invalid value for '--stages'"),
        (("--submission", "nowhere"), "--submission nowhere: no such folder"),
        (("--out", "no/such/picture", "--submission", SOLUTIONS), "--out no/such/picture: no folder no/such"),
        (("any.dir/any.py",), "any.dir/any.py: give a file and a function"),
        (("any.dir/none.py:alone",), "any.dir/none.py: no such file"),
        (("any.dir/any.py:missing",), "any.py has no function missing"),
        (("any.dir/any.py:three",), "three raised TypeError: three() takes 3 positional arguments but 5"),
        (("any.dir/any.py:raises",), "raises raised SystemExit: "),
        (("any.dir/any.py:alone", "--submission", SOLUTIONS), "--submission: it goes without FILE:FUNCTION"),
    ],
)
def test_wrong_words_are_one_line(grader, words, message):
    ran = grader(*words)
    assert ran.code == 2
    assert ran.err.startswith(f"grader: {message}")
    assert len(ran.err.splitlines()) == 1
    assert "\x1b" not in ran.err
