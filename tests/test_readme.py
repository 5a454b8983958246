"""What the README says about exercises, mistakes and commands is what the kit has."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from grader.cli import app
from specs.assignment import assignments

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_exercises_is_that_of_the_specs():
    rows = [
        f"| `{spec.name}.{each.id}` | {each.title} "
        f"| {each.points:g}{' extra' if each.extra_credit else ''} | {each.minutes} |"
        for spec in assignments().values()
        for each in spec.exercises
    ]
    assert [
        line for line in README.splitlines() if line.startswith("| `") and "." in line.split("`")[1]
    ] == rows


def test_the_number_of_mistakes_is_right():
    files = [path for path in (ROOT / "solutions").glob("*/mistakes/*.py") if not path.stem.startswith("_")]
    assert f"{len(files)} named mistakes" in " ".join(README.split())


@pytest.mark.parametrize("text", [README, (ROOT / "assignments" / "README.md").read_text(encoding="utf-8")])
def test_every_command_that_is_named_exists(text):
    named = set(re.findall(r"(?:`|^|\n)grader ([a-z][a-z-]*)", text))
    assert named
    assert named <= set(get_command(app).commands)


def test_every_folder_that_is_named_exists():
    for name in re.findall(r"^\| `([a-z_]+)/` \|", README, re.MULTILINE):
        assert (ROOT / name).is_dir(), name
