"""Functions on ranks in real workers: values, records, and every way in which ranks come to no good end."""

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

torch = pytest.importorskip("torch")

from grader.calls import submission as submissions  # noqa: E402  # after the line that skips where torch is missing
from grader.calls.faults import (  # noqa: E402  # as above
    Raised,
    RankDied,
    RanksDisagree,
    RanksHang,
    Tampered,
    Todo,
)
from grader.calls.official import SandboxedRunner, installed_specs, stage  # noqa: E402  # as above
from grader.calls.runner import LocalRunner  # noqa: E402  # as above
from grader.calls.submission import Submission  # noqa: E402  # as above
from grader.sandbox import available  # noqa: E402  # as above
from tests.grader.small_ranks import SOURCE, SPEC, Worked  # noqa: E402  # as above

pytestmark = [
    pytest.mark.ranks,
    pytest.mark.skipif(
        not __import__("sys").platform.startswith("linux"), reason="ranks are forked on Linux"
    ),
]


@pytest.fixture(scope="module", params=["local", "sandbox"])
def run(request, tmp_path_factory) -> Iterator[Worked]:
    """A self-check, and a confined worker."""
    if request.param == "sandbox" and not available().ok:
        pytest.skip("no sandbox here")
    root = tmp_path_factory.mktemp("submission")
    (root / "rank_kit").mkdir()
    shutil.copy(SOURCE, root / "rank_kit" / "code.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submissions, "assignment", lambda name: SPEC)
        patch.setattr("grader.calls.local_lanes.assignments", lambda: {"rank_kit": SPEC})
        runner = (
            LocalRunner(root)
            if request.param == "local"
            else SandboxedRunner(
                stage(installed_specs(), tmp_path_factory.mktemp("staged")),
                root,
                {"rank_kit": SPEC},
                "sandbox",
            )
        )
        yield Worked(Submission(runner))
        runner.close()


# ---- what comes back


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_rank_returns_its_value(run, ranks):
    seen = run("total", ranks)
    assert len(seen.values) == ranks
    assert all(torch.equal(value, ranks * torch.arange(4.0)) for value in seen.values)


def test_a_call_is_recorded_with_kind_size_and_ranks(run):
    seen = run("total", 3)
    (call,) = seen.collectives[1]
    assert (call.kind, call.bytes, call.dtype, call.elements, call.op) == (
        "all_reduce",
        16,
        "float32",
        4,
        "sum",
    )
    assert call.ranks == (0, 1, 2)
    assert seen.wire_bytes == 2 * 2 * 16


def test_every_route_through_torch_distributed_is_seen(run):
    seen = run("many_routes", 3, torch.ones(3), deadline_s=100.0)  # they import a lot at their first call
    kinds = [call.kind for call in seen.collectives[0]]
    assert kinds[:7] == [
        "all_reduce",
        "all_reduce",
        "all_gather",
        "reduce_scatter",
        "all_reduce",
        "all_reduce",
        "broadcast",
    ]
    assert seen.collectives[0][6].ranks == (0, 1)
    assert kinds[-1] == "all_reduce"  # DistributedDataParallel's, from C++
    assert "broadcast" not in [call.kind for call in seen.collectives[2][:6]]


def test_uneven_pieces_work_and_are_recorded_as_asked_for(run):
    seen = run("uneven", 3)
    gathered, swapped = seen.values[1]
    assert gathered.tolist() == [0, 1, 1, 2, 2, 2]
    assert swapped.tolist() == [1, 11, 11, 21, 21, 21]
    assert [(call.kind, call.bytes) for call in seen.collectives[1]] == [
        ("all_gather", 24),
        ("all_to_all", 24),
    ]


def test_the_peak_counts_what_is_alive_at_once(run):
    x = torch.zeros(250_000)
    assert run("total", 2, x).peak_bytes == (0, 0)
    assert run("doubled_and_total", 2, x).peak_bytes == (1_000_000, 1_000_000)


def test_ranks_draw_different_numbers_and_the_same_ones_again(run):
    one, other = run("different_seeds").values
    assert not torch.equal(one, other)
    assert torch.equal(run("different_seeds").values[1], other)


def test_the_loopback_device_carries_what_the_records_say(run):
    seen = run("total", 3, torch.zeros(500_000))
    assert seen.wire_bytes == 8_000_000
    if run.submission.runner.isolation == "local":
        assert seen.outside_bytes is None
    else:
        assert seen.wire_bytes <= seen.outside_bytes <= 1.02 * seen.wire_bytes


def test_a_rank_has_no_other_ranks_input(run):
    submission = Submission(run.submission.runner)
    submission.begin_check("rank_kit.ranks")
    inputs = [(torch.tensor([1234.5, 100.0 + rank], dtype=torch.float64),) for rank in range(2)]
    assert submission.rank_kit.finds_the_others_inputs.on_ranks(inputs).values == (0, 0)


# ---- no good end


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        (
            "never_arrives",
            RanksHang,
            "rank 0 waits in all_reduce number 2 for rank 1, which is still in its own code after its call number 1",
        ),
        ("spins", RanksHang, "rank 0 is still in its own code after 2 s"),
        (
            "returns_early",
            RanksHang,
            "rank 0 waits in all_reduce number 1 for rank 1, which has returned already",
        ),
        ("never_stops_calling", RanksHang, "has called 4,000 collectives and goes on"),
        ("exits", RankDied, "rank 1 died with exit code 3"),
        ("segfaults", RankDied, "rank 1 died of signal 11"),
        ("exits_politely", Raised, "rank 1 raised SystemExit"),
        ("raises", Raised, "rank 1 raised ValueError: the second rank is unhappy"),
        ("is_a_stub", Todo, ""),
        ("returns_a_lambda", Raised, "rank 0 a function cannot be sent"),
        (
            "other_collective",
            RanksDisagree,
            "rank 0 calls all_reduce, rank 1 all_gather (call number 2)",
        ),
        (
            "other_size",
            RanksDisagree,
            "rank 0 calls all_reduce of 3 float32, rank 1 all_reduce of 4 float32 (call number 1)",
        ),
        (
            "other_operation",
            RanksDisagree,
            "rank 0 calls all_reduce of 4 float32, rank 1 all_reduce (max) of 4 float32 (call number 1)",
        ),
        (
            "other_root",
            RanksDisagree,
            "rank 0 calls broadcast of 4 float32 with root rank 0, rank 1 broadcast of 4 float32 with root rank 1",
        ),
        (
            "send_without_recv",
            RanksHang,
            "rank 0 waits in send number 1 for rank 1, which has returned already",
        ),
        (
            "isend_without_recv",
            RanksDisagree,
            "rank 0 sends to rank 1 (call number 1), which never receives it",
        ),
        (
            "send_into_small_buffer",
            RanksDisagree,
            "rank 0 calls send of 4 float32 to rank 1, rank 1 recv of 2 float32 from rank 0 (call number 1)",
        ),
        (
            "all_send_first",
            RanksHang,
            "rank 0 waits in send number 1 for rank 1, which waits in send number 1 for rank 0: a circle",
        ),
    ],
)
def test_what_went_wrong_is_told_by_rank_collective_and_number(run, function, kind, words):
    fault = run.fault(function, deadline_s=2.0 if function in ("never_arrives", "spins") else 60.0)
    assert isinstance(fault, kind), fault.message
    assert words in fault.message


def test_a_hang_names_the_students_line_but_not_in_a_hidden_check(run):
    fault = run.fault("never_arrives", deadline_s=1.0)
    assert "code.py, line" in fault.message
    assert "time.sleep(1000)" in fault.message
    assert "code.py" not in fault.hidden_message


@pytest.mark.parametrize("ranks", [3, 8])
def test_a_circle_is_found_long_before_the_deadline(run, ranks):
    """Of eight as well: gloo's own threads, which never rest, do not pass for ranks at work."""
    began = time.monotonic()
    fault = run.fault("all_send_first", ranks=ranks, deadline_s=100.0)
    assert time.monotonic() - began < 50
    assert (
        "rank 0 waits in send number 1 for rank 1, which waits in send number 1 for rank 2" in fault.message
    )
    assert fault.symptom == "ranks.deadlock"


@pytest.mark.parametrize("function", ["leaves_a_child", "leaves_a_thread", "leaves_no_output"])
def test_what_a_rank_leaves_behind_does_not_keep_the_others(run, function):
    assert len(run(function).values) == 2


def test_the_worker_lives_on_after_every_bad_end(run):
    """The rest of the run is unaffected: the process that forks the ranks is the same one."""
    before = _workers(run)
    for function in ("exits", "raises", "other_collective", "returns_early"):
        run.fault(function)
    assert run("total").values[0].tolist() == [0, 2, 4, 6]
    assert _workers(run) == before


def test_nothing_is_left_behind(run):
    run("leaves_a_child", 3)
    run.fault("all_send_first", ranks=3)
    (worker,) = _workers(run)
    below = [
        process for process in psutil.Process(worker).children(recursive=True) if process.status() != "zombie"
    ]
    at_most = 0 if run.submission.runner.isolation == "local" else 2  # bwrap's own process and the worker
    assert len(below) <= at_most, [process.cmdline() for process in below]
    inner = below[-1].pid if below else worker
    assert not [name for name in os.listdir(f"/proc/{inner}/root/tmp") if name.startswith("ranks-")]
    assert not [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("ranks-")]
    links = [os.readlink(f"/proc/{inner}/fd/{number}") for number in os.listdir(f"/proc/{inner}/fd")]
    assert len([link for link in links if link.startswith("socket:")]) == 1  # the wire


def test_ranks_die_with_a_worker_that_is_killed(tmp_path, monkeypatch):
    """A judge that is killed takes its worker with it, and nobody is left to end the ranks."""
    (tmp_path / "rank_kit").mkdir()
    shutil.copy(SOURCE, tmp_path / "rank_kit" / "code.py")
    monkeypatch.setattr(submissions, "assignment", lambda name: SPEC)
    view = stage(installed_specs(), tmp_path / "staged")
    run = Worked(Submission(SandboxedRunner(view, tmp_path, {"rank_kit": SPEC}, "process")))
    run("total")
    (worker,) = _workers(run)
    found: list[psutil.Process] = []

    def kill() -> None:
        until = time.monotonic() + 30
        while len(found) < 2 and time.monotonic() < until:
            found[:] = psutil.Process(worker).children(recursive=True)
            time.sleep(0.01)
        os.kill(worker, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    run.fault("never_arrives")
    thread.join()
    run.submission.runner.close()
    assert len(found) >= 2
    assert not psutil.wait_procs(found, timeout=10)[1]


def _workers(run: Worked) -> list[int]:
    runner = run.submission.runner
    if isinstance(runner, LocalRunner):
        runner = runner._own_lanes._runner  # type: ignore[union-attr]  # a LocalLanes that has run by now
    return [worker.confined.pid for worker in runner._workers.values()]


# ---- hostile


@pytest.mark.parametrize(("at_fork", "kind"), [("os._exit", RankDied), ("sys.exit", None)])
def test_what_an_import_leaves_to_do_at_a_fork_is_the_submissions_doing(tmp_path, at_fork, kind):
    """It would make the points pending, were it taken for a fault of the machine."""
    (tmp_path / "rank_kit").mkdir()
    text = f"import os, sys\nos.register_at_fork(after_in_child=lambda: {at_fork}(7))\n\n\n"
    text += "def total(x, group=None):\n    return x\n"
    (tmp_path / "rank_kit" / "code.py").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submissions, "assignment", lambda name: SPEC)
        patch.setattr("grader.calls.local_lanes.assignments", lambda: {"rank_kit": SPEC})
        runner = LocalRunner(tmp_path)
        try:
            worked = Worked(Submission(runner))
            if kind is None:  # an exception there is printed, and the fork goes on
                assert len(worked("total").values) == 2
            else:
                fault = worked.fault("total")
                assert isinstance(fault, kind)
                assert "rank 0 died before it began" in fault.message
        finally:
            runner.close()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("tells_of_itself", "what measures"),
        ("changes_the_recorder", "what measures"),
    ],
)
def test_what_meddles_with_the_recorder_is_told_so(run, function, words):
    fault = run.fault(function)
    assert isinstance(fault, Tampered)


def test_nonsense_on_every_open_descriptor_earns_nothing(run):
    fault = run.fault("frames_of_nonsense")
    assert isinstance(fault, Tampered | RankDied | RanksHang | Raised), fault
