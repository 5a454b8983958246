"""What a student hears of an RMSNorm kernel that is wrong as none of the mistakes is."""

from pathlib import Path

from grader.commands.learn import visible_session
from grader.kit import Kit
from grader.report import Outcome
from tests.grader.small_kernels import on_linux

pytestmark = on_linux

ROOT = Path(__file__).resolve().parents[2]
EXERCISE = "flash_attention.rms_norm_triton"


def test_a_norm_of_nothing_but_zeros_is_not_said_to_square_in_fp16(tmp_path):
    """A mean square that overflows makes zeros too: only who passes in bf16 can have done that."""
    kit = Kit(ROOT, ROOT / "solutions")
    text = (kit.solutions / "flash_attention" / "norms.py").read_text(encoding="utf-8")
    line = "out = x * tl.rsqrt(mean_square + eps) * weight"
    assert line in text
    folder = tmp_path / "flash_attention"
    folder.mkdir()
    (folder / "norms.py").write_text(text.replace(line, "out = x * 0.0"), encoding="utf-8")
    report = visible_session(kit, tmp_path, ["flash_attention"], [EXERCISE]).report()
    checks = next(each.checks for each in report.exercises if each.id == EXERCISE)
    assert {check.outcome for check in checks} == {Outcome.FAILED}
    assert [check.mistake for check in checks if check.mistake] == []
