"""A card under a timing run: who on it is a neighbour, which failure ends the run, how L2 is emptied."""

import os
import subprocess
import sys
import time

import pytest
import torch

from grader.clock import l2
from grader.clock.device import DeviceError, DeviceLost
from grader.clock.l2 import L2
from grader.clock.lock import FOLDER_VARIABLE, CardBusy, card_lock
from grader.clock.nvml import find_card
from grader.clock.nvml_host import NvmlHost, neighbours_unseen
from specs.gpu import gpu
from tests.clock.fake_nvml import LOST, FakeNvml, fake_card

STRANGER = os.getppid()
"""Whoever started the tests: not below them."""
BLIND = "this is a container with process numbers of its own (start it with --pid=host)"


@pytest.fixture
def locks(monkeypatch, tmp_path):
    """A folder of locks of the test's own."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "locks"))


def host(card, seen=True, **options):
    nvml = FakeNvml(card)
    made = NvmlHost(
        find_card(nvml),
        nvml=nvml,
        take=lambda _: lambda: None,
        unseen=lambda: "" if seen else BLIND,
        **options,
    )
    return made, nvml


def test_a_sample_tells_clock_temperature_and_throttling():
    made, _ = host(fake_card(sm_clock=1100, temperature=83, throttle=0x40))
    sample = made.sample(())
    assert (sample.sm_clock_mhz, sample.temperature_c, sample.throttle) == (1100, 83, 0x40)
    assert "too warm" in sample.trouble
    assert (made.device, made.gpu) == ("cuda:0", gpu("h100-sxm"))


def test_both_clocks_agree_over_the_time_between_two_samples():
    made, _ = host(fake_card())
    first = made.sample(())
    time.sleep(0.05)
    last = made.sample(())
    judge_s, witness_s = last.judge_s - first.judge_s, last.witness_s - first.witness_s
    assert judge_s >= 0.05
    assert abs(judge_s - witness_s) < 1e-3


def test_the_judge_its_children_and_theirs_are_no_neighbours_and_others_are():
    """A sandboxed worker is not the process that the judge started, but one below it."""
    sleep = "import time; time.sleep(60)"
    start = f"subprocess.Popen([sys.executable, '-c', {sleep!r}])"
    script = f"import subprocess, sys; print({start}.pid, flush=True); {sleep}"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        grandchild = int(child.stdout.readline())
        try:
            card = fake_card(processes=[os.getpid(), child.pid, grandchild])
            made, _ = host(card)
            assert made.sample([child.pid]).neighbours == ()
            card.processes.append(STRANGER)
            assert made.sample([child.pid]).neighbours == (STRANGER,)
            assert "another process" in made.sample([child.pid]).trouble
        finally:
            os.kill(grandchild, 9)
            child.kill()
    assert made.sample(()).neighbours == (STRANGER,)  # the dead of ours, still listed, are not others now


def test_a_process_that_the_judge_did_not_name_is_a_neighbour_even_while_it_lives_on_this_machine():
    other = subprocess.Popen(["sleep", "60"])
    try:
        made, _ = host(fake_card(processes=[STRANGER]))
        assert made.sample([other.pid]).neighbours == (STRANGER,)
    finally:
        other.kill()
        other.wait()


def test_where_neighbours_cannot_be_seen_a_run_is_refused_unless_somebody_vouches():
    with pytest.raises(DeviceError, match=r"neighbours cannot be seen.*--pid=host.*vouch with --alone"):
        host(fake_card(), seen=False)
    made, _ = host(fake_card(processes=[4711]), seen=False, alone=True)
    assert made.sample(()).neighbours == ()


def test_another_process_namespace_than_the_machines_first_is_told(tmp_path):
    other = tmp_path / "pid"
    other.touch()
    assert "--pid=host" in neighbours_unseen(other)
    assert "cannot be read" in neighbours_unseen(tmp_path / "absent")


def test_memory_that_was_read_wrong_during_the_run_ends_it_and_earlier_errors_do_not(locks):
    card = fake_card(errors=3)
    made, _ = host(card)
    with made.exclusive():
        made.sample(())
        card.errors = 5
        with pytest.raises(DeviceError, match="wrong 2 times during the run"):
            made.sample(())
    with made.exclusive():
        made.sample(())


def test_cuda_and_memory_are_taken_only_while_the_card_is_held(locks):
    """Judges that wait for each other would fill the card, and look like neighbours to each other."""
    held = []

    def take(card):
        held.append(card.uuid)
        return lambda: held.append("emptied")

    nvml = FakeNvml(fake_card())
    made = NvmlHost(find_card(nvml), nvml=nvml, take=take, unseen=lambda: "")
    with pytest.raises(DeviceError, match="not held"):
        made.flush()
    assert held == []
    with made.exclusive():
        made.flush()
        with pytest.raises(CardBusy), card_lock(made.card.uuid, wait_s=0):
            pytest.fail("two runs hold one card")
    assert held == [made.card.uuid, "emptied"]
    with pytest.raises(DeviceError, match="not held"):
        made.flush()
    with card_lock(made.card.uuid, wait_s=0):
        pass


def test_what_other_judges_of_the_same_cohort_still_hold_makes_no_neighbour(monkeypatch):
    """They rest: the lock is this one's. Without the cohort's number they cannot be told from strangers."""
    start = "subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL).pid"
    script = f"import subprocess, time; print({start}, {start}, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as grader:
        judge, other = map(int, grader.stdout.readline().split())
        try:
            monkeypatch.setattr("grader.clock.nvml_host.os.getpid", lambda: judge)
            card = fake_card(processes=[judge, other])
            assert host(card)[0].sample(()).neighbours == (other,)
            made, _ = host(card, family=grader.pid)
            assert made.sample(()).neighbours == ()
            card.processes.append(STRANGER)
            assert made.sample(()).neighbours == (STRANGER,)
        finally:
            for pid in (judge, other, grader.pid):
                os.kill(pid, 9)


def test_a_torch_that_shows_no_card_is_told(locks):
    if torch.cuda.is_available():
        pytest.skip("this machine has a card")
    nvml = FakeNvml(fake_card())
    made = NvmlHost(find_card(nvml), nvml=nvml, unseen=lambda: "")
    with pytest.raises(DeviceError, match="shows no card: does it have CUDA"), made.exclusive():
        pytest.fail("a card that is not there was taken")


def test_a_card_that_vanishes_between_two_samples_is_lost():
    made, nvml = host(fake_card())
    made.sample(())
    nvml.failing["*"] = LOST
    with pytest.raises(DeviceLost, match="GPU is lost"):
        made.sample(())


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (fake_card(mig=1), "cut into slices"),
        (fake_card("NVIDIA H200 NVL"), "no card of specs/gpus.yaml"),
    ],
    ids=["slices", "unknown"],
)
def test_a_card_on_which_nothing_can_be_timed_is_refused_by_name(card, words):
    with pytest.raises(DeviceError, match=words) as caught:
        host(card)
    assert card.name in str(caught.value)


class CountingDriver:
    """CUDA's driver, of which only one function is ever called."""

    def __init__(self, answer=0):
        self.answer = answer
        self.resets = 0

    def cuCtxResetPersistingL2Cache(self):
        self.resets += 1
        return self.answer


def test_l2_is_emptied_by_a_buffer_of_twice_its_size_and_a_reset_of_what_was_kept():
    library = CountingDriver()
    cache = L2("cpu", 4096, library)
    assert cache._buffer.numel() == 8192
    cache._buffer.fill_(1)
    cache.empty()
    assert int(cache._buffer.sum()) == 0
    assert library.resets == 1


def test_a_driver_that_keeps_no_lines_is_no_trouble_and_one_that_does_not_let_go_is():
    L2("cpu", 64).empty()
    with pytest.raises(DeviceLost, match="CUDA error 700"):
        L2("cpu", 64, CountingDriver(700)).empty()


def test_no_room_for_the_buffer_says_that_somebody_holds_the_memory(monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate\nmuch")

    monkeypatch.setattr(torch, "empty", full)
    with pytest.raises(DeviceError, match="no room for 100 MiB") as caught:
        L2("cuda:0", 50 << 20)
    assert "\n" not in str(caught.value)


def test_a_device_that_is_not_there_is_lost_in_one_line():
    if torch.cuda.is_available():
        pytest.skip("this machine has a card")
    with pytest.raises(DeviceLost) as caught:
        L2("cuda:0", 64)
    assert "\n" not in str(caught.value)


def test_without_a_driver_nothing_is_reset(monkeypatch):
    monkeypatch.setattr(l2, "DRIVER", "no such library.so")
    assert l2.driver() is None
