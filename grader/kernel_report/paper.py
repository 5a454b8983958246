"""Lines of a report on a terminal or a pipe: wrapped between words, labels in a column of their own."""

from rich.console import Console
from rich.text import Text

from grader.printable import printable

WIDTH = 100
"""Columns; a narrower terminal gets shorter lines."""
LABEL = 11
"""Columns of a label, the space after it included."""
_NARROWEST = 60


class Paper:
    """Lines of a report on a console: wrapped between words, continued under their label."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.width = min(WIDTH, max(_NARROWEST, console.width)) if console.is_terminal else WIDTH

    def line(
        self, text: str, style: str = "", *, indent: int = 0, label: str = "", label_style: str = "dim"
    ) -> None:
        """Print one paragraph; `label` stands before its first line, in a column of its own."""
        column = indent + (LABEL if label else 0)
        width = self.width - column
        for number, part in enumerate(_wrapped(printable(text, 4000), width)):
            start = f"{label:<{LABEL}}" if label and not number else " " * (column - indent)
            shown = Text.assemble(" " * indent, (start, label_style if not number else ""), (part, style))
            self.console.print(shown, soft_wrap=True)

    def heading(self, title: str, style: str, text: str) -> None:
        """Print a title and what follows it, continued at an indent of two."""
        lines = _wrapped(printable(f"{title}  {text}" if text else title, 4000), self.width - 2)
        first = lines[0][len(title) :] if lines[0].startswith(title) else ""
        self.console.print(Text.assemble((title, style), first), soft_wrap=True)
        for part in lines[1:]:
            self.console.print(Text(f"  {part}"), soft_wrap=True)

    def gap(self) -> None:
        """Print an empty line."""
        self.console.print()


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken at spaces; words that are longer stay whole."""
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        if current and len(current) + 1 + len(word) > width:
            lines.append(current.rstrip())
            current = word
        else:
            current = f"{current} {word}" if current or lines or not word else word
    return [*lines, current.rstrip()] if current.strip() or not lines else lines
