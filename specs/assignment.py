"""Assignments: exercises with their points, minutes, hints and limits. Points live here and nowhere else."""

from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from specs.schema import Spec, SpecError, read_yaml, validate
from specs.timing import Timing

Track = Literal["core", "full"]
Need = Literal["torch", "triton", "ranks", "gpu"]


class Exercise(Spec):
    """One graded item."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    file: str
    """Editable file that holds the functions."""
    functions: tuple[str, ...] = Field(min_length=1)
    """Names in that file that a student writes; two exercises may share one."""
    points: float = Field(gt=0)
    minutes: int = Field(gt=0)
    extra_credit: bool = False
    tracks: tuple[Track, ...] = ("core", "full")
    needs: tuple[Need, ...] = ()
    """What its functions are made with; triton brings torch with it, and its calls run in Triton's interpreter.

    ranks brings torch too: its functions are called in several processes at once, joined by `torch.distributed`.
    """
    depends_on: tuple[str, ...] = ()
    """Exercises worth doing first; `grader next` follows this order."""
    todo: str
    """What to write, in one line: shown while the stub is untouched."""
    section: str
    """Heading in the handout."""
    hints: tuple[str, ...] = Field(min_length=2)
    """From a nudge to nearly the answer; `grader hint` shows one more each time."""
    timing: Timing | None = None
    """What is timed on a GPU; None for an exercise that needs none."""

    @property
    def in_worker(self) -> bool:
        """Whether its functions run in workers in a self-check too: Triton's interpreter, or ranks."""
        return bool({"triton", "ranks"} & {*self.needs})


class Limits(Spec):
    """What one submission may take of the machine while this assignment is graded."""

    call_s: float = Field(gt=0)
    """Wall time of one call."""
    import_s: float = Field(gt=0)
    """Wall time of importing one editable file, libraries included."""
    submission_s: float = Field(gt=0)
    """Wall time of all calls of the submission together."""
    memory_bytes: int = Field(gt=0)
    processes: int = Field(gt=0)
    disk_bytes: int = Field(gt=0)
    open_files: int = Field(gt=0)
    output_bytes: int = Field(gt=0)


class Assignment(Spec):
    """One folder of the same name in specs, assignments and solutions."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    order: int
    """Place in the course."""
    files: tuple[str, ...] = Field(min_length=1)
    """The files that a student edits."""
    limits: Limits
    exercises: tuple[Exercise, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        seen: set[str] = set()
        for exercise in self.exercises:
            if (exercise.timing is None) == ("gpu" in exercise.needs):
                raise ValueError(f"exercise {exercise.id}: `timing` and a need of gpu belong together")
            if exercise.id in seen:
                raise ValueError(f"exercise {exercise.id} is listed twice")
            if exercise.file not in self.files:
                raise ValueError(f"exercise {exercise.id}: its file {exercise.file} is not among `files`")
            for earlier in exercise.depends_on:
                if earlier not in seen:
                    raise ValueError(
                        f"exercise {exercise.id}: depends on {earlier}, which does not come before it"
                    )
            seen.add(exercise.id)
        return self

    @property
    def points(self) -> float:
        """Points without extra credit."""
        return sum(exercise.points for exercise in self.exercises if not exercise.extra_credit)

    def file_of(self, function: str) -> str | None:
        """The editable file that holds `function`, or None when no exercise asks for it."""
        for exercise in self.exercises:
            if function in exercise.functions:
                return exercise.file
        return None

    def exercise(self, exercise_id: str) -> Exercise:
        """The exercise called `exercise_id`, without the assignment's name.

        Raises:
            SpecError: no such exercise; the message lists those that exist.
        """
        for candidate in self.exercises:
            if candidate.id == exercise_id:
                return candidate
        known = ", ".join(candidate.id for candidate in self.exercises)
        raise SpecError(f"exercise {self.name}.{exercise_id}: no such exercise, choose one of {known}")


ASSIGNMENTS_FOLDER = Path(__file__).parent / "assignments"


@cache
def assignments() -> dict[str, Assignment]:
    """Every assignment by name, in teaching order.

    Raises:
        SpecError: a file is broken, or its name differs from the assignment's.
    """
    found = [_read(path) for path in sorted(ASSIGNMENTS_FOLDER.glob("*.yaml"))]
    return {assignment.name: assignment for assignment in sorted(found, key=lambda each: each.order)}


def assignment(name: str) -> Assignment:
    """The assignment called `name`.

    Raises:
        SpecError: no such assignment; the message lists those that exist.
    """
    known = assignments()
    if name not in known:
        raise SpecError(
            f"assignment {name!r}: no such assignment, choose one of {', '.join(known) or '(none)'}"
        )
    return known[name]


def _read(path: Path) -> Assignment:
    read: Assignment = validate(Assignment, read_yaml(path), path)
    if read.name != path.stem:
        raise SpecError(f"{path}: name is {read.name!r}, but the file is called {path.stem!r}")
    return read
