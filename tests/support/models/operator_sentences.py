# SPDX-License-Identifier: Apache-2.0
"""Sentences about operators that restrain a file, each with a model that breaks it and what finds that.

`tests/oracles/operator_sentences.txt` has them: the sentence, the inputs and nodes of the model, the versions of the
operator set with the finding, the finding, and the programs that refuse the model: ONNX Runtime, which loads it and
runs it (*no kernel*: it lacks one for such a node), and `onnx.checker` with `full_check`. A row with `=` says why
there is no check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final

import onnx
import onnx.parser

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.releases import newest_opset_version
from support.processes.runtime_process import NO_KERNEL, RuntimeProcess
from support.project.checkout import ROOT

SOURCE: Final = ROOT / "tests" / "oracles" / "operator_sentences.txt"

_TYPES: Final = {"f": "float", "h": "float16", "i": "int64", "u": "uint8"}
_DOMAIN: Final = re.compile(r"\b(ai\.onnx(?:\.\w+)*)\.[A-Z]\w*[(<]")
_IR_VERSION: Final = 10
_NEWEST_KERNELS: Final = 25
"""The newest version of ai.onnx that ONNX Runtime has kernels for all of these operators of."""
_KINDS: Final = (
    *("float", "float16", "int64", "int32", "uint8", "int8", "bool", "string"),
    *(f"seq(map({key}, float))" for key in ("int64", "string")),
)
"""Types of the first output: full_check finds a fault if it accepts the model with none of them."""


@dataclass(frozen=True)
class Sentence:
    """A sentence that restrains a file."""

    group: str
    text: str
    inputs: str
    body: str
    """The nodes of a model that breaks it; empty if none can be reported."""
    expected: tuple[str, str, str] = ("", "", "")
    """The versions of the operator set with the finding, the finding, and the programs that refuse the model."""

    @property
    def domain(self) -> str:
        """The domain of the operator."""
        found = _DOMAIN.search(self.body)
        return found[1] if found else ""

    def model(self, version: int) -> onnx.ModelProto:
        """A model that breaks the sentence, with a version of the operator set."""
        imports = {"": 25, self.domain: version}
        opsets = ", ".join(f'"{domain}": {number}' for domain, number in imports.items())
        inputs = re.sub(r"(^|, )([fhiu])(?=[\[ ])", lambda match: match[1] + _TYPES[match[2]], self.inputs)
        body = self.body if re.match(r"\w+(, \w+)* = ", self.body) else f"y = {self.body}"
        header = f"<ir_version: {_IR_VERSION}, opset_import: [{opsets}]>"
        outputs = "y, z" if body.startswith("y, z =") else "y"
        return onnx.parser.parse_model(f"{header} g ({inputs}) => ({outputs}) {{ {body} }}")


def sentences() -> Iterator[Sentence]:
    """The sentences, in the order of the file."""
    group = ""
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            group = line[2:]
            continue
        text, *rest = line.split(" | ")
        if len(rest) == 1:  # why no check holds it
            yield Sentence(group, text, "", "")
        else:
            inputs, nodes, *expected = rest
            yield Sentence(group, text, inputs, nodes, (expected[0], expected[1], expected[2]))


def finding(sentence: Sentence, version: int) -> Diagnostic | None:
    """The gravest finding about the operators of the model with a version of the operator set."""
    data = BytesSource(sentence.model(version).SerializeToString())
    found = [each for each in lint_source(data, "model.onnx", Settings()).diagnostics if each.operator]
    found = [each for each in found if each.severity.label in ("error", "warning")]
    if any(each.rule.startswith("unknown-") for each in found):
        return None  # the version has no such operator or attribute
    return min(found, key=lambda each: each.severity.label, default=None)


@cache
def versions(sentence: Sentence) -> tuple[int, ...]:
    """The versions of the operator set with the finding of the newest one."""
    newest = newest_opset_version(sentence.domain) or 1
    wanted = finding(sentence, newest)
    numbers = range(newest, 0, -1)
    same = [wanted is not None and _kind(finding(sentence, number)) == _kind(wanted) for number in numbers]
    return tuple(reversed(numbers[: same.index(False) if False in same else len(same)]))


def _kind(found: Diagnostic | None) -> tuple[str, str] | None:
    return (found.rule, found.severity.label) if found else None


def found_in(sentence: Sentence) -> tuple[str, str]:
    """The versions of the operator set with the finding of the newest one, and the finding."""
    held = versions(sentence)
    found = finding(sentence, held[-1])
    assert found is not None
    return ", ".join(_spans(list(held))), f"{found.severity.label}: {found.rule}"


def _spans(versions: list[int]) -> Iterator[str]:
    """The versions as ranges: each run of numbers has one difference from its positions."""
    for _, run in groupby(enumerate(versions), key=lambda pair: pair[1] - pair[0]):
        first, *others = [version for _, version in run]
        yield f"{first}-{others[-1]}" if others else str(first)


def found_by(sentence: Sentence, runtime: RuntimeProcess, folder: Path) -> str:
    """The programs that refuse the model."""
    held = versions(sentence)
    path = folder / "model.onnx"
    path.write_bytes(sentence.model(max(held[0], min(held[-1], _NEWEST_KERNELS))).SerializeToString())
    found = []
    answer = runtime.answer(path)
    if answer is not None and any(word in answer[0] for word in NO_KERNEL):
        found.append("no kernel")
    elif answer is None or any(answer):
        found.append("ONNX Runtime")
    model = sentence.model(held[-1])
    if not any(_passes(model, kind) for kind in _KINDS):
        found.append("full_check")
    return ", ".join(found) or "none"


def _passes(model: onnx.ModelProto, kind: str) -> bool:
    """Return whether full_check accepts the model with a first output of a type."""
    try:
        for output, each in zip(model.graph.output, (kind, "float"), strict=False):
            output.type.CopyFrom(onnx.parser.parse_graph(f"g ({each} x) => () {{}}").input[0].type)
        onnx.checker.check_model(model)
        for output in model.graph.output:
            if output.type.HasField("tensor_type"):
                output.type.tensor_type.ClearField("shape")
        # The other half of full_check, which takes outputs without a shape.
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception:
        return False
    return True
