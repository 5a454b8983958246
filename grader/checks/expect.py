"""Comparison: each `expect` call passes, or fails with got, expected, which term, how far off, likely cause.

In a hidden check neither the expected value nor the got one is printed: the term and the ratio are.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.calls.faults import CheckFailed
from grader.checks import closeness
from grader.checks.quantities import off_by, roughly_off, show, unit_mistake
from grader.report import Evidence
from specs.schema import Spec


class Expect:
    """The `expect` fixture of one check."""

    def __init__(self, hidden: bool = False) -> None:
        self.hidden = hidden
        self.evidence: list[Evidence] = []
        """What the check attached; for its result."""

    def terms(
        self,
        got: Any,
        expected: Spec | Mapping[str, Any],
        *,
        unit: str = "",
        case: str = "",
        rel: float = 0.0,
    ) -> None:
        """Compare term by term.

        Args:
            got: what the submission returned, a specs type or a dict with the same names.
            expected: the right terms; a mapping may name some of them only, and then only those count.
            unit: shown behind numbers.
            case: what was asked, in words that a student knows ("GPT-2 small").
            rel: relative tolerance; 0 compares integers exactly, floats to 1e-9.
        """
        __tracebackhide__ = True  # pytest's own view of a failure ends at the test's line
        wanted = (
            dict(expected)
            if isinstance(expected, Mapping)
            else {n: getattr(expected, n) for n in type(expected).model_fields}
        )
        kind = type(expected) if isinstance(expected, Spec) else None
        given = self._as_terms(got, wanted, case, kind)
        wrong = [name for name in wanted if self._wrong(given[name], wanted[name], rel)]
        if not wrong:
            return
        lines = [self._line(f"{_prefix(case)}{name}", given[name], wanted[name], unit) for name in wrong[:4]]
        if len(wrong) > 4:
            lines.append(f"and {len(wrong) - 4} more terms")
        swapped = self._swapped(given, wanted, wrong)
        causes = {
            unit_mistake(given[name], wanted[name], unit)
            for name in wrong
            if _is_number(given[name]) and _is_number(wanted[name])
        }
        cause = swapped or (causes.pop() if len(causes) == 1 else "")
        raise CheckFailed("\n".join(lines) + (f"\nlikely cause: {cause}" if cause else ""))

    def number(self, got: Any, expected: float, *, unit: str = "", case: str = "", rel: float = 0.0) -> None:
        """Compare one number; integers exactly, floats to 1e-9, unless `rel` is wider."""
        __tracebackhide__ = True
        if not _is_number(got):
            raise CheckFailed(f"{_prefix(case)}a number is needed, and it returned {self.kind(got)}")
        if self._wrong(got, expected, rel):
            cause = unit_mistake(got, expected, unit) if unit else ""
            line = self._line(case or "it", got, expected, unit)
            raise CheckFailed(line + (f"\nlikely cause: {cause}" if cause else ""))

    def equal(self, got: Any, expected: bool | str | Sequence[Any], *, case: str = "") -> None:
        """Compare something that is no number: a truth value, a name, a list of names."""
        __tracebackhide__ = True
        if isinstance(expected, bool) and not isinstance(got, bool):
            raise CheckFailed(f"{_prefix(case)}True or False is needed, and it returned {self.kind(got)}")
        if not isinstance(expected, str | bool) and isinstance(got, list | tuple):
            got, expected = list(got), list(expected)
        if not _same(got, expected):
            if self.hidden:
                raise CheckFailed(f"{_prefix(case)}not the right answer")
            raise CheckFailed(f"{_prefix(case)}got {show(got)}, expected {show(expected)}")

    def close(
        self,
        got: Any,
        reference: Any,
        low_precision: Any,
        *,
        case: str = "",
        name: str = "it",
        rows: int = -2,
        exponent: float = 0.0,
        natural: float = 0.0,
        suspects: Mapping[str, Callable[[], Any] | Sequence[Callable[[], Any]]] | None = None,
    ) -> None:
        """Compare a tensor with an fp64 reference, by what a trusted computation in low precision is off.

        Args:
            got: what the submission returned.
            reference: the right answer in fp64.
            low_precision: the trusted answer in the format that is wanted; its error sets the tolerance.
            case: what was asked, in words that a student knows.
            name: what the tensor is called ("dk").
            rows: the dimension whose blocks are looked at one by one.
            exponent: the largest score or lse behind it, which a rounding more makes that much worse.
            natural: how large its elements would be if their terms did not cancel.
            suspects: by symptom, what a usual mistake gives; the one that `got` is near to is the symptom.
        """
        __tracebackhide__ = True
        right, message = closeness.close(
            got,
            reference,
            low_precision,
            rows=rows,
            exponent=exponent,
            natural=natural,
            name=name,
            hidden=self.hidden,
        )
        if not right:
            symptom = closeness.nearest(got, reference, suspects or {})
            raise CheckFailed(f"{_prefix(case)}{message}", symptom=symptom)

    def that(self, holds: bool, message: str, *, symptom: str = "") -> None:
        """Fail with `message` unless `holds`; the message must not give a hidden input away."""
        __tracebackhide__ = True
        if not holds:
            raise CheckFailed(message, symptom=symptom)

    def measured(self, name: str, value: float, unit: str = "") -> None:
        """Attach a number that was measured beside the student's code, where it could have been forged.

        None is attached in a hidden check: such a number could carry a hidden input out.
        """
        if not self.hidden:
            self.evidence.append(Evidence(name=name, value=value, unit=unit, measured_in_worker=True))

    def kind(self, value: Any) -> str:
        """What came back instead of what is needed, in words that name no hidden value."""
        if value is None:
            return "None: is there a return?"
        if isinstance(value, bool) or (isinstance(value, str) and not self.hidden and len(value) < 60):
            return show(value)
        name = type(value).__name__
        return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {name}"

    def _as_terms(
        self, got: Any, wanted: Mapping[str, Any], case: str, kind: type[Spec] | None
    ) -> dict[str, Any]:
        __tracebackhide__ = True
        how = (
            f"; write `return {kind.__name__}({', '.join(f'{name}=...' for name in wanted)})`" if kind else ""
        )
        needed = f"{_prefix(case)}terms are needed ({', '.join(wanted)})"
        if isinstance(got, Spec):
            names = set(type(got).model_fields)
            if not names >= set(wanted):
                raise CheckFailed(f"{needed}, and it returned {type(got).__name__}{how}")
            given = {name: getattr(got, name) for name in wanted}
        elif isinstance(got, dict):
            given = {name: got.get(name) for name in wanted}
            unknown = [name for name in got if name not in wanted]
            if unknown and len(wanted) > len(set(wanted) & set(got)):
                # A key that the submission made could carry a hidden input out.
                name = "what it returned" if self.hidden else show(unknown[0])
                raise CheckFailed(
                    f"{_prefix(case)}no term is called {name}; the terms are {', '.join(wanted)}"
                )
            missing = [name for name in wanted if name not in got]
            if missing:
                raise CheckFailed(
                    f"{_prefix(case)}the term {missing[0]} is missing; the terms are {', '.join(wanted)}"
                )
        else:
            raise CheckFailed(f"{needed}, and it returned {self.kind(got)}{how}")
        for name, value in given.items():
            if not _is_number(value):
                raise CheckFailed(f"{_prefix(case)}{name}: a number is needed, and it is {self.kind(value)}")
        return given

    def _line(self, name: str, got: float, expected: float, unit: str) -> str:
        if isinstance(got, float) and not math.isfinite(got):
            return f"{name}: {show(got)} is no answer"
        if self.hidden:
            return f"{name}: {roughly_off(got, expected)}"
        return f"{name}: got {show(got, unit)}, expected {show(expected, unit)} ({off_by(got, expected)})"

    @staticmethod
    def _wrong(got: float, expected: float, rel: float) -> bool:
        if isinstance(got, int) and isinstance(expected, int) and not rel:
            return got != expected
        try:
            return not math.isclose(got, expected, rel_tol=max(rel, 1e-9), abs_tol=0.0)
        except OverflowError:
            return True

    def _swapped(self, given: Mapping[str, Any], wanted: Mapping[str, Any], wrong: Sequence[str]) -> str:
        if (
            len(wrong) == 2
            and not self._wrong(given[wrong[0]], wanted[wrong[1]], 0)
            and not self._wrong(given[wrong[1]], wanted[wrong[0]], 0)
        ):
            return f"{wrong[0]} and {wrong[1]} are swapped"
        return ""


def _same(got: Any, expected: Any) -> bool:
    """Equal and of one type; False where the two cannot be compared, as a list with an array in it cannot."""
    try:
        return type(got) is type(expected) and bool(got == expected)
    except Exception:  # values of a submission may refuse any comparison: then they are not equal
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _prefix(case: str) -> str:
    return f"{case}: " if case else ""
