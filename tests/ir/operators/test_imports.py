# SPDX-License-Identifier: Apache-2.0
"""The operator sets that a model and its functions import, and the domains that their nodes use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from google.protobuf import text_format
from support.models.fixture_models import some_models

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators.imports import count_domains
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto
from onnx_lint.spec.releases import normalized_domain


def _model(text: str) -> Model:
    proto = text_format.Parse(text, schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def _imports(entries: Sequence[Proto]) -> list[tuple[str, int]]:
    return [(entry.domain, entry.version) for entry in entries]


IMPORTS = """
    ir_version: 10 graph { name: "g" }
    opset_import { version: 21 }
    functions { name: "a" domain: "d" opset_import { version: 21 } }
    functions { name: "b" domain: "d" opset_import { domain: "ai.onnx" version: 20 } opset_import { version: 19 } }
    functions { name: "c" domain: "d" }
    functions { name: "e" domain: "d" opset_import { domain: "ai.onnx" version: 20 } opset_import { version: 19 } }
    functions { name: "f" domain: "d" opset_import { version: 0 } opset_import { domain: "m" version: 3 } }
"""


def test_each_distinct_list_of_imports_is_asked_about_once():
    asked: list[list[tuple[str, int]]] = []
    imports = _model(IMPORTS).imports

    def has_two(entries: Sequence[Proto]) -> bool:
        asked.append(_imports(entries))
        return len(entries) == 2

    found = [(str(importer.place), importer.function and importer.function.name) for importer in imports.where(has_two)]
    assert found == [("functions[1]", "b"), ("functions[3]", "e"), ("functions[4]", "f")]
    assert asked == [[("", 21)], [("ai.onnx", 20), ("", 19)], [], [("", 0), ("m", 3)]]


def test_the_model_leads_those_who_import():
    found = _model(IMPORTS).imports.where(lambda entries: len(entries) == 1)
    assert [importer.function and importer.function.name for importer in found] == [None, "a"]


def test_imports_by_function():
    model = _model(IMPORTS)
    holders = [None, *model.functions]
    assert [dict(model.imports.versions(holder)) for holder in holders] == [
        {"": 21},
        {"": 21},
        {"": 20},
        {},
        {"": 20},
        {"m": 3},
    ]
    assert [set(model.imports.domains(holder)) for holder in holders] == [{""}, {""}, {""}, set(), {""}, {"", "m"}]
    numbers = [model.imports.number_of(holder) for holder in holders]
    assert numbers == [0, 0, 1, 2, 1, 3]


@pytest.mark.parametrize("ir_version", [2, 3])
def test_a_model_without_imports_has_one_implied_below_ir_version_3_and_its_functions_do_not(ir_version: int):
    model = _model(
        f'ir_version: {ir_version} graph {{ name: "g" node {{ op_type: "Relu" }} }}'
        ' functions { name: "f" domain: "d" node { op_type: "Relu" } }'
    )
    versions = [model.operators.operator(node).opset_version for node in model.nodes()]
    assert versions == [1 if ir_version < 3 else None, None]


def test_the_imports_of_fixtures():
    for name, model in some_models().items():
        of_model = [(None, model.proto)] if model.imports.are_stated else []
        for holder, proto in [*of_model, *((each, each.proto) for each in model.functions)]:
            entries = proto.opset_import
            assert model.imports.domains(holder) == {normalized_domain(entry.domain) for entry in entries}, name
            lists = [_imports(each) for each in model.imports.distinct]
            assert lists[model.imports.number_of(holder)] == _imports(entries), name


def test_the_domains_that_nodes_have():
    for name, model in some_models().items():
        counts: dict[int | None, Counter[str]] = {None: Counter()}
        for graph in model.graphs:
            owner = graph.function.index if graph.function else None
            own = counts.setdefault(owner, Counter())
            own.update(normalized_domain(node.domain) for node in graph.nodes)
        assert count_domains(model.graphs) == counts, name
        assert model.domains_in_use == {owner: own.keys() for owner, own in counts.items()}, name


@pytest.mark.parametrize(
    ("imports", "are_usual"),
    [
        ("opset_import { version: 21 }", True),
        ('opset_import { domain: "ai.onnx" version: 21 } opset_import { domain: "com.example" version: 7 }', True),
        ("", True),
        ("opset_import { version: 0 }", False),
        ("opset_import { version: 999 }", False),
        ('opset_import { version: 21 } opset_import { domain: "ai.onnx" version: 21 }', False),
        ('opset_import { domain: "custom" version: 1 }', False),
        ('opset_import { domain: "com.example" }', False),
        ('opset_import { domain: "com.example" version: 2147483648 }', False),
        ('opset_import { domain: "ai.onnx.ml" version: 3 }', False),
        ('opset_import { version: 21 } functions { name: "f" opset_import { domain: "custom" version: 1 } }', False),
    ],
)
def test_usual_imports(imports: str, are_usual: bool):
    assert _model(f'ir_version: 10 graph {{ name: "g" }} {imports}').imports.are_usual == are_usual
