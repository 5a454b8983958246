"""`grader hint` and `grader next`: one stage more each time; what to do now, and where it is explained."""

import json
from dataclasses import replace

import pytest

from specs.assignment import assignment

MEMORY = assignment("memory")
NAME = "memory.kv_cache_bytes"
STUB = "raise NotImplementedError('write me')\n"
LATENT_REFUSED = f"""
_right = expert_parameter_counts

def expert_parameter_counts(model):
    if model.attention.kind == "latent":
        {STUB}
    return _right(model)
"""
HINTS = MEMORY.exercise("kv_cache_bytes").hints


@pytest.fixture
def place(kit_copy):
    """A kit whose counts of hints seen are nobody else's."""
    return kit_copy


def test_a_hint_more_each_time_and_then_the_handout(place):
    for stage in range(1, len(HINTS) + 1):
        done = place.grader("hint", NAME)
        assert done.code == 0
        assert done.out.splitlines() == [
            f"hint {n} of {len(HINTS)}: {text}" for n, text in enumerate(HINTS[:stage], start=1)
        ]
    last = place.grader("hint", NAME).out.splitlines()
    assert len(last) == len(HINTS) + 1
    section = MEMORY.exercise("kv_cache_bytes").section
    assert last[-1] == f"that was all; read section '{section}' of assignments/memory/README.md"


def test_again_shows_what_was_seen_and_nothing_new(place):
    assert "no hint of memory.kv_cache_bytes seen yet" in place.grader("hint", NAME, "--again").out
    first = place.grader("hint", "kv_cache_bytes").out
    assert place.grader("hint", NAME, "--again").out == first
    assert place.grader("hint", NAME).out.count("hint ") > first.count("hint ")


def test_each_exercise_counts_for_itself_and_a_damaged_count_starts_anew(place):
    place.grader("hint", NAME)
    assert place.grader("hint", "memory.checkpoint").out.startswith("hint 1 of")
    seen = place.folder / ".rooflab" / "hints-seen.json"
    assert json.loads(seen.read_text()) == {NAME: 1, "memory.checkpoint": 1}
    seen.write_text('{"memory.kv_cache_bytes": -7, "memory.checkpoint": true')
    assert place.grader("hint", NAME).out.count("\n") == 1
    seen.write_text(json.dumps({NAME: -7}))
    assert place.grader("hint", NAME).out.count("\n") == 1


def test_hints_of_work_that_lies_elsewhere_are_counted_beside_it(place, student):
    folder, other = student(), student()
    for stage in (1, 2):
        done = place.grader("hint", NAME, "--submission", folder)
        assert (done.code, done.out.count("hint ")) == (0, stage)
    again = place.grader("hint", NAME, "--again", "--submission", other)
    assert again.out == (
        f"no hint of {NAME} seen yet; grader hint {NAME} --submission {other} shows the first of {len(HINTS)}\n"
    )
    assert json.loads((folder / ".rooflab" / "hints-seen.json").read_text()) == {NAME: 2}
    assert not (place.folder / ".rooflab").exists()


@pytest.mark.parametrize(
    ("folder", "why"), [("no/such", "no such folder"), ("specs", "holds no <assignment>/")]
)
def test_a_folder_that_is_nobodys_work_gets_no_hint(place, folder, why):
    done = place.grader("hint", NAME, "--submission", folder)
    assert done.code == 2
    assert done.err.startswith(f"grader: --submission {folder}: {why}")
    assert done.err.count("\n") == 1


def test_next_on_stubs_is_the_first_exercise_with_all_that_is_needed(bundle):
    done = bundle.grader("next")
    first = MEMORY.exercises[0]
    assert done.code == 0
    assert done.out.startswith(f"memory.{first.id}: {first.title} (10 points, 5 minutes, not begun)")
    assert f"section '{first.section}'" in done.out
    assert f"pytest assignments/memory --exercise memory.{first.id}" in done.out


def test_next_on_half_done_work_is_the_first_that_has_not_passed(bundle, student):
    folder = student(budget=f"def gpus_needed(total_bytes, gpu):\n    {STUB}")
    done = bundle.grader("next", "--submission", folder)
    assert done.out.startswith("memory.memory_budget: ")
    assert "of 10 so far" in done.out
    lines = {line.split()[0]: line for line in done.out.splitlines()}
    assert f" in {folder}/memory/budget.py: " in lines["write"]
    assert lines["check"].endswith(f" --exercise memory.memory_budget --submission {folder}")
    assert lines["stuck?"].endswith(f"grader hint memory.memory_budget --submission {folder}")


def test_next_leaves_extra_credit_out_on_the_core_track_and_says_when_all_is_done(checkout, bundle, student):
    folder = student(checkpoint=f"def checkpoint(function, *inputs):\n    {STUB}")
    assert checkout.grader("next", "memory", "--submission", folder).out.startswith("memory.checkpoint: ")
    folder = student(parameters=LATENT_REFUSED)
    done = bundle.grader("next", "memory", "--submission", folder)
    assert done.out.startswith("memory.latent_parameter_counts: ")
    done = bundle.grader("next", "memory", "--submission", folder, "--track", "core")
    assert (done.code, done.out) == (0, "all visible checks pass: nothing is left to do on this track\n")


def test_next_of_one_assignment_is_the_first_exercise_there(bundle):
    first = assignment("roofline").exercises[0]
    assert bundle.grader("next", "roofline").out.startswith(f"roofline.{first.id}: ")


def test_next_from_another_folder_says_where_its_paths_begin(bundle):
    assert "  from " not in bundle.grader("next").out
    inside = replace(bundle, folder=bundle.folder / "assignments" / "memory")
    done = inside.grader("next")
    assert done.code == 0, done.text
    assert done.out.splitlines()[-1] == f"  from     {bundle.folder}, where these paths begin"
