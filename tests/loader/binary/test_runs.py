# SPDX-License-Identifier: Apache-2.0
"""A model cut off at any byte ends in a verdict, and soon: half-downloaded files are the most common broken ones."""

from __future__ import annotations

import pytest
from support.project.checkout import TESTS
from support.wire import reencode
from support.wire.wire_bytes import BASE, LEN, number, tag, varint, wire_type_of
from support.wire.wire_bytes import length as field

from onnx_lint import lint, schema
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.loader.binary.runs import LONG_RUN

REAL = TESTS / "models" / "iris_logistic_regression.onnx"

ELEMENTS = LONG_RUN + 8
"""Enough that the rest of a list is looked for in bulk, and that the end of the file is met there."""


def unpacked_list(message: str, name: str) -> bytes:
    """Return a long list with a field for each element: strings of one letter, or numbers, of one byte if possible."""
    declared = schema.message(message).DESCRIPTOR.fields_by_name[name]
    wire_type = wire_type_of(declared)
    content = {0: b"\7", 1: bytes(8), LEN: varint(1) + b"x", 5: bytes(4)}[wire_type]
    return (tag(declared.number, wire_type) + content) * ELEMENTS


def model_with_attribute(name: str) -> bytes:
    attribute = field(1, "a") + unpacked_list("AttributeProto", name)
    node = field(2, "y") + field(4, "Constant") + field(5, attribute)
    return BASE + field(7, field(2, "g") + field(1, node))


def model_with_tensor(name: str) -> bytes:
    tensor = number(1, ELEMENTS) + number(2, 1) + unpacked_list("TensorProto", name) + field(8, "t")
    return BASE + field(7, field(2, "g") + field(5, tensor))


def models() -> dict[str, bytes]:
    real = reencode.read(REAL.read_bytes())
    found = {
        "real": REAL.read_bytes(),
        "real, unpacked": reencode.write(reencode.unpacked(real)),
        "real, overlong": reencode.write(real, reencode.Widths(tags=2, lengths=2, values=2)),
    }
    for name in ("floats", "ints", "strings"):
        found[f"attribute {name}"] = model_with_attribute(name)
    for name in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data"):
        found[f"tensor {name}"] = model_with_tensor(name)
    return found


MODELS = models()

PARTS = 6
"""The default run takes one part of the cuts, the heavy tests take the others."""


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.heavy) for part in range(1, PARTS))])
@pytest.mark.parametrize("is_large", [False, True], ids=["whole", "as a large file"])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_cut_off_anywhere_ends_in_a_verdict(
    name: str, is_large: bool, part: int, monkeypatch: pytest.MonkeyPatch
):
    if is_large:
        monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 16)
        monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 16)
        monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 16)
    data = MODELS[name]
    for end in range(1 + (part + 3 * is_large) % PARTS, len(data), PARTS):
        report = lint(data[:end])
        assert report.files[0].internal_errors == (), end
        assert not report.conforms, f"the first {end} of {len(data)} bytes are called conforming"
