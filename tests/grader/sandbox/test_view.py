"""What a worker is given, and what the sandbox hides from it."""

import os
import socket
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox import Level, bubblewrap, seccomp

Start = Callable[..., Any]
Stage = Callable[[str], Path]


def test_the_wire_works_both_ways_and_closes_with_the_worker(start: Start, level: Level) -> None:
    worker = start("say('ready'); say(wire.recv(100).decode() + ' back'); sys.exit(7)", level)
    assert worker.hear() == "ready"
    worker.wire.sendall(b"there and")
    assert worker.hear() == "there and back"
    assert worker.wire.recv(1) == b""
    assert worker.confined.wait(5) == 7
    assert worker.confined.killed_because is None


def test_the_worker_has_no_descriptor_but_the_wire(start: Start, level: Level) -> None:
    with tempfile.TemporaryFile() as secret:
        os.set_inheritable(secret.fileno(), True)
        worker = start(
            """
            found = {int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + fd)}
            say(sorted(found - {0, 1, 2, wire.fileno()}))
            """,
            level,
        )
        assert worker.hear() == []


def test_the_worker_has_no_variable_of_the_judge(
    start: Start, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_SEED", "very-secret-seed")
    worker = start("say([dict(os.environ), sys.flags.hash_randomization])", level)
    environment, hash_randomization = worker.hear()
    assert set(environment) - {"LC_CTYPE", "PWD"} == set(bubblewrap.environment("x"))
    assert hash_randomization == 0


def test_the_first_process_inside_shows_no_variable_of_the_judge(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_SEED", "very-secret-seed")
    worker = start("say(open('/proc/1/environ').read())")
    assert "very-secret-seed" not in str(worker.hear())


def test_libraries_come_from_the_folder_that_is_told(start: Start, level: Level) -> None:
    worker = start(
        """
        sys.path.append(told["--site"])
        import numpy
        say([told["--site"], numpy.__file__, numpy.eye(2).tolist()])
        """,
        level,
    )
    site, file, eye = worker.hear()
    assert file.startswith(site)
    assert eye == [[1, 0], [0, 1]]
    assert level == "process" or site == "/kit-site"


def test_the_submission_can_be_read(start: Start, level: Level) -> None:
    assert start("say(open(told['--submission'] + '/state.py').read())", level).hear() == "answer = 42\n"


def test_the_sandbox_shows_only_what_python_needs(start: Start) -> None:
    worker = start("say(sorted(os.listdir('/')))")
    prefix = Path(os.path.realpath(sys.base_prefix)).parts[1]
    system = {
        name.strip("/")
        for name in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
        if Path(name).exists()
    }
    expected = {"dev", "etc", "kit", "kit-site", "proc", "submission", "sys", "tmp", prefix, *system}
    assert set(worker.hear()) <= expected


def test_the_sandbox_shows_no_file_of_the_host(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "solutions.py"
    secret.write_text("answer = 42")
    paths = [
        str(secret),
        str(Path(__file__)),
        "/etc/passwd",
        "/etc/shadow",
        str(Path.home() / ".bashrc"),
        "/var",
        "/home",
    ]
    worker = start(f"say([path for path in {paths!r} if os.path.exists(path)])")
    assert worker.hear() == []


def test_hidden_paths_are_empty_where_a_shown_folder_contains_them(
    start: Start, stage: Stage, tmp_path: Path
) -> None:
    kit = stage("")
    (kit / "solutions").mkdir()
    (kit / "solutions" / "state.py").write_text("secret")
    (kit / "points.yaml").write_text("secret")
    worker = start(
        """
        def read(path):
            try:
                return open(path).read()
            except OSError:
                return ""
        say([os.listdir("/kit/solutions"), read("/kit/points.yaml"), sorted(os.listdir("/kit"))])
        """,
        hide=[kit / "solutions", kit / "points.yaml", tmp_path / "not-there", tmp_path],
    )
    folder, file, kit_names = worker.hear()
    assert folder == []
    assert file == ""
    assert kit_names == ["points.yaml", "solutions", "worker"]


def test_what_is_needed_stays_visible_below_a_hidden_path(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "usr" / "home" / "ann" / "python"
    python.mkdir(parents=True)
    (python / "lib.so").write_text("needed")
    (python.parent / "grades.csv").write_text("secret")
    monkeypatch.setattr(
        bubblewrap, "_SYSTEM_EXTRAS", (*bubblewrap._SYSTEM_EXTRAS, str(tmp_path / "usr"), str(python))
    )
    worker = start(
        f"say([os.listdir({str(python.parent)!r}), open({str(python / 'lib.so')!r}).read()])",
        hide=[tmp_path / "usr" / "home"],
    )
    assert worker.hear() == [["python"], "needed"]


def test_the_kits_own_packages_in_site_packages_are_hidden(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("specs", "grader", "library"):
        (tmp_path / "site" / name).mkdir(parents=True)
        (tmp_path / "site" / name / "secret.py").write_text("secret")
    monkeypatch.setattr(bubblewrap, "site_packages", lambda: tmp_path / "site")
    worker = start("say({name: os.listdir('/kit-site/' + name) for name in os.listdir('/kit-site')})")
    assert worker.hear() == {"specs": [], "grader": [], "library": ["secret.py"]}


def test_libraries_of_the_base_interpreter_are_hidden(start: Start) -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path(os.path.realpath(sys.base_prefix)) / "lib" / version
    worker = start(f"say([name for name in os.listdir({str(folder)!r}) if name == 'site-packages'"
                   f" and os.listdir({str(folder / 'site-packages')!r})])")  # fmt: skip
    assert worker.hear() == []


def test_other_processes_cannot_be_seen_or_signalled(start: Start) -> None:
    worker = start(
        f"""
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        say([pids == [1, os.getpid()], error_of(lambda: os.kill({os.getpid()}, 0))])
        """
    )
    assert worker.hear() == [True, "ESRCH"]


def test_there_is_no_network(start: Start) -> None:
    name = "\0rooflab-" + uuid.uuid4().hex
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(name)
        abstract.listen()
        worker = start(
            f"""
            def connect(family, address):
                with socket.socket(family) as attempt:
                    attempt.settimeout(2)
                    attempt.connect(address)
            say([
                error_of(lambda: connect(socket.AF_INET, {server.getsockname()!r})),
                error_of(lambda: connect(socket.AF_INET, ("192.0.2.1", 80))),
                error_of(lambda: connect(socket.AF_UNIX, {name!r})),
                error_of(lambda: socket.getaddrinfo("example.org", 80)),
                os.listdir("/sys/class/net") if os.path.exists("/sys/class/net") else [],
            ])
            """
        )
        assert worker.hear() == ["ECONNREFUSED", "ENETUNREACH", "ECONNREFUSED", "other", []]


def test_nothing_can_be_written_but_tmp_and_shared_memory(start: Start, stage: Stage, tmp_path: Path) -> None:
    (stage("") / "masked").mkdir()
    folders = [
        "/",
        "/kit",
        "/kit/masked",
        "/kit-site",
        "/submission",
        "/usr",
        "/etc",
        "/dev",
        "/proc",
        "/sys",
    ]
    folders += ["/sys/devices/system/cpu", os.path.realpath(sys.base_prefix), "/tmp", "/dev/shm"]
    worker = start(
        f"""
        say([path for path in {folders!r} if not error_of(lambda: open(path + "/new", "w"))])
        """,
        hide=[tmp_path / "kit" / "masked"],
    )
    assert worker.hear() == ["/tmp", "/dev/shm"]


def test_no_setting_of_the_kernel_can_be_written(start: Start) -> None:
    """To the kernel, whom root has put into the sandbox is root still: it asks for the user, not for a capability."""
    code = """
    opened, seen = [], 0
    for folder, _, files in os.walk("/proc/sys"):
        for name in files:
            seen += 1
            try:
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
                opened.append(name)
            except OSError:
                pass
    say([opened, seen > 100, error_of(lambda: open("/proc/sys/kernel/hostname", "w"))])
    """
    opened, seen, error = start(code).hear()
    assert seen
    assert opened == []
    assert error == "EROFS"


def test_no_namespace_can_be_made_inside(start: Start) -> None:
    worker = start("say(ctypes.CDLL(None).unshare(0x10000000))")  # CLONE_NEWUSER
    assert worker.hear() == -1


def test_calls_that_hold_memory_out_of_sight_are_refused(start: Start) -> None:
    worker = start(
        """
        libc = ctypes.CDLL(None, use_errno=True)
        def shmget():
            if libc.shmget(0, 4096, 0o1600) < 0:
                raise OSError(ctypes.get_errno(), "")
        say([error_of(lambda: os.memfd_create("held")), error_of(shmget)])
        """
    )
    assert worker.hear() == ["ENOSYS", "ENOSYS"]


def test_a_machine_without_known_call_numbers_gets_no_filter() -> None:
    assert seccomp.program("riscv64") is None
    assert len(seccomp.program("x86_64") or b"") % 8 == 0
