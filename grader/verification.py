"""The proof of the course: what stubs, solutions, constants and mistakes must earn, and which hint shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.calls.local_lanes import LocalLanes
from grader.calls.runner import LocalRunner, OtherFile
from grader.checks.mistakes import LiveMistakes, Mistake, MistakeBroken, load_mistakes
from grader.checks.verdicts import Judge
from grader.kit import Kit
from grader.report import ExerciseResult, GradeReport, Outcome, SubmissionInfo
from grader.session import CollectionBroken, run_variants
from grader.stubs import stale_stubs
from specs.assignment import Assignment

# What a lazy submission returns everywhere; right values of the visible calls are tried as well.
CONSTANTS: tuple[Any, ...] = (
    None,
    0,
    1,
    -1,
    0.5,
    True,
    False,
    "",
    "h100-sxm",
    [],
    {},
    float("nan"),
    float("inf"),
)
RIGHT_VALUES_TRIED = 8


@dataclass
class Proof:
    """What was found for one assignment."""

    assignment: str
    problems: list[str] = field(default_factory=list)
    checks: int = 0
    mistakes: int = 0
    constants: int = 0
    left_out: list[str] = field(default_factory=list)
    """Mistakes and exercises that could not be tried, since torch or triton is not installed here."""
    confusion: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    """By exercise and mistake: how many failing checks showed which mistake's hint (`-` for none)."""


def prove(kit: Kit, spec: Assignment, only: Sequence[str] = (), share: tuple[int, int] = (0, 1)) -> Proof:
    """Run the checks of an assignment against stubs, solutions, constants and mistakes, in this process.

    Args:
        only: names of exercises, `memory.kv_cache_bytes`; the others are left out. Empty for all.
        share: (index, number) where several processes share the work: every so manieth mistake, and all else in
            the first. `merged` puts the parts together.
    """
    functions = {f"{spec.name}.{exercise.id}": set(exercise.functions) for exercise in spec.exercises}
    if only:
        spec = spec.model_copy(
            update={"exercises": tuple(e for e in spec.exercises if f"{spec.name}.{e.id}" in only)}
        )
    proof = Proof(spec.name)
    first = share[0] == 0
    if first:
        proof.problems += [line for line in stale_stubs(kit) if line.startswith(f"assignments/{spec.name}/")]
    try:
        mistakes = load_mistakes(kit.solutions, spec.name, proof.left_out)
    except (MistakeBroken, ImportError, SyntaxError) as error:
        proof.problems += [f"mistakes of {spec.name}: {error}"] if first else []
        return proof
    own = {f"{spec.name}.{exercise.id}" for exercise in spec.exercises}
    proof.problems += _alike(mistakes) if first else []
    mistakes = [mistake for mistake in mistakes if mistake.exercise in own]
    proof.mistakes = len(mistakes) if first else 0
    tests = [*kit.visible_tests(spec.name), *kit.hidden_tests(spec.name)]
    lanes = LocalLanes(kit.solutions)
    variants = _Variants(kit, spec, mistakes, proof, lanes, share)
    try:
        exercises = run_variants(
            kit.root, tests, variants.judge("solutions"), variants.judges(), variants.look, variants.enough
        )
    except CollectionBroken as error:
        proof.problems += [f"tests of {spec.name} cannot be run: {error}"] if first else []
        return proof
    finally:
        lanes.close()
    if not first:
        return proof
    exercises = {name: checks for name, checks in exercises.items() if not only or name in own}
    proof.checks = sum(len(checks) for checks in exercises.values())
    proof.problems += _gaps(spec, functions, exercises, mistakes, complete=not proof.left_out)
    return proof


def merged(proofs: Sequence[Proof]) -> Proof:
    """One proof of the parts that `share` made of an assignment, mistakes in their order."""
    whole = proofs[0]
    for part in proofs[1:]:
        whole.problems += part.problems
        for exercise, rows in part.confusion.items():
            whole.confusion.setdefault(exercise, {}).update(rows)
    for exercise, rows in whole.confusion.items():
        whole.confusion[exercise] = dict(sorted(rows.items()))
    return whole


class _Variants:
    """The submissions that are tried, in order: solutions, stubs, constants, mistakes."""

    def __init__(
        self,
        kit: Kit,
        spec: Assignment,
        mistakes: list[Mistake],
        proof: Proof,
        lanes: LocalLanes,
        share: tuple[int, int],
    ) -> None:
        self._share = share
        self._kit, self._spec, self._mistakes, self._proof = kit, spec, {m.name: m for m in mistakes}, proof
        self._hints = LiveMistakes(mistakes, lanes)
        self._lanes = lanes
        """Of the solutions' folder: one worker serves them, and every mistake and hint."""
        self._right: dict[str, dict[bytes, Any]] = {}

    def judge(self, name: str, overrides: Mapping[tuple[str, str], Any] | None = None) -> Judge:
        """A judge of one variant; with overrides it runs only exercises that call one of those functions."""
        root = self._kit.assignments if name == "stubs" else self._kit.solutions
        changed = {function for _, function in overrides or {}}
        concerned = [
            exercise
            for exercise in self._spec.exercises
            if overrides is None or changed & set(exercise.functions)
        ]
        only = tuple(f"{self._spec.name}.{exercise.id}" for exercise in concerned)
        info = SubmissionInfo(id=name)
        runner = LocalRunner(root, overrides, self._lanes if root == self._kit.solutions else None)
        # A constant is no mistake that a hint explains; looking for one runs every mistake on every call.
        hints = LiveMistakes([]) if name.startswith("constant") else self._hints
        return Judge(self._kit, runner, info, hints=hints, seed=b"verify", only=only)

    def judges(self) -> Iterator[Judge]:
        if self._share[0] == 0:
            yield from self._judges_of_all()
        yield from self._judges_of_mistakes()

    def _judges_of_all(self) -> Iterator[Judge]:
        yield self.judge("solutions")
        yield self.judge("stubs")
        functions = {function for exercise in self._spec.exercises for function in exercise.functions}
        for constant in CONSTANTS:
            yield self.judge(
                f"constant {constant!r}",
                {(self._spec.name, function): _always(constant) for function in functions},
            )
        for index in range(RIGHT_VALUES_TRIED):
            overrides = {
                (self._spec.name, function): _always(list(values.values())[index % len(values)])
                for function, values in self._right.items()
                if values
            }
            if overrides and index < max(map(len, self._right.values())):
                yield self.judge(f"constant: right value no. {index + 1}", overrides)

    def _judges_of_mistakes(self) -> Iterator[Judge]:
        index, number = self._share
        for mistake in list(self._mistakes.values())[index::number]:
            in_worker = self._spec.exercise(mistake.exercise.partition(".")[2]).in_worker
            overrides = {
                (self._spec.name, name): OtherFile(mistake.file) if in_worker else function
                for name, function in mistake.functions.items()
            }
            yield self.judge(f"mistake {mistake.name}", overrides)

    def enough(self, judge: Judge, exercise: str) -> bool:
        """Whether a mistake has cost points already in another exercise of its function: one check proves that.

        Only where checks are slow, in Triton's interpreter and on ranks.
        """
        mistake = self._mistakes.get(judge.info.id.removeprefix("mistake "))
        if mistake is None or exercise not in mistake.also:
            return False
        if not self._spec.exercise(exercise.partition(".")[2]).in_worker:
            return False
        return any(
            check.outcome is not Outcome.PASSED and not check.outcome.pending
            for check in judge.checks.get(exercise, [])
        )

    def look(self, judge: Judge, report: GradeReport) -> None:
        name = report.submission.id
        if name == "solutions":
            self._look_at_solutions(judge, report)
        elif name == "stubs":
            self._look_at_stubs(report)
        elif name.startswith("constant"):
            self._look_at_constant(judge, report)
        else:
            self._look_at_mistake(self._mistakes[name.removeprefix("mistake ")], report)

    def _look_at_solutions(self, judge: Judge, report: GradeReport) -> None:
        for calls in judge.submission.calls_by_exercise.values():
            for call in calls:
                # By their canonical form: a tensor among them has no truth value to compare with.
                values = self._right.setdefault(call.request.function, {})
                if not call.request.probe and len(values) < RIGHT_VALUES_TRIED:
                    # Of a call with gradients the constant is the value that comes first.
                    gradients = call.request.verb == "gradients"
                    values.setdefault(call.value, call.got[0] if gradients else call.got)
        for exercise in report.exercises:
            for check in exercise.checks:
                if check.outcome in (Outcome.NEEDS_TORCH, Outcome.NEEDS_TRITON):
                    if exercise.id not in self._proof.left_out:
                        self._proof.left_out.append(exercise.id)
                elif check.outcome not in (Outcome.PASSED, Outcome.NEEDS_GPU):
                    self._say(f"solution of {exercise.id}: {check.name} is {check.outcome}: {check.message}")

    def _look_at_stubs(self, report: GradeReport) -> None:
        for exercise in report.exercises:
            missing = exercise.outcome in (Outcome.NEEDS_TORCH, Outcome.NEEDS_TRITON)
            if exercise.points or (exercise.outcome is not Outcome.TODO and not missing):
                self._say(
                    f"stub of {exercise.id}: {exercise.outcome} with {exercise.points:g} points, not todo"
                )

    def _look_at_constant(self, judge: Judge, report: GradeReport) -> None:
        self._proof.constants += 1
        overridden = {function for _, function in _overrides(judge)}
        ids = {
            f"{self._spec.name}.{exercise.id}"
            for exercise in self._spec.exercises
            if overridden & set(exercise.functions)
        }
        for exercise in report.exercises:
            if exercise.id in ids:
                passed = [check.name for check in exercise.checks if check.outcome is Outcome.PASSED]
                if passed:
                    self._say(f"{report.submission.id} earns in {exercise.id}: passes {', '.join(passed)}")

    def _look_at_mistake(self, mistake: Mistake, report: GradeReport) -> None:
        short = mistake.name.rsplit(".", 1)[1]
        row = self._proof.confusion.setdefault(mistake.exercise, {}).setdefault(short, {})
        failed: set[str] = set()
        for exercise in report.exercises:
            if exercise.id != mistake.exercise:
                self._look_at_another_exercise(mistake, exercise)
                continue
            for check in exercise.checks:
                if check.outcome is Outcome.PASSED:
                    continue
                failed.add(check.name.split("[")[0])
                shown = check.mistake.rsplit(".", 1)[-1] if check.mistake else "-"
                row[shown] = row.get(shown, 0) + 1
                if check.outcome is Outcome.GRADER_ERROR:
                    self._say(f"mistake {mistake.name}: {check.name} broke: {check.message}")
                if check.mistake and check.mistake != mistake.name:
                    self._say(
                        f"mistake {mistake.name}: {check.name} shows the hint of its sibling {check.mistake}"
                    )
        for name in sorted(set(mistake.fails) - failed):
            self._say(f"mistake {mistake.name}: {name} should fail and does not")
        if not failed:
            self._say(f"mistake {mistake.name}: no check catches it")
        elif short not in row:
            self._say(f"mistake {mistake.name}: its own hint is shown by no check")

    def _look_at_another_exercise(self, mistake: Mistake, exercise: ExerciseResult) -> None:
        failed = [
            check
            for check in exercise.checks
            if check.outcome is not Outcome.PASSED and not check.outcome.pending
        ]
        if failed and exercise.id not in mistake.also:
            names = ", ".join(check.name for check in failed)
            self._say(f"mistake {mistake.name}: costs points in {exercise.id} too ({names})")
        if exercise.id in mistake.also and not failed:
            self._say(f"mistake {mistake.name}: ALSO names {exercise.id}, where it costs nothing")
        for check in failed:
            if check.mistake and check.mistake != mistake.name:
                self._say(f"mistake {mistake.name}: {check.name} shows the hint of {check.mistake}")

    def _say(self, problem: str) -> None:
        self._proof.problems.append(problem)


def _overrides(judge: Judge) -> Mapping[tuple[str, str], Any]:
    runner = judge.submission.runner
    return runner.overrides if isinstance(runner, LocalRunner) else {}


def _always(value: Any) -> Any:
    def constant(*args: Any, **kwargs: Any) -> Any:
        return value

    return constant


def _alike(mistakes: list[Mistake]) -> Iterator[str]:
    """Mistakes of one exercise that say the same: one of the two hints is not about its mistake."""
    seen: dict[tuple[str, str], str] = {}
    for mistake in mistakes:
        first = seen.setdefault((mistake.exercise, mistake.hint), mistake.name)
        if first != mistake.name:
            yield f"mistake {mistake.name}: has the hint of {first}"


def _gaps(
    spec: Assignment,
    functions: Mapping[str, set[str]],
    exercises: Mapping[str, list[tuple[str, bool]]],
    mistakes: list[Mistake],
    complete: bool,
) -> Iterator[str]:
    """What is missing: an exercise without checks or mistakes, a mistake that names no check or no exercise.

    `functions` are those of every exercise of the assignment, those included that are left out here; `complete` is
    False where mistakes could not be loaded.
    """
    for exercise in spec.exercises:
        name = f"{spec.name}.{exercise.id}"
        checks = exercises.get(name, [])
        if not any(not hidden for _, hidden in checks):
            yield f"{name}: has no visible check"
        if "gpu" in exercise.needs:  # timed: what makes it slow is no mistake that values show
            continue
        if not any(hidden for _, hidden in checks):
            yield f"{name}: has no hidden check"
        if complete and not any(name in mistake.exercises for mistake in mistakes):
            yield f"{name}: has no mistake"
    for name in exercises:
        if name.split(".")[0] != spec.name:
            yield f"a test in {spec.name} belongs to {name}"
    for mistake in mistakes:
        for name in mistake.also:
            if name == mistake.exercise or not functions.get(name, set()) & functions[mistake.exercise]:
                yield f"mistake {mistake.name}: ALSO names {name}, which shares no function with its exercise"
        known = {function for function, _ in exercises.get(mistake.exercise, [])}
        for function in mistake.fails:
            if function not in known:
                yield f"mistake {mistake.name}: FAILS names {function}, no check of {mistake.exercise}"
