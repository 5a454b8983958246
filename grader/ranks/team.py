"""The ranks of one call as the worker sees them: started, listened to, stopped, and gone without a trace."""

import contextlib
import os
import re
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from . import orphans
from . import rank as rank_process
from .evidence import ErrorText, RankFault, RanksReport, RankState
from .starting import Start
from .watch import Nonsense, Watch

if TYPE_CHECKING:
    from grader.worker import load, wire
else:  # staged, that package is around this one
    from .. import load, wire

MOST_RANKS = 8
_START_S = 60.0  # to fork and to join takes 0.05 s on an idle core, to spawn some seconds
_POLL_S = 0.01
_STILL_POLLS = 200
"""So many looks, 2 s, at which every rank waits and none has used the processor: nobody will ever move again."""
_FEW_POLLS = 10
_GLOO_THREAD = b"(gloo_tcp_loop"
MOST_PATIENCE = 5
"""Seconds in which a rank was ready to run and other processes had the cores do not count; so manifold at most."""
_GRACE_S = 0.3
"""Who waits for a rank that died or raised fails too, and so tells the wrong story first: look again after this."""


class TeamBroken(RuntimeError):
    """The ranks could not be joined: the machine's fault or the kit's."""


class RankLost(RuntimeError):
    """A rank ended or hung before it began, by what the submission's import has left to do at a fork."""

    def __init__(self, fault: RankFault) -> None:
        super().__init__(fault.kind)
        self.fault = fault


@dataclass
class _Member:
    """One rank's process."""

    pid: int
    talk: socket.socket
    value: Any = None
    peak_bytes: int = 0
    fault: RankFault | None = None
    is_gone: bool = False


@dataclass
class Outcome:
    """What came of a call."""

    values: tuple[Any, ...] | None
    report: RanksReport


@dataclass
class Team:
    """Ranks that have joined and wait for their arguments; `close` it in any case."""

    root: Path
    folder: str
    members: list[_Member] = field(default_factory=list)

    # ---- one call

    def run(
        self, scenario: str, args: Sequence[Sequence[Any]], kwargs: Mapping[str, Any], deadline_s: float
    ) -> Outcome:
        """Hand each rank its arguments and watch until all have returned, or one thing is wrong."""
        watch = Watch(len(self.members))
        began = time.monotonic()
        for member, mine in zip(self.members, args, strict=True):
            encoded, storages = wire.encode((tuple(mine), dict(kwargs)))
            with contextlib.suppress(wire.WireError):  # it died already: found below
                wire.send_frame(
                    member.talk, {"scenario": scenario, "given": encoded}, storages, time.monotonic() + 10
                )
        fault = self._watch(watch, began, deadline_s)
        report = RanksReport(
            collectives=watch.collectives(),
            peak_bytes=tuple(member.peak_bytes for member in self.members),
            fault=fault,
        )
        return Outcome(None if fault else tuple(member.value for member in self.members), report)

    def _watch(self, watch: Watch, began: float, deadline_s: float) -> RankFault | None:
        still, used = 0, -1.0
        queued_before_s = [_queued_s(member.pid) for member in self.members]
        while True:
            busy = self._listen(watch, _POLL_S)
            self._bury(watch)
            fault = self._found(watch)
            if fault is not None:
                return fault
            if all(track.end == "returned" for track in watch.tracks):
                return watch.unmatched()
            if time.monotonic() - began > deadline_s:
                queued_s = max(
                    _queued_s(member.pid) - before
                    for member, before in zip(self.members, queued_before_s, strict=True)
                )
                if time.monotonic() - began > deadline_s + min(queued_s, MOST_PATIENCE * deadline_s):
                    # On a busy machine looks take longer: a few must do.
                    return self._stuck("deadlock" if still > _FEW_POLLS else "hang", watch, deadline_s)
            if busy or not watch.everyone_waits():
                still = 0
                continue
            now = sum(_cpu_s(member.pid) for member in self.members)
            still, used = (still + 1, used) if now == used else (0, now)
            if still >= _STILL_POLLS and sys.platform.startswith("linux"):
                return self._stuck("deadlock", watch, deadline_s)

    def _found(self, watch: Watch) -> RankFault | None:
        """What is wrong, once it is clear what was wrong first."""
        if watch.mismatch is not None or watch.endless is not None:
            return watch.mismatch or watch.endless
        if not any(member.fault for member in self.members):
            return None
        until = time.monotonic() + _GRACE_S
        while time.monotonic() < until and watch.mismatch is None and watch.endless is None:
            self._listen(watch, _POLL_S)
            self._bury(watch)
        if watch.mismatch is not None:
            return watch.mismatch
        faults = [member.fault for member in self.members if member.fault]
        return min(faults, key=_precedence)

    def _stuck(self, kind: str, watch: Watch, deadline_s: float) -> RankFault:
        states = []
        for state, member in zip(watch.states(), self.members, strict=True):
            if state.status == "own_code" or state.status == "waits":
                file, line = self._where(state.rank, member)
                state = state.model_copy(update={"file": file, "line": line})
            states.append(state)
        return RankFault.model_validate({"kind": kind, "states": states, "seconds": deadline_s})

    def _where(self, rank: int, member: _Member) -> tuple[str, int]:
        """The line of the student's file that a rank is in; ("", 0) where it does not tell."""
        if rank_process.WHERE is None or member.is_gone:
            return "", 0
        path = Path(self.folder) / f"where-{rank}"
        with contextlib.suppress(OSError):
            os.kill(member.pid, rank_process.WHERE)
            for _ in range(20):
                time.sleep(0.01)
                for file, line in re.findall(r'^  File "(.*)", line (\d{1,7}) in ', path.read_text(), re.M):
                    own = load.own_file(file, self.root)
                    if own is not None:
                        return own, int(line)
                if path.stat().st_size:
                    break
        return "", 0

    # ---- listening

    def _listen(self, watch: Watch, timeout_s: float) -> bool:
        """Take in what the ranks have told by now; whether there was anything."""
        heard = False
        with selectors.DefaultSelector() as selector:
            for index, member in enumerate(self.members):
                if not member.is_gone:
                    selector.register(member.talk, selectors.EVENT_READ, index)
            if not selector.get_map():
                time.sleep(timeout_s)
                return False
            for key, _ in selector.select(timeout_s):
                heard = self._hear(watch, int(key.data)) or heard
        return heard

    def _hear(self, watch: Watch, index: int) -> bool:
        """Everything that one rank has told by now."""
        member = self.members[index]
        heard = False
        while not member.is_gone and _readable(member.talk):
            try:
                event, storages = wire.receive_frame(member.talk, time.monotonic() + 10, wire.REPLY_CAPS)
                self._take(watch, index, event, storages)
            except wire.WireClosed:
                return heard  # how it died is found when it is buried
            except (wire.WireError, Nonsense, ValidationError) as error:
                if not isinstance(error, wire.WireTruncated):
                    member.fault = member.fault or RankFault(
                        kind="tampered", rank=index, message=str(error)[:100]
                    )
                return heard
            heard = True
        return heard

    def _take(self, watch: Watch, index: int, event: dict[str, Any], storages: list[Any]) -> None:
        member, kind = self.members[index], event.get("event")
        track = watch.tracks[index]
        if track.end:
            return  # a thread of the student's that went on
        if kind == "returned":
            member.value = wire.decode(event["value"], storages)
            member.peak_bytes = max(0, int(event["peak_bytes"]))
            track.end = "returned"
        elif kind == "raised":
            error = ErrorText.model_validate(event["error"])
            member.fault = RankFault(kind="raised", rank=index, error=error)
            track.end = "raised"
        elif kind == "unsendable":
            member.fault = RankFault(kind="unsendable", rank=index, message=str(event["message"])[:300])
            track.end = "raised"
        elif kind == "tampered":
            member.fault = RankFault(kind="tampered", rank=index)
            track.end = "raised"
        else:
            watch.told(index, event)

    def _bury(self, watch: Watch) -> None:
        """Find the ranks that have ended by themselves."""
        for index, member in enumerate(self.members):
            if member.is_gone:
                continue
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(member.pid, os.WNOHANG)
                if not pid:
                    continue
                self._hear(watch, index)  # its last words
                member.is_gone = True
                track = watch.tracks[index]
                if not track.end:
                    track.end = "died"
                    member.fault = RankFault(kind="died", rank=index, message=_how(status))

    # ---- start and end

    def close(self) -> None:
        """End the ranks and whatever they have started; remove their files."""
        for member in self.members:
            with contextlib.suppress(OSError):
                os.killpg(member.pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.kill(member.pid, signal.SIGKILL)
        for member in self.members:
            if not member.is_gone:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(member.pid, 0)
            member.talk.close()
        self.members.clear()
        orphans.end_all()
        shutil.rmtree(self.folder, ignore_errors=True)


def assemble(size: int, root: Path, start: Start, private: Sequence[int]) -> Team:
    """Start `size` ranks and wait until they have joined.

    `private` are descriptors of this process that no rank may have.

    Raises:
        TeamBroken: they could not be joined.
        RankLost: one of them did not come up.
    """
    if not 1 <= size <= MOST_RANKS:
        raise ValueError(f"{size} ranks: from 1 to {MOST_RANKS} are run")
    team = Team(root, tempfile.mkdtemp(prefix="ranks-"))
    try:
        sys.stdout.flush()
        for index in range(size):
            ours, theirs = socket.socketpair()
            others = [member.talk.fileno() for member in team.members]
            pid = start(index, size, team.folder, theirs, (*private, ours.fileno(), *others))
            theirs.close()
            team.members.append(_Member(pid, ours))
        for index, member in enumerate(team.members):
            _await_ready(index, member)
    except BaseException:
        team.close()
        raise
    return team


def _await_ready(index: int, member: _Member) -> None:
    try:
        event, _ = wire.receive_frame(member.talk, time.monotonic() + _START_S)
    except wire.WireClosed:
        raise RankLost(RankFault(kind="died", rank=index, message="before it began")) from None
    except wire.WireError:
        state = RankState(rank=index, status="own_code")
        raise RankLost(RankFault(kind="hang", states=(state,), seconds=_START_S)) from None
    if event.get("event") != "ready":
        raise TeamBroken(f"rank {index} cannot join: {str(event.get('message'))[:200]}")


def _precedence(fault: RankFault) -> tuple[int, int]:
    """Of several ranks' faults the one that explains the others comes first."""
    if fault.kind == "tampered":
        return 0, fault.rank
    if fault.kind == "died":
        return 1, fault.rank
    message = fault.error.message if fault.error else ""
    by_another = "gloo" in message.lower() or "connection" in message.lower()
    return (3 if by_another else 2), fault.rank


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(ValueError):
            return f"of signal {number} ({signal.Signals(number).name})"
        return f"of signal {number}"
    return f"with exit code {os.WEXITSTATUS(status)}"


def _readable(sock: socket.socket) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def _cpu_s(pid: int) -> float:
    """Processor time of a process so far, but for gloo's own thread; 0 where the system does not tell.

    That thread looks for news a hundred times a second, about 4 ms of processor time in each: ranks that wait for
    ever would seem to work.
    """
    ticks = 0
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
                name, _, rest = file.read().rpartition(b")")
                if not name.endswith(_GLOO_THREAD):
                    fields = rest.split()
                    ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_S


def _queued_s(pid: int) -> float:
    """How long a process has waited for a core so far; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
