# SPDX-License-Identifier: Apache-2.0
"""Operators whose signature differs between releases of ONNX Runtime, and what each release does with their nodes.

The installed release is asked, and those of the interpreters that ONNXRUNTIME_PYTHONS lists, separated by colons.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.models.asked_programs import runtimes

import onnx_lint
from onnx_lint import schema
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.runtime_releases import CHANGED
from tools.compare_target import outcomes
from tools.single_nodes import single_node

pytestmark = pytest.mark.differential

BY_SIGNATURE = re.compile(
    r"Unrecognized attribute|Required attribute|not in range|Type Error|Type parameter|has (in|out)put size|"
    r"is not a registered function/op|missing input|must be"
)
"""What ONNX Runtime says of a node that its signature does not allow, and of an operator that it does not have."""
_DUMMIES = {"INT": 1, "INTS": [1, 1], "FLOAT": 1.0, "FLOATS": [1.0], "STRING": "none", "STRINGS": ["x"]}


def _nodes() -> Iterator[tuple[str, bytes]]:
    """Yield a name and a model for each attribute, each number of operands and each type of each signature."""
    for domain in CHANGED.domains:
        for name, _ in CHANGED.first_versions(domain):
            for since in CHANGED.versions(domain, name):
                operator = CHANGED.schema(domain, name, since)
                assert operator is not None
                yield from ((f"{name}.{since}.{what}", model) for what, model in _nodes_of(operator))


def _nodes_of(operator: OperatorSchema) -> Iterator[tuple[str, bytes]]:
    for what, attribute in operator.attributes.items():
        if attribute.type in _DUMMIES:
            yield f"attribute_{what}", single_node(operator, 1, {}, attributes={what: _DUMMIES[attribute.type]})
    whole = single_node(operator, 1, {}, has_all=True)
    for side in ("input", "output"):
        made = schema.message("ModelProto").FromString(whole)
        while getattr(made.graph.node[0], side):
            yield f"{side}s_{len(getattr(made.graph.node[0], side))}", made.SerializeToString()
            del getattr(made.graph.node[0], side)[-1]
            del getattr(made.graph, side)[-1]
    for variable, kinds in operator.type_constraints.items():
        for kind in kinds:
            yield f"{variable}_{kind}", single_node(operator, 1, {variable: kind}, has_all=True)
            yield f"{variable}_{kind}_least", single_node(operator, 1, {variable: kind})
    for index, parameter in enumerate(operator.inputs):
        if parameter.variable is not None:
            made = schema.message("ModelProto").FromString(whole)
            made.graph.input[index].type.tensor_type.elem_type = 10  # half precision beside single
            yield f"half_{index}", made.SerializeToString()


def test_what_a_release_refuses_is_what_its_signatures_refuse(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    interpreters = runtimes()
    models = {model: name for name, model in _nodes()}
    files = [tmp_path / f"{name}.onnx" for name in models.values()]
    for file, model in zip(files, models, strict=True):
        file.write_bytes(model)
    false, missed, agreed = [], [], Counter[bool]()
    for version, python in interpreters.items():
        reasons = outcomes(python, "onnxruntime", files)
        for file in files:
            (report,) = onnx_lint.lint(file, target=f"onnxruntime={version}").files
            (verdict,) = report.targets
            reason = reasons[str(file)]
            agreed[verdict.loads is False and reason is not None] += 1
            if verdict.loads is False and reason is None:
                false.append(f"{version} {file.name}: {verdict.text}")
            elif verdict.loads and reason is not None and BY_SIGNATURE.search(reason):
                missed.append(f"{version} {file.name}: {reason}")
    assert false == []
    assert missed == []
    assert min(agreed[True], agreed[False]) > 100
