# SPDX-License-Identifier: Apache-2.0
"""How the types of outputs follow: the table, held against the signatures of the onnx package."""

from __future__ import annotations

from onnx_lint.model.types.output_types import OUTPUT_TYPES
from onnx_lint.spec.operators import BUILT_IN, OperatorSchema


def _schemas() -> list[OperatorSchema]:
    every = (
        BUILT_IN.find(domain, name, version)
        for domain in sorted(BUILT_IN.known_domains())
        for name in BUILT_IN.operator_names(domain)
        for version in BUILT_IN.versions(domain, name)
    )
    return [found for found in every if found is not None]


class TestTheTable:
    def test_every_output_that_no_input_decides_is_in_the_table(self):
        missing = []
        for operator in _schemas():
            table = OUTPUT_TYPES.get((operator.domain, operator.name))
            for index in () if operator.deprecated else operator.outputs_without_input_type:
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
