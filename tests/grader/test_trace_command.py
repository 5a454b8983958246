"""`grader trace`: tables, remedy, picture and JSON of traces that are in order, by the student's functions."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from grader.cli import main
from grader.commands import trace as command
from specs.traces import Piece, make_ranks, make_trace, write_trace

ROOT = Path(__file__).parents[2]
SOLUTIONS, STUBS = ROOT / "solutions", ROOT / "assignments"
REMEDIES = {
    "matmul": "fine",
    "memory_bound": "fuse",
    "exposed_communication": "overlap",
    "idle_data": "loader",
    "idle_host": "launch_bound",
}


class Ran:
    """What a run of the command left: exit code, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def grader(monkeypatch, capsys, tmp_path):
    """Runs `grader trace` with these words, in an empty folder, with the solutions unless told otherwise."""

    def run(*words: object, submission: Path = SOLUTIONS) -> Ran:
        where = tmp_path / "here"
        where.mkdir(exist_ok=True)
        monkeypatch.chdir(where)
        words = ("grader", "trace", *words, "--submission", submission)
        monkeypatch.setattr(sys, "argv", [str(word) for word in words])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return run


def pictures(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "here").iterdir())


def changed_solution(tmp_path: Path, file: str, old: str, new: str) -> Path:
    """A submission that is the solution but for one text of one file."""
    root = tmp_path / "student"
    ignored = shutil.ignore_patterns("hidden", "mistakes", "__pycache__")
    shutil.copytree(SOLUTIONS / "profiling", root / "profiling", ignore=ignored)
    path = root / "profiling" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return root


@pytest.mark.parametrize("mostly", REMEDIES)
def test_each_kind_of_step_gets_its_remedy(grader, tmp_path, mostly):
    trace, truths = make_trace(3, mostly=mostly)
    ran = grader(write_trace(trace, tmp_path / "run.json"))
    assert ran.code == 0
    assert re.search(rf"^{REMEDIES[mostly]}: .* of the time: ", ran.out, re.MULTILINE)
    truth = truths[0]
    matmul = f"{truth.matmul_ns / truth.duration_ns:.1%}".replace("%", " %")
    assert re.search(rf"^10 +{truth.duration_ns / 1e6:.3g} ms +{re.escape(matmul)} ", ran.out, re.MULTILINE)
    assert max(map(len, ran.out.splitlines()[:6])) <= 80
    assert pictures(tmp_path) == ["trace-run.png", "trace-run.svg"]


def test_json_is_the_truth_and_draws_nothing_unasked(grader, tmp_path):
    trace, truths = make_trace(2, mostly="exposed_communication", ranks=2, rank=1)
    ran = grader(write_trace(trace, tmp_path / "run.json.gz"), "--json")
    assert ran.code == 0
    (found,) = json.loads(ran.out)["traces"]
    assert (found["rank"], found["world_size"], found["cpu_only"]) == (1, 2, False)
    assert found["devices"] == ["NVIDIA H100 80GB HBM3"]
    for step, truth in zip(found["steps"], truths, strict=True):
        assert step["step"] == truth.step
        assert step["remedy"]["name"] == "overlap"
        for name, seconds in truth.seconds().items():
            assert step[name] == pytest.approx(seconds, abs=1e-6)
    assert {kernel["kind"] for kernel in found["kernels"]} >= {"matmul", "memory_bound", "communication"}
    assert pictures(tmp_path) == []


def test_kernels_of_one_name_are_one_line_the_longest_first(grader, tmp_path):
    path = write_trace(make_trace(3, mostly="memory_bound")[0], tmp_path / "run.json")
    ran = grader(path)
    rows = ran.out[ran.out.index("kernel  ") :].splitlines()[1:12]
    assert all(re.match(r"\S.{,40} +[a-z_]+ +\d+ +[\d.]+ [mµ]s +\d+\.\d %", row) for row in rows[:10])
    assert re.match(r"\d+ more +\d+ +[\d.]+ ms", rows[10])
    # Names of ATen begin with what tells them from another.
    assert any(
        row.startswith(("vectorized_elementwise", "reduce_kernel<", "multi_tensor_apply")) for row in rows
    )
    kernels = json.loads(grader(path, "--json").out)["traces"][0]["kernels"]
    times = [kernel["total_s"] for kernel in kernels]
    assert times == sorted(times, reverse=True)
    assert len({kernel["name"] for kernel in kernels}) == len(kernels)


def test_the_picture_is_small_searchable_and_the_same_each_time(grader, tmp_path):
    path = write_trace(make_trace(3, mostly="idle_data")[0], tmp_path / "run.json")
    for name in ("one", "two.svg"):
        assert grader(path, "--out", tmp_path / name).code == 0
    for suffix in (".png", ".svg"):
        one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
        assert 10_000 < one.stat().st_size < 300_000
    svg = (tmp_path / "one.svg").read_text(encoding="utf-8")
    for text in (
        "stream 7",
        "stream 20",
        "all together",
        "step 10",
        "step 12",
        "idle: data",
        "idle: host",
        "matmul",
    ):
        assert f">{text}<" in svg


def test_a_long_trace_is_drawn_in_part_and_says_so(grader, tmp_path):
    path = write_trace(make_trace(3, steps=5, step_ns=300_000)[0], tmp_path / "run.json")
    assert grader(path, "--out", tmp_path / "one").code == 0
    assert "steps 10 to 12, the first of 5" in (tmp_path / "one.svg").read_text(encoding="utf-8")


def test_more_kernels_than_an_eye_parts_are_drawn_as_shares(grader, tmp_path):
    pieces = [Piece("matmul" if n % 2 else "memory_bound", 2_000) for n in range(6_000)]
    path = write_trace(make_trace(pieces=[pieces], nested=False)[0], tmp_path / "run.json")
    assert grader(path, "--out", tmp_path / "dense").code == 0
    svg = (tmp_path / "dense.svg").read_text(encoding="utf-8")
    assert "too many kernels to be told apart: heights are shares of 0.03 ms each" in svg
    assert len(svg) < 150_000


def test_a_list_of_events_a_byte_order_mark_and_a_wrong_ending_are_read(grader, tmp_path):
    trace, _ = make_trace(1)
    wanted = grader(write_trace(trace, tmp_path / "plain.json"), "--json").out
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(trace["traceEvents"]), encoding="utf-8-sig")
    packed = write_trace(trace, tmp_path / "packed.json.gz").rename(tmp_path / "packed.json")
    for path in (bare, packed):
        got = json.loads(grader(path, "--json").out)["traces"][0]
        assert got["steps"] == json.loads(wanted)["traces"][0]["steps"]


def test_amd_names_and_old_whole_microseconds_are_read(grader, tmp_path):
    trace, truths = make_trace(4, device="rocm", whole_microseconds=True)
    (found,) = json.loads(grader(write_trace(trace, tmp_path / "amd.json"), "--json").out)["traces"]
    assert found["devices"] == ["AMD Instinct MI300X"]
    assert found["steps"][1]["attention_s"] == pytest.approx(truths[1].attention_ns / 1e9, abs=1e-6)


def test_a_trace_of_a_cpu_says_so_and_shows_self_times(grader, tmp_path):
    trace, truths = make_trace(4, device="cpu", mostly="idle_data")
    path = write_trace(trace, tmp_path / "cpu.json")
    ran = grader(path)
    assert "no work on a device in it: the CPU's operators are taken as the kernels" in ran.out
    assert ran.out.count("loader: ") == 1
    assert "autograd::engine" not in ran.out
    (found,) = json.loads(grader(path, "--json").out)["traces"]
    by_class: dict[str, float] = {}
    for kernel in found["kernels"]:
        by_class[kernel["kind"]] = by_class.get(kernel["kind"], 0.0) + kernel["total_s"]
    for name in ("matmul", "attention", "memory_bound"):
        assert by_class[name] == pytest.approx(
            sum(getattr(each, f"{name}_ns") for each in truths) / 1e9, abs=1e-5
        )


def test_a_folder_of_ranks_names_the_straggler(grader, tmp_path):
    folder = tmp_path / "ranks"
    folder.mkdir()
    for rank, (trace, _) in enumerate(make_ranks(3, straggler=1, seed=2)):
        write_trace(trace, folder / f"host{2 - rank}.json")  # the files' order is not that of the ranks
    ran = grader(folder)
    assert ran.code == 0
    heads = [line for line in ran.out.splitlines() if line.startswith("rank ") and "steps" in line]
    assert [line.split(",")[0] for line in heads] == ["rank 0", "rank 1", "rank 2"]
    assert re.search(r"^straggler: rank 1 works .* they wait for it in exposed communication$", ran.out, re.M)
    assert pictures(tmp_path) == ["trace-ranks.png", "trace-ranks.svg"]
    svg = (tmp_path / "here" / "trace-ranks.svg").read_text(encoding="utf-8")
    assert ">rank 2<" in svg
    assert "straggler: rank 1" in json.loads(grader(folder, "--json").out)["ranks"]


def test_ranks_that_are_alike_have_no_straggler(grader, tmp_path):
    paths = [write_trace(trace, tmp_path / f"{n}.json") for n, (trace, _) in enumerate(make_ranks(2))]
    assert re.search(r"^no straggler: rank \d, the slowest, works", grader(*paths).out, re.M)


def test_files_that_do_not_know_their_rank_are_no_ranks(grader, tmp_path):
    paths = [write_trace(make_trace(seed)[0], tmp_path / f"run{seed}.json") for seed in (1, 2)]
    ran = grader(*paths)
    assert "run1.json, NVIDIA" in ran.out
    assert "run2.json, NVIDIA" in ran.out
    assert "straggler" not in ran.out


def test_a_rank_may_stand_in_the_name_of_the_file(grader, tmp_path):
    paths = [write_trace(make_trace(seed)[0], tmp_path / f"trace_rank-{seed}.json") for seed in (1, 2)]
    assert "rank 2, NVIDIA" in grader(*paths).out


def test_many_ranks_are_drawn_as_far_as_they_fit(grader, tmp_path):
    folder = tmp_path / "ranks"
    folder.mkdir()
    for rank, (trace, _) in enumerate(make_ranks(9, steps=1, step_ns=200_000)):
        write_trace(trace, folder / f"{rank}.json")
    assert grader(folder, "--out", tmp_path / "some").code == 0
    assert "more ranks are not drawn" in (tmp_path / "some.svg").read_text(encoding="utf-8")


def test_of_many_large_traces_only_the_first_stay_in_memory(grader, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "MOST_DRAWN_EVENTS", 100)
    paths = [
        write_trace(trace, tmp_path / f"{n}.json") for n, (trace, _) in enumerate(make_ranks(3, steps=2))
    ]
    ran = grader(*paths, "--out", tmp_path / "some")
    assert ran.out.count(", 2 steps") == 3
    assert "2 more ranks are not drawn" in (tmp_path / "some.svg").read_text(encoding="utf-8")


def test_two_traces_of_one_rank_are_refused(grader, tmp_path):
    paths = [write_trace(make_trace(seed, ranks=2)[0], tmp_path / f"{seed}.json") for seed in (1, 2)]
    ran = grader(*paths)
    assert ran.code == 2
    assert "2.json: both are of rank 0, give one trace a rank" in ran.err


def test_the_mfu_is_that_of_the_students_functions(grader, tmp_path):
    path = write_trace(make_trace(1, step_ns=1_000_000_000)[0], tmp_path / "run.json")
    ran = grader(path, "--model", "llama2-7b", "--batch", 2, "--sequence", 4096, "--gpu", "h100-sxm")
    # (6·6,607,077,376 + 12·32·4096·4096) FLOPs a token, 8192 tokens a step, over the steps' time at 989.4 TFLOP/s
    found = json.loads(grader(path, "--json").out)["traces"][0]
    seconds = sum(step["duration_s"] for step in found["steps"])
    share = (6 * 6_607_077_376 + 12 * 32 * 4096 * 4096) * 8192 * 3 / seconds / 989.4e12
    assert float(re.search(r"^MFU ([\d.]+) %$", ran.out, re.M)[1]) == pytest.approx(100 * share, abs=0.1)
    ran = grader(path, "--model", "llama2-7b", "--batch", 64)
    assert re.search(r"^MFU [\d.]+ %, above the card's peak: are --gpu", ran.out, re.M)


def test_without_achieved_mfu_the_rest_is_shown(grader, tmp_path):
    path = write_trace(make_trace(1)[0], tmp_path / "run.json")
    root = changed_solution(
        tmp_path, "efficiency.py", "    steps = [", '    raise NotImplementedError("x")\n    steps = ['
    )
    ran = grader(path, "--model", "gpt2", submission=root)
    assert ran.code == 0
    assert "todo: the MFU needs achieved_mfu (profiling/efficiency.py), parameter_count" in ran.out
    assert "fine: matmuls" in ran.out


def test_a_stub_is_todo_lines_and_no_picture(grader, tmp_path):
    path = write_trace(make_trace(1)[0], tmp_path / "run.json")
    ran = grader(path, submission=STUBS)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert len(lines) == 4
    wanted = (
        "todo: write classify_kernel in profiling/kernels.py (exercise profiling.classify_kernel), the table"
    )
    assert lines[0].startswith(wanted)
    assert pictures(tmp_path) == []
    assert json.loads(grader(path, "--json", submission=STUBS).out)["todo"] == lines


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "kernels.py",
            'return "copy"',
            'return "Copies"',
            "classify_kernel returned 'Copies': one of matmul, att",
        ),
        ("kernels.py", "if _COPY.match(name):", "if 1 // 0:", "classify_kernel raised ZeroDivisionError"),
        (
            "intervals.py",
            "    return union(found)",
            "    return [1]",
            "busy_intervals returned [1]: pairs of nano",
        ),
        (
            "breakdown.py",
            "    return found\n    ### END",
            "    return 5\n    ### END",
            "step_breakdown returned some",
        ),
        (
            "breakdown.py",
            "    return found\n    ### END",
            "    return []\n    ### END",
            "step_breakdown returned steps n",
        ),
        (
            "breakdown.py",
            'ns["copy"] / 1e9',
            'float("nan")',
            "step_breakdown: step 10: copy_s is nan: seconds",
        ),
        (
            "remedies.py",
            "    return Remedy",
            "    return seconds and 7\n    return Remedy",
            "remedy returned 7: a Rem",
        ),
    ],
)
def test_what_cannot_be_shown_is_one_line(grader, tmp_path, file, old, new, message):
    path = write_trace(make_trace(1)[0], tmp_path / "run.json")
    ran = grader(path, submission=changed_solution(tmp_path, file, old, new))
    assert ran.code == 2
    assert ran.err.startswith(f"grader: {message}")
    assert len(ran.err.splitlines()) == 1


def test_parts_that_cannot_be_are_said(grader, tmp_path):
    path, old = write_trace(make_trace(1)[0], tmp_path / "run.json"), 'ns["matmul"] / '
    for factor, says in (("2 *", "its parts add up to .* ms, and it takes"), ("-", "below 0: matmul; more")):
        root = changed_solution(tmp_path / says[:5], "breakdown.py", old, factor + old)
        assert re.search(f"^step 10: {says}", grader(path, submission=root).out, re.M)


def test_without_matplotlib_there_is_a_table_and_one_line(grader, tmp_path, monkeypatch):
    path = write_trace(make_trace(1)[0], tmp_path / "run.json")
    for name in list(sys.modules):
        if name.split(".")[0] == "matplotlib" or name in ("grader.plots.timeline", "grader.traces.pictures"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = grader(path)
    assert ran.code == 0
    assert ran.out.splitlines()[-1].startswith("no picture: matplotlib is not installed, pip install")
    asked = grader(path, "--out", tmp_path / "picture")
    assert asked.code == 2
    assert asked.err.startswith("grader: no picture: matplotlib is not installed")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--dtype", "bfloat16"), "--dtype bfloat16: no such format, choose one of fp64"),
        (("--model", "llama2"), "no model 'llama2': did you mean llama2-"),
        (("--model", "gpt2", "--gpu", "h100"), "no gpu 'h100': did you mean h100-"),
        (("--out", "no/such/picture"), "--out no/such/picture: no folder no/such, make it first"),
    ],
)
def test_wrong_words_are_one_line(grader, tmp_path, words, message):
    path = write_trace(make_trace(1)[0], tmp_path / "run.json")
    ran = grader(path, *words)
    assert ran.code == 2
    assert ran.err.startswith(f"grader: {message}")
    assert len(ran.err.splitlines()) == 1
    assert pictures(tmp_path) == []


def test_a_submission_without_the_assignment_is_refused(grader, tmp_path):
    path = write_trace(make_trace(1)[0], tmp_path / "run.json")
    ran = grader(path, submission=tmp_path / "nowhere")
    assert ran.code == 2
    assert "nowhere: no such folder" in ran.err


def test_names_cannot_act_on_the_terminal_or_the_picture(grader, tmp_path):
    trace, _ = make_trace(1)
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel":
            event["name"] = "gemm\x1b[2J[red]<b>$x$\u202e"
            event["args"]["stream"] = "\x1b]0;<t>\x07"
        if event["ph"] == "M":
            event["args"]["name"] = "\x1b[1m"
    trace["deviceProperties"][0]["name"] = "H100\x1b[5m"
    name = tmp_path / "a\x1b[31m<i>.json"
    ran = grader(write_trace(trace, name), "--out", tmp_path / "picture")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "gemm[red]<b>$x$" in ran.out
    assert "a<i>.json, H100, 3 steps" in ran.out
    svg = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert "a&lt;i&gt;.json" in svg
    assert "\x1b" not in svg
    assert "\x1b" not in grader(name, "--json").out
    assert os.listdir(tmp_path / "here") == []
