"""Starts a worker confined, by bubblewrap, as another user or as a limited process, and watches its limits."""

from grader.sandbox.availability import Availability, SandboxUnavailable, available, diagnose
from grader.sandbox.confined import Confined
from grader.sandbox.launching import Level, launch
from grader.sandbox.limits import Limits

__all__ = [
    "Availability",
    "Confined",
    "Level",
    "Limits",
    "SandboxUnavailable",
    "available",
    "diagnose",
    "launch",
]
