"""Turns untrusted text (file names, exception messages) into one short line that is safe on a terminal.

A student chooses file names and exception texts, and an instructor's terminal obeys what is in them: an
escape sequence clears the screen or rewrites a line of the table, a bidi override shows a name back to front.
"""

import re
import unicodedata

# ECMA-48 control sequences, seven-bit (ESC x) and eight-bit (C1) forms: CSI ... final byte; OSC, DCS, SOS, PM
# and APC strings up to their terminator (BEL or ST); then two-character escapes. The classes exclude what
# starts a sequence, so that a text of unfinished ones is read in linear time (when \x9d was not excluded,
# 200,000 of them took 340 s). An unfinished sequence keeps its text, less the ESC.
_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_CONTROL_WHITESPACE = re.compile("[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]+")
REPLACEMENT = "\ufffd"


def printable(text: str, limit: int = 120) -> str:
    """Return `text` as one line of at most `limit` characters that no terminal acts on.

    Escape sequences, control characters and invisible format characters (bidi overrides, zero-width ones) go;
    line breaks and tabs become a space; surrogates (bytes of a name that is not UTF-8), private and
    unassigned characters become U+FFFD. An ellipsis shows that text was cut. A second pass changes nothing.
    """
    # The slice bounds the work on a message of a gigabyte; sixteen leaves room for what is stripped.
    head = text[: 16 * limit]
    line = head
    if not head.isprintable():
        line = _CONTROL_WHITESPACE.sub(" ", _ESCAPE_SEQUENCE.sub("", head))
        line = "".join(_shown(character) for character in line)
    if len(line) > limit or len(head) < len(text):
        return line[: limit - 1] + "…"
    return line


def printable_path(path: object, limit: int = 160) -> str:
    """Return a path as `printable` text that keeps its end, where the name is, when it is too long."""
    line = printable(str(path), limit=16 * limit)
    return line if len(line) <= limit else "…" + line[len(line) - limit + 1 :]


def _shown(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else ""
    category = unicodedata.category(character)
    if category in ("Cc", "Cf"):
        return ""
    if category in ("Cs", "Co", "Cn"):
        return REPLACEMENT
    return " " if category.startswith("Z") else character
