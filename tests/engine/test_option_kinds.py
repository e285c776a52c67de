# SPDX-License-Identifier: Apache-2.0
"""The kinds of options accept what their schemas allow, and nothing else."""

from __future__ import annotations

import itertools

import jsonschema

from onnx_lint.engine.option_kinds import OPTION_KINDS


def test_the_number_of_a_release_is_accepted_if_the_schema_allows_it():
    kind = OPTION_KINDS["release"]
    schema = jsonschema.Draft202012Validator(dict(kind.schema))
    parts = ["0", "1", "4", "5", "14", "23", "99", ""]
    numbers = {".".join(each) for count in (1, 2, 3, 4) for each in itertools.product(parts, repeat=count)}
    accepted = {number for number in numbers if kind.accepts(number)}
    assert {"", "1.0", "1.4", "1.4.1", "1.5", "1.5.0", "1.14", "1.14.1", "1.23.0"} <= accepted
    assert accepted.isdisjoint({"1", "1.", "1.99", "1.14.99", "1.4.1.0"})
    assert accepted == {number for number in numbers if schema.is_valid(number)}
