# SPDX-License-Identifier: Apache-2.0
"""Counts what a baseline calls new, and what it calls known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable

import onnx

from onnx_lint.common.record import replace
from onnx_lint.configuration.baselines.entries import Entry, entries_of
from onnx_lint.configuration.baselines.known_findings import suppress_known
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report.digests import FaultDigests, PlaceDigests
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
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
        entry = _entry_before(each)
        known = found.get(entry.fingerprint)
        if known is not None:
            entry = replace(
                known,
                count=known.count + entry.count,
                structure=None,
                faults=(*known.faults, *entry.faults),
                element_count=known.element_count + entry.element_count,
                content=None,
            )
        found[entry.fingerprint] = entry
    return found


VIEWS_BEFORE = ("from_start", "from_end", "by_operators")
"""The kinds of digests of operators in entries of the version before today's."""


def _entry_before(diagnostic: Diagnostic) -> Entry:
    (entry,) = entries_of([diagnostic]).values()
    identity, content = diagnostic.identity, diagnostic.identity.content
    return replace(
        entry,
        structure=identity.structure and reduced(identity.structure, "steps", "names", *VIEWS_BEFORE),
        faults=tuple(map(_fault_before, identity.elements or identity.parts)),
        content=content and replace(content, place=reduced(content.place, "names_inside", *VIEWS_BEFORE)),
    )


def _fault_before(fault: FaultDigests) -> FaultDigests:
    place, partners = (each and reduced(each, "names_inside", *VIEWS_BEFORE) for each in (fault.place, fault.partners))
    return replace(fault, place=place, partners=partners)


def reduced(place: PlaceDigests, *kinds: str) -> PlaceDigests:
    """Return the digests of some kinds, as entries of older versions have them."""
    return PlaceDigests.of((kind, digest) for kind, digest in place.items() if kind in kinds)


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
