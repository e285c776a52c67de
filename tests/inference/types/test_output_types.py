# SPDX-License-Identifier: Apache-2.0
"""The table of output types, compared with the signatures of the onnx package."""

from __future__ import annotations

from onnx_lint.inference.types.output_types import OUTPUT_TYPES
from onnx_lint.spec.operators import BUILT_IN, OperatorSchema


def _schemas() -> list[OperatorSchema]:
    every = (
        BUILT_IN.find(domain, name, version)
        for domain in sorted(BUILT_IN.known_domains())
        for name in BUILT_IN.operator_names(domain)
        for version in BUILT_IN.versions(domain, name)
    )
    return [found for found in every if found is not None]


def _outputs_without_input_type(operator: OperatorSchema) -> tuple[int, ...]:
    """Indices of outputs whose type no input decides, though the signature leaves more than one.

    Such a type follows from an attribute (Cast's `to`), from a subgraph (Loop) or from an attribute that is there or
    not (Constant). The signature does not say which of these it is.
    """
    fixed = {parameter.variable for parameter in operator.inputs}
    return tuple(
        index
        for index, output in enumerate(operator.outputs)
        if len(output.types) > 1 and (output.variable not in fixed or not output.homogeneous)
    )


class TestTheTable:
    def test_every_output_that_no_input_decides_is_in_the_table(self):
        missing = []
        for operator in _schemas():
            table = OUTPUT_TYPES.get((operator.domain, operator.name))
            for index in () if operator.deprecated else _outputs_without_input_type(operator):
                if table is None or table.decision_at(index) is None:
                    missing.append((operator.domain, operator.name, operator.since_version, index))
        assert missing == []

    def test_every_row_is_about_an_operator_and_attributes_that_it_has(self):
        attributes: dict[tuple[str, str], set[str]] = {}
        for operator in _schemas():
            attributes.setdefault((operator.domain, operator.name), set()).update(operator.attributes)
        assert sorted(set(OUTPUT_TYPES) - set(attributes)) == []
        strangers = {key: row.attributes - attributes[key] for key, row in OUTPUT_TYPES.items()}
        assert {key: names for key, names in strangers.items() if names} == {}


def _signature(name: str) -> OperatorSchema:
    found = BUILT_IN.find("", name, 18)
    assert found is not None
    return found


def test_outputs_whose_type_no_input_decides():
    free = {
        name: _outputs_without_input_type(_signature(name))
        for name in ("Cast", "Constant", "If", "Loop", "EyeLike", "Add", "Shape", "SequenceEmpty", "MaxPool")
    }
    assert free == {
        "Cast": (0,),
        "Constant": (0,),
        "If": (0,),
        "Loop": (0,),
        "EyeLike": (0,),
        "Add": (),
        "Shape": (),
        "SequenceEmpty": (0,),
        "MaxPool": (),
    }
