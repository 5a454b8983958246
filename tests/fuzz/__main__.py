"""The long run: `python -m tests.fuzz --inputs 100000 [--seconds-of-atheris 120]`, with counts and coverage.

Half of the inputs are drawn by hypothesis, evenly over the ways in which a judge asks; then atheris, where it is
installed, changes bytes and is led by coverage. Exit code 1 when the judge failed over any of them.
"""

import argparse
import collections
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import coverage
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.judged import REQUESTS, Broken, judged
from tests.fuzz.replies import replies

MEASURED = ("wire", "decoding", "values", "canonical")


def main() -> int:
    """Run, print, and say whether the judge held."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="drawn by hypothesis, in all")
    parser.add_argument("--seconds-of-atheris", type=int, default=0, help="0: none")
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    counts: dict[str, collections.Counter[str]] = {way: collections.Counter() for way in REQUESTS}
    broken: dict[str, str] = {}
    measured = coverage.Coverage(
        include=[f"*/grader/worker/{name}.py" for name in MEASURED], branch=True, data_file=None
    )
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        submission = Path(folder)
        (submission / "memory").mkdir()
        (submission / "memory" / "state.py").write_text("x = 1\n")
        for way in REQUESTS:
            measured.start()
            _run(way, told.inputs // len(REQUESTS), told.seed, submission, counts[way], broken)
            measured.stop()
            print(f"{way:10} {sum(counts[way].values()):7,} {dict(counts[way].most_common())}", flush=True)
    print(
        f"{sum(sum(each.values()) for each in counts.values()):,} inputs in {time.monotonic() - began:.0f} s"
    )
    measured.report(show_missing=True, file=sys.stdout)
    for what, reply in broken.items():
        print(f"BROKEN {what}\n    {reply}")
    if told.seconds_of_atheris:
        command = [sys.executable, "-m", "tests.fuzz.bytewise", f"-max_total_time={told.seconds_of_atheris}"]
        done = subprocess.run([*command, "-max_len=4096", f"-seed={told.seed}"])
        if done.returncode:
            broken["atheris"] = "above"
    return 1 if broken else 0


def _run(
    way: str,
    inputs: int,
    start: int,
    submission: Path,
    counts: "collections.Counter[str]",
    broken: dict[str, str],
) -> None:
    """Draw so many replies; what breaks the judge is kept, the first of each kind, and the run goes on."""

    @seed(start)
    @settings(
        max_examples=inputs,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(replies(way))
    def each(reply: bytes) -> None:
        try:
            counts[judged(way, reply, submission)] += 1
        except Broken as error:
            counts["BROKEN"] += 1
            broken.setdefault(f"{way}: {str(error)[:100]}", repr(reply[:2000]))

    each()


if __name__ == "__main__":
    sys.exit(main())
