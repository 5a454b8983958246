"""`grader plausible`, `grader combine` and `grader slurm`: what a runner needs between two machines."""

import contextlib
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from grader.exports.reading import is_graded, read_reports
from grader.intake import SubmissionRefused, submission_id
from grader.printable import printable, printable_path
from grader.refusal import SOME_NOT_GRADED, BadInput
from grader.report import write_atomically, write_report
from grader.runners.stages import combined, paired, why_not_timed, worth_timing
from grader.summary import Row, note_on, summary_csv


def plausible(places: Sequence[Path], submissions: Path | None) -> int:
    """Print the submissions that are worth GPU minutes, one a line; on stderr why others are not.

    Args:
        submissions: the folder that they lie in: prints their paths there, else their ids.
    """
    reports = read_reports(places)
    worth = [report.submission.id for report in reports if worth_timing(report)]
    for each in _paths(submissions, worth) if submissions is not None else worth:
        print(each)
    for report in reports:
        if why := why_not_timed(report):
            who = printable(report.submission.id, 60)
            print(f"not worth timing: {who}: {printable(why, 200)}", file=sys.stderr)
    print(f"{len(worth)} of {len(reports)} submissions are worth timing", file=sys.stderr)
    return 0


def _paths(folder: Path, ids: Sequence[str]) -> list[Path]:
    """What in `folder` has these ids, by which a submission's report is filed.

    Raises:
        BadInput: there is no such folder, or one of them is not in it.
    """
    if not folder.is_dir():
        raise BadInput(f"--submissions {printable_path(folder)}: no such folder")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        with contextlib.suppress(SubmissionRefused):  # was refused when it was graded, too
            found.setdefault(submission_id(path), path)
    missing = [each for each in ids if each not in found]
    if missing:
        raise BadInput(f"--submissions {printable_path(folder)}: {printable(missing[0], 60)} is not there")
    return [found[each] for each in ids]


def combine(graded: Sequence[Path], timed: Sequence[Path], out: Path) -> int:
    """Write both stages' reports as one, with a summary.csv; the exit code: 0, or 3 for a grade that is missing."""
    where = out.resolve()
    if any(where == each.resolve() for each in (*graded, *timed)):
        raise BadInput(f"--out {printable_path(out)}: is one of the stages, name another folder")
    if out.exists() and not out.is_dir():
        raise BadInput(f"--out {printable_path(out)}: is a file, name a folder")
    rows = []
    missing = 0
    first = read_reports(graded)
    for report, times in paired(first, read_reports(timed) if timed else []):
        whole = combined(report, times) if times is not None else report
        write_report(whole, out / whole.submission.id / "report.json")
        rows.append(Row(whole.submission.id, whole, note_on(whole)))
        if not is_graded(whole):
            missing += 1
            why = printable(whole.error or "grader error", 200)
            print(f"not graded: {printable(whole.submission.id, 60)}: {why}", file=sys.stderr)
        if waiting := worth_timing(whole):
            print(f"pending: {printable(whole.submission.id, 60)}: {', '.join(waiting)}", file=sys.stderr)
    write_atomically(out / "summary.csv", summary_csv(rows))
    print(f"{len(rows) - missing} of {len(rows)} graded; reports in {printable_path(out)}")
    return SOME_NOT_GRADED if missing else 0


def slurm(out: Path | None) -> int:
    """Write the script, to standard output unless `out` names a file."""
    text = (files("grader.runners") / "slurm.sh").read_text(encoding="utf-8")
    if out is None:
        sys.stdout.write(text)
        return 0
    if out.exists():
        raise BadInput(f"--out {printable_path(out)}: is there already, name a new file")
    write_atomically(out, text)
    out.chmod(0o755)
    print(f"wrote {printable_path(out)}; bash {printable_path(out)} says how it goes")
    return 0
