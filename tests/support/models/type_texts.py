# SPDX-License-Identifier: Apache-2.0
"""Types in the text format of Protocol Buffers."""

from __future__ import annotations

from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.model import Proto


def type_of(text: str) -> Proto:
    return text_format.Parse(text, schema.message("TypeProto")())


def tensor(element: int, *dimensions: object, kind: str = "tensor_type") -> str:
    shown = []
    for dimension in dimensions:
        if isinstance(dimension, int):
            shown.append(f"dim {{ dim_value: {dimension} }}")
        else:
            shown.append(f'dim {{ dim_param: "{dimension}" }}' if dimension else "dim { }")
    return f"{kind} {{ elem_type: {element} shape {{ {' '.join(shown)} }} }}"


def sequence(element: str) -> str:
    return f"sequence_type {{ elem_type {{ {element} }} }}"


def optional(element: str) -> str:
    return f"optional_type {{ elem_type {{ {element} }} }}"


def mapping(key: int, value: str) -> str:
    return f"map_type {{ key_type: {key} value_type {{ {value} }} }}"


SHAPELESS = "tensor_type { elem_type: 1 }"
