"""`grader roofline`: its table and pictures, what is still to do, one line for everything that is wrong."""

import itertools
import re
import shutil
import sys
from pathlib import Path

import pytest

from grader.cli import main
from grader.plots.labels import Box, Label, Obstacle, place

ROOT = Path(__file__).parents[2]
SOLUTIONS, STUBS = ROOT / "solutions", ROOT / "assignments"


class Ran:
    """What a run of the command left: exit code, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def grader(monkeypatch, capsys, tmp_path):
    """Runs `grader roofline` with these words, in an empty folder."""

    def run(*words: object) -> Ran:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["grader", "roofline", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return run


def changed_solution(tmp_path: Path, file: str, old: str, new: str) -> Path:
    """A submission that is the solution but for one text of one file."""
    root = tmp_path / "student"
    shutil.copytree(
        SOLUTIONS / "roofline", root / "roofline", ignore=shutil.ignore_patterns("hidden", "mistakes")
    )
    path = root / "roofline" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return root


def test_the_table_says_what_each_op_costs_and_what_it_waits_for(grader, tmp_path):
    ran = grader("--phase", "prefill", "--submission", SOLUTIONS)
    assert ran.code == 0
    lines = {line.split()[0]: line for line in ran.out.splitlines() if line}
    # 2·4096·4096·12288·32 FLOPs at 989.4 TFLOP/s
    assert re.match(r"qkv +32 +13.2 T +7.52 G +1755 +compute +13.3 ms +20.4 %", lines["qkv"])
    assert re.match(r"residuals +64 +1.07 G +6.44 G +0.167 +memory +1.92 ms", lines["residuals"])
    assert "the ridge is at 295 FLOP/byte" in ran.out
    assert "predicted MFU 89.0 %" in ran.out


def test_training_has_forward_and_backward_and_fits_80_columns(grader):
    ran = grader("--phase", "training", "--submission", SOLUTIONS)
    names = [line.split("  ")[0] for line in ran.out.splitlines()]
    assert {"qkv", "qkv bwd", "loss", "loss bwd"} <= set(names)
    table = [line for line in ran.out.splitlines() if line.endswith(" %") and "MFU" not in line]
    assert len(table) == 28
    assert max(map(len, table)) <= 80


def test_writes_both_pictures_small_and_the_same_each_time(grader, tmp_path):
    for name in ("one", "two.svg"):
        assert grader("--phase", "decode", "--submission", SOLUTIONS, "--out", tmp_path / name).code == 0
    for suffix in (".png", ".svg"):
        one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
        assert 5_000 < one.stat().st_size < 200_000
    svg = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert len(svg) < 80_000
    assert "attention" in svg
    assert "ridge 295" in svg


def test_the_pictures_in_the_handout_are_these(grader, tmp_path):
    # Byte for byte with the matplotlib that constraints.txt names.
    step = ("--phase", "decode", "--batch", 16, "--sequence", 1024, "--submission", SOLUTIONS)
    grader("--gpu", "rtx-4090", *step, "--out", tmp_path / "drawn")
    kept = STUBS / "roofline" / "figures" / "decode-rtx-4090.svg"
    assert (tmp_path / "drawn.svg").read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("phase", ["prefill", "decode", "training"])
@pytest.mark.parametrize("card", ["h100-sxm", "rtx-4090", "v100-sxm-32gb", "b200-sxm"])
def test_no_label_covers_another(card, phase):
    import matplotlib

    from grader.commands.roofline import Step, _Student, placed
    from grader.plots.roofline import STYLE, draw
    from specs import gpu, model

    chosen = gpu(card)
    dtype = "bf16" if "bf16" in chosen.dense_tflops else "fp16"
    ridge = chosen.peak_flops(dtype) / chosen.hbm_bytes_per_s
    step = Step(chosen, model("llama3-8b"), 4, 1024, phase, dtype)
    with matplotlib.rc_context(STYLE):  # measured as it is drawn
        axes = draw(placed(_Student(SOLUTIONS).rows(step)), chosen, dtype, ridge, "title").axes[0]
        boxes = {text.get_text(): text.get_window_extent() for text in axes.texts if not text.get_rotation()}
        boxes["legend"] = axes.get_legend().get_window_extent()
    assert len(boxes) >= 8
    for one, other in itertools.combinations(boxes, 2):
        assert not boxes[one].overlaps(boxes[other]), f"{one!r} and {other!r}"


def test_labels_that_want_one_place_spread_and_stay_inside():
    labels = [Label(100, 100, 3, 60, 10) for _ in range(8)]
    frame = Box(0, 0, 300, 200)
    boxes = place(labels, [Obstacle(Box(110, 80, 160, 120))], frame)
    for one, other in itertools.combinations(boxes, 2):
        assert one.overlap(other) == 0
    for box in boxes:
        assert box.overlap(Box(110, 80, 160, 120)) == 0
        assert box.overlap(frame) == pytest.approx(600)


def test_a_stub_is_a_todo_line_and_no_picture(grader, tmp_path):
    ran = grader("--submission", STUBS)
    assert ran.code == 1
    assert "todo: write layer_costs in roofline/layers.py (exercise roofline.layer_costs)" in ran.out
    assert len(ran.out.splitlines()) == 5
    assert ran.err == ""
    assert not list(tmp_path.iterdir())


def test_a_step_without_its_sums_is_drawn_all_the_same(grader, tmp_path):
    body = '    seconds = {"matmul": 0.0'
    root = changed_solution(tmp_path, "layers.py", body, '    raise NotImplementedError("write me")\n' + body)
    ran = grader("--submission", root)
    assert ran.code == 0
    assert "todo: step_time sums this up by kind" in ran.out
    assert "predicted MFU" in ran.out


def test_the_pictures_dots_are_the_students_own(grader, tmp_path):
    root = changed_solution(
        tmp_path, "roofline.py", "return cost.flops / moved if", "return 7 * cost.flops / moved if"
    )
    ran = grader("--phase", "decode", "--submission", root)
    assert ran.code == 0
    assert re.search(r"^qkv .* 7 +memory", ran.out, re.MULTILINE)


def test_without_matplotlib_there_is_a_table_and_one_line(grader, tmp_path, monkeypatch):
    for name in [
        name for name in sys.modules if name.split(".")[0] == "matplotlib" or name == "grader.plots.roofline"
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = grader("--submission", SOLUTIONS)
    assert ran.code == 0
    assert "predicted MFU" in ran.out
    assert ran.out.splitlines()[-1].startswith("no picture: matplotlib is not installed, pip install")
    asked = grader("--submission", SOLUTIONS, "--out", tmp_path / "picture")
    assert asked.code == 2
    assert asked.err.startswith("grader: no picture: matplotlib is not installed")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--gpu", "h100"), "no gpu 'h100': did you mean h100-"),
        (("--model", "llama2"), "no model 'llama2': did you mean llama2-"),
        (("--phase", "inference"), "--phase inference: no such phase, choose one of forward, backward"),
        (("--dtype", "bfloat16"), "--dtype bfloat16: no such format, choose one of fp64"),
        (("--gpu", "a100-sxm-80gb", "--dtype", "fp8"), "a100-sxm-80gb has no fp8 rate: it has bf16"),
        (("--submission", "nowhere"), "--submission nowhere: no such folder"),
        (("--batch", 10**40, "--submission", SOLUTIONS), "layer_costs: embedding costs a number above 1e30"),
        (("--out", "no/such/picture"), "--out no/such/picture: no folder no/such, make it first"),
        (
            ("--model", "mixtral-8x7b", "--submission", SOLUTIONS),
            "layer_costs raised ValueError: mixtral-8x7b",
        ),
    ],
)
def test_wrong_words_are_one_line(grader, tmp_path, words, message):
    ran = grader(*words)
    assert ran.code == 2
    assert ran.err.startswith(f"grader: {message}")
    assert len(ran.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "layers.py",
            "return [op for op in ops if op is not None]",
            "return 5",
            "layer_costs returned something else",
        ),
        (
            "layers.py",
            "return [op for op in ops if op is not None]",
            "return []",
            "layer_costs returned 0 ops",
        ),
        (
            "roofline.py",
            "return cost.flops / moved if",
            'return "high" if',
            "arithmetic_intensity returned 'high': a num",
        ),
        (
            "roofline.py",
            "return cost.flops / moved if",
            "return -1.0 if",
            "arithmetic_intensity returned -1.0: a num",
        ),
        (
            "roofline.py",
            "return cost.flops / moved if",
            "return 1 // 0 if",
            "arithmetic_intensity raised ZeroDivision",
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_line(grader, tmp_path, file, old, new, message):
    ran = grader("--submission", changed_solution(tmp_path, file, old, new))
    assert ran.code == 2
    assert ran.err.startswith(f"grader: {message}")
    assert len(ran.err.splitlines()) == 1


def test_names_of_ops_cannot_act_on_the_terminal_or_the_picture(grader, tmp_path):
    root = changed_solution(tmp_path, "layers.py", 'matmul("qkv"', 'matmul("$q$\\x1b[2J[red]<v>"')
    ran = grader("--phase", "decode", "--submission", root, "--out", tmp_path / "picture")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "$q$[red]<v>" in ran.out
    assert "$q$[red]&lt;v&gt;" in (tmp_path / "picture.svg").read_text(encoding="utf-8")


def test_a_time_of_nothing_is_no_division_by_zero(grader, tmp_path):
    root = changed_solution(
        tmp_path,
        "layers.py",
        "return [op for op in ops if op is not None]",
        "return [op for op in ops if op][:1]",
    )
    ran = grader("--phase", "decode", "--submission", root)
    assert ran.code == 0
    assert "not in the picture, no FLOPs or no bytes: embedding" in ran.out
