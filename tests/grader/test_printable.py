"""Untrusted text becomes one harmless line."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grader.printable import printable, printable_path
from tests.drawn import DRAWN


def test_plain_text_of_any_script_stays_as_it_is() -> None:
    for text in ("state.py", "Zoë Müller", "作業 1", "अभ्यास", "a  b", "T×T · Θ(n²)"):
        assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1b]0;title\x07name", "name"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\name", "name"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cname", "name"),
        ("\x1bcreset", "reset"),
        ("\x1b]0;never ended", "0;never ended"),
        ("bell\x07 back\x08\x7f nul\x00", "bell back nul"),
        ("two\r\nlines\tand a tab", "two lines and a tab"),
        ("line\u2028separator", "line separator"),
        ("\u202eyp.etats\u202c", "yp.etats"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("caf\udce9.py", "caf\ufffd.py"),
        ("\ue000private", "\ufffdprivate"),
    ],
)
def test_what_a_terminal_acts_on_is_taken_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_text_is_cut_and_says_so() -> None:
    assert printable("x" * 200, limit=10) == "x" * 9 + "…"
    assert printable("x" * 10, limit=10) == "x" * 10


def test_what_was_cut_shows_even_when_the_start_is_stripped_to_nothing() -> None:
    assert printable("\x00" * 100_000 + "x", limit=10) == "…"


def test_a_long_path_keeps_its_name() -> None:
    shown = printable_path("/courses/" + "x" * 300 + "/alice", limit=30)
    assert shown.endswith("/alice")
    assert len(shown) == 30


@settings(DRAWN, max_examples=300)
@given(st.text(st.characters(), max_size=60) | st.text("\x1b\x9b\x9d[]P\\;0m\x07ax", max_size=40))
@example("\x1b\x1b[0m[0mx")
@example("\x1b[\x1b[31m31mx")
def test_the_result_is_one_printable_utf8_line_and_a_second_pass_changes_nothing(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1
    assert shown.encode().decode() == shown
    assert printable(shown) == shown


@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[", "\x9b0", "\x1b[0", "\x1bP", "\x9d", "\x9d\x98", "\x1b[ "])
def test_a_flood_of_unfinished_sequences_is_stripped_in_linear_time(unit: str) -> None:
    # Each takes under 0.1 s. A pattern that looks ahead from every introducer took 340 s here.
    assert printable(unit * 200_000 + "\n", limit=1_000_000).strip("[]P0 \\") == ""
