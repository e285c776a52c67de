# SPDX-License-Identifier: Apache-2.0
"""The verdict on several declarations of one value, and the safe fix of them, do not depend on their order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import text_format

from onnx_lint import fix, lint, schema
from onnx_lint.spec.clauses import Severity

_NODES = """
node { op_type: "Use" domain: "example" input: "x" output: "a" }
node { op_type: "Use" domain: "example" input: "a" output: "y" }
input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
"""
_OUTPUT = 'output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }'


def _entry(field: str, name: str, size: str) -> str:
    shape = f"shape {{ dim {{ {size} }} dim {{ dim_value: 2 }} }}"
    return f'{field} {{ name: "{name}" type {{ tensor_type {{ elem_type: 1 {shape} }} }} }}'


@pytest.mark.parametrize("order", [*itertools.permutations(("", "dim_value: 3", "dim_value: 4"))])
@pytest.mark.parametrize(
    ("rule", "field", "name"), [("duplicate-value-info", "value_info", "a"), ("duplicate-graph-output", "output", "y")]
)
def test_an_entry_that_fits_two_which_contradict_each_other(rule: str, field: str, name: str, order: tuple[str, ...]):
    entries = " ".join(_entry(field, name, size) for size in order)
    outputs = "" if field == "output" else _OUTPUT
    graph = f'graph {{ name: "g" {_NODES}{entries}{outputs} }}'
    model = f'ir_version: 10 opset_import {{ domain: "example" version: 1 }} {graph}'
    report = lint(model.encode(), select=rule, filename="model.textproto")
    assert Severity.ERROR in {each.severity for each in report.diagnostics}
    assert not report.conforms


_TYPES = {
    "float": "elem_type: 1 shape { dim { dim_value: 2 } }",
    "int64": "elem_type: 7 shape { dim { dim_value: 2 } }",
    "float of N": "elem_type: 1 shape { dim { dim_param: 'N' } }",
    "float of M": "elem_type: 1 shape { dim { dim_param: 'M' } }",
}
_MAIN = f'graph {{ name: "g" {_NODES}{_OUTPUT} %s }}'
_ALGORITHM = 'training_info { algorithm { name: "s" %s } }'
_FUNCTION = """
functions { name: "F" domain: "own" input: "x" output: "a" opset_import { domain: "example" version: 1 }
node { op_type: "Use" domain: "example" input: "x" output: "a" } %s }
"""


def _models(entries: tuple[str, ...]) -> Iterator[str]:
    """Yield a model with the entries in a function, then models with the first in the main graph, the others beside."""
    yield _MAIN % "" + _FUNCTION % " ".join(entries)
    for count in range(len(entries) + 1):
        yield _MAIN % " ".join(entries[:count]) + _ALGORITHM % " ".join(entries[count:])


def _declared(model: Any) -> tuple[list[str], list[str]]:
    """Return the types that the entries of the main graph declare, and those of all entries, with one variable name."""
    main, *others = (
        [str(each.type).replace('"M"', '"N"') for each in graph.value_info]
        for graph in (model.graph, *model.functions, *(each.algorithm for each in model.training_info))
    )
    return main, sum(others, main)


@pytest.mark.parametrize("order", [*itertools.product(_TYPES, repeat=3)])
def test_a_safe_fix_leaves_each_type_that_entries_declare_once(order: tuple[str, ...]):
    entries = tuple(f'value_info {{ name: "a" type {{ tensor_type {{ {_TYPES[kind]} }} }} }}' for kind in order)
    for text in _models(entries):
        head = 'ir_version: 10 opset_import { domain: "example" version: 1 } opset_import { domain: "own" version: 1 }'
        model = text_format.Parse(f"{head} {text}", schema.message("ModelProto")(), descriptor_pool=schema.pool())
        fixed = fix(model.SerializeToString(), select="duplicate-value-info").fixed_model
        main, declared = _declared(model)
        if fixed is not None:
            model.ParseFromString(fixed)
        main_after, after = _declared(model)
        assert set(main_after) == set(main)
        assert set(after) == set(declared)
        if len(set(declared)) == 1:
            assert len(after) == 1


def test_the_first_entry_of_the_main_graph_is_related_to_one_of_an_algorithm():
    entries = [f'value_info {{ name: "a" type {{ tensor_type {{ {_TYPES[kind]} }} }} }}' for kind in _TYPES]
    head = 'ir_version: 10 opset_import { domain: "example" version: 1 }'
    text = f"{head} {_MAIN % ' '.join(entries[1:3])} {_ALGORITHM % entries[0]}"
    report = lint(text.encode(), select="duplicate-value-info", filename="model.textproto")
    (found,) = (each for each in report.diagnostics if each.clause == "TRN-9a")
    assert [str(each.place) for each in found.related] == ["graph.value_info[0]"]
