"""An exercise's result as HTML for a cell's output: what the terminal's table says, with styles of its own.

Notebooks drop style sheets of an output that they do not trust, so that every style is inline; colours are those that
can be read on a white and on a dark page.
"""

from html import escape

from grader.exports import told
from grader.exports.plain import line, score
from grader.report import ExerciseResult, Outcome

_COLOURS = {
    "good": "#1a7f37",
    "bad": "#d1242f",
    "open": "#0969da",
    "todo": "#9a6700",
}
_MONO = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:0.9em"

_WRAPPED = (
    "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere"  # notebooks break words of an output
)


def exercise_html(exercise: ExerciseResult, foot: str = "", in_class: bool = True) -> str:
    """One exercise: verdict and points, then each finding with its hint, then what holds.

    Args:
        exercise: what to show.
        foot: a line below, as plain text.
        in_class: whether points are a grade; False says that visible checks alone ran.
    """
    colour = _colour(exercise.outcome)
    parts = [
        '<div class="rooflab" style="max-width:64em;line-height:1.45">',
        '<table style="border-collapse:collapse;margin:0 0 .5em 0"><tr>',
        f'<td style="text-align:left;padding:.2em 1.2em .2em 0"><code>{escape(line(exercise.id))}</code></td>',
        f'<td style="text-align:left;padding:.2em 1.2em .2em 0;color:{colour};font-weight:600">'
        f"{escape(told.word(exercise.outcome))}</td>",
        f'<td style="text-align:left;padding:.2em 0">{_points(exercise)}{"" if in_class else " (visible checks)"}</td>',
        "</tr></table>",
    ]
    if exercise.outcome is Outcome.TODO and exercise.todo:
        parts.append(_paragraph(f"still to be written: {line(exercise.todo)}"))
    if exercise.pending_points:
        parts.append(
            _paragraph(f"{score(exercise.pending_points)} points are pending: neither earned nor lost")
        )
    for each in told.findings(exercise):
        parts.append(_finding(each))
    holds = told.holds(exercise)
    if holds:
        items = "".join(f"<div>✓ {escape(claim)}</div>" for claim in holds)
        words = "1 check holds" if len(holds) == 1 else f"{len(holds)} checks hold"
        # A list item has the triangle, which nbgrader's style sheet takes from a summary.
        summary = f'<summary style="display:list-item;cursor:pointer">{words}</summary>'
        parts.append(f'<details style="margin:.4em 0">{summary}{items}</details>')
    if foot:
        parts.append(_paragraph(line(foot, 400)))
    parts.append("</div>")
    return "".join(parts)


def _points(exercise: ExerciseResult) -> str:
    if told.wholly_pending(exercise):
        return f"pending / {score(exercise.max_points)}"
    extra = " extra" if exercise.extra_credit else ""
    return f"{score(exercise.points)} / {score(exercise.max_points)}{extra}"


def _colour(outcome: Outcome) -> str:
    if outcome is Outcome.PASSED:
        return _COLOURS["good"]
    if outcome.pending:
        return _COLOURS["open"]
    return _COLOURS["todo" if outcome is Outcome.TODO else "bad"]


def _paragraph(text: str) -> str:
    return f'<p style="margin:.3em 0;opacity:.8">{escape(text)}</p>'


def _finding(each: told.Finding) -> str:
    colour = _COLOURS["open" if each.pending else "bad"]
    more = f" (and {each.more} more that say{'' if each.more > 1 else 's'} the same)" if each.more else ""
    hidden = " (hidden check)" if each.hidden else ""
    parts = [
        f'<div style="margin:.6em 0;padding-left:.8em;border-left:3px solid {colour}">',
        f'<div><b style="color:{colour}">{escape(each.word)}</b>{hidden} {escape(each.claim)}{more}</div>',
    ]
    if each.message:
        parts.append(
            f'<pre style="margin:.3em 0;padding:0;border:0;background:none;{_WRAPPED};{_MONO}">'
            f"{escape(each.message)}</pre>"
        )
    if each.hint:
        parts.append(f"<div><b>Hint:</b> {escape(each.hint)}</div>")
    parts.append("</div>")
    return "".join(parts)
