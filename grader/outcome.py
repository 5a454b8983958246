"""What can become of a check, and the base of all report models: nothing else depends on less."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Outcome(StrEnum):
    """What became of one check. Only `passed` earns, and a timed check by its share; the pending ones are neither
    zero nor given."""

    PASSED = "passed"
    FAILED = "failed"
    TODO = "todo"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    NEEDS_TORCH = "needs_torch"
    NEEDS_TRITON = "needs_triton"
    NEEDS_GPU = "needs_gpu"
    INCONCLUSIVE = "inconclusive"
    INTEGRITY = "integrity"
    GRADER_ERROR = "grader_error"
    NOT_GRADED = "not_graded"
    """Of what was handed in nothing can be graded, or not yet: no error of the grader's."""

    @property
    def pending(self) -> bool:
        """Points stay open: the submission is not to blame."""
        return self in PENDING


PENDING = frozenset(
    {
        Outcome.NEEDS_TORCH,
        Outcome.NEEDS_TRITON,
        Outcome.NEEDS_GPU,
        Outcome.INCONCLUSIVE,
        Outcome.GRADER_ERROR,
        Outcome.NOT_GRADED,
    }
)


class Model(BaseModel):
    """Base of the report's parts: frozen, no unknown fields."""

    # JSON has no NaN and no infinity; as strings they come back as they were.
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")
