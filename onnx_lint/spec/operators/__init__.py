# SPDX-License-Identifier: Apache-2.0
"""The signatures of every version of every operator, as data.

`find("", "Split", 13)` gives the signature of Split in operator set 13. The functions here know the built-in
domains; `OperatorSchemas([load_schema_file(path)])` has the same functions as methods and knows the operators
of a schema file too. The data come from the packages `onnx` and `onnxruntime` by way of
`tools.generate_operators`; neither is needed at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onnx_lint.spec.operators.lookup import OperatorSchemas
from onnx_lint.spec.operators.schema import (
    ATTRIBUTE_TYPE_CODES,
    ATTRIBUTE_TYPE_NAMES,
    UNLIMITED,
    AttributeSchema,
    OperatorSchema,
    Option,
    Parameter,
)
from onnx_lint.spec.operators.store import ONNX, ONNXRUNTIME

if TYPE_CHECKING:
    from onnx_lint.spec.operators.json_value import SchemaFileError
    from onnx_lint.spec.operators.schema_file import SchemaFile, load_schema_file

__all__ = [
    "ATTRIBUTE_TYPE_CODES",
    "ATTRIBUTE_TYPE_NAMES",
    "BUILT_IN",
    "UNLIMITED",
    "AttributeSchema",
    "OperatorSchema",
    "OperatorSchemas",
    "Option",
    "Parameter",
    "SchemaFile",
    "SchemaFileError",
    "domains_of",
    "find",
    "known_domains",
    "load_schema_file",
    "onnxruntime_default_domain",
    "operator_names",
    "sources",
    "versions",
]

BUILT_IN = OperatorSchemas()
"""The operators that come with the package, without any schema file."""

find = BUILT_IN.find
versions = BUILT_IN.versions
operator_names = BUILT_IN.operator_names
known_domains = BUILT_IN.known_domains
domains_of = BUILT_IN.domains_of


def onnxruntime_default_domain() -> frozenset[str]:
    """Operators that ONNX Runtime accepts in the default domain though ONNX has none of that name.

    Some are removed experimental operators, others only the runtime's own.
    """
    return frozenset(ONNXRUNTIME.header["default_domain"])


def sources() -> Mapping[str, str]:
    """The packages that the data come from, with their versions."""
    return MappingProxyType({file.header["source"]: file.header["version"] for file in (ONNX, ONNXRUNTIME)})


def __getattr__(name: str) -> Any:
    """Import what reads schema files when it is first asked for: most runs have none."""
    if name in {"SchemaFile", "load_schema_file"}:
        from onnx_lint.spec.operators import schema_file

        return getattr(schema_file, name)
    if name == "SchemaFileError":
        from onnx_lint.spec.operators.json_value import SchemaFileError

        return SchemaFileError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
