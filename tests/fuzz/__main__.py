"""The long run: `python -m tests.fuzz --inputs 100000 [--seconds-of-atheris 120]`, with counts of what became of them.

Hypothesis draws replies, evenly over the ways in which a judge asks, and each is the first of many (`mutants`). Then
atheris, where it is installed, changes bytes, led by coverage. Exit code 1 when the judge failed over any of them.
"""

import argparse
import collections
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.judged import REQUESTS, Broken, judged
from tests.fuzz.mutants import mutants
from tests.fuzz.replies import replies

EACH = 40
"""Replies made of a drawn one, which is itself the first."""


def main() -> int:
    """Run, print, and say whether the judge held."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="in all, those of atheris apart")
    parser.add_argument("--seconds-of-atheris", type=int, default=0, help="0: none")
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    broken: dict[str, str] = {}
    total, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        submission = Path(folder)
        (submission / "memory").mkdir()
        (submission / "memory" / "state.py").write_text("x = 1\n")
        for way in REQUESTS:
            counts = _run(way, told.inputs // len(REQUESTS), told.seed, submission, broken)
            total += sum(counts.values())
            print(f"{way:10} {sum(counts.values()):7,} {dict(counts.most_common())}", flush=True)
        print(
            f"{total:,} inputs in {time.monotonic() - began:.0f} s, {len(broken)} ways in which the judge failed"
        )
        for what, reply in broken.items():
            print(f"BROKEN {what}\n    {reply}")
        if told.seconds_of_atheris:
            command = [
                sys.executable,
                "-m",
                "tests.fuzz.bytewise",
                f"-max_total_time={told.seconds_of_atheris}",
            ]
            more = ["-max_len=4096", f"-seed={told.seed}", f"-artifact_prefix={folder}/"]
            # Its corpus lies in this run's folder, for libFuzzer ends without tidying up.
            done = subprocess.run([*command, *more], env={**os.environ, "TMPDIR": folder})
            if done.returncode:
                broken["atheris"] = "its input is printed above"
    return 1 if broken else 0


def _run(
    way: str, inputs: int, start: int, submission: Path, broken: dict[str, str]
) -> "collections.Counter[str]":
    """Judge so many replies; what breaks the judge is kept, the first of each kind, and the run goes on."""
    counts: collections.Counter[str] = collections.Counter()
    source = random.Random(start)

    def one(reply: bytes) -> None:
        try:
            counts[judged(way, reply, submission)] += 1
        except Broken as error:
            counts["BROKEN"] += 1
            broken.setdefault(f"{way}: {str(error)[:100]}", repr(reply[:2000]))

    @seed(start)
    @settings(
        max_examples=inputs // EACH,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(replies(way))
    def each(reply: bytes) -> None:
        one(reply)
        for mutant in mutants(reply, EACH - 1, source):
            one(mutant)

    each()
    return counts


if __name__ == "__main__":
    sys.exit(main())
