# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the attributes of LabelEncoder: the types of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES

Fault = tuple[str, str, str, str | None]
"""The attribute, what it holds, what it may hold, and the attribute that it contradicts."""

_VALUES: Final = {"values_int64s": "int64", "values_floats": "float", "values_strings": "string"}


def encoder_faults(given: Mapping[str, Proto]) -> Iterator[Fault]:
    """A default tensor of LabelEncoder that is of another type than the values."""
    default = given.get("default_tensor")
    if default is None or default.t.data_type not in ELEMENT_TYPES:
        return
    kinds = {name: kind for name, kind in _VALUES.items() if name in given}
    if "values_tensor" in given and given["values_tensor"].t.data_type in ELEMENT_TYPES:
        kinds["values_tensor"] = ELEMENT_TYPES[given["values_tensor"].t.data_type].name
    own = ELEMENT_TYPES[default.t.data_type].name
    # Two lists of values have a finding of their own.
    for name, kind in kinds.items() if len(kinds) == 1 else ():
        if kind != own:
            yield "default_tensor", f"is a tensor of {own}, '{name}' holds {kind}", f"a tensor of {kind}", name
