"""Two real processes under the judge's clock: who runs when, what is taken off, and whose fault a failure is."""

import random
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.clock

from grader.calls.faults import CheckFailed, Crashed, NeedsGpu, Raised, Tampered  # noqa: E402 - after the skip
from grader.calls.runner import Request  # noqa: E402
from grader.clock.cpu_host import CpuHost  # noqa: E402
from grader.clock.device import DeviceLost, OutOfMemory  # noqa: E402
from grader.clock.grading import Plan  # noqa: E402
from grader.clock.timer import Run, Sides, Timer  # noqa: E402
from grader.clock.verdict import TimingOutcome, TimingVerdict, key_of  # noqa: E402 - after the skip
from grader.sandbox.tree import look_up  # noqa: E402
from specs.assignment import assignment  # noqa: E402
from specs.timing import Threshold, TimedShape, Timing  # noqa: E402

SHAPE = TimedShape(
    direction="forward", batch=1, heads=4, kv_heads=4, tokens=256, head_dim=32, causal=False, dtype="fp32"
)
CURVE = Threshold(full_ratio=50.0, zero_ratio=100.0, provenance="made up: whatever is right earns")
RIGHT = """
import torch

def flash_forward(q, k, v, causal=False, scale=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)
"""
BASELINE = "kernels_ref.timed.tiled"


def exercise(baseline=BASELINE, thresholds=None):
    timing = Timing(baseline=baseline, shapes=(SHAPE,), thresholds={"cpu-clock": CURVE} | (thresholds or {}))
    performance = assignment("flash_attention").exercise("performance")
    return performance.model_copy(update={"timing": timing, "needs": ("torch", "gpu")})


def sides(folder: Path, staged: Path, text: str) -> Sides:
    file = folder / "handed_in" / "flash_attention" / "forward.py"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return Sides(staged, folder / "handed_in", folder / "scratch", "process")


@pytest.fixture
def running(tmp_path, staged):
    """Starts both sides around a text, and gives the device and its two workers."""
    runs = []

    def start(text=RIGHT, baseline=BASELINE):
        request = Request("flash_attention", "forward.py", "flash_forward")
        run = Run(CpuHost(), sides(tmp_path, staged, text), baseline, request, [SHAPE], random.Random(1))
        runs.append(run)
        return run.device(own_kernels=False)

    yield start
    for run in runs:
        run.__exit__()


def timed(tmp_path, staged, text=RIGHT, **options):
    timer = Timer(CpuHost(), sides(tmp_path, staged, text), accept_unmeasured=True, plan=Plan(budget_s=40.0))
    for name, value in options.items():
        setattr(timer, name, value)
    return timer


KEY = key_of("flash_attention.performance", "check")


def ask(timer, exercise):
    return timer.time(
        assignment("flash_attention"), exercise, "forward.py", "flash_forward", "forward", "check"
    )


def test_the_submission_stands_still_while_the_baseline_is_timed(running):
    device = running()
    device.time_block("submission", SHAPE, 2)
    submission = device._submission.worker.confined
    assert not look_up(submission.pid).stopped
    for what in ("baseline", "empty"):
        device.time_block(what, SHAPE, 2)
        assert look_up(submission.pid).stopped
    device.time_block("submission", SHAPE, 1)
    assert not look_up(submission.pid).stopped


def test_nothing_of_the_submission_runs_before_the_baseline_was_timed_alone(running):
    device = running("raise SystemExit\n")
    device.time_block("baseline", SHAPE, 2)
    device.time_block("empty", SHAPE, 2)
    assert device._submission is None
    with pytest.raises(Raised, match=r"forward\.py cannot be imported"):
        device.time_block("submission", SHAPE, 1)


WAKES_ITSELF = """
import ctypes, signal, struct, threading, time

signal.signal(signal.SIGCONT, lambda *_: None)
libc = ctypes.CDLL(None, use_errno=True)
event = struct.pack("=qiiq40x", 0, signal.SIGCONT, 0, 0)
timer = ctypes.c_void_p()
libc.timer_create(1, event, ctypes.byref(timer))
often = struct.pack("qqqq", 0, 50_000_000, 0, 50_000_000)
libc.timer_settime(timer, 0, often, None)


def burn():
    while True:
        pass


threading.Thread(target=burn, daemon=True).start()
"""


def test_a_process_that_wakes_itself_while_it_is_stopped_is_tampering(running):
    device = running(WAKES_ITSELF + RIGHT)
    device.time_block("submission", SHAPE, 1)

    def one_block_after_the_other():
        for _ in range(20):
            device.time_block("baseline", SHAPE, 5)

    with pytest.raises(Tampered, match=r"ran for .* s while they were stopped"):
        one_block_after_the_other()


def test_the_judges_own_lack_of_memory_is_nobodys_fault(running, monkeypatch):
    device = running()

    def no_memory(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(device._workloads[SHAPE.label], "check", no_memory)
    with pytest.raises(OutOfMemory, match="the judge found no memory"):
        device.time_block("submission", SHAPE, 1)


def test_a_card_that_is_lost_in_a_call_is_not_the_submissions_fault(running, monkeypatch):
    device = running(
        "def flash_forward(*_):\n    raise RuntimeError('CUDA error: unspecified launch failure')\n"
    )

    def lost(*_):
        raise DeviceLost("the GPU does not answer any more")

    device.time_block("baseline", SHAPE, 1)
    monkeypatch.setattr(device._host, "sample", lost)
    with pytest.raises(DeviceLost):
        device.time_block("submission", SHAPE, 1)


def test_every_time_is_a_positive_number_and_the_work_is_in_it(running):
    slow = RIGHT.replace("    scores", "    import time; time.sleep(0.05)\n    scores", 1)
    device = running(slow)
    assert min(device.time_block("submission", SHAPE, 3)) > 0.05
    assert all(time_s > 0 for what in ("baseline", "empty") for time_s in device.time_block(what, SHAPE, 3))


def test_a_call_that_fails_is_named_with_its_number(running):
    device = running(
        "calls = []\n"
        + RIGHT.replace("    scores", "    calls.append(1); 1 / (3 - len(calls))\n    scores", 1)
    )
    with pytest.raises(Raised, match=r"in timed call 3 \(forward .*ZeroDivisionError"):
        device.time_block("submission", SHAPE, 5)


def test_a_process_that_dies_in_a_call_is_a_crash_of_the_submission(running):
    device = running("import os\ndef flash_forward(*_):\n    os._exit(7)\n")
    with pytest.raises(Crashed, match="in timed call 1"):
        device.time_block("submission", SHAPE, 1)


def test_wrong_only_in_a_late_call_fails_with_that_call(running):
    late = (
        RIGHT.replace("def flash", "calls = []\n\ndef flash")
        .replace("    scores", "    calls.append(1)\n    scores", 1)
        .replace("-1) @ v,", "-1) @ v * (1.0 if len(calls) < 9 else 1.01),")
    )
    device = running(late)
    device.time_block("submission", SHAPE, 8)
    with pytest.raises(CheckFailed, match=r"timed call 9 .* off by"):
        device.time_block("submission", SHAPE, 1)


def test_a_baseline_without_memory_is_nobodys_fault(running, tmp_path, monkeypatch):
    device = running()

    def no_memory(*_, **__):
        raise Raised("flash_forward raised OutOfMemoryError: CUDA out of memory")

    monkeypatch.setattr(device._baseline, "call", no_memory)
    with pytest.raises(OutOfMemory, match="the baseline found no memory"):
        device.time_block("baseline", SHAPE, 1)


def test_a_baseline_that_dies_is_nobodys_fault(running):
    device = running()
    device._baseline.worker.confined.kill()
    with pytest.raises(DeviceLost, match="the baseline failed, which is not your fault"):
        device.time_block("baseline", SHAPE, 1)


def test_a_right_function_is_scored(tmp_path, staged):
    """Where a neighbour on the machine makes the baseline slow it is asked again, as a cohort does at its end."""
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        verdict = ask(timed(folder, staged), exercise())
        if verdict.outcome is not TimingOutcome.INCONCLUSIVE:
            break
    assert (verdict.outcome, verdict.share) == (TimingOutcome.SCORED, 1.0), verdict.reason
    assert verdict.fingerprint["gpu"] == "cpu-clock"


def test_a_baseline_that_cannot_be_imported_leaves_the_points_pending(tmp_path, staged):
    verdict = ask(timed(tmp_path, staged), exercise(baseline="kernels_ref.no_such_module"))
    assert (verdict.outcome, verdict.next) == (TimingOutcome.GRADER_ERROR, "requeue")
    assert "not your fault" in verdict.reason


def test_a_submission_that_cannot_be_imported_says_where(tmp_path, staged):
    with pytest.raises(Raised, match=r"forward\.py cannot be imported"):
        ask(timed(tmp_path, staged, "import no_such_thing\n"), exercise())


def test_a_card_without_a_threshold_leaves_the_points_pending(tmp_path, staged):
    timer = timed(tmp_path, staged)
    timer.host.gpu = timer.host.gpu.model_copy(update={"name": "another-card"})
    with pytest.raises(NeedsGpu, match=r"no threshold for this card \(another-card"):
        ask(timer, exercise())


def test_a_threshold_that_nobody_measured_counts_only_when_the_instructor_says_so(tmp_path, staged):
    with pytest.raises(NeedsGpu, match=r"never measured .* --accept-unmeasured"):
        ask(timed(tmp_path, staged, accept_unmeasured=False), exercise())


def earlier(next_, attempt):
    return TimingVerdict.model_validate(
        {
            "outcome": "inconclusive",
            "interval": {"low": 0, "high": 1},
            "reason": "too noisy",
            "attempt": attempt,
            "next": next_,
            "device_s": 1,
            "alpha": 0.01,
        }
    )


def test_a_further_attempt_counts_on(tmp_path, staged):
    verdict = ask(timed(tmp_path, staged, earlier={KEY: earlier("requeue", 2)}), exercise())
    assert verdict.attempt == 3


def test_what_is_decided_or_for_staff_is_not_measured_again(tmp_path, staged):
    before = earlier("staff", 3)
    assert ask(timed(tmp_path, staged, earlier={KEY: before}), exercise()) == before


def test_a_verdict_on_a_check_of_that_name_in_another_exercise_is_not_taken_for_this_one(tmp_path, staged):
    others = {key_of("flash_attention.forward", "check"): earlier("staff", 3)}
    with pytest.raises(NeedsGpu, match="never measured"):
        ask(timed(tmp_path, staged, earlier=others, accept_unmeasured=False), exercise())
