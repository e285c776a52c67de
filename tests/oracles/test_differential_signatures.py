# SPDX-License-Identifier: Apache-2.0
"""The rules on signatures against onnx.checker: generated nodes of every operator and version, right and wrong.

For each signature that `onnx` knows there are nodes that fit it (the least, everything, trailing options left out) and
nodes with one mutation each. The verdict is whether there is an error. Where the two differ, EXPLAINED says why.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import onnx
import onnx.checker
import onnx.defs
import pytest
from onnx import AttributeProto, NodeProto, TensorProto, helper
from support.models.operator_nodes import attribute_of, least_node, most_node

from onnx_lint.engine.registry import registry
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

pytestmark = pytest.mark.differential

RULES = (
    "unknown-operator",
    "deprecated-operator",
    "operator-arity",
    "omitted-required-operand",
    "unknown-operator-attribute",
    "missing-operator-attribute",
    "wrong-operator-attribute-type",
    "node-without-outputs",
)

EXPLAINED = {
    ("attribute added", "LayerNormalization"): (
        "its schema accepts any attribute, its documentation names three; onnx-lint follows the documentation"
    ),
    ("attribute renamed", "LayerNormalization"): "as above",
    ("variadic input emptied", None): (
        "a variadic input whose only name is empty: onnx.checker counts names, onnx-lint values (VAR-1)"
    ),
    ("variadic output emptied", None): "the same for outputs (VAR-2)",
    **{
        ("least", name): "its description demands one of several operands or attributes; onnx.checker does not look"
        for name in (
            "CategoryMapper",
            "Constant",
            "DictVectorizer",
            "Imputer",
            "LabelEncoder",
            "LinearClassifier",
            "LinearRegressor",
            "OneHotEncoder",
            "Optional",
            "Resize",
            "SVMClassifier",
            "Split",
            "TfIdfVectorizer",
            "TreeEnsembleClassifier",
            "ZipMap",
        )
    },
    ("attribute dropped", "LinearRegressor"): "as above: coefficients",
    ("trailing inputs left out", "Resize"): "as above: scales or sizes",
    ("no outputs", None): (
        "each node has one or more outputs (NOD-1); onnx.checker lets operators pass whose schema allows none"
    ),
}
"""Differences between onnx-lint and onnx.checker, by mutation and operator (None for all), with onnx-lint's reason."""


GROUPED = frozenset({"Adagrad", "Adam", "Momentum"})
"""Operators whose description groups what the schema calls variadic; onnx counts that when it infers shapes."""


@dataclass(frozen=True)
class Case:
    mutation: str
    node: NodeProto


def _changed(node: NodeProto) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(node)
    return copy


def _operand_cases(schema: onnx.defs.OpSchema, least: NodeProto, most: NodeProto) -> Iterator[Case]:
    for field, prefix, greatest in (("input", "x", schema.max_input), ("output", "y", schema.max_output)):
        if greatest < 2**31 - 1:
            for name in ("extra", ""):
                node = _changed(most)
                getattr(node, field).append(name)
                yield Case(f"{field} added" if name else f"empty {field} added", node)
        if getattr(least, field):
            node = _changed(least)
            getattr(node, field).pop()
            yield Case(f"{field} dropped" if node.output else "no outputs", node)
        formals = schema.inputs if field == "input" else schema.outputs
        for index in range(len(getattr(most, field))):
            formal = formals[min(index, len(formals) - 1)] if formals else None
            node = _changed(most)
            getattr(node, field)[index] = ""
            if formal is not None:
                yield Case(f"{formal.option.name.lower()} {field} {prefix}{index} emptied of many", node)
        last = formals[-1] if formals else None
        if (
            last is not None
            and last.option is onnx.defs.OpSchema.FormalParameterOption.Variadic
            and last.min_arity == 1
        ):
            node = _changed(least)
            del getattr(node, field)[len(formals) - 1 :]
            getattr(node, field).append("")
            yield Case(f"variadic {field} emptied", node)


def _attribute_cases(schema: onnx.defs.OpSchema, least: NodeProto, most: NodeProto) -> Iterator[Case]:
    node = _changed(most)
    node.attribute.append(attribute_of("unheard_of", AttributeProto.INT))
    yield Case("attribute added", node)
    node = _changed(most)
    node.attribute.append(attribute_of("__unheard_of", AttributeProto.INT))
    yield Case("attribute of an implementation added", node)
    for index, attribute in enumerate(most.attribute):
        node = _changed(most)
        node.attribute[index].name += "_"
        yield Case("attribute renamed", node)
        node = _changed(most)
        del node.attribute[index]
        yield Case("attribute dropped", node)
        node = _changed(most)
        kinds = [kind for kind in AttributeProto.AttributeType.values() if kind not in (0, attribute.type)]
        other = kinds[(index + len(schema.name)) % len(kinds)]
        node.attribute[index].CopyFrom(attribute_of(attribute.name, other))
        yield Case("attribute retyped", node)


def _cases(schema: onnx.defs.OpSchema) -> list[Case]:
    least, most = least_node(schema), most_node(schema)
    cases = [Case("least", least), Case("most", most)]
    for count in range(schema.min_input + 1, len(most.input)):
        node = _changed(most)
        del node.input[count:]
        cases.append(Case("trailing inputs left out", node))
    for count in range(max(schema.min_output, 1) + 1, len(most.output)):
        node = _changed(most)
        del node.output[count:]
        cases.append(Case("trailing outputs left out", node))
    renamed = _changed(least)
    renamed.op_type += "X"
    cases.append(Case("operator renamed", renamed))
    cases += _operand_cases(schema, least, most)
    cases += _attribute_cases(schema, least, most)
    return cases


def _theirs(schema: onnx.defs.OpSchema, node: NodeProto) -> str:
    """The message of onnx.checker; empty if it accepts the node."""
    try:
        if schema.domain.startswith("ai.onnx.preview"):
            # check_node passes over these domains, check_model does not if the argument says so.
            onnx.checker.check_model(_model_of(schema, node), check_custom_domain=True)
        else:
            context = onnx.checker.C.CheckerContext()
            context.ir_version = onnx.IR_VERSION
            context.opset_imports = {schema.domain: schema.since_version}
            onnx.checker.check_node(node, context)
    except onnx.checker.ValidationError as error:
        return str(error)
    return ""


def _model_of(schema: onnx.defs.OpSchema, node: NodeProto) -> onnx.ModelProto:
    names = sorted({name for name in node.input if name})
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in names]
    graph = helper.make_graph([node], "g", inputs, [])
    imports = [helper.make_opsetid(schema.domain, schema.since_version)]
    return helper.make_model(graph, opset_imports=imports, ir_version=onnx.IR_VERSION)


def _ours(schema: onnx.defs.OpSchema, cases: list[Case]) -> dict[int, str]:
    """The first message of onnx-lint about each node, by the index of the case."""
    model = onnx.ModelProto(ir_version=onnx.IR_VERSION)
    model.opset_import.add(domain=schema.domain, version=schema.since_version)
    model.graph.node.extend(case.node for case in cases)
    loaded = load(BytesSource(model.SerializeToString()), "model.onnx")
    found: dict[int, str] = {}
    for rule in RULES:
        for finding in registry()[rule].rule.check(loaded):
            if finding.clause in ("NOD-7g", "OPT-2g"):
                continue  # a warning of what ONNX Runtime refuses
            index = next(index for field, index in finding.place.key if field == "node")
            assert index is not None
            found.setdefault(index, f"{rule}: {finding.message}")
    return found


def _explanation(schema: onnx.defs.OpSchema, case: Case) -> tuple[str, str | None] | None:
    for key in ((case.mutation, schema.name), (case.mutation, None)):
        if key in EXPLAINED:
            return key
    return None


def test_verdicts_agree_with_onnx_checker(capsys: pytest.CaptureFixture[str]):
    importlib.import_module("onnx_lint.rules")
    schemas = onnx.defs.get_all_schemas_with_history()
    total: Counter[str] = Counter()
    rejected = 0
    used: Counter[tuple[str, str | None]] = Counter()
    unexplained = []
    for schema in schemas:
        cases = _cases(schema)
        ours = _ours(schema, cases)
        for index, case in enumerate(cases):
            kind = case.mutation.split(" x")[0].split(" y")[0]
            total[kind] += 1
            theirs = _theirs(schema, case.node)
            rejected += bool(theirs)
            if bool(theirs) == (index in ours):
                continue
            if schema.name in GROUPED and ours[index].startswith("operator-arity: "):
                continue
            key = _explanation(schema, case)
            if key is None:
                name = f"{schema.domain}::{schema.name}-{schema.since_version}"
                unexplained.append(f"{name} {case.mutation}: checker {theirs!r}, onnx-lint {ours.get(index)!r}")
            else:
                used[key] += 1
    count, apart = sum(total.values()), sum(used.values())
    with capsys.disabled():
        print(f"\n{count:,} nodes of {len(schemas)} signatures, onnx.checker rejects {rejected:,} of them:")
        print(f"  {count - apart - len(unexplained):,} verdicts agree, {apart:,} differ for a reason")
        for kind, number in sorted(total.items()):
            print(f"  {number:6,} {kind}")
        for key, number in used.items():
            print(f"  {number:6,} apart: {key[0]}, {key[1] or 'any operator'}: {EXPLAINED[key]}")
    assert unexplained == []
    assert set(used) == set(EXPLAINED), "an explanation that nothing needs"
