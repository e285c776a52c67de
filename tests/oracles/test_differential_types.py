# SPDX-License-Identifier: Apache-2.0
"""The flow of types against onnx's strict inference: generated nodes of every operator and version, right and wrong.

For each signature that `onnx` knows there are nodes with each type of each type variable and each value of the
attributes that types may depend on, and nodes with one mutation each: an input of a type outside the constraint, two
inputs of one type variable that differ, an output that is declared as another type. Two things are compared: the
verdict, whether there is an error; and for nodes without one, the type of each output. Where onnx-lint and onnx see
something differently, EXPLAINED says why.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx
import onnx.defs
import pytest
from onnx import NodeProto, helper
from support.models.control_flow_nodes import CONTROL_FLOW, control_flow_cases
from support.models.typed_nodes import Case, bases, input_types, operand_cases, output_mutations, type_proto, type_text

from onnx_lint.engine.registry import registry
from onnx_lint.inference.types.type_string import canonical
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

pytestmark = pytest.mark.differential

RULES = (
    "mismatched-operand-type",
    "contradictory-declared-type",
    "mismatched-subgraph-type",
    "unconverted-optional",
)

OF_ATTRIBUTES = "unsupported-attribute-value"
"""The rule that reports an element type which an attribute names and the operator does not know."""

NOT_TRIED = {"FlexAttention": "its inference takes shapes"}
"""Operators for which onnx accepts no node that is made here."""

_FMOD = "`fmod` has to be 1 for floats by the descriptions until 27; onnx does not look, ONNX Runtime refuses to run"

EXPLAINED = {
    ("attribute", "DictVectorizer"): "a vocabulary of strings goes with keys that are strings; onnx does not look",
    ("attribute", "Imputer"): "imputed integers go with integers; onnx does not look, ONNX Runtime refuses to run",
    ("attribute", "TfIdfVectorizer"): "a pool of strings goes with strings; onnx does not look",
    ("attribute", "Mod"): _FMOD,
    ("type", "Mod"): _FMOD,
    ("output declared as it is", "Mod"): _FMOD,
    **{
        (kind, "Attention"): "a mask has booleans or the type of the queries by the description; onnx does not look"
        for kind in ("type", "output declared as it is")
    },
    ("attribute", "ZipMap"): "two lists of class labels, but only one may be given; onnx takes the integers",
    **{
        (kind, "TreeEnsembleClassifier"): "two lists of class labels, but only one may be given; onnx takes the strings"
        for kind in ("attribute", "output declared as it is")
    },
    (
        "condition of the body that is not a bool",
        "Loop",
    ): "a bool by the description; the inference of onnx does not look",
    (
        "state that changes its type",
        "Scan",
    ): "the inference of onnx takes what came last, and never looks back",
    ("type", "MeanVarianceNormalization"): "the function body that onnx has for it mixes float with other types",
    ("type", "RMSNormalization"): "onnx infers the type of X for the output and then holds it against that of scale",
}
"""Differences between onnx-lint and onnx, by mutation and operator, with onnx-lint's reason."""


# --- verdicts


def _model(schema: onnx.defs.OpSchema, case: Case) -> onnx.ModelProto:
    inputs = [onnx.ValueInfoProto(name=name, type=type_proto(kind)) for name, kind in case.inputs.items() if name]
    outputs = [
        onnx.ValueInfoProto(name=name, type=type_proto(case.outputs[name]) if name in case.outputs else None)
        for name in case.node.output
        if name
    ]
    graph = helper.make_graph([case.node], "g", inputs, outputs)
    imports = [helper.make_opsetid(schema.domain, schema.since_version)]
    return helper.make_model(graph, opset_imports=imports, ir_version=onnx.IR_VERSION)


@dataclass(frozen=True)
class Verdict:
    """Return the first message, empty if there is none, and the known types of the outputs."""

    message: str
    types: Mapping[str, str]


def _theirs(schema: onnx.defs.OpSchema, case: Case) -> Verdict:
    try:
        inferred = onnx.shape_inference.infer_shapes(_model(schema, case), check_type=True, strict_mode=True)
    except (onnx.shape_inference.InferenceError, ValueError, TypeError, RuntimeError) as error:
        return Verdict(re.sub(r"\s+", " ", str(error)), {})
    types = {value.name: type_text(value.type) for value in inferred.graph.output}
    return Verdict("", {name: kind for name, kind in types.items() if kind})


def _renamed(case: Case, index: int) -> Case:
    def own(name: str) -> str:
        return f"{name}_{index}" if name else ""

    node = NodeProto()
    node.CopyFrom(case.node)
    node.input[:] = map(own, node.input)
    node.output[:] = map(own, node.output)
    inputs = {own(name): kind for name, kind in case.inputs.items()}
    return Case(case.mutation, node, inputs, {own(name): kind for name, kind in case.outputs.items()})


def _ours(schema: onnx.defs.OpSchema, cases: list[Case]) -> list[Verdict]:
    """The verdicts of one run over a model that has all the nodes."""
    model = onnx.ModelProto(ir_version=onnx.IR_VERSION)
    model.opset_import.add(domain=schema.domain, version=schema.since_version)
    case_of: dict[tuple[str, int], int] = {}
    for index, case in enumerate(cases):
        single = _model(schema, _renamed(case, index)).graph
        case_of[("node", len(model.graph.node))] = index
        case_of |= {("output", len(model.graph.output) + at): index for at in range(len(single.output))}
        model.graph.node.extend(single.node)
        model.graph.input.extend(single.input)
        model.graph.output.extend(single.output)
    loaded = load(BytesSource(model.SerializeToString()), "model.onnx")
    messages = _messages(loaded, case_of)
    known = loaded.value_flow.types
    return [
        Verdict(
            messages.get(index, ""), {name: kind for name in case.node.output if (kind := known.get(f"{name}_{index}"))}
        )
        for index, case in enumerate(cases)
    ]


def _ours_alone(schema: onnx.defs.OpSchema, case: Case) -> Verdict:
    """The verdict of a run over a model that has this node only."""
    model = load(BytesSource(_model(schema, case).SerializeToString()), "model.onnx")
    messages = _messages(model, {("node", 0): 0, **{("output", at): 0 for at in range(len(case.node.output))}})
    types = {name: kind for name in case.node.output if (kind := model.value_flow.types.get(name))}
    return Verdict(messages.get(0, ""), types)


def _messages(model: Model, case_of: Mapping[tuple[str, int], int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for rule in (*RULES, OF_ATTRIBUTES):
        for finding in registry()[rule].rule.check(model):
            key = next((name, at) for name, at in finding.place.key if name in {"node", "output"} and at is not None)
            found.setdefault(case_of[key], f"{rule}: {finding.message}")
    return found


# --- the comparison


@dataclass
class Tally:
    """The number of comparisons and their results."""

    cases: Counter[str] = field(default_factory=Counter)
    rejected: int = 0
    types: Counter[str] = field(default_factory=Counter)
    apart: Counter[tuple[str, str]] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def compare(self, schema: onnx.defs.OpSchema, case: Case, theirs: Verdict, ours: Verdict) -> None:
        of_attribute = ours.message.startswith(OF_ATTRIBUTES)
        if case.mutation == "attribute" and theirs.message and "unsupported type" not in theirs.message:
            # Values of attributes that are not types are for other tests.
            self.cases["attribute of a value that onnx does not take, not compared"] += 1
            return
        self.cases[case.mutation] += 1
        self.rejected += bool(theirs.message)
        rejected = bool(ours.message) and (not of_attribute or bool(theirs.message))
        if rejected != bool(theirs.message):
            self._note(schema, case, f"onnx {theirs.message!r}, onnx-lint {ours.message!r}")
        elif not theirs.message:
            self._compare_types(schema, case, theirs, ours)

    def _compare_types(self, schema: onnx.defs.OpSchema, case: Case, theirs: Verdict, ours: Verdict) -> None:
        for output in filter(None, case.node.output):
            one, other = theirs.types.get(output), ours.types.get(output)
            if one is None:
                self.types["known to onnx-lint only" if other else "not known to either"] += 1
            elif {other} == canonical(frozenset({one})):
                self.types["the same"] += 1
            else:
                self.types["differ"] += 1
                self._note(schema, case, f"onnx {one}, onnx-lint {other}")

    def _note(self, schema: onnx.defs.OpSchema, case: Case, what: str) -> None:
        if (case.mutation, schema.name) in EXPLAINED:
            self.apart[case.mutation, schema.name] += 1
            return
        name = f"{schema.domain}::{schema.name}-{schema.since_version}"
        self.unexplained.append(f"{name} {case.mutation} {dict(case.inputs)} {dict(case.outputs)}: {what}")


def _base(schema: onnx.defs.OpSchema) -> NodeProto | None:
    """A node that onnx takes."""
    for node in bases(schema):
        if not _theirs(schema, Case("base", node, input_types(schema, node, {}))).message:
            return node
    return None


def _with_declarations(schema: onnx.defs.OpSchema, base: NodeProto) -> tuple[list[Case], list[Verdict]]:
    """The cases with onnx's verdicts; those that it takes also with their outputs declared, rightly and wrongly."""
    cases: list[Case] = []
    verdicts: list[Verdict] = []
    usual: Mapping[str, str] = {}
    for case in operand_cases(schema, base):
        verdict = _theirs(schema, case)
        cases.append(case)
        verdicts.append(verdict)
        usual = usual or verdict.types
        if not verdict.message and (case.mutation == "type" or verdict.types != usual):
            declared = list(output_mutations(case, verdict.types))
            cases += declared
            verdicts += [_theirs(schema, one) for one in declared]
    return cases, verdicts


def test_verdicts_and_types_agree_with_strict_inference(capsys: pytest.CaptureFixture[str]):
    importlib.import_module("onnx_lint.rules")
    tally = Tally()
    schemas = [schema for schema in onnx.defs.get_all_schemas_with_history() if not schema.deprecated]
    without_base = set()
    for schema in schemas:
        if schema.name in CONTROL_FLOW:
            for case in control_flow_cases(schema):
                tally.compare(schema, case, _theirs(schema, case), _ours_alone(schema, case))
            continue
        base = _base(schema)
        if base is None:
            without_base.add(schema.name)
            continue
        cases, theirs = _with_declarations(schema, base)
        for case, one, other in zip(cases, theirs, _ours(schema, cases), strict=True):
            tally.compare(schema, case, one, other)
    with capsys.disabled():
        _tell(tally, len(schemas))
    assert tally.unexplained == []
    assert without_base == set(NOT_TRIED)
    assert set(tally.apart) == set(EXPLAINED), "an explanation that nothing needs"


def _tell(tally: Tally, schemas: int) -> None:
    count, apart = sum(tally.cases.values()), sum(tally.apart.values())
    print(f"\n{count:,} nodes of {schemas} signatures, onnx rejects {tally.rejected:,} of them:")
    print(f"  {count - apart - len(tally.unexplained):,} verdicts agree, {apart:,} differ for a reason")
    for kind, number in sorted(tally.cases.items()):
        print(f"  {number:6,} {kind}")
    for kind, number in sorted(tally.types.items()):
        print(f"  {number:6,} types of outputs: {kind}")
    for key, number in sorted(tally.apart.items()):
        print(f"  {number:6,} apart: {key[0]}, {key[1]}: {EXPLAINED[key]}")
