"""The part of its run that a scenario is in: a label on every collective recorded from then on."""

_current = [""]


def mark(phase: str) -> None:
    """Call what follows `phase`, "backward" say, in the records of this rank's collectives."""
    _current[0] = phase


def current() -> str:
    """The last label, "" before the first."""
    return _current[0]
