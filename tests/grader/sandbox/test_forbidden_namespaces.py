"""`grader grade` as an ordinary user and as root, where user namespaces are allowed and where they are forbidden.

Real commands of real users: the tests have to be run by root, which becomes a throwaway user, and say so where they
are not. User namespaces are forbidden by the setting, by a seccomp filter as Docker's, and by another sandbox around.
"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.refusal import USAGE_ERROR
from grader.report import read_report
from grader.sandbox import bubblewrap
from tests import user_namespaces
from tests.grader.grade_command import KIT, SAMPLES, Ended, make_course

pytestmark = pytest.mark.attacks

ROOT, ORDINARY = 0, 61_234
"""Nobody's, and none that a worker gets."""
ONLY = ("--only", "memory.state_bytes_per_parameter")
SAMPLE = "amara-perfect"
POINTS = 10
REASONS = {
    "sysctl": ("user.max_user_namespaces=0", "`sudo sysctl user.max_user_namespaces=15000`"),
    "seccomp": ("as Docker's default seccomp profile does", "`--security-opt seccomp=unconfined`"),
    "nested": ("no further user namespace may be made here", "grade outside of the sandbox or container"),
}
BOTH_USERS = pytest.mark.parametrize("uid", [ROOT, ORDINARY], ids=["root", "ordinary"])
FORBIDDEN = pytest.mark.parametrize("way", list(REASONS))


@dataclass(frozen=True)
class Home:
    """One user's folder, closed to others: kit, submission, and what was graded in the sandbox before."""

    folder: Path
    uid: int

    def run(self, way: str, *words: str) -> Ended:
        """Run a command of the kit as the user, with user namespaces forbidden in one of the ways."""
        command = [str(Path(sys.executable).parent / "grader"), *words]
        if way == "nested":
            command = [
                *(str(bubblewrap.find_bwrap()), "--unshare-user", "--disable-userns", "--dev-bind", "/", "/"),
                *command,
            ]
        becoming = [sys.executable, user_namespaces.__file__]
        becoming += ["nothing" if way == "nested" else way, str(self.uid)]
        done = subprocess.run(
            [*_with_python_for_everybody(), *becoming, *command],
            cwd=self.folder,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(self.folder / "home"),
                "PYTHONPATH": str(self.folder / "kit"),
                "LANG": "C.UTF-8",
                "COLUMNS": "160",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def grade(self, way: str, out: str, *options: str) -> Ended:
        """Grade the sample into a folder of the user's."""
        return self.run(
            way, "grade", str(self.folder / SAMPLE), "--out", str(self.folder / out), *ONLY, *options
        )

    def isolation(self, out: str) -> str:
        """The level that the sample's report states; the sample earned all its points."""
        report = read_report(self.folder / out / SAMPLE / "report.json")
        assert report.points == POINTS
        return report.environment.isolation


def _with_python_for_everybody() -> list[str]:
    """A mount namespace in which every user gets to Python and the libraries, should they lie in root's home."""
    needed = [Path(os.path.realpath(prefix)) for prefix in (sys.base_prefix, sys.prefix)]
    needed += [bubblewrap.site_packages(), KIT]
    closed = {
        next((parent for parent in reversed(path.parents) if not parent.stat().st_mode & stat.S_IXOTH), None)
        for path in needed
    } - {None}
    if not closed:
        return []
    arguments = [str(bubblewrap.find_bwrap()), "--dev-bind", "/", "/"]
    for folder in closed:
        arguments += ["--perms", "0755", "--tmpfs", str(folder)]
        for path in needed:
            if path.is_relative_to(folder):
                for parent in reversed(path.parents):
                    if parent.is_relative_to(folder) and parent != folder:
                        arguments += ["--perms", "0755", "--dir", str(parent)]
                arguments += ["--bind", str(path), str(path)]
    return [*arguments, "--"]


@pytest.fixture(scope="module")
def homes() -> Iterator[dict[int, Home]]:
    """A folder for each of the two users; skips, saying so, where this process cannot become another user."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip(
            "grading as another user, and where user namespaces are forbidden, was NOT tested: needs root on Linux"
        )
    # Not pytest's temporary folder, which is closed to other users.
    with tempfile.TemporaryDirectory(prefix="rooflab-users-", dir="/tmp") as top:
        Path(top).chmod(0o755)
        found = {}
        for uid in (ROOT, ORDINARY):
            folder = Path(top, str(uid))
            folder.mkdir(mode=0o700)
            make_course(folder)
            (folder / "home").mkdir()
            shutil.copytree(SAMPLES / SAMPLE, folder / SAMPLE)
            subprocess.run(["chown", "-R", f"{uid}:{uid}", str(folder)], check=True)
            found[uid] = Home(folder, uid)
        yield found


@pytest.fixture(scope="module")
def graded(homes: dict[int, Home]) -> dict[int, Ended]:
    """The sample, graded by both users in the sandbox, where nothing is forbidden."""
    return {uid: home.grade("nothing", "out") for uid, home in homes.items()}


def one_line(text: str) -> str:
    (line,) = text.splitlines()
    return line


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@BOTH_USERS
def test_the_sandbox_is_for_root_and_for_everybody_else(
    homes: dict[int, Home], graded: dict[int, Ended], uid: int
) -> None:
    ended = graded[uid]
    assert (ended.code, ended.stderr) == (0, "")
    assert "1 of 1 graded; isolation: sandbox" in ended.stdout
    assert homes[uid].isolation("out") == "sandbox"


@FORBIDDEN
@BOTH_USERS
@pytest.mark.usefixtures("graded")
def test_without_user_namespaces_it_is_refused_with_the_reason_and_the_remedy(
    homes: dict[int, Home], way: str, uid: int
) -> None:
    home, (reason, remedy) = homes[uid], REASONS[way]
    before = contents(home.folder / "out")
    ended = home.grade(way, "out")
    assert ended.code == USAGE_ERROR
    assert ended.stdout == ""
    line = one_line(ended.stderr)
    assert reason in line
    assert remedy in line
    assert "--isolation process" in line
    assert "--isolation user" in line
    assert contents(home.folder / "out") == before, "what was graded is kept"


@FORBIDDEN
@BOTH_USERS
def test_the_doctor_says_the_same(homes: dict[int, Home], way: str, uid: int) -> None:
    doctor, refused = homes[uid].run(way, "doctor", "--sandbox"), homes[uid].grade(way, "never")
    assert doctor.code == 1
    reason_and_remedy = one_line(doctor.stderr).removesuffix(" (only `grader grade` needs it)")
    assert reason_and_remedy.startswith("no sandbox here: ")
    assert reason_and_remedy in one_line(refused.stderr)


@pytest.mark.parametrize("way", ["sysctl", "seccomp"])
@BOTH_USERS
def test_the_level_process_grades_and_says_what_it_no_longer_withstands(
    homes: dict[int, Home], way: str, uid: int
) -> None:
    out = f"process-{way}"
    ended = homes[uid].grade(way, out, "--isolation", "process")
    assert (ended.code, ended.stderr) == (0, "")
    assert (
        "isolation level process withstands crashes, hangs and forged results, not code that" in ended.stdout
    )
    assert homes[uid].isolation(out) == "process"


@pytest.mark.parametrize("way", ["sysctl", "seccomp"])
def test_root_grades_at_the_level_user_which_says_what_it_no_longer_withstands(
    homes: dict[int, Home], way: str
) -> None:
    out = f"user-{way}"
    ended = homes[ROOT].grade(way, out, "--isolation", "user")
    assert (ended.code, ended.stderr) == (0, "")
    assert (
        "isolation level user withstands forged results and readers of the judge's files, not the"
        in ended.stdout
    )
    assert homes[ROOT].isolation(out) == "user"


@pytest.mark.parametrize("way", ["sysctl", "seccomp"])
def test_the_level_user_is_refused_to_an_ordinary_user(homes: dict[int, Home], way: str) -> None:
    ended = homes[ORDINARY].grade(way, "refused", "--isolation", "user")
    assert (ended.code, ended.stdout) == (USAGE_ERROR, "")
    assert "--isolation user: the judge must be root to start a worker as another user" in one_line(
        ended.stderr
    )


def test_the_level_user_is_refused_while_submissions_could_read_each_other(homes: dict[int, Home]) -> None:
    """As in a folder that is mounted into a container; one alone has nobody to be read by."""
    home = homes[ROOT]
    public = home.folder.parent / "public"
    for name in ("first", "second"):
        shutil.copytree(SAMPLES / SAMPLE, public / name)
    both = [str(public / name) for name in ("first", "second")]
    grade = ("--out", str(home.folder / "public-out"), *ONLY, "--isolation", "user")
    ended = home.run("seccomp", "grade", *both, *grade)
    assert (ended.code, ended.stdout) == (USAGE_ERROR, "")
    assert f"{public}/first" in one_line(ended.stderr)
    assert f"`chmod -R go-rwx {public}/first`, or keep it below a folder of mode 700" in one_line(
        ended.stderr
    )
    assert home.run("seccomp", "grade", both[0], *grade).code == 0
    public.chmod(0o700)
    assert home.run("seccomp", "grade", *both, *grade).code == 0
