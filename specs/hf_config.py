"""Reads a Hugging Face `config.json` into a `Model`, or says in one line which field is not understood.

Every field must be read by its family or be known to change no count: an unknown one is refused, since a
model that is nearly right would give a number that is quietly wrong. Where a file leaves a field out, the
library's own default for that family counts (GPT-2 ties its embeddings, Llama does not); a size that is left
out is refused.

Not counted: the multi-token prediction module of DeepSeek-V3 (`num_nextn_predict_layers`), which is a second
small model beside the main one, and the scales that a quantised checkpoint stores (`quantization_config`).
"""

import json
from pathlib import Path
from typing import Any

from specs.hf_families import FAMILIES
from specs.hf_fields import HARMLESS, HARMLESS_IN, ONLY, Fields, HfFields
from specs.model import Model, unknown_name
from specs.schema import SpecError, validate


def from_hf_config(config: Fields | Path, name: str | None = None) -> Model:
    """Return the model that a Hugging Face config.json describes.

    Args:
        config: the parsed file, or the path of it or of the folder that holds it.
        name: the model's name; otherwise the last part of `_name_or_path`, or the family.

    Raises:
        SpecError: one line that says which field is missing, wrong or not understood.
    """
    data, where = (_read_json(config), str(config)) if isinstance(config, Path) else (config, "config")
    if not isinstance(data, dict):
        raise SpecError(
            f"{where}: expected an object with the fields of a config.json, got {type(data).__name__}"
        )
    fields = HfFields(data, where)
    family = data.get("model_type")
    if family is None:
        raise fields.refuse(
            "model_type", f"missing, so the family is not known; one of {', '.join(FAMILIES)}"
        )
    if not isinstance(family, str) or family not in FAMILIES:
        raise fields.refuse("model_type", unknown_name("family", str(family), FAMILIES))
    heads = data.get("architectures") or []
    for head in heads if isinstance(heads, list) else [heads]:
        if not str(head).endswith(("ForCausalLM", "LMHeadModel")):
            raise fields.refuse(
                "architectures", f"{head!r} is not a language model: its head is not understood"
            )
    for field, understood in ONLY.items():
        fields.only(field, *understood)
    architecture = FAMILIES[family](fields)
    fields.finish(HARMLESS | HARMLESS_IN.get(family, frozenset()))
    called = name or str(data.get("_name_or_path") or family).rstrip("/").rpartition("/")[2] or family
    model: Model = validate(
        Model, {"name": called, "source": f"config.json ({family})", **architecture}, where
    )
    return model


def _read_json(path: Path) -> Any:
    path = path / "config.json" if path.is_dir() else path
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file") from None
    except json.JSONDecodeError as error:
        raise SpecError(f"{path}, line {error.lineno}: not valid JSON ({error.msg})") from None
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise SpecError(f"{path}: cannot be read as UTF-8 text ({error})") from None
