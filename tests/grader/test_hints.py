"""How a wrong value becomes a hint, live from the mistakes and stored in a student's bundle."""

import dataclasses
import json
from pathlib import Path

import pytest

from grader.calls.runner import Request
from grader.calls.submission import RAISED, TOO_LARGE, Call
from grader.checks.mistakes import (
    LiveMistakes,
    Mistake,
    MistakeBroken,
    find_hint,
    load_mistakes,
    load_solution,
)
from grader.checks.stored_mistakes import StoredMistakes, stored_form
from grader.commands.learn import visible_session
from grader.kit import Kit

ROOT = Path(__file__).resolve().parents[2]
EXERCISE = "memory.some"


def mistake(name: str, function, symptoms: tuple[str, ...] = ()) -> Mistake:
    return Mistake(
        f"{EXERCISE}.{name}",
        EXERCISE,
        "A summary.",
        f"hint of {name}",
        ("test_it",),
        symptoms,
        {"f": function},
    )


def call(got: object, *args: object) -> Call:
    return Call(Request("memory", "some.py", "f", args), got)


DOUBLE = mistake("double", lambda n: 2 * n)
SQUARE = mistake("square", lambda n: n * n)
BROKEN = mistake("broken", lambda n: n / 0)
SYMPTOM = mistake("leaky", lambda n: n, ("leaks",))


@pytest.fixture(params=["live", "stored"])
def source(request, tmp_path):
    """The same mistakes, from their code and from what a bundle stores of them."""
    mistakes = [DOUBLE, SQUARE, BROKEN, SYMPTOM]
    if request.param == "live":
        return LiveMistakes(mistakes)
    path = tmp_path / "wrong_values.json"
    path.write_text(
        json.dumps(stored_form(mistakes, {EXERCISE: [call(None, 2), call(None, 3), call(None, 5)]}))
    )
    return StoredMistakes(path)


def hint(source, calls, earlier=(), symptom="", right=()):
    return find_hint(source, EXERCISE, calls, right, earlier, symptom)[1]


def test_a_value_that_one_mistake_returns_gets_its_hint(source):
    assert hint(source, [call(6, 3)]) == "hint of double"
    assert hint(source, [call(9, 3)]) == "hint of square"


def test_a_value_that_no_mistake_returns_gets_none(source):
    assert hint(source, [call(7, 3)]) == ""
    assert hint(source, []) == ""


def test_a_value_that_two_mistakes_return_gets_none(source):
    assert hint(source, [call(4, 2)]) == ""


def test_an_earlier_call_decides_between_two(source):
    assert hint(source, [call(4, 2)], [call(9, 3), call(4, 2)]) == "hint of square"
    assert hint(source, [call(4, 2)], [call(6, 3), call(4, 2)]) == "hint of double"


def test_all_calls_of_the_check_must_fit(source):
    assert hint(source, [call(4, 2), call(6, 3)]) == "hint of double"
    assert hint(source, [call(2, 2), call(6, 3)]) == ""


def test_whoever_answered_right_where_a_mistake_would_not_has_not_made_it(source):
    assert hint(source, [call(6, 3)], right=[call(5, 5)]) == ""
    assert hint(source, [call(6, 3)], right=[call(10, 5)]) == "hint of double"


def test_a_right_value_too_large_to_be_kept_rules_no_mistake_out(source):
    assert hint(source, [call(6, 3)], right=[call(TOO_LARGE, 5)]) == "hint of double"
    assert hint(source, [call(4, 2)], earlier=[call(TOO_LARGE, 5), call(6, 3)]) == "hint of double"


def test_a_call_that_raised_is_explained_by_nothing(source):
    assert hint(source, [call(6, 3), call(RAISED, 5)]) == ""


def test_a_mistake_in_one_function_fits_what_others_returned_and_is_blamed_for_none_of_it(source):
    other = Call(Request("memory", "some.py", "g", (3,)), 6)
    assert hint(source, [call(6, 3), other]) == "hint of double"
    assert hint(source, [other]) == ""


def test_a_symptom_names_its_mistake_and_no_other(source):
    assert hint(source, [], symptom="leaks") == "hint of leaky"
    assert hint(source, [call(6, 3)], symptom="unheard of") == ""


def test_another_exercise_has_no_such_mistake(source):
    assert find_hint(source, "memory.other", [call(6, 3)], [], [], "") == ("", "")


def test_what_is_stored_holds_no_value_and_no_name(tmp_path):
    text = json.dumps(
        stored_form([dataclasses.replace(DOUBLE, hint="Think.")], {EXERCISE: [call(None, 123457)]})
    )
    assert "246914" not in text
    assert "double" not in text


def test_stored_hints_equal_live_hints_for_every_mistake_on_every_visible_call(tmp_path):
    kit = Kit(ROOT, ROOT / "solutions")
    mistakes = load_mistakes(kit.solutions, "memory")
    calls = visible_session(kit, kit.solutions, ["memory"]).submission.calls_by_exercise
    path = tmp_path / "wrong_values.json"
    path.write_text(json.dumps(stored_form(mistakes, calls)))
    stored, live = StoredMistakes(path), LiveMistakes(mistakes)
    compared = found = 0
    for wrong in mistakes:
        returned = []
        for visible in calls[wrong.exercise]:
            function = wrong.functions.get(visible.request.function)
            if function is None or visible.request.probe:
                continue
            try:
                got = function(*visible.request.args, **visible.request.kwargs)
            except Exception:  # a wrong function may fail in any way
                continue
            returned.append(Call(visible.request, got))
        for one in returned:
            expected = find_hint(live, wrong.exercise, [one], [], returned, "")[1]
            assert find_hint(stored, wrong.exercise, [one], [], returned, "")[1] == expected
            compared += 1
            found += bool(expected)
        for symptom in wrong.symptoms:
            assert find_hint(stored, wrong.exercise, [], [], [], symptom)[1] == wrong.hint
    assert compared > 500
    assert found > compared / 4


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ('"""Doc."""\nEXERCISE = "a"\nHINT = ""\nFAILS = ("t",)\ndef f(): pass\n', "lacks HINT"),
        ('"""Doc."""\nHINT = "h"\nFAILS = ("t",)\ndef f(): pass\n', "lacks EXERCISE"),
        ('EXERCISE = "a"\nHINT = "h"\nFAILS = ("t",)\ndef f(): pass\n', "lacks its docstring"),
        ('"""Doc."""\nEXERCISE = "a"\nHINT = "h"\nFAILS = ("t",)\n', "defines no wrong function"),
    ],
)
def test_a_mistake_that_lacks_something_is_named(tmp_path, text, lacks):
    folder = tmp_path / "memory" / "mistakes"
    folder.mkdir(parents=True)
    (folder / "odd.py").write_text(text)
    with pytest.raises(MistakeBroken, match=rf"odd\.py: {lacks}"):
        load_mistakes(tmp_path, "memory")


@pytest.mark.parametrize("stored", [False, True])
def test_a_mistake_that_answers_right_here_does_not_explain_a_small_error(tmp_path, stored):
    torch = pytest.importorskip("torch")  # the hints of a light install compare no tensors
    exercise = "flash_attention.tiled_attention"
    mistakes = load_mistakes(ROOT / "solutions", "flash_attention")
    solution = load_solution(ROOT / "solutions", "flash_attention", "tiled.py")
    q, k, v = torch.randn(3, 8, 16, generator=torch.Generator().manual_seed(1)).unbind()
    request = Request("flash_attention", "tiled.py", "tiled_attention", (q, k, v, 4, 4))
    out, lse = solution.tiled_attention(*request.args)
    nearly = Call(request, (out, lse * (1 + 1e-6)))
    if stored:
        path = tmp_path / "wrong_values.json"
        path.write_text(json.dumps(stored_form(mistakes, {exercise: [Call(request, (out, lse))]})))
    source = StoredMistakes(path) if stored else LiveMistakes(mistakes)
    assert len(source.explains(exercise, nearly)) > 1  # those that concern a mask, and none is given
    ignores_causal = {name for name in source.explains(exercise, nearly) if "all keys" in source.hint(name)}
    assert ignores_causal
    assert ignores_causal <= source.is_right(exercise, nearly, ignores_causal)
    name, _ = find_hint(source, exercise, [nearly], [], [], "")
    assert name not in ignores_causal
