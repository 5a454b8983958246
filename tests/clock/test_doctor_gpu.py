"""What the doctor says of cards: one line without any, and with one whether a time taken on it means anything."""

import subprocess
from types import SimpleNamespace

import pytest

from grader.clock.nvml import NoNvml
from grader.commands import doctor_gpu
from grader.commands.doctor_gpu import NO_CARD, gpu_lines
from specs.timing import Timing
from tests.clock.fake_nvml import LOST, FakeNvml, fake_card
from tests.specs.test_timing import record, timing

CONTAINER = "this is a container"


@pytest.fixture(autouse=True)
def _as_if_torch_had_cuda(monkeypatch):
    """The torch of a machine without a GPU is a build for CPUs, about which the doctor would be right to complain."""
    monkeypatch.setattr(doctor_gpu, "_torch_without_cuda", lambda: False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def lines(*cards, unseen="", failing=None):
    return gpu_lines(lambda: FakeNvml(*cards, failing=failing), lambda: unseen)


def absent():
    raise NoNvml("needs nvidia-ml-py: pip install -e '.[gpu]'")


def smi(monkeypatch, answer):
    def run(*_, **__):
        if answer is None:
            raise FileNotFoundError
        return SimpleNamespace(returncode=0 if answer else 9, stdout=answer, stderr="")

    monkeypatch.setattr(subprocess, "run", run)


def test_without_a_driver_there_is_one_line(monkeypatch):
    smi(monkeypatch, None)
    assert gpu_lines(absent) == [NO_CARD]
    assert lines() == [NO_CARD]


def test_a_card_without_the_library_that_asks_it_is_named_with_the_remedy(monkeypatch):
    smi(monkeypatch, "NVIDIA H100 80GB HBM3, 0.0, 81559 MiB\n")
    [(what, well, text)] = gpu_lines(absent)
    assert (what, well) == ("gpu", False)
    assert "NVIDIA H100" in text
    assert "pip install" in text


def test_a_resting_card_is_trusted_and_its_row_is_said_to_be_unmeasured():
    sheet, trust, row = lines(fake_card())
    assert sheet[:2] == ("gpu 0", True)
    for words in (
        "(h100-sxm)",
        "driver 0.0",
        "1.0 of 80.0 GiB",
        "SM 1234 of 1500 MHz",
        "40 °C",
        "ECC on",
        "MIG off",
    ):
        assert words in sheet[2]
    assert trust == ("timing", True, "gpu 0: times taken now can be trusted")
    assert row[:2] == ("thresholds", False)
    assert "never measured (grader calibrate); its points stay pending" in row[2]


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (fake_card(processes=[4711, 4712]), "somebody computes on it (process 4711, 4712)"),
        (fake_card(throttle=0x40), "throttled (too warm"),
        (fake_card(mig=1), "MIG"),
        (fake_card(errors=2), "wrong 2 times"),
        (fake_card(persistence=0), "nvidia-smi -pm 1"),
        (fake_card("NVIDIA H200 NVL"), "no card of specs/gpus.yaml"),
    ],
    ids=["neighbour", "warm", "slices", "memory", "persistence", "unknown"],
)
def test_what_makes_a_time_worthless_is_said(card, words):
    found = {what: (well, text) for what, well, text in lines(card)}
    well, text = found["timing"]
    assert not well
    assert words in text


def test_in_a_container_nobody_is_said_to_be_alone():
    found = {what: (well, text) for what, well, text in lines(fake_card(processes=[9]), unseen=CONTAINER)}
    assert found["timing"][0] is False
    assert CONTAINER in found["timing"][1]
    assert "process 9" not in found["timing"][1]


def test_a_torch_for_cpus_is_told(monkeypatch):
    monkeypatch.setattr(doctor_gpu, "_torch_without_cuda", lambda: True)
    assert "built without CUDA" in lines(fake_card())[1][2]


def test_a_lost_card_is_one_line_and_no_traceback():
    [(what, well, text)] = lines(fake_card(), failing={"*": LOST})
    assert (what, well) == ("gpu", False)
    assert "does not answer any more" in text


def test_cards_that_cuda_does_not_show_are_not_timed_on(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert lines(fake_card())[-1] == ("timing", False, "CUDA_VISIBLE_DEVICES shows none of these cards")


def test_a_measured_row_is_named_with_whoever_measured_it(monkeypatch):
    shipped: Timing = timing(h200_sxm=record("h200-sxm"))
    monkeypatch.setattr(doctor_gpu, "_timed", lambda: [("flash_attention.performance", shipped)])
    own = lines(fake_card("NVIDIA H200"))[-1]
    assert own == (
        "thresholds",
        True,
        "flash_attention.performance: row measured on h200-sxm by nobody, 2000-01-01",
    )
    carried = lines(fake_card())[-1]
    assert carried[1]
    assert "measured on h200-sxm by nobody, 2000-01-01, whose ratios hold for h100-sxm too" in carried[2]
    assert "no row for l4" in lines(fake_card("NVIDIA L4"))[-1][2]
