"""What attention without tiles earns in the exercise on tiles."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("assignments/flash_attention/test_tiled.py", "solutions/flash_attention/hidden/test_tiled.py")
WITHOUT_A_MATRIX = {
    "test_never_makes_the_whole_matrix",
    "test_never_makes_a_mask_of_all_pairs",
    "test_any_attention_without_a_matrix",
    "test_any_causal_attention_without_a_matrix",
}


def weights() -> dict[str, int]:
    """Of each check of tiled_attention, visible and hidden, by its name."""
    found = {}
    for file in FILES:
        for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
            for marker in getattr(node, "decorator_list", []):
                if "tiled_attention" in ast.unparse(marker):
                    given = {each.arg: ast.literal_eval(each.value) for each in marker.keywords}
                    found[node.name] = given.get("weight", 1)
    return found


def test_attention_without_tiles_earns_half_at_most():
    """Its numbers are right: only the checks that look for a T × T tensor tell it from tiles."""
    found = weights()
    assert set(found) >= WITHOUT_A_MATRIX
    tiles = sum(found[name] for name in WITHOUT_A_MATRIX)
    assert 2 * tiles >= sum(found.values())
