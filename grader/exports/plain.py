"""Untrusted text made safe for any format: no control character, no terminal escape, no formula, bounded."""

import re

from grader.printable import printable

LINE = 200
_FORMULA = tuple("=+-@＝＋－＠")  # as typed, and full-width as in East Asian locales
# What CommonMark or GitHub's dialect gives a meaning, anywhere or at the start of a line.
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>&|~#$!@^]|:(?=/)|(?<=www)\.|^[-+=]|(?<=\d)[.)](?=\s|$)", re.IGNORECASE)


def line(text: str, limit: int = LINE) -> str:
    """One line, stripped; what it drops is legal in neither a terminal nor XML 1.0."""
    return printable(text, limit).strip()


def block(text: str, limit: int = 4000) -> str:
    """Several lines of together at most about `limit` characters; says when something was cut."""
    head = text[: 4 * limit]
    kept: list[str] = []
    room = limit
    cut = len(head) < len(text)
    for each in head.splitlines():
        if room <= 0:
            cut = True
            break
        shown = printable(each, min(400, room)).rstrip()
        kept.append(shown)
        room -= len(shown) + 1
    if cut:
        kept.append("… (cut)")
    return "\n".join(kept).strip("\n")


def cell(text: str, limit: int = LINE) -> str:
    """One cell of a CSV file that no spreadsheet runs: a leading `=`, `+`, `-` or `@` gets an apostrophe.

    Source: OWASP, "CSV Injection".
    """
    plain = line(text, limit)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def markdown(text: str) -> str:
    """Text that CommonMark and GitHub show as it is: no link, no image, no tag, no cell of a table ends in it."""
    return _MARKDOWN.sub(r"\\\g<0>", text)


def score(value: float) -> str:
    """Points at two decimals, without trailing zeros, as the terminal shows them."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
