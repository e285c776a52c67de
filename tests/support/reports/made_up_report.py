# SPDX-License-Identifier: Apache-2.0
"""A report made by hand that has everything in it, hostile names above all."""

from __future__ import annotations

from typing import Any, Final

from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import ROOT, EnclosingNames
from onnx_lint.report.file_report import FileFacts, FileReport, InternalError, OperatorCount, Shapes, UnknownShapeCause
from onnx_lint.report.findings import CitedClause, Diagnostic, RelatedPlace
from onnx_lint.report.totals import Report
from onnx_lint.spec.clauses import Severity
from support.models.places import place_at

HOSTILE = "a\x1b[31mred\n[bold]b[/bold]\u202etxt.\u200b\udcff\ud800](https://example.invalid)"


GROUPS: Final = {
    "cited": {
        "clause": "id",
        "keyword": "keyword",
        "clause_summary": "summary",
        "anchor": "anchor",
        "declared_by": "declared_by",
    },
    "around": {"node": "node", "operator": "operator", "graph": "graph", "scope": "scope"},
    "by_target": {"refused_by": "refused_by", "answers": "answers"},
    "advice": {"hint": "hint", "no_fix": "no_fix", "fix": "fix"},
    "folding": {"cause": "cause", "is_cause_shared": "is_shared"},
}
"""The fields that `changed` sets in a group of a diagnostic: the name of the change, and that of the field there."""


def changed(diagnostic: Diagnostic, **changes: Any) -> Diagnostic:
    """Return the diagnostic with other fields, also of its groups."""
    for group, fields in GROUPS.items():
        inner = {field: changes.pop(name) for name, field in fields.items() if name in changes}
        if inner:
            changes[group] = replace(getattr(diagnostic, group), **inner)
    return replace(diagnostic, **changes)


def error(**changes: Any) -> Diagnostic:
    diagnostic = Diagnostic(
        rule="twice-defined",
        severity=Severity.ERROR,
        message="output 0 of node 'b' (Abs) defines 'y', which output 0 of node 'a' (Relu) defines already",
        at=place_at("graph.node[7].output[0]"),
        cited=CitedClause("GRA-5", "MUST", "A name is defined once.", "IR.md#graphs"),
        allowed="one definition for each name",
        related=(RelatedPlace(place_at("graph.node[3].output[0]"), "first definition of 'y'", (500, 503)),),
        byte_range=(1186, 1214),
        subject="y",
        around=EnclosingNames("b", "Abs", "main"),
    )
    return changed(diagnostic, **changes)


def warning(index: int, **changes: Any) -> Diagnostic:
    return error(
        rule="odd-name",
        severity=Severity.WARNING,
        message=f"name '{index}.weight' is odd",
        at=place_at(f"graph.initializer[{index}].name"),
        clause="NAM-1",
        keyword="SHOULD",
        clause_summary="Names are not odd.",
        anchor="IR.md#names-within-a-graph",
        allowed="letters" if index < 2 else "letters and digits",
        related=(),
        byte_range=(2000 + index, 2001 + index),
        subject=f"{index}.weight",
        node=None,
        operator=None,
        **changes,
    )


def note(**changes: Any) -> Diagnostic:
    return error(
        rule="nothing-known",
        severity=Severity.NOTE,
        message="the model has no documentation",
        at=ROOT,
        clause="MOD-8",
        keyword="MAY",
        clause_summary="A model may be documented.",
        anchor="IR.md#models",
        allowed=None,
        related=(),
        byte_range=(900, 900),
        subject=None,
        node=None,
        operator=None,
        graph=None,
        **changes,
    )


FACTS = FileFacts(
    8,
    (("", 17), ("ai.onnx.ml", 3)),
    "pytorch 2.1.0",
    412,
    3,
    1,
    (OperatorCount("", 17, "Conv", 400), OperatorCount("ai.onnx.ml", 3, "Scaler", 12)),
)

REPORT = Report(
    files=(
        FileReport("models/bad.onnx", 4096, (error(), *map(warning, range(5)), note()), facts=FACTS),
        FileReport(
            "models/clean.onnx",
            100,
            facts=FileFacts(14, (("", 28),), "", 1, 1, 0, (OperatorCount("", 28, "Conv", 1),)),
            judged_by=98,
        ),
        FileReport("missing.onnx", 0, unreadable="missing.onnx: No such file or directory"),
        FileReport(
            "models/crash.onnx",
            10,
            (error(allowed=None, related=(), byte_range=None),),
            (InternalError("odd-name", f"ValueError: {HOSTILE}", "Traceback\n  ValueError\n"),),
            FACTS,
        ),
        FileReport(
            f"my models/100%:{HOSTILE}.onnx",
            77,
            (
                error(
                    message=f"node {HOSTILE} is bad",
                    allowed=f"not {HOSTILE}",
                    related=(RelatedPlace(place_at("graph.input[0]"), f"see {HOSTILE}", None),),
                    subject=HOSTILE,
                    node=HOSTILE,
                    operator=HOSTILE,
                    graph=HOSTILE,
                ),
            ),
            facts=FileFacts(-1, ((HOSTILE, -(2**63)),), HOSTILE, 1, 1, 0, (OperatorCount(HOSTILE, None, HOSTILE, 1),)),
        ),
        FileReport(
            "-",
            3,
            (note(),),
            not_verified=((HOSTILE, 1), ("com.example", 1204)),
            shapes=Shapes(
                1300,
                1206,
                (
                    UnknownShapeCause("operator-without-signature", HOSTILE, 1200),
                    UnknownShapeCause("budget", "com.example::f", 4),
                    UnknownShapeCause("input", HOSTILE, 2),
                ),
            ),
            incomplete=("the files of external data were not examined, because external data is switched off",),
        ),
        FileReport("models/none.onnx", 5, not_judged="the file is empty"),
        FileReport(
            "vision.onnxopset",
            96,
            kind="OperatorSetProto",
            judged_by=12,
        ),
        FileReport(
            "input_0.pb",
            20,
            kind="TensorProto",
            judged_by=40,
        ),
    ),
    edition="1.23",
    variant="onnx-ml",
    rules=("nothing-known", "odd-name", "twice-defined", "unused-here"),
)

EMPTY = Report((), "1.23", "onnx-ml")


def strict(schema: Any) -> Any:
    """The schema with every property that it does not describe forbidden."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items()}
    return found | {"additionalProperties": False} if "properties" in schema and "required" in schema else found
