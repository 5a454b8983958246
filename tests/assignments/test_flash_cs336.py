"""A FlashAttention written for Stanford's CS336, assignment 2, runs through the visible checks by a short adapter."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

import grader

KIT = Path(grader.__file__).resolve().parent.parent
CS336 = Path(__file__).parent / "cs336"
LINES_OF_AN_ADAPTER = 20

NOT_ASKED_THERE = {"test_half_precision_at_other_head_dimensions": "must be a power of 2"}
"""Visible check, by name, to words of what comes of it: D = 80 is no tile of a block pointer."""


class SelfCheck(NamedTuple):
    """One run of the visible checks on the student's folder."""

    report: str
    failures: dict[str, str]
    """By name of the check; empty text where it passed."""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> SelfCheck:
    """The exercises that CS336 has too: forward in fp32 and half precision, and the Function."""
    root = tmp_path_factory.mktemp("cs336")
    shutil.copytree(CS336, root / "flash_attention", ignore=shutil.ignore_patterns("__pycache__"))
    tests, found = KIT / "assignments" / "flash_attention", root / "found.xml"
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={found}", "--submission", root,
            tests / "test_forward.py", f"{tests / 'test_backward.py'}::test_the_function_joins_both_passes",
            "--exercise", "flash_attention.flash_forward",
            "--exercise", "flash_attention.flash_forward_half",
            "--exercise", "flash_attention.flash_backward",
        ],
        cwd=KIT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert found.exists(), done.stdout + done.stderr
    failures = {
        case.get("name", ""): " ".join(part.get("message", "") + (part.text or "") for part in case)
        for case in ElementTree.parse(found).iter("testcase")
    }
    return SelfCheck(done.stdout, failures)


def test_the_adapter_is_a_few_lines() -> None:
    """Both files together, without blank lines."""
    text = "".join((CS336 / name).read_text(encoding="utf-8") for name in ("forward.py", "backward.py"))
    assert len([line for line in text.splitlines() if line.strip()]) <= LINES_OF_AN_ADAPTER


def test_its_forward_pass_earns_the_square_exercise_in_full(checked: SelfCheck) -> None:
    """Every check of `flash_forward`, the one that a kernel does the work included."""
    assert "flash_attention.flash_forward passed 20 / 20" in " ".join(checked.report.split())


def test_its_function_gives_the_gradients_causal_or_not(checked: SelfCheck) -> None:
    """`apply(q, k, v, is_causal)` with its backward pass in PyTorch."""
    assert checked.failures["test_the_function_joins_both_passes"] == ""


def test_only_what_that_course_does_not_ask_for_fails(checked: SelfCheck) -> None:
    """And it fails with the reason, not with a wrong value."""
    failed = {name: text for name, text in checked.failures.items() if text}
    assert failed.keys() == NOT_ASKED_THERE.keys()
    assert [
        words for name, words in NOT_ASKED_THERE.items() if words not in failed[name] + checked.report
    ] == []
