"""Inline PTX on numpy arrays: `tl.inline_asm_elementwise` with the instructions that public kernels use.

Semantics: the PTX ISA, chapter "Instruction Set". An instruction that is not listed here raises NeedsGpu.
"""

import re
from typing import Any

import numpy as np

from ..faults import NeedsGpu
from . import patches
from .libdevice import where
from .number_formats import Array
from .ptx_instructions import COMPUTE, Unknown, compare, convert
from .ptx_types import TYPES, from_bits, literal, to_bits

_SEPARATOR = re.compile(r",(?![^{]*\})")
_DECLARED = re.compile(r"([%\w$]+)(?:<(\d+)>)?$")
_WORD_BITS = 32


class _Results:
    """What the interpreter's caller takes its outputs from."""

    def __init__(self, handles: list[Any]) -> None:
        self._handles = handles

    def get_result(self, index: int) -> Any:
        """The output of this number."""
        return self._handles[index]


def mend(interpreter: Any) -> None:
    """Give the builder inline assembly."""
    handle = interpreter.TensorHandle

    def create_inline_asm(
        self: Any, asm: str, constraints: str, values: list[Any], types: Any, is_pure: bool, pack: int
    ) -> Any:
        targets = [interpreter._get_np_dtype(target) for target in types]
        shape = values[0].data.shape if values else tuple(getattr(types[0], "shape", ())) or (1,)
        try:
            outputs = run(asm, constraints, [value.data for value in values], targets, shape, pack)
        except Unknown as unknown:
            raise NeedsGpu(
                f"inline PTX `{unknown}` cannot be emulated, only a GPU runs it ({where()})"
            ) from None
        return _Results([handle(data, kind.scalar) for data, kind in zip(outputs, types, strict=True)])

    patches.replace(interpreter.InterpreterBuilder, "create_inline_asm", create_inline_asm)


def run(
    asm: str,
    constraints: str,
    inputs: list[Array],
    targets: list[np.dtype[Any]],
    shape: tuple[int, ...],
    pack: int,
) -> list[Array]:
    """Outputs of shape `shape`, for inputs of that shape; `pack` elements at a time share an instance of the text.

    Raises Unknown with the instruction that is not known.
    """
    instances = int(np.prod(shape)) // pack
    counts = [_registers_of(target, pack) for target in targets]
    registers = [word for data in inputs for word in _to_registers(data, instances, pack)]
    first_input = sum(counts)
    named = {f"${first_input + number}": word for number, word in enumerate(registers)}
    kinds = [part.strip() for part in constraints.split(",") if not part.strip().startswith("~")]
    for number, kind in enumerate(kinds[first_input:]):
        if kind.isdigit():
            # An input that is to be in the register of an output.
            named[f"${kind}"] = registers[number]
    machine = _Machine(named, instances)
    machine.execute(asm)
    outputs, number = [], 0
    for target, count in zip(targets, counts, strict=True):
        words = [machine.word(f"${number + offset}") for offset in range(count)]
        outputs.append(_from_registers(words, target, pack).reshape(shape))
        number += count
    return outputs


def _elements_of_register(dtype: np.dtype[Any], pack: int) -> int:
    return min(max(_WORD_BITS // (8 * dtype.itemsize), 1), pack)


def _registers_of(dtype: np.dtype[Any], pack: int) -> int:
    return pack // _elements_of_register(dtype, pack)


def _to_registers(data: Array, instances: int, pack: int) -> list[Array]:
    together = _elements_of_register(data.dtype, pack)
    bits = np.ascontiguousarray(data).view(np.dtype(f"u{data.dtype.itemsize}")).astype(np.uint64)
    lanes = np.broadcast_to(bits.reshape(-1), (instances * pack,)).reshape(
        instances, pack // together, together
    )
    shifts = np.arange(together, dtype=np.uint64) * np.uint64(8 * data.dtype.itemsize)
    words = np.bitwise_or.reduce(lanes << shifts, axis=-1)
    return [words[:, number] for number in range(pack // together)]


def _from_registers(words: list[Array], target: np.dtype[Any], pack: int) -> Array:
    together = _elements_of_register(target, pack)
    shifts = np.arange(together, dtype=np.uint64) * np.uint64(8 * target.itemsize)
    lanes = np.stack(words, axis=-1)[..., None] >> shifts
    narrow = np.ascontiguousarray(lanes.astype(np.dtype(f"u{target.itemsize}")))
    return narrow.view(target) if target != np.bool_ else narrow.astype(bool)


class _Machine:
    """Registers by name, each the bits of all instances, and the instructions that change them."""

    def __init__(self, registers: dict[str, Array], instances: int) -> None:
        self._registers = registers
        self._instances = instances

    def word(self, operand: str) -> Array:
        """The bits of a register or of a literal."""
        if operand in self._registers:
            return self._registers[operand]
        number = literal(operand)
        if number is None:
            raise Unknown(operand)
        return np.full(self._instances, number, dtype=np.uint64)

    def execute(self, text: str) -> None:
        """All instructions of a text, in order."""
        text = re.sub(r"/\*.*?\*/", " ", re.sub(r"//[^\n]*", " ", text), flags=re.DOTALL)
        for statement in text.split(";"):
            # Scopes: one instruction's own braces come after its name.
            statement = " ".join(statement.split()).lstrip("{} ")
            if statement:
                self._statement(statement)

    def _statement(self, statement: str) -> None:
        if statement.startswith(".reg"):
            self._declare(statement)
            return
        guard = None
        if statement.startswith("@"):
            condition, _, statement = statement.partition(" ")
            guard = self.word(condition.lstrip("@!")) != 0
            guard = ~guard if condition.startswith("@!") else guard
        name, _, rest = statement.partition(" ")
        operands = [operand.strip() for operand in _SEPARATOR.split(rest)]
        mnemonic, *suffixes = name.split(".")
        try:
            self._instruction(mnemonic, suffixes, operands, guard)
        except (Unknown, KeyError, ValueError, IndexError, TypeError):
            # Operands of another number or of a type that is not known, too: the whole instruction is named.
            raise Unknown(statement) from None

    def _declare(self, statement: str) -> None:
        for part in statement.split(",") if "," in statement else [statement]:
            matched = _DECLARED.search(part.strip())
            if matched is None:
                raise Unknown(statement)
            name, count = matched.groups()
            for declared in [name] if count is None else [f"{name}{number}" for number in range(int(count))]:
                self._registers[declared] = np.zeros(self._instances, dtype=np.uint64)

    def _instruction(
        self, mnemonic: str, suffixes: list[str], operands: list[str], guard: Array | None
    ) -> None:
        target, *sources = operands
        if mnemonic == "griddepcontrol":
            # Kernels run one after the other here.
            return
        if mnemonic == "mov":
            self._move(target, sources[0], suffixes[-1], guard)
        elif mnemonic == "cvt":
            self._set(target, convert(suffixes, [self.word(source) for source in sources]), guard)
        elif mnemonic == "setp":
            first, second = (from_bits(self.word(source), suffixes[-1]) for source in sources[:2])
            holds = compare(suffixes[0], first, second)
            positive, _, negative = target.partition("|")
            self._set(positive, holds.astype(np.uint64), guard)
            if negative:
                self._set(negative, (~holds).astype(np.uint64), guard)
        elif mnemonic == "selp":
            chosen = np.where(self.word(sources[2]) != 0, self.word(sources[0]), self.word(sources[1]))
            self._set(target, chosen, guard)
        else:
            if mnemonic not in COMPUTE:
                raise Unknown(".".join([mnemonic, *suffixes]))
            self._set(target, COMPUTE[mnemonic](suffixes, [self.word(source) for source in sources]), guard)

    def _set(self, target: str, bits: Array, guard: Array | None) -> None:
        if guard is not None:
            bits = np.where(guard, bits, self._registers.get(target, np.zeros_like(bits)))
        self._registers[target] = bits

    def _move(self, target: str, source: str, type_name: str, guard: Array | None) -> None:
        if "%" in source and source not in self._registers:
            raise Unknown(source)
        width = TYPES[type_name][0].itemsize * 8 * TYPES[type_name][1]
        if target.startswith("{"):
            parts = _parts(target)
            part_width = np.uint64(width // len(parts))
            for number, part in enumerate(parts):
                shifted = self.word(source) >> (np.uint64(number) * part_width)
                self._set(part, shifted & np.uint64((1 << int(part_width)) - 1), guard)
            return
        if source.startswith("{"):
            parts = _parts(source)
            part_width = np.uint64(width // len(parts))
            mask = np.uint64((1 << int(part_width)) - 1)
            joined = np.zeros(self._instances, dtype=np.uint64)
            for number, part in enumerate(parts):
                joined |= (self.word(part) & mask) << (np.uint64(number) * part_width)
            self._set(target, joined, guard)
            return
        self._set(target, to_bits(from_bits(self.word(source), type_name)), guard)


def _parts(vector: str) -> list[str]:
    return [part.strip() for part in vector.strip("{} ").split(",")]
