"""Ranks as interpreters of their own, as on systems that do not fork: the same values, and the same ends."""

import os
import shutil
import tempfile
from collections.abc import Iterator

import psutil
import pytest

torch = pytest.importorskip("torch")

from grader.calls import submission as submissions  # noqa: E402  # after the line that skips where torch is missing
from grader.calls.faults import NeedsTorch, RankDied, RanksDisagree, RanksHang, Tampered  # noqa: E402  # as above
from grader.calls.official import SandboxedRunner, installed_specs, stage  # noqa: E402  # as above
from grader.calls.runner import require  # noqa: E402  # as above
from grader.calls.submission import Submission  # noqa: E402  # as above
from tests.grader.small_ranks import SOURCE, SPEC, Worked  # noqa: E402  # as above

pytestmark = [pytest.mark.ranks, pytest.mark.skipif(os.name == "nt", reason="ranks do not start on Windows")]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Iterator[Worked]:
    root, view = tmp_path_factory.mktemp("submission"), tmp_path_factory.mktemp("staged")
    (root / "rank_kit").mkdir()
    shutil.copy(SOURCE, root / "rank_kit" / "code.py")
    staged = stage(installed_specs(), view)
    starting = staged / "_rooflab_worker" / "ranks" / "starting.py"
    source = starting.read_text()
    line = 'FORKS = sys.platform.startswith("linux")'
    assert line in source
    starting.write_text(source.replace(line, "FORKS = False"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submissions, "assignment", lambda name: SPEC)
        runner = SandboxedRunner(staged, root, {"rank_kit": SPEC}, "process")
        yield Worked(Submission(runner))
        runner.close()


def test_every_rank_returns_its_value_and_is_recorded(run):
    seen = run("total", 3)
    assert all(torch.equal(value, 3 * torch.arange(4.0)) for value in seen.values)
    assert [(call.kind, call.bytes) for call in seen.collectives[1]] == [("all_reduce", 16)]


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        ("exits", RankDied, "died"),
        ("other_collective", RanksDisagree, "rank 0 calls"),
        ("changes_the_recorder", Tampered, ""),
    ],
)
def test_what_went_wrong_is_told_as_of_forked_ones(run, function, kind, words):
    fault = run.fault(function)
    assert isinstance(fault, kind), fault
    assert words in fault.message


def test_they_leave_nothing_behind(run):
    assert isinstance(run.fault("never_arrives"), RanksHang)
    (worker,) = run.submission.runner._workers.values()
    assert psutil.Process(worker.confined.pid).children(recursive=True) == []
    assert not [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("ranks-")]


def test_only_windows_has_no_ranks(monkeypatch):
    (exercise,) = SPEC.exercises
    monkeypatch.setattr("sys.platform", "darwin")
    require(exercise)
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(NeedsTorch, match="needs Linux or macOS"):
        require(exercise)
