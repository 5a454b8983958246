"""One run at a time on a card: who waits, who hears of it, what a dead holder and a planted file do."""

import os
import subprocess
import sys
import tempfile
import threading
import time

import pytest

from grader.clock import lock
from grader.clock.device import DeviceError
from grader.clock.lock import CardBusy, card_lock

CARD = "GPU-00000000-made-up"
HOLDER = f"""
import sys, time
from pathlib import Path
from grader.clock.lock import card_lock
with card_lock({CARD!r}, where=Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def where(tmp_path):
    return tmp_path / "locks"


@pytest.fixture
def holder(where):
    """Another process that holds the card."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(where)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_run_on_a_card_waits_says_so_and_gives_up(where, holder):
    heard = []
    with (
        pytest.raises(CardBusy, match="held by another run"),
        card_lock(CARD, where=where, wait_s=0.1, say=heard.append),
    ):
        pytest.fail("two runs hold one card")
    assert len(heard) == 1
    assert CARD in heard[0]


def test_a_holder_that_is_killed_holds_nothing_and_its_file_locks_nobody_out(where, holder):
    threading.Timer(0.2, holder.kill).start()
    began_s = time.monotonic()
    with card_lock(CARD, where=where, wait_s=20):
        assert time.monotonic() - began_s > 0.1
    assert list(where.iterdir())
    with card_lock(CARD, where=where, wait_s=0):
        pass


def test_a_run_on_another_card_does_not_wait(where, holder):
    with card_lock("GPU-00000001-made-up", where=where, wait_s=0):
        pass


def test_a_program_started_under_the_lock_does_not_hold_it(where):
    """A worker that outlives the judge must not keep the card."""
    with card_lock(CARD, where=where, wait_s=0):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with card_lock(CARD, where=where, wait_s=0):
            pass
    finally:
        child.kill()
        child.wait()


def test_an_error_under_the_lock_gives_it_back(where):
    with pytest.raises(ZeroDivisionError), card_lock(CARD, where=where):
        raise ZeroDivisionError
    with card_lock(CARD, where=where, wait_s=0):
        pass


def test_a_link_that_somebody_planted_is_refused_and_its_target_untouched(where, tmp_path):
    where.mkdir()
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (where / f"{CARD}.lock").symlink_to(precious)
    with pytest.raises(DeviceError, match="is a link; remove it"), card_lock(CARD, where=where):
        pytest.fail("a planted link was followed")
    dangling = tmp_path / "dangling"
    (where / "GPU-1.lock").symlink_to(dangling)
    with pytest.raises(DeviceError), card_lock("GPU-1", where=where):
        pytest.fail("a planted link was followed")
    assert precious.read_text() == "kept"
    assert not dangling.exists()


def test_a_hard_link_a_fifo_and_a_folder_are_no_locks(where, tmp_path):
    where.mkdir()
    (tmp_path / "other").touch()
    os.link(tmp_path / "other", where / "GPU-1.lock")
    os.mkfifo(where / "GPU-2.lock")
    (where / "GPU-3.lock").mkdir()
    for number in (1, 2, 3):
        with pytest.raises(DeviceError, match="no plain file"), card_lock(f"GPU-{number}", where=where):
            pytest.fail("what was planted was taken for a lock")


def test_a_folder_in_which_others_can_replace_files_is_refused(where, tmp_path):
    where.mkdir()
    where.chmod(0o777)
    with pytest.raises(DeviceError, match="another user could replace"), card_lock(CARD, where=where):
        pytest.fail("locked in an open folder")
    (tmp_path / "link").symlink_to(where)
    with pytest.raises(DeviceError, match="is no folder"), card_lock(CARD, where=tmp_path / "link"):
        pytest.fail("locked behind a link")


def test_a_folder_that_is_made_is_for_all_users_whatever_the_umask(where):
    before = os.umask(0o077)
    try:
        with card_lock(CARD, where=where):
            pass
    finally:
        os.umask(before)
    assert where.stat().st_mode & 0o7777 == 0o1777
    assert (where / f"{CARD}.lock").stat().st_mode & 0o777 == 0o644


def test_a_lock_whose_file_was_removed_while_one_waited_is_taken_anew(where, monkeypatch):
    """The first file is removed after it was opened: two runs would hold a lock each, on two files."""
    opened = lock._open
    removed = []

    def open_and_lose(path):
        descriptor = opened(path)
        if not removed:
            path.unlink()
            removed.append(path)
        return descriptor

    monkeypatch.setattr(lock, "_open", open_and_lose)
    with card_lock(CARD, where=where, wait_s=0):
        assert (where / f"{CARD}.lock").exists()
        monkeypatch.undo()
        with pytest.raises(CardBusy), card_lock(CARD, where=where, wait_s=0):
            pytest.fail("two runs hold one card")


def test_a_name_cannot_lead_out_of_the_folder(where):
    with card_lock("../../GPU-1", where=where):
        assert [each.name for each in where.iterdir()] == ["GPU-1.lock"]
    with pytest.raises(DeviceError, match="no uuid"), card_lock("../..", where=where):
        pytest.fail("locked nothing by name")


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(lock.FOLDER_VARIABLE, str(tmp_path / "shared"))
    with card_lock(CARD, wait_s=0):
        assert (tmp_path / "shared" / f"{CARD}.lock").exists()


def test_a_temporary_folder_of_one_s_own_does_not_get_round_a_lock(monkeypatch, tmp_path):
    """Judges have one each, and so have a cluster's jobs."""
    monkeypatch.delenv(lock.FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert not lock.folder().is_relative_to(tmp_path)
