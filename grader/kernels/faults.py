"""What ends a kernel's run early: a finding, a thing that only a GPU can do, a triton that cannot be mended."""

from .evidence import Finding


class KernelFault(Exception):
    """The sanitizer refused an access, or found a fault after the launch; `finding` says all about it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class NeedsGpu(Exception):
    """The kernel uses something that the interpreter cannot emulate; the text names it and the line."""


class UnsupportedTriton(RuntimeError):
    """The installed triton is one that cannot be mended; the text is one line with the remedy."""
