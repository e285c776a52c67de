# SPDX-License-Identifier: Apache-2.0
"""Finds sentences about other programs, and compares them with fixtures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from google.protobuf import text_format
from onnx import ModelProto

from support.models.asked_programs import outcomes
from support.project.checkout import ROOT

PROGRAMS: Final = (
    r"onnx\.(?:checker|load|save|compose|helper|inliner|numpy_helper|reference|shape_inference|tools|version_converter)"
    r"|full.check|check_model|infer_shapes|onnx and ONNX|ONNX Runtime|onnxruntime\.|OpenVINO|TensorRT|MIGraphX|onnx_ir"
    r"|onnxscript|GraphSurgeon"
)


def sentences(documentation: str) -> list[str]:
    """Return the sentences of a page outside of code, without labels such as `ONNX Runtime:`."""
    text = re.sub(r"```.*?```|^ *### .*$", "\n\n", documentation, flags=re.DOTALL | re.MULTILINE)
    parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n\s*- ", f"\n{text}")]
    found = [each.removeprefix("- ") for part in parts for each in re.split(r"(?<=[.:]) (?=[-A-Z`#])", part)]
    return [each for each in found if not (each.endswith(":") and len(each.split()) < 4)]


class Claim(NamedTuple):
    """What a sentence says of programs."""

    holder: str
    """The clause, or the rule, whose text it is."""
    words: str
    fixture: str
    """The rule and the name of an invalid fixture; with `valid/` between them, of a valid one."""
    answers: str
    """Those of onnx.checker, the same with full_check, and ONNX Runtime: `+` accepts it, `-` refuses it, `?` none."""


def untrue(claims: Iterable[Claim], folder: Path, position: int, program: str) -> list[str]:
    """Return the claims that the program refutes. `position`: that of its answer."""
    files = {}
    for index, claim in enumerate(claims):
        if claim.answers[position] == "?":
            continue
        rule, _, name = claim.fixture.partition("/")
        place = name if "/" in name else f"invalid/{name}"
        text = (ROOT / "fixtures" / rule / f"{place}.textproto").read_text(encoding="utf-8")
        path = folder / f"{index}.onnx"
        path.write_bytes(text_format.Parse(text, ModelProto()).SerializeToString())
        files[path] = f"{claim.holder}: {claim.words} ({claim.fixture})", claim.answers[position] == "+"
    reasons = outcomes(files, program)
    return [f"{what}: {reasons[path]}" for path, (what, accepts) in files.items() if accepts != (reasons[path] is None)]
