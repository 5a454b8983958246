"""A sealed probe tells whether a submission changed it."""

import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest
import torch

from grader.worker import seal as seals
from grader.worker.probes import checkpoint
from grader.worker.seal import SealedProbe

NAME = checkpoint.__name__


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> Iterator[SealedProbe]:
    """The probe of `checkpoint` on a fresh copy of its module, as a new worker has it."""
    monkeypatch.delitem(sys.modules, NAME)
    yield seals.seal("checkpoint")
    monkeypatch.setitem(sys.modules, NAME, checkpoint)  # put back also where a test had replaced it


def forged(*given: Any, **named: Any) -> dict[str, Any]:
    return {"saved_bytes": 0}


def other_code(probe: ModuleType) -> None:
    probe.run.__code__ = forged.__code__


def other_method(probe: ModuleType) -> None:
    probe._KeptTensors.bytes_beside = forged


def other_code_of_a_method(probe: ModuleType) -> None:
    probe._CountedMlp.__call__.__code__ = (lambda self, *_: self).__code__


def other_module(probe: ModuleType) -> None:
    sys.modules[probe.__name__] = ModuleType(probe.__name__)


def same_code_elsewhere(probe: ModuleType) -> None:
    probe.run = FunctionType(probe.run.__code__, {})


@pytest.mark.parametrize(
    "change",
    [
        lambda probe: setattr(probe, "run", forged),
        lambda probe: setattr(probe, "gc", None),
        lambda probe: setattr(probe, "isinstance", forged),  # in front of the builtin
        lambda probe: delattr(probe, "_memory"),
        other_code,
        other_method,
        other_code_of_a_method,
        other_module,
        same_code_elsewhere,
    ],
)
def test_a_changed_probe_is_noticed_and_its_run_stays(
    sealed: SealedProbe, change: Callable[[ModuleType], None]
) -> None:
    run = sealed.run
    assert not sealed.changed()
    change(sealed.module)
    assert sealed.changed()
    assert sealed.run is run


def test_a_probe_that_ran_is_the_same(sealed: SealedProbe) -> None:
    x = torch.ones((2, 2), dtype=torch.float64, requires_grad=True)

    def plain(function: Callable[..., Any], *inputs: Any) -> Any:
        return function(*inputs)

    sealed.run(plain, "forward", inputs=[x, x.detach()], scale=2.0)
    report = sealed.run(plain, "backward", grad_output=x.detach(), scale=3.0)
    assert report["recomputations"] == 0
    assert sealed.run(plain, "memory", inputs=[x, x.detach()])["saved_bytes"] > 0
    assert not sealed.changed()


def test_there_is_no_backward_without_a_forward(sealed: SealedProbe) -> None:
    with pytest.raises(LookupError, match="no forward pass"):
        sealed.run(forged, "backward", grad_output=torch.ones(1), scale=1.0)


def test_a_module_that_waited_under_the_probes_name_is_noticed() -> None:
    assert NAME in sys.modules
    assert seals.seal("checkpoint").changed()
