"""The reference solution as hidden tests see it: `oracle.memory.parameter_count(model)`, run in the judge."""

from typing import Any

from grader.checks.mistakes import load_solution
from grader.kit import Kit


class Oracle:
    """The solutions' functions by assignment."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    def __getattr__(self, name: str) -> "OracleFunctions":
        if name.startswith("_") or name not in self._kit.available():
            raise AttributeError(name)
        return OracleFunctions(self._kit, name)


class OracleFunctions:
    """One assignment's solution."""

    def __init__(self, kit: Kit, name: str) -> None:
        self._kit, self._name = kit, name

    def __getattr__(self, function: str) -> Any:
        file = self._kit.available()[self._name].file_of(function) if not function.startswith("_") else None
        if file is None:
            raise AttributeError(function)
        return getattr(load_solution(self._kit.solutions, self._name, file), function)
