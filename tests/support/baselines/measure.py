# SPDX-License-Identifier: Apache-2.0
"""Counts what a baseline calls new, and what it calls known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable

import onnx

from onnx_lint.common.record import replace
from onnx_lint.configuration.baseline import Entry, entries_of, suppress_known
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import ALL_FAULTS, DIGEST, INNER_DIGEST, Diagnostic
from onnx_lint.report.folding import unfold

HYGIENE = Settings(
    extend_select=("equal-initializers", "ineffective-node", "foldable-constant", "unnamed-node"), has_baseline=True
)
NAME = "model.onnx"

EQUAL_FAULTS = 5


def report_on(model: onnx.ModelProto | bytes, settings: Settings = HYGIENE) -> FileReport:
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return lint_source(BytesSource(data), NAME, settings)


def entries_before(diagnostics: Iterable[Diagnostic]) -> dict[str, Entry]:
    """Return the entries as the version before today's wrote them: without the operators on one side of a place."""
    found: dict[str, Entry] = {}
    for each in unfold(diagnostics):
        (entry,) = entries_of([each]).values()
        identity, known = each.identity, found.get(entry.fingerprint)
        texts = tuple([_text_before(text) for text in identity.elements or sorted(identity.parts)])
        structure, content = identity.structure[: 5 * DIGEST], identity.content.partition(":")
        entry = replace(
            entry,
            parts=texts,
            structure=structure,
            content="".join((*content[:2], content[2][: 4 * DIGEST])),
        )
        if known is not None:
            count, elements = known.count + entry.count, known.elements + entry.elements
            entry = replace(
                known, count=count, structure="", parts=(*known.parts, *texts), elements=elements, content=""
            )
        found[entry.fingerprint] = entry
    return found


def _text_before(text: str) -> str:
    outer, *ends = text.removeprefix(ALL_FAULTS).split(INNER_DIGEST)
    start, skipped = (ALL_FAULTS, 1) if text.startswith(ALL_FAULTS) else ("", 2)
    others = [end if number < 2 else end[: 4 * DIGEST] for number, end in enumerate(ends)]
    return start + INNER_DIGEST.join((outer[skipped * DIGEST : (skipped + 4) * DIGEST], *others))


def new_in(known: FileReport, now: FileReport) -> list[Diagnostic]:
    """Return the findings of a report that the baseline of another one does not know."""
    return list(unfold(suppress_known(now, entries_of(known.diagnostics)).diagnostics))


def false_new(known: FileReport, now: FileReport) -> list[Diagnostic]:
    """Return the findings that are new although a change left the faults as they were, if it adds no finding.

    Of each clause, as many may be new as there are more than before.
    """
    before, after = (Counter(item.clause for item in unfold(file.diagnostics)) for file in (known, now))
    more = after - before
    found = []
    for item in new_in(known, now):
        if more[item.clause]:
            more[item.clause] -= 1
        else:
            found.append(item)
    return found


def five_faults(model: onnx.ModelProto, choose: random.Random) -> list[Callable[[onnx.ModelProto], None]]:
    """Plant one fault in five nodes, and return how each is mended; nothing if the model has too few nodes."""
    nodes = [index for index, node in enumerate(model.graph.node) if node.op_type != "Constant"]
    if len(nodes) < EQUAL_FAULTS:
        return []
    kind = choose.choice(["attribute", "operator", "input"])
    chosen = choose.sample(nodes, EQUAL_FAULTS)
    if kind == "operator":
        operators = Counter(model.graph.node[index].op_type for index in nodes)
        most, count = operators.most_common(1)[0]
        if count >= EQUAL_FAULTS:
            chosen = choose.sample([index for index in nodes if model.graph.node[index].op_type == most], EQUAL_FAULTS)
    mended: list[Callable[[onnx.ModelProto], None]] = []
    for index in chosen:
        node = model.graph.node[index]
        if kind == "attribute":
            node.attribute.add(name="axess", i=1, type=2)
            mended.append(lambda changed, at=index: changed.graph.node[at].attribute.pop())
        elif kind == "operator":
            mended.append(lambda changed, at=index, was=node.op_type: setattr(changed.graph.node[at], "op_type", was))
            node.op_type += "y"
        else:
            mended.append(lambda changed, at=index: changed.graph.node[at].input.pop())
            node.input.append("nowhere")
    return mended


def copy_of(model: onnx.ModelProto) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(model.SerializeToString())
