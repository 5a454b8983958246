"""What the driver's library is asked of a card, whom CUDA means by device 0, and whose fault is which failure."""

import sys

import pytest

from grader.clock import nvml
from grader.clock.device import DeviceError, DeviceLost
from specs.gpu import gpu
from tests.clock.fake_nvml import (
    DRIVER_NOT_LOADED,
    H100,
    LOST,
    NOT_SUPPORTED,
    TIMEOUT,
    FakeNvml,
    fake_card,
)

TWO = (fake_card(number=0), fake_card(number=1))
MIXED = (fake_card("NVIDIA L4", 0), fake_card(H100, 1))


def test_a_card_is_read_with_its_sheet():
    card = nvml.find_card(FakeNvml(fake_card(processes=[7], shared=[9, 7])))
    assert card.gpu == gpu("h100-sxm")
    assert (card.sm_clock_mhz, card.memory_clock_mhz, card.power_limit_w) == (1234, 1000, 500)
    assert (card.ecc, card.mig, card.persistence, card.uncorrected_errors) == (True, False, True, 0)
    assert card.processes == (7, 9)


def test_no_card_no_driver_and_no_library_are_none_and_no_error(monkeypatch):
    assert nvml.find_card(FakeNvml()) is None

    def absent():
        raise nvml.NoNvml("nothing here")

    monkeypatch.setattr(nvml, "load", absent)
    assert nvml.find_card() is None


@pytest.mark.parametrize(
    ("code", "words"), [(12, "no NVIDIA driver answers"), (DRIVER_NOT_LOADED, "Driver Not")]
)
def test_a_machine_without_a_driver_says_so_in_one_line(monkeypatch, code, words):
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(failing={"nvmlInit": code}))
    with pytest.raises(nvml.NoNvml, match=words) as caught:
        nvml.load()
    assert "\n" not in str(caught.value)


def test_a_machine_without_the_library_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(nvml.NoNvml, match="pip install"):
        nvml.load()


def test_what_a_card_does_not_tell_is_none():
    silent = [
        "nvmlDeviceGetEccMode",
        "nvmlDeviceGetTotalEccErrors",
        "nvmlDeviceGetMigMode",
        "nvmlDeviceGetPersistenceMode",
        "nvmlDeviceGetPowerManagementLimit",
        "nvmlDeviceGetMPSComputeRunningProcesses",
        "nvmlDeviceGetMaxClockInfo",
    ]
    card = nvml.find_card(
        FakeNvml(fake_card("NVIDIA GeForce RTX 4090"), failing=dict.fromkeys(silent, NOT_SUPPORTED))
    )
    assert (card.ecc, card.uncorrected_errors, card.persistence, card.power_limit_w) == (
        None,
        None,
        None,
        None,
    )
    assert (card.mig, card.max_sm_clock_mhz, card.processes) == (False, None, ())


def test_an_older_driver_tells_throttling_by_its_older_name():
    older = FakeNvml(
        fake_card(throttle=0x40), failing={"nvmlDeviceGetCurrentClocksEventReasons": NOT_SUPPORTED}
    )
    assert nvml.find_card(older).throttle == 0x40


@pytest.mark.parametrize("code", [LOST, DRIVER_NOT_LOADED, 999])
def test_a_card_that_is_gone_is_lost_whatever_was_asked(code):
    with pytest.raises(DeviceLost, match="does not answer any more"):
        nvml.find_card(FakeNvml(fake_card(), failing={"*": code}))
    with pytest.raises(DeviceLost):
        nvml.find_card(FakeNvml(fake_card(), failing={"nvmlDeviceGetEccMode": code}))


def test_a_card_that_refuses_one_question_is_not_called_lost():
    with pytest.raises(DeviceError, match="nvmlDeviceGetTemperature: the GPU's driver refuses") as caught:
        nvml.find_card(FakeNvml(fake_card(), failing={"nvmlDeviceGetTemperature": TIMEOUT}))
    assert not isinstance(caught.value, DeviceLost)


@pytest.mark.parametrize(
    ("wanted", "indices"),
    [
        (None, [0, 1]),
        ("1", [1]),
        ("1,0", [1, 0]),
        ("", []),
        ("-1,0", []),
        ("0,7,1", [0]),
        ("1,1", [1]),
        ("GPU-00000001", [1]),
        ("GPU-0000000", []),
        ("MIG-GPU-00000001", []),
    ],
)
def test_cuda_visible_devices_means_what_cuda_takes_it_for(wanted, indices):
    found = nvml.cards(FakeNvml(*TWO))
    assert [each.index for each in nvml.visible(found, wanted, by_address=False)] == indices


def test_a_number_among_cards_of_several_kinds_is_refused_with_their_uuids():
    """CUDA's device 0 is the fastest, NVML's the first on the bus: here these are two cards."""
    found = nvml.cards(FakeNvml(*MIXED))
    for wanted in ("0", None):
        with pytest.raises(DeviceError, match="GPU-00000001-made-up: NVIDIA H100"):
            nvml.visible(found, wanted, by_address=False)
        assert nvml.visible(found, wanted, by_address=True)[0].name == "NVIDIA L4"
    assert nvml.visible(found, "GPU-00000001", by_address=False)[0].name == H100


def test_the_environment_says_which_card_is_meant(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-00000001")
    assert nvml.find_card(FakeNvml(*TWO)).index == 1
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert nvml.find_card(FakeNvml(*TWO)) is None
