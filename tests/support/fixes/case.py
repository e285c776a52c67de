# SPDX-License-Identifier: Apache-2.0
"""A model before and after a fix, and the parts of models that cases share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import text_format

from onnx_lint import schema

X = 'input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }'
Y = X.replace("input", "output").replace('"x"', '"y"')
PRODUCER = 'node { name: "r" op_type: "Relu" input: "x" output: "a" }'
USER = 'node { name: "s" op_type: "Abs" input: "a" output: "y" }'
RELU = f"{PRODUCER} {USER}"
FLOATS = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"
INTS = FLOATS.replace("elem_type: 1", "elem_type: 7")
THREES = FLOATS.replace("value: 2", "value: 3")


@dataclass(frozen=True)
class Case:
    """Parts of a model in text form. `models` adds an IR version, a producer and an import."""

    rule: str
    before: str
    after: str
    """The same as `before` if nothing is to be fixed."""
    safe: bool = True
    id: str = ""
    versions: tuple[int, int] = (10, 10)
    """The IR version before and after."""
    opset: int = 21
    """The imported version of the default domain; 0 for no import."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The files beside the model."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of the rule."""

    first: tuple[bytes, bytes] = (b"", b"")
    """Bytes before those of the model."""

    @property
    def is_mended(self) -> bool:
        """True if there is something to fix."""
        return (self.before, self.versions[0], self.first[0]) != (self.after, self.versions[1], self.first[1])

    def models(self) -> tuple[bytes, bytes]:
        """Return the model before and after."""
        before, after = self._model(self.before, self.versions[0]), self._model(self.after, self.versions[1])
        return self.first[0] + before, self.first[1] + after

    def _model(self, text: str, version: int) -> bytes:
        imported = f'opset_import {{ domain: "" version: {self.opset} }}' if self.opset else ""
        proto = text_format.Parse(
            f'ir_version: {version} producer_name: "p" producer_version: "1" {imported} {text}',
            schema.message("ModelProto")(),
            descriptor_pool=schema.pool(),
        )
        data: bytes = proto.SerializePartialToString(deterministic=True)
        return data


def graph(parts: str, opening: str = "") -> str:
    """Return a main graph with input x and output y."""
    return f'{opening} graph {{ name: "g" {X} {Y} {parts} }}'


def info(name: str, declared: str = FLOATS) -> str:
    """Return an entry of value_info."""
    return f'value_info {{ name: "{name}" {declared} }}'


def entry(key: str, value: str = "v") -> str:
    """Return an entry of metadata_props."""
    return f'metadata_props {{ key: "{key}" value: "{value}" }}'


def imports(*pairs: tuple[str, int]) -> str:
    """Return imports of domains and versions."""
    return " ".join(f'opset_import {{ domain: "{domain}" version: {version} }}' for domain, version in pairs)


def function(*pairs: tuple[str, int]) -> str:
    """Return a function with these imports and one of the default domain."""
    body = 'input: "i" output: "o" node { op_type: "Abs" input: "i" output: "o" }'
    return f'functions {{ name: "F" domain: "com.f" {body} {imports(("", 21), *pairs)} }}'
