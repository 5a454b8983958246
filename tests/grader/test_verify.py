"""`grader verify`: a broken stub, solution, mistake or hint is named, and the sound kit passes."""

from grader.commands.verify import LEGEND, matrix
from grader.kit import Kit
from grader.verification import prove
from specs.assignment import assignment

QUICK = ("--only", "memory.shape_from_parameter_count", "--only", "memory.bf16_update_lost")


def edit(place, file: str, find: str, replace: str) -> None:
    path = place.folder / file
    text = path.read_text(encoding="utf-8")
    assert find in text, f"{file} has changed, and this test with it: {find!r}"
    path.write_text(text.replace(find, replace, 1), encoding="utf-8")


def test_each_thing_broken_by_hand_is_named(kit_copy):
    edit(kit_copy, "assignments/memory/budget.py", 'raise NotImplementedError("write me")', "return 0")
    edit(kit_copy, "solutions/memory/parameters.py", "hidden=128 * layers", "hidden=129 * layers")
    mistakes = kit_copy.folder / "solutions" / "memory" / "mistakes"
    (mistakes / "no_mistake_at_all.py").write_text(
        '"""Equals the solution."""\nfrom ..state import bf16_update_lost as right\n'
        'EXERCISE = "bf16_update_lost"\nHINT = "There is nothing wrong."\n'
        'FAILS = ("test_the_sum_is_rounded_once", "test_that_does_not_exist")\n'
        "def bf16_update_lost(weight, update):\n    return right(weight, update)\n"
    )
    first = (mistakes / "ties_always_lost.py").read_text()
    (mistakes / "ties_lost_once_more.py").write_text(first)
    done = kit_copy.grader("verify", *QUICK)
    wrong = [line for line in done.out.splitlines() if line.startswith("WRONG")]
    named = "memory.bf16_update_lost."
    assert done.code == 1
    assert any("assignments/memory/budget.py: differs from solutions/" in line for line in wrong)
    assert any("solution of memory.shape_from_parameter_count: " in line for line in wrong)
    assert any(f"mistake {named}no_mistake_at_all: no check catches it" in line for line in wrong)
    assert any(
        f"{named}no_mistake_at_all: test_the_sum_is_rounded_once should fail and does not" in line
        for line in wrong
    )
    assert any("no_mistake_at_all: FAILS names test_that_does_not_exist" in line for line in wrong)
    assert any(
        f"mistake {named}ties_lost_once_more: has the hint of {named}ties_always_lost" in line
        for line in wrong
    )
    assert any("ties_lost_once_more: its own hint is shown by no check" in line for line in wrong)
    assert done.out.rstrip().endswith(f"{len(wrong)} problems")
    assert done.err == ""
    assert done.out.startswith(f"{LEGEND}\n\nmemory.")
    assert "memory: 2 exercises, 10 points" in done.out
    assert "memory.kv_cache_bytes" not in done.out
    parts = (
        "budget.py",
        "shape_from_parameter_count",
        "no_mistake_at_all",
        "ties_lost_once_more",
        "ties_always_lost",
        "official run",
    )
    assert [line for line in wrong if not any(part in line for part in parts)] == []


def test_a_mistake_without_hint_is_one_line(kit_copy):
    edit(kit_copy, "solutions/memory/mistakes/ties_always_lost.py", "HINT = ", "HINT = '' and ")
    proof = prove(Kit(kit_copy.folder, kit_copy.folder / "solutions"), assignment("memory"))
    assert len(proof.problems) == 1
    assert proof.problems[0].endswith("ties_always_lost.py: lacks HINT")


def test_the_matrix_is_aligned_text():
    rows = {"first": {"first": 12}, "second_one": {"second_one": 3, "-": 1}}
    corner = "mistake \\ whose hint was shown"
    assert matrix("memory.some", rows) == [
        "memory.some",
        f"{corner}   1 2 none",
        f"{' 1 first':<{len(corner)}}  12 .    .",
        f"{' 2 second_one':<{len(corner)}}   . 3    1",
    ]
