"""The watcher's logic, from what ranks tell; the formulas for bytes; the account against the loopback device."""

import re

import pytest

from grader.calls import wire_account
from grader.calls.faults import RanksHang, Tampered
from grader.calls.ranked import rank_fault, read_report
from grader.ranks.evidence import Collective, RankFault, RanksReport
from grader.ranks.watch import Nonsense, Watch
from grader.ranks.wire_formulas import sent_bytes, wire_bytes
from grader.worker.wire import WireTampered


def call(kind, number, *, elements=4, ranks=(0, 1), group="world", **more):
    """What a rank tells when a call begins."""
    return {
        "event": "begins",
        "number": number,
        "group": group,
        "kind": kind,
        "bytes": 4 * elements,
        "elements": elements,
        "dtype": "float32",
        "ranks": list(ranks),
        "phase": "",
    } | more


def collective(kind, size_bytes, ranks=(0, 1), **more):
    return Collective(
        kind=kind, bytes=size_bytes, dtype="float32", elements=size_bytes // 4, ranks=ranks, **more
    )


def watched(size, *told):
    """A watch of `size` ranks that were heard to tell (rank, event) one after the other."""
    watch = Watch(size)
    for rank, event in told:
        watch.told(rank, event)
    return watch


# ---- mismatches


def test_the_same_calls_fit():
    watch = watched(2, (0, call("all_reduce", 1)), (1, call("all_reduce", 1)))
    assert watch.mismatch is None


def test_groups_have_sequences_of_their_own():
    """Rank 1 calls on the pair first and on the world then; rank 0 the other way round."""
    pair = {"group": "pair"}
    watch = watched(
        2,
        (0, call("all_reduce", 1)),
        (0, call("broadcast", 2, peer=0, **pair)),
        (1, call("broadcast", 1, peer=0, **pair)),
        (1, call("all_reduce", 2)),
    )
    assert watch.mismatch is None


@pytest.mark.parametrize(
    "other",
    [
        call("all_gather", 1),
        call("all_reduce", 1, elements=5),
        call("all_reduce", 1, op="max"),
        call("all_reduce", 1, dtype="float64"),
        call("all_reduce", 1, ranks=(0, 1, 2)),
    ],
    ids=["kind", "size", "operation", "format", "ranks"],
)
def test_one_difference_is_a_mismatch(other):
    watch = watched(2, (0, call("all_reduce", 1)), (1, other))
    assert watch.mismatch is not None
    assert [side.rank for side in watch.mismatch.sides] == [0, 1]


def test_ragged_parts_of_a_scatter_are_no_mismatch():
    watch = watched(
        2, (0, call("scatter", 1, elements=3, peer=0)), (1, call("scatter", 1, elements=2, peer=0))
    )
    assert watch.mismatch is None


def test_messages_are_matched_in_order_by_pair_and_tag():
    watch = watched(
        2,
        (0, call("send", 1, elements=3, peer=1, tag=7)),
        (0, call("send", 2, elements=5, peer=1, tag=0)),
        (1, call("recv", 1, elements=5, peer=0, tag=0)),
        (1, call("recv", 2, elements=3, peer=0, tag=7)),
    )
    assert watch.mismatch is None
    assert watch.unmatched() is None


def test_a_lone_send_is_found_at_the_end_unless_somebody_receives_from_anywhere():
    send = (0, call("send", 1, peer=1, tag=0))
    lone = watched(2, send).unmatched()
    assert lone is not None
    assert (lone.kind, lone.sides[0].kind, lone.sides[0].number) == ("unmatched", "send", 1)
    assert watched(2, send, (1, call("recv", 1, tag=0))).unmatched() is None


# ---- who waits


def test_a_rank_waits_for_those_that_have_not_come():
    watch = watched(
        3,
        (0, call("all_reduce", 1, ranks=(0, 1, 2))),
        (2, call("all_reduce", 1, ranks=(0, 1, 2))),
        (0, {"event": "waits", "number": 1}),
    )
    state = watch.states()[0]
    assert (state.status, state.kind, state.number, state.waits_for) == ("waits", "all_reduce", 1, (1,))
    assert watch.states()[1].status == "own_code"
    assert not watch.everyone_waits()


def test_everyone_waits_once_the_others_have_ended():
    watch = watched(2, (0, call("recv", 1, peer=1, tag=0)), (0, {"event": "waits", "number": 1}))
    watch.tracks[1].end = "returned"
    assert watch.everyone_waits()


def test_who_is_through_waits_no_more():
    watch = watched(
        1,
        (0, call("barrier", 1, ranks=(0,))),
        (0, {"event": "waits", "number": 1}),
        (0, {"event": "done", "number": 1}),
    )
    assert watch.states()[0].status == "own_code"


# ---- what no recorder tells


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"event": "begins"},
        {"event": "waits", "number": 1},
        {"event": "done", "number": "1"},
        {"event": "sings", "number": 1},
        call("all_reduce", 2),
        call("all_reduce", 1, bytes=-4),
        call("all_reduce", 1, ranks=["x"]),
        call("all_reduce", 1, ranks=[0, 99]),
        call("sings", 1),
        call("send", 1, peer=1, tag=[]),
    ],
)
def test_nonsense_is_told_so(event):
    with pytest.raises(Nonsense):
        Watch(2).told(0, event)


@pytest.mark.parametrize(
    "report", [None, "{}", b"[]", b'{"collectives": 3}', b'{"fault": {"kind": "sings"}}']
)
def test_a_report_of_the_wrong_form_is_tampering(report):
    with pytest.raises(WireTampered):
        read_report(report)


def test_a_report_comes_back_as_it_was():
    report = RanksReport(collectives=((collective("send", 8, peer=1),),), peak_bytes=(3,))
    assert read_report(report.model_dump_json().encode()) == report


# ---- in words


def test_a_chain_of_waiting_ends_at_who_moves_last():
    fault = RankFault.model_validate(
        {
            "kind": "hang",
            "seconds": 5.0,
            "states": [
                {"rank": 0, "status": "waits", "kind": "recv", "number": 2, "waits_for": [1]},
                {"rank": 1, "status": "waits", "kind": "all_reduce", "number": 1, "waits_for": [0, 2]},
                {"rank": 2, "status": "own_code", "number": 0, "file": "sharding/ring.py", "line": 3},
            ],
        }
    )
    told = rank_fault("f", fault, lambda file, line: "x = 1")
    assert isinstance(told, RanksHang)
    assert told.message == (
        "f: rank 0 waits in recv number 2 for rank 1, which waits in all_reduce number 1 for ranks 0 and 2; rank 2 is "
        "still in its own code, having called nothing yet at sharding/ring.py, line 3: x = 1 (after 5 s)"
    )
    assert "x = 1" not in told.hidden_message


def test_a_hidden_check_shows_no_number_that_a_submission_could_choose():
    side = {"kind": "all_reduce", "number": 777, "dtype": "float32"}
    mismatch = RankFault.model_validate(
        {
            "kind": "mismatch",
            "sides": [{"rank": 0, "elements": 888, **side}, {"rank": 1, "elements": 999, **side}],
        }
    )
    waits = {"status": "waits", "kind": "send", "number": 777, "waits_for": [1]}
    stuck = RankFault.model_validate(
        {"kind": "deadlock", "states": [{"rank": 0, **waits}, {"rank": 1, "status": "returned"}]}
    )
    lone = RankFault.model_validate(
        {"kind": "unmatched", "sides": [{"rank": 0, "elements": 888, "peer": 1, **side, "kind": "send"}]}
    )
    died = RankFault(kind="died", rank=1, message="with exit code 77")
    for fault in (mismatch, stuck, lone, died):
        told = rank_fault("f", fault, lambda file, line: "")
        assert "77" in told.message
        assert not re.search(r"77|88|99", told.hidden_message)
        assert "rank 1" in told.hidden_message


def test_a_place_outside_of_the_submission_is_not_shown():
    fault = RankFault.model_validate(
        {
            "kind": "hang",
            "seconds": 1.0,
            "states": [{"rank": 0, "status": "own_code", "file": "/etc/passwd", "line": 1}],
        }
    )
    assert "passwd" not in rank_fault("f", fault, lambda file, line: "").message


def test_tampering_on_a_rank_is_integrity():
    assert isinstance(rank_fault("f", RankFault(kind="tampered", rank=1), lambda file, line: ""), Tampered)


# ---- bytes


@pytest.mark.parametrize(
    ("kind", "each"),
    [
        ("all_reduce", 2 * 3 * 300),
        ("reduce_scatter", 3 * 300),
        ("all_gather", 3 * 300),
        ("all_to_all", 3 * 300),
        ("broadcast", 3 * 300),
        ("reduce", 3 * 300),
        ("gather", 3 * 1200 // 4),  # all but the root send 1200
        ("scatter", 3 * 1200 // 4),  # the root sends three times 1200
        ("barrier", 0),
        ("recv", 0),
        ("send", 1200),
    ],
)
def test_what_a_rank_of_four_sends_of_1200_bytes(kind, each):
    """A ring passes on pieces of 300 bytes three times; an all-reduce twice as often."""
    assert sent_bytes(collective(kind, 1200, (0, 1, 2, 3))) == each


def test_ragged_all_gathers_are_counted_exactly():
    """7 elements of 4 bytes on 3 ranks: each piece is sent twice, 56 bytes in all."""
    assert wire_bytes([[collective("all_gather", 28, (0, 1, 2))]] * 3) == 56


def test_what_gloo_was_measured_to_send_is_no_contradiction():
    """Measured in the sandbox with torch 2.13: kind, ranks, bytes, calls, bytes on the loopback device."""
    for kind, ranks, size_bytes, calls, carried in (
        ("all_reduce", 4, 48, 20, 255_632),
        ("all_reduce", 2, 4_800_000, 2, 19_228_208),
        ("reduce_scatter", 4, 48, 20, 498_884),
        ("reduce_scatter", 4, 4_800_000, 2, 57_810_172),
        ("reduce", 2, 4_800_000, 2, 17_127_408),
        ("all_gather", 3, 48_000, 5, 518_504),
        ("barrier", 4, 0, 20, 55_396),
        ("all_to_all", 4, 4_800_000, 2, 28_879_058),
    ):
        told = [[collective(kind, size_bytes, tuple(range(ranks)))] * calls] * ranks
        assert wire_account.contradiction(told, carried) == "", kind


def test_small_messages_that_were_never_sent_are_a_contradiction_too():
    """Of 12 sends of 4 bytes their own frames remain; ranks that send nothing leave 0.6 kB."""
    told = [[collective("send", 4, (0, 1, 2), peer=1)] * 4] * 3
    assert "never on the wire" in wire_account.contradiction(told, 600)
    assert wire_account.contradiction(told, 5_300) == ""


def test_a_silent_all_reduce_of_a_megabyte_is_a_contradiction():
    told = [[collective("barrier", 0)], [collective("barrier", 0)]]
    assert "more over the network" in wire_account.contradiction(told, 2_000_000)


def test_messages_that_were_never_sent_are_a_contradiction():
    told = [[collective("send", 1_000_000, peer=1)], [collective("recv", 1_000_000, peer=0)]]
    assert "never on the wire" in wire_account.contradiction(told, 900_000)
    assert wire_account.contradiction(told, 1_006_000) == ""
