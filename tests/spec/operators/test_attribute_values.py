# SPDX-License-Identifier: Apache-2.0
"""The table of allowed values, compared with the documentation of the onnx package."""

from __future__ import annotations

import functools
import re

import onnx
import onnx.defs
from support.project.each_case import each_case

from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.spec.operators import attribute_value_rows, find, versions
from onnx_lint.spec.operators import attribute_values as values


@functools.cache
def _schemas_by_name() -> dict[tuple[str, str], list[onnx.defs.OpSchema]]:
    found: dict[tuple[str, str], list[onnx.defs.OpSchema]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        found.setdefault((schema.domain, schema.name), []).append(schema)
    return found


def _name(row: attribute_value_rows.ValueRow) -> str:
    return f"{row.operators[0]}-{row.attribute}-{row.first}"


class TestAllowedValues:
    ROWS = (*attribute_value_rows._STRINGS, *attribute_value_rows._NUMBERS)

    def schemas(self, row: attribute_value_rows.ValueRow) -> list[onnx.defs.OpSchema]:
        return [
            schema
            for name in row.operators
            for schema in _schemas_by_name().get((row.domain, name), ())
            if row.first <= schema.since_version <= row.last and row.attribute in schema.attributes
        ]

    @each_case("row", ROWS, ids=_name)
    def test_each_row_is_about_operators_that_there_are(self, row: attribute_value_rows.ValueRow):
        found = self.schemas(row)
        assert {schema.name for schema in found} == set(row.operators)
        kinds = {schema.attributes[row.attribute].type.name for schema in found}
        assert kinds <= ({"INT", "INTS"} if row in attribute_value_rows._NUMBERS else {"STRING", "STRINGS"})

    @each_case("row", ROWS, ids=_name)
    def test_the_documentation_names_each_value(self, row: attribute_value_rows.ValueRow):
        given = set(map(str, row.values))
        for schema in self.schemas(row):
            text = f"{schema.attributes[row.attribute].description} {schema.doc}"
            named = set(re.findall(r"[A-Za-z0-9_]+", text))
            missing = given - named - {"foward"}  # the misspelt default of GRU-1
            # "If set to", "must be one of" and the like: the pair of flags that follows need not be written in digits.
            assert missing <= {"0", "1"} & given, f"{schema.name}-{schema.since_version}"

    @each_case("row", attribute_value_rows._PRECISIONS, ids=_name)
    def test_a_precision_is_called_one(self, row: attribute_value_rows.ValueRow):
        found = self.schemas(row)
        assert found
        assert all("precision" in schema.attributes[row.attribute].description for schema in found)

    @each_case("row", (*ROWS, *attribute_value_rows._PRECISIONS), ids=_name)
    def test_the_default_is_among_them(self, row: attribute_value_rows.ValueRow):
        for schema in self.schemas(row):
            ours = find(schema.domain, schema.name, schema.since_version)
            assert ours is not None
            default = ours.attributes[row.attribute].default
            allowed = values.allowed_values(ours, row.attribute)
            assert allowed is not None
            given = default if isinstance(default, tuple) else () if default is None else (default,)
            assert set(given) <= set(allowed), f"{schema.name}-{schema.since_version}"

    def test_element_types_are_those_of_the_output(self):
        def names(op_type: str, attribute: str, version: int) -> set[str]:
            schema = find("", op_type, version)
            assert schema is not None
            allowed = values.allowed_values(schema, attribute)
            assert allowed is not None
            return {value if isinstance(value, str) else values.element_type_name(value) for value in allowed}

        floats = {"FLOAT16", "FLOAT", "DOUBLE"}
        assert names("RandomNormal", "dtype", 1) == floats
        assert names("Multinomial", "dtype", 7) == {"INT32", "INT64"}
        assert names("LayerNormalization", "stash_type", 17) == {"FLOAT", "BFLOAT16"}
        assert names("Cast", "to", 6) == floats | {f"{u}INT{n}" for u in ("", "U") for n in (8, 16, 32, 64)} | {"BOOL"}
        assert names("Cast", "to", 1) == names("Cast", "to", 6), "named by strings then"
        assert names("Cast", "to", 9) - names("Cast", "to", 6) == {"STRING"}
        assert "0" in names("QuantizeLinear", "output_dtype", 21)
        assert names("SequenceEmpty", "dtype", 11) == set(map(str.upper, ELEMENT_TYPE_NAMES[:15]))

    def test_every_element_type_attribute_is_known(self):
        for op_type, attribute in values._ELEMENT_TYPE_OF_OUTPUT:
            found = [find("", op_type, version) for version in versions("", op_type)]
            assert [schema for schema in found if schema is not None and attribute in schema.attributes], op_type

    def test_other_attributes_may_have_any_value(self):
        schema = find("", "Conv", 11)
        assert schema is not None
        assert values.allowed_values(schema, "group") is None
        assert values.allowed_values(schema, "unheard_of") is None

    def test_flags_are_those_of_the_version(self):
        for version, is_flag in ((10, True), (13, False)):
            schema = find("", "Mod", version)
            assert schema is not None
            assert values.is_flag(schema, "fmod") is is_flag, "from 13 on, the description lists both values"
            assert values.allowed_values(schema, "fmod") == {0, 1}
