"""What a timing run is given: one card's files and no other card's; a card that cannot be timed on is no zero."""

import random

import pytest

from grader.calls.faults import NeedsGpu
from grader.clock import nvml
from grader.judge import Untimed

pytest.importorskip("torch")

from grader.clock.opening import device_files, open_timer
from grader.clock.timer import Sides


@pytest.fixture
def dev(tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "sda"):
        (tmp_path / name).touch()
    return tmp_path


def card(**changed):
    known = {
        "index": 0,
        "uuid": "GPU-1",
        "name": "NVIDIA H100 80GB HBM3",
        "driver": "570.1",
        "memory_bytes": 85 << 30,
        "used_bytes": 0,
        "sm_clock_mhz": 1980,
        "temperature_c": 40,
        "throttle": 0,
        "processes": (),
    }
    return nvml.Card(**(known | changed))


def test_both_sides_may_open_the_files_of_one_card_only(dev):
    assert [each.name for each in device_files(card(minor=1), dev)] == ["nvidia1", "nvidiactl", "nvidia-uvm"]
    assert [each.name for each in device_files(card(minor=7), dev)] == ["nvidiactl", "nvidia-uvm"]


def test_without_a_card_there_is_no_timer(tmp_path, monkeypatch):
    monkeypatch.setattr(nvml, "find_card", lambda: None)
    assert open_timer("gpu", Sides(tmp_path, tmp_path, tmp_path, "process")) is None


def test_the_cores_are_a_host_of_their_own(tmp_path):
    timer = open_timer("cpu", Sides(tmp_path, tmp_path, tmp_path, "process"))
    assert timer is not None
    assert (timer.host.device, timer.host.gpu.name) == ("cpu", "cpu-clock")
    assert isinstance(timer.order(), random.SystemRandom)


def test_a_card_that_cannot_be_timed_on_leaves_the_points_pending():
    with pytest.raises(
        NeedsGpu, match=r"nothing can be timed on the GPU here: cut into slices; the points stay pending"
    ):
        Untimed("cut into slices").time(None)
