# SPDX-License-Identifier: Apache-2.0
"""Compares onnx-lint's verdict and shapes with those of `onnx` and of real runs."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from google.protobuf import text_format
from onnx import GraphProto, ModelProto, NodeProto

from onnx_lint.engine.lint import load_source
from onnx_lint.engine.rule_runs import Verdict, lint_model
from onnx_lint.engine.settings import Settings
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact
from onnx_lint.input.source import BytesSource
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold
from onnx_lint.spec.clauses import Severity

from ..corpus import Seed
from ..oracle import problem_of
from . import moved
from .builder import Generated
from .explained import (
    FALSE_ALARM,
    MISSED,
    OTHER_ELEMENTS,
    OTHER_SHAPE,
    OTHER_TYPE,
    Explained,
    explanation,
)
from .operators import CONTROL_FLOW
from .runtimes import Ran, cause, refusal, run_onnxruntime, run_reference
from .signature import DETAILS
from .values import difference

CRASH = "onnx-lint crashes"
OF_BYTES = "fails as an input of the byte fuzzer does"
MOVED = "other verdict in another form"

STAGES = ("generator", "onnx-lint", "onnx", "onnxruntime", "reference evaluator", "other forms")
"""The stages of judging a model. A crash counts against the stage in which it happens."""

_KINDS = {"type": OTHER_TYPE, "shape": OTHER_SHAPE, "elements": OTHER_ELEMENTS}
_OTHER_FORMS_EACH = 10
_SETTINGS = Settings()


@dataclass(frozen=True)
class Contradiction:
    """Two programs disagree about a model."""

    kind: str
    line: str
    explained: Explained | None = None


@dataclass
class Judged:
    """The contradictions about a model, and the names that it is counted under."""

    contradictions: list[Contradiction] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def note(self, kind: str, line: str) -> None:
        """Add a contradiction with its explanation, if there is one."""
        self.contradictions.append(Contradiction(kind, line, explanation(kind, line)))


def linted(data: bytes, name: str = "model.onnx") -> tuple[Model, Verdict]:
    """Return onnx-lint's model and verdict."""
    model = load_source(BytesSource(data), name, _SETTINGS, is_file=False)
    return model, lint_model(model, _SETTINGS)


def facts_of(model: Model) -> Mapping[str, Fact]:
    """Return the facts that onnx-lint infers about the values of the main graph."""
    return dict(model.value_flow.facts)


def errors_of(verdict: Verdict) -> list[Diagnostic]:
    """Return the errors of a verdict, those of one cause each for itself."""
    return [found for found in unfold(verdict.diagnostics) if found.severity is Severity.ERROR]


def judge(made: Generated, at: Callable[[int], None]) -> Judged:
    """Judge a model. `at` is called with the number of each stage before the stage begins."""
    judged, data = Judged(), made.model.SerializeToString()
    at(1)
    try:
        model, verdict = linted(data)
        facts = facts_of(model)
    except Exception:
        judged.note(CRASH, traceback.format_exc())
        return judged
    for error in verdict.errors:
        judged.note(CRASH, error.traceback)
    errors = errors_of(verdict)
    judged.counts["errors" if errors else "conforms"] += 1
    at(2)
    refused = refusal(data)
    judged.counts["onnx refuses" if refused else "onnx takes"] += 1
    if refused and not errors:
        judged.note(MISSED, f"{cause(refused)}{DETAILS}{_operators_in(made.model)}{_MADE_UP * made.has_made_up_shapes}")
    ran = _ran(made, at, judged)
    if ran is not None:
        for found in errors:
            shared = " [onnx refuses the model as well]" if refused else ""
            judged.note(FALSE_ALARM, f"{found.rule} {found.operator or ''}: {found.message}{shared} [{ran.runtime}]")
        if not errors and not made.has_made_up_shapes:
            _compare_values(made, facts, ran, judged)
    if made.number % _OTHER_FORMS_EACH == 0:
        at(5)
        _other_forms(made, data, errors, judged)
    return judged


def _compare_values(made: Generated, facts: Mapping[str, Fact], ran: Ran, judged: Judged) -> None:
    """Compare inferred with computed values, up to the first difference: later ones follow from it."""
    for node in made.model.graph.node:
        for name in filter(None, node.output):
            judged.counts["values compared"] += name in ran.values
            apart = difference(facts.get(name, UNKNOWN), ran.values.get(name), made.symbols)
            if apart is not None:
                judged.note(_KINDS[apart[0]], f"{_described(made, node)}: {apart[1]} [{ran.runtime}]")
                return


_MADE_UP = " made up"


def _operators_in(model: ModelProto) -> str:
    """Return the operators of a model with the names of their attributes."""
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    nodes += [inner for node in nodes for graph in _graphs(node) for inner in graph.node]
    return " ".join(f"{node.op_type}({','.join(each.name for each in node.attribute)})" for node in nodes)


def _described(made: Generated, node: NodeProto) -> str:
    """Describe the operator of a node, or of the node inside a called function."""
    versions = {each.domain: each.version for each in made.model.opset_import}
    body = next((each for each in made.model.functions if each.name == node.op_type), None)
    inner = body.node[0] if body is not None else node
    if inner.op_type in CONTROL_FLOW:
        return f"{inner.op_type} of {' '.join(each.op_type for graph in _graphs(inner) for each in graph.node)}"
    names = ",".join(each.name for each in inner.attribute)
    return f"{inner.op_type} as of opset {versions.get(inner.domain)} ({names})"


def _graphs(node: NodeProto) -> list[GraphProto]:
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def _ran(made: Generated, at: Callable[[int], None], judged: Judged) -> Ran | None:
    """Return the run of ONNX Runtime, else of the reference evaluator, or None if both fail."""
    for stage, run in ((3, run_onnxruntime), (4, run_reference)):
        at(stage)
        ran = run(made)
        if ran.refusal is None:
            judged.counts[f"run by {ran.runtime}"] += 1
            return ran
    judged.counts["run by none"] += 1
    return None


def _other_forms(made: Generated, data: bytes, errors: list[Diagnostic], judged: Judged) -> None:
    problem = problem_of(Seed("a generated model", data), made.number)
    if problem is not None:
        judged.note(OF_BYTES, problem)
    text = text_format.MessageToString(made.model).encode()
    _compare_rules("text", errors, errors_of(linted(text, "model.textproto")[1]), judged)
    for way, model in moved.moved_forms(made.model) if not made.has_made_up_shapes else ():
        other = errors_of(linted(model.SerializeToString())[1])
        # The added node may not support the types: an If returns no maps.
        other = [found for found in other if not _OF_ADDED_NODE.fullmatch(found.place)]
        _compare_rules(way, errors, other, judged)


_OF_ADDED_NODE = re.compile(r"graph\.node\[0\](\.(in|out)put\[\d+\])?")


def _compare_rules(way: str, errors: list[Diagnostic], other: list[Diagnostic], judged: Judged) -> None:
    judged.counts[f"judged again, moved into: {way}"] += 1
    one, another = ({found.rule for found in each} for each in (errors, other))
    if one != another:
        judged.note(MOVED, f"{way}: only at first: {' '.join(one - another)}; only then: {' '.join(another - one)}")
