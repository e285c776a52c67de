# SPDX-License-Identifier: Apache-2.0
"""Renews docs/operator_checks.md: `python docs/generate/operator_checks.py`.

The tables of decisions get the operator set versions for which each decision holds: the fixture that shows it is linted
with every version that its node uses. The list of sentences is written from operator_sentences.txt, which has a model
that breaks each: it is linted with every version, and given to ONNX Runtime and to onnx.checker with full_check.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
PAGE: Final = HERE.parent / "operator_checks.md"
SOURCE: Final = HERE / "operator_sentences.txt"
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "tests")]

import onnx  # noqa: E402 - see the line above
import onnx.parser  # noqa: E402
from support.processes.runtime_process import NO_KERNEL, RuntimeProcess  # noqa: E402
from support.project.fixture_files import Fixture, diagnostics_of, fixtures_of  # noqa: E402

from onnx_lint.common.record import replace  # noqa: E402
from onnx_lint.engine.lint import lint_source  # noqa: E402
from onnx_lint.engine.settings import Settings  # noqa: E402
from onnx_lint.input.source import BytesSource  # noqa: E402
from onnx_lint.report.findings import Diagnostic  # noqa: E402
from onnx_lint.spec.releases import newest_opset_version, normalized_domain  # noqa: E402

# --- the decisions

_IMPORT: Final = re.compile(r'(opset_import\s*\{(?:\s*domain:\s*"([^"]*)")?\s*version:\s*)\d+')
_SHOWN: Final = re.compile(r"`([a-z0-9-]+)/invalid/(\w+)`")


def with_ranges(page: str) -> str:
    """The page with the versions as third column in each table of decisions."""
    return "".join(f"{_row(line)}\n" for line in page.splitlines())


def _row(line: str) -> str:
    if not line.startswith("| "):
        return "|---|---|---|" if line == "|---|---|" else line
    question, decision, *others = line.strip("| ").split(" | ")
    if len(others) > 1:  # of the list of sentences
        return line
    if question == "Question":
        return f"| {question} | {decision} | Versions |"
    holds: dict[str, set[int]] = {}
    for rule, name in _SHOWN.findall(decision):
        domain, versions = versions_of(rule, name)
        holds.setdefault(domain or "ai.onnx", set()).update(versions)
    ranges = [f"{domain} {', '.join(_spans(sorted(versions)))}" for domain, versions in holds.items() if versions]
    return f"| {question} | {decision} | {'; '.join(ranges) or '-'} |"


def versions_of(rule: str, name: str) -> tuple[str, list[int]]:
    """The domain, and the operator set versions with which the fixture has its finding; none if no version decides."""
    fixture = next(each for each in fixtures_of(rule) if each.path.stem == name and not each.is_valid)
    found = next(item for item in diagnostics_of(fixture) if item.rule == rule)
    imported = (
        sorted({normalized_domain(given) for _, given in _IMPORT.findall(fixture.text)}) if fixture.is_text else []
    )
    domain = normalized_domain(found.operator.rpartition("::")[0]) if found.operator else "".join(imported[-1:])
    newest = newest_opset_version(domain)
    if newest is None or domain not in imported:
        return domain, []
    return domain, [version for version in range(1, newest + 1) if _is_found(fixture, domain, version, found)]


def _is_found(fixture: Fixture, domain: str, version: int, wanted: Diagnostic) -> bool:
    def at_version(match: re.Match[str]) -> str:
        return f"{match[1]}{version}" if normalized_domain(match[2] or "") == domain else match[0]

    data = BytesSource(_IMPORT.sub(at_version, fixture.text).encode())
    settings = replace(fixture.settings, external_data=False, proto=fixture.proto)
    file = lint_source(data, fixture.path.name, settings)
    return any((item.rule, item.clause) == (wanted.rule, wanted.clause) for item in file.diagnostics)


def _spans(versions: list[int]) -> Iterator[str]:
    """The versions as ranges: each run of numbers has one difference from its positions."""
    for _, run in groupby(enumerate(versions), key=lambda pair: pair[1] - pair[0]):
        first, *others = [version for _, version in run]
        yield f"{first}-{others[-1]}" if others else str(first)


# --- the sentences

_TYPES: Final = {"f": "float", "h": "float16", "i": "int64", "u": "uint8"}
_DOMAIN: Final = re.compile(r"\b(ai\.onnx(?:\.\w+)*)\.[A-Z]\w*[(<]")
_TITLE: Final = "## Sentence by sentence\n"
_INTRODUCTION: Final = """
Each sentence of the newest versions of these operators that restrains a file. `docs/generate/operator_sentences.txt`
has a model that breaks it, and `python docs/generate/operator_checks.py` writes this section from them. *Versions*
are the operator set versions in which onnx-lint has the finding. *Also found by* names the programs that refuse the
model: ONNX Runtime {runtime}, which loads it and runs it (*no kernel*: it lacks one for such a node), and
`onnx.checker` {onnx} with `full_check`.
"""
_HEAD: Final = "| Sentence | Versions | Finding, or why none | Also found by |\n|---|---|---|---|\n"
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
    reason: str = ""
    """Why no check holds it."""

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
    """The sentences, in the order of the page."""
    group = ""
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            group = line[2:]
            continue
        text, *rest = line.split(" | ")
        if len(rest) == 1:
            yield Sentence(group, text, "", "", rest[0].removeprefix("= "))
        else:
            yield Sentence(group, text, *rest)


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


def row(sentence: Sentence) -> str:
    """The row of the page, without the last column."""
    if not sentence.body:
        return f"| {sentence.text} | - | {sentence.reason} |"
    held = versions(sentence)
    found = finding(sentence, held[-1])
    assert found is not None
    return f"| {sentence.text} | {', '.join(_spans(list(held)))} | {found.severity.label}: `{found.rule}` |"


def found_by(sentence: Sentence, runtime: RuntimeProcess, folder: Path) -> str:
    """The programs that refuse the model."""
    if not sentence.body:
        return "-"
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


def _section() -> Iterator[str]:
    group = ""
    with tempfile.TemporaryDirectory() as folder, RuntimeProcess() as runtime:
        for sentence in sentences():
            if sentence.group != group:
                group = sentence.group
                yield f"\n### {group}\n\n{_HEAD}"
            yield f"{row(sentence)} {found_by(sentence, runtime, Path(folder))} |\n"


if __name__ == "__main__":
    text = with_ranges(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(
        text[: text.index(_TITLE)]
        + _TITLE
        + _INTRODUCTION.format(runtime=metadata.version("onnxruntime"), onnx=onnx.__version__)
        + "".join(_section()),
        encoding="utf-8",
    )
